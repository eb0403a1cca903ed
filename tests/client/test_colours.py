"""The colours of the table: what must be told apart has enough contrast, in light and dark, on all shades of cloth."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, Literal

import pytest

import service.client

STYLES: Final = Path(service.client.__file__).parent / "styles"
BASE: Final = (STYLES / "base.css").read_text(encoding="utf-8")
TABLE: Final = (STYLES / "table.css").read_text(encoding="utf-8")

Scheme = Literal["light", "dark"]
Colour = tuple[float, float, float]
SCHEMES: Final[tuple[Scheme, ...]] = ("light", "dark")
WHITE: Final = "#ffffff"
BLACK: Final = "#000000"


def colour(value: str, scheme: Scheme) -> Colour:
    """A colour as it is written in a style: ``#rrggbb``, or ``light-dark()`` of two."""
    codes = re.findall(r"#[0-9a-f]{6}", value)
    assert codes, value
    code = codes[-1 if scheme == "dark" else 0]
    return tuple(int(code[place : place + 2], 16) / 255 for place in (1, 3, 5))  # type: ignore[return-value]


def token(name: str, scheme: Scheme) -> Colour:
    found = re.search(rf"--{name}: ([^;]+);", BASE)
    assert found is not None, name
    return colour(found[1], scheme)


def number_colour(number: int, scheme: Scheme) -> Colour:
    found = re.search(rf"\.n{number} {{ color: ([^;]+);", TABLE)
    assert found is not None, number
    return colour(found[1], scheme)


def blended(above: Colour, below: Colour, opacity: float) -> Colour:
    return tuple(opacity * one + (1 - opacity) * other for one, other in zip(above, below, strict=True))  # type: ignore[return-value]


def cloth(scheme: Scheme) -> tuple[Colour, Colour]:
    """The cloth where its shading makes it lightest and darkest."""
    plain = token("cloth", scheme)
    return blended(colour(WHITE, scheme), plain, 0.09), blended(colour(BLACK, scheme), plain, 0.19)


def contrast(one: Colour, other: Colour) -> float:
    """The contrast ratio of WCAG 2."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(value: Colour) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in value]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_pips_and_digits_can_be_read_on_the_face_of_a_tile(scheme: Scheme) -> None:
    face = token("face", scheme)
    assert contrast(token("pip", scheme), face) >= 4.5
    for number in range(19):
        assert contrast(number_colour(number, scheme), face) >= 4.5, number


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ["edge-on-cloth", "last", "chosen"])
def test_edges_and_marks_stand_out_from_the_cloth(scheme: Scheme, name: str) -> None:
    for shade in cloth(scheme):
        assert contrast(token(name, scheme), shade) >= 3


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_rings_of_open_ends_stand_out_from_the_cloth(scheme: Scheme) -> None:
    opacity = re.search(r"\.end {[^}]*stroke-opacity: ([.\d]+);", TABLE)
    assert opacity is not None
    for shade in cloth(scheme):
        assert contrast(blended(token("on-cloth", scheme), shade, float(opacity[1])), shade) >= 3


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_edge_of_a_tile_stands_out_from_the_page(scheme: Scheme) -> None:
    assert contrast(token("face-edge", scheme), token("surface", scheme)) >= 3
