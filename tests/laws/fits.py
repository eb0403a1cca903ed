"""How a tile may lie at an end, as the rules say it, and not as the engine finds it."""

from __future__ import annotations

from collections.abc import Iterable

from service.engine.layout import Layout
from service.engine.tiles import Tile
from service.engine.variant import Rules

TOGETHER = 7


def is_matador(tile: Tile) -> bool:
    """Whether a tile fits everywhere (rules 14.5)."""
    return tile.pips in (0, TOGETHER)


def ways(rules: Rules, tile: Tile, number: int) -> list[int | None]:
    """The outer halves that are named with which a tile joins an end of this number; one ``None`` for equal halves."""
    if rules.form.wants is None:
        return [None] if number in (tile.low, tile.high) else []
    lying = {tile.high: tile.low, tile.low: tile.high}
    return [outer for outer, inner in sorted(lying.items()) if is_matador(tile) or inner + number == TOGETHER]


def fits(rules: Rules, layout: Layout, tiles: Iterable[Tile]) -> bool:
    """Whether one of these tiles fits an open end."""
    numbers = {end.number for end in layout.ends if end.gate == "open"}
    return any(ways(rules, tile, number) for tile in tiles for number in numbers)
