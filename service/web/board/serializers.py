"""The table as JSON: the tiles and the ends with their places.

Everything here comes from a ``Geometry``; does not depend on how it was computed, or on a game.
"""

from __future__ import annotations

from service.games.model.views import TableView
from service.render.geometry import Area, Geometry, Place, PlacedEnd, PlacedTile
from service.web.fields.values import JsonObject


def board_json(table: TableView, aspect: int, geometry: Geometry, first: int) -> JsonObject:
    """Return the table with the tiles from the place ``first`` on; ``aspect`` in tenths."""
    return {
        "version": table.version,
        "round": table.round,
        "aspect": aspect / 10,
        **geometry_json(geometry, first),
    }


def geometry_json(geometry: Geometry, first: int = 0) -> JsonObject:
    """Return the geometry of a table with the tiles from the place ``first`` on."""
    return {
        "table": _area(geometry.table),
        "bounds": _area(geometry.bounds),
        "tiles": [_tile(tile) for tile in geometry.tiles[first:]],
        "ends": [_end(end) for end in geometry.ends],
    }


def _area(area: Area) -> JsonObject:
    return {"x": area.x, "y": area.y, "width": area.width, "height": area.height}


def _tile(placed: PlacedTile) -> JsonObject:
    result: JsonObject = {
        "tile": placed.tile.name,
        "x": placed.x,
        "y": placed.y,
        "rotation": placed.rotation,
        "face_down": placed.face_down,
        "seat": placed.seat,
    }
    if placed.link is not None:
        result["link"] = placed.link
    return result


def _end(placed: PlacedEnd) -> JsonObject:
    end, x, y, direction, place, place_double = placed
    return {
        "id": end.name,
        "number": end.number,
        "state": end.gate,
        "x": x,
        "y": y,
        "direction": direction,
        "place": _place(place),
        "place_double": _place(place_double),
    }


def _place(place: Place) -> JsonObject:
    return {"x": place.x, "y": place.y, "rotation": place.rotation}
