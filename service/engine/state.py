"""A match between two moves, frozen.

Owns the facts that cannot be derived from each other. Does not depend on the rules that lead from one state
to the next: only ``referee.apply`` makes a state.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from service.engine.events import Manche
from service.engine.layout import Layout
from service.engine.tiles import Tile

Phase = Literal["round_over", "playing", "finished"]

ROUND_OVER: Final = "round_over"
PLAYING: Final = "playing"
FINISHED: Final = "finished"

Hand = tuple[Tile, ...]


class PlacementScore(NamedTuple):
    """What one seat scored by one placement of the running round (rules 3.6), its own or its partner's.

    ``ends_sum``: the sum of the ends that the points follow from, ``None`` where ends are not counted.
    """

    seat: int
    ends_sum: int | None
    points: int


_new: Final = tuple.__new__  # as in ``layout``
_SET_BY_MOVE: Final = 8
_SET_BY_DEAL: Final = 11
"""How many of the first fields of ``State`` its two methods set."""


class State(NamedTuple):
    """All facts of a match between two moves; every tuple with one item per seat is in seat order.

    The first fields are those that ``after_move`` and ``after_deal`` set, in their order. Before the first deal a
    match is in the phase ``round_over`` with round 0.
    """

    hands: tuple[Hand, ...]
    """Each sorted; empty for an eliminated seat."""
    stock: tuple[Tile, ...]
    """In the order of drawing."""
    layout: Layout
    turn: int | None
    """The seat to move; ``None`` unless the phase is ``playing``."""
    tiles_laid: int
    """Tiles laid in this turn."""
    drew: bool
    """Whether a tile was drawn in this turn."""
    went_out_first: int | None
    """The seat that was the first to lay its last tile in this round."""
    placements_scored: tuple[PlacementScore, ...]
    phase: Phase
    round: int
    opener: int | None
    """The seat that opened this round."""
    totals: tuple[int, ...]
    """The match score at the end of the last round."""
    eliminated_round: tuple[int, ...]
    """The round in which a seat went out of the match; 0 while it is active."""
    carry: int
    """What earlier rounds carry over (rules 2.11, 11.11, 16.6)."""
    next_leader: int | None
    """The seat that leads the next round by the last one, mostly its winner; ``None``: the deal decides."""
    dealer: int | None
    """The seat that deals, in games with a dealer; from the end of the first round on."""
    winners: tuple[int, ...]
    manche: Manche | None = None
    """As the last round left it, in games with manches."""

    def after_move(
        self,
        *,
        hands: tuple[Hand, ...],
        stock: tuple[Tile, ...],
        layout: Layout,
        turn: int | None,
        tiles_laid: int,
        drew: bool,
        went_out_first: int | None,
        placements_scored: tuple[PlacementScore, ...],
    ) -> State:
        """Return the state with these facts of the running round, at less than half of the cost of ``_replace``."""
        facts = (hands, stock, layout, turn, tiles_laid, drew, went_out_first, placements_scored)
        return _new(State, facts + self[_SET_BY_MOVE:])

    def after_deal(
        self,
        *,
        hands: tuple[Hand, ...],
        stock: tuple[Tile, ...],
        layout: Layout,
        turn: int | None,
        round_number: int,
        opener: int | None,
    ) -> State:
        """Return the state at the start of this round, likewise."""
        facts = (hands, stock, layout, turn, 0, False, None, (), PLAYING, round_number, opener)
        return _new(State, facts + self[_SET_BY_DEAL:])

    @property
    def to_act(self) -> tuple[int, ...]:
        """The seats that may move: the one whose turn it is, between two rounds all that may deal, else none."""
        if self.turn is not None:
            return (self.turn,)
        return self.active_seats() if self.phase == ROUND_OVER else ()

    def active_seats(self) -> tuple[int, ...]:
        """Return the seats still in the match, in seat order."""
        eliminated = self.eliminated_round
        seats = range(len(eliminated))
        return tuple([seat for seat in seats if not eliminated[seat]] if any(eliminated) else seats)

    def clockwise(self, first: int) -> tuple[int, ...]:
        """Return the seats still in the match, clockwise from ``first``, or from the next one if that is eliminated."""
        seats = len(self.eliminated_round)
        return tuple([s % seats for s in range(first, first + seats) if not self.eliminated_round[s % seats]])

    def running_totals(self) -> tuple[int, ...]:
        """Return the match score so far, the placements of the running round included (rules 3.6)."""
        if not self.placements_scored:
            return self.totals
        totals = list(self.totals)
        for scored in self.placements_scored:
            totals[scored.seat] += scored.points
        return tuple(totals)


def new_match(seats: int, layout: Layout, *, has_manches: bool = False) -> State:
    """Return a match of ``seats`` seats before its first deal, its table empty."""
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
        next_leader=None,
        dealer=None,
        winners=(),
        manche=Manche(1, zeros) if has_manches else None,
    )
