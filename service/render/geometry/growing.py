"""The geometry of a layout, computed as a whole, or from the geometry without the last tiles.

Owns the table with its tiles, and the order in which tiles are laid. Does not depend on the choice of a spot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, floor
from typing import Final, NamedTuple

from service.engine.layout import CLOSED, END, LONG, SHORT, End, Layout, Placement, Side
from service.engine.tiles import Tile
from service.engine.variant import Spread
from service.render.geometry.costs import Plan, Surroundings, best_spot, plan
from service.render.geometry.links import Line, Link, find_link
from service.render.geometry.shapes import (
    EAST,
    NORTH,
    SOUTH,
    WEST,
    Box,
    Grid,
    Mouth,
    Ray,
    Spot,
    short_sides,
    straight,
    touched_edge,
)

# The tiles on the table, and how the next tile is laid.


LEADING_TILE: Final = Box(-2, -1, 2, 1)
LEADING_DOUBLE: Final = Box(-1, -2, 1, 2)


class LaidTile(NamedTuple):
    """A tile on the table."""

    box: Box
    rotation: int
    """In degrees."""
    link: Line | None
    """The line from its host, if it lies apart from it."""


@dataclass(slots=True)
class Table:
    """The tiles and ends on the table; mutable. Laying a tile does not move the others."""

    plan: Plan
    doubles_across: bool = True
    """Whether doubles lie across; otherwise they lie lengthwise, like any other tile."""
    grid: Grid = field(default_factory=Grid)
    mouths: dict[str, Mouth] = field(default_factory=dict)
    """All ends by name, also closed ends."""
    tiles: list[LaidTile] = field(default_factory=list)
    has_face_up_double: bool = False

    def copy(self) -> Table:
        """Return an independent table with the same tiles."""
        return replace(self, grid=self.grid.copy(), mouths=self.mouths.copy(), tiles=self.tiles.copy())

    def lead(self, tile: Tile, names: list[str]) -> None:
        """Lay the first tile. ``names``: the names of its ends in the west, the east, the north and the south.

        A single end is in the east. A tile that lies lengthwise has its smaller half in the west.
        """
        lies_across = tile.double and self.doubles_across
        box = LEADING_DOUBLE if lies_across else LEADING_TILE
        self._put(LaidTile(box, across(EAST) if lies_across else 0, None))
        self.has_face_up_double = tile.double
        side: Side = LONG if lies_across else END
        sides: list[tuple[Ray, Side, int]] = [
            (Ray(box.x0, 0, WEST), side, tile.low),
            (Ray(box.x1, 0, EAST), side, tile.high),
            (Ray(0, box.y0, NORTH), SHORT, tile.low),
            (Ray(0, box.y1, SOUTH), SHORT, tile.low),
        ]
        has_arms = self.plan.is_line or len(names) == len(sides)
        opened = sides[1:] if len(names) == 1 else sides
        for name, (ray, mouth_side, number) in zip(names, opened, strict=False):
            axis, arm = ray.heading % 2, ray.heading if has_arms else None
            self.mouths[name] = Mouth(ray, mouth_side, number, axis, arm, box, closed=False)

    def join(self, placement: Placement, end: str, names: list[str]) -> None:
        """Lay a tile at this end. ``names``: the names of its ends on the far side, on the left and on the right."""
        tile, face_down = placement.tile, placement.face_down
        mouth = self.mouths[end]
        lies_across = tile.double and self.doubles_across
        spot, link = self.next_spot(mouth, across=lies_across)
        box, far, *_ = spot
        outer = tile.other_half(mouth.number) if placement.outer is None else placement.outer
        rotation = across(far.heading) if lies_across else lengthwise(far.heading, turned=outer < tile.high)
        self._put(LaidTile(box, rotation, link.line if link else None))
        if link:
            self.grid.put_link(link.cells)
        self.has_face_up_double |= tile.double and not face_down
        del self.mouths[end]
        side: Side = LONG if lies_across else END
        self.mouths[names[0]] = Mouth(far, side, outer, mouth.axis, mouth.arm, box, closed=face_down)
        for name, ray in zip(names[1:], short_sides(far), strict=False):
            self.mouths[name] = Mouth(ray, SHORT, outer, ray.heading % 2, None, box, closed=False)

    def next_spot(self, mouth: Mouth, *, across: bool) -> tuple[Spot, Link | None]:
        """Return the spot for the next tile at this end, lengthwise or across, and its link if it must lie apart.

        A face-down double gets the same spot as a face-up double.
        """
        spread = self.plan.spread
        branches = spread == "tree" or (spread == "cross" and not self.has_face_up_double)
        spot = best_spot(Surroundings(self.plan, self.grid, self.mouths.values(), branches), mouth, double=across)
        if spot is not None:
            return spot, None
        link = find_link(self.grid, mouth.ray, double=across)
        return link.spot, link

    def _put(self, tile: LaidTile) -> None:
        self.grid.put_tile(tile.box)
        self.tiles.append(tile)


def lengthwise(heading: int, *, turned: bool = False) -> int:
    """Return the rotation of a lengthwise tile with this heading; ``turned``: its higher half touches its host."""
    return (90 * heading + (180 if turned else 0)) % 360


def across(heading: int) -> int:
    """Return the rotation of a double across this heading."""
    return 90 if heading in (EAST, WEST) else 0


class Area(NamedTuple):
    """A rectangle; ``x`` and ``y`` are its north-western corner."""

    x: int
    y: int
    width: int
    height: int


class Place(NamedTuple):
    """The centre of a tile, and its rotation.

    The rotation is in degrees, clockwise; at 0 the smaller half is in the west.
    """

    x: int
    y: int
    rotation: int


class PlacedTile(NamedTuple):
    """A tile of the layout; ``x``, ``y`` and ``rotation`` as in ``Place``."""

    tile: Tile
    x: int
    y: int
    rotation: int
    face_down: bool
    seat: int
    link: Line | None
    """The ends and corners of the line from its host, if it lies apart; ``None`` if it touches its host.

    The line runs through the middle of a corridor one unit wide, so coordinates can end in .5.
    """


class PlacedEnd(NamedTuple):
    """An end of the layout, with the places of the next tile there.

    Both places of a gated end assume that it is open; those of a closed end are straight ahead, free or not.
    """

    end: End
    x: float
    y: float
    """``x``, ``y``: the middle of the edge of the host that a tile at ``place`` touches.

    If the tile lies beside the host, this edge is a side of the outer half. If it lies apart, the point is the start of
    its link, so coordinates can end in .5.
    """
    direction: int
    """The direction from the host across that edge, in degrees."""
    place: Place
    """For a tile that touches with its smaller half; a tile that touches with its larger half is rotated by 180°."""
    place_double: Place
    """For a double, face up or face down."""


class Geometry(NamedTuple):
    """The tiles of a layout in the order of play, and its ends."""

    table: Area
    """The table planned for the whole set."""
    bounds: Area
    """The smallest rectangle around all tiles and links, and the places at all ends that are not closed.

    On an empty table, it is the place of the lead.
    """
    tiles: tuple[PlacedTile, ...]
    ends: tuple[PlacedEnd, ...]


def geometry(layout: Layout, tiles_in_set: int, spread: Spread, aspect: int) -> Geometry:
    """Return the geometry of a layout; ``aspect``: the width of the table divided by its height, in tenths (4 … 25)."""
    return GrowingGeometry(tiles_in_set, spread, aspect).extended(layout).geometry


class GrowingGeometry:
    """The geometry of a layout, which can be extended by the next tiles; without a layout, of an empty table.

    Immutable, so several readers can share it, and one layout can be continued in several ways. ``extended`` copies the
    grid, the ends and the tiles, which takes some microseconds besides the time for the new tiles. ``geometry`` is
    computed at its first use; each end then takes as long as two tiles. ``pause`` is called after each tile and each
    end, so that a server can run other requests.
    """

    def __init__(
        self,
        tiles_in_set: int,
        spread: Spread,
        aspect: int,
        *,
        pause: Callable[[], None] = lambda: None,
        table: Table | None = None,
        layout: Layout | None = None,
    ) -> None:
        self._key = tiles_in_set, spread, aspect
        self._pause = pause
        self._table = table or Table(plan(tiles_in_set, spread, aspect))
        self._layout = layout

    def extended(self, layout: Layout) -> GrowingGeometry:
        """Return the geometry of a layout that begins with the tiles of the current one."""
        table = self._table.copy()
        _lay_missing_tiles(table, layout, self._pause)
        return GrowingGeometry(*self._key, pause=self._pause, table=table, layout=layout)

    @cached_property
    def geometry(self) -> Geometry:
        """The geometry of the layout."""
        planned = _area(self._table.plan.table)
        if self._layout is None or not self._layout.placements:
            return Geometry(planned, _area(LEADING_TILE.united(LEADING_DOUBLE)), (), ())
        laid_tiles = self._table.tiles
        tiles = tuple(
            [
                PlacedTile(tile, *_centre(box), rotation, face_down, seat, link)
                for (tile, _, _, seat, face_down, _), (box, rotation, link) in zip(
                    self._layout.placements, laid_tiles, strict=True
                )
            ]
        )
        bounds = laid_tiles[0].box
        for laid_tile in laid_tiles:
            bounds = bounds.united(_bounds(laid_tile))
        ends = []
        for end in self._layout.ends:
            doubles_across = self._table.doubles_across
            plain, link = self._next_spot(end, across=False)
            double, _ = self._next_spot(end, across=doubles_across)
            if end.gate != CLOSED:
                bounds = bounds.united(plain.box).united(double.box)
            self._pause()
            *edge, heading = touched_edge(self._table.mouths[end.name], plain)
            x, y = edge if link is None else link.line[0]
            place = Place(*_centre(plain.box), lengthwise(plain.far.heading))
            rotation = (across if doubles_across else lengthwise)(double.far.heading)
            ends.append(PlacedEnd(end, x, y, 90 * heading, place, Place(*_centre(double.box), rotation)))
        return Geometry(planned, _area(bounds), tiles, tuple(ends))

    def _next_spot(self, end: End, *, across: bool) -> tuple[Spot, Link | None]:
        mouth = self._table.mouths[end.name]
        if end.gate == CLOSED:
            return straight(mouth.ray, double=across), None
        return self._table.next_spot(mouth, across=across)


def _lay_missing_tiles(table: Table, layout: Layout, pause: Callable[[], None]) -> None:
    """Lay the tiles of the layout that are not on the table; call ``pause`` after each.

    The end that a tile covered, and the number of ends that it opened, follow from the ends of the layout. The names of
    opened ends are numbered in order.
    """
    placements = layout.placements
    table.doubles_across = layout.form.doubles_across
    covered = layout.covered_ends()
    opened = Counter([placement.host for placement in placements])
    opened.update([end.host for end in layout.ends])
    first = len(table.tiles)
    last_number = sum([opened[index] for index in range(first)])
    for index in range(first, len(placements)):
        names = [f"e{last_number + offset}" for offset in range(1, opened[index] + 1)]
        last_number += opened[index]
        end = covered[index]
        if end is None:
            table.lead(placements[index].tile, list(layout.form.line_ends) or names)
        else:
            table.join(placements[index], end, [end] if layout.is_line else names)
        pause()


def _bounds(tile: LaidTile) -> Box:
    """Return the smallest box around a tile and its link."""
    box = tile.box
    for x, y in tile.link or ():
        box = box.united(Box(floor(x), floor(y), ceil(x), ceil(y)))
    return box


def _centre(box: Box) -> tuple[int, int]:
    return (box.x0 + box.x1) // 2, (box.y0 + box.y1) // 2


def _area(box: Box) -> Area:
    return Area(box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0)
