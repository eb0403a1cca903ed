"""What has happened in a match, and how a round was counted.

Owns the events that the referee writes; a match is the sum of its events. They hold the whole truth,
hidden tiles included: who may know what of them is for ``view`` alone to say. A new event is a class
and its row in ``EVENT_TYPES``: the store, the notation, the answers and the document take from there
what its plain fields need. Must not know how an event changes a state (``play``) or how it is stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from service.engine.tiles import Tile

EndReason = Literal["out", "blocked", "closed", "flip"]


class RemainingHand(NamedTuple):
    """What a seat held when the round ended, and what it was worth."""

    seat: int
    tiles: tuple[Tile, ...]
    value: int


class ScoreLine(NamedTuple):
    """One entry on the score card: points, the rule they come from, and the arithmetic."""

    seat: int
    points: int
    rule: str
    text: str


class RoundResult(NamedTuple):
    """The count of a round. ``scores`` has a number a seat; the lines of a seat add up to its score."""

    number: int
    ended_by: EndReason
    hands: tuple[RemainingHand, ...]
    scores: tuple[int, ...]
    lines: tuple[ScoreLine, ...]
    winner: int | None = None
    loser: int | None = None
    carried: int = 0


class DealProof(NamedTuple):
    """What a deal was drawn from, beside the seed of its round, so that it can be checked (``deal``)."""

    attempt: int
    """How many deals of this round the rules have dealt again."""
    client_seeds: tuple[str, ...]
    """What each seat has added, in seat order; empty for a seat that has added nothing."""
    next_commitment: bytes
    """The commitment to the seed of the round to come."""


@dataclass(frozen=True, slots=True)
class Dealt:
    """A round was dealt: every hand (empty for a seat that is out), and the stock in the order of drawing.

    Of a deal that can be proven it has the ``luck``, too.
    """

    round: int
    hands: tuple[tuple[Tile, ...], ...]
    stock: tuple[Tile, ...]
    arranged: bool
    proof: DealProof | None = None


class Played(NamedTuple):
    """A tile was laid; ``end`` is where it joined (the lead: nowhere). Points where ends are counted.

    Most events are of this kind, and a named tuple is the quickest thing to make that cannot be changed.
    """

    seat: int
    tile: Tile
    end: str | None
    face_down: bool
    points: int | None = None
    ends_sum: int | None = None


@dataclass(frozen=True, slots=True)
class Drew:
    """The next tile of the stock went to a hand."""

    seat: int
    tile: Tile


@dataclass(frozen=True, slots=True)
class Passed:
    """A seat could not or would not place, and had nothing to draw."""

    seat: int


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
    """The round is over and counted."""

    round: RoundResult


@dataclass(frozen=True, slots=True)
class Eliminated:
    """A seat is out of the match."""

    seat: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The match is won; ties share it."""

    winners: tuple[int, ...]


Event = Dealt | Played | Drew | Passed | Done | Flipped | RoundEnded | Eliminated | Finished


# The table of event types

FieldKind = Literal["seat", "seats", "tile", "end", "number", "flag", "text", "bytes"]


class EventType(NamedTuple):
    """What whoever writes events down has to know of one type."""

    event: type
    name: str
    """Its ``type`` in an answer."""
    code: int
    """Its number in the store; a number stands for the same type for ever."""
    fields: tuple[tuple[str, FieldKind], ...] | None
    """Its fields in order, each with its kind; ``None``: each format writes them by functions of its own."""
    word: str = ""
    """Its word in the notation, for an event that is written there as seat, word and fields."""


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
        ),
    ),
    EventType(Drew, "drew", 4, (("seat", "seat"), ("tile", "tile")), "draw"),
    EventType(Passed, "passed", 5, (("seat", "seat"),), "pass"),
    EventType(Done, "done", 6, (("seat", "seat"),), "done"),
    EventType(Flipped, "flipped", 7, (("seat", "seat"),), "flip"),
    EventType(RoundEnded, "round_ended", 8, None),
    EventType(Eliminated, "eliminated", 9, (("seat", "seat"),), "eliminated"),
    EventType(Finished, "finished", 10, (("winners", "seats"),), "finished"),
)
"""The events of a match; those of a hosted game are in ``games.game``."""
