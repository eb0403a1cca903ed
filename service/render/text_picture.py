"""The picture of a table in characters: every tile where it lies, as a box with its two numbers.

Owns the characters. A unit of the geometry is two columns wide and one line high; borders lie on the lines between
units, so that tiles that touch share theirs::

              ┌───┐
      ┌───────┤ 4 ├───────┐
     ○│ 1 : 4 │ : │ 4 : 6*│○
      └───────┤ 4 ├───────┘
              └───┘

``▒`` fills a tile that lies face down, ``*`` marks the tile laid last, ``○`` an end that is open and ``◌`` one that
opens later, ``·`` the line to a tile that lies apart. Only a tile hides a mark: it is drawn whole in any case. The size
is that of the tiles and lines with a margin of a unit. Does not depend on how places are computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, floor
from typing import Final

from service.engine.layout import CLOSED, OPEN
from service.render.geometry import Geometry, PlacedEnd, PlacedTile

LEGEND: Final = "▒ face down · * laid last · ○ open end · ◌ end that opens later · · line to a tile that lies apart"

_COLUMNS: Final = 2
"""Of a unit."""
_MARGIN: Final = 1
"""Around the tiles, in units: for the marks of the ends."""
_STEPS: Final = 2
"""Points of a link that are marked in each unit."""

_EAST, _SOUTH, _WEST, _NORTH = 1, 2, 4, 8
_BORDERS: Final = {
    _EAST | _WEST: "─",
    _NORTH | _SOUTH: "│",
    _EAST | _SOUTH: "┌",
    _WEST | _SOUTH: "┐",
    _EAST | _NORTH: "└",
    _WEST | _NORTH: "┘",
    _EAST | _NORTH | _SOUTH: "├",
    _WEST | _NORTH | _SOUTH: "┤",
    _EAST | _WEST | _SOUTH: "┬",
    _EAST | _WEST | _NORTH: "┴",
    _EAST | _SOUTH | _WEST | _NORTH: "┼",
}
"""The character of a border by the directions to which it goes on."""
_STEP: Final = {0: (1, 0), 90: (0, 1), 180: (-1, 0), 270: (0, -1)}


def draw(geometry: Geometry) -> list[str]:
    """Return the lines of the picture; none for an empty table."""
    return _Canvas(geometry).lines() if geometry.tiles else []


class _Canvas:
    def __init__(self, geometry: Geometry) -> None:
        corners = [corner for placed in geometry.tiles for corner in _corners(placed)]
        points = [point for placed in geometry.tiles for point in placed.link or ()]
        self._left = min([int(x) for x, _ in [*corners, *points]]) - _MARGIN
        self._top = min([int(y) for _, y in [*corners, *points]]) - _MARGIN
        width = (max([int(x) for x, _ in [*corners, *points]]) + _MARGIN - self._left) * _COLUMNS + 1
        height = max([int(y) for _, y in [*corners, *points]]) + _MARGIN - self._top + 1
        self._borders = [[0] * width for _ in range(height)]
        self._text = [[" "] * width for _ in range(height)]
        for placed in geometry.tiles:
            self._box(placed)
        for placed in geometry.tiles:
            self._numbers(placed)
        self._mark_last(geometry.tiles[-1])
        for placed in geometry.tiles:
            self._link(placed.link or ())
        for end in geometry.ends:
            self._end(end)

    def lines(self) -> list[str]:
        """Return the lines, without blanks at their ends."""
        return [
            "".join([_BORDERS[border] if border else text for border, text in zip(*row, strict=True)]).rstrip()
            for row in zip(self._borders, self._text, strict=True)
        ]

    def _at(self, x: float, y: float) -> tuple[int, int]:
        """Return the column and the line of a point."""
        return round((x - self._left) * _COLUMNS), round(y - self._top)

    def _box(self, placed: PlacedTile) -> None:
        """Draw the border of a tile, and what fills it if it lies face down."""
        (left, top), (right, bottom) = [self._at(x, y) for x, y in _corners(placed)]
        for line in (top, bottom):
            for column in range(left, right):
                self._borders[line][column] |= _EAST
                self._borders[line][column + 1] |= _WEST
        for column in (left, right):
            for line in range(top, bottom):
                self._borders[line][column] |= _SOUTH
                self._borders[line + 1][column] |= _NORTH
        if placed.face_down:
            for line in range(top + 1, bottom):
                self._text[line][left + 1 : right] = "▒" * (right - left - 1)

    def _numbers(self, placed: PlacedTile) -> None:
        """Write the number of each half at its middle, and a colon between them."""
        if placed.face_down:
            return
        step_x, step_y = _STEP[placed.rotation]
        column, line = self._at(placed.x, placed.y)
        self._text[line][column] = ":"
        for number, side in ((placed.tile.low, -1), (placed.tile.high, 1)):
            column, line = self._at(placed.x + side * step_x, placed.y + side * step_y)
            text = str(number)
            # Two digits of a tile that lies stand beside its border, so that there is a blank in the middle.
            start = column if len(text) == 1 else column - (side * step_x > 0 or step_y != 0)
            self._text[line][start : start + len(text)] = text

    def _mark_last(self, placed: PlacedTile) -> None:
        (_, _), (right, _) = [self._at(x, y) for x, y in _corners(placed)]
        _, line = self._at(placed.x, placed.y)
        if not placed.face_down:
            self._text[line][right - 1] = "*"

    def _link(self, points: Sequence[tuple[float, float]]) -> None:
        """Draw the line to a tile that lies apart."""
        for (x0, y0), (x1, y1) in pairwise(points):
            steps = max(1, round(_STEPS * (abs(x1 - x0) + abs(y1 - y0))))
            for step in range(steps + 1):
                self._mark(x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps, "·")

    def _end(self, placed: PlacedEnd) -> None:
        """Mark an end that is not closed, beyond the border of its tile."""
        if placed.end.gate == CLOSED:
            return
        step_x, step_y = _STEP[placed.direction]
        self._mark(placed.x + step_x / _COLUMNS, placed.y + step_y, "○" if placed.end.gate == OPEN else "◌")

    def _mark(self, x: float, y: float, mark: str) -> None:
        """Set a mark, where nothing else is; between two lines of the text on the upper one if that is free."""
        for each in (floor(y), ceil(y)):
            column, line = self._at(x, each)
            if not self._borders[line][column] and self._text[line][column] in {" ", "·"}:
                self._text[line][column] = mark
                return


def _corners(placed: PlacedTile) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the upper left and the lower right corner of a tile."""
    half_width, half_height = (2, 1) if placed.rotation % 180 == 0 else (1, 2)
    x, y = placed.x, placed.y
    return (x - half_width, y - half_height), (x + half_width, y + half_height)
