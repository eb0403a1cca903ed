"""A store that fails as a network and a server do, at random and reproducibly."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum
from random import Random
from typing import Any, TypeVar

from service.games.ports import EventRange, GameExists, IdempotencyRecord, PriorWrite, Store, StoredGame, WriteRequest
from service.games.reminders import NO_REMINDERS, Reminders
from service.redis.errors import OutcomeUnknown, StorageUnavailable

TIME_OUT = 1000
"""Milliseconds after which a call without an answer times out."""

T = TypeVar("T")


class Fault(Enum):
    """A fault of one call."""

    LOST_BEFORE = "lost before"
    LOST_AFTER = "lost after"
    TIME_OUT_AFTER = "time-out after"
    READ_ONLY = "read-only"
    FULL = "full"
    DELAYED = "delayed"
    """No answer comes in time, and it is executed later, after other writes, or never."""
    REPEATED = "repeated"
    """It is executed and answered, and executed once more later."""


OF_WRITES = tuple(Fault)
OF_READS = (Fault.LOST_BEFORE, Fault.LOST_AFTER, Fault.TIME_OUT_AFTER)


class SimulatedTime:
    """A clock in milliseconds that advances with every call."""

    def __init__(self) -> None:
        self.now = 1_767_728_000_000


class FaultyStore(Store):
    """Another store behind an unreliable connection.

    Every call yields by ``pause`` before it is executed, and sometimes again before it returns, so that others come in
    between. The fraction ``rate`` of the calls fails, by ``random``; ``injected`` counts the faults.
    """

    def __init__(
        self,
        store: Store,
        random: Random,
        rate: float,
        *,
        time: SimulatedTime,
        pause: Callable[[], object],
        injected: Counter[str],
    ) -> None:
        self._store = store
        self._random = random
        self._rate = rate
        self._time = time
        self._pause = pause
        self._injected = injected
        self._delayed: list[Callable[[], object]] = []
        self.tables = store.tables
        self.created: set[str] = set()

    def deliver(self) -> None:
        """Execute or drop one of the delayed writes, if there is one."""
        if self._delayed:
            late = self._delayed.pop(self._random.randrange(len(self._delayed)))
            if self._random.random() < 0.8:
                with contextlib.suppress(KeyError, GameExists, OutcomeUnknown):
                    late()

    def deliver_all(self) -> None:
        """Execute or drop all delayed writes."""
        while self._delayed:
            self.deliver()

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
        self.created.add(game)
        kept: Any = {"reminders": reminders, "tenant": tenant, "code": code}
        return self._write(lambda: self._store.create(game, state, events, write, **kept))

    def reserved(self, name: str) -> str | None:
        return self._read(lambda: self._store.reserved(name))

    def read(self, game: str) -> StoredGame | None:
        return self._read(lambda: self._store.read(game))

    def commit(self, *args: Any, **options: Any) -> StoredGame | PriorWrite | None:
        return self._write(lambda: self._store.commit(*args, **options))

    def delete(self, game: str, tombstone: bytes, due: int, tenant: str) -> int | None:
        return self._write(lambda: self._store.delete(game, tombstone, due, tenant))

    def register(self, game: str, tenant: str) -> None:
        self._write(lambda: self._store.register(game, tenant))

    def find_code(self, shard: int, code: bytes) -> str | None:
        return self._read(lambda: self._store.find_code(shard, code))

    def fence(self, game: str, record: IdempotencyRecord) -> PriorWrite:
        return self._write(lambda: self._store.fence(game, record))

    def find_write(self, game: str, name: str) -> PriorWrite | None:
        return self._write(lambda: self._store.find_write(game, name))

    def reserve(self, name: str, value: str) -> str:
        return self._write(lambda: self._store.reserve(name, value))

    def events(self, game: str, versions: Sequence[int]) -> list[bytes]:
        return self._read(lambda: self._store.events(game, versions))

    def event_range(self, game: str, after: int, limit: int) -> EventRange | None:
        return self._read(lambda: self._store.event_range(game, after, limit))

    def size(self, game: str) -> int:
        return self._read(lambda: self._store.size(game))

    def compact(self, game: str) -> None:
        self._write(lambda: self._store.compact(game))

    def check(self) -> None:
        self._read(self._store.check)

    def _read(self, work: Callable[[], T]) -> T:
        self._begin()
        if (fault := self._draw(OF_READS)) is None:
            return self._answered(work())
        if fault is Fault.TIME_OUT_AFTER:
            self._time.now += TIME_OUT
        raise StorageUnavailable(fault.value)

    def _write(self, work: Callable[[], T]) -> T:
        self._begin()
        fault = self._draw(OF_WRITES)
        if fault is None:
            return self._answered(work())
        if fault in (Fault.READ_ONLY, Fault.FULL):
            raise StorageUnavailable(fault.value)
        if fault in (Fault.DELAYED, Fault.REPEATED):
            self._delayed.append(work)
        if fault is Fault.REPEATED:
            return self._answered(work())
        if fault in (Fault.LOST_AFTER, Fault.TIME_OUT_AFTER):
            self._answered(work())
        if fault in (Fault.TIME_OUT_AFTER, Fault.DELAYED):
            self._time.now += TIME_OUT
        raise OutcomeUnknown(fault.value)

    def _begin(self) -> None:
        self._pause()
        self._time.now += self._random.randrange(3)

    def _answered(self, answer: T) -> T:
        if self._random.random() < 0.3:
            self._pause()
        return answer

    def _draw(self, faults: tuple[Fault, ...]) -> Fault | None:
        if self._random.random() >= self._rate:
            return None
        fault = self._random.choice(faults)
        self._injected[fault.value] += 1
        return fault
