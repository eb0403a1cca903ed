"""Who opens a round and with which tiles, how a double branches, and what an end wants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from service.engine.events import RoundResult
from service.engine.layout import GATED, IMMEDIATELY, NEVER, Branching, Layout
from service.engine.state import State
from service.engine.tiles import MATADOR, Tile, double
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
    """Let who leads next lead any tile; where nobody does, the highest double or the heaviest tile leads (A11)."""
    seat = state.next_leader
    return highest_double_or_heaviest(state) if seat is None else Opening(seat, state.hands[seat])


def winner_or_same_leader(state: State, result: RoundResult) -> int | None:
    """The winner leads next; after a round without one the same player again (rules 10.3, 11.4)."""
    return state.opener if result.winner is None else result.winner


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


# How a double branches that is laid face up; ``layout`` defines the terms.


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


# What an end wants, in the games in which it is not its own number.


_TOGETHER: Final = 7


def seven_or_a_matador(number: int) -> int:
    """The number with which it adds up to 7, or a matador; a blank only a matador (rules 14.4, 14.5)."""
    return MATADOR | (1 << _TOGETHER - number if number else 0)
