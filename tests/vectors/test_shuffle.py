"""The shuffle is what its description says, to the tile, and is fair.

``shuffle.json`` is for whoever writes the shuffle in another language: seed texts with their seeds,
shuffles, and deals. It is a promise, so no flag rewrites it. ``described`` below was written from the
docstring of ``service.engine.deal`` alone.
"""

from __future__ import annotations

import hmac
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import count, permutations
from pathlib import Path
from typing import Any, Final

import pytest

from service.engine.deal import Deck, length_prefixed, seed_from_text, shuffle, split
from service.engine.events import Dealt
from service.engine.moves import DEAL
from service.engine.referee import advance
from service.engine.tiles import double_set, parse_tile, sort_tiles
from service.engine.variants import variants
from tests.laws.matches import Case, Match, cases
from tests.support.lanes import fewer

VECTORS: Final[dict[str, Any]] = json.loads((Path(__file__).parent / "shuffle.json").read_text(encoding="utf-8"))


def written(*texts: object) -> bytes:
    return b"".join(len(data).to_bytes(4, "big") + data for data in (str(text).encode() for text in texts))


def described(tiles: Sequence[str], seed: bytes, round_number: int, attempt: int) -> list[str]:
    def stream() -> Iterator[int]:
        for block in count():
            data = hmac.new(seed, written("domino-shuffle-1", round_number, attempt, block), sha256).digest()
            yield from (int.from_bytes(data[at : at + 4], "big") for at in range(0, 32, 4))

    numbers, order = stream(), list(tiles)
    for last in range(len(order) - 1, 0, -1):
        below = last + 1
        other = next(number for number in numbers if number < 2**32 // below * below) % below
        order[last], order[other] = order[other], order[last]
    return order


def names(highest: int) -> list[str]:
    return [f"{low}-{high}" for low in range(highest + 1) for high in range(low, highest + 1)]


# The vectors


def test_every_seed_text_stands_for_its_seed() -> None:
    for vector in VECTORS["seeds"]:
        assert seed_from_text(vector["text"]).hex() == vector["seed"], vector
        assert sha256(written("domino-seed-1", vector["text"])).hexdigest() == vector["seed"], vector


def test_every_seed_gives_its_order() -> None:
    for vector in VECTORS["shuffles"]:
        seed, highest = bytes.fromhex(vector["seed"]), vector["set"]
        where = seed, vector["round"], vector["attempt"]
        assert [tile.name for tile in shuffle(double_set(highest), *where)] == vector["order"], vector
        assert described(names(highest), *where) == vector["order"], vector


@pytest.mark.parametrize("vector", VECTORS["deals"], ids=lambda vector: vector["about"])
def test_a_seed_text_deals_these_hands(vector: dict[str, Any]) -> None:
    """Hands as they are taken from the front of the order of that attempt, then the stock."""
    tiles = double_set(vector["set"])
    sizes = [len(hand) for hand in vector["hands"]]
    for attempt in range(vector["attempt"] + 1):
        hands, stock = split(shuffle(tiles, seed_from_text(vector["text"]), vector["round"], attempt), sizes)
    assert [[tile.name for tile in hand] for hand in hands] == vector["hands"]
    assert [tile.name for tile in stock] == vector["stock"]
    rules = variants()[vector["variant"]].rules(vector["options"], len(sizes))
    deck = Deck(seed_from_text(vector["text"]))
    (dealt,), _ = advance(rules, deck, rules.start()._replace(round=vector["round"] - 1), 0, move=DEAL)
    assert dealt == Dealt(vector["round"], tuple([sort_tiles(hand) for hand in hands]), stock, False)


def test_the_vectors_reach_every_set_later_rounds_and_attempts_and_a_skipped_number() -> None:
    shuffles = VECTORS["shuffles"]
    assert {vector["set"] for vector in shuffles} == {6, 9, 12, 15, 18}
    assert {vector["round"] for vector in shuffles} >= {1, 2, 10, 100}
    assert {vector["attempt"] for vector in shuffles} >= {0, 1, 10}
    assert max(vector["attempt"] for vector in VECTORS["deals"]) >= 1
    assert any(vector["about"] == "a number is skipped" for vector in shuffles)


def test_a_number_is_skipped_in_the_vector_that_says_so() -> None:
    (vector,) = [vector for vector in VECTORS["shuffles"] if vector["about"] == "a number is skipped"]
    first_blocks = [
        hmac.digest(bytes.fromhex(vector["seed"]), written("domino-shuffle-1", 1, 0, block), "sha256")
        for block in range(24)
    ]
    words = [int.from_bytes(data[at : at + 4], "big") for data in first_blocks for at in range(0, 32, 4)]
    below = range(len(vector["order"]), 1, -1)
    skipped = [word for word, n in zip(words, below, strict=False) if word >= 2**32 // n * n]
    assert len(skipped) == 1


# The description


@pytest.mark.parametrize("highest", [6, 9, 12, 15, 18])
def test_any_seed_gives_the_order_of_the_description(highest: int) -> None:
    for number in range(60):
        seed = sha256(f"{highest} {number}".encode()).digest()
        order = described(names(highest), seed, number, number // 7)
        assert shuffle(double_set(highest), seed, number, number // 7) == tuple(map(parse_tile, order))


@pytest.mark.quick_and_gate
@pytest.mark.parametrize("key", variants())
def test_a_round_is_dealt_from_the_first_attempt_that_somebody_can_open(key: str) -> None:
    for case in cases(key, "attempts", fewer(40)):
        check_attempts(Match(case._replace(moves=120)))


def test_some_deals_take_a_second_attempt() -> None:
    """Two hands of five hold no double in one deal of forty."""
    attempts = [check_attempts(Match(Case("domino", 2, (("hand", 5),), str(text), 0, moves=1))) for text in range(200)]
    assert set(attempts) >= {0, 1}


def check_attempts(match: Match) -> int:
    """Deal every round as described; the number of attempts that could not be opened."""
    refused = 0
    rules = match.rules
    for step in match.steps:
        dealt = step.events[0]
        if not isinstance(dealt, Dealt):
            continue
        size = rules.hand_size(len(step.before.active_seats()))
        for attempt in range(1_000):
            order = described([tile.name for tile in rules.tiles], match.deck.seed, dealt.round, attempt)
            hands = [[order.pop(0) for _ in range(0 if gone else size)] for gone in step.before.eliminated_round]
            held = tuple([sort_tiles(map(parse_tile, hand)) for hand in hands])
            if rules.opening(step.before._replace(round=dealt.round, hands=held)) is not None:
                break
            refused += 1
        assert dealt == Dealt(dealt.round, held, tuple(map(parse_tile, order)), False)
    return refused


def test_fields_do_not_run_into_each_other() -> None:
    assert length_prefixed("") == b"\0\0\0\0"
    assert length_prefixed("ä") == b"\0\0\0\2\xc3\xa4"
    assert length_prefixed("a") + length_prefixed("b") != length_prefixed("ab") + length_prefixed("")


# Fairness


def off_by(found: Counter[Any], cells: int) -> float:
    """Pearson's sum: how far the counts are from being equal; about as large as the number of free cells."""
    expected = found.total() / cells
    return sum((number - expected) ** 2 for number in found.values()) / expected + (cells - len(found)) * expected


def test_every_tile_comes_to_every_place_equally_often() -> None:
    tiles = double_set(6)
    found: Counter[tuple[int, str]] = Counter()
    for number in range(10_000):
        found.update((place, tile.name) for place, tile in enumerate(shuffle(tiles, seed_from_text("fair"), number, 0)))
    free = (len(tiles) - 1) ** 2
    assert abs(off_by(found, len(tiles) ** 2) - free) < 4 * (2 * free) ** 0.5


def test_every_order_of_four_tiles_comes_equally_often() -> None:
    tiles = double_set(6)[:4]
    found = Counter(
        shuffle(tiles, sha256(bytes([number >> 8, number & 255])).digest(), 1, 0) for number in range(12_000)
    )
    assert set(found) == set(permutations(tiles))
    assert off_by(found, 24) < 23 + 4 * (2 * 23) ** 0.5


def test_another_seed_round_or_attempt_gives_another_order() -> None:
    tiles = double_set(6)
    seeds = [seed_from_text(text) for text in ("", "a", "b", "A", "a ")]
    orders = {shuffle(tiles, seed, number, attempt) for seed in seeds for number in range(12) for attempt in range(12)}
    assert len(orders) == 5 * 12 * 12
