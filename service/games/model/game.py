"""A hosted game: a match with its seats, the hashes of their tokens, and its deck.

Owns the value that the codec encodes and the store holds. Does not depend on how it is stored or shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple, get_args

from service.engine.deal import Deck
from service.engine.events import EVENT_TYPES, Dealt, Event, EventType, RoundEnded
from service.engine.options import Value
from service.engine.presence import (
    ALL_PRESENT,
    PRESENCE_EVENT_TYPES,
    Claimed,
    Left,
    Presence,
    PresenceEvent,
    Returned,
    TimedOut,
    ends_turn,
)
from service.engine.referee import apply
from service.engine.state import ROUND_OVER, State
from service.engine.variant import Rules, Variant
from service.engine.variants import variants
from service.games.model.clock import (
    STOPPED,
    ClockSettings,
    RunningClock,
    deadline_of,
    is_counted,
    present_people,
    sleeps,
)

SeatKind = Literal["human", "bot", "open", "remote"]
GameStatus = Literal["waiting", "playing", "round_over", "finished"]

Viewer = int | Literal["owner"] | None
"""Who looks at a game: a seat, the application that owns the game, or ``None``, a spectator."""

OWNER: Final = "owner"

Public = Literal["all", "app"]
"""Who finds the open seats of a game in the lobby: everybody, or the application that owns the game alone."""

PUBLIC: Final[tuple[Public, ...]] = get_args(Public)

_MAX_VERSION_DIGITS: Final = 10

HUMAN: Final = "human"
OPEN_SEAT: Final = "open"
BOT: Final = "bot"
REMOTE: Final = "remote"

_AUTOMATIC: Final = frozenset([BOT, REMOTE])
"""The kinds of players for whom the service acts."""

LEVELS: Final = ("random", "greedy", "expert")
"""The levels of computer players."""


class Remote(NamedTuple):
    """Where a remote player is asked for its moves, and the secret by which it recognises who asks."""

    url: str
    secret: bytes


class Seat(NamedTuple):
    """A seat: who plays it, and the hash of the token for it; for a computer player its level.

    ``ref`` is the name of the player in the application that owns the game: only that and the seat itself are told.
    """

    kind: SeatKind
    name: str | None = None
    token_hash: bytes | None = None
    level: str | None = None
    ref: str | None = None
    remote: Remote | None = None


class Ownership(NamedTuple):
    """The application that owns a game, and how it calls the game: only the application is told ``ref``.

    ``join_code`` is ``None`` unless seats are open; the application is told it, and whoever may read a lobby in which
    the game is. ``public`` says in which one.
    """

    app: str
    ref: str | None = None
    join_code: str | None = None
    public: Public | None = None


@dataclass(frozen=True, slots=True)
class Created:
    """The game was created; with the commitment to the seed of its first round, if its deals can be proven."""

    commitment: bytes | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """A player took an open seat.

    The name is not stored with the event: one that is read has an empty one, and who is shown it is shown the current
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
    """The application has given the player of a seat this name; without one, only what it calls the player itself.

    The name is stored and shown as that of ``Joined``.
    """

    seat: int
    name: str | None = None


@dataclass(frozen=True, slots=True)
class JoinCodeChanged:
    """The open seats have a new join code; the old one is revoked."""


@dataclass(frozen=True, slots=True)
class Rematched:
    """The players of a finished game began another one: the game with this id."""

    game: str


HostingEvent = Created | Joined | TokenChanged | Renamed | JoinCodeChanged | Rematched | PresenceEvent
"""An event of a hosted game that does not change the state of its match."""

GameEvent = HostingEvent | Event

_NO_PLAY: Final = frozenset([TokenChanged, Renamed, JoinCodeChanged, Rematched, Left, Returned])
"""The types of events after which a move that was meant for the version before may still be made."""
_PRESENCE: Final = frozenset(get_args(PresenceEvent))

