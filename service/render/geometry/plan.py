"""The size of table that a layout is planned for, known before its first tile."""

from __future__ import annotations

from math import isqrt
from typing import Final, NamedTuple

from service.engine.variant import Spread
from service.render.geometry.shapes import Box

_TILE_AREA: Final = 8
_SPACE: Final[dict[Spread, int]] = {"line": 34, "cross": 45, "tree": 70}
"""How many times the area of its tiles a table needs, in tenths; measured over random matches."""


class Plan(NamedTuple):
    """Half the sides of the planned table, and how its layout spreads."""

    half_width: int
    half_height: int
    spread: Spread

    def outside(self, box: Box) -> int:
        """By how many units this box leaves the planned table; a line may do so to the north and the south."""
        x0, y0, x1, y1 = box
        over = max(0, -self.half_width - x0) + max(0, x1 - self.half_width)
        if self.spread == "line":
            return over
        return over + max(0, -self.half_height - y0) + max(0, y1 - self.half_height)


def plan(tiles_in_set: int, spread: Spread, aspect: int) -> Plan:
    """The plan for a set, by the width of the table over its height in tenths."""
    area = _TILE_AREA * _SPACE[spread] * tiles_in_set
    return Plan(_half_root(area * aspect, 100), _half_root(area, aspect), spread)


def _half_root(area: int, divisor: int) -> int:
    """Half the square root of ``area / divisor``, rounded."""
    return (isqrt(area // divisor) + 1) // 2
