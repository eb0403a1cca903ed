"""Answers to the questions who opens a round with which tiles, how a double branches, and what an end wants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from service.engine.events import RoundResult
from service.engine.layout import GATED, IMMEDIATELY, NEVER, Branching, Layout
from service.engine.state import State
from service.engine.tiles import MATADOR, TILES, Tile
from service.engine.variant import Opening

_DOUBLES: Final = tuple([tile for tile in TILES if tile.double])
_HEAVIEST_FIRST: Final = tuple(sorted(TILES, key=lambda tile: (tile.double, tile.pips, tile.high), reverse=True))
"""All tiles: the doubles from the highest on, then the others from the heaviest on."""


def first_held(state: State, tiles: Iterable[Tile]) -> Opening | None:
    """Let the first of these tiles that is in a hand lead."""
    seats = {tile: seat for seat, hand in enumerate(state.hands) for tile in hand}
    for tile in tiles:
        if tile in seats:
            return Opening(seats[tile], (tile,))
    return None


def lowest_double(state: State) -> Opening | None:
    """Let the lowest double in any hand lead (rules 1.2; 4.2: 0-0 is the lowest of all)."""
    return first_held(state, _DOUBLES)


def highest_double(state: State) -> Opening | None:
    """Let the highest double in any hand lead (rules 2.3, 3.3)."""
    return first_held(state, reversed(_DOUBLES))


def highest_double_or_heaviest(state: State) -> Opening | None:
    """Let the highest double in any hand lead, or if there is none the heaviest tile (rules 2.3, A10).

    Of tiles with equal pips, the tile with the higher half is heavier: 1-6 before 2-5 before 3-4.
    """
    return first_held(state, _HEAVIEST_FIRST)


def last_winner(state: State) -> Opening | None:
    """Let the ``next_leader`` lead any tile; without one, the highest double or the heaviest tile leads (A11)."""
    seat = state.next_leader
    return highest_double_or_heaviest(state) if seat is None else Opening(seat, state.hands[seat])


def winner_or_same_leader(state: State, result: RoundResult) -> int | None:
    """Return the winner as the next leader; without a winner, the same leader again (rules 10.3, 11.4)."""
    return state.opener if result.winner is None else result.winner


def in_turns(state: State) -> Opening | None:
    """Let the seats lead in turn, with any tile (rules A11)."""
    seat = (state.round - 1) % len(state.hands)
    return Opening(seat, state.hands[seat])


OPENINGS: Final[Mapping[str, Callable[[State], Opening | None]]] = {
    "highest_double": highest_double_or_heaviest,
    "rotate": in_turns,
    "winner": last_winner,
}
"""The answers by their word in the option ``opening`` (rules A11)."""


def any_double_of_the_highest_holder(state: State) -> Opening | None:
    """Let the player with the highest double lead any double of their hand (rules 5.3)."""
    highest = highest_double(state)
    if highest is None:
        return None
    return Opening(highest.seat, tuple([tile for tile in state.hands[highest.seat] if tile.double]))


# Answers to ``Rules.branching``: how a double branches if it is laid face up; ``layout`` defines the terms.


def lead_only(layout: Layout, _double: Tile) -> Branching:
    """Let only the lead branch, at once (rules 1.3)."""
    return NEVER if layout.placements else IMMEDIATELY


def first_face_up(layout: Layout, _double: Tile) -> Branching:
    """Let the first face-up double, the mother, branch when a tile joins a long side of it (rules 2.4)."""
    return NEVER if layout.has_face_up_double() else GATED


def first_double(layout: Layout, _double: Tile) -> Branching:
    """Let only the first double of the round branch, with gated short sides (rules 8.5, 8.6)."""
    return NEVER if any(placement.tile.double for placement in layout.placements) else GATED


def every_double(layout: Layout, _double: Tile) -> Branching:
    """Let every double branch: the lead when a tile joins a long side of it, the others at once (rules 3.4)."""
    return IMMEDIATELY if layout.placements else GATED


# Answers to ``LayoutForm.wants``: what an end wants if that is not its own number.


_TOGETHER: Final = 7


def seven_or_a_matador(number: int) -> int:
    """Return the bits of a matador and, unless it is 0, of 7 minus the number (rules 14.4, 14.5)."""
    return MATADOR | (1 << _TOGETHER - number if number else 0)
