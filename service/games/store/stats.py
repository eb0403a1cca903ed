"""Statistics of a store in Redis or Valkey: due reminders, counted by one script, and the memory of the servers.

Owns the commands and their limit: one round trip to each server a second (``ReusedResult``). No command searches for
keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Final, Generic, TypeVar, get_args

from service.games.ports import Backlog, StoreStats, TimeSource
from service.games.reminders import NOT_OF_GAMES, ReminderKind
from service.redis import keys
from service.redis.calls import RedisCalls, evalsha
from service.redis.connection import Command, info_fields
from service.redis.errors import StorageUnavailable
from service.redis.server_clock import system_clock

VALID_MS: Final = 1000
"""Milliseconds for which a ``ReusedResult`` is valid."""
MAX_TENANTS: Final = 512
"""The maximum number of tenants whose reminders of a kind are counted in one call for all shards."""
_MAX_OF_A_SHARD: Final = 16
"""The maximum number of these tenants in a call for one shard."""
_KINDS: Final[tuple[ReminderKind, ...]] = get_args(ReminderKind)
_WITH_TENANTS: Final = tuple([b"0" if kind in NOT_OF_GAMES else b"1" for kind in _KINDS])

Call = tuple[bytes, Command]
T = TypeVar("T")


class ReusedResult(Generic[T]):
    """The result of ``call``, or the ``StorageUnavailable`` that it raised, at most a second old by the ``clock``.

    If several callers come at the same time, one calls, and the others wait for the result.
    """

    _result: T

    def __init__(self, call: Callable[[], T], clock: TimeSource = system_clock) -> None:
        self._call = call
        self._clock = clock
        self._lock = Lock()
        self._called_at: int | None = None
        self._failure: tuple[str, int] | None = None

    def get(self) -> T:
        """Return the result. Raises ``StorageUnavailable``."""
        with self._lock:
            if self._called_at is None or not 0 <= self._clock() - self._called_at < VALID_MS:
                try:
                    self._result, self._failure = self._call(), None
                except StorageUnavailable as error:
                    self._failure = error.reason, error.retry_after
                self._called_at = self._clock()
            if self._failure is not None:
                raise StorageUnavailable(*self._failure)
            return self._result


class RedisStats:
    """Statistics of the servers of a topology."""

    def __init__(self, calls: RedisCalls) -> None:
        self._calls = calls
        self.read = ReusedResult(self._read_all).get

    def _read_all(self) -> StoreStats:
        primaries = self._calls.one_for_each_primary(keys.CHECKS)
        calls = [*[(key, (b"INFO", b"memory")) for key in primaries], *self._backlog_calls()]
        answers = self._calls.run_each("figures", calls)
        memories = [_memory(answer) for answer in answers[: len(primaries)]]
        fullest = max(memories, key=lambda memory: (memory[0] / memory[1] if memory[1] else 0.0, memory[0]))
        return StoreStats(_backlogs(answers[len(primaries) :]), fullest)

    def _backlog_calls(self) -> list[Call]:
        """Return the calls that read backlogs: one for all shards, or with several servers one for each shard."""
        if self._calls.topology.scripts_span_slots:
            names = [key for kind in _KINDS for key in keys.reminder_sets(kind)]
            return [(names[0], evalsha("backlog", names, MAX_TENANTS, *_WITH_TENANTS))]
        shards = zip(*[keys.reminder_sets(kind) for kind in _KINDS], strict=True)
        return [(shard[0], evalsha("backlog", shard, _MAX_OF_A_SHARD, *_WITH_TENANTS)) for shard in shards]


def _memory(answer: Any) -> tuple[int, int]:
    """Return the bytes that a server uses, and their limit."""
    fields = info_fields(answer) if isinstance(answer, bytes) else {}
    return int(fields.get(b"used_memory", 0)), int(fields.get(b"maxmemory", 0))


def _backlogs(answers: Sequence[Any]) -> dict[ReminderKind, Backlog]:
    """Return the backlog of each kind over all shards that answered."""
    backlogs = {kind: Backlog(0, 0.0) for kind in _KINDS}
    for answer in answers:
        if answer is not None:
            now, *counts = answer
            for kind, waiting, oldest in zip(_KINDS, counts[::2], counts[1::2], strict=True):
                before = backlogs[kind]
                backlogs[kind] = Backlog(before.waiting + waiting, max(before.oldest, (now - oldest) / 1000))
    return backlogs
