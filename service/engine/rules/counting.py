"""What an end counts, in the games that count ends; ``layout.EndValue`` explains the arguments."""

from __future__ import annotations

from service.engine.layout import LONG, Side


def all_but_long_sides(number: int, side: Side, _paired: bool) -> int:
    """Its number; but the long side of a double counts nothing (rules 3.5)."""
    return 0 if side == LONG else number
