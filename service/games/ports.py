"""The ports of this package: a store, its notifications, a clock, random bytes, background work.

Owns the interfaces and the values in them, and the trace of the request that is handled; the port of reminders is in
``service.games.reminders``. Their implementations are elsewhere: Redis in ``service.games.store``, the random bytes
of the operating system in ``service.bootstrap``. Does not depend on Redis, Flask, or the rules of any game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Final, NamedTuple, Protocol

from service.games.reminders import NO_REMINDERS, ReminderKind, Reminders
from service.games.tables import OpenTables
from service.redis.errors import StorageUnavailable

IDEMPOTENCY_TTL: Final = 86_400
"""Seconds for which the store recognises an idempotency key after the write that was committed under it."""


class StoredGame(NamedTuple):
    """A game in the store: the version of its last event, and its state, which is opaque to the store."""

    version: int
    state: bytes


class IdempotencyRecord(NamedTuple):
    """The record of a write under an idempotency key: a unique name, and a digest of the request."""

    name: str
    fingerprint: bytes


class WriteRequest(NamedTuple):
    """Identifies a write, however often it is sent: its id is 8 letters, digits, ``-`` or ``_``.

    With an ``idempotency`` record, at most one write under the name of that record is committed in 24 hours.
    ``ttl``: seconds for which the game lives after this write; ``None``, as long as any game may.
    """

    id: bytes
    idempotency: IdempotencyRecord | None = None
    ttl: int | None = None


Codes = tuple[bytes | None, bytes | None]
"""The hashes of the join codes by which a game was found before a write, and is found from then on."""
NO_CODES: Final[Codes] = (None, None)


class Commit(NamedTuple):
    """A write to a game that is still at version ``expected``: its new ``state``, and one or more new ``events``.

    The stored state must also begin with ``after``: where a failover has lost moves, two histories may reach the same
    version. The new version is ``expected + len(events)``. ``reminders`` are written in the same write, as those of the
    ``tenant`` of the game, who is always the same. ``codes`` are the hashes of the join codes by which the game was
    found before, and is found from now on.
    """

    expected: int
    state: bytes
    events: Sequence[bytes]
    write: WriteRequest
    after: bytes = b""
    reminders: Reminders = NO_REMINDERS
    tenant: str = ""
    codes: Codes = NO_CODES


class PriorWrite(NamedTuple):
    """An earlier write under the same idempotency record: the version it led to, the digest of its request, its id."""

    version: int
    fingerprint: bytes
    write_id: bytes


class RecentDeletions(NamedTuple):
    """Games that were deleted lately, and those from which a player was ``erased``.

    Not ``complete`` if one of several servers could not be asked.
    """

    games: tuple[str, ...]
    erased: tuple[str, ...] = ()
    complete: bool = True


DELETIONS_KEPT_MS: Final = 600_000
"""Milliseconds for which a store tells which games were deleted."""


class EventRange(NamedTuple):
    """Consecutive events of a game: the version of the first one, and the current version of the game."""

    first: int
    events: tuple[bytes, ...]
    version: int


class GameWithEvents(NamedTuple):
    """A game, some of its events, of which the last ones may be newer, and the bytes that the store uses for both."""

    stored: StoredGame
    events: EventRange
    size: int


class Unreadable(StorageUnavailable):
    """A game of which nothing can be read here; that says nothing about other games."""


class WrittenByNewer(Unreadable):
    """A newer service wrote this game."""


class Damaged(Unreadable):
    """The stored data of this game are not what was written: only an operator can restore it."""


class Deferred(StorageUnavailable):
    """A write that nobody waits for is deferred, as there is little memory left."""


class GameExists(Exception):
    """The store already has a game with this id (ids have 128 random bits, so this is a fault, not a coincidence)."""


class JoinCodeTaken(Exception):
    """Another game is found by this join code already."""


class Store(Protocol):
    """Stores games and their events. Every method returns within three seconds or raises ``StorageUnavailable``.

    A write may also raise ``OutcomeUnknown``; sent again with the same id, it is still committed at most once.
    The ``tables`` for strangers are kept beside the games.
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

        ``reminders`` as in ``Commit``; the game is found by its ``tenant``, and by the join ``code`` with this hash.
        Returns ``None`` if this write is committed, by this attempt or an earlier one; else the earlier write under the
        same idempotency record. Raises ``GameExists``, ``JoinCodeTaken``, ``OutcomeUnknown``.
        """

    def read(self, game: str) -> StoredGame | None:
        """Return the current game, or ``None`` if it does not exist or has expired."""

    def commit(self, game: str, commit: Commit, *, again: bool = False) -> StoredGame | PriorWrite | None:
        """Replace the state of a game, and append new events, in one atomic write; the expiry starts again.

        A game whose id has no shard has no reminders.
        Returns ``None`` if it is committed, by this attempt or an earlier one; else the earlier write under the same
        idempotency record, which is looked up first; else the current game, because another write came first.
        Raises ``JoinCodeTaken``, ``KeyError`` if the game does not exist or has expired, and ``OutcomeUnknown``: also
        if the write was sent before (``again``) without an idempotency record, and the events after version
        ``expected`` have been compacted.
        """

    def delete(self, game: str, tombstone: bytes, due: int, tenant: str) -> int | None:
        """Replace a game of this tenant, at any version, by a ``tombstone`` in place of its state, one version later.

        Its events are gone, and so are its reminders but ``outbox``, which becomes ``due`` (milliseconds since 1970).
        The expiry stays as it was. Another process that commits at the same time finds the tombstone, as a write that
        came first. Returns the version of the tombstone, also if an earlier attempt wrote it; ``None`` if there is no
        such game. Raises ``OutcomeUnknown``.
        """

    def register(self, game: str, tenant: str) -> None:
        """Have a game found by its tenant, as a new one is. Raises ``OutcomeUnknown``."""

    def fence(self, game: str, record: IdempotencyRecord) -> PriorWrite:
        """Return the write that was committed under this record; if none was, have none be committed for 24 hours.

        Then the answer has version 0, and so has that to every write to this game under the record. Raises
        ``OutcomeUnknown``; may be called again.
        """

    def find_write(self, game: str, name: str) -> PriorWrite | None:
        """Return the write that was committed under the idempotency record of that name in the last 24 hours."""

    def find_code(self, shard: int, code: bytes) -> str | None:
        """Return the game of this shard that is found by the join code with this hash, unless it has expired."""

    def reserve(self, name: str, value: str) -> str:
        """Return the value that was first given under this name in the last 24 hours; ``value`` if none was.

        Raises ``OutcomeUnknown``.
        """

    def reserved(self, name: str) -> str | None:
        """Return the value that was given under this name in the last 24 hours."""

    def events(self, game: str, versions: Sequence[int]) -> list[bytes]:
        """Return the events of these versions (from 1), in the requested order.

        Those that have expired are left out.
        """

    def event_range(self, game: str, after: int, limit: int) -> EventRange | None:
        """At most ``limit`` events, beginning with the oldest stored one after version ``after``.

        ``None`` if there is no such game.
        """

    def read_with_events(self, game: str, after: int, limit: int) -> GameWithEvents | None:
        """Return a game, at most ``limit`` of its events after a version, and its size; ``None`` if there is none."""
        stored = self.read(game)
        events = None if stored is None else self.event_range(game, after, limit)
        return None if stored is None or events is None else GameWithEvents(stored, events, self.size(game))

    def size(self, game: str) -> int:
        """Return the bytes that the store uses for a game, with its events, hint and review.

        0 for one that does not exist.
        """

    def compact(self, game: str) -> None:
        """Compress all events but those of the last write: allowed at any time, meant for a finished game.

        Events, versions and expiry stay the same, and nothing is published. The ids of the compressed writes are lost:
        the store can no longer tell whether an earlier attempt committed such a write, and a creation sent again raises
        ``GameExists``. Does nothing to a game that has expired, changed meanwhile, or is compacted already. Raises
        ``OutcomeUnknown``.
        """

    def check(self) -> None:
        """Do one cheap write, in the way games are written.

        Raises ``StorageUnavailable`` if that fails; where several servers share the games, if it fails on all of them.
        """


class Deletions(Protocol):
    """The games that were deleted lately from a store, as each deletion itself notes it: none can be missed."""

    def deleted(self, within: int) -> RecentDeletions:
        """Return the games that were deleted in the last so many milliseconds, ``DELETIONS_KEPT_MS`` at most.

        By the clock of the store. Raises ``StorageUnavailable`` if no server answers.
        """

    def record_erasure(self, game: str) -> None:
        """Note that a player was erased from this game. Raises ``StorageUnavailable``, ``OutcomeUnknown``."""


class EventNotification(NamedTuple):
    """Events just appended to a game; the first one has version ``after + 1``.

    ``write_id`` is the id of the write that appended them; empty if it is not known.
    """

    after: int
    events: tuple[bytes, ...]
    write_id: bytes = b""


Listener = Callable[[EventNotification | None], None]
"""Called with a notification, or with ``None`` if some may have been lost. Must neither block nor raise."""


class EventFeed(Protocol):
    """Publishes the events that any process appends to games. A notification is a hint; the store is authoritative."""

    def watch(self, game: str, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` with every notification about a game from now on; returns a function that stops that.

        Events that are appended before the subscription takes effect are covered by a ``None`` once it does. A
        notification may arrive late or twice, and may be lost in a fault; then ``None`` is sent as soon as the feed
        works again.
        """


