"""Tiles, their notation, and the sets they come in.

A tile is one of 190 values, double-zero to double-eighteen, each created once: every reference to a tile is the same
object, so tiles are compared by identity. Owns their numbers and their spelling.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence
from functools import cache
from operator import attrgetter
from typing import Final

from service.engine.errors import InvalidNotation

MAX_PIPS: Final = 18

MATADOR: Final = 1 << MAX_PIPS + 1
"""The bit of ``Tile.offers`` of 0-0 and of the tiles whose halves add up to 7 (rules 14.5)."""
_MATADOR_PIPS: Final = (0, 7)


class Tile:
    """Two halves, the smaller one first.

    ``pips`` is the sum of the halves, ``mask`` has the bit of each half's number set, and ``offers`` also the bit
    ``MATADOR`` of a matador: that is what an end may want. ``index`` is the tile's place in the order 0-0, 0-1, 1-1,
    0-2, … in which every set is a prefix of the next larger one.
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
        """Return the number by which this tile touches another one; two different tiles never share both."""
        return self.low if self.low in (other.low, other.high) else self.high

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return parse_tile, (self.name,)


TILES: Final = tuple(Tile(low, high) for high in range(MAX_PIPS + 1) for low in range(high + 1))
"""All tiles by their index."""

_by_rank = attrgetter("rank")

_SETS_BY_BIT: Final = tuple(
    [sum([1 << tile.index for tile in TILES if tile.offers >> bit & 1]) for bit in range(MATADOR.bit_length())]
)
"""By the place of a bit: the tiles that offer it, as the set of their indexes."""


_SPLIT: Final = 10
"""The bits of a mask that are looked up in a first table; the others are in a second one."""


def _sets_by_mask(by_bit: Sequence[int]) -> tuple[int, ...]:
    """By every mask of these bits, of which the first is bit 0: the tiles that offer one of them."""
    sets = [0]
    for tiles in by_bit:
        sets += [earlier | tiles for earlier in sets]
    return tuple(sets)


_SETS_BY_LOW_BITS: Final = _sets_by_mask(_SETS_BY_BIT[:_SPLIT])
_SETS_BY_HIGH_BITS: Final = _sets_by_mask(_SETS_BY_BIT[_SPLIT:])


def tiles_with(wants: int) -> int:
    """Return the tiles that offer one of these bits, as a set: bit i stands for the tile with the index i."""
    return _SETS_BY_LOW_BITS[wants & (1 << _SPLIT) - 1] | _SETS_BY_HIGH_BITS[wants >> _SPLIT]


TILES_BY_TEXT: Final = {text: tile for tile in TILES for text in (f"{tile.low}-{tile.high}", f"{tile.high}-{tile.low}")}
"""By every text that names it: either half first."""


def parse_tile(text: str) -> Tile:
    """Return the tile named by ``text``: ``"0-6"``, also ``"6-0"``.

    Raises ``InvalidNotation`` for anything else, spaces and leading zeros included.
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
    """Return the tiles by their lower half, then by their higher one: 0-0, 0-1, …, 1-1, 1-2, …"""
    return tuple(sorted(tiles, key=_by_rank))


def add_tile(hand: Sequence[Tile], tile: Tile) -> tuple[Tile, ...]:
    """Return a sorted hand with one more tile, sorted."""
    tiles = list(hand)
    insort(tiles, tile, key=_by_rank)
    return tuple(tiles)


def pips(tiles: Iterable[Tile]) -> int:
    """Return the pips of all these tiles together."""
    return sum([tile.pips for tile in tiles])
