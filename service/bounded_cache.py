"""A mapping of bounded size, which evicts what was put there, or taken by ``use``, longest ago.

Owns the bound, the order of eviction, and that threads and greenlets may share a cache.

It is not `cachetools`, whose caches every caller has to lock, and which counts each read as a use, in Python: each move
and each view looks into several caches here, and a look is one call of the dictionary.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """Values by their keys, at most ``limit`` of them; if ``weigh`` is given, at most that weight together.

    ``weigh`` and what is passed to ``drop`` neither wait nor use the cache. No value is ``None``.
    """

    def __init__(self, limit: int, weigh: Callable[[V], int] | None = None) -> None:
        self._limit = limit
        self._weigh = weigh
        self._weight = 0
        self._entries: dict[K, V] = {}
        self._lock = Lock()
        self.get: Callable[[K], V | None] = self._entries.get
        """The value of a key, or ``None``; not counted as a use."""

    def use(self, key: K) -> V | None:
        """Return the value of a key, which becomes the last one to be evicted, or ``None``."""
        with self._lock:
            value = self._entries.pop(key, None)
            if value is not None:
                self._entries[key] = value
            return value

    def put(self, key: K, value: V) -> None:
        """Keep a value, which becomes the last one to be evicted, instead of the one that was kept for its key."""
        with self._lock:
            before = self._entries.pop(key, None)
            self._entries[key] = value
            if self._weigh is None:
                if len(self._entries) > self._limit:
                    del self._entries[next(iter(self._entries))]
                return
            self._weight += self._weigh(value) - (0 if before is None else self._weigh(before))
            while self._weight > self._limit:
                self._weight -= self._weigh(self._entries.pop(next(iter(self._entries))))

    def pop(self, key: K) -> V | None:
        """Return the value of a key, which is not kept any more, or ``None``."""
        with self._lock:
            value = self._entries.pop(key, None)
            if value is not None and self._weigh is not None:
                self._weight -= self._weigh(value)
            return value

    def drop(self, matches: Callable[[K, V], bool]) -> None:
        """Keep no entry any more for which ``matches`` returns true."""
        with self._lock:
            matching = [key for key, value in self._entries.items() if matches(key, value)]
        for key in matching:
            self.pop(key)