class TimeSource(Protocol):
    """The current time."""

    def __call__(self) -> int:
        """Milliseconds since 1970."""


class RandomBytes(Protocol):
    """A source of unpredictable bytes, such as the operating system."""

    def __call__(self, size: int, /) -> bytes:
        """``size`` unpredictable bytes."""


RunLater = Callable[[Callable[[], None]], None]
"""Runs background work, which must not raise: immediately, or later in another thread or greenlet."""


class Runtime(NamedTuple):
    """The clock and the randomness of a process, and the functions that run or yield to other work.

    ``yield_control`` is called regularly during long computations, to let other requests run.
    """

    clock: TimeSource
    random_bytes: RandomBytes
    yield_control: Callable[[], None]
    run_later: RunLater


def sequential_runtime(clock: TimeSource, random_bytes: RandomBytes) -> Runtime:
    """Return that of a process in which no request waits: all work is done at once, one after the other."""
    return Runtime(clock, random_bytes, yield_control=lambda: None, run_later=lambda work: work())


class GamesOfBots(Protocol):
    """Notes of the games that computer players may go on with alone, by tenant; also of some that have ended.

    Times are in milliseconds since 1970. Every method raises ``StorageUnavailable``, those that write also
    ``OutcomeUnknown``.
    """

    def add(self, tenant: str, game: str, at: int) -> bool:
        """Note a game at this time; returns whether it was not noted before, else the note stays as it is."""

    def all(self, tenant: str) -> dict[str, int]:
        """Return the games of this tenant that were noted, with when."""

    def remove(self, tenant: str, games: list[str]) -> None:
        """Forget games of this tenant."""


# What an operator sees of a store: what waits in it, and how full it is.


class Backlog(NamedTuple):
    """The reminders of a kind that are due and that nobody has taken: how many, and for how long the oldest one is.

    In seconds; 0 if there is none. Where very many tenants wait, those who have waited longest are counted.
    """

    waiting: int
    oldest: float


class StoreStats(NamedTuple):
    """Statistics of a store.

    ``memory`` is that of the fullest server: the bytes that it uses, and the most that it may, 0 without a limit.
    """

    backlogs: Mapping[ReminderKind, Backlog]
    memory: tuple[int, int]


# The trace of the request that is handled, or of the one from which the work that is done followed.


TRACE: Final = ContextVar("trace", default="")
"""The id of the trace of W3C Trace Context, 32 hexadecimal digits; empty without one, or where it is not sampled."""


def trace_headers(span: bytes) -> dict[str, str]:
    """Return the header ``traceparent`` of a request to somebody else; none without a trace.

    ``span``: 8 random bytes.
    """
    trace = TRACE.get()
    return {"traceparent": f"00-{trace}-{span.hex()}-01"} if trace else {}
