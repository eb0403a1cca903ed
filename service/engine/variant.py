"""The questions that every game answers.

Owns ``Variant`` and ``Rules``. A game is a frozen ``Variant``: its key, its options, and a function that builds
``Rules`` for values of the options and a number of seats. Each field of ``Rules`` answers one question; it has a
default if most games give the same answer. Does not depend on any game, on the use of the answers (``referee``), or on
the texts about a game (``service.texts``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Final, Literal, NamedTuple

from service.engine.errors import InvalidSetup, Reason
from service.engine.events import EndReason, Manche, RemainingHand, RoundResult
from service.engine.layout import LINE, NEVER, Branching, End, Layout, LayoutForm, empty_layout
from service.engine.options import Option, Options, Value, resolve
from service.engine.state import ROUND_OVER, Hand, PlacementScore, State
from service.engine.tiles import Tile, double, pips

ScoreOrder = Literal["highest", "lowest"]
Spread = Literal["line", "arm", "cross", "tree"]
"""The shape of a layout.

* ``line``: a line with two ends;
* ``arm``: a line with one end;
* ``cross``: one double branches, in four directions;
* ``tree``: several doubles branch.
"""
Difficulty = Literal[1, 2, 3]
"""The difficulty of a game for a player who is new to dominoes.

* 1: the player only matches numbers.
* 2: there is one thing more to learn, such as a partner, arms, or several tiles in a turn.
* 3: the player adds up the ends after each tile, or there are several things more to learn.
"""
Carries = Literal["loser", "winner"]
"""How undecided rounds count later.

* ``loser``: the loser of the next decided round also gets their points;
* ``winner``: the win of the next decided round is worth more.
"""
Unit = Literal["points", "wins"]
"""The unit of totals. One round can count as several wins."""
ScoreRound = Callable[[State, EndReason, tuple[RemainingHand, ...]], RoundResult]
"""Returns the result of a round from its last state, the reason why it ended, and the hands at its end."""
Points = Callable[[State, Tile, End | None, int | None], int]
"""Returns the points of a play of the seat to move. Its arguments:

* the state before the play;
* the tile;
* the end that the tile joins; ``None`` for the lead;
* the sum of the ends after the play; ``None`` if ends are not counted.

