"""Tiles as text: formatting and scanning. ``-`` stands for none.

Owns this spelling, which ``events``, ``score`` and the transcript share.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from service.engine.tiles import TILES, Tile
from service.records.notation.scanner import Scanner

_TILE: Final = re.compile(r"[0-9]{1,2}-[0-9]{1,2}")
_ANOTHER: Final = re.compile(" [0-9]")
_NAMED: Final = {tile.name: tile for tile in TILES}


def format_tiles(tiles: Iterable[Tile]) -> str:
    """Return the names of the tiles, separated by spaces."""
    return " ".join([tile.name for tile in tiles]) or "-"


def scan_tile(scanner: Scanner) -> Tile:
    """Read a tile, written with its lower half first."""
    start = scanner.at
    tile = _NAMED.get(scanner.match(_TILE, "a tile"))
    if tile is None:
        scanner.fail('A tile is written like "0-6": two halves from 0 to 18, the lower one first.', start)
    return tile


def scan_tiles(scanner: Scanner) -> tuple[Tile, ...]:
    """Read all tiles that follow."""
    if scanner.accept("-"):
        return ()
    tiles = [scan_tile(scanner)]
    while scanner.peek(_ANOTHER):
        scanner.expect(" ")
        tiles.append(scan_tile(scanner))
    return tuple(tiles)
