"""Counts what is in flight at a time, of which there is a fixed number for all owners.

An owner may have at most as many as are free for all others, so there is always room for an owner who has none.
"""

from __future__ import annotations

from collections import Counter
from threading import Lock


def room_of(own: int, total: int, limit: int) -> int:
    """Return how many more an owner may have in flight, who has ``own`` of the ``total``."""
    return max((limit - total - own + 1) // 2, 0)


class InFlight:
    """Counts what owners have in flight, at most ``limit`` in all."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._counts: Counter[str] = Counter()
        self._lock = Lock()

    def enter(self, owner: str) -> bool:
        """Count one more; ``False``, and nothing is counted, if the owner may have no more."""
        with self._lock:
            if not room_of(self._counts[owner], self._counts.total(), self._limit):
                return False
            self._counts[owner] += 1
            return True

    def leave(self, owner: str) -> None:
        """Count one less."""
        with self._lock:
            self._counts[owner] -= 1
            self._counts += Counter()  # forgets who has none
