"""The colours of the table: what must be told apart has contrast enough, by day and night, in all sets and cloths."""

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
TILE_SETS: Final = ("ivory", "white", "ebony")


def colour(value: str, scheme: Scheme) -> Colour:
    """A colour as it is written in a style: ``#rrggbb``, or ``light-dark()`` of two."""
    codes = re.findall(r"#[0-9a-f]{6}", value)
    assert codes, value
    code = codes[-1 if scheme == "dark" else 0]
    return tuple(int(code[place : place + 2], 16) / 255 for place in (1, 3, 5))  # type: ignore[return-value]


def token(name: str, scheme: Scheme) -> Colour:
    found = re.search(rf"^  --{name}: ([^;]+);", BASE + TABLE, re.MULTILINE)
    assert found is not None, name
    return colour(found[1], scheme)


def in_set(name: str, tiles: str) -> Colour:
    """A colour of a set of tiles: the ivory and the black one are the two kinds; the white one has some of its own."""
    if tiles == "white":
        own = re.search(r":root\[data-tiles=\"white\"\] {([^}]*)}", BASE)
        assert own is not None
        if found := re.search(rf"--{name}: ([^;]+);", own[1]):
            return colour(found[1], "light")
    return token(name, "dark" if tiles == "ebony" else "light")


def number_colour(number: int, tiles: str) -> Colour:
    found = re.search(rf"\.n{number} {{ color: ([^;]+);", BASE)
    assert found is not None, number
    return colour(found[1], "dark" if tiles == "ebony" else "light")


def blended(above: Colour, below: Colour, opacity: float) -> Colour:
    return tuple(opacity * one + (1 - opacity) * other for one, other in zip(above, below, strict=True))  # type: ignore[return-value]


def cloths(scheme: Scheme) -> list[Colour]:
    """The cloths, each where its light makes it lightest, and plain; towards the edges it is darker."""
    chosen = re.findall(r":root\[data-cloth=\"\w+\"\] { --cloth: ([^;]+);", TABLE)
    assert len(chosen) == 3
    light = re.search(r"color-mix\(in srgb, var\(--cloth\), (#[0-9a-f]{6}) (\d+)%\)", TABLE)
    assert light is not None
    plain = [token("cloth", scheme), *(colour(each, scheme) for each in chosen)]
    return [*plain, *(blended(colour(light[1], scheme), each, int(light[2]) / 100) for each in plain)]


def contrast(one: Colour, other: Colour) -> float:
    """The contrast ratio of WCAG 2."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(value: Colour) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in value]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("tiles", TILE_SETS)
def test_pips_and_digits_can_be_read_on_the_face_of_a_tile(tiles: str) -> None:
    face = in_set("face", tiles)
    assert contrast(in_set("pip", tiles), face) >= 4.5
    for number in range(19):
        assert contrast(number_colour(number, tiles), face) >= 4.5, number


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("tiles", ["ivory", "white"])
def test_light_tiles_stand_out_from_cloth_and_wood_by_day_and_by_night(scheme: Scheme, tiles: str) -> None:
    face = in_set("face", tiles)
    plain, *_ = cloths(scheme)
    assert contrast(face, plain) >= 6
    for shade in cloths(scheme):
        assert contrast(face, shade) >= 4.5
    for wood in ("wood", "wood-deep"):
        assert contrast(face, token(wood, scheme)) >= 3


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ["edge-on-cloth", "last", "chosen"])
def test_edges_and_marks_stand_out_from_the_cloth(scheme: Scheme, name: str) -> None:
    for shade in cloths(scheme):
        assert contrast(token(name, scheme), shade) >= 3


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_rings_of_open_ends_stand_out_from_the_cloth(scheme: Scheme) -> None:
    opacity = re.search(r"\.end {[^}]*stroke-opacity: ([.\d]+);", TABLE)
    assert opacity is not None
    for shade in cloths(scheme):
        assert contrast(blended(token("on-cloth", scheme), shade, float(opacity[1])), shade) >= 3


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_is_written_on_wood_and_cloth_can_be_read(scheme: Scheme) -> None:
    for wood in ("wood", "wood-deep"):
        assert contrast(token("on-wood", scheme), token(wood, scheme)) >= 4.5
    for shade in cloths(scheme):
        assert contrast(token("on-cloth", scheme), shade) >= 4.5


@pytest.mark.parametrize("tiles", TILE_SETS)
def test_the_edge_of_a_tile_stands_out_from_the_page(tiles: str) -> None:
    scheme: Scheme = "dark" if tiles == "ebony" else "light"
    assert contrast(in_set("face-edge", tiles), token("surface", scheme)) >= 3
