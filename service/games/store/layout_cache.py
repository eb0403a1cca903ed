"""A cache of values computed from layouts, which extends a value when one tile is added.

Owns which layouts are cached. It holds only values computed from layouts, which are public.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Final, Generic, TypeVar

from service.engine.layout import Layout

MAX_ENTRIES: Final = 256
"""Layouts in a cache; the one that was used longest ago is evicted."""

T = TypeVar("T")


class LayoutCache(Generic[T]):
    """A cached function of a layout.

    ``make`` computes its value, and ``extend`` computes it faster, from the value of the layout before its last tile.
    It is no ``BoundedCache``: an entry moves to the key of the next layout, in every move and view, under one lock.
    """

    def __init__(self, make: Callable[[Layout], T], extend: Callable[[T, Layout], T]) -> None:
        self._make = make
        self._extend = extend
        self._entries: dict[int, tuple[Layout, T]] = {}
        self._lock = Lock()

    def __call__(self, layout: Layout) -> T:
        """Return the value for this layout."""
        placements = layout.placements
        if not placements:
            return self._make(layout)
        with self._lock:
            # The key is the identity of the last placement, an object that stays alive while it is cached. The layout
            # before the last tile is under that of the placement before. Different layouts may share a key.
            last = id(placements[-1])
            entry = self._entries.pop(last, None) or self._entries.pop(id(placements[-2:][0]), None)
            if entry is None:
                value = self._make(layout)
            elif entry[0] == layout:
                value = entry[1]
            elif entry[0].placements == placements[:-1]:
                value = self._extend(entry[1], layout)
            else:
                value = self._make(layout)
            self._entries[last] = layout, value
            if len(self._entries) > MAX_ENTRIES:
                del self._entries[next(iter(self._entries))]
        return value
