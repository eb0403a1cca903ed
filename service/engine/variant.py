"""The form of a game: the questions that every variant answers.

Owns the questions. A game is a frozen ``Variant``: its key, its options, and a function from the options and the number
of seats to ``Rules``, one field for each question. A question that most games answer in the same way has a default.
Does not depend on any game, on how the answers are used (``referee``), or on what is said of a game
(``service.texts``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Final, Literal, NamedTuple

from service.engine.errors import InvalidSetup, Reason
from service.engine.events import EndReason, RemainingHand, RoundResult
from service.engine.layout import (
    FIRST_LONG_SIDE,
    LEFT,
    NEVER,
    RIGHT,
    Branching,
    End,
    EndValue,
    Gates,
    Layout,
    LayoutForm,
    Wants,
    empty_layout,
)
from service.engine.options import Option, Value, resolve
from service.engine.state import Hand, PlacementScore, State, new_match
from service.engine.tiles import Tile, double, pips

ScoreOrder = Literal["highest", "lowest"]
Spread = Literal["line", "arm", "cross", "tree"]
"""How a layout spreads: as a line of two ends or of one, in four directions from one double that branches, or wherever
doubles branch."""
Difficulty = Literal[1, 2, 3]
"""How hard a game is for whoever has never played dominoes. 1: matching numbers is all that there is to know. 2: one
thing more, such as a partner, arms, or several tiles in a turn. 3: the ends are added up at each tile, or several such
things."""
Carries = Literal["loser", "winner"]
"""The receiver of what undecided rounds carry over: the next loser of their points, or the next winner of their number,
whose win is worth more."""
Unit = Literal["points", "wins"]
"""The unit of totals: points, or wins; one round may count as several wins."""
Count = Callable[[State, EndReason, tuple[RemainingHand, ...]], RoundResult]
"""The result of a round that ended for this reason with these hands left."""
Points = Callable[[State, Tile, End | None, int | None], int]
"""The points of a play of the seat to move: its tile, the end that it joins, ``None`` for the lead, and the sum of the
ends after it, ``None`` where ends are not counted. Asked before the tile is laid; depends only on what everybody may
see, of a hand only on its number of tiles."""


class Opening(NamedTuple):
    """The seat that leads, and the tiles it may lead with."""

    seat: int
    tiles: tuple[Tile, ...]


class Drawing(NamedTuple):
    """What is allowed in the same turn after a draw."""

    again: bool
    """Draw again as long as nothing fits."""
    place: bool
    """Place a drawn tile that fits."""
    keep: bool
    """Keep a drawn tile that fits, and pass."""


class Verdict(NamedTuple):
    """The consequences of a round for the match: the seats that go out, and the winners if the match is over."""

    eliminated: tuple[int, ...] = ()
    winners: tuple[int, ...] = ()


class Payment(NamedTuple):
    """An amount that one seat pays to another."""

    payer: int
    payee: int
    amount: Fraction


class Settlement(NamedTuple):
    """What each seat receives (or pays, if negative), in seat order, and the payments between them."""

    mode: str
    amounts: tuple[Fraction, ...]
    payments: tuple[Payment, ...]


def _never(_state: State) -> bool:
    return False


def _no_dealer(_state: State) -> int | None:
    return None


def _winner_leads(_state: State, result: RoundResult) -> int | None:
    return result.winner


def _no_branches(_layout: Layout, _double: Tile) -> Branching:
    return NEVER


@cache
def _teams(teams: int, seats: int) -> tuple[int | None, ...]:
    return tuple([seat % teams if teams else None for seat in range(seats)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The answers of one game for resolved options and a number of seats."""

    seats: int
    settings: Mapping[str, Value]
    """The resolved options, and what follows from them that a player needs to know (rules 3.1: the divisor)."""
    tiles: tuple[Tile, ...]
    hand_size: Callable[[int], int]
    """The number of tiles in a hand, by the number of active players; 0: not playable with that number."""
    opening: Callable[[State], Opening | None]
    """Who opens the round just dealt, and with which tiles; ``None``: deal again."""
    may_follow: Callable[[Layout, Hand], Hand]
    """The tiles of this hand that may follow the tile laid last in the same turn, whether they fit or not."""
    drawing: Drawing
    round_end: Callable[[State], EndReason | None]
    """Why the round is over, or ``None``; called after each play, draw and flip."""
    score_round: Count
    """The result of the round, from the hands left, each with its ``hand_value``."""
    match_end: Callable[[State], Verdict]
    """Called after each round with its scores added."""
    line_ends: tuple[str, ...] = (LEFT, RIGHT)
    """The names of the ends of a line, ``left`` and ``right`` or only ``right``; if empty, ends are numbered."""
    branching: Callable[[Layout, Tile], Branching] = _no_branches
    """How a double branches when it is laid face up on this layout."""
    gates: Gates = FIRST_LONG_SIDE
    """When the gated ends of the layout open."""
    wants: Wants | None = None
    """What an end wants; ``None``: its own number, so that equal halves touch. With an answer every play but the lead
    names the half that stays outside; such a game neither scores plays nor lays doubles face down."""
    doubles_across: bool = True
    """Whether doubles lie across; else they lie lengthwise and have an end like any other tile."""
    spread: Spread | None = None
    """How the layout spreads; ``None``: as follows from ``line_ends`` and ``branching``."""
    face_down: bool = False
    """A double after the lead may be laid face down."""
    reserve: int = 0
    """The number of tiles of the stock that cannot be drawn."""
    may_flip: Callable[[State], bool] = _never
    """Whether the seat to move, none of whose tiles fits, may turn the lead over."""
    end_value: EndValue | None = None
    """The value of an end; ``None``: ends are not counted."""
    points: Points | None = None
    """The points of a play; ``None``: plays do not score."""
    hand_value: Callable[[Hand], int] = pips
    """The value of a hand that is left at the end of a round."""
    carries: Carries | None = None
    """The receiver of what undecided rounds carry over; ``None``: no round carries anything."""
    may_leave_lead: Callable[[State], bool] = _never
    """Whether the seat that is to lead may pass, so that its partner leads."""
    has_manches: bool = False
    """Whether a match is played in manches."""
    prospects: Callable[[State], tuple[float, ...]] | None = None
    """By seat: the points to come that stars are worth if everybody wins equally often; they add up to 0."""
    leads_next: Callable[[State, RoundResult], int | None] = _winner_leads
    """The ``next_leader`` after a round with this result, its scores added; asked before anybody is eliminated."""
    dealer: Callable[[State], int | None] = _no_dealer
    settlement: Callable[[State], Settlement] | None = None
    """The payments between the players after the match."""
    rows: Mapping[Tile, int] | None = None
    """The row of each tile, by which a hand can be sorted (rules 3.10)."""
    deals_again: bool = False
    """``True``: ``opening`` may reject a deal in which somebody holds a double, so that it is dealt again."""
    teams: int = 0
    """The number of teams; 0: no teams. Seat s is in team s mod teams."""
    best: ScoreOrder = "highest"
    """As in the recipe, which sets it."""
    unit: Unit = "points"
    """As in the recipe, which sets it."""
    words: tuple[str, ...] = ()
    """As in the recipe, which sets them."""

    @property
    def scores_plays(self) -> bool:
        """Whether a play may score."""
        return self.points is not None

    def start(self) -> State:
        """Return the match before its first deal."""
        return new_match(self.seats, self.empty_layout(), has_manches=self.has_manches)

    def empty_layout(self) -> Layout:
        """Return the table before the first tile of a round."""
        return empty_layout(LayoutForm(self.line_ends, self.end_value, self.gates, self.wants, self.doubles_across))

    def layout_spread(self) -> Spread:
        """Return how the layout spreads: as the recipe says, else as a tree if any second double branches."""
        if self.spread is not None:
            return self.spread
        if self.line_ends:
            return "line" if len(self.line_ends) == 2 else "arm"
        lead = double(0)
        with_lead = self.lay_tile(self.empty_layout(), None, lead, 0, face_down=False)
        return "cross" if self.branching(with_lead, double(1)) == NEVER else "tree"

    def team(self, seat: int) -> int | None:
        """Return the team of a seat; ``None`` without teams."""
        return _teams(self.teams, self.seats)[seat]

    def all_teams(self) -> tuple[int | None, ...]:
        """Return the team of each seat."""
        return _teams(self.teams, self.seats)

    def side(self, seat: int) -> tuple[int, ...]:
        """Return the seats that share a total with this one: those of its team, or the seat alone."""
        return tuple(range(seat % self.teams, self.seats, self.teams)) if self.teams else (seat,)

    def partner(self, seat: int) -> int:
        """Return the next seat of its team."""
        return (seat + self.teams) % self.seats

    def placement_scores(self, seat: int, ends_sum: int | None, points: int) -> tuple[PlacementScore, ...]:
        """Return what a placement of this seat scores, for each seat of its side."""
        return tuple([PlacementScore(scorer, ends_sum, points) for scorer in self.side(seat)])

    def lay_tile(
        self, layout: Layout, end: End | None, tile: Tile, seat: int, *, face_down: bool, outer: int | None = None
    ) -> Layout:
        """Return the layout with this tile laid at this open end, ``None`` for the lead, with this half outside."""
        branching = self.branching(layout, tile) if tile.double and not face_down else NEVER
        if end is None:
            return layout.lead(tile, seat, branching)
        return layout.join(end, tile, seat, face_down=face_down, branching=branching, outer=outer)

    def hands_left(self, state: State) -> tuple[RemainingHand, ...]:
        """Return the hand of every active seat with its value."""
        hands = state.hands
        return tuple([RemainingHand(seat, hands[seat], self.hand_value(hands[seat])) for seat in state.active_seats()])

    def drawable(self, state: State) -> int:
        """Return the number of tiles that can be drawn from the stock."""
        return max(0, len(state.stock) - self.reserve)


class PlayerRange(NamedTuple):
    """The possible numbers of players, from ``low`` to ``high``."""

    low: int
    high: int


class Alias(NamedTuple):
    """Another name of a game, and in which language (a tag such as ``es``)."""

    name: str
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A game. ``edition`` counts the changes of its rules; a stored game keeps the edition it was created with."""

    key: str
    edition: int
    players: PlayerRange
    best: ScoreOrder
    """Whether the highest or the lowest total wins."""
    build: Callable[[Mapping[str, Value | None], int], Rules]
    """The rules for these options (``None``: the default is computed) and seats; raises ``InvalidSetup``."""
    difficulty: Difficulty
    minutes: int
    """About how long a match with the default options takes at six seconds a move."""
    options: tuple[Option, ...] = field(default=())
    aliases: tuple[Alias, ...] = ()
    """What its players call it."""
    unit: Unit = "points"
    words: tuple[str, ...] = ()
    """What its players say of a count, as the text of a score line begins; each is explained in the texts."""

    @property
    def wrong_number_of_players(self) -> Reason:
        """The reason that names how many players the game is for."""
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


NO_VERDICT: Final = Verdict()
