"""Who opens a round, and with which tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from service.engine.state import State
from service.engine.tiles import Tile, double
from service.engine.variant import Opening


def lowest_double(state: State) -> Opening | None:
    """The lowest double in any hand must be led (rules 1.2; 4.2: 0-0 is the lowest there is)."""
    holders = _holders_of_doubles(state)
    return _must_lead(min(holders), holders) if holders else None


def highest_double(state: State) -> Opening | None:
    """The highest double in any hand must be led (rules 2.3, 3.3)."""
    holders = _holders_of_doubles(state)
    return _must_lead(max(holders), holders) if holders else None


def highest_double_or_heaviest(state: State) -> Opening | None:
    """The highest double in any hand must be led; without a double the heaviest tile (rules 2.3, A10).

    Of tiles with equal pips the one with the higher half is the heavier: 1-6 before 2-5 before 3-4.
    """
    opening = highest_double(state)
    if opening is not None:
        return opening
    seat, tile = max(_held(state), key=lambda held: (held[1].pips, held[1].high))
    return Opening(seat, (tile,))


def last_winner(state: State) -> Opening | None:
    """Who went out in the last round leads any tile; nobody has: the highest double, or the heaviest tile (A11)."""
    seat = state.round_winner
    return highest_double_or_heaviest(state) if seat is None else Opening(seat, state.hands[seat])


def in_turns(state: State) -> Opening | None:
    """The seats lead one after the other, any tile (rules A11)."""
    seat = (state.round - 1) % len(state.hands)
    return Opening(seat, state.hands[seat])


OPENINGS: Final[Mapping[str, Callable[[State], Opening | None]]] = {
    "highest_double": highest_double_or_heaviest,
    "rotate": in_turns,
    "winner": last_winner,
}
"""The openings by their word in the option ``opening`` (rules A11)."""


def any_double_of_the_highest_holder(state: State) -> Opening | None:
    """The player with the highest double in any hand leads any double they hold (rules 5.3)."""
    holders = _holders_of_doubles(state)
    if not holders:
        return None
    seat = holders[max(holders)]
    return Opening(seat, tuple([tile for tile in state.hands[seat] if tile.double]))


def _held(state: State) -> list[tuple[int, Tile]]:
    """Every tile in a hand with the seat that holds it."""
    return [(seat, tile) for seat, hand in enumerate(state.hands) for tile in hand]


def _holders_of_doubles(state: State) -> dict[int, int]:
    """The seat that holds each double that is in a hand, by the number of the double."""
    return {tile.low: seat for seat, hand in enumerate(state.hands) for tile in hand if tile.double}


def _must_lead(number: int, holders: dict[int, int]) -> Opening:
    return Opening(holders[number], (double(number),))