GAME_EVENT_TYPES: Final = (
    EventType(Created, "created", 0, (("commitment", "bytes"),)),
    EventType(Joined, "joined", 1, (("seat", "seat"), ("name", "name"))),
    EventType(TokenChanged, "token_changed", 11, (("seat", "seat"),)),
    EventType(Renamed, "renamed", 17, (("seat", "seat"), ("name", "name"))),
    EventType(JoinCodeChanged, "join_code_changed", 18, ()),
    EventType(Rematched, "rematched", 19, (("game", "text"),)),
    *PRESENCE_EVENT_TYPES,
    *EVENT_TYPES,
)
"""The types of the events of a hosted game, including those of its match."""


class EventEnvelope(NamedTuple):
    """An event with the version that it led to, its time in milliseconds since 1970, and who may move after it."""

    version: int
    at: int
    event: GameEvent
    to_act: tuple[int, ...]


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
    """The version of the last event that changed what can be played: all but changes of tokens, names and join codes,
    rematches, and players who leave or come back. If a computer player takes over because a time is over, that has
    changed.
    """
    match_write_id: str = ""
    """The id of the write that led to ``match_version``."""
    commitments: tuple[bytes, ...] = ()
    """To the seeds of the last dealt round, if there is one, and of the next; empty if the deals cannot be proven."""
    is_automatic: bool = False
    """Whether anything may happen in this game without a person: a move of a bot, or the end of a time."""
    ownership: Ownership | None = None
    """``None`` for a game that belongs to no application."""
    rematch: str | None = None
    """The id of the game that follows this one."""
    rematch_of: str | None = None
    """The id of the game that this one follows; ``None`` unless it is a rematch."""
    unique_names: bool = False
    """Whether no two players may have the same name."""
    spectators: bool = True
    """Whether anybody may read the game, and not only its seats and its owner."""
    pace: int | None = None
    """Milliseconds between an event and the move of a computer player; ``None``: the default."""
    presence: Presence = ALL_PRESENT
    clock: ClockSettings | None = None
    running_clock: RunningClock = STOPPED
    """Stopped unless anything may happen without a player."""

    @property
    def people(self) -> frozenset[int]:
        """The seats of people."""
        return frozenset([seat for seat, each in enumerate(self.seats) if each.kind == HUMAN])

    @property
    def remote(self) -> frozenset[int]:
        """The seats of remote players."""
        return frozenset([seat for seat, each in enumerate(self.seats) if each.kind == REMOTE])

    @property
    def erased(self) -> frozenset[int]:
        """The seats whose player was erased (``service.games.commands.erasure``), and which nobody was given since."""
        seats = enumerate(self.seats)
        return frozenset([seat for seat, each in seats if each.kind in (HUMAN, REMOTE) and each.token_hash is None])

    @property
    def deadline(self) -> int | None:
        """When the time for the running turn or deal is over; ``None`` without a clock, and while it does not run."""
        if self.clock is None or self.has_open_seats or not self.state.round:
            return None
        return deadline_of(
            self.running_clock, self.clock, self.state, self.presence, people=self.people, remote=self.remote
        )

    @property
    def is_set_up_automatic(self) -> bool:
        """Whether the game is automatic from its creation, and not only while somebody is away."""
        return self.clock is not None or self.pace is not None or any([seat.kind in _AUTOMATIC for seat in self.seats])

    @property
    def has_open_seats(self) -> bool:
        """Whether any seat is open."""
        return any([seat.kind == OPEN_SEAT for seat in self.seats])

    @property
    def status(self) -> GameStatus:
        """``waiting`` while a seat is open and before the first deal, else the phase of the match."""
        return "waiting" if self.has_open_seats or not self.state.round else self.state.phase

    @property
    def to_act(self) -> tuple[int, ...]:
        """The seats that may move; none while a seat is open, nor before the first deal, which is nobody's move."""
        return () if self.has_open_seats or not self.state.round else self.state.to_act

    def with_seat(self, seat: int, value: Seat) -> Game:
        """The game with another value of a seat."""
        return self._replace(seats=(*self.seats[:seat], value, *self.seats[seat + 1 :]))

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
            if type(event) in _NO_PLAY:
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
            is_automatic=False,
            commitments=commitments,
        )
        if self.is_automatic or type(events[0]) in _PRESENCE:
            after, _ = follow(after, before, [(at, event) for event in yielding(events)])
        return after

    def is_current(self, version: int) -> bool:
        """Whether a move that was meant for ``version`` may be made: what can be played has not changed after it."""
        return self.match_version <= version <= self.version

    def etag(self, viewer: Viewer) -> str:
        """The ETag of this version for a viewer. Depends on nothing hidden.

        The ids of the writes that led to ``match_version`` and, if it is another, to this version are random: they
        distinguish two writes that led to the same version, the first of which was lost in a failover.
        """
        write = "" if self.write_id == self.match_write_id else f".{self.write_id}"
        return f"{self.version}-{self.match_write_id}{write}-{'s' if viewer is None else viewer}"

    def is_current_tag(self, tag: str, seat: int) -> bool:
        """Whether this is a version that ``is_current``, or the ETag of such a version for this seat."""
        number = tag.partition("-")[0]
        if not number.isdecimal() or len(number) > _MAX_VERSION_DIGITS or not self.is_current(int(number)):
            return False
        of_match, of_seat = f"{number}-{self.match_write_id}", f"-{seat}"
        if tag in (number, of_match + of_seat):
            return True
        return tag.startswith(f"{of_match}.") and tag.endswith(of_seat)


