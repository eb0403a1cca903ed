"""How much each application holds of something of which there is a fixed number.

Owns the rule of the share: an application may hold as much as nobody holds. One alone gets half of all, two a third
each, and there is always room for the next one that comes.
"""

from __future__ import annotations

from collections import Counter
from threading import Lock


def may_hold_more(held: int, held_by_all: int, most: int) -> bool:
    """Return whether who holds so many of the ``most`` may hold another."""
    return held < most - held_by_all


class Shares:
    """Counts what applications hold, at most ``most`` in all."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: Counter[str] = Counter()
        self._lock = Lock()

    def enter(self, app: str) -> bool:
        """Hold one more; ``False``, and nothing is held, if the application has its share."""
        with self._lock:
            if not may_hold_more(self._held[app], self._held.total(), self._most):
                return False
            self._held[app] += 1
            return True

    def leave(self, app: str) -> None:
        """Hold one less."""
        with self._lock:
            self._held[app] -= 1
            self._held += Counter()  # forgets who holds nothing
