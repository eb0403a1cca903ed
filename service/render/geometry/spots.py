"""The places where a tile can join an end: straight ahead, or around a corner.

Owns which places there are.
"""

from __future__ import annotations

from service.engine.layout import END, LONG
from service.render.geometry.shapes import Mouth, Spot, ahead, left_of, right_of, straight, strip, turned


def spots(mouth: Mouth, *, double: bool) -> list[Spot]:
    """Return all spots at this mouth, free or not; of spots that cost the same, the first is taken.

    A tile may lie straight ahead; beside the outer half of the host, unless that is a double; or, if it is no double,
    around the corner as an elbow. The long side of a double is only left straight. A double beside a half touches that
    half only: one of its own halves lies along it, the other one beyond it.
    """
    ray, side, *_ = mouth
    found = [straight(ray, double=double)]
    turns = (left_of(ray.heading), right_of(ray.heading))
    if side == END:
        back = 0 if double else 1
        found += [straight(turned(ray, heading, back, 1), double=double, turned=True) for heading in turns]
    if not double and side != LONG:
        corner = ahead(ray, 1)
        inner = [turned(corner, heading, 0, -1) for heading in turns]
        found += [Spot(strip(each, 0, 4, 1), ahead(each, 4), turned=True, elbow=True) for each in inner]
    return found
