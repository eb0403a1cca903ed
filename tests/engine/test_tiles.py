"""Tiles, how they are written, and the sets they come in."""

from __future__ import annotations

import copy
import pickle
from itertools import combinations_with_replacement

import pytest

from service.engine.errors import InvalidNotation, Refusal
from service.engine.tiles import MATADOR, TILES, double_set, parse_tile, pips, sort_tiles, tiles_with


@pytest.mark.parametrize(("first", "second"), [(0, 6), (6, 0), (3, 3), (10, 12), (12, 10), (0, 18), (18, 18), (0, 0)])
def test_a_tile_is_written_with_either_half_first(first: int, second: int) -> None:
    tile = parse_tile(f"{first}-{second}")
    assert (tile.low, tile.high) == (min(first, second), max(first, second))


def test_every_tile_in_every_spelling_is_the_same_object() -> None:
    for low, high in combinations_with_replacement(range(19), 2):
        (tile,) = {parse_tile(spelling) for spelling in (f"{low}-{high}", f"{high}-{low}")}
        assert tile.name == repr(tile) == f"{low}-{high}"


@pytest.mark.parametrize(
    "text",
    [
        *["", "-", "5", "5-", "-5", "56", "5--6", "5-6-", "5-6-7", "-5-6", "5-/6", "5/-6"],
        *[" 5-6", "5-6 ", "5 -6", "5- 6", "5-6\n", "\t5-6", "5-6\0", "5\u20116", "5\u20136", "5\u22126"],
        *["5/6", "5:6", "5|6", "5_6", "5.6", "5,6", "5;6", "5\\6", "5=6", "5+6", "5x6", "5–6"],
        *["05-6", "5-06", "00-0", "0-00", "+5-6", "5-+6", "1e1-2", "0x1-2", "1.0-2", "a-b", "five-six", "None"],
        *["0-19", "19-0", "19-19", "18-19", "99-99", "0-100", "1" * 5000 + "-1"],
        *["\uff15-6", "5-\u0666", "²-3", "\U0001f030", "\ud800", "5-6-5", "5|6|", "[5,6]", '"5-6"'],
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidNotation) as caught:
        parse_tile(text)
    assert isinstance(caught.value, Refusal)


def test_a_refusal_does_not_repeat_what_was_sent() -> None:
    with pytest.raises(InvalidNotation) as caught:
        parse_tile("<script>")
    assert "script" not in str(caught.value)


@pytest.mark.parametrize(("highest", "size"), [(6, 28), (9, 55), (12, 91), (15, 136), (18, 190)])
def test_a_set_has_every_pair_of_halves_once(highest: int, size: int) -> None:
    tiles = double_set(highest)
    assert len(tiles) == size
    assert [(tile.low, tile.high) for tile in tiles] == list(combinations_with_replacement(range(highest + 1), 2))


def test_there_are_190_tiles_and_each_knows_its_place() -> None:
    assert len(TILES) == 190
    assert [tile.index for tile in TILES] == list(range(190))
    assert [tile.name for tile in TILES[:6]] == ["0-0", "0-1", "1-1", "0-2", "1-2", "2-2"]


@pytest.mark.parametrize("highest", [6, 9, 12, 15, 18])
def test_every_set_is_a_beginning_of_the_next_one(highest: int) -> None:
    assert set(double_set(highest)) == set(TILES[: len(double_set(highest))])


def test_the_facts_of_a_tile() -> None:
    tile, double = parse_tile("2-5"), parse_tile("4-4")
    assert (tile.low, tile.high, tile.pips, tile.double) == (2, 5, 7, False)
    assert (double.low, double.high, double.pips, double.double) == (4, 4, 8, True)
    assert (tile.mask, double.mask) == (0b100100, 0b10000)
    assert (tile.offers, double.offers) == (tile.mask | MATADOR, double.mask)
    assert (tile.other_half(2), tile.other_half(5), double.other_half(4)) == (5, 2, 4)


def test_14_5_the_matadors_of_a_double_six_set_are_those_that_add_up_to_seven_and_the_double_blank() -> None:
    assert [tile.name for tile in double_set(6) if tile.offers & MATADOR] == ["0-0", "1-6", "2-5", "3-4"]
    assert {tile.offers & ~MATADOR == tile.mask for tile in TILES} == {True}


def test_the_tiles_that_offer_one_of_some_bits() -> None:
    def named(wants: int) -> list[str]:
        return [tile.name for tile in double_set(6) if tiles_with(wants) >> tile.index & 1]

    assert named(0) == []
    assert named(1 << 6) == ["0-6", "1-6", "2-6", "3-6", "4-6", "5-6", "6-6"]
    assert named(MATADOR) == ["0-0", "1-6", "2-5", "3-4"]
    for wants in (1 << 18, 1 << 3 | 1 << 17, MATADOR | 1 << 2):
        assert tiles_with(wants) == sum(1 << tile.index for tile in TILES if tile.offers & wants)


def test_tiles_are_sorted_by_their_lower_half_and_then_by_their_higher_one() -> None:
    mixed = [parse_tile(name) for name in ("6-6", "1-2", "0-12", "0-3", "1-1", "10-11", "2-2", "0-0")]
    assert [tile.name for tile in sort_tiles(mixed)] == ["0-0", "0-3", "0-12", "1-1", "1-2", "2-2", "6-6", "10-11"]


def test_pips_are_added_up() -> None:
    assert pips([]) == 0
    assert pips([parse_tile("0-0"), parse_tile("5-6"), parse_tile("3-3")]) == 17


def test_a_copied_or_pickled_tile_is_still_the_same_object() -> None:
    tile = parse_tile("7-9")
    assert copy.copy(tile) is copy.deepcopy(tile) is pickle.loads(pickle.dumps(tile)) is tile


@pytest.mark.parametrize("first", range(19))
def test_the_tiles_with_some_numbers_are_those_that_have_one_of_them(first: int) -> None:
    for second, third in combinations_with_replacement(range(19), 2):
        numbers = {first, second, third}
        expected = [tile for tile in TILES if numbers & {tile.low, tile.high}]
        found = tiles_with(sum([1 << number for number in numbers]))
        assert [tile for tile in TILES if found >> tile.index & 1] == expected


def test_no_numbers_have_no_tiles_and_all_have_every_tile() -> None:
    assert tiles_with(0) == 0
    assert tiles_with((1 << 19) - 1) == (1 << len(TILES)) - 1