def follow(game: Game, state: State, events: Iterable[tuple[int, GameEvent]]) -> tuple[Game, State]:
    """The game with the presence and the clock that it has after these events, each with its time.

    The ``game`` has the presence and the clock before them; ``state`` is that of its match before them, and the second
    result that after them. A round ends in the same write as the move that ended it.
    """
    settings, presence, clock = game.clock, game.presence, game.running_clock
    people, remote, set_up = game.people, game.remote, game.is_set_up_automatic
    automatic = set_up or presence != ALL_PRESENT
    in_turn: int | None = None
    for at, event in events:
        if isinstance(event, PresenceEvent):
            if settings is not None:
                counted = is_counted(event.seat, state, presence, people=people, remote=remote)
                clock = _clock_after(
                    clock, settings, event, state=state, presence=presence, people=people, counted=counted, at=at
                )
            presence = presence.after(event)
            automatic = set_up or presence != ALL_PRESENT
            if not automatic:
                clock = STOPPED
            elif not clock.acted:
                clock = clock._replace(acted=at)
        elif isinstance(event, Joined):
            if automatic:
                clock = clock.turn_begins(at)._replace(acted=at)
        elif not isinstance(event, HostingEvent):
            seat = in_turn if isinstance(event, RoundEnded) else state.turn
            before, state = state, apply(game.rules, state, event)
            ended = ends_turn(event, state)
            in_turn = None if ended else seat
            if automatic:
                clock = clock._replace(acted=at)
            if settings is not None and ended and seat is not None:
                counted = is_counted(seat, before, presence, people=people, remote=remote)
                clock = clock.turn_ends(settings, seat, presence, at, counted=counted)
            if settings is not None and (ended or isinstance(event, Dealt)):
                clock = clock.turn_begins(at)
            if ended:
                presence = presence.turn_ended()
    game = game._replace(
        presence=presence,
        running_clock=clock if automatic else STOPPED,
        is_automatic=automatic,
    )
    return game, state


def _clock_after(
    clock: RunningClock,
    settings: ClockSettings,
    event: PresenceEvent,
    *,
    state: State,
    presence: Presence,
    people: frozenset[int],
    counted: bool,
    at: int,
) -> RunningClock:
    """The clock after this event; ``presence`` is that before it.

    ``counted``: whether the clock ran, if it was the turn of the event's seat.
    """
    seat = event.seat
    match event:
        case Returned():
            slept = _waits_for_people(state, presence, people)
            return clock.resumed(settings, seat, at, to_move=seat == state.turn, slept=slept)
        case Left() | TimedOut() | Claimed() if seat == state.turn and counted:
            return clock.interrupted(seat, at)
    return clock


def _waits_for_people(state: State, presence: Presence, people: frozenset[int]) -> bool:
    """Whether no time is counted because nobody is present: the game sleeps, or computer players deal."""
    return sleeps(state, presence, people) or (
        state.phase == ROUND_OVER and not present_people(state, presence, people)
    )


def changes_play(event: GameEvent) -> bool:
    """Whether an event changes what can be played, so that a move that was meant for the version before is refused."""
    return type(event) not in _NO_PLAY


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
