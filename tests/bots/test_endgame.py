"""Ends of rounds in which nothing is hidden: the expert makes no mistake, by a plain search of all that may follow."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final, NamedTuple

import pytest

from service.bots import expert
from service.bots.observation import Observation, observe
from service.engine.deal import Deck, seed_from_text
from service.engine.events import Event, RoundEnded
from service.engine.moves import Move
from service.engine.referee import advance, deal, legal_moves
from service.engine.state import PLAYING, State
from service.engine.variant import Rules
from service.engine.variants import variants
from tests.laws.matches import setups
from tests.support.scope import fewer

POSITIONS: Final = 1000
"""Of each game in which they occur, in the full scope."""
MOST_TILES: Final = 8
"""In the hands of a position, so that all that may follow can be tried."""
MOST_DEALS: Final = 20_000
KEYS: Final = ("all-fives", "bergen", "domino", "dominospiel", "draw", "kozel", "matador")
"""The games in which the last tiles are known to one of two sides."""


class Position(NamedTuple):
    rules: Rules
    state: State
    observation: Observation


def rounds(key: str) -> Iterator[tuple[Rules, State, list[Event]]]:
    """Positions of rounds of two sides in which any legal moves are made, each with the events of its round."""
    rng = Random(f"ends of {key}")
    of_two = [variants()[key].rules(dict(options), seats) for seats, options in setups(key) if seats == 2]
    to_the_last = [rules for rules in of_two if not rules.reserve]
    for number in range(MOST_DEALS):
        rules = rng.choice(to_the_last)
        deck = Deck(seed_from_text(f"end {number}"))
        dealt, state = deal(rules, deck, rules.start())
        events: list[Event] = [dealt]
        while state.phase == PLAYING:
            yield rules, state, events
            assert state.turn is not None
            made, state = advance(rules, deck, state, state.turn, rng.choice(legal_moves(rules, state, state.turn)))
            events += made


def positions(key: str, many: int) -> Iterator[Position]:
    """So many positions in which the seat on turn knows all tiles and has a choice."""
    found = 0
    for rules, state, events in rounds(key):
        assert state.turn is not None
        if sum(map(len, state.hands)) > MOST_TILES or state.stock or len(legal_moves(rules, state, state.turn)) < 2:
            continue
        yield Position(rules, state, observe(rules, state, events, state.turn))
        found += 1
        if found == many:
            return


def outcome(rules: Rules, state: State, move: Move) -> int:
    """By how much more the seat to move scores than the other in this round if both go on as well as they can."""
    seat = state.turn
    assert seat is not None
    events, after = advance(rules, Deck(b""), state, seat, move)
    for event in events:
        if isinstance(event, RoundEnded):
            lead = event.round.scores[seat] - event.round.scores[1 - seat]
            return lead if rules.best == "highest" else -lead
    outcomes = [outcome(rules, after, each) for each in legal_moves(rules, after, after.turn or 0)]
    return max(outcomes) if after.turn == seat else -max(outcomes)


@pytest.mark.parametrize("key", KEYS)
def test_no_decision_is_wrong_where_nothing_is_hidden(key: str) -> None:
    decided = mattered = 0
    for rules, state, observation in positions(key, fewer(POSITIONS)):
        outcomes = {move: outcome(rules, state, move) for move in observation.view.legal_moves}
        chosen = expert.choose(rules, observation, Random(decided))
        assert outcomes[chosen] == max(outcomes.values()), (key, state)
        decided += 1
        mattered += len(set(outcomes.values())) > 1
    assert mattered > decided / 10
    assert decided == fewer(POSITIONS)
