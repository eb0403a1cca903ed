"""A hosted game: a match with its seats, the hashes of their tokens, and its deck.

Owns the value that the codec encodes and the store holds. Does not depend on how it is stored or shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from service.engine.deal import Deck
from service.engine.events import EVENT_TYPES, Dealt, Event, EventType, RoundEnded
from service.engine.options import Value
from service.engine.presence import ALL_PRESENT, PRESENCE_EVENT_TYPES, Presence, PresenceEvent, Returned
from service.engine.referee import apply
from service.engine.state import State
from service.engine.variant import Rules, Variant
from service.engine.variants import variants
from service.games.clock import STOPPED, ClockSettings, RunningClock, clock_after, deadline_of, ends_turn

SeatKind = Literal["human", "bot", "open"]
GameStatus = Literal["waiting", "playing", "round_over", "finished"]

_MAX_VERSION_DIGITS: Final = 10

STORED_FORMAT: Final = 4
"""The newest format in which games are stored (``service.games.codec``); a higher one is of a newer service.

Format 1 has no ``match_version`` and ``match_write_id``, format 2 no ``unique_names``, format 3 nothing that happens
without a player: no computer players, no clock and nobody who is away. Games without these are still stored in it.
"""
_FORMAT_WITHOUT_AUTOMATION: Final = 3

HUMAN: Final = "human"
OPEN_SEAT: Final = "open"
BOT: Final = "bot"

LEVELS: Final = ("random", "greedy", "expert")
"""The levels of computer players."""


class Seat(NamedTuple):
    """A seat: who plays it, and the hash of the token for it; for a computer player its level."""

    kind: SeatKind
    name: str | None = None
    token_hash: bytes | None = None
    level: str | None = None


@dataclass(frozen=True, slots=True)
class Created:
    """The game was created; with the commitment to the seed of its first round, if its deals can be proven."""

    commitment: bytes | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """A player took an open seat."""

    seat: int
    name: str


@dataclass(frozen=True, slots=True)
class TokenChanged:
    """The seat has a new token; the old one is revoked."""

    seat: int


HostingEvent = Created | Joined | TokenChanged | PresenceEvent
"""An event of a hosted game that does not change the state of its match."""

GameEvent = HostingEvent | Event

GAME_EVENT_TYPES: Final = (
    EventType(Created, "created", 0, (("commitment", "bytes"),)),
    EventType(Joined, "joined", 1, (("seat", "seat"), ("name", "text"))),
    EventType(TokenChanged, "token_changed", 11, (("seat", "seat"),)),
    *PRESENCE_EVENT_TYPES,
    *EVENT_TYPES,
)
"""The types of the events of a hosted game, including those of its match."""


class EventEnvelope(NamedTuple):
    """An event with the version that it led to, its time in milliseconds since 1970, and who may move after it."""

    version: int
    at: int
    event: GameEvent
    to_act: tuple[int, ...] | None = None
    """The seats that may move after it; ``None`` for an event that was stored before they were."""


class Game(NamedTuple):
    """A game at one version. Times are in milliseconds since 1970."""

    id: str
    variant: Variant
    options: Mapping[str, Value]
    """As requested; the others have the variant's defaults."""
    rules: Rules
    """The rules of the variant for these options and this number of seats."""
    seats: tuple[Seat, ...]
    join_hash: bytes | None
    arranged: bool
    deck: Deck
    version: int
    created_at: int
    updated_at: int
    round_ends: tuple[int, ...]
    """The versions of the ``RoundEnded`` events, for the score card."""
    state: State
    edition: int = 1
    """The edition of the rules at the creation of the game."""
    write_id: str = ""
    """The id of the write that led to this version; empty before the first one."""
    match_version: int = 0
    """The version of the last event that changed what can be played: all but a change of a token."""
    match_write_id: str = ""
    """The id of the write that led to ``match_version``."""
    commitments: tuple[bytes, ...] = ()
    """To the seeds of the last dealt round, if there is one, and of the next; empty if the deals cannot be proven."""
    stored_format: int = STORED_FORMAT
    """The format in which this version is stored."""
    unique_names: bool = False
    """Whether no two players may have the same name."""
    pace: int | None = None
    """Milliseconds between an event and the move of a computer player; ``None``: the default."""
    presence: Presence = ALL_PRESENT
    clock: ClockSettings | None = None
    running_clock: RunningClock = STOPPED
    """Runs only with a ``clock``."""

    @property
    def people(self) -> frozenset[int]:
        """The seats of people."""
        return frozenset([seat for seat, each in enumerate(self.seats) if each.kind == HUMAN])

    @property
    def deadline(self) -> int | None:
        """When the time for the running turn or deal is over; ``None`` without a clock, and while it does not run."""
        if self.clock is None or self.has_open_seats:
            return None
        return deadline_of(self.running_clock, self.clock, self.state, self.presence, self.people)

    @property
    def is_automatic(self) -> bool:
        """Whether anything may happen in this game without a player: a move of a bot, or the end of a time."""
        if self.clock is not None or self.presence != ALL_PRESENT:
            return True
        return any([seat.level is not None for seat in self.seats])

    @property
    def has_open_seats(self) -> bool:
        """Whether any seat is open."""
        return any([seat.kind == OPEN_SEAT for seat in self.seats])

    @property
    def status(self) -> GameStatus:
        """``waiting`` while a seat is open, else the phase of the match."""
        return "waiting" if self.has_open_seats else self.state.phase

    @property
    def to_act(self) -> tuple[int, ...]:
        """The seats that may move; none while a seat is open."""
        return () if self.has_open_seats else self.state.to_act

    def with_events(
        self,
        events: Sequence[GameEvent],
        before: State,
        at: int,
        write_id: str,
        yielding: Callable[[Iterable[GameEvent]], Iterable[GameEvent]] = iter,
    ) -> Game:
        """The game at the version that these events lead to, written at this time (``at``) by the write of that id.

        ``before`` is the state of the match before them; ``yielding`` returns events as they are.
        """
        round_ends, commitments = self.round_ends, self.commitments
        match_version, match_write_id = self.match_version, self.match_write_id
        for version, event in enumerate(events, self.version + 1):
            if isinstance(event, TokenChanged):
                continue
            match_version, match_write_id = version, write_id
            if isinstance(event, RoundEnded):
                round_ends = (*round_ends, version)
            commitments = commitments_after(commitments, event)
        after = self._replace(
            version=self.version + len(events),
            updated_at=at,
            round_ends=round_ends,
            write_id=write_id,
            match_version=match_version,
            match_write_id=match_write_id,
            stored_format=_FORMAT_WITHOUT_AUTOMATION,
            commitments=commitments,
        )
        if self.is_automatic or isinstance(events[0], PresenceEvent):
            presence, running_clock = follow_presence(after, before, [(at, event) for event in yielding(events)])
            after = after._replace(presence=presence, running_clock=running_clock)
            if after.is_automatic:
                after = after._replace(stored_format=STORED_FORMAT)
        return after

    def is_current(self, version: int) -> bool:
        """Whether nothing that can be played has changed after ``version``: at most tokens were changed."""
        return self.match_version <= version <= self.version

    def etag(self, seat: int | None) -> str:
        """The ETag of this version for the viewer at ``seat`` (``None``: a spectator). Depends on nothing hidden.

        The id of the write, which is random, distinguishes two writes that led to the same version: the first one may
        have been lost in a failover.
        """
        return f"{self.version}-{self.match_write_id}-{'s' if seat is None else seat}"

    def is_current_tag(self, tag: str, seat: int) -> bool:
        """Whether this is a version that ``is_current``, or the ETag of such a version for this seat."""
        number = tag.partition("-")[0]
        if not number.isdecimal() or len(number) > _MAX_VERSION_DIGITS:
            return False
        version = int(number)
        return self.is_current(version) and tag in (number, self._replace(version=version).etag(seat))


