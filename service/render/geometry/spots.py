"""The places where a tile can join an end: straight ahead, or around a corner."""

from __future__ import annotations

from service.engine.layout import END, LONG
from service.render.geometry.shapes import Mouth, Spot, ahead, left_of, right_of, side_exits, straight, strip, turned


def spots(mouth: Mouth, *, double: bool) -> list[Spot]:
    """All spots at this mouth, free or not; of spots that cost the same, the first is taken.

    A tile may lie straight ahead; beside the outer half of the host, unless that is a double; or, if it is no double,
    around the corner as an elbow. The long side of a double is only left straight.
    """
    ray, side, *_ = mouth
    found = [straight(ray, double=double)]
    if side == END:
        found += [straight(exit_ray, double=double, turned=True) for exit_ray in side_exits(ray)]
    if not double and side != LONG:
        corner = ahead(ray, 1)
        for heading in (left_of(ray.heading), right_of(ray.heading)):
            inner = turned(corner, heading, 0, -1)
            found.append(Spot(strip(inner, 0, 4, 1), ahead(inner, 4), turned=True, elbow=True))
    return found
