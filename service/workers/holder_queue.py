"""What waits in a process, by holder: the holders take turns.

Owns the order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class HolderQueue(Generic[T]):
    """Of each holder, the first that came is the first that is taken; who was served is behind all others."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[T]] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def put(self, holder: str, item: T) -> None:
        """Add one of this holder."""
        self._waiting.setdefault(holder, deque()).append(item)

    def take(self) -> T:
        """Return the next one, which waits no longer. Raises ``StopIteration`` if there is none."""
        holder = next(iter(self._waiting))
        items = self._waiting.pop(holder)
        item = items.popleft()
        if items:
            self._waiting[holder] = items
        return item

    def keep(self, wanted: Callable[[T], bool]) -> None:
        """Drop all others."""
        kept = {holder: deque(filter(wanted, items)) for holder, items in self._waiting.items()}
        self._waiting = {holder: items for holder, items in kept.items() if items}