The points depend only on public facts; of a hand, only on its number of tiles.
"""


class Opening(NamedTuple):
    """The seat that leads, and the tiles with which it can lead."""

    seat: int
    tiles: tuple[Tile, ...]


class Drawing(NamedTuple):
    """The actions that are allowed after a draw, in the same turn."""

    again: bool
    """Draw again while no tile fits."""
    place: bool
    """Lay a drawn tile that fits."""
    keep: bool
    """Keep a drawn tile that fits, and pass."""


UNTIL_IT_FITS: Final = Drawing(again=True, place=True, keep=False)
"""Draw until a tile fits; then lay it (rules 1.6, 2.7)."""


class Verdict(NamedTuple):
    """The effect of a round on the match: the seats that are eliminated, and the winners if the match is over."""

    eliminated: tuple[int, ...] = ()
    winners: tuple[int, ...] = ()


class Payment(NamedTuple):
    """An amount that one seat pays to another."""

    payer: int
    payee: int
    amount: Fraction


class Settlement(NamedTuple):
    """The payments after a match."""

    mode: str
    amounts: tuple[Fraction, ...]
    """In seat order: the sum that a seat receives, or pays if it is negative."""
    payments: tuple[Payment, ...]


def first_seat_out(state: State) -> EndReason | None:
    """Return ``out`` if a player has laid their last tile (rules 1.7 a, 2.9 a, 3.8, 5.6)."""
    return None if state.went_out_first is None else "out"


def one_tile(_layout: Layout, _hand: Hand) -> Hand:
    """Return no tile: a turn is one tile (rules 1.4, 3.7, 5.5)."""
    return ()


def _never(_state: State) -> bool:
    return False


def _no_dealer(_state: State) -> int | None:
    return None


def _winner_leads(_state: State, result: RoundResult) -> int | None:
    return result.winner


def no_branches(_layout: Layout, _double: Tile) -> Branching:
    """Let no double branch."""
    return NEVER


@cache
def teams_of(teams: int, seats: int) -> tuple[int | None, ...]:
    """Return the team of each seat; ``None`` without teams."""
    return tuple([seat % teams if teams else None for seat in range(seats)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The answers of one game, for values of its options and a number of seats."""

    seats: int
    settings: Mapping[str, Value]
    """The values of the options, and facts derived from them for players, such as the divisor (rules 3.1)."""
    tiles: tuple[Tile, ...]
    hand_size: Callable[[int], int]
    """Returns the number of tiles in a hand for a number of active players; 0: that number cannot play."""
    opening: Callable[[State], Opening | None]
    """Returns the seat that opens the round just dealt, and the tiles it can lead with; ``None``: deal again."""
    score_round: ScoreRound
    """Returns the result of a round; each hand comes with its ``hand_value``."""
    match_end: Callable[[State], Verdict]
    """Returns the effect of a round on the match; called after each round, with its scores in the totals."""
    end_checks: tuple[Callable[[State], EndReason | None], ...] = (first_seat_out,)
    """Each returns why the round is over, or ``None``; the first reason counts. ``round_end`` adds ``blocked``."""
    may_follow: Callable[[Layout, Hand], Hand] = one_tile
    """Returns the tiles of a hand that can follow the last tile in the same turn, whether they fit or not."""
    drawing: Drawing = UNTIL_IT_FITS
    form: LayoutForm = LINE
    """The form of the layout."""
    branching: Callable[[Layout, Tile], Branching] = no_branches
    """Returns how a double branches if it is laid face up on this layout."""
    spread: Spread | None = None
    """The shape of the layout; ``None``: derived from its form and ``branching``."""
    face_down: bool = False
    """Whether a double after the lead can be laid face down."""
    reserve: int = 0
    """The number of tiles of the stock that cannot be drawn."""
    may_flip: Callable[[State], bool] = _never
    """Returns whether the seat to move can turn the lead over; called only if none of its tiles fits."""
    points: Points | None = None
    """Returns the points of a play; ``None``: plays do not score."""
    hand_value: Callable[[Hand], int] = pips
    """Returns the value of a hand at the end of a round."""
    carries: Carries | None = None
    """``None``: undecided rounds do not count later."""
    may_leave_lead: Callable[[State], bool] = _never
    """Returns whether the seat that is to lead can pass, so that its partner leads."""
    has_manches: bool = False
    """Whether a match is played in manches."""
    prospects: Callable[[State], tuple[float, ...]] | None = None
    """Returns the expected points of each seat from its stars, if all seats win equally often; they add up to 0."""
    leads_next: Callable[[State, RoundResult], int | None] = _winner_leads
    """Returns the ``next_leader``; called with the scores in the totals, before any seat is eliminated."""
    dealer: Callable[[State], int | None] = _no_dealer
    settlement: Callable[[State], Settlement] | None = None
    """Returns the payments between the players after the match."""
    rows: Mapping[Tile, int] | None = None
    """The row of each tile, by which a hand can be sorted (rules 3.10)."""
    deals_again: bool = False
    """Whether ``opening`` can reject a deal in which a seat holds a double."""
    teams: int = 0
    """The number of teams; 0: no teams. Seat s is in team s mod teams."""
    best: ScoreOrder = "highest"
    """Copied from the ``Variant``, as are ``unit`` and ``words``."""
    unit: Unit = "points"
    words: tuple[str, ...] = ()

    @property
    def scores_plays(self) -> bool:
        return self.points is not None

    def start(self) -> State:
        """Return the state before the first deal."""
        zeros = (0,) * self.seats
        return State(
            phase=ROUND_OVER,
            round=0,
            hands=((),) * self.seats,
            stock=(),
            layout=empty_layout(self.form),
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
            manche=Manche(1, zeros) if self.has_manches else None,
        )

    def layout_spread(self) -> Spread:
        """Return the shape of the layout: ``spread`` if it is set, else a tree if a second double can branch."""
        if self.spread is not None:
            return self.spread
        if self.form.line_ends:
            return "line" if len(self.form.line_ends) == 2 else "arm"
        with_lead = self.lay_tile(empty_layout(self.form), None, double(0), 0, face_down=False)
        return "cross" if self.branching(with_lead, double(1)) == NEVER else "tree"

    def team(self, seat: int) -> int | None:
        """Return the team of a seat; ``None`` without teams."""
        return teams_of(self.teams, self.seats)[seat]

    def side(self, seat: int) -> tuple[int, ...]:
        """Return the seats that share a total with this one: those of its team, or the seat alone."""
        return tuple(range(seat % self.teams, self.seats, self.teams)) if self.teams else (seat,)

    def partner(self, seat: int) -> int:
        return (seat + self.teams) % self.seats

    def placement_scores(self, seat: int, ends_sum: int | None, points: int) -> tuple[PlacementScore, ...]:
        """Return the scores of a tile that this seat laid: one for each seat of its side."""
        return tuple([PlacementScore(scorer, ends_sum, points) for scorer in self.side(seat)])

    def lay_tile(
        self, layout: Layout, end: End | None, tile: Tile, seat: int, *, face_down: bool, outer: int | None = None
    ) -> Layout:
        """Return the layout with this tile laid at this open end; ``end`` is ``None`` for the lead.

        ``outer``: as in ``Layout.join``.
        """
        branching = self.branching(layout, tile) if tile.double and not face_down else NEVER
        if end is None:
            return layout.lead(tile, seat, branching)
        return layout.join(end, tile, seat, face_down=face_down, branching=branching, outer=outer)

    def round_end(self, state: State) -> EndReason | None:
        """Return the reason why the round is over, or ``None``; called after each play, draw and flip.

        After ``end_checks``: a round is blocked if no hand has a tile that fits, and no tile can be drawn (rules 1.7 d,
        2.9 c, 3.8, 4.6, 5.6).
        """
        for check in self.end_checks:
            if reason := check(state):
                return reason
        if len(state.stock) > self.reserve:
            return None
        open_mask = state.layout.open_mask
        for hand in state.hands:
            for tile in hand:
                if tile.offers & open_mask:
                    return None
        return "blocked"

    def hands_left(self, state: State) -> tuple[RemainingHand, ...]:
        """Return the hand of every active seat with its value."""
        hands = state.hands
        return tuple([RemainingHand(seat, hands[seat], self.hand_value(hands[seat])) for seat in state.active_seats()])

    def drawable(self, state: State) -> int:
        """Return the number of tiles that can be drawn from the stock."""
        return max(0, len(state.stock) - self.reserve)


