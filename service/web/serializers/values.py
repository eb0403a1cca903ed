"""What several serializers share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from service.engine.tiles import Tile

JsonObject = dict[str, Any]


def tile_names(tiles: Sequence[Tile]) -> list[str]:
    """The tiles by their names."""
    return [tile.name for tile in tiles]
