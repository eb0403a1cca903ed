"""Counts in windows of time, which all workers share in Redis. While Redis fails, each worker counts in its memory.

A key contains the time of its window, so a count is never reset: it expires when the window is over.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

from service.bounded_cache import BoundedCache
from service.redis import keys
from service.redis.calls import failure_of
from service.redis.topology import Topology

FALLBACK_SECONDS: Final = 5.0
"""Seconds for which a worker uses its local counts after a failure of Redis."""
MAX_LOCAL_COUNTS: Final = 100_000
"""Local counts of a worker. Beyond that, the count that was increased longest ago is dropped."""

_log = logging.getLogger(__name__)

Count = Callable[[str, int, int], int]
"""Adds an amount to the count of a key, which expires after some seconds. Returns the new count."""


class LocalCounts:
    """Counts in the memory of this process."""

    def __init__(self) -> None:
        self._counts = BoundedCache[str, int](MAX_LOCAL_COUNTS)

    def __call__(self, key: str, amount: int, seconds: int) -> int:  # noqa: ARG002 # the cache drops old counts
        count = (self._counts.get(key) or 0) + amount
        self._counts.put(key, count)
        return count


class SharedCounts:
    """Counts in Redis, in one round trip. For ``FALLBACK_SECONDS`` after a failure, it counts in this process."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._local = LocalCounts()
        self._local_until = 0.0

    def __call__(self, key: str, amount: int, seconds: int) -> int:
        now = time.monotonic()
        if now >= self._local_until:
            if self._local_until > 0:
                self._local_until = now + FALLBACK_SECONDS  # so that only one request at a time tries Redis
            name = keys.window(key)
            try:
                answers = self._topology.call(name, (b"INCRBY", name, amount), (b"EXPIRE", name, seconds, b"NX"))
                failed = [answer for answer in answers if isinstance(answer, Exception)]
                if failed:
                    raise failure_of(failed[0])
            except Exception as error:  # of any kind: a failure of Redis must not reject a request
                _log.warning("rate limits fall back to a local count per worker: %s", type(error).__name__)
                self._local_until = time.monotonic() + FALLBACK_SECONDS
            else:
                self._local_until = 0.0
                return int(answers[0])
        return self._local(key, amount, seconds)
