"""The contrast of the colours of pictures, as WCAG 2.2 computes it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from service.engine.tiles import MAX_PIPS
from service.render.svg import DARK, FORCED, LIGHT, PRINT, Palette

PAPER = "#fff"
PALETTES = {"light": LIGHT, "dark": DARK, "print": PRINT}
TEXT = 4.5
"""What WCAG 2.2 asks of text (1.4.3)."""
GRAPHICS = 3.0
"""What WCAG 2.2 asks of graphics (1.4.11)."""


def luminance(colour: str) -> float:
    digits = colour.removeprefix("#")
    parts = [digits[at : at + 2] for at in (0, 2, 4)] if len(digits) == 6 else [each * 2 for each in digits]
    shares = [int(part, 16) / 255 for part in parts]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def cloth_of(palette: Palette) -> str:
    return PAPER if palette.cloth == "none" else palette.cloth


def test_black_on_white_has_the_highest_contrast_there_is() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
def test_pips_and_digits_can_be_read_on_their_face(palette: Palette) -> None:
    for colour in (palette.ink, *palette.numbers):
        assert contrast(colour, palette.face) >= TEXT, colour


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
def test_tiles_rings_and_marks_can_be_seen_on_the_cloth(palette: Palette) -> None:
    for colour in (palette.edge, palette.back_edge, palette.ring, palette.outline):
        assert contrast(colour, cloth_of(palette)) >= GRAPHICS, colour


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
def test_the_cross_on_a_back_can_be_seen(palette: Palette) -> None:
    assert contrast(palette.lattice, palette.back) >= GRAPHICS


def test_every_number_has_a_colour_that_differs_from_the_next_one() -> None:
    for palette in (LIGHT, DARK):
        assert len(set(palette.numbers)) == MAX_PIPS + 1
        assert all(one != other for one, other in pairwise(palette.numbers))


def test_paper_has_black_lines_only() -> None:
    assert set(PRINT[:-1]) == {"none", "#fff", "#000"}


def test_where_the_viewer_insists_on_colours_only_those_of_the_system_are_used() -> None:
    assert not any("#" in colour for colour in FORCED[:-1])
