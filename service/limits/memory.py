"""The memory reserve: what new things may not use, so that running games can go on when a server is almost full.

A server with ``maxmemory`` and the policy ``noeviction`` refuses all writes when its memory is full, also moves. So new
games, applications and endpoints are refused earlier. Owns when that is; does not depend on what they are. A server
without ``maxmemory``, or that does not show its memory, takes new things always.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any, Final, NamedTuple

from service.redis.calls import RETRY_LATER_SECONDS, FailureObserver, unanswered
from service.redis.connection import MaybeSent, NotSent, info_fields
from service.redis.errors import StorageUnavailable
from service.redis.topology import Topology

RESERVE_PERCENT: Final = 10
"""Percentage of ``maxmemory`` that new things may not use."""

REASON: Final = "memory reserve"
"""Why something new was refused, in the log and the metrics."""

CHECK_SECONDS: Final = 1.0
"""How long the memory of a server is considered unchanged."""


class Memory(NamedTuple):
    """The bytes that a server uses, and the most that it may; both 0 if it does not show them, or has no limit."""

    used: int = 0
    limit: int = 0

    @property
    def is_reserved(self) -> bool:
        """Whether only the reserve is left."""
        return self.used * 100 > self.limit * (100 - RESERVE_PERCENT)

    @classmethod
    def shown(cls, answer: Any) -> Memory:
        """Return what an answer to INFO shows."""
        if not isinstance(answer, bytes):
            return cls()
        fields = info_fields(answer)
        limit = int(fields.get(b"maxmemory", 0))
        used = int(fields.get(b"used_memory", 0)) - int(fields.get(b"mem_not_counted_for_evict", 0))
        return cls(used, limit) if limit else cls()


class _Check(NamedTuple):
    """When a server was asked for its memory, and whether new games were refused from then on."""

    time: float
    refused: bool


class MemoryReserve:
    """Keeps a reserve on each server of a topology; ``now`` is a clock in seconds.

    ``observe_failure`` is called with the reason of each refusal.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        observe_failure: FailureObserver,
        now: Callable[[], float] = monotonic,
    ) -> None:
        self._topology = topology
        self._now = now
        self._observe_failure = observe_failure
        self._checks: dict[str, _Check] = {}

    def require_space(self, key: bytes) -> None:
        """Raise ``StorageUnavailable`` while the server that owns ``key`` takes nothing new, or does not answer."""
        try:
            self.check(key)
        except StorageUnavailable as error:
            self._observe_failure(error.reason)
            raise
        except (NotSent, MaybeSent) as error:
            unavailable = unanswered(error)
            self._observe_failure(unavailable.reason)
            raise unavailable from error

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
            check = self._checks[node] = _Check(now, Memory.shown(answer).is_reserved)
        if check.refused:
            raise StorageUnavailable(REASON, RETRY_LATER_SECONDS)
