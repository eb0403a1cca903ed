"""Which cells of the table are taken, as bits: an integer for each row and each column.

Owns this form of an area.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from service.render.geometry.shapes import EAST, NORTH, SOUTH, Box, Ray

_ORIGIN: Final = 1024
"""The bit of cell 0; the table of a whole set in one line, 190 tiles, stays within 760 units of it."""

Lines = dict[int, int]
"""The taken cells of rows or columns."""


class Grid:
    """The cells taken by tiles and by links: of both by row and by column, and of tiles alone by row.

    A copy costs some microseconds, as a table has about a hundred rows.
    """

    __slots__ = ("_columns", "_rows", "_tile_rows")

    def __init__(self, rows: Lines, columns: Lines, tile_rows: Lines) -> None:
        self._rows = rows
        self._columns = columns
        self._tile_rows = tile_rows

    def copy(self) -> Grid:
        """Return a grid with the same cells taken."""
        return Grid(self._rows.copy(), self._columns.copy(), self._tile_rows.copy())

    def put_tile(self, box: Box) -> None:
        """Take the cells of a tile."""
        self._put(box)
        bits = _bits(box.x0, box.x1)
        for y in range(box.y0, box.y1):
            self._tile_rows[y] = self._tile_rows.get(y, 0) | bits

    def put_link(self, cells: Iterable[tuple[int, int]]) -> None:
        """Take the cells of a link."""
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
        """Return whether this box and one unit around it are free; the cells of ``host`` do not count."""
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
            taken = row(y, 0) & bits
            if taken and (taken & not_host or not host.y0 <= y < host.y1):
                return False
        return True

    def blocked(self, line: int, *, upright: bool) -> int:
        """Return the bits of the places in a line where a tile and one unit around it are not free.

        Of a tile that lies, the line is its northern row, and the place its western column; of one that stands upright,
        the line is its western column, and the place its northern row. ``bit`` is the bit of a place.
        """
        lines = (self._columns if upright else self._rows).get
        taken = lines(line - 1, 0) | lines(line, 0) | lines(line + 1, 0) | lines(line + 2, 0)
        taken |= taken >> 1
        return taken << 1 | taken >> 1 | taken >> 3

    def run(self, ray: Ray, half: int, cap: int, skip: int = 0) -> int:
        """Return how far a strip ahead of a point is free, ``half`` wide to each side, ``cap`` at most.

        The first ``skip`` units are not looked at.
        """
        x, y, heading = ray
        along, across, lines = (y, x, self._columns) if heading in (SOUTH, NORTH) else (x, y, self._rows)
        line = lines.get
        taken = 0
        for each in range(across - half, across + half):
            taken |= line(each, 0)
        if not taken:
            return cap
        at = along + _ORIGIN
        if heading in (EAST, SOUTH):
            ahead = taken >> (at + skip) & (1 << (cap - skip)) - 1
            return skip + (ahead & -ahead).bit_length() - 1 if ahead else cap
        ahead = taken >> (at - cap) & (1 << (cap - skip)) - 1
        return cap - ahead.bit_length()


def empty_grid() -> Grid:
    """Return a grid without tiles."""
    return Grid({}, {}, {})


def bit(cell: int) -> int:
    """Return the number of the bit of a cell in its row or column."""
    return cell + _ORIGIN


def _bits(start: int, stop: int) -> int:
    return (1 << (stop - start)) - 1 << (start + _ORIGIN)
