"""Finds the best spot for a tile at an end: the spot that leaves most room for the layout.

Owns the spots at an end, and their costs. A cost is an integer; the constants were tuned by playing tens of thousands
of random rounds. Does not depend on the tiles that are not laid yet.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from math import isqrt
from typing import Final, NamedTuple

from service.engine.layout import END, LONG, Side
from service.engine.variant import Spread
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
    ahead,
    left_of,
    opposite,
    right_of,
    short_sides,
    side_exits,
    straight,
    strip,
    turned,
)

# The planned table; its size is known before the first tile.


_TILE_AREA: Final = 8
_SPACE: Final[dict[Spread, int]] = {"line": 34, "arm": 22, "cross": 45, "tree": 70}
"""The area of a table divided by the area of its tiles, in tenths; measured over random matches."""


class Plan(NamedTuple):
    """The planned table, and the shape of its layout."""

    table: Box
    spread: Spread

    @property
    def is_line(self) -> bool:
        """Return whether the layout is a line, with one end or two."""
        return self.spread in ("line", "arm")

    def outside(self, box: Box) -> int:
        """Return by how many units this box exceeds the planned table; a line may exceed it in the north and south."""
        (x0, y0, x1, y1), (west, north, east, south), _ = box, *self
        over = max(0, west - x0) + max(0, x1 - east)
        if self.is_line:
            return over
        return over + max(0, north - y0) + max(0, y1 - south)


def plan(tiles_in_set: int, spread: Spread, aspect: int) -> Plan:
    """Return the plan for a set; ``aspect``: the width of the table divided by its height, in tenths.

    The lead lies in the middle. In a line with one end it lies in the south-western corner, because the line continues
    to the north.
    """
    area = _TILE_AREA * _SPACE[spread] * tiles_in_set
    half_width, half_height = _half_root(area * aspect, 100), _half_root(area, aspect)
    if spread == "arm":
        return Plan(Box(-2, 2 - 2 * half_height, 2 * half_width - 2, 2), spread)
    return Plan(Box(-half_width, -half_height, half_width, half_height), spread)


def _half_root(area: int, divisor: int) -> int:
    """Return half the square root of ``area / divisor``, rounded."""
    return (isqrt(area // divisor) + 1) // 2


# The spots where a tile can join an end: straight ahead, or around a corner.


def spots(mouth: Mouth, *, double: bool) -> list[Spot]:
    """Return all spots at this mouth, free or not. Of spots with equal costs, the first is chosen.

    * Straight ahead: any tile.
    * Beside the outer half of the host: any tile, if the host is not a double. A double touches only that half: one of
      its halves lies along it, the other one beyond it.
    * Around the corner, as an elbow: a plain tile, unless it joins the long side of a double.
    """
    ray, side, *_ = mouth
    candidates = [straight(ray, double=double)]
    turns = (left_of(ray.heading), right_of(ray.heading))
    if side == END:
        back = 0 if double else 1
        candidates += [straight(turned(ray, heading, back, 1), double=double, turned=True) for heading in turns]
    if not double and side != LONG:
        corner = ahead(ray, 1)
        inner = [turned(corner, heading, 0, -1) for heading in turns]
        candidates += [Spot(strip(ray, 0, 4, 1), ahead(ray, 4), turned=True, elbow=True) for ray in inner]
    return candidates


# The costs of a spot. Below each constant is the case in which it is added.

_OUTSIDE: Final = 40
"""For each unit outside the planned table."""
_OFF_AXIS: Final = 50
"""The tile lies straight ahead, but across the axis of the arm."""
_TURN: Final = 80
"""The tile turns off the axis of the arm."""
_RIGHT_TURN: Final = 10
"""It turns off to the right."""
_ELBOW: Final = 5
"""The tile is an elbow."""
_NARROW_LANE: Final = 140
"""The tile turns back to the axis of the arm, but has no free lane of ``_LANE_LENGTH`` and ``_LANE_HALF`` ahead."""
_LANE_HALF: Final = 4
_LANE_LENGTH: Final = 16
_NO_ROOM: Final = 6
"""For each unit that the room ahead is shorter than ``_ROOM``; at a short side, than ``_SIDE_ROOM``."""
_ROOM: Final = 32
_NOT_STRAIGHT: Final = 3
"""For each unit that the room straight ahead of a plain tile is shorter than ``_STRAIGHT_ROOM``."""
_STRAIGHT_ROOM: Final = 12
_TRAPPED: Final = 600
"""The next tile does not fit. After a double it needs more room, because it can only lie straight ahead."""
_TAKEN_ROOM: Final = 15
"""For each unit of room that the spot takes from another end within ``_NEAR`` units."""
_NEAR: Final = 14
_SIDE_ROOM: Final = 24
_TRAPPED_SIDE: Final = 400
"""No tile with its gap fits at a short side of a double that branches."""
_ASTRAY: Final = 400
"""The arm of a lead with four sides leaves its quadrant, or heads out of it."""
_BACK: Final = 80
"""The arm of a lead with four sides turns back; the next arm may need the room there."""
_TO_MIDDLE: Final = 10000
"""The arm of a line heads towards the other arm."""


class Surroundings(NamedTuple):
    """The facts about the table from which the cost of a spot is computed."""

    plan: Plan
    grid: Grid
    mouths: Collection[Mouth]
    branches: bool
    """Whether a double laid now is expected to branch."""


def best_spot(surroundings: Surroundings, mouth: Mouth, *, double: bool) -> Spot | None:
    """Return the cheapest free spot at this mouth; ``None`` if no spot is free."""
    allowed = [
        spot
        for spot in spots(mouth, double=double)
        if surroundings.grid.has_room(spot.box, mouth.host)
        and (not surroundings.plan.is_line or _in_half(mouth.arm, spot.box))
    ]
    if len(allowed) < 2:
        return allowed[0] if allowed else None
    return min(allowed, key=lambda spot: _cost(surroundings, mouth, spot, double=double))


def _in_half(arm: int | None, box: Box) -> bool:
    """Return whether a box lies in its arm's half of the table, so that the two arms of a line never meet."""
    if arm == EAST:
        return box.y1 <= 2 and (box.x0 >= 0 or box.y1 <= -3)
    return box.y0 >= -2 and (box.x1 <= 0 or box.y0 >= 3)


