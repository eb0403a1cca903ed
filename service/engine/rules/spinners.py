"""How a double branches that is laid face up; ``layout`` defines the terms."""

from __future__ import annotations

from service.engine.layout import GATED, IMMEDIATELY, NEVER, Branching, Layout
from service.engine.tiles import Tile


def lead_only(layout: Layout, _double: Tile) -> Branching:
    """The opening double has four open sides, every other double two (rules 1.3)."""
    return NEVER if layout.placements else IMMEDIATELY


def first_face_up(layout: Layout, _double: Tile) -> Branching:
    """The first double laid face up is the mother; its short sides open after a long one is joined (rules 2.4)."""
    return NEVER if layout.has_face_up_double() else GATED


def first_double(layout: Layout, _double: Tile) -> Branching:
    """The first double laid in the round branches, its short sides gated, and no other (rules 8.5, 8.6)."""
    return NEVER if any(placement.tile.double for placement in layout.placements) else GATED


def every_double(layout: Layout, _double: Tile) -> Branching:
    """Every double has four sides; the short ones of the lead open after a long one is joined (rules 3.4)."""
    return IMMEDIATELY if layout.placements else GATED
