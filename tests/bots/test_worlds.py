"""A sampled world is one that a seat cannot tell from the true one, and any such world is as likely as another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from operator import attrgetter
from random import Random
from typing import Final

import pytest

from service.bots.inference import infer
from service.bots.knowledge import Observation, observe
from service.bots.worlds import Sampler
from service.engine.referee import legal_moves
from service.engine.state import PLAYING, Hand
from tests.bots.histories import history
from tests.bots.seen import Moment, moments
from tests.engine.table import EngineTable
from tests.laws.matches import Case, Match, law

pytestmark = pytest.mark.gate

RANK: Final = attrgetter("rank")


def looks(match: Match, every: int) -> Iterator[tuple[Moment, Observation]]:
    """Some moments of a match, each as some seat that is in the match has seen it."""
    for number, moment in enumerate(moments(match)):
        if moment.state.phase == PLAYING and not number % every:
            yield moment, moment.seen_by(match, match.rng.choice(moment.state.active_seats()))


@law(matches=12)
def test_a_world_agrees_with_all_that_was_seen(match: Match) -> None:
    for moment, seen in looks(match, 3):
        world = Sampler(match.rules, seen, infer(match.rules, seen)).sample(match.rng)
        assert history(match.rules, seen, moment.before_deal, world)


@law(matches=4)
def test_a_seat_sees_the_same_in_a_world_as_in_the_true_state(match: Match) -> None:
    for moment, seen in looks(match, 5):
        known = infer(match.rules, seen)
        world = Sampler(match.rules, seen, known).sample(match.rng)
        events = history(match.rules, seen, moment.before_deal, world)
        assert events is not None
        seen_there = observe(match.rules, world, events, seen.seat)
        assert seen_there == seen._replace(events=(seen_there.events[0], *seen.events[1:]))
        assert infer(match.rules, seen_there) == known


@law(matches=8)
def test_worlds_depend_on_nothing_but_the_generator(match: Match) -> None:
    for number, (_, seen) in enumerate(looks(match, 9)):
        known = infer(match.rules, seen)
        first = Sampler(match.rules, seen, known)
        rng = Random(number)
        worlds = [first.sample(rng) for _ in range(3)]
        rng = Random(number)
        assert [Sampler(match.rules, seen, known).sample(rng) for _ in range(3)] == worlds


def test_where_nothing_is_hidden_the_only_world_is_the_true_one() -> None:
    table = EngineTable("dominospiel", "0-0 …", "…")
    assert not table.state.stock
    table.play("0-0")
    for _ in range(4):
        for seat in (0, 1):
            seen = observe(table.rules, table.state, table.log, seat)
            assert Sampler(table.rules, seen, infer(table.rules, seen)).sample(Random(1)) == table.state
        assert table.turn is not None
        move = legal_moves(table.rules, table.state, table.turn)[0]
        table.play(f"{move.tile.name}@{move.end}" if move.tile else move.action)


@pytest.mark.parametrize(
    ("case", "moment"),
    [
        (Case("domino", 4, (), "u14", 14), 21),
        (Case("domino", 4, (), "u27", 27), 18),
        (Case("dominospiel", 4, (), "u5", 5), 19),
    ],
)
def test_every_world_is_as_likely_as_any_other(case: Case, moment: int) -> None:
    """All tiles are dealt, seats have passed on different numbers, and what opened or ended a turn counts too."""
    match = Match(case)
    state, before_deal, events = list(moments(match))[moment]
    assert state.turn is not None
    seen = observe(match.rules, state, events, state.turn)
    known = infer(match.rules, seen)
    possible = {
        world.hands
        for world in (state._replace(hands=hands) for hands in deals(state.hands, seen.seat))
        if history(match.rules, seen, before_deal, world)
    }
    assert 10 < len(possible) < 2000
    many = max(20_000, 60 * len(possible))
    sampler = Sampler(match.rules, seen, known)
    rng = Random(1)
    found = Counter([sampler.sample(rng).hands for _ in range(many)])
    assert set(found) == possible
    expected = many / len(possible)
    chi_squared = sum([(times - expected) ** 2 / expected for times in found.values()])
    freedom = len(possible) - 1
    assert abs(chi_squared - freedom) < 3 * (2 * freedom) ** 0.5, (chi_squared, freedom)


def deals(hands: tuple[Hand, ...], seat: int) -> Iterator[tuple[Hand, ...]]:
    """All ways to deal the other seats' tiles anew among them."""
    hidden = sorted([tile for other, hand in enumerate(hands) if other != seat for tile in hand], key=RANK)
    return deal_to([hand if other == seat else len(hand) for other, hand in enumerate(hands)], tuple(hidden))


def deal_to(sizes: Sequence[Hand | int], hidden: Hand) -> Iterator[tuple[Hand, ...]]:
    if not sizes:
        yield ()
        return
    first, *others = sizes
    for hand in [first] if isinstance(first, tuple) else combinations(hidden, first):
        for rest in deal_to(others, tuple([tile for tile in hidden if tile not in hand])):
            yield (hand, *rest)
