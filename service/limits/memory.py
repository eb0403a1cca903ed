"""The memory reserve, which only running games may use, so that they can continue when a server is almost full.

A server with ``maxmemory`` and the policy ``noeviction`` refuses all writes when its memory is full, even moves. So new
games, applications and endpoints are refused earlier. They are never refused on a server without ``maxmemory``, or one
that does not show its memory.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from time import monotonic
from typing import Any, Final, NamedTuple

from service.redis.calls import RETRY_LATER_SECONDS, FailureObserver, failure_of
from service.redis.connection import MaybeSent, NotSent, info_fields
from service.redis.errors import StorageUnavailable
from service.redis.topology import Topology

RESERVE_PERCENT: Final = 10
"""The reserve, in percent of ``maxmemory``."""

REASON: Final = "memory reserve"
"""The reason of refusals because of the reserve, in the log and the metrics."""

CHECK_SECONDS: Final = 1.0
"""Seconds for which the result of a check is used again."""


class Memory(NamedTuple):
    """The memory of a server in bytes. Both fields are 0 if it has no limit or does not show it."""

    used: int = 0
    limit: int = 0

    @property
    def is_reserved(self) -> bool:
        """Return whether only the reserve is left."""
        return self.used * 100 > self.limit * (100 - RESERVE_PERCENT)

    @classmethod
    def from_info(cls, answer: Any) -> Memory:
        if not isinstance(answer, bytes):
            return cls()
        fields = info_fields(answer)
        limit = int(fields.get(b"maxmemory", 0))
        used = int(fields.get(b"used_memory", 0)) - int(fields.get(b"mem_not_counted_for_evict", 0))
        return cls(used, limit) if limit else cls()


class MemoryReserve:
    """Keeps a reserve on each server of a topology.

    ``observe_failure``: is called with the reason of each refusal.
    ``now``: a monotonic clock, in seconds.
    """

    def __init__(
        self, topology: Topology, *, observe_failure: FailureObserver, now: Callable[[], float] = monotonic
    ) -> None:
        self._topology = topology
        self._now = now
        self._observe_failure = observe_failure
        self._checks: dict[str, tuple[float, bool]] = {}
        """For each server: when its last check began, in seconds, and whether new things are refused until the next."""

    def require_space(self, key: bytes) -> None:
        """Raise ``StorageUnavailable`` if the owner of ``key`` has only its reserve left, or does not answer.

        At most one caller in ``CHECK_SECONDS`` sends a request to the server; the others use the last result.
        """
        try:
            node = self._topology.node(key)
            began, refused = self._checks.get(node, (-inf, False))
            now = self._now()
            if now - began >= CHECK_SECONDS:
                self._checks[node] = now, refused
                (answer,) = self._topology.call(key, (b"INFO", b"memory"))
                refused = Memory.from_info(answer).is_reserved
                self._checks[node] = now, refused
        except (NotSent, MaybeSent) as error:
            unavailable = failure_of(error)
            self._observe_failure(unavailable.reason)
            raise unavailable from error
        if refused:
            self._observe_failure(REASON)
            raise StorageUnavailable(REASON, RETRY_LATER_SECONDS)
