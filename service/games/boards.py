"""The table of a game with its geometry, which is kept while the table grows.

Owns the cache of geometries of a process. They are computed only when a table is asked for, never for a move or a view.
Does not depend on how a table is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Final, NamedTuple

from service.engine.layout import Layout, Placement
from service.games.game import Game
from service.render.geometry import Geometry, GrowingGeometry

MAX_ENTRIES: Final = 128
"""Geometries in the cache of a process; each has at most some 100 kB."""
EVENTS_PER_TILE: Final = 25
"""Events whose reading costs as much as the place of a tile: a quarter of a millisecond."""


class BoardView(NamedTuple):
    """The tiles on the table and where they lie; the same for every viewer."""

    version: int
    round: int
    aspect: int
    """Width by height of the planned table, in tenths."""
    layout: Layout
    geometry: Geometry
    highest: int
    """The highest number of the set."""


class Boards:
    """The tables of games, and a cache of their geometries.

    ``admit_read`` is called with the number of events whose reading costs as much as what is about to be computed; what
    it raises, the caller gets.
    """

    def __init__(self, admit_read: Callable[[int], None]) -> None:
        self._admit_read = admit_read
        self._entries: dict[int, _Entry] = {}
        self._lock = Lock()

    def at(self, game: Game, aspect: int) -> BoardView:
        """The table of the game; ``aspect`` in tenths."""
        rules, layout = game.rules, game.state.layout
        empty = GrowingGeometry(len(rules.tiles), rules.layout_spread(), aspect)
        geometry = self._geometry((game.id, aspect), layout, empty) if layout.placements else empty.geometry
        return BoardView(game.version, game.state.round, aspect, layout, geometry, rules.tiles[-1].high)

    def _geometry(self, table: tuple[str, int], layout: Layout, empty: GrowingGeometry) -> Geometry:
        """The geometry of a layout, extended from that with the most of its tiles that is cached."""
        placements = layout.placements
        keys = _keys(table, placements)
        entry = self._find(table, placements, keys)
        if entry is None or entry.placements != placements:
            known = 0 if entry is None else len(entry.placements)
            self._admit_read((len(placements) - known) * EVENTS_PER_TILE)
            grown = (empty if entry is None else entry.geometry).extended(layout)
            entry = _Entry(table, placements, grown)
            self._put(keys[-1], entry)
        return entry.geometry.geometry

    def _find(self, table: tuple[str, int], placements: tuple[Placement, ...], keys: Sequence[int]) -> _Entry | None:
        with self._lock:
            for many in range(len(placements), 0, -1):
                entry = self._entries.get(keys[many - 1])
                if entry is not None and entry.table == table and entry.placements == placements[:many]:
                    self._entries[keys[many - 1]] = self._entries.pop(keys[many - 1])  # now the last one to be evicted
                    return entry
        return None

    def _put(self, key: int, entry: _Entry) -> None:
        with self._lock:
            self._entries[key] = entry
            if len(self._entries) > MAX_ENTRIES:
                del self._entries[next(iter(self._entries))]


class _Entry(NamedTuple):
    table: tuple[str, int]
    """The id of the game, and the aspect."""
    placements: tuple[Placement, ...]
    geometry: GrowingGeometry


def _keys(table: tuple[str, int], placements: Sequence[Placement]) -> list[int]:
    """The keys of a table after each of its tiles.

    By value and not by identity, as another process may have laid tiles, and a table of the past is rebuilt.
    """
    key = hash(table)
    return [key := hash((key, placement)) for placement in placements]
