"""The table as JSON, the tiles and the ends with their places, and the cache of geometries."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Final, NamedTuple

from service.bounded_cache import BoundedCache
from service.engine.layout import Placement
from service.games.model.views import TableView, without_none
from service.render.geometry import Geometry, GrowingGeometry, PlacedEnd
from service.web.fields.strict import JsonObject


def board_json(geometry: Geometry, *, version: int, round_number: int, aspect: int, first: int = 0) -> JsonObject:
    """Return the table with its tiles from index ``first`` on; ``aspect``: width by height in tenths."""
    return {
        "version": version,
        "round": round_number,
        "aspect": aspect / 10,
        "table": geometry.table._asdict(),
        "bounds": geometry.bounds._asdict(),
        "tiles": [without_none(placed._asdict() | {"tile": placed.tile.name}) for placed in geometry.tiles[first:]],
        "ends": [_end(end) for end in geometry.ends],
    }


def _end(placed: PlacedEnd) -> JsonObject:
    end, x, y, direction, place, place_double = placed
    return {
        "id": end.name,
        "number": end.number,
        "state": end.gate,
        "x": x,
        "y": y,
        "direction": direction,
        "place": place._asdict(),
        "place_double": place_double._asdict(),
    }


MAX_ENTRIES: Final = 128
"""Maximum number of geometries in a cache, each of at most some 100 kB; the least recently used is evicted."""


class GeometryCache:
    """A cache of geometries of tables; ``yield_control`` is called after each tile, to let other requests run."""

    def __init__(self, yield_control: Callable[[], None]) -> None:
        self._yield_control = yield_control
        self._entries = BoundedCache[int, _Entry](MAX_ENTRIES)

    def get(self, table: TableView, aspect: int, admit: Callable[[int], None]) -> Geometry:
        """Return the geometry of a table, extended from the cached geometry that has the most of its tiles.

        ``aspect``: width by height in tenths.
        ``admit``: called with the number of places to compute, those of new tiles and of all ends; it may raise.
        """
        placements = table.layout.placements
        table_id = table.game, table.round, aspect
        keys = _keys(table_id, placements)
        entry = self._find(table_id, placements, keys)
        known = 0 if entry is None else len(entry.placements)
        if entry is None or known < len(placements):
            admit(len(placements) - known + len(table.layout.ends))
            if entry is None:
                start = GrowingGeometry(table.tiles_in_set, table.spread, aspect, pause=self._yield_control)
            else:
                start = entry.geometry
            entry = _Entry(table_id, placements, start.extended(table.layout) if placements else start)
            self._entries.put(keys[-1], entry)
        return entry.geometry.geometry

    def forget(self, games: Container[str]) -> None:
        self._entries.drop(lambda _, entry: entry.table_id[0] in games)

    def _find(self, table_id: _TableId, placements: tuple[Placement, ...], keys: Sequence[int]) -> _Entry | None:
        """Return the cached entry that has the most tiles of this table."""
        for count in range(len(placements), -1, -1):
            entry = self._entries.use(keys[count])
            if entry is not None and (entry.table_id, entry.placements) == (table_id, placements[:count]):
                return entry
        return None


_TableId = tuple[str, int, int]
"""The id of a game, the round, and the aspect in tenths.

Equal placements may lie on different sides in different rounds: a placement does not say on which of the two long sides
of the lead its tile lies.
"""


class _Entry(NamedTuple):
    table_id: _TableId
    placements: tuple[Placement, ...]
    geometry: GrowingGeometry


def _keys(table_id: _TableId, placements: Sequence[Placement]) -> list[int]:
    """Return the keys of a table before its first tile and after each tile.

    They depend on values, not on identity: placements from the store, or of an earlier version, are new objects.
    """
    key = hash(table_id)
    return [key, *[key := hash((key, placement)) for placement in placements]]
