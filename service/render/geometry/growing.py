"""The geometry of a layout, from scratch or from the geometry of the same layout before its last tiles.

Owns the order in which tiles are laid, and the table on which they lie. Does not depend on which spot is best.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
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
    empty_grid,
    short_sides,
    straight,
    touched_edge,
)

# The tiles on the table so far, and how the next one is laid.


LEADING_TILE: Final = Box(-2, -1, 2, 1)
LEADING_DOUBLE: Final = Box(-1, -2, 1, 2)


class Laid(NamedTuple):
    """Where a tile lies, its rotation in degrees, and the line of its link if it lies apart from its host."""

    box: Box
    rotation: int
    link: Line | None


@dataclass(slots=True)
class Table:
    """Where the tiles and the ends lie. Laying a tile changes it; nothing that lies is moved."""

    plan: Plan
    doubles_across: bool = True
    """Return whether doubles lie across; else lengthwise, like any other tile."""
    grid: Grid = field(default_factory=empty_grid)
    mouths: dict[str, Mouth] = field(default_factory=dict)
    """The ends by their names, the closed ones too."""
    laid: list[Laid] = field(default_factory=list)
    has_face_up_double: bool = False

    def copy(self) -> Table:
        """Return a table with the same tiles."""
        return Table(
            self.plan,
            self.doubles_across,
            self.grid.copy(),
            self.mouths.copy(),
            self.laid.copy(),
            self.has_face_up_double,
        )

    def lead(self, tile: Tile, names: list[str]) -> None:
        """Lay the first tile; ends with these names are on its long sides, west and east, and then north and south.

        A single end is in the east. A tile that does not lie across has its smaller half in the west.
        """
        lies_across = tile.double and self.doubles_across
        box = LEADING_DOUBLE if lies_across else LEADING_TILE
        self._put(Laid(box, across(EAST) if lies_across else 0, None))
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
            heading = ray.heading
            self.mouths[name] = Mouth(
                ray, mouth_side, number, heading % 2, heading if has_arms else None, box, closed=False
            )

    def join(self, placement: Placement, end: str, names: list[str]) -> None:
        """Lay a tile at this end; ends with these names are on its far side, and then on its left and right."""
        tile, face_down = placement.tile, placement.face_down
        mouth = self.mouths[end]
        lies_across = tile.double and self.doubles_across
        spot, link = self.next_spot(mouth, across=lies_across)
        box, far, *_ = spot
        outer = tile.other_half(mouth.number) if placement.outer is None else placement.outer
        rotation = across(far.heading) if lies_across else lengthwise(far.heading, turned=outer < tile.high)
        self._put(Laid(box, rotation, link.line if link else None))
        if link:
            self.grid.put_link(link.cells)
        self.has_face_up_double |= tile.double and not face_down
        del self.mouths[end]
        side: Side = LONG if lies_across else END
        self.mouths[names[0]] = Mouth(far, side, outer, mouth.axis, mouth.arm, box, closed=face_down)
        for name, ray in zip(names[1:], short_sides(far), strict=False):
            self.mouths[name] = Mouth(ray, SHORT, outer, ray.heading % 2, None, box, closed=False)

    def next_spot(self, mouth: Mouth, *, across: bool) -> tuple[Spot, Link | None]:
        """Return the spot of a tile laid now at this end, lengthwise or across, and its link if it has to lie apart.

        A double that is laid face down takes the spot that it would take face up.
        """
        spread = self.plan.spread
        branches = spread == "tree" or (spread == "cross" and not self.has_face_up_double)
        spot = best_spot(Surroundings(self.plan, self.grid, self.mouths.values(), branches), mouth, double=across)
        if spot is not None:
            return spot, None
        link = find_link(self.grid, mouth.ray, double=across)
        return link.spot, link

    def _put(self, laid: Laid) -> None:
        self.grid.put_tile(laid.box)
        self.laid.append(laid)


def lengthwise(heading: int, *, turned: bool = False) -> int:
    """Return the rotation of a tile that lies lengthwise with this heading.

    ``turned``: its higher half touches its host.
    """
    return (90 * heading + (180 if turned else 0)) % 360


def across(heading: int) -> int:
    """Return the rotation of a double that lies across with this heading."""
    return 90 if heading in (EAST, WEST) else 0


class Area(NamedTuple):
    """A rectangle by its north-western corner."""

    x: int
    y: int
    width: int
    height: int


class Place(NamedTuple):
    """The centre of a tile and its rotation in degrees, clockwise from lying with its smaller half in the west."""

    x: int
    y: int
    rotation: int


class PlacedTile(NamedTuple):
    """A tile of the layout, with the centre and rotation of a ``Place``.

    ``link``: the line from its host, by its ends and corners, where it had to be laid apart; ``None`` where it touches
    its host. The line runs through the middle of a corridor one unit wide, so a coordinate may end in .5.
    """

    tile: Tile
    x: int
    y: int
    rotation: int
    face_down: bool
    seat: int
    link: Line | None


class PlacedEnd(NamedTuple):
    """An end of the layout: the middle of the edge of its host that a tile at ``place`` touches, and the way across it.

    ``direction`` is in degrees. Where the tile would turn off, the edge is at the side of the half to match; where it
    would lie apart, the point is where its link begins, so that a coordinate may end in .5.

    ``place``: where a tile would lie that joined now, rotated as one that touches with its smaller half; a tile that
    touches with its other half lies the other way round. ``place_double``: the same for a double, face up or down. The
    places of a gated end are those if it opened now; those of a closed end are straight ahead, free or not.
    """

    end: End
    x: float
    y: float
    direction: int
    place: Place
    place_double: Place


class Geometry(NamedTuple):
    """The tiles of a layout in the order of play, and its ends in their order.

    ``table``: the table planned for the whole set; ``bounds``: the smallest rectangle around all tiles, links, and the
    places of all ends that are not closed. On an empty table that is the place of the lead.
    """

    table: Area
    bounds: Area
    tiles: tuple[PlacedTile, ...]
    ends: tuple[PlacedEnd, ...]


def geometry(layout: Layout, tiles_in_set: int, spread: Spread, aspect: int) -> Geometry:
    """Return the geometry of a layout, on a table for this set with this width over its height, in tenths (4 … 25)."""
    return GrowingGeometry(tiles_in_set, spread, aspect).extended(layout).geometry


class GrowingGeometry:
    """The geometry of a layout that can be extended by the tiles laid next; without a layout, of an empty table.

    A value does not change: ``extended`` makes another one. So several readers may share a value, and a layout may go
    on in several ways. That copies which cells are taken, the ends, and where the tiles lie: some microseconds, beside
    what the new tiles cost. ``geometry`` is computed when it is first asked for; each end then costs as much as two
    tiles. ``pause`` is called after each tile and each end, to let others run.
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
        """Return the geometry of this layout, which begins with the tiles of the layout of this geometry."""
        table = self._table.copy()
        _lay_missing_tiles(table, layout, self._pause)
        return GrowingGeometry(*self._key, pause=self._pause, table=table, layout=layout)

    @cached_property
    def geometry(self) -> Geometry:
        """The geometry of the layout."""
        planned = _area(self._table.plan.table)
        if self._layout is None or not self._layout.placements:
            return Geometry(planned, _area(LEADING_TILE.united(LEADING_DOUBLE)), (), ())
        laid = self._table.laid
        tiles = tuple(
            [
                PlacedTile(tile, *_centre(box), rotation, face_down, seat, link)
                for (tile, _, _, seat, face_down, _), (box, rotation, link) in zip(
                    self._layout.placements, laid, strict=True
                )
            ]
        )
        bounds = laid[0].box
        for spot in laid:
            bounds = bounds.united(_around(spot))
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
            place_double = Place(*_centre(double.box), rotation)
            ends.append(PlacedEnd(end, x, y, 90 * heading, place, place_double))
        return Geometry(planned, _area(bounds), tiles, tuple(ends))

    def _next_spot(self, end: End, *, across: bool) -> tuple[Spot, Link | None]:
        mouth = self._table.mouths[end.name]
        if end.gate == CLOSED:
            return straight(mouth.ray, double=across), None
        return self._table.next_spot(mouth, across=across)


def _lay_missing_tiles(table: Table, layout: Layout, pause: Callable[[], None]) -> None:
    """Lay the tiles of the layout that are not on the table; ``pause`` is called after each.

    Which end a tile covered follows from the ends that are left; so does how many it opened, which are numbered as they
    arose.
    """
    placements = layout.placements
    table.doubles_across = layout.form.doubles_across
    covered = layout.covered_ends()
    opened = Counter([placement.host for placement in placements])
    opened.update([end.host for end in layout.ends])
    first = len(table.laid)
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


def _around(laid: Laid) -> Box:
    """Return the box around a tile and its link."""
    box = laid.box
    for x, y in laid.link or ():
        box = box.united(Box(floor(x), floor(y), ceil(x), ceil(y)))
    return box


def _centre(box: Box) -> tuple[int, int]:
    return (box.x0 + box.x1) // 2, (box.y0 + box.y1) // 2


def _area(box: Box) -> Area:
    return Area(box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0)