class PlayerRange(NamedTuple):
    """The allowed numbers of players, from ``low`` to ``high``."""

    low: int
    high: int


class Alias(NamedTuple):
    """Another name of a game, and its language (a tag such as ``es``)."""

    name: str
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A game. ``edition`` is the version of its rules; a stored game keeps the edition that it was created with."""

    key: str
    players: PlayerRange
    build: Callable[[Options, int], Rules]
    """Returns the rules for these options and a number of seats; raises ``InvalidSetup``."""
    difficulty: Difficulty
    minutes: int
    """The usual length of a match with the default options, at six seconds a move."""
    edition: int = 1
    best: ScoreOrder = "highest"
    """Whether the highest or the lowest total wins."""
    options: tuple[Option, ...] = ()
    aliases: tuple[Alias, ...] = ()
    """Other names that its players use."""
    unit: Unit = "points"
    words: tuple[str, ...] = ()
    """The players' words for special scores. The text of such a score line starts with the word; ``service.texts``
    explains each word."""

    @property
    def wrong_number_of_players(self) -> Reason:
        """The reason for a number of players outside ``players``."""
        low, high = self.players
        return Reason("exact_players" if low == high else "number_of_players", {"min": low, "max": high})

    def rules(self, given: Mapping[str, object], seats: int) -> Rules:
        """Return the rules for these options and seats. Raises ``InvalidSetup`` with all errors."""
        errors: dict[str, list[Reason]] = {}
        low, high = self.players
        if not low <= seats <= high:
            errors["players"] = [self.wrong_number_of_players]
        try:
            options = resolve(self.options, given)
        except InvalidSetup as refusal:
            errors |= refusal.errors
        if errors:
            raise InvalidSetup(errors)
        return replace(self.build(options, seats), best=self.best, unit=self.unit, words=self.words)
