"""A hundred thousand deals that can be proven fall as chance has it: positions, and pairs.

Each statistic is Pearson's sum over cells that are equally likely, but not independent: a tile has one place,
a neighbour only one other. So it is no chi-square with one degree of freedom a cell; its mean and its
variance are derived here from how likely two cells are to be hit by the same deal. The deals are the same at
every run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from hashlib import sha256
from itertools import combinations, pairwise
from math import comb, isclose, perm, sqrt
from random import Random
from typing import Any, Final, NamedTuple

import pytest

from service.engine.deal import Deck, shuffle
from service.engine.tiles import Tile, double_set

pytestmark = pytest.mark.nightly

MANY: Final = 100_000
SET: Final = double_set(6)
N: Final = len(SET)
HANDS: Final = 3
SIZE: Final = 7

Order = Sequence[Hashable]
Found = Counter[Any]


class Relation(NamedTuple):
    """How a cell stands to ``many`` others (or to itself): with which chance one deal hits both."""

    many: int
    chance: float


class Statistic(NamedTuple):
    """What is counted of deals: ``hits`` cells a deal; ``relations`` of any cell to all, the first to itself."""

    counted: Callable[[Sequence[Order]], Found]
    hits: int
    relations: tuple[Relation, ...]

    @property
    def cells(self) -> int:
        return sum(each.many for each in self.relations)

    def off_by(self, orders: Sequence[Order]) -> float:
        """How many standard deviations Pearson's sum over these orders is away from its mean.

        With p the chance of a cell and q that of two cells together, the counts of N deals, less N p and divided by
        the root of N p, have covariances (q - p²) / p; a sum of squares of normal values has the trace of that matrix
        as its mean, and twice the trace of its square as its variance.
        """
        p = self.relations[0].chance
        covariances = [(each.many, (each.chance - p * p) / p) for each in self.relations]
        mean = self.cells * covariances[0][1]
        variance = 2 * self.cells * sum(many * covariance**2 for many, covariance in covariances)
        found, expected = self.counted(orders), len(orders) * p
        assert found.total() == len(orders) * self.hits
        pearson = sum((number - expected) ** 2 for number in found.values()) / expected
        pearson += (self.cells - len(found)) * expected
        return float((pearson - mean) / sqrt(variance))


def count_positions(orders: Sequence[Order]) -> Found:
    """Which tile is at which place."""
    found: Found = Counter()
    for place, tiles in enumerate(zip(*orders, strict=True)):
        found.update({(place, tile): number for tile, number in Counter(tiles).items()})
    return found


def count_neighbours(orders: Sequence[Order]) -> Found:
    """Which tile comes right after which."""
    found: Found = Counter()
    for first, second in pairwise(zip(*orders, strict=True)):
        found.update(zip(first, second, strict=True))
    return found


def count_companions(orders: Sequence[Order]) -> Found:
    """Which two tiles are in the same hand, of three hands of seven."""
    places = list(zip(*orders, strict=True))
    ordered: Found = Counter()
    for start in range(0, HANDS * SIZE, SIZE):
        for first, second in combinations(places[start : start + SIZE], 2):
            ordered.update(zip(first, second, strict=True))
    found: Found = Counter()
    for pair, number in ordered.items():
        found[frozenset(pair)] += number
    return found


def in_one_hand(tiles: int) -> float:
    """How likely so many tiles are to be all in one of the hands."""
    return HANDS * perm(SIZE, tiles) / perm(N, tiles)


POSITIONS: Final = Statistic(
    count_positions,
    hits=N,
    relations=(
        Relation(1, 1 / N),
        Relation(2 * (N - 1), 0),  # the same tile elsewhere, another tile there
        Relation((N - 1) ** 2, 1 / perm(N, 2)),
    ),
)
NEIGHBOURS: Final = Statistic(
    count_neighbours,
    hits=N - 1,
    relations=(
        Relation(1, (N - 1) / perm(N, 2)),
        Relation(1 + 2 * (N - 2), 0),  # the other way round, another one after the first, or before the second
        Relation(2 * (N - 2), (N - 2) / perm(N, 3)),  # three in a row
        Relation((N - 2) * (N - 3), (N - 2) * (N - 3) / perm(N, 4)),
    ),
)
COMPANIONS: Final = Statistic(
    count_companions,
    hits=HANDS * comb(SIZE, 2),
    relations=(
        Relation(1, in_one_hand(2)),
        Relation(2 * (N - 2), in_one_hand(3)),
        Relation(comb(N - 2, 2), in_one_hand(4) + HANDS * (HANDS - 1) * perm(SIZE, 2) ** 2 / perm(N, 4)),
    ),
)
STATISTICS: Final = {"positions": POSITIONS, "neighbours": NEIGHBOURS, "companions": COMPANIONS}


def deals() -> list[tuple[Order, Order]]:
    """Two orders a game, each game with a secret and client seeds of its own.

    Of one round in which the second seat has given one text or another, or of two rounds with the same client seeds;
    games of the two kinds take turns.
    """
    pairs: list[tuple[Order, Order]] = []
    for number in range(MANY // 2):
        master = sha256(f"statistics {number}".encode()).digest()
        deck = Deck(master, game=f"game {number}", client_seeds=(f"a {number}", f"b {number}"))
        other, following = (deck, 2) if number % 2 else (deck.with_client_seed(1, f"c {number}"), 1)
        pairs.append((order(deck, 1), order(other, following)))
    return pairs


def order(deck: Deck, round_number: int) -> tuple[Tile, ...]:
    return shuffle(SET, deck.shuffle_seed(round_number), round_number, 0)


def steps(pairs: Sequence[tuple[Order, Order]]) -> Iterator[Order]:
    """The way from one order to the other: by place in the first, the place in the second."""
    for first, second in pairs:
        places = {tile: place for place, tile in enumerate(second)}
        yield [places[tile] for tile in first]


def test_positions_and_pairs_of_a_hundred_thousand_deals_are_as_chance_has_them() -> None:
    pairs = deals()
    orders = [each for pair in pairs for each in pair]
    assert len(set(orders)) == MANY
    off_by = {name: statistic.off_by(orders) for name, statistic in STATISTICS.items()}
    # Nothing of a deal shows in that of the next round, or in the one that another client seed would have made.
    way = list(steps(pairs))
    off_by["positions after another round"] = POSITIONS.off_by(way[1::2])
    off_by["positions after another client seed"] = POSITIONS.off_by(way[::2])
    assert {name: off for name, off in off_by.items() if abs(off) > 4} == {}


# What the statistics are worth


@pytest.mark.parametrize("name", STATISTICS)
def test_the_chances_of_a_statistic_agree_with_each_other(name: str) -> None:
    """Whatever cell is hit, so many others are hit with it."""
    statistic = STATISTICS[name]
    p = statistic.relations[0].chance
    assert isclose(statistic.cells * p, statistic.hits)
    assert isclose(sum(each.many * each.chance for each in statistic.relations), p * statistic.hits)


@pytest.mark.parametrize("name", STATISTICS)
def test_mean_and_variance_of_a_statistic_are_those_of_fair_shuffles(name: str) -> None:
    """Of 150 runs with another generator, the mean is near 0 and the variance near 1."""
    found = [STATISTICS[name].off_by(shuffled(f"fair {run}", 400, fairly)) for run in range(150)]
    mean = sum(found) / len(found)
    variance = sum((each - mean) ** 2 for each in found) / (len(found) - 1)
    assert abs(mean) < 4 / sqrt(len(found))
    assert abs(variance - 1) < 4 * sqrt(2 / len(found))


def fairly(order: list[int], rng: Random) -> None:
    rng.shuffle(order)


def with_any_place(order: list[int], rng: Random) -> None:
    """The usual mistake: each tile is swapped with any other, not with one that is still to come."""
    for i in range(len(order)):
        j = rng.randrange(len(order))
        order[i], order[j] = order[j], order[i]


def never_in_place(order: list[int], rng: Random) -> None:
    """The other usual mistake: no tile is ever swapped with itself."""
    for i in range(len(order) - 1, 0, -1):
        j = rng.randrange(i)
        order[i], order[j] = order[j], order[i]


def with_a_byte(order: list[int], rng: Random) -> None:
    """A byte modulo n, without skipping: some numbers come up a tenth more often."""
    for i in range(len(order) - 1, 0, -1):
        j = rng.randrange(256) % (i + 1)
        order[i], order[j] = order[j], order[i]


def by_cutting(order: list[int], rng: Random) -> None:
    """Every tile comes to every place, but with its neighbours."""
    at = rng.randrange(len(order))
    order[:] = order[at:] + order[:at]


def with_a_sticky_pair(order: list[int], rng: Random) -> None:
    """In one deal of fifty, the two tiles that were last are still side by side."""
    rng.shuffle(order)
    if rng.random() < 0.02:
        order.remove(27)
        order.insert(order.index(26) + 1, 27)


def for_a_friend(order: list[int], rng: Random) -> None:
    """In one deal of thirty the two highest doubles come to one hand."""
    rng.shuffle(order)
    if rng.random() < 1 / 30:
        places = sorted([order.index(27), order.index(25)])
        hand = rng.randrange(HANDS) * SIZE
        for place, to in zip(places, rng.sample(range(hand, hand + SIZE), 2), strict=True):
            order[place], order[to] = order[to], order[place]


def shuffled(name: str, many: int, how: Callable[[list[int], Random], None]) -> list[Order]:
    rng = Random(name)
    orders: list[Order] = []
    for _ in range(many):
        order = list(range(N))
        how(order, rng)
        orders.append(order)
    return orders


@pytest.mark.parametrize(
    ("name", "how"),
    [
        *(("positions", with_any_place), ("positions", never_in_place), ("positions", with_a_byte)),
        *(("neighbours", by_cutting), ("neighbours", with_a_sticky_pair), ("companions", by_cutting)),
        ("companions", for_a_friend),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_a_statistic_notices_a_biased_shuffle(name: str, how: Callable[[list[int], Random], None]) -> None:
    """With a quarter of the deals that the engine has to stand."""
    assert STATISTICS[name].off_by(shuffled(how.__name__, MANY // 4, how)) > 4
