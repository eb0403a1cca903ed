"""Who opens a round, and with which tiles."""

from __future__ import annotations

from service.engine.state import State
from service.engine.tiles import double
from service.engine.variant import Opening


def lowest_double(state: State) -> Opening | None:
    """The lowest double in any hand must be led (rules 1.2; 4.2: 0-0 is the lowest there is)."""
    holders = _holders_of_doubles(state)
    return _must_lead(min(holders), holders) if holders else None


def highest_double(state: State) -> Opening | None:
    """The highest double in any hand must be led (rules 2.3, 3.3)."""
    holders = _holders_of_doubles(state)
    return _must_lead(max(holders), holders) if holders else None


def any_double_of_the_highest_holder(state: State) -> Opening | None:
    """The player with the highest double in any hand leads any double they hold (rules 5.3)."""
    holders = _holders_of_doubles(state)
    if not holders:
        return None
    seat = holders[max(holders)]
    return Opening(seat, tuple([tile for tile in state.hands[seat] if tile.double]))


def _holders_of_doubles(state: State) -> dict[int, int]:
    """The seat that holds each double that is in a hand, by the number of the double."""
    return {tile.low: seat for seat, hand in enumerate(state.hands) for tile in hand if tile.double}


def _must_lead(number: int, holders: dict[int, int]) -> Opening:
    return Opening(holders[number], (double(number),))
