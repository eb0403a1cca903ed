"""The tiles on the table so far, and how the next one is laid.

Owns what is known of the table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from service.engine.layout import END, LONG, SHORT, Placement, Side
from service.engine.tiles import Tile
from service.render.geometry.costs import Surroundings, best_spot
from service.render.geometry.grid import Grid, empty_grid
from service.render.geometry.links import Line, Link, find_link
from service.render.geometry.plan import Plan
from service.render.geometry.shapes import EAST, NORTH, SOUTH, WEST, Box, Mouth, Ray, Spot, short_sides

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
    """Whether doubles lie across; else lengthwise, like any other tile."""
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
        for name, (ray, each, number) in zip(names, opened, strict=False):
            heading = ray.heading
            self.mouths[name] = Mouth(ray, each, number, heading % 2, heading if has_arms else None, box, closed=False)

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
