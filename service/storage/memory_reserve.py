"""The memory reserve: what new games may not use, so that running games can go on when a server is almost full.

A server with ``maxmemory`` and the policy ``noeviction`` refuses all writes when its memory is full, also moves. So new
games are refused earlier. Owns when that is; does not depend on what a game is. A server without ``maxmemory``, or that
does not show its memory, takes new games always.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any, Final, NamedTuple

from service.games.ports import StorageUnavailable
from service.storage.redis.connection import info_fields
from service.storage.redis.errors import RETRY_LATER_SECONDS
from service.storage.redis.topology import Topology

RESERVE_PERCENT: Final = 10
"""Percentage of ``maxmemory`` that new games may not use."""

REASON: Final = "memory reserve"
"""Why a new game was refused, in the log and the metrics."""

CHECK_SECONDS: Final = 1.0
"""How long the memory of a server is considered unchanged."""


class _Check(NamedTuple):
    """When a server was asked for its memory, and whether new games were refused from then on."""

    time: float
    refused: bool


class MemoryReserve:
    """Keeps a reserve on each server of a topology; ``now`` is a clock in seconds."""

    def __init__(self, topology: Topology, now: Callable[[], float] = monotonic) -> None:
        self._topology = topology
        self._now = now
        self._checks: dict[str, _Check] = {}

    def check(self, key: bytes) -> None:
        """Raise ``StorageUnavailable`` if the server that owns ``key`` takes no new games now.

        The server is asked at most once a second, by one caller; the others use the result before. Raises ``NotSent``
        or ``MaybeSent`` if it does not answer.
        """
        node = self._topology.node(key)
        check = self._checks.get(node)
        now = self._now()
        if check is None or now - check.time >= CHECK_SECONDS:
            self._checks[node] = _Check(now, check is not None and check.refused)
            (answer,) = self._topology.call(key, (b"INFO", b"memory"))
            check = self._checks[node] = _Check(now, _is_almost_full(answer))
        if check.refused:
            raise StorageUnavailable(REASON, RETRY_LATER_SECONDS)


def _is_almost_full(answer: Any) -> bool:
    """Whether an answer to INFO shows more memory in use than new games may use."""
    if not isinstance(answer, bytes):
        return False
    memory = info_fields(answer)
    used = int(memory.get(b"used_memory", 0)) - int(memory.get(b"mem_not_counted_for_evict", 0))
    limit = int(memory.get(b"maxmemory", 0))
    return limit > 0 and used * 100 > limit * (100 - RESERVE_PERCENT)
