"""When a turn, a round and a match are over. Each game chooses its answers from these.

The defaults, ``first_seat_out``, ``one_tile`` and ``UNTIL_IT_FITS``, are beside ``Rules``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from service.engine.events import EndReason
from service.engine.layout import CLOSED, Layout
from service.engine.state import Hand, State
from service.engine.variant import Drawing, ScoreOrder, Verdict

RoundEnd = Callable[[State], EndReason | None]


def side_out(teams: int) -> RoundEnd:
    """Return the check for a side without tiles: both partners, or a player alone (rules 9.8)."""

    def round_end(state: State) -> EndReason | None:
        hands = state.hands
        sides = [hands[side::teams] for side in range(teams)] if teams else [(hand,) for hand in hands]
        return None if all(any(side) for side in sides) else "out"

    return round_end


def all_seats_out(state: State) -> EndReason | None:
    """Return ``out`` if no player has a tile left (rules 4.6)."""
    return None if any(state.hands) else "out"


def all_ends_closed(state: State) -> EndReason | None:
    """Return ``closed`` if every end is closed by a face-down double (rules 1.7 b, 2.9 b)."""
    for end in state.layout.ends:
        if end.gate != CLOSED:
            return None
    return "closed"


def nothing_left_fits(state: State) -> EndReason | None:
    """Return ``blocked`` if no tile in a hand or in the stock fits an open end (rules 1.7 c)."""
    for tiles in (state.stock, *state.hands):
        if state.layout.fits_any(tiles):
            return None
    return "blocked"


def target_reached(target: int) -> RoundEnd:
    """Return the check that a tile has brought the total of a side to the target (rules 8.11, 9.9)."""

    def round_end(state: State) -> EndReason | None:
        return "target" if max(state.running_totals()) >= target else None

    return round_end


def flipped(state: State) -> EndReason | None:
    """Return ``flip`` if the lead has been turned over (rules 2.9 d)."""
    return "flip" if state.layout.placements[0].face_down else None


def after_rounds(rounds: int) -> Callable[[State], Verdict]:
    """End the match after this number of rounds; the highest total wins (rules 1.9, 3.9)."""

    def match_end(state: State) -> Verdict:
        return Verdict() if state.round < rounds else Verdict((), best_seats(state, state.active_seats(), "highest"))

    return match_end


MAX_ROUNDS: Final = 1000
"""The maximum number of rounds in games without their own limit, to bound a stored match (rules 16.10, 17.7)."""


def total_reached(limit: int, best: ScoreOrder, max_rounds: int | None = None) -> Callable[[State], Verdict]:
    """End the match when a total reaches the limit; the best total wins (rules 4.7, A8, 11.12).

    ``max_rounds``: the maximum number of rounds, in games in which totals can fall (rules 16.10).
    """

    def match_end(state: State) -> Verdict:
        if max(state.totals) < limit and state.round != max_rounds:
            return Verdict()
        return Verdict((), best_seats(state, state.active_seats(), best))

    return match_end


def last_side_standing(state: State, over: Callable[[int], bool], teams: int = 0) -> Verdict:
    """Eliminate the seats whose total is ``over`` the limit; the last side wins (rules 2.12, 2.14, 5.8, 5.9).

    If no seat is left, the lowest total of this round's active seats wins. The seats of a team have the same total, so
    they are eliminated together.
    """
    active = state.active_seats()
    eliminated = tuple([seat for seat in active if over(state.totals[seat])])
    remaining = tuple([seat for seat in active if seat not in eliminated])
    if not remaining:
        return Verdict(eliminated, best_seats(state, active, "lowest"))
    sides = {seat % teams for seat in remaining} if teams else remaining
    return Verdict(eliminated, remaining if len(sides) == 1 else ())


def best_seats(state: State, seats: Sequence[int], best: ScoreOrder) -> tuple[int, ...]:
    """Return the seats with the best total among these; several if they are tied."""
    totals = [state.totals[seat] for seat in seats]
    best_total = max(totals) if best == "highest" else min(totals)
    return tuple([seat for seat in seats if state.totals[seat] == best_total])


# Answers to ``Rules.may_follow``: the tiles of a hand that can follow the last tile in the same turn.


def doubles_after_a_double(layout: Layout, hand: Hand) -> Hand:
    """Return the doubles if the last tile is a double; but the opening turn is one tile (rules 2.6)."""
    placements = layout.placements
    if len(placements) == 1 or not placements[-1].tile.double:
        return ()
    return tuple([tile for tile in hand if tile.double])


def any_tile_after_a_double(layout: Layout, hand: Hand) -> Hand:
    """Return all tiles if the last tile is a double, also as the lead (rules 13.4)."""
    return hand if layout.placements[-1].tile.double else ()


def any_number(_layout: Layout, hand: Hand) -> Hand:
    """Return all tiles: a turn lasts until the player says "done" (rules 4.4)."""
    return hand


# Answers to ``Rules.drawing``: the actions that are allowed after a draw, in the same turn.


ONE_AND_WAIT: Final = Drawing(again=False, place=False, keep=False)
"""Draw one tile, and lay none in this turn (rules 3.7)."""

ONE_AND_GO_ON: Final = Drawing(again=False, place=True, keep=False)
"""Draw one tile; if it fits, lay it, and the turn continues (rules 4.5)."""

ONE_TO_PLACE_OR_KEEP: Final = Drawing(again=False, place=True, keep=True)
"""Draw one tile; if it fits, lay it at once or keep it (rules 5.5)."""
