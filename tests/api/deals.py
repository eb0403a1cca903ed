"""Arranged deals for ``POST /v1/games``; each hand is written as a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from service.engine.variants import variants
from tests.engine.table import arrange


def deal(variant: str, *hands: str, stock: str = "", seats: int = 0, **options: object) -> dict[str, Any]:
    """A whole deal of these hands (``"0-0 0-1 …"``; ``…`` fills up, an empty text is an eliminated seat)."""
    rules = variants()[variant].rules(options, seats or len(hands))
    arranged = arrange(rules, hands, stock)
    return {"hands": [_names(hand) for hand in arranged.hands], "stock": _names(arranged.stock)}


def _names(tiles: Sequence[Any]) -> list[str]:
    return [tile.name for tile in tiles]
