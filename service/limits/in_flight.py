"""Limits the number of operations in flight, for all owners together and for each owner.

An owner may use at most as many slots as remain free. So there is always a slot for an owner that uses none.
"""

from __future__ import annotations

from collections import Counter
from threading import Lock


def room_of(own: int, total: int, limit: int) -> int:
    """Return how many more operations an owner may begin that has ``own`` of the ``total`` in flight."""
    return max((limit - total - own + 1) // 2, 0)


class InFlight:
    """Counts the operations of owners in flight, at most ``limit`` in all."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._counts: Counter[str] = Counter()
        self._lock = Lock()

    def enter(self, owner: str) -> bool:
        """Count one more operation, or return ``False`` if the owner may not begin one."""
        with self._lock:
            if not room_of(self._counts[owner], self._counts.total(), self._limit):
                return False
            self._counts[owner] += 1
            return True

    def leave(self, owner: str) -> None:
        """Count one operation less."""
        with self._lock:
            self._counts[owner] -= 1
            self._counts += Counter()  # removes owners with a count of 0
