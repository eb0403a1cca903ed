"""Headings, boxes, the shapes that the other modules share, and the grid of occupied cells.

Owns these types. Does not depend on tiles or layouts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from service.engine.layout import Side

EAST: Final = 0
SOUTH: Final = 1
WEST: Final = 2
NORTH: Final = 3
DX: Final = (1, 0, -1, 0)
DY: Final = (0, 1, 0, -1)
"""The step of one unit, by heading."""


def left_of(heading: int) -> int:
    """Return the heading after a quarter turn to the left."""
    return (heading + 3) % 4


def right_of(heading: int) -> int:
    """Return the heading after a quarter turn to the right."""
    return (heading + 1) % 4


def opposite(heading: int) -> int:
    """Return the heading after half a turn."""
    return (heading + 2) % 4


class Box(NamedTuple):
    """A rectangle of cells, from ``x0`` and ``y0`` up to but not including ``x1`` and ``y1``."""

    x0: int
    y0: int
    x1: int
    y1: int

    def united(self, other: Box) -> Box:
        """Return the smallest box around both."""
        return Box(min(self.x0, other.x0), min(self.y0, other.y0), max(self.x1, other.x1), max(self.y1, other.y1))


class Ray(NamedTuple):
    """A point on the edge of a tile, and the heading away from the tile."""

    x: int
    y: int
    heading: int


class Mouth(NamedTuple):
    """An end on the table, with the facts that decide where the next tile lies."""

    ray: Ray
    """The middle of the edge where a tile joins."""
    side: Side
    number: int
    axis: int
    """The axis on which its arm started: 0 for west-east, 1 for north-south. An arm that turned off returns to it."""
    arm: int | None
    """The heading in which its arm left the lead, in a line and at a lead with four sides; otherwise ``None``."""
    host: Box
    closed: bool


class Spot(NamedTuple):
    """A possible position of a tile at an end."""

    box: Box
    far: Ray
    """The middle of its far edge, and the heading away from the host."""
    turned: bool
    """Whether its heading differs from that of the mouth."""
    elbow: bool
    """Whether its inner half lies straight ahead of the mouth, and its outer half to the side."""


def strip(ray: Ray, near: int, far: int, half: int) -> Box:
    """Return the box ahead of a point, from the distance ``near`` to ``far``, with the width ``half`` on each side."""
    x, y, heading = ray
    if heading == EAST:
        return Box(x + near, y - half, x + far, y + half)
    if heading == WEST:
        return Box(x - far, y - half, x - near, y + half)
    if heading == SOUTH:
        return Box(x - half, y + near, x + half, y + far)
    return Box(x - half, y - far, x + half, y - near)


def ahead(ray: Ray, length: int) -> Ray:
    """Return the ray moved ahead by ``length``."""
    x, y, heading = ray
    return Ray(x + length * DX[heading], y + length * DY[heading], heading)


def turned(ray: Ray, heading: int, back: int, out: int) -> Ray:
    """Return the ray moved back by ``back`` and sideways by ``out``, with the new heading."""
    x, y, old = ray
    return Ray(x - back * DX[old] + out * DX[heading], y - back * DY[old] + out * DY[heading], heading)


def side_exits(far: Ray) -> tuple[Ray, Ray]:
    """Return the rays to the left and right of the outer half of a plain tile; ``far``: the ray of its far edge."""
    heading = far.heading
    return turned(far, left_of(heading), 1, 1), turned(far, right_of(heading), 1, 1)


def short_sides(far: Ray) -> tuple[Ray, Ray]:
    """Return the rays from the left and right short side of a double; ``far``: the ray of its far long side."""
    heading = far.heading
    return turned(far, left_of(heading), 1, 2), turned(far, right_of(heading), 1, 2)


def straight(ray: Ray, *, double: bool, turned: bool = False) -> Spot:
    """Return the spot of a tile whose inner edge has its middle at ``ray``; a double lies across."""
    length, half = (2, 2) if double else (4, 1)
    return Spot(strip(ray, 0, length, half), ahead(ray, length), turned, elbow=False)


def touched_edge(mouth: Mouth, spot: Spot) -> Ray:
    """Return the middle of the edge of the host that a tile at this spot touches, and the heading towards the tile.

    A turned tile touches a side of the host's outer half, unless the tile is an elbow.
    """
    if not spot.turned or spot.elbow:
        return mouth.ray
    return turned(mouth.ray, spot.far.heading, 1, 1)


# The occupied cells of the table, as bits: an integer for each row and each column.


_ORIGIN: Final = 1024
"""The bit of cell 0. A table with the largest set, 190 tiles in one line, stays within 760 units of it."""

Lines = dict[int, int]
"""The occupied cells of each row or column, as bits."""


@dataclass(slots=True)
class Grid:
    """The occupied cells: those of tiles and links by row and by column, and those of tiles alone by row.

    A copy takes some microseconds, because a table has about a hundred rows.
    """

    _rows: Lines = field(default_factory=dict)
    _columns: Lines = field(default_factory=dict)
    _tile_rows: Lines = field(default_factory=dict)

    def copy(self) -> Grid:
        """Return an independent grid with the same occupied cells."""
        return Grid(self._rows.copy(), self._columns.copy(), self._tile_rows.copy())

    def put_tile(self, box: Box) -> None:
        """Mark the cells of a tile as occupied."""
        self._put(box)
        bits = _bits(box.x0, box.x1)
        for y in range(box.y0, box.y1):
            self._tile_rows[y] = self._tile_rows.get(y, 0) | bits

    def put_link(self, cells: Iterable[tuple[int, int]]) -> None:
        """Mark the cells of a link as occupied."""
        for x, y in cells:
            self._put(Box(x, y, x + 1, y + 1))

    def _put(self, box: Box) -> None:
        x0, y0, x1, y1 = box
        bits = _bits(x0, x1)
        for y in range(y0, y1):
            self._rows[y] = self._rows.get(y, 0) | bits
        bits = _bits(y0, y1)
        for x in range(x0, x1):
            self._columns[x] = self._columns.get(x, 0) | bits

    def has_tile(self, x: int, y: int) -> bool:
        """Return whether a tile lies on this cell."""
        return bool(self._tile_rows.get(y, 0) >> (x + _ORIGIN) & 1)

    def has_room(self, box: Box, host: Box | None) -> bool:
        """Return whether this box and one unit around it are free; cells of ``host`` are ignored."""
        x0, y0, x1, y1 = box
        bits = _bits(x0 - 1, x1 + 1)
        row = self._rows.get
        if host is None:
            for y in range(y0 - 1, y1 + 1):
                if row(y, 0) & bits:
                    return False
            return True
        not_host = ~_bits(host.x0, host.x1)
        for y in range(y0 - 1, y1 + 1):
            occupied = row(y, 0) & bits
            if occupied and (occupied & not_host or not host.y0 <= y < host.y1):
                return False
        return True

    def blocked(self, line: int, *, upright: bool) -> int:
        """Return the positions in a row or column where a tile and one unit around it are not free, as bits (``bit``).

        ``line``: the northern row of a horizontal tile, or the western column of an upright tile. A position is the
        western column of a horizontal tile, or the northern row of an upright tile.
        """
        lines = (self._columns if upright else self._rows).get
        occupied = lines(line - 1, 0) | lines(line, 0) | lines(line + 1, 0) | lines(line + 2, 0)
        occupied |= occupied >> 1
        return occupied << 1 | occupied >> 1 | occupied >> 3

    def run(self, ray: Ray, half: int, cap: int, skip: int = 0) -> int:
        """Return the free length of the strip ahead of a point, at most ``cap``.

        The strip has the width ``half`` on each side. Its first ``skip`` units count as free.
        """
        x, y, heading = ray
        along, across, lines = (y, x, self._columns) if heading in (SOUTH, NORTH) else (x, y, self._rows)
        line = lines.get
        occupied = 0
        for place in range(across - half, across + half):
            occupied |= line(place, 0)
        if not occupied:
            return cap
        start = along + _ORIGIN
        if heading in (EAST, SOUTH):
            ahead = occupied >> (start + skip) & (1 << (cap - skip)) - 1
            return skip + (ahead & -ahead).bit_length() - 1 if ahead else cap
        ahead = occupied >> (start - cap) & (1 << (cap - skip)) - 1
        return cap - ahead.bit_length()


def bit(cell: int) -> int:
    """Return the index of a cell's bit in its row or column."""
    return cell + _ORIGIN


def _bits(start: int, stop: int) -> int:
    return (1 << (stop - start)) - 1 << (start + _ORIGIN)
