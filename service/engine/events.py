"""The events of a match, and the result of a round.

Owns the events that the referee returns; replaying all of them gives the state of the match. They are complete,
hidden tiles included: only ``view`` decides what of them a seat may know. A new event is a class and its row in
``EVENT_TYPES``, from which the codec, the notation, the responses and the OpenAPI document take its plain fields.
Does not depend on how an event changes a state (``referee``) or how it is stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from service.engine.tiles import Tile

EndReason = Literal["out", "blocked", "closed", "flip", "target"]


class RemainingHand(NamedTuple):
    """The tiles that a seat held when the round ended, and their value."""

    seat: int
    tiles: tuple[Tile, ...]
    value: int


class ScoreLine(NamedTuple):
    """One entry on the score card: points, the rule they follow from, and the arithmetic."""

    seat: int
    points: int
    rule: str
    text: str


class Manche(NamedTuple):
    """A part of a match that is won by stars, from 1, with the stars of each seat (rules 17.4 to 17.6)."""

    number: int
    stars: tuple[int, ...]
    ended: Literal["won", "chiree"] | None = None
    """How it ended, its stars being the last there were: won by a third star, or by nobody as everybody had one."""

    def running(self) -> Manche:
        """Return the manche that goes on: this one, or after its end the next."""
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
    manche: Manche | None = None
    """In games with manches: the stars after the round."""


class DealProof(NamedTuple):
    """What a deal was derived from, besides the seed of its round, so that it can be verified (``deal``)."""

    attempt: int
    """How many deals of this round were rejected by the rules before this one."""
    client_seeds: tuple[str, ...]
    """In seat order; an empty text for a seat that contributed none."""
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
    """A tile was laid at this ``end``, ``None`` for the lead; with the points it scored where plays score.

    ``outer``: the half that stayed outside, in a game in which that does not follow from the end.
    A named tuple and not a frozen dataclass, because most events are plays and it is faster to create.
    """

    seat: int
    tile: Tile
    end: str | None
    face_down: bool
    points: int | None = None
    ends_sum: int | None = None
    outer: int | None = None


@dataclass(frozen=True, slots=True)
class Drew:
    """A seat drew the next tile of the stock; ``auto``: the service did it, as the seat had no choice."""

    seat: int
    tile: Tile
    auto: bool | None = None


@dataclass(frozen=True, slots=True)
class Passed:
    """A seat passed: it laid no tile and could draw none; ``auto``: the service did it, as the seat had no choice."""

    seat: int
    auto: bool | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """A seat ended its turn of several tiles."""

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

    ``ended_by`` is ``forfeit`` if it ended because all sides but one have forfeited, and not by the rules.
    """

    winners: tuple[int, ...]
    ended_by: Literal["forfeit"] | None = None


Event = Dealt | Played | Drew | Passed | Done | Flipped | RoundEnded | Eliminated | Finished


# The table of event types

FieldKind = Literal[
    "seat", "seats", "tile", "end", "number", "flag", "mark", "text", "name", "word", "optional_word", "bytes"
]
"""A ``word`` is one of a few in small letters; an ``optional_word`` may be missing, and is the last field then. A
``mark`` is true or missing, and is the last field then.

A ``name`` is that of a player, who may get another one: it is kept with the seat, and never with an event."""


class EventType(NamedTuple):
    """The name and the form of one type of event."""

    event: type
    name: str
    """Its ``type`` in a response."""
    code: int
    """Its number in the stored form; a number is never given to another type."""
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
"""The events of a match; those of a hosted game are in ``games.model.game``."""
