"""What is made of the tiles on a table, kept while the table grows: a move lays one tile, and the others stay.

Owns which tables were seen last. It holds nothing that is not made of the layout, which everybody sees. Must not know
what is made of it.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Final, Generic, TypeVar

from service.engine.layout import Placement

MOST_TABLES: Final = 256
"""Tables that are kept at a time; the one that was seen longest ago makes room."""

T = TypeVar("T")
Placements = tuple[Placement, ...]


class Growing(Generic[T]):
    """A function of the placements of a layout.

    ``make`` gives its value, and ``extend`` gives it from the value of all placements but the last, in less time.
    """

    def __init__(self, make: Callable[[Placements], T], extend: Callable[[T, Placements], T]) -> None:
        self._make = make
        self._extend = extend
        self._kept: dict[int, tuple[Placements, T]] = {}
        self._lock = Lock()

    def __call__(self, placements: Placements) -> T:
        """The value for these placements."""
        if not placements:
            return self._make(placements)
        with self._lock:
            # By their last tiles, each of which is one object as long as it is kept. It is only a guess, for the lead
            # may have been turned over since.
            last = id(placements[-1])
            before = self._kept.pop(last, None) or self._kept.pop(id(placements[-2:][0]), None)
            if before is None:
                value = self._make(placements)
            elif before[0] == placements:
                value = before[1]
            elif before[0] == placements[:-1]:
                value = self._extend(before[1], placements)
            else:
                value = self._make(placements)
            self._kept[last] = placements, value
            if len(self._kept) > MOST_TABLES:
                del self._kept[next(iter(self._kept))]
        return value
