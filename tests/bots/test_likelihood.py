"""What the others have chosen: the choices are those that were made, and true worlds are likelier than others."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from math import log
from random import Random
from statistics import fmean
from typing import NamedTuple

import pytest

from service.bots.choice import choose_move
from service.bots.expert import sample_weighted
from service.bots.inference import infer
from service.bots.knowledge import Observation, observe
from service.bots.likelihood import Likelihood, choices_of, max_choices
from service.bots.worlds import Sampler
from service.engine.deal import Deck, seed_from_text, seed_of_decision
from service.engine.events import Event, Played
from service.engine.referee import advance, deal, legal_moves
from service.engine.state import PLAYING, State
from service.engine.tiles import sort_tiles
from service.engine.variant import Rules
from service.engine.variants import variants
from tests.laws.matches import setups
from tests.support.lanes import GATE_VARIANTS, fewer, in_lane

pytestmark = pytest.mark.gate

KEYS = in_lane(sorted(variants()), gate=GATE_VARIANTS)
ROUNDS = 10
WORLDS = 12


class Moment(NamedTuple):
    """The seat to move of a round, what it has seen, and all states of the round so far, one before each event."""

    rules: Rules
    observation: Observation
    states: list[State]

    @property
    def now(self) -> State:
        return self.states[-1]


def some_moments(key: str) -> Iterator[Moment]:
    """Those of ``ROUNDS``; in shorter lanes some of each round."""
    return islice(moments(key, ROUNDS), 0, None, ROUNDS // fewer(ROUNDS))


def moments(key: str, rounds: int, level: str = "greedy") -> Iterator[Moment]:
    """All moments of so many first rounds, played by this level with any options."""
    rng = Random(f"likelihood {key}")
    for number in range(rounds):
        seats, options = rng.choice(setups(key))
        rules = variants()[key].rules(dict(options), seats)
        deck = Deck(seed_from_text(f"likelihood {number}"))
        dealt, state = deal(rules, deck, rules.start())
        events: list[Event] = [dealt]
        states = [rules.start(), state]
        while state.phase == PLAYING:
            assert state.turn is not None
            seen = observe(rules, state, events, state.turn)
            yield Moment(rules, seen, states)
            move = choose_move(rules, seen, level, seed_of_decision(deck.seed, state.turn, len(events)))
            made, state = advance(rules, deck, state, state.turn, move=move)
            events += made
            states += [state] * len(made)


def test_a_choice_is_seen_with_the_hand_and_the_moves_that_its_seat_had() -> None:
    seen = 0
    for key in KEYS:
        for rules, observation, states in moments(key, fewer(ROUNDS), level="random"):
            events = observation.events
            made = {event.tile: states[place] for place, event in enumerate(events) if isinstance(event, Played)}
            for choice in choices_of(rules, observation):
                seat, before = choice.played.seat, made[choice.played.tile]
                hand = sort_tiles((*states[-1].hands[seat], *choice.laid))
                assert seat == before.turn != observation.seat
                assert hand == before.hands[seat]
                hands = tuple([hand if each == seat else held for each, held in enumerate(choice.before.hands)])
                assert list(map(len, hands)) == list(map(len, before.hands))
                assert legal_moves(rules, choice.before._replace(hands=hands), seat) == legal_moves(rules, before, seat)
                seen += 1
    assert seen > 7 * len(KEYS) * fewer(ROUNDS)


def test_every_tile_that_another_seat_has_laid_since_it_drew_is_a_choice_but_the_lead() -> None:
    for key in KEYS:
        for rules, observation, _ in moments(key, fewer(ROUNDS), level="random"):
            events = observation.events
            expected = [
                event
                for place, event in enumerate(events)
                if isinstance(event, Played)
                and event.seat != observation.seat
                and any(isinstance(before, Played) for before in events[:place])
                and not any(_draws(after, event.seat) for after in events[place:])
            ]
            assert [choice.played for choice in choices_of(rules, observation)] == expected
            assert len(Likelihood(rules, observation)) == min(len(expected), max_choices(rules))


@pytest.mark.parametrize(("highest", "most"), [(6, 20), (9, 5), (12, 2), (15, 1), (18, 1)])
def test_fewer_choices_count_with_more_tiles(highest: int, most: int) -> None:
    assert max_choices(variants()["fido"].rules({"set": highest}, 4)) == most


def _draws(event: object, seat: int) -> bool:
    return type(event).__name__ in ("Drew", "DrewView") and event.seat == seat  # type: ignore[attr-defined]


@pytest.mark.parametrize("key", KEYS)
def test_true_worlds_are_likelier_than_others_that_the_seat_cannot_tell_from_them(key: str) -> None:
    """Where greedy players choose, who are what the likelihood takes the others for, but for noise."""
    gain = 0.0
    for number, (rules, observation, states) in enumerate(some_moments(key)):
        likelihood = Likelihood(rules, observation)
        if not likelihood:
            continue
        sampler = Sampler(rules, observation, infer(rules, observation))
        rng = Random(number)
        others = [likelihood.of(sampler.sample(rng)) for _ in range(WORLDS)]
        assert all(0 < each <= 1 for each in others)
        gain += log(likelihood.of(states[-1]) / (sum(others) / WORLDS))
    assert gain > 0


@pytest.mark.parametrize("key", KEYS)
def test_no_world_outweighs_all_others(key: str) -> None:
    """Of equal weights all worlds would count, and of one that outweighs all others, it alone."""
    counting = []
    for number, (rules, observation, _) in enumerate(some_moments(key)):
        sampler, likelihood = Sampler(rules, observation, infer(rules, observation)), Likelihood(rules, observation)
        rng = Random(number)
        weights = [sample_weighted(sampler, likelihood, rng)[1] for _ in range(WORLDS)]
        counting.append(sum(weights) ** 2 / sum([weight**2 for weight in weights]))
    assert fmean(counting) > WORLDS / 2


def test_who_kept_a_tile_that_is_worth_more_is_less_likely() -> None:
    found = 0
    for rules, observation, states in moments("block", 40):
        if len(observation.view.players) != 2 or not (likelihood := Likelihood(rules, observation)):
            continue
        *_, last = choices_of(rules, observation)
        other = last.played.seat
        held = states[-1].hands[other]
        heavy = [tile for tile in infer(rules, observation).unseen if tile.pips >= last.played.tile.pips + 4]
        fitting = [tile for tile in heavy if tile not in held and tile.offers & last.before.layout.open_mask]
        if not held or not fitting or len(last.laid) > 1:
            continue
        kept = sort_tiles((fitting[-1], *held[1:]))
        better = states[-1]._replace(hands=tuple([kept if seat == other else () for seat in range(2)]))
        found += likelihood.of(better) < likelihood.of(states[-1])
    assert found > 10
