"""A hosted match: its seats, who may play them, and the state it is in.

Owns the value that the store keeps and the codec writes. Must not know how it is stored or shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from service.engine.deal import Deck
from service.engine.events import EVENT_TYPES, Dealt, Event, EventType, RoundEnded
from service.engine.options import Value
from service.engine.state import State
from service.engine.variant import Rules, Variant
from service.engine.variants import variants

SeatKind = Literal["human", "bot", "open"]
GameStatus = Literal["waiting", "playing", "round_over", "finished"]

HUMAN: Final = "human"
OPEN_SEAT: Final = "open"


class Seat(NamedTuple):
    """A place at the table: who sits there, and the hash of the token that plays it."""

    kind: SeatKind
    name: str | None = None
    token_hash: bytes | None = None


@dataclass(frozen=True, slots=True)
class Created:
    """The game was opened; with the commitment to the seed of its first round, if its deals can be proven."""

    commitment: bytes | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """Somebody took an open seat."""

    seat: int
    name: str


@dataclass(frozen=True, slots=True)
class TokenChanged:
    """The seat has a new token; the old one is worth nothing any more."""

    seat: int


GameEvent = Created | Joined | TokenChanged | Event

GAME_EVENT_TYPES: Final = (
    EventType(Created, "created", 0, (("commitment", "bytes"),)),
    EventType(Joined, "joined", 1, (("seat", "seat"), ("name", "text"))),
    EventType(TokenChanged, "token_changed", 11, (("seat", "seat"),)),
    *EVENT_TYPES,
)
"""The events of a hosted game, those of its match included."""


class EventEnvelope(NamedTuple):
    """An event at its place in a game: its version, and when it was, in milliseconds since 1970."""

    version: int
    at: int
    event: GameEvent


class Game(NamedTuple):
    """A game at one version. Times are in milliseconds since 1970."""

    id: str
    variant: Variant
    options: Mapping[str, Value]
    """As they were requested; the rest are the variant's defaults."""
    rules: Rules
    """Those of the variant, by the options and the number of seats."""
    seats: tuple[Seat, ...]
    join_hash: bytes | None
    arranged: bool
    deck: Deck
    version: int
    created_at: int
    updated_at: int
    round_ends: tuple[int, ...]
    """The versions of the events that ended a round, for the score card."""
    state: State
    edition: int = 1
    """Of the rules that it began with."""
    write_id: str = ""
    """The id of the write that led here; empty before the first one."""
    commitments: tuple[bytes, ...] = ()
    """To the seeds of the round that was dealt last, if any was, and of the next; none if no deal can be proven."""

    @property
    def has_open_seats(self) -> bool:
        """Whether a seat is still open."""
        return any([seat.kind == OPEN_SEAT for seat in self.seats])

    @property
    def status(self) -> GameStatus:
        """Where the game stands."""
        return "waiting" if any([seat.kind == OPEN_SEAT for seat in self.seats]) else self.state.phase

    def with_events(self, events: Sequence[GameEvent], at: int, write_id: str) -> Game:
        """The game at the version that these events lead to, by the write of that id."""
        round_ends, commitments = self.round_ends, self.commitments
        for version, event in enumerate(events, self.version + 1):
            if isinstance(event, RoundEnded):
                round_ends = (*round_ends, version)
            commitments = commitments_after(commitments, event)
        return self._replace(
            version=self.version + len(events),
            updated_at=at,
            round_ends=round_ends,
            write_id=write_id,
            commitments=commitments,
        )

    def etag(self, seat: int | None) -> str:
        """What names this version for this viewer, ``s`` for a spectator; never made from anything hidden."""
        return f"{self.version}-{'s' if seat is None else seat}"


def commitments_after(commitments: tuple[bytes, ...], event: GameEvent) -> tuple[bytes, ...]:
    """The commitments of a game after an event."""
    if isinstance(event, Dealt) and event.proof is not None:
        return (*commitments[-1:], event.proof.next_commitment)
    if isinstance(event, Created) and event.commitment is not None:
        return (event.commitment,)
    return commitments


def rules_for(variant: str, options: Mapping[str, Value], seats: int) -> Rules:
    """The rules of a variant for these options and seats, the same object for the same ones."""
    return _rules(variant, tuple(options.items()), seats)


@lru_cache(maxsize=1024)
def _rules(variant: str, options: tuple[tuple[str, Value], ...], seats: int) -> Rules:
    return variants()[variant].rules(dict(options), seats)
