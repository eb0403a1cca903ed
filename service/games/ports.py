"""The interfaces that this package needs: a store, its notifications, a clock, random bytes, background work.

Owns these interfaces, their values, and the trace id of the current request. The interface of the reminder queue is in
``service.games.reminders``. ``service.games.store`` implements the store in Redis, ``service.bootstrap`` passes the
random bytes of the operating system. Does not depend on Redis, Flask, or the rules of any game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Final, NamedTuple, Protocol

from service.games.reminders import NO_REMINDERS, ReminderKind, Reminders
from service.games.tables import OpenTables
from service.redis.errors import StorageUnavailable

IDEMPOTENCY_TTL: Final = 86_400
"""Seconds for which the store recognises an idempotency key after its write was committed."""


class StoredGame(NamedTuple):
    """A game in the store: the version of its last event, and its state, which is opaque to the store."""

    version: int
    state: bytes


class IdempotencyRecord(NamedTuple):
    """The record of a write under an idempotency key: a unique name, and a digest of the request."""

    name: str
    fingerprint: bytes


class WriteRequest(NamedTuple):
    """The identity of a write, which stays the same when the write is sent again.

    ``id``: 48 random bits in URL-safe base64, 8 characters; it must only differ from other writes at the same version.
    ``idempotency``: at most one write in 24 hours is committed under its name.
    ``ttl``: seconds for which the game lives after this write; ``None``: the longest lifetime of the store.
    """

    id: bytes
    idempotency: IdempotencyRecord | None = None
    ttl: int | None = None


Codes = tuple[bytes | None, bytes | None]
"""The hash of the join code of a game before a write, and after it; ``None`` if no code is valid."""
NO_CODES: Final[Codes] = (None, None)


class Commit(NamedTuple):
    """A write to a game that must still be at version ``expected``.

    ``state``: the new state.
    ``events``: one or more; the new version is ``expected + len(events)``.
    ``prefix``: the bytes with which the stored state must begin, because after a failover that lost moves, two
    histories can reach the same version.
    ``reminders``: written in the same script, for the ``tenant`` of the game, which never changes.
    """

    expected: int
    state: bytes
    events: Sequence[bytes]
    write: WriteRequest
    prefix: bytes = b""
    reminders: Reminders = NO_REMINDERS
    tenant: str = ""
    codes: Codes = NO_CODES


class PriorWrite(NamedTuple):
    """An earlier write under the same idempotency record; version 0 is a fence (``Store.fence``)."""

    version: int
    fingerprint: bytes
    write_id: bytes


class RecentDeletions(NamedTuple):
    """The ids of recently deleted games, and of games from which a player was recently ``erased``.

    ``complete``: whether all servers answered.
    """

    games: tuple[str, ...]
    erased: tuple[str, ...] = ()
    complete: bool = True


DELETIONS_KEPT_MS: Final = 600_000
"""Milliseconds for which a store remembers a deletion."""


class EventRange(NamedTuple):
    """Consecutive events of a game; ``first``: the version of the first one; ``version``: that of the game."""

    first: int
    events: tuple[bytes, ...]
    version: int


class GameWithEvents(NamedTuple):
    """A game, some of its events, and the bytes that the store uses for the game. Events may be newer than the game."""

    stored: StoredGame
    events: EventRange
    size: int


class Unreadable(StorageUnavailable):
    """This process cannot read this game; it can still read other games."""


class WrittenByNewer(Unreadable):
    """A newer service wrote this: its format, variant, edition or type is unknown here. An upgrade is in progress."""

    def __init__(self) -> None:
        super().__init__("newer format", retry_after=30)


class Damaged(Unreadable):
    """The stored data of this game fail their checksum: only an operator can restore the game."""

    def __init__(self) -> None:
        super().__init__("damaged", retry_after=600)


class Deferred(StorageUnavailable):
    """A write for which no person waits is deferred, because the store has little memory left."""


class GameExists(Exception):
    """The store already has a game with this id. Ids have 128 random bits, so this is no coincidence."""


class JoinCodeTaken(Exception):
    """Another game already has this join code."""


class Store(Protocol):
    """Stores games and their events. Every method returns within three seconds or raises ``StorageUnavailable``.

    A write can also raise ``OutcomeUnknown``. If it is sent again with the same id, it is still committed at most once.
    ``tables`` stores the tables at which strangers can sit down.
    """

    tables: OpenTables

    def create(
        self,
        game: str,
        state: bytes,
        events: Sequence[bytes],
        write: WriteRequest,
        *,
        reminders: Reminders = NO_REMINDERS,
        tenant: str = "",
        code: bytes | None = None,
    ) -> PriorWrite | None:
        """Store a new game; its version is the number of its ``events``, at least one.

        ``reminders`` as in ``Commit``. The index of all games lists the game under its ``tenant``; ``code`` is the hash
        of its join code. Returns ``None`` if this write is committed, by this attempt or an earlier one; else the
        earlier write under the same idempotency record. Raises ``GameExists``, ``JoinCodeTaken``, ``OutcomeUnknown``.
        """

    def read(self, game: str) -> StoredGame | None:
        """Return the current game, or ``None`` if it does not exist or has expired."""

    def commit(self, game: str, commit: Commit, *, again: bool = False) -> StoredGame | PriorWrite | None:
        """Replace the state of a game and append new events, in one atomic write. The lifetime starts again.

        Writes no reminders for a game whose id has no shard.
        Returns ``None`` if the write is committed, by this attempt or an earlier one; else the earlier write under the
        same idempotency record, which is looked up first, or the current game, if another write came first. Raises
        ``JoinCodeTaken``, ``KeyError`` without the game, and ``OutcomeUnknown``, also if the write was sent before
        (``again``) without a record, and the events after version ``expected`` have been compacted.
        """

    def delete(self, game: str, tombstone: bytes, due: int, tenant: str) -> int | None:
        """Replace the state of a game of this tenant by a ``tombstone``, one version later, whatever its version is.

        Removes the events, and all reminders except ``outbox``, which becomes ``due`` (milliseconds since 1970), but
        keeps the expiry. A commit at the same time gets the tombstone as its current game. Returns the version of the
        tombstone, also if an earlier attempt wrote it; ``None`` if the game does not exist. Raises ``OutcomeUnknown``.
        """

    def register(self, game: str, tenant: str) -> None:
        """Add a game to the index of all games, under its tenant, as ``create`` does. Raises ``OutcomeUnknown``."""

    def fence(self, game: str, record: IdempotencyRecord) -> PriorWrite:
        """Return the write that was committed under this record; if there is none, prevent one for 24 hours.

        Then the result has version 0, as for every later write under the record. Raises ``OutcomeUnknown``.
        """

    def find_write(self, game: str, name: str) -> PriorWrite | None:
        """Return the write that was committed under the idempotency record of that name in the last 24 hours."""

    def find_code(self, shard: int, code: bytes) -> str | None:
        """Return the id of the game of this shard whose join code has this hash; ``None`` if there is none."""

    def reserve(self, name: str, value: str) -> str:
        """Store ``value`` under this name for 24 hours, unless a value is stored there; return the stored value."""

    def reserved(self, name: str) -> str | None:
        """Return the value that ``reserve`` stored under this name in the last 24 hours."""

    def events(self, game: str, versions: Sequence[int]) -> list[bytes]:
        """Return the events of these versions (from 1), in the requested order, without those that have expired."""

    def event_range(self, game: str, after: int, limit: int) -> EventRange | None:
        """Return at most ``limit`` events from the oldest stored one after a version; ``None`` without the game."""

    def read_with_events(self, game: str, after: int, limit: int) -> GameWithEvents | None:
        """Return a game, at most ``limit`` of its events after a version, and its size; ``None`` if it is missing."""
        stored = self.read(game)
        events = None if stored is None else self.event_range(game, after, limit)
        return None if stored is None or events is None else GameWithEvents(stored, events, self.size(game))

    def size(self, game: str) -> int:
        """Return the bytes that the store uses for a game with its events, hint and review; 0 if it is missing."""

    def compact(self, game: str) -> None:
        """Compress all events except those of the last write: allowed at any time, meant for a finished game.

        Keeps events, versions and expiry, and publishes nothing. Loses the ids of the compressed writes: the store can
        no longer find out whether an earlier attempt committed such a write, and a creation that is sent again raises
        ``GameExists``. Does nothing if the game has expired, is written at the same time, or is already compacted.
        Raises ``OutcomeUnknown``.
        """

    def check(self) -> None:
        """Do one cheap write as games are written. Raises ``StorageUnavailable`` if it fails on all servers."""


class Deletions(Protocol):
    """The recent deletions of a store. Each deletion is recorded in the script that deletes, so none can be missed."""

    def deleted(self, within: int) -> RecentDeletions:
        """Return the games that were deleted in the last ``within`` milliseconds, at most ``DELETIONS_KEPT_MS``.

        Raises ``StorageUnavailable`` if no server answers.
        """

    def record_erasure(self, game: str) -> None:
        """Record that a player was erased from this game. Raises ``StorageUnavailable``, ``OutcomeUnknown``."""


class EventNotification(NamedTuple):
    """Events just appended to a game, the first with version ``after + 1``; ``write_id`` is empty if unknown."""

    after: int
    events: tuple[bytes, ...]
    write_id: bytes = b""


Listener = Callable[[EventNotification | None], None]
"""Called with a notification, or with ``None`` if notifications may have been lost. Must neither block nor raise."""


class EventFeed(Protocol):
    """Publishes the events that any process appends to games. A notification is a hint; the store is authoritative."""

    def watch(self, game: str, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` with every notification about a game from now on; return a function that stops that.

        A notification can arrive late or twice. ``None`` comes when the subscription takes effect, because events may
        have been appended before, and after a fault, in which notifications can be lost.
        """