def _cost(surroundings: Surroundings, mouth: Mouth, spot: Spot, *, double: bool) -> int:
    plan, grid, _, branches = surroundings
    box, far, *_ = spot
    cost = _direction_cost(surroundings, mouth, spot) + _room_cost(grid, far, double=double)
    cost += _OUTSIDE * plan.outside(box.united(strip(far, 0, 4, 1)) if double else box)
    cost += _TAKEN_ROOM * _taken_room(surroundings, mouth, box)
    if double and branches:
        cost += _sides_cost(grid, far)
    return cost


def _direction_cost(surroundings: Surroundings, mouth: Mouth, spot: Spot) -> int:
    heading, arm = spot.far.heading, mouth.arm
    cost = 0
    if arm is not None:
        inwards = heading == right_of(arm)
        if surroundings.plan.is_line:
            cost += _TO_MIDDLE * inwards
        else:
            cost += _ASTRAY * (inwards + (not _in_quadrant(arm, spot.box))) + _BACK * (heading == opposite(arm))
    on_axis = heading % 2 == mouth.axis
    if not spot.turned:
        return cost + (0 if on_axis else _OFF_AXIS)
    cost += _ELBOW * spot.elbow
    if not on_axis:
        cost += _TURN + _RIGHT_TURN * (heading == right_of(mouth.ray.heading))
    elif surroundings.grid.run(spot.far, _LANE_HALF, _LANE_LENGTH) < _LANE_LENGTH:
        cost += _NARROW_LANE
    return cost


def _in_quadrant(arm: int, box: Box) -> bool:
    """Return whether a box lies in the quadrant of its arm: straight ahead of the lead, or to the left of it."""
    x0, y0, x1, y1 = box
    if arm == EAST:
        return y1 <= 2 and (x0 >= 3 or (x0 >= 0 and y0 >= -2))
    if arm == SOUTH:
        return x0 >= -2 and (y0 >= 3 or (y0 >= 0 and x1 <= 2))
    if arm == WEST:
        return y0 >= -2 and (x1 <= -3 or (x1 <= 0 and y1 <= 2))
    assert arm == NORTH
    return x1 <= 2 and (y1 <= -3 or (y1 <= 0 and x0 >= -2))


def _room_cost(grid: Grid, far: Ray, *, double: bool) -> int:
    """Return the cost of little room ahead. After a plain tile, the room beside its outer half counts too."""
    ahead = room = grid.run(far, 3, _ROOM)
    cost = 0
    if not double:
        for ray in side_exits(far):
            room = max(room, grid.run(ray, 2, _ROOM, skip=1) - 6)
        cost += _NOT_STRAIGHT * max(0, _STRAIGHT_ROOM - ahead)
    return cost + _NO_ROOM * (_ROOM - room) + _TRAPPED * ((room < 4) + (double and room < 8))


def _sides_cost(grid: Grid, far: Ray) -> int:
    """Return the cost of little room at the short sides of this double."""
    cost = 0
    for ray in short_sides(far):
        room = grid.run(ray, 3, _SIDE_ROOM)
        cost += _NO_ROOM * (_SIDE_ROOM - room) + _TRAPPED_SIDE * (room < 6)
    return cost


def _taken_room(surroundings: Surroundings, mouth: Mouth, box: Box) -> int:
    """Return the room that this box takes from other ends near it, in units."""
    x0, y0, x1, y1 = box
    taken = 0
    for other in surroundings.mouths:
        x, y, _ = other.ray
        if x0 - _NEAR < x < x1 + _NEAR and y0 - _NEAR < y < y1 + _NEAR and other is not mouth and not other.closed:
            taken += _lost_room(surroundings.grid, other, box)
    return taken


def _lost_room(grid: Grid, mouth: Mouth, box: Box) -> int:
    exits = _exits(mouth.ray, mouth.side)
    if not any([_overlap(strip_ahead, box) for _, strip_ahead in exits]):
        return 0
    before = after = 0
    for ray, strip_ahead in exits:
        room = grid.run(ray, 2, _STRAIGHT_ROOM, skip=1)
        before = max(before, room)
        after = max(after, min(room, _distance(ray, box)) if _overlap(strip_ahead, box) else room)
    return before - after


@lru_cache(maxsize=4096)
def _exits(ray: Ray, side: Side) -> tuple[tuple[Ray, Box], ...]:
    """Return the rays where a tile can join an end, straight or at a side, each with the strip ahead of it."""
    rays = (ray, *side_exits(ray)) if side == END else (ray,)
    return tuple([(ray, strip(ray, 0, _STRAIGHT_ROOM, 2)) for ray in rays])


def _overlap(first: Box, second: Box) -> bool:
    return first.x0 < second.x1 and second.x0 < first.x1 and first.y0 < second.y1 and second.y0 < first.y1


def _distance(ray: Ray, box: Box) -> int:
    """Return the distance from this point ahead to the box."""
    x, y, heading = ray
    if heading == EAST:
        return max(0, box.x0 - x)
    if heading == WEST:
        return max(0, x - box.x1)
    return max(0, box.y0 - y if heading == SOUTH else y - box.y1)
