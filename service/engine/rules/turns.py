"""Which tiles of a hand may follow the last tile of the layout in the same turn."""

from __future__ import annotations

from service.engine.layout import Layout
from service.engine.state import Hand


def one_tile(_layout: Layout, _hand: Hand) -> Hand:
    """None: a turn is one tile (rules 1.4, 3.7, 5.5)."""
    return ()


def doubles_after_a_double(layout: Layout, hand: Hand) -> Hand:
    """Doubles after a double, but the opening turn is one tile (rules 2.6)."""
    placements = layout.placements
    if len(placements) == 1 or not placements[-1].tile.double:
        return ()
    return tuple([tile for tile in hand if tile.double])


def any_tile_after_a_double(layout: Layout, hand: Hand) -> Hand:
    """Any tile after a double, the lead included (rules 13.4)."""
    return hand if layout.placements[-1].tile.double else ()


def any_number(_layout: Layout, hand: Hand) -> Hand:
    """Any tile: a turn lasts until the player says "done" (rules 4.4)."""
    return hand
