"""Statistics of a store in Redis or Valkey: due reminders, counted by one script, and the memory of the servers.

Owns the commands and their limit: one round trip to each server a second, however often the statistics are read. No
command searches for keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from time import monotonic
from typing import Any, Final, get_args

from service.games.ports import Backlog, StoreStats
from service.games.reminders import NOT_OF_GAMES, ReminderKind
from service.redis import keys
from service.redis.calls import RedisCalls, evalsha
from service.redis.connection import Command, info_fields
from service.redis.errors import StorageUnavailable

VALID_SECONDS: Final = 1.0
"""Seconds for which statistics are reused, so that frequent reads cost nothing."""
MAX_TENANTS: Final = 512
"""The maximum number of tenants whose reminders of a kind are counted in one call for all shards."""
_MAX_OF_A_SHARD: Final = 16
"""The maximum number of these tenants in a call for one shard."""
_KINDS: Final[tuple[ReminderKind, ...]] = get_args(ReminderKind)
_WITH_TENANTS: Final = tuple([b"0" if kind in NOT_OF_GAMES else b"1" for kind in _KINDS])

Call = tuple[bytes, Command]


class RedisStats:
    """Statistics of the servers of a topology."""

    def __init__(self, calls: RedisCalls) -> None:
        self._calls = calls
        self._lock = Lock()
        self._read_at: float | None = None
        self._stats: StoreStats | None = None

    def read(self) -> StoreStats:
        """Return the statistics, at most a second old. Raises ``StorageUnavailable``.

        If several callers come at the same time, one reads the statistics, and the others wait for the result.
        """
        with self._lock:
            if self._read_at is None or monotonic() - self._read_at >= VALID_SECONDS:
                self._stats = None
                try:
                    self._stats = self._read_all()
                finally:
                    self._read_at = monotonic()
            stats = self._stats
        if stats is None:
            raise StorageUnavailable("connection")
        return stats

    def _read_all(self) -> StoreStats:
        primaries = self._calls.one_for_each_primary(keys.CHECKS)
        answers = self._calls.run_each(
            "figures", [*[(key, (b"INFO", b"memory")) for key in primaries], *self._backlog_calls()]
        )
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
