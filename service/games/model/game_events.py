"""The events of a hosted game: the events of its match, and those of hosting, such as joins and new tokens.

Owns the events of hosting, and the effect of an event on tokens, seats and commitments. Does not depend on who causes
an event.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from service.engine.events import EVENT_TYPES, Dealt, Event, EventType
from service.engine.presence import PRESENCE_EVENT_TYPES, Left, PresenceEvent, Returned


@dataclass(frozen=True, slots=True)
class Created:
    """The game was created. ``commitment``: to the seed of its first round; ``None`` if deals cannot be proven."""

    commitment: bytes | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """A player took an open seat.

    ``name`` is not stored with the event, and is empty when the event is read from the store; views show the current
    name of the seat (``service.games.model.views``).
    """

    seat: int
    name: str


@dataclass(frozen=True, slots=True)
class TokenChanged:
    """The seat has a new token; the old one is revoked."""

    seat: int


@dataclass(frozen=True, slots=True)
class Renamed:
    """The application changed the name or the ``ref`` of a player; without ``name``, only the ``ref``.

    ``name`` is treated as in ``Joined``.
    """

    seat: int
    name: str | None = None


@dataclass(frozen=True, slots=True)
class JoinCodeChanged:
    """The open seats have a new join code; the old one is revoked."""


@dataclass(frozen=True, slots=True)
class Rematched:
    """The players of a finished game began a rematch, the game with this id."""

    game_id: str


@dataclass(frozen=True, slots=True)
class Freed:
    """A seat of a waiting game is open again: its player left, or was removed."""

    seat: int


@dataclass(frozen=True, slots=True)
class Filled:
    """A computer player of this level (``bot``) took an open seat of a waiting game; ``name`` as in ``Joined``."""

    seat: int
    name: str
    bot: str


@dataclass(frozen=True, slots=True)
class Started:
    """The match began without the open seats. ``seats`` lists the old number of each seat, in the new order."""

    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reminded:
    """The time for the turn of this seat ends soon; the application gets this reminder."""

    seat: int


HostingEvent = (
    Created
    | Joined
    | TokenChanged
    | Renamed
    | JoinCodeChanged
    | Rematched
    | Freed
    | Filled
    | Started
    | Reminded
    | PresenceEvent
)
"""An event of a hosted game that does not change the state of its match."""

GameEvent = HostingEvent | Event

NO_PLAY: Final = frozenset([TokenChanged, Renamed, JoinCodeChanged, Rematched, Reminded, Left, Returned])
"""The types of events that do not affect moves: a move for the version before such an event is still accepted."""

GAME_EVENT_TYPES: Final = (
    EventType(Created, "created", 0, (("commitment", "bytes"),)),
    EventType(Joined, "joined", 1, (("seat", "seat"), ("name", "name"))),
    EventType(TokenChanged, "token_changed", 11, (("seat", "seat"),)),
    EventType(Renamed, "renamed", 17, (("seat", "seat"), ("name", "name"))),
    EventType(JoinCodeChanged, "join_code_changed", 18, ()),
    EventType(Rematched, "rematched", 19, (("game_id", "text"),)),
    EventType(Freed, "freed", 20, (("seat", "seat"),)),
    EventType(Filled, "filled", 21, (("seat", "seat"), ("name", "name"), ("bot", "text"))),
    EventType(Started, "started", 22, (("seats", "seats"),)),
    EventType(Reminded, "reminded", 24, (("seat", "seat"),)),
    *PRESENCE_EVENT_TYPES,
    *EVENT_TYPES,
)
"""The types of the events of a hosted game, including those of its match."""


class EventEnvelope(NamedTuple):
    """An event of a game.

    ``version``: the version after the event.
    ``at``: its time, in milliseconds since 1970.
    ``to_act``: the seats that can move after it.
    """

    version: int
    at: int
    event: GameEvent
    to_act: tuple[int, ...]


def revokes(event: GameEvent, seat: int) -> bool:
    """Return whether the event revokes the token of this seat."""
    return isinstance(event, TokenChanged | Freed) and event.seat == seat


def seat_after(event: GameEvent, seat: int) -> int:
    """Return the number that this seat has after an event. The seat must still be in the game."""
    return event.seats.index(seat) if isinstance(event, Started) else seat


def commitments_after(commitments: tuple[bytes, ...], event: GameEvent) -> tuple[bytes, ...]:
    """Return the commitments of a game after an event."""
    if isinstance(event, Dealt) and event.proof is not None:
        return (*commitments[-1:], event.proof.next_commitment)
    if isinstance(event, Created) and event.commitment is not None:
        return (event.commitment,)
    return commitments
