"""The pips of a half: as many as the number, apart from each other, and within the half."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import dist

import pytest

from service.engine.tiles import MAX_PIPS
from service.render.svg import pip_places, pips_of, short

NUMBERS = range(MAX_PIPS + 1)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_has_as_many_pips(number: int) -> None:
    assert len(set(pip_places(number))) == number
    assert pips_of(number).path.count("h0") == number


@pytest.mark.parametrize("number", NUMBERS)
def test_pips_lie_apart_and_within_their_half(number: int) -> None:
    width = pips_of(number).width
    for x, y in pip_places(number):
        assert max(abs(x), abs(y)) + width / 2 < 0.9
    for one, other in combinations(pip_places(number), 2):
        assert dist(one, other) > width


@pytest.mark.parametrize("number", NUMBERS)
def test_pips_look_the_same_upside_down(number: int) -> None:
    assert {(-x, -y) for x, y in pip_places(number)} == set(pip_places(number))


def test_no_two_numbers_look_alike() -> None:
    patterns = [frozenset(pip_places(number)) for number in NUMBERS]
    assert len(set(patterns)) == len(patterns)


def test_a_higher_number_never_has_larger_pips() -> None:
    assert all(after.width <= before.width for before, after in pairwise([pips_of(number) for number in NUMBERS]))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (-0.0, "0"), (3, "3"), (2.0, "2"), (0.5, ".5"), (-0.54, "-.54"), (10.25, "10.25"), (-10.5, "-10.5")],
)
def test_a_number_is_written_without_what_is_not_needed(value: float, text: str) -> None:
    assert short(value) == text
