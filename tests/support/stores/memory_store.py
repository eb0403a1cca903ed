"""The in-memory counterpart of the Redis store, its queue of reminders and its feed.

The same contract tests run over both. Does not depend on Redis, nor on what a state or an event means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from time import time
from typing import NamedTuple, get_args

from service.games.ports import (
    DELETIONS_KEPT_MS,
    IDEMPOTENCY_TTL,
    Commit,
    Deletions,
    EventFeed,
    EventNotification,
    EventRange,
    GameExists,
    IdempotencyRecord,
    JoinCodeTaken,
    Listener,
    PriorWrite,
    RecentDeletions,
    Store,
    StoredGame,
    WriteRequest,
)
from service.games.reminders import (
    NO_ALLOWANCE,
    NO_REMINDERS,
    ClockReading,
    LeasedReminder,
    OutageAllowance,
    ReminderKind,
    ReminderQueue,
    Reminders,
    Rescheduled,
    TenantLimit,
)
from service.games.store.compression import compress, decompress
from service.games.store.heartbeats import Heartbeat, reading_of
from service.games.tables import ListedTable, Listing, OpenTables, Place, Seeker
from service.limits.fair_queue import Due, Turns
from service.redis.errors import OutcomeUnknown
from service.redis.shards import shard_of


class _Game(NamedTuple):
    """A game, its events from version 1, the ids of its writes by their first version, and when it expires.

    Compacted events have no ids.
    """

    stored: StoredGame
    events: tuple[bytes, ...]
    writes: Mapping[int, bytes]
    expires: float


class _IdempotencyEntry(NamedTuple):
    """The write that was made under an idempotency key, and when this entry expires."""

    prior: PriorWrite
    expires: float


class _NoTables(OpenTables):
    """Lists no table, so that every seeker opens one."""

    def claim(self, listing: Listing, seeker: Seeker, new: ListedTable, *, leaving: str = "") -> Place:
        return Place(new.game, 0, offered=True)

    def put(self, listing: Listing, table: ListedTable, *, seen_at: int | None = None) -> None:
        return None

    def mark_seen(self, game: str, seats: Sequence[int], at: int) -> None:
        return None

    def last_seen(self, game: str) -> Mapping[int, int]:
        return {}


class MemoryStore(Store, ReminderQueue, Deletions, EventFeed):
    """Keeps games as ``RedisStore`` does, for as long as the process lives.

    ``now`` is a clock in seconds since 1970; a test may advance it to let games expire.
    """

    def __init__(self, ttl_seconds: int, now: Callable[[], float] = time) -> None:
        if ttl_seconds < 1:
            raise ValueError("a game must live for at least one second")
        self.tables: OpenTables = _NoTables()
        self._ttl = ttl_seconds
        self._now = now
        self._games: dict[str, _Game] = {}
        self._idempotency: dict[tuple[str, str], _IdempotencyEntry] = {}
        self._reserved: dict[str, tuple[str, float]] = {}
        self._codes: dict[bytes, str] = {}
        self._reminders: dict[ReminderKind, dict[str, float]] = {kind: {} for kind in get_args(ReminderKind)}
        self._tenants: dict[str, str] = {}
        self._turns = {kind: Turns() for kind in get_args(ReminderKind)}
        self._deleted: dict[str, int] = {}
        self._erased: dict[str, int] = {}
        self._heartbeat: Heartbeat | None = None
        self._listeners: dict[str, list[Listener]] = {}
        self._lock = Lock()

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
        """Store a new game; raises ``GameExists``, ``JoinCodeTaken``."""
        with self._lock:
            current = self._find(game)
            if current is not None:
                if current.writes.get(1) == write.id:
                    return None
                entry = write.idempotency and self._find_idempotency(game, write.idempotency.name)
                if not entry:
                    raise GameExists(game)
                return entry.prior
            self._record_code(game, None, code)
            self._record_write(game, _Game(StoredGame(0, b""), (), {}, 0.0), state, events, write)
            self._record_reminders(game, reminders, tenant)
            return None

    def read(self, game: str) -> StoredGame | None:
        """The current game, or ``None``."""
        with self._lock:
            current = self._find(game)
            return None if current is None else current.stored

    def commit(self, game: str, commit: Commit, *, again: bool = False) -> StoredGame | PriorWrite | None:
        """Replace the state of a game at an expected version; ``None`` when done."""
        expected, state, events, write, prefix, reminders, tenant, codes = commit
        with self._lock:
            entry = write.idempotency and self._find_idempotency(game, write.idempotency.name)
            if entry:
                return None if entry.prior.write_id == write.id else entry.prior
            current = self._find(game)
            if current is None:
                raise KeyError(game)
            if current.stored.version != expected or not current.stored.state.startswith(prefix):
                if current.writes.get(expected + 1) == write.id:
                    return None
                if again and write.idempotency is None and 0 <= expected < min(current.writes, default=0) - 1:
                    raise OutcomeUnknown("compacted")
                return current.stored
            self._record_code(game, *codes)
            self._record_write(game, current, state, events, write)
            self._record_reminders(game, reminders, tenant)
            listeners = tuple(self._listeners.get(game, ()))
        for listener in listeners:
            listener(EventNotification(expected, tuple(events), write.id))
        return None

    def delete(self, game: str, tombstone: bytes, due: int, tenant: str) -> int | None:
        """Replace a game by a tombstone; returns the version of that."""
        with self._lock:
            current = self._find(game)
            if current is None:
                return None
            if current.stored.state == tombstone:
                return current.stored.version
            version = current.stored.version + 1
            self._games[game] = _Game(StoredGame(version, tombstone), (), {}, current.expires)
            if shard_of(game) is not None:
                self._tenants[game] = tenant
                for kind in get_args(ReminderKind):
                    self._remind(kind, game, due if kind == "outbox" else None)
                self._deleted[game] = self.server_time()
            listeners = tuple(self._listeners.get(game, ()))
        for listener in listeners:
            listener(EventNotification(version, ()))
        return version

    def deleted(self, within: int) -> RecentDeletions:
        """The games that were deleted lately."""
        with self._lock:
            now = self.server_time()
            self._deleted = {game: at for game, at in self._deleted.items() if now - at < DELETIONS_KEPT_MS}
            deleted, erased = [
                tuple([game for game, at in noted.items() if now - at <= within])
                for noted in (self._deleted, self._erased)
            ]
            return RecentDeletions(deleted, erased)

    def record_erasure(self, game: str) -> None:
        """Note that a player was erased from this game."""
        with self._lock:
            self._erased[game] = self.server_time()

    def register(self, game: str, tenant: str) -> None:
        """Do nothing: nobody looks for the games of a process here."""

    def fence(self, game: str, record: IdempotencyRecord) -> PriorWrite:
        """The write under this record, or one that is none."""
        with self._lock:
            entry = self._find_idempotency(game, record.name)
            if entry is None:
                prior = PriorWrite(0, record.fingerprint, b"fence---")
                entry = self._idempotency[game, record.name] = _IdempotencyEntry(prior, self._now() + IDEMPOTENCY_TTL)
            return entry.prior

    def find_write(self, game: str, name: str) -> PriorWrite | None:
        """The write under that idempotency key."""
        with self._lock:
            entry = self._find_idempotency(game, name)
            return None if entry is None else entry.prior

    def find_code(self, shard: int, code: bytes) -> str | None:
        """The game with this code."""
        with self._lock:
            game = self._codes.get(code)
            return game if game is not None and shard_of(game) == shard and self._find(game) is not None else None

    def reserve(self, name: str, value: str) -> str:
        """The first value under this name."""
        with self._lock:
            first, expires = self._reserved.get(name, (value, 0.0))
            if expires <= self._now():
                self._reserved[name] = (value, self._now() + IDEMPOTENCY_TTL)
                return value
            return first

    def reserved(self, name: str) -> str | None:
        """The value under this name."""
        with self._lock:
            value, expires = self._reserved.get(name, ("", 0.0))
            return value if expires > self._now() else None

    def events(self, game: str, versions: Sequence[int]) -> list[bytes]:
        """The events of these versions that are kept."""
        with self._lock:
            current = self._find(game)
            if current is None:
                return []
            return [current.events[version - 1] for version in versions if 1 <= version <= len(current.events)]

    def event_range(self, game: str, after: int, limit: int) -> EventRange | None:
        """At most ``limit`` events after that version."""
        with self._lock:
            current = self._find(game)
            if current is None:
                return None
            if not current.events:  # a tombstone
                return EventRange(current.stored.version + 1, (), current.stored.version)
            first = max(min(after, current.stored.version), 0) + 1
            return EventRange(first, current.events[first - 1 : first - 1 + limit], current.stored.version)

    def size(self, game: str) -> int:
        """The bytes of a game."""
        with self._lock:
            current = self._find(game)
            return 0 if current is None else len(current.stored.state) + sum(map(len, current.events))

    def compact(self, game: str) -> None:
        """Drop the ids of all writes but the last, and pass their events through a block, as ``RedisStore`` does."""
        with self._lock:
            current = self._find(game)
            if current is None or not current.writes:
                return
            last = max(current.writes)
            block = compress(current.events[: last - 1])
            if block is not None:
                events = (*decompress(block), *current.events[last - 1 :])
                self._games[game] = current._replace(events=events, writes={last: current.writes[last]})

    def check(self) -> None:
        """Do nothing: memory is always available."""

    def take(
        self, kind: ReminderKind, limit: int, lease: int, limit_of: TenantLimit | None = None
    ) -> list[LeasedReminder]:
        """Games that are due, the earliest first."""
        with self._lock:
            now, reminders = self.server_time(), self._reminders[kind]
            due = [(at, game) for game, at in reminders.items() if at <= now]
            places = [Due(place, self._tenants.get(game, ""), 1, at) for place, (at, game) in enumerate(due)]
            taken = sorted([due[place] for place, _ in self._turns[kind].share(places, limit, limit_of)])
            leased = now + lease + 0.5  # no write makes a game due at half a millisecond
            reminders.update({game: leased for _, game in taken})
            return [
                LeasedReminder(game, int(at), leased, self._read_clock(game), self._tenants.get(game, ""))
                for at, game in taken
            ]

    def reschedule(self, kind: ReminderKind, reminders: Sequence[Rescheduled]) -> int:
        """Change or remove leased reminders."""
        with self._lock:
            kept = [each for each in reminders if self._reminders[kind].get(each[0].game) == each[0].leased]
            for reminder, at in kept:
                self._remind(kind, reminder.game, at)
            return len(kept)

    def renew(self, kind: ReminderKind, reminder: LeasedReminder, lease: int) -> LeasedReminder | None:
        """Lease a reminder again."""
        leased = self.server_time() + lease + 0.5
        with self._lock:
            if self._reminders[kind].get(reminder.game) != reminder.leased:
                return None
            self._remind(kind, reminder.game, leased)
            return reminder._replace(leased=leased)

    def restore(self, kind: ReminderKind, game: str, tenant: str, at: int) -> None:
        """Add a reminder where there is none."""
        if shard_of(game) is not None:
            with self._lock:
                self._tenants[game] = tenant
                self._reminders[kind].setdefault(game, at)

    def is_set(self, kind: ReminderKind, game: str, tenant: str) -> bool:  # games know their tenants
        """Whether the game has a reminder."""
        with self._lock:
            return game in self._reminders[kind]

    def reminded(self, kind: ReminderKind, tenant: str) -> list[str]:
        """All games of a tenant with a reminder."""
        with self._lock:
            return [game for game in self._reminders[kind] if self._tenants.get(game, "") == tenant]

    def reminder(self, kind: ReminderKind, name: str) -> float | None:
        """When a reminder is due, or the end of its lease."""
        with self._lock:
            return self._reminders[kind].get(name)

    def remind(self, kind: ReminderKind, name: str, at: float | None) -> None:
        """Write a reminder that is not written with a game, or remove it."""
        with self._lock:
            self._remind(kind, name, at)

    def server_time(self) -> int:
        """The time of the clock of this store."""
        return round(self._now() * 1000)

    def read_clock(self, game: str) -> ClockReading:
        """The time of this store, and the allowance of the deadlines of this game."""
        with self._lock:
            return self._read_clock(game)

    def _read_clock(self, game: str) -> ClockReading:
        heartbeat = None if shard_of(game) is None else self._heartbeat
        return reading_of(self.server_time(), None if heartbeat is None else b"%d %d %d %d" % heartbeat)

    def beat(self) -> None:
        """Note that players can move."""
        with self._lock:
            now = self.server_time()
            self._heartbeat = Heartbeat(now, *(self._heartbeat or Heartbeat(now)).allowance_at(now))

    def allowance(self, game: str) -> OutageAllowance:
        """The allowance after the last heartbeat."""
        with self._lock:
            known = None if shard_of(game) is None else self._heartbeat
            return NO_ALLOWANCE if known is None else OutageAllowance(known.since, known.until)

    def watch(self, game: str, listener: Listener) -> Callable[[], None]:
        """Notify ``listener`` of the events of a game from now on."""
        with self._lock:
            self._listeners.setdefault(game, []).append(listener)

        def stop() -> None:
            with self._lock:
                left = self._listeners.get(game, [])
                if listener in left:
                    left.remove(listener)

        return stop

    def _find(self, game: str) -> _Game | None:
        current = self._games.get(game)
        return None if current is None or current.expires <= self._now() else current

    def _find_idempotency(self, game: str, name: str) -> _IdempotencyEntry | None:
        entry = self._idempotency.get((game, name))
        return None if entry is None or entry.expires <= self._now() else entry

    def _record_write(
        self, game: str, before: _Game, state: bytes, events: Sequence[bytes], write: WriteRequest
    ) -> None:
        version = before.stored.version + len(events)
        writes = {**before.writes, before.stored.version + 1: write.id}
        expires = self._now() + (self._ttl if write.ttl is None else min(write.ttl, self._ttl))
        self._games[game] = _Game(StoredGame(version, state), (*before.events, *events), writes, expires)
        if write.idempotency is not None:
            prior = PriorWrite(version, write.idempotency.fingerprint, write.id)
            entry = _IdempotencyEntry(prior, self._now() + IDEMPOTENCY_TTL)
            self._idempotency[game, write.idempotency.name] = entry

    def _record_code(self, game: str, before: bytes | None, after: bytes | None) -> None:
        if before != after:
            other = None if after is None else self._codes.get(after)
            if other is not None and self._find(other) is not None:
                raise JoinCodeTaken(game)
            if before is not None:
                self._codes.pop(before, None)
            if after is not None:
                self._codes[after] = game

    def _record_reminders(self, game: str, reminders: Reminders, tenant: str) -> None:
        if shard_of(game) is not None:
            self._tenants[game] = tenant
            for kind, at in reminders.items():
                self._remind(kind, game, at)

    def _remind(self, kind: ReminderKind, game: str, at: float | None) -> None:
        if at is None:
            self._reminders[kind].pop(game, None)
        else:
            self._reminders[kind][game] = at
