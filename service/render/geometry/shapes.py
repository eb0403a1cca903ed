"""Headings, boxes, and the shapes that the other modules share.

Owns their form.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from service.engine.layout import Side

EAST: Final = 0
SOUTH: Final = 1
WEST: Final = 2
NORTH: Final = 3
DX: Final = (1, 0, -1, 0)
"""By heading."""
DY: Final = (0, 1, 0, -1)
"""By heading."""


def left_of(heading: int) -> int:
    """Return the heading after a quarter turn to the left."""
    return (heading + 3) % 4


def right_of(heading: int) -> int:
    """Return the heading after a quarter turn to the right."""
    return (heading + 1) % 4


def opposite(heading: int) -> int:
    """Return the heading back."""
    return (heading + 2) % 4


class Box(NamedTuple):
    """The cells from ``x0`` and ``y0`` to before ``x1`` and ``y1``."""

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
    """An end on the table: the middle of the edge where a tile joins, and what the choice of its place depends on."""

    ray: Ray
    side: Side
    number: int
    axis: int
    """The axis on which its arm started, 0 west-east, 1 north-south; an arm that had to turn returns to it."""
    arm: int | None
    """The heading with which the arm left the lead, on the arms of a line and of a lead with four sides."""
    host: Box
    closed: bool


class Spot(NamedTuple):
    """A place for a tile: its box, and the middle of its far edge with the heading from the host outwards."""

    box: Box
    far: Ray
    turned: bool
    """Off the heading of the mouth."""
    elbow: bool
    """The tile's inner half lies straight ahead of the mouth, its outer half to the side."""


def strip(ray: Ray, near: int, far: int, half: int) -> Box:
    """Return the box ahead of a point, from ``near`` to ``far``, ``half`` wide to each side."""
    x, y, heading = ray
    if heading == EAST:
        return Box(x + near, y - half, x + far, y + half)
    if heading == WEST:
        return Box(x - far, y - half, x - near, y + half)
    if heading == SOUTH:
        return Box(x - half, y + near, x + half, y + far)
    return Box(x - half, y - far, x + half, y - near)


def ahead(ray: Ray, length: int) -> Ray:
    """Return the ray from a point ``length`` ahead."""
    x, y, heading = ray
    return Ray(x + length * DX[heading], y + length * DY[heading], heading)


def turned(ray: Ray, heading: int, back: int, out: int) -> Ray:
    """Return the ray with this heading from a point ``back`` behind this one and ``out`` to the side."""
    x, y, old = ray
    return Ray(x - back * DX[old] + out * DX[heading], y - back * DY[old] + out * DY[heading], heading)


def side_exits(far: Ray) -> tuple[Ray, Ray]:
    """Return the rays left and right from the outer half of a tile that is no double, by the ray of its far edge."""
    heading = far.heading
    return turned(far, left_of(heading), 1, 1), turned(far, right_of(heading), 1, 1)


def short_sides(far: Ray) -> tuple[Ray, Ray]:
    """Return the rays from the left and right short side of a double, by the ray of its far long side."""
    heading = far.heading
    return turned(far, left_of(heading), 1, 2), turned(far, right_of(heading), 1, 2)


def straight(ray: Ray, *, double: bool, turned: bool = False) -> Spot:
    """Return the spot of a tile whose inner edge has its middle here; a double lies across."""
    length, half = (2, 2) if double else (4, 1)
    return Spot(strip(ray, 0, length, half), ahead(ray, length), turned, elbow=False)


def touched_edge(mouth: Mouth, spot: Spot) -> Ray:
    """Return the edge of the host that a tile at this spot touches: its middle, and the heading towards the tile.

    A tile that turns off touches the side of the outer half of the host, unless it is an elbow.
    """
    if not spot.turned or spot.elbow:
        return mouth.ray
    return turned(mouth.ray, spot.far.heading, 1, 1)
