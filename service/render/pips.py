"""The pips of a half, as the path of an SVG.

Owns their arrangement. Two and three lie on a diagonal; from four on there are three rows, of which the first and the
last are alike. A pip is a line without a length and with round ends.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

_ROWS: Final = (
    (0, 0, 0),
    (0, 1, 0),
    (0, 0, 0),
    (0, 0, 0),
    (2, 0, 2),
    (2, 1, 2),
    (3, 0, 3),
    (3, 1, 3),
    (3, 2, 3),
    (3, 3, 3),
    (4, 2, 4),
    (4, 3, 4),
    (4, 4, 4),
    (5, 3, 5),
    (5, 4, 5),
    (5, 5, 5),
    (6, 4, 6),
    (6, 5, 6),
    (6, 6, 6),
)
"""The pips in each row of a number; those of 2 and 3 are in ``_DIAGONAL``."""

_STEP: Final = 0.54
"""From the centre of a half to its outer rows, in units."""
_DIAGONAL: Final = {2: (-_STEP, _STEP), 3: (-_STEP, 0.0, _STEP)}
_SIZES: Final = {3: (_STEP, 0.42), 4: (0.62, 0.34), 5: (0.66, 0.28), 6: (0.7, 0.22)}
"""By the pips in the longest row: from the centre to the outer ones, and the diameter of a pip."""

LONGEST_ROW_OF_LARGE_PIPS: Final = 15
"""The highest number whose pips can be told apart in a half of 24 pixels; above it a half needs 40."""


class Pips(NamedTuple):
    """The path of the pips around the centre of a half, and the width of its line: their diameter. In units."""

    path: str
    width: float


@cache
def pips_of(number: int) -> Pips:
    """Return the pips of a number in a tile that lies; none for 0."""
    points = pip_places(number)
    _, width = _SIZES[max(3, *_ROWS[number])]
    return Pips("".join([f"M{short(x)}{_second(y)}h0" for x, y in points]), width)


def pip_places(number: int) -> list[tuple[float, float]]:
    """Return the centres of the pips, from the centre of a half, in units."""
    if number in _DIAGONAL:
        return [(each, each) for each in _DIAGONAL[number]]
    rows = _ROWS[number]
    longest = max(3, *rows)
    span, _ = _SIZES[longest]
    return [(x, y) for many, y in zip(rows, (-_STEP, 0.0, _STEP), strict=True) for x in _row(many, longest, span)]


def _row(many: int, longest: int, span: float) -> list[float]:
    """Return the places in a row: spread over the columns of the longest row if possible, else between them."""
    if many < 2:
        return [0.0] * many
    step = 2 * span / (longest - 1)
    if (longest - 1) % (many - 1) == 0:
        step = 2 * span / (many - 1)
    return [round(step * (at - (many - 1) / 2), 2) for at in range(many)]


def short(value: float) -> str:
    """Return a number as an SVG has it, without what is not needed."""
    text = f"{value:.2f}".rstrip("0").rstrip(".") if value % 1 else str(int(value))
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def _second(value: float) -> str:
    """Return a number after another one."""
    text = short(value)
    return text if text.startswith("-") else f" {text}"
