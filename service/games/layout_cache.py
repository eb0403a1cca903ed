"""What is made of the tiles on a table, kept while the table grows: a move lays one tile, and the others stay.

Owns which tables were seen last. It holds nothing that is not made of the layout, which everybody sees. Must not know
what is made of it.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Final, Generic, TypeVar

from service.engine.layout import Layout

MAX_ENTRIES: Final = 256
"""Tables that are kept at a time; the one that was seen longest ago makes room."""

T = TypeVar("T")


class LayoutCache(Generic[T]):
    """A function of a layout.

    ``make`` gives its value, and ``extend`` gives it from the value of a layout with the same tiles but the last, in
    less time.
    """

    def __init__(self, make: Callable[[Layout], T], extend: Callable[[T, Layout], T]) -> None:
        self._make = make
        self._extend = extend
        self._kept: dict[int, tuple[Layout, T]] = {}
        self._lock = Lock()

    def __call__(self, layout: Layout) -> T:
        """The value for this layout."""
        placements = layout.placements
        if not placements:
            return self._make(layout)
        with self._lock:
            # A layout is looked for by its last tile, then by the one before, each of which is one object as long as it
            # is kept. What is found may be another one all the same.
            last = id(placements[-1])
            found = self._kept.pop(last, None) or self._kept.pop(id(placements[-2:][0]), None)
            if found is None:
                value = self._make(layout)
            elif found[0] == layout:
                value = found[1]
            elif found[0].placements == placements[:-1]:
                value = self._extend(found[1], layout)
            else:
                value = self._make(layout)
            self._kept[last] = layout, value
            if len(self._kept) > MAX_ENTRIES:
                del self._kept[next(iter(self._kept))]
        return value
