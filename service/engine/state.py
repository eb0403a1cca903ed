"""The frozen state of a match between two moves.

Owns the fields of a state; none of them can be derived from the others. Does not depend on the rules: ``referee``
computes the next state.
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
    """The points of one seat for one tile, laid in the current round by the seat or its partner (rules 3.6).

    ``ends_sum``: the sum of the ends that gave the points; ``None`` in games that do not count ends.
    """

    seat: int
    ends_sum: int | None
    points: int


_new: Final = tuple.__new__  # see ``layout._new``
_SET_BY_MOVE: Final = 8
"""The number of leading fields of ``State`` that ``after_move`` sets."""


class State(NamedTuple):
    """The state of a match between two moves. Tuples with one item per seat are in seat order.

    ``after_move`` sets the first fields, so their order matters. Before the first deal, ``phase`` is ``round_over`` and
    ``round`` is 0.
    """

    hands: tuple[Hand, ...]
    """Each hand is sorted; it is empty for an eliminated seat."""
    stock: tuple[Tile, ...]
    """The next tile to draw is the first."""
    layout: Layout
    turn: int | None
    """The seat to move; ``None`` unless the phase is ``playing``."""
    tiles_laid: int
    """The number of tiles laid in the current turn."""
    drew: bool
    """Whether a tile was drawn in the current turn."""
    went_out_first: int | None
    """The first seat that laid its last tile in this round."""
    placements_scored: tuple[PlacementScore, ...]
    phase: Phase
    round: int
    opener: int | None
    """The seat that opened this round."""
    totals: tuple[int, ...]
    """The totals after the last finished round."""
    eliminated_round: tuple[int, ...]
    """The round in which a seat was eliminated; 0 while it is in the match."""
    carry: int
    """The points or draws that earlier rounds carry over (rules 2.11, 11.11, 16.6)."""
    next_leader: int | None
    """The seat that leads the next round, in most games the last winner; ``None``: the deal decides."""
    dealer: int | None
    """The seat that deals, in games with a dealer; ``None`` until the first round has ended."""
    winners: tuple[int, ...]
    manche: Manche | None = None
    """The manche after the last finished round, in games with manches."""

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
        """Return the state with these values of the current round, in less than half the time of ``_replace``."""
        facts = (hands, stock, layout, turn, tiles_laid, drew, went_out_first, placements_scored)
        return _new(State, facts + self[_SET_BY_MOVE:])

    @property
    def to_act(self) -> tuple[int, ...]:
        """The seats that can move: the seat on turn, or between two rounds all active seats, which can deal."""
        if self.turn is not None:
            return (self.turn,)
        return self.active_seats() if self.phase == ROUND_OVER else ()

    def active_seats(self) -> tuple[int, ...]:
        """Return the seats still in the match, in seat order."""
        eliminated = self.eliminated_round
        seats = range(len(eliminated))
        return tuple([seat for seat in seats if not eliminated[seat]] if any(eliminated) else seats)

    def clockwise(self, first: int | None) -> tuple[int, ...]:
        """Return the seats still in the match, clockwise, starting with ``first`` if it is among them.

        ``first``: the opener or the next leader, which must be known.
        """
        assert first is not None
        seats = len(self.eliminated_round)
        return tuple([s % seats for s in range(first, first + seats) if not self.eliminated_round[s % seats]])

    def running_totals(self) -> tuple[int, ...]:
        """Return the totals with the points scored so far in the current round (rules 3.6)."""
        if not self.placements_scored:
            return self.totals
        totals = list(self.totals)
        for scored in self.placements_scored:
            totals[scored.seat] += scored.points
        return tuple(totals)
