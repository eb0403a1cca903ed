"""When a turn, a round and a match are over.

Owns the checks; which of them a game has is in its recipe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from service.engine.events import EndReason
from service.engine.layout import CLOSED, Layout
from service.engine.state import Hand, State
from service.engine.variant import NO_VERDICT, Drawing, ScoreOrder, Verdict

RoundEnd = Callable[[State], EndReason | None]


def first_of(*checks: RoundEnd) -> RoundEnd:
    """The reason of the first check that returns one, in the order in which the rules list them."""

    def round_end(state: State) -> EndReason | None:
        for check in checks:
            if reason := check(state):
                return reason
        return None

    return round_end


def first_seat_out(state: State) -> EndReason | None:
    """A player laid their last tile (rules 1.7 a, 2.9 a, 3.8, 5.6)."""
    return None if state.went_out_first is None else "out"


def side_out(teams: int) -> RoundEnd:
    """A side has no tile left: both partners, or a player alone (rules 9.8)."""

    def round_end(state: State) -> EndReason | None:
        hands = state.hands
        sides = [hands[side::teams] for side in range(teams)] if teams else [(hand,) for hand in hands]
        return None if all(any(side) for side in sides) else "out"

    return round_end


def all_seats_out(state: State) -> EndReason | None:
    """No player has a tile left (rules 4.6)."""
    return None if any(state.hands) else "out"


def all_ends_closed(state: State) -> EndReason | None:
    """Every end lies under a face-down double (rules 1.7 b, 2.9 b)."""
    for end in state.layout.ends:
        if end.gate != CLOSED:
            return None
    return "closed"


def nothing_left_fits(state: State) -> EndReason | None:
    """No tile still unplayed, in any hand or in the stock, fits any open end (rules 1.7 c)."""
    return (
        None
        if state.layout.fits_any(state.stock) or _some_hand_fits(state.hands, state.layout.open_mask)
        else "blocked"
    )


def blocked(reserve: int = 0) -> RoundEnd:
    """No hand fits, and nothing but ``reserve`` hidden tiles is left to draw (rules 1.7 d, 2.9 c, 4.6)."""

    def round_end(state: State) -> EndReason | None:
        return None if len(state.stock) > reserve or _some_hand_fits(state.hands, state.layout.open_mask) else "blocked"

    return round_end


def out_or_blocked(reserve: int = 0) -> RoundEnd:
    """The usual two in one: a player is out, or else no player can continue (rules 3.8, 5.6)."""

    def round_end(state: State) -> EndReason | None:
        if state.went_out_first is not None:
            return "out"
        fits = len(state.stock) > reserve or _some_hand_fits(state.hands, state.layout.open_mask)
        return None if fits else "blocked"

    return round_end


def target_reached(target: int) -> RoundEnd:
    """A placement brought the running total of a side to the target (rules 8.11, 9.9)."""

    def round_end(state: State) -> EndReason | None:
        return "target" if max(state.running_totals()) >= target else None

    return round_end


def flipped(state: State) -> EndReason | None:
    """The opening tile was turned over (rules 2.9 d)."""
    return "flip" if state.layout.placements[0].face_down else None


def after_rounds(rounds: int, best: ScoreOrder) -> Callable[[State], Verdict]:
    """The match is over after this number of rounds (rules 1.9, 3.9)."""

    def match_end(state: State) -> Verdict:
        return NO_VERDICT if state.round < rounds else Verdict((), best_seats(state, state.active_seats(), best))

    return match_end


MAX_ROUNDS: Final = 1000
"""Of a match whose rules have no bound, as everything that is kept of one has to have one (rules 16.10, 17.7)."""


def total_reached(limit: int, best: ScoreOrder, most_rounds: int | None = None) -> Callable[[State], Verdict]:
    """The match is over when a total has reached the limit; the best total wins (rules 4.7, A8, 11.12).

    ``most_rounds``: where totals may fall, it is over after so many rounds at the latest (rules 16.10).
    """

    def match_end(state: State) -> Verdict:
        if max(state.totals) < limit and state.round != most_rounds:
            return NO_VERDICT
        return Verdict((), best_seats(state, state.active_seats(), best))

    return match_end


def last_side_standing(state: State, over: Callable[[int], bool], teams: int = 0) -> Verdict:
    """Seats whose total is ``over`` the limit go out, and the last side standing wins (rules 2.12, 2.14, 5.8, 5.9).

    If all active seats go out in the same round, the lowest total of them wins. The seats of a team have the same
    total, so they go out together.
    """
    active = state.active_seats()
    eliminated = tuple([seat for seat in active if over(state.totals[seat])])
    left = tuple([seat for seat in active if seat not in eliminated])
    if not left:
        return Verdict(eliminated, best_seats(state, active, "lowest"))
    sides = {seat % teams for seat in left} if teams else left
    return Verdict(eliminated, left if len(sides) == 1 else ())


def best_seats(state: State, seats: Iterable[int], best: ScoreOrder) -> tuple[int, ...]:
    """The seats with the best total among these, several if tied."""
    seats = tuple(seats)
    totals = [state.totals[seat] for seat in seats]
    best_total = max(totals) if best == "highest" else min(totals)
    return tuple([seat for seat in seats if state.totals[seat] == best_total])


def _some_hand_fits(hands: tuple[Hand, ...], open_mask: int) -> bool:
    for hand in hands:
        for tile in hand:
            if tile.offers & open_mask:
                return True
    return False


# Which tiles of a hand may follow the last tile of the layout in the same turn.


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


# What is allowed in the same turn after a draw.


UNTIL_IT_FITS: Final = Drawing(again=True, place=True, keep=False)
"""Draw until a tile fits, which then must be placed (rules 1.6, 2.7)."""

ONE_AND_WAIT: Final = Drawing(again=False, place=False, keep=False)
"""Draw one, and do not place it in this turn (rules 3.7)."""

ONE_AND_GO_ON: Final = Drawing(again=False, place=True, keep=False)
"""Buy one; if it fits it is placed and the turn continues (rules 4.5)."""

ONE_TO_PLACE_OR_KEEP: Final = Drawing(again=False, place=True, keep=True)
"""Draw one; if it fits it may be placed at once, or kept (rules 5.5)."""