TimeSource = Callable[[], int]
"""Returns milliseconds since 1970."""
RandomBytes = Callable[[int], bytes]
"""Returns this number of unpredictable bytes."""
RunLater = Callable[[Callable[[], None]], None]
"""Runs background work now, or later in another thread or greenlet. The work must not raise."""


class Runtime(NamedTuple):
    """The clock of a process, its source of random bytes, and its scheduling.

    ``yield_control``: called in long computations, to let other requests run.
    """

    clock: TimeSource
    random_bytes: RandomBytes
    yield_control: Callable[[], None]
    run_later: RunLater


def sequential_runtime(clock: TimeSource, random_bytes: RandomBytes) -> Runtime:
    """Return the runtime of a process that serves no requests: background work runs at once, and nothing yields."""
    return Runtime(clock, random_bytes, yield_control=lambda: None, run_later=lambda work: work())


class GamesOfBots(Protocol):
    """Lists for each tenant the games that can go on with computer players alone. Games that have ended may remain.

    Times are in milliseconds since 1970. Raises ``StorageUnavailable``, in writes also ``OutcomeUnknown``.
    """

    def add(self, tenant: str, game: str, at: int) -> bool:
        """Add a game with this time; return ``False``, and change nothing, if the list already has the game."""

    def all(self, tenant: str) -> dict[str, int]:
        """Return the listed games of this tenant, and when each was added."""

    def remove(self, tenant: str, games: list[str]) -> None:
        """Remove games of this tenant from its list."""


# Statistics for operators: reminders that wait, and the memory in use.


class Backlog(NamedTuple):
    """The reminders of a kind that are due and not leased. With very many tenants, those that wait longest are counted.

    ``oldest``: seconds since the oldest one became due; 0 if there are none.
    """

    waiting: int
    oldest: float


class StoreStats(NamedTuple):
    """Statistics of a store. ``memory``: bytes in use on the fullest server, and their limit (0 for no limit)."""

    backlogs: Mapping[ReminderKind, Backlog]
    memory: tuple[int, int]


# The trace of the current request. Background work has the trace of the request that caused it.


TRACE: Final = ContextVar("trace", default="")
"""The trace id of W3C Trace Context, 32 hexadecimal digits; empty without a trace, or if it is not sampled."""


def trace_headers(span: bytes) -> dict[str, str]:
    """Return the header ``traceparent`` of an outgoing request, if there is a trace. ``span``: 8 random bytes."""
    trace = TRACE.get()
    return {"traceparent": f"00-{trace}-{span.hex()}-01"} if trace else {}
