"""The form of a recipe: what every game must say of itself, one question at a time.

A game is a frozen ``Variant``: who it is, its options, and a function from the options and the number
of seats to ``Rules``, one answer a question. A question that most games answer alike has a default.
Must not know: any game, and how the answers are put to use (``play``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Literal, NamedTuple

from service.engine.errors import InvalidSetup
from service.engine.events import EndReason, RemainingHand, RoundResult
from service.engine.layout import NEVER, Branching, EndValue, Layout, empty_layout
from service.engine.options import LocalizedText, Option, Value, resolve
from service.engine.state import Hand, State, new_match
from service.engine.tiles import Tile, pips

ScoreOrder = Literal["highest", "lowest"]
Count = Callable[[State, EndReason, tuple[RemainingHand, ...]], RoundResult]
"""How a round that is over for this reason is counted, with these hands left."""


class Opening(NamedTuple):
    """Who leads, and the tiles they may lead with."""

    seat: int
    tiles: tuple[Tile, ...]


class Drawing(NamedTuple):
    """What a draw allows in the same turn."""

    again: bool
    """Draw again as long as nothing fits."""
    place: bool
    """Place a drawn tile that fits."""
    keep: bool
    """Keep a drawn tile that fits, and pass."""


class Verdict(NamedTuple):
    """What the end of a round means for the match: who goes out now, and who has won, if it is over."""

    eliminated: tuple[int, ...] = ()
    winners: tuple[int, ...] = ()


class Payment(NamedTuple):
    """Marks that one seat hands to another."""

    payer: int
    payee: int
    amount: Fraction


class Settlement(NamedTuple):
    """What everybody gets (or pays, if negative), a number a seat, and who pays it to whom."""

    mode: str
    amounts: tuple[Fraction, ...]
    payments: tuple[Payment, ...]


def _never(_state: State) -> bool:
    return False


def _nobody(_state: State) -> int | None:
    return None


def _no_branches(_layout: Layout, _double: Tile) -> Branching:
    return NEVER


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The answers of one game, its options settled, for one number of seats."""

    seats: int
    settings: Mapping[str, Value]
    """The options as settled, and what follows from them that a player wants to know (rules 3.1: the divisor)."""
    tiles: tuple[Tile, ...]
    hand_size: Callable[[int], int]
    """How many tiles each gets, by the number of players still in; 0: so many cannot play."""
    opening: Callable[[State], Opening | None]
    """Who opens the round just dealt, and with what; ``None``: deal again."""
    may_follow: Callable[[Layout, Hand], Hand]
    """Which tiles of the mover's hand may follow, in the same turn, the tile laid last, as far as they fit."""
    drawing: Drawing
    round_end: Callable[[State], EndReason | None]
    """Why the round is over now, if it is; asked after each placement, draw and flip."""
    score_round: Count
    """What the round wrote, from the hands left, each with its ``hand_value``."""
    match_end: Callable[[State], Verdict]
    """Asked after each round, its scores added."""
    two_ended: bool = True
    """Two ends, left and right; else ends arise and are numbered."""
    branching: Callable[[Layout, Tile], Branching] = _no_branches
    """How a double branches that is to be laid face up on this layout."""
    face_down: bool = False
    """A double after the lead may be laid face down."""
    reserve: int = 0
    """Tiles of the stock that stay hidden and out of play."""
    may_flip: Callable[[State], bool] = _never
    """Whether the seat to move, which nothing fits, may turn the lead over."""
    end_value: EndValue | None = None
    """What an end counts; ``None``: ends are not counted."""
    points: Callable[[int], int] | None = None
    """The points of a placement, by the sum of the ends after it; ``None``: placements do not score."""
    hand_value: Callable[[Hand], int] = pips
    """What a hand is worth that is left at the end of a round."""
    dealer: Callable[[State], int | None] = _nobody
    settlement: Callable[[State], Settlement] | None = None
    """What the players owe each other once the match is over."""
    row: Callable[[Tile], int] | None = None
    """By what a hand can be sorted (rules 3.10)."""
    teams: int = 0
    """How many teams; 0: everybody alone. Seat s is in team s mod teams."""

    @property
    def scores_ends(self) -> bool:
        """Whether the ends are counted, and a placement may score."""
        return self.end_value is not None and self.points is not None

    def start(self) -> State:
        """The match before its first deal."""
        return new_match(self.seats, self.empty_layout())

    def empty_layout(self) -> Layout:
        """The table before the first tile of a round."""
        return empty_layout(line=self.two_ended, end_value=self.end_value)

    def team(self, seat: int) -> int | None:
        """The team of a seat, in a team game."""
        return seat % self.teams if self.teams else None

    def hands_left(self, state: State) -> tuple[RemainingHand, ...]:
        """The hand of every seat that is in, with its value."""
        held = state.hands
        return tuple([RemainingHand(seat, held[seat], self.hand_value(held[seat])) for seat in state.active_seats()])

    def drawable(self, state: State) -> int:
        """How many tiles of the stock can be drawn."""
        return max(0, len(state.stock) - self.reserve)


class PlayerRange(NamedTuple):
    """How many can play, from ``low`` to ``high``."""

    low: int
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """The recipe of a game. ``edition`` counts the changes of its rules; a stored game keeps its own."""

    key: str
    edition: int
    name: LocalizedText
    summary: LocalizedText
    scoring: LocalizedText
    players: PlayerRange
    best: ScoreOrder
    """Whether the highest or the lowest total wins."""
    build: Callable[[Mapping[str, Value | None], int], Rules]
    """From the options (``None`` where the recipe is to find a default) and the seats; raises ``InvalidSetup``."""
    options: tuple[Option, ...] = field(default=())

    def rules(self, given: Mapping[str, object], seats: int) -> Rules:
        """The rules for these options and seats. Raises ``InvalidSetup`` with every complaint there is."""
        errors: dict[str, list[str]] = {}
        few, many = self.players
        if not few <= seats <= many:
            wanted = str(few) if few == many else f"{few} to {many}"
            errors["players"] = [f"{self.name.en} is for {wanted} players."]
        try:
            options = resolve(self.options, given)
        except InvalidSetup as refusal:
            errors |= refusal.errors
        if errors:
            raise InvalidSetup(errors)
        return self.build(options, seats)


NO_VERDICT: Final = Verdict()
