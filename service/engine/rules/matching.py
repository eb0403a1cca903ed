"""What an end wants, in the games in which it is not its own number."""

from __future__ import annotations

from typing import Final

from service.engine.tiles import MATADOR

_TOGETHER: Final = 7


def seven_or_a_matador(number: int) -> int:
    """The number with which it adds up to 7, or a matador; a blank only a matador (rules 14.4, 14.5)."""
    return MATADOR | (1 << _TOGETHER - number if number else 0)
