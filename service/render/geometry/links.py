"""Finds a spot for a tile if no spot at its end is free: a spot elsewhere, and a line (a link) from the end to it.

There is always such a spot: tiles have a gap to all tiles but their host, so a corridor at least one unit wide leads
from every end out of the layout. Only games in which doubles branch need links. Owns the search. Does not depend on the
reason why no spot at the end is free.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from heapq import heappop, heappush
from typing import Final, NamedTuple

from service.render.geometry.shapes import (
    DX,
    DY,
    EAST,
    NORTH,
    SOUTH,
    WEST,
    Grid,
    Ray,
    Spot,
    bit,
    left_of,
    right_of,
    straight,
)

_STEP: Final = 10
"""The cost of each cell of a path."""
_BEND: Final = 5
"""The cost of each bend."""
_NO_ROOM: Final = 7
"""The cost of each unit that the room ahead of the tile is shorter than ``_ROOM``."""
_ROOM: Final = 24

_CORNERS: Final = tuple(
    [
        [straight(Ray(0, 0, heading), double=double).box[:2] for heading in (EAST, SOUTH, WEST, NORTH)]
        for double in (False, True)
    ]
)
"""The north-western corner of a tile, relative to the middle of its inner edge; for a plain tile and for a double, by
heading."""

Cell = tuple[int, int]
"""The western and northern edge of a cell."""
Line = tuple[tuple[float, float], ...]
"""The ends and corners of a line from the edge of the host to the edge of the tile, in multiples of one half."""
_Node = tuple[Cell, int]
"""A node of the search: a cell, and a heading in that cell."""
_Path = tuple[int, _Node, _Node | None]
"""A path of the search: its cost, its last node, and the node before."""


class Link(NamedTuple):
    """The spot of a tile that lies apart, the cells of its link, and the line through their centres."""

    spot: Spot
    cells: tuple[Cell, ...]
    line: Line


def find_link(grid: Grid, start: Ray, *, double: bool) -> Link:
    """Return the cheapest spot for the next tile of the end ``start``, by path, bends, and the room ahead."""
    blocked = cache(grid.blocked)

    @cache
    def room_ahead(ray: Ray) -> int | None:
        """Return the room ahead of the spot whose inner edge has its middle at ``ray``; ``None`` if it is not free."""
        x, y, heading = ray
        upright = double == (heading in (EAST, WEST))
        dx, dy = _CORNERS[double][heading]
        line, place = (x + dx, y + dy) if upright else (y + dy, x + dx)
        if blocked(line, upright=upright) >> bit(place) & 1:
            return None
        return grid.run(straight(ray, double=double).far, 3, _ROOM)

    came_from: dict[_Node, _Node | None] = {}
    best: tuple[int, Link] | None = None
    for cost, node in _nodes_by_cost(grid, start, came_from):
        if best is not None and cost >= best[0]:
            break
        for ray in _rays_beyond(*node):
            room = room_ahead(ray)
            if room is None:
                continue
            total = cost + _NO_ROOM * (_ROOM - room)
            if best is None or total < best[0]:
                spot = straight(ray, double=double)
                cells = _cells(came_from, node)
                if not any([_inside(spot, cell) for cell in cells]):
                    best = total, Link(spot, cells, _line(cells, start.heading, ray.heading))
    assert best is not None
    return best[1]


def _nodes_by_cost(grid: Grid, start: Ray, came_from: dict[_Node, _Node | None]) -> Iterator[tuple[int, _Node]]:
    """Yield all nodes reachable over cells without tiles, by cost (Dijkstra's algorithm).

    Adds to ``came_from`` the node before each node.
    """
    queue: list[_Path] = [(0, (cell, start.heading), None) for cell in _cells_ahead(start)]
    while True:
        cost, node, previous = heappop(queue)
        if node in came_from:
            continue
        came_from[node] = previous
        yield cost, node
        (x, y), heading = node
        ahead = x + DX[heading], y + DY[heading]
        if (ahead, heading) not in came_from and not grid.has_tile(*ahead):
            heappush(queue, (cost + _STEP, (ahead, heading), node))
        for turn in (left_of(heading), right_of(heading)):
            if ((x, y), turn) not in came_from:
                heappush(queue, (cost + _BEND, ((x, y), turn), node))


def _cells_ahead(ray: Ray) -> tuple[Cell, Cell]:
    """Return the two cells ahead of this point that touch it."""
    x, y, heading = ray
    if heading in (EAST, WEST):
        x -= heading == WEST
        return (x, y - 1), (x, y)
    y -= heading == NORTH
    return (x - 1, y), (x, y)


def _rays_beyond(cell: Cell, heading: int) -> tuple[Ray, Ray]:
    """Return the rays at the two corners of the cell's far edge."""
    x, y = cell
    if heading in (EAST, WEST):
        x += heading == EAST
        return Ray(x, y, heading), Ray(x, y + 1, heading)
    y += heading == SOUTH
    return Ray(x, y, heading), Ray(x + 1, y, heading)


def _cells(came_from: dict[_Node, _Node | None], node: _Node) -> tuple[Cell, ...]:
    cells: list[Cell] = []
    step: _Node | None = node
    while step is not None:
        if not cells or cells[-1] != step[0]:
            cells.append(step[0])
        step = came_from[step]
    return tuple(cells[::-1])


def _inside(spot: Spot, cell: Cell) -> bool:
    return spot.box.x0 <= cell[0] < spot.box.x1 and spot.box.y0 <= cell[1] < spot.box.y1


def _line(cells: tuple[Cell, ...], first: int, last: int) -> Line:
    """Return the ends and corners of the line through these cells, from the first heading to the last."""
    centres = [(x + 0.5, y + 0.5) for x, y in cells]
    (x0, y0), (x1, y1) = centres[0], centres[-1]
    points = [(x0 - DX[first] / 2, y0 - DY[first] / 2), *centres, (x1 + DX[last] / 2, y1 + DY[last] / 2)]
    corners = [
        here
        for before, here, after in zip(points, points[1:], points[2:], strict=False)
        if not (before[0] == here[0] == after[0] or before[1] == here[1] == after[1])
    ]
    return (points[0], *corners, points[-1])