def follow_presence(game: Game, state: State, events: Iterable[tuple[int, GameEvent]]) -> tuple[Presence, RunningClock]:
    """Who is present and how the clock runs after these events, each with its time.

    The game has the presence and the clock before them; ``state`` is that of its match before them.
    """
    presence, running_clock, settings = game.presence, game.running_clock, game.clock
    for at, event in events:
        if isinstance(event, PresenceEvent):
            if settings is not None and isinstance(event, Returned):
                running_clock = clock_after(running_clock, settings, event, presence=presence, after=state, at=at)
            presence = presence.after(event)
        elif not isinstance(event, HostingEvent):
            state = apply(game.rules, state, event)
            if settings is not None:
                running_clock = clock_after(running_clock, settings, event, presence=presence, after=state, at=at)
            if presence.substituted is not None and ends_turn(event, state):
                presence = presence.turn_ended()
    return presence, running_clock


def commitments_after(commitments: tuple[bytes, ...], event: GameEvent) -> tuple[bytes, ...]:
    """The commitments of a game after an event."""
    if isinstance(event, Dealt) and event.proof is not None:
        return (*commitments[-1:], event.proof.next_commitment)
    if isinstance(event, Created) and event.commitment is not None:
        return (event.commitment,)
    return commitments


def rules_for(variant: str, options: Mapping[str, Value], seats: int) -> Rules:
    """The rules of a variant for these options and this number of seats; cached.

    Raises ``InvalidSetup``, and ``KeyError`` for an unknown variant.
    """
    return _rules(variant, tuple(options.items()), seats)


@lru_cache(maxsize=1024)
def _rules(variant: str, options: tuple[tuple[str, Value], ...], seats: int) -> Rules:
    return variants()[variant].rules(dict(options), seats)
