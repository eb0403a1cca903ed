"""The events of a match, and the result of a round.

Owns the events that the referee returns; replaying all of them gives the state of the match. Events contain hidden
tiles; ``view`` removes them. A new event needs a class and a row in ``EVENT_TYPES``, from which the codec, the
notation, the responses and the OpenAPI document read its fields. Does not depend on the effect of an event on a state
(``referee``), or on the way it is stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from service.engine.tiles import Tile

EndReason = Literal["out", "blocked", "closed", "flip", "target"]


class RemainingHand(NamedTuple):
    """The hand of a seat at the end of a round, and its value."""

    seat: int
    tiles: tuple[Tile, ...]
    value: int


class ScoreLine(NamedTuple):
    """One line of the score card."""

    seat: int
    points: int
    rule: str
    """The number of the rule that gives the points, such as ``3.6``."""
    text: str
    """The arithmetic, such as ``14 + 50 + 7``."""


class Manche(NamedTuple):
    """A part of a match, which a seat wins by collecting stars (rules 17.4 to 17.6)."""

    number: int
    """From 1."""
    stars: tuple[int, ...]
    """In seat order."""
    ended: Literal["won", "chiree"] | None = None
    """How it ended: a seat won with its third star, or nobody won, because every seat had a star."""

    def running(self) -> Manche:
        """Return this manche, or if it has ended the next one."""
        return self if self.ended is None else Manche(self.number + 1, (0,) * len(self.stars))


class RoundResult(NamedTuple):
    """The result of a round. ``scores`` is in seat order; the score lines of a seat add up to its score."""

    number: int
    ended_by: EndReason
    hands: tuple[RemainingHand, ...]
    scores: tuple[int, ...]
    lines: tuple[ScoreLine, ...]
    winner: int | None = None
    loser: int | None = None
    carried: int = 0
    """The points, or 1 for a draw, that an undecided round carries over."""
    manche: Manche | None = None
    """The manche after the round, in games with manches."""


class DealProof(NamedTuple):
    """The inputs of a deal besides the seed of its round. With the seed, anybody can verify the deal (``deal``)."""

    attempt: int
    """The number of deals of this round that the rules rejected before this one."""
    client_seeds: tuple[str, ...]
    """In seat order; an empty text for a seat without one."""
    next_commitment: bytes
    """The commitment to the seed of the next round."""


@dataclass(frozen=True, slots=True)
class Dealt:
    """A round was dealt: every hand (empty for an eliminated seat), and the stock in the order of drawing.

    A deal that can be verified has a ``proof``.
    """

    round: int
    hands: tuple[tuple[Tile, ...], ...]
    stock: tuple[Tile, ...]
    arranged: bool
    proof: DealProof | None = None


class Played(NamedTuple):
    """A tile was laid.

    A named tuple, not a frozen dataclass: most events are plays, and a named tuple is faster to create.
    """

    seat: int
    tile: Tile
    end: str | None
    """The name of the end; ``None`` for the lead."""
    face_down: bool
    points: int | None = None
    """``None`` in games in which plays do not score."""
    ends_sum: int | None = None
    """The sum of the ends after the play; ``None`` in games that do not count ends."""
    outer: int | None = None
    """The half that does not touch the host, if the end does not decide that."""


@dataclass(frozen=True, slots=True)
class Drew:
    """A seat drew the next tile of the stock; ``auto``: the service drew it, because the seat had no choice."""

    seat: int
    tile: Tile
    auto: bool | None = None


@dataclass(frozen=True, slots=True)
class Passed:
    """A seat passed without laying a tile; ``auto``: the service passed, because the seat had no choice."""

    seat: int
    auto: bool | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """A seat ended a turn in which it could have laid more tiles."""

    seat: int


@dataclass(frozen=True, slots=True)
class Flipped:
    """The second player turned the opening tile over (rules 2.8)."""

    seat: int


@dataclass(frozen=True, slots=True)
class RoundEnded:
    """The round is over and has been scored."""

    round: RoundResult


@dataclass(frozen=True, slots=True)
class Eliminated:
    """A seat went out of the match."""

    seat: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The match is over; tied seats share the win.

    ``ended_by`` is ``forfeit`` if all sides but one have forfeited, and ``None`` if the match ended by the rules.
    """

    winners: tuple[int, ...]
    ended_by: Literal["forfeit"] | None = None


Event = Dealt | Played | Drew | Passed | Done | Flipped | RoundEnded | Eliminated | Finished


# The table of event types

FieldKind = Literal[
    "seat", "seats", "tile", "end", "number", "flag", "mark", "text", "name", "word", "optional_word", "bytes"
]
"""The kind of a field of an event. Not obvious are:

* ``word``: one of a few words in lower case;
* ``optional_word``: a word that can be missing; always the last field;
* ``mark``: true or missing; always the last field;
* ``name``: the name of a player. It can change, so it is stored with the seat and not with the event.
"""


class EventType(NamedTuple):
    """The name and the form of one type of event."""

    event: type
    name: str
    """Its ``type`` in a response."""
    code: int
    """Its number in stored games; never reused for another type."""
    fields: tuple[tuple[str, FieldKind], ...] | None
    """Its fields in order, each with its kind; ``None``: each text format has its own functions for this type."""
    word: str = ""
    """Its word in the notation, for an event that is written as seat, word and fields."""


EVENT_TYPES: Final = (
    EventType(Dealt, "dealt", 2, None),
    EventType(
        Played,
        "played",
        3,
        (
            ("seat", "seat"),
            ("tile", "tile"),
            ("end", "end"),
            ("face_down", "flag"),
            ("points", "number"),
            ("ends_sum", "number"),
            ("outer", "number"),
        ),
    ),
    EventType(Drew, "drew", 4, (("seat", "seat"), ("tile", "tile"), ("auto", "mark")), "draw"),
    EventType(Passed, "passed", 5, (("seat", "seat"), ("auto", "mark")), "pass"),
    EventType(Done, "done", 6, (("seat", "seat"),), "done"),
    EventType(Flipped, "flipped", 7, (("seat", "seat"),), "flip"),
    EventType(RoundEnded, "round_ended", 8, None),
    EventType(Eliminated, "eliminated", 9, (("seat", "seat"),), "eliminated"),
    EventType(Finished, "finished", 10, (("winners", "seats"), ("ended_by", "optional_word")), "finished"),
)
"""The events of a match; those of a hosted game are in ``games.model.game_events``."""
