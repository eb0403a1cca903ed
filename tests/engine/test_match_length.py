"""The minutes that each game tells are about what a match takes."""

from __future__ import annotations

from random import Random
from statistics import mean

import pytest

from service.engine.deal import Deck, seed_from_text
from service.engine.referee import advance, legal_moves
from service.engine.state import FINISHED, ROUND_OVER
from service.engine.variants import variants

PLAYERS = 4
"""The usual number, where a game allows it."""
MATCHES = 12
SECONDS = 6
"""For a move that somebody has to choose or to say."""


def seconds_of_a_match(key: str, number: int) -> int:
    """A match with the default options in which everybody plays at random."""
    variant = variants()[key]
    low, high = variant.players
    rules = variant.rules({}, min(max(PLAYERS, low), high))
    deck, chance, state, moves = Deck(seed_from_text(f"match {number}")), Random(number), rules.start(), 0
    while state.phase != FINISHED:
        seat = state.to_act[0]
        moves += state.phase != ROUND_OVER
        _, state = advance(rules, deck, state, seat, move=chance.choice(legal_moves(rules, state, seat)))
    return moves * SECONDS


@pytest.mark.parametrize("key", variants())
def test_the_minutes_of_a_game_are_about_those_of_its_matches(key: str) -> None:
    minutes = mean([seconds_of_a_match(key, number) for number in range(MATCHES)]) / 60
    assert minutes / 1.5 < variants()[key].minutes < minutes * 1.5, f"{minutes:.1f}"
