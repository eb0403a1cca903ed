"""Who opens a round, and with which tiles."""

from __future__ import annotations

from service.engine.state import State
from service.engine.tiles import Tile
from service.engine.variant import Opening


def lowest_double(state: State) -> Opening | None:
    """The lowest double in any hand must be led (rules 1.2; 4.2: 0-0 is the lowest there is)."""
    held = _doubles(state)
    return _must_lead(*held[min(held)]) if held else None


def highest_double(state: State) -> Opening | None:
    """The highest double in any hand must be led (rules 2.3, 3.3)."""
    held = _doubles(state)
    return _must_lead(*held[max(held)]) if held else None


def any_double_of_the_highest_holder(state: State) -> Opening | None:
    """The player with the highest double in any hand leads any double they hold (rules 5.3)."""
    highest = highest_double(state)
    if highest is None:
        return None
    seat = highest.seat
    return Opening(seat, tuple([tile for tile in state.hands[seat] if tile.double]))


def _doubles(state: State) -> dict[int, tuple[int, Tile]]:
    """By its number each double in a hand, with the seat that holds it."""
    return {tile.low: (seat, tile) for seat, hand in enumerate(state.hands) for tile in hand if tile.double}


def _must_lead(seat: int, tile: Tile) -> Opening:
    return Opening(seat, (tile,))
