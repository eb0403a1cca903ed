"""A cache of bounded size that evicts the entry whose last ``put`` or ``use`` is longest ago.

Why not `cachetools`: its caches need a lock in every caller, and every read updates the order, in Python. Each move and
each view reads several caches; here, ``get`` is one call of the dictionary.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """Values by key. ``limit`` is their maximum number; if ``weigh`` is given, the maximum sum of their weights.

    ``weigh``, and the argument of ``drop``, must neither wait nor use the cache. A value must not be ``None``.
    """

    def __init__(self, limit: int, weigh: Callable[[V], int] | None = None) -> None:
        self._limit = limit
        self._weigh = weigh
        self._weight = 0
        self._entries: dict[K, V] = {}
        self._lock = Lock()
        self.get: Callable[[K], V | None] = self._entries.get
        """Return the value of a key, or ``None``. Does not count as a use."""

    def use(self, key: K) -> V | None:
        """Return the value of a key, or ``None``. Its entry becomes the last to be evicted."""
        with self._lock:
            value = self._entries.pop(key, None)
            if value is not None:
                self._entries[key] = value
            return value

    def put(self, key: K, value: V) -> None:
        """Store the value of a key. Its entry becomes the last to be evicted."""
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
        """Remove a key; return its value, or ``None``."""
        with self._lock:
            value = self._entries.pop(key, None)
            if value is not None and self._weigh is not None:
                self._weight -= self._weigh(value)
            return value

    def drop(self, matches: Callable[[K, V], bool]) -> None:
        """Remove every entry for which ``matches`` returns true."""
        with self._lock:
            matching = [key for key, value in self._entries.items() if matches(key, value)]
        for key in matching:
            self.pop(key)
