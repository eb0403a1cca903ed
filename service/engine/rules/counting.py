"""What an end counts, in the games that count ends; ``layout.EndValue`` explains the arguments."""

from __future__ import annotations

from service.engine.layout import END, LONG, Side


def all_but_long_sides(number: int, side: Side, _paired: bool) -> int:
    """Its number; but the long side of a double counts nothing (rules 3.5)."""
    return 0 if side == LONG else number


def double_both_halves(number: int, side: Side, paired: bool) -> int:
    """Its number; a double with an uncovered long side both its halves, once; a short side nothing (rules 8.7, 9.5)."""
    if side == END:
        return number
    if side == LONG:
        return number if paired else 2 * number
    return 0
