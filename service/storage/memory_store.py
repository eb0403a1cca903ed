"""The twin of the Redis store and its feed: the same promises kept in the memory of one process, for tests.

The same contract tests run over both. Must not know: Redis, or what a state or an event means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from time import monotonic
from typing import NamedTuple

from service.games.ports import (
    IDEMPOTENCY_TTL,
    EventNotification,
    EventRange,
    Feed,
    GameExists,
    Listener,
    OutcomeUnknown,
    PriorWrite,
    Store,
    StoredGame,
    WriteRequest,
)
from service.storage.compaction import compress, decompress


class _Game(NamedTuple):
    """A game, its events from version 1, the ids of its writes by their first version, and when it is forgotten.

    Of compacted events there are no ids.
    """

    stored: StoredGame
    events: tuple[bytes, ...]
    writes: Mapping[int, bytes]
    expires: float


class _IdempotencyEntry(NamedTuple):
    """What was made under a client's key, by which write, and when it is forgotten."""

    prior: PriorWrite
    write: bytes
    expires: float


class MemoryStore(Store, Feed):
    """Keeps games as ``RedisStore`` does, for as long as the process lives.

    ``now`` is a clock in seconds; a test turns it to let games expire.
    """

    def __init__(self, ttl_seconds: int, now: Callable[[], float] = monotonic) -> None:
        if ttl_seconds < 1:
            raise ValueError("a game must live for a second at least")
        self._ttl = ttl_seconds
        self._now = now
        self._games: dict[str, _Game] = {}
        self._wishes: dict[tuple[str, str], _IdempotencyEntry] = {}
        self._reserved: dict[str, tuple[str, float]] = {}
        self._listeners: dict[str, list[Listener]] = {}
        self._lock = Lock()

    def create(self, game: str, state: bytes, events: Sequence[bytes], write: WriteRequest) -> PriorWrite | None:
        """Keep a new game; raises ``GameExists``."""
        with self._lock:
            found = self._find(game)
            if found is not None:
                if found.writes.get(1) == write.id:
                    return None
                wish = write.idempotency and self._find_idempotency(game, write.idempotency.name)
                if not wish:
                    raise GameExists(game)
                return wish.prior
            self._record_write(game, _Game(StoredGame(0, b""), (), {}, 0.0), state, events, write)
            return None

    def read(self, game: str) -> StoredGame | None:
        """The game as it is now, or ``None``."""
        with self._lock:
            found = self._find(game)
            return None if found is None else found.stored

    def commit(
        self,
        game: str,
        expected: int,
        state: bytes,
        events: Sequence[bytes],
        write: WriteRequest,
        *,
        after: bytes = b"",
        again: bool = False,
    ) -> StoredGame | PriorWrite | None:
        """Move a game on from version ``expected``; ``None`` when done."""
        with self._lock:
            wish = write.idempotency and self._find_idempotency(game, write.idempotency.name)
            if wish:
                return None if wish.write == write.id else wish.prior
            found = self._find(game)
            if found is None:
                raise KeyError(game)
            if found.stored.version != expected or not found.stored.state.startswith(after):
                if found.writes.get(expected + 1) == write.id:
                    return None
                if again and write.idempotency is None and 0 <= expected < min(found.writes) - 1:
                    raise OutcomeUnknown("compacted")
                return found.stored
            self._record_write(game, found, state, events, write)
            listeners = tuple(self._listeners.get(game, ()))
        for listener in listeners:
            listener(EventNotification(expected, tuple(events)))
        return None

    def find_write(self, game: str, name: str) -> PriorWrite | None:
        """What was made under that name."""
        with self._lock:
            found = self._find_idempotency(game, name)
            return None if found is None else found.prior

    def reserve(self, name: str, value: str) -> str:
        """The first value under this name."""
        with self._lock:
            first, expires = self._reserved.get(name, (value, 0.0))
            if expires <= self._now():
                self._reserved[name] = (value, self._now() + IDEMPOTENCY_TTL)
                return value
            return first

    def events(self, game: str, versions: Sequence[int]) -> list[bytes]:
        """The kept ones among the events of these versions."""
        with self._lock:
            found = self._find(game)
            if found is None:
                return []
            return [found.events[version - 1] for version in versions if 1 <= version <= found.stored.version]

    def event_range(self, game: str, after: int, limit: int) -> EventRange | None:
        """At most so many events after that version."""
        with self._lock:
            found = self._find(game)
            if found is None:
                return None
            first = max(min(after, found.stored.version), 0) + 1
            return EventRange(first, found.events[first - 1 : first - 1 + limit], found.stored.version)

    def compact(self, game: str) -> None:
        """Forget the ids of all writes but the last, and take the others' events from a block, as ``RedisStore``."""
        with self._lock:
            found = self._find(game)
            if found is None:
                return
            last = max(found.writes)
            block = compress(found.events[: last - 1])
            if block is not None:
                events = (*decompress(block), *found.events[last - 1 :])
                self._games[game] = found._replace(events=events, writes={last: found.writes[last]})

    def check(self) -> None:
        """Memory is always there."""

    def watch(self, game: str, listener: Listener) -> Callable[[], None]:
        """Tell ``listener`` what happens in a game from now on."""
        with self._lock:
            self._listeners.setdefault(game, []).append(listener)

        def stop() -> None:
            with self._lock:
                left = self._listeners.get(game, [])
                if listener in left:
                    left.remove(listener)

        return stop

    def _find(self, game: str) -> _Game | None:
        found = self._games.get(game)
        return None if found is None or found.expires <= self._now() else found

    def _find_idempotency(self, game: str, name: str) -> _IdempotencyEntry | None:
        found = self._wishes.get((game, name))
        return None if found is None or found.expires <= self._now() else found

    def _record_write(
        self, game: str, before: _Game, state: bytes, events: Sequence[bytes], write: WriteRequest
    ) -> None:
        version = before.stored.version + len(events)
        writes = {**before.writes, before.stored.version + 1: write.id}
        expires = self._now() + self._ttl
        self._games[game] = _Game(StoredGame(version, state), (*before.events, *events), writes, expires)
        if write.idempotency is not None:
            kept = PriorWrite(version, write.idempotency.fingerprint)
            self._wishes[game, write.idempotency.name] = _IdempotencyEntry(
                kept, write.id, self._now() + IDEMPOTENCY_TTL
            )
