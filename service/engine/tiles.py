"""Tiles, their notation, and the sets of tiles.

There are 190 tiles, 0-0 to 18-18. Each is created once, so tiles are compared by identity.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from operator import attrgetter
from typing import Final

from service.engine.errors import InvalidNotation

MAX_PIPS: Final = 18

MATADOR: Final = 1 << MAX_PIPS + 1
"""The bit that marks a matador in ``Tile.offers``: 0-0, and tiles whose halves add up to 7 (rules 14.5)."""
_MATADOR_PIPS: Final = (0, 7)


class Tile:
    """A tile with the halves ``low`` and ``high``.

    * ``pips``: the sum of the halves;
    * ``mask``: one bit for the number of each half;
    * ``offers``: ``mask``, and the bit ``MATADOR`` if it is a matador. The tile fits an end that wants one of them;
    * ``index``: the position in the order 0-0, 0-1, 1-1, 0-2, …, in which every set is a prefix of the next larger set;
    * ``rank``: the sort key in a hand, by ``low``, then ``high``.
    """

    __slots__ = ("double", "high", "index", "low", "mask", "name", "offers", "pips", "rank")

    def __init__(self, low: int, high: int) -> None:
        self.low = low
        self.high = high
        self.double = low == high
        self.pips = low + high
        self.mask = 1 << low | 1 << high
        self.offers = self.mask | MATADOR if self.pips in _MATADOR_PIPS else self.mask
        self.index = high * (high + 1) // 2 + low
        self.rank = low * (MAX_PIPS + 1) + high
        self.name = f"{low}-{high}"

    def other_half(self, number: int) -> int:
        """Return the half that remains open when the half ``number`` touches the layout."""
        return self.high if number == self.low else self.low

    def shared_number(self, other: Tile) -> int:
        """Return the number that this tile and another one have in common."""
        return self.low if self.low in (other.low, other.high) else self.high

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return parse_tile, (self.name,)


TILES: Final = tuple(Tile(low, high) for high in range(MAX_PIPS + 1) for low in range(high + 1))
"""All tiles by index."""

_by_rank = attrgetter("rank")

_SETS_BY_BIT: Final = tuple(
    [sum([1 << tile.index for tile in TILES if tile.offers >> bit & 1]) for bit in range(MATADOR.bit_length())]
)
"""For each bit of ``Tile.offers``: the tiles that offer it, as a bit set of their indexes."""


_SPLIT: Final = 10
"""The number of low bits that the first lookup table covers; a second table covers the others."""


def _sets_by_mask(by_bit: Sequence[int]) -> tuple[int, ...]:
    """Return a table: at the index ``mask``, the tiles that offer at least one bit of this mask."""
    sets = [0]
    for tiles in by_bit:
        sets += [earlier | tiles for earlier in sets]
    return tuple(sets)


_SETS_BY_LOW_BITS: Final = _sets_by_mask(_SETS_BY_BIT[:_SPLIT])
_SETS_BY_HIGH_BITS: Final = _sets_by_mask(_SETS_BY_BIT[_SPLIT:])


def tiles_with(wants: int) -> int:
    """Return the tiles that offer at least one of these bits, as a bit set of their indexes."""
    return _SETS_BY_LOW_BITS[wants & (1 << _SPLIT) - 1] | _SETS_BY_HIGH_BITS[wants >> _SPLIT]


TILES_BY_TEXT: Final = {text: tile for tile in TILES for text in (f"{tile.low}-{tile.high}", f"{tile.high}-{tile.low}")}
"""Each tile by both of its spellings, ``"0-6"`` and ``"6-0"``."""


def parse_tile(text: str) -> Tile:
    """Return the tile with this name, ``"0-6"`` or ``"6-0"``.

    Raises ``InvalidNotation`` for any other text, also with spaces or leading zeros.
    """
    tile = TILES_BY_TEXT.get(text)
    if tile is None:
        raise InvalidNotation('A tile is written like "0-6": two halves from 0 to 18.')
    return tile


def double(number: int) -> Tile:
    """Return the tile with this number on both halves."""
    return TILES[number * (number + 3) // 2]


@cache
def double_set(highest: int) -> tuple[Tile, ...]:
    """Return the set up to double-``highest``, sorted: (n+1)(n+2)/2 tiles (rules 3.1, 5.1)."""
    return sort_tiles(TILES[: (highest + 1) * (highest + 2) // 2])


def sort_tiles(tiles: Iterable[Tile]) -> tuple[Tile, ...]:
    """Return the tiles sorted by lower half, then by higher half: 0-0, 0-1, …, 1-1, 1-2, …"""
    return tuple(sorted(tiles, key=_by_rank))


def sort_hands(hands: Iterable[Iterable[Tile]]) -> tuple[tuple[Tile, ...], ...]:
    """Return these hands, each sorted as by ``sort_tiles``."""
    return tuple([tuple(sorted(hand, key=_by_rank)) for hand in hands])


def pips(tiles: Iterable[Tile]) -> int:
    """Return the sum of the pips of these tiles."""
    return sum([tile.pips for tile in tiles])
