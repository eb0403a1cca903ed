"""A match between two moves, frozen.

Owns the facts that cannot be derived from each other. Must not know the rules that lead from one state
to the next: only ``play.apply`` makes a state.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from service.engine.layout import Layout
from service.engine.tiles import Tile

Phase = Literal["round_over", "playing", "finished"]

ROUND_OVER: Final = "round_over"
PLAYING: Final = "playing"
FINISHED: Final = "finished"

Hand = tuple[Tile, ...]


class PlacementScore(NamedTuple):
    """Points for one placement of the running round (rules 3.6), with the sum of the ends that gave them."""

    seat: int
    ends_sum: int
    points: int


_ROUND_FACTS: Final = 8
"""How many fields of ``State`` are facts of the running round; they come first."""
_new: Final = tuple.__new__  # as in ``layout``


class State(NamedTuple):
    """Everything that is true between two moves; all per-seat tuples are in seat order.

    What a move can change comes first, what stays while a round runs after it (``_ROUND_FACTS``).
    Before the first deal a match is in the phase ``round_over`` with round 0.
    """

    hands: tuple[Hand, ...]
    """Sorted; empty for a seat that is out."""
    stock: tuple[Tile, ...]
    """In the order of drawing."""
    layout: Layout
    turn: int | None
    """Who is to move, in the phase ``playing``."""
    tiles_laid: int
    """Tiles laid in this turn."""
    drew: bool
    """Whether a tile was drawn in this turn."""
    went_out_first: int | None
    """Who laid their last tile first in this round."""
    placements_scored: tuple[PlacementScore, ...]
    phase: Phase
    round: int
    opener: int | None
    """Who opened this round."""
    totals: tuple[int, ...]
    """The match score at the end of the last round."""
    eliminated_round: tuple[int, ...]
    """The round in which a seat went out of the match; 0 while it is in."""
    carry: int
    """Points waiting for the next single loser (rules 2.11)."""
    round_winner: int | None
    """The winner of the last round."""
    dealer: int | None
    """Who deals, in the games that have a dealer; from the end of the first round on."""
    winners: tuple[int, ...]

    def after_play(
        self,
        *,
        hands: tuple[Hand, ...],
        layout: Layout,
        turn: int | None,
        laid: int,
        drew: bool,
        first_out: int | None,
        scored: tuple[PlacementScore, ...],
    ) -> State:
        """The state in which a play has changed these facts: what ``_replace`` gives, at a quarter of its cost."""
        return _new(State, (hands, self.stock, layout, turn, laid, drew, first_out, scored) + self[_ROUND_FACTS:])

    def active_seats(self) -> tuple[int, ...]:
        """The seats still in the match, in seat order."""
        gone = self.eliminated_round
        return tuple([seat for seat in range(len(gone)) if not gone[seat]] if any(gone) else range(len(gone)))

    def clockwise(self, first: int) -> tuple[int, ...]:
        """The seats still in the match, clockwise starting with ``first``, or the next one if that is out."""
        seats = len(self.eliminated_round)
        return tuple([s % seats for s in range(first, first + seats) if not self.eliminated_round[s % seats]])

    def running_totals(self) -> tuple[int, ...]:
        """The match score so far, the placements of the running round included (rules 3.6)."""
        if not self.placements_scored:
            return self.totals
        totals = list(self.totals)
        for scored in self.placements_scored:
            totals[scored.seat] += scored.points
        return tuple(totals)


def new_match(seats: int, layout: Layout) -> State:
    """A match of ``seats`` seats before its first deal, its table empty."""
    zeros = (0,) * seats
    return State(
        phase=ROUND_OVER,
        round=0,
        hands=((),) * seats,
        stock=(),
        layout=layout,
        turn=None,
        tiles_laid=0,
        drew=False,
        opener=None,
        went_out_first=None,
        placements_scored=(),
        totals=zeros,
        eliminated_round=zeros,
        carry=0,
        round_winner=None,
        dealer=None,
        winners=(),
    )
