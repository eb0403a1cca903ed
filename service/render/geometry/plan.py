"""The size of table that a layout is planned for, known before its first tile.

Owns this size.
"""

from __future__ import annotations

from math import isqrt
from typing import Final, NamedTuple

from service.engine.variant import Spread
from service.render.geometry.shapes import Box

_TILE_AREA: Final = 8
_SPACE: Final[dict[Spread, int]] = {"line": 34, "arm": 22, "cross": 45, "tree": 70}
"""How many times the area of its tiles a table needs, in tenths; measured over random matches."""


class Plan(NamedTuple):
    """The planned table, and how its layout spreads."""

    table: Box
    spread: Spread

    @property
    def is_line(self) -> bool:
        """Whether the layout is a line, of one end or two."""
        return self.spread in ("line", "arm")

    def outside(self, box: Box) -> int:
        """By how many units this box leaves the planned table; a line may do so to the north and the south."""
        (x0, y0, x1, y1), (west, north, east, south), _ = box, *self
        over = max(0, west - x0) + max(0, x1 - east)
        if self.is_line:
            return over
        return over + max(0, north - y0) + max(0, y1 - south)


def plan(tiles_in_set: int, spread: Spread, aspect: int) -> Plan:
    """Return the plan for a set, by the width of the table over its height in tenths.

    The lead lies in the middle, but in the south-western corner where there is one end, as a line goes on to the north.
    """
    area = _TILE_AREA * _SPACE[spread] * tiles_in_set
    half_width, half_height = _half_root(area * aspect, 100), _half_root(area, aspect)
    if spread == "arm":
        return Plan(Box(-2, 2 - 2 * half_height, 2 * half_width - 2, 2), spread)
    return Plan(Box(-half_width, -half_height, half_width, half_height), spread)


def _half_root(area: int, divisor: int) -> int:
    """Half the square root of ``area / divisor``, rounded."""
    return (isqrt(area // divisor) + 1) // 2
