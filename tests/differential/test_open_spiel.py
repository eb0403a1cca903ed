"""Our games in step with the two domino games of OpenSpiel, which are written in Python.

======================================  =============================  ===============================================
ours                                    theirs                         the same
======================================  =============================  ===============================================
`block` for two                         ``python_block_dominoes``      who leads and moves, every play, when the round
                                                                       ends, and what is won
`block` for four in teams, seven each   ``python_team_dominoes``       who leads and moves, every play, when the round
`latin` ``classic``                                                    ends, and what is won if it is blocked
======================================  =============================  ===============================================

What differs: in ``python_team_dominoes`` the team with fewer pips wins those of the other one, also if a player went
out. So the finisher's team wins as much as here while the partner holds fewer pips than the opponents, nothing with as
many, and with more it loses those.

Their games have one round, which player 0 leads with any tile. So their player 0 is the leader of ours, in every round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import chain
from random import Random
from typing import Any, NamedTuple

import pytest

from service.engine.deal import Deck, seed_from_text
from service.engine.events import RoundResult
from service.engine.state import Hand
from service.engine.tiles import double_set, parse_tile, pips
from tests.conftest import Figures
from tests.differential.in_step import Game, OurMatch, Play, play_in_step
from tests.differential.libraries import library
from tests.support.lanes import fewer

pytestmark = pytest.mark.gate

pyspiel = library("open-spiel", "pyspiel")
games = library("open-spiel", "open_spiel.python.games")  # registers them

MATCHES = 500
ROUNDS = 4
"""Of each match, so that every seat of four leads."""


class OpenSpiel:
    """A round of one of the two games, dealt as ours; ``leader`` is our seat of their player 0."""

    def __init__(self, name: str, hands: tuple[Hand, ...], leader: int) -> None:
        module = getattr(games, name.removeprefix("python_"))
        self._actions = module.create_possible_actions()
        self._seats, self._leader = len(hands), leader
        self.state = pyspiel.load_game(name).new_initial_state()
        for tile in self._dealt(hands):
            self.state.apply_action(double_set(6).index(tile))

    def _dealt(self, hands: tuple[Hand, ...]) -> Hand:
        """The tiles in the order in which they are dealt: two hands one after the other, four by turns."""
        theirs = hands[self._leader :] + hands[: self._leader]
        return tuple(chain(*theirs) if len(hands) == 2 else chain(*zip(*theirs, strict=True)))

    @property
    def turn(self) -> int | None:
        return None if self.state.is_terminal() else (self.state.current_player() + self._leader) % self._seats

    def plays(self) -> set[Play]:
        return set(self._legal())

    def play(self, play: Play, _end: str | None) -> None:
        self.state.apply_action(self._legal()[play])

    def returns(self) -> tuple[int, ...]:
        """What each of our seats gets."""
        theirs = [int(amount) for amount in self.state.returns()]
        return tuple([theirs[(seat - self._leader) % self._seats] for seat in range(self._seats)])

    def _legal(self) -> dict[Play, int]:
        return {_play(self._actions[action]): action for action in self.state.legal_actions()}


def _play(action: Any) -> Play:
    low, high = map(int, action.tile)
    return Play(parse_tile(f"{low}-{high}"), None if action.edge is None else int(action.edge))


def same_score(result: RoundResult, returns: tuple[int, ...]) -> bool:
    """What is won here is won and lost there."""
    assert result.scores == tuple([max(0, amount) for amount in returns])
    return False


def fewer_pips_win(result: RoundResult, returns: tuple[int, ...]) -> bool:
    """There the team with fewer pips wins those of the other one, also if a player went out."""
    if result.ended_by == "blocked":
        return same_score(result, returns)
    assert result.winner is not None
    left = [pips(hand.tiles) for hand in result.hands]
    own, others = [sum(left[side::2]) for side in (result.winner % 2, 1 - result.winner % 2)]
    assert result.scores == tuple([others if seat % 2 == result.winner % 2 else 0 for seat in range(4)])
    assert returns[result.winner] == (others if own < others else -own if own > others else 0)
    return own >= others


class Comparison(NamedTuple):
    """A game of ours and one of theirs; ``scores`` asserts how the results of a round compare."""

    ours: Game
    theirs: str
    scores: Callable[[RoundResult, tuple[int, ...]], bool]
    """Whether they differ."""


COMPARISONS = (
    Comparison(
        Game("block", 2, {"opening": "rotate", "blocked_score": "others", "target": 1000}),
        "python_block_dominoes",
        same_score,
    ),
    Comparison(
        Game("block", 4, {"hand": 7, "teams": 2, "opening": "rotate", "blocked_score": "others", "target": 1000}),
        "python_team_dominoes",
        fewer_pips_win,
    ),
    Comparison(
        Game("latin", 4, {"table": "classic", "first_lead": "any", "target": 1000}),
        "python_team_dominoes",
        fewer_pips_win,
    ),
)


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda comparison: f"{comparison.ours.key}-{comparison.theirs}")
def test_every_round_goes_as_in_open_spiel(comparison: Comparison, figures: Figures) -> None:
    counted: Counter[str] = Counter()
    for number in range(fewer(MATCHES)):
        ours = OurMatch(comparison.ours, Deck(seed_from_text(f"{comparison.ours} {number}")))
        rng = Random(f"{comparison.ours} {number}")
        for leader in range(ROUNDS):
            hands = ours.deal()
            theirs = OpenSpiel(comparison.theirs, hands, leader % len(hands))
            counted["plays"] += len(list(play_in_step(ours, theirs, rng)))
            counted["rounds"] += 1
            counted[ours.result.ended_by] += 1
            counted["scored otherwise"] += comparison.scores(ours.result, theirs.returns())
    assert counted["out"]
    assert counted["blocked"]
    assert bool(counted["scored otherwise"]) == (comparison.scores is fewer_pips_win)
    figures(f"{comparison.ours.key} and {comparison.theirs}", counted)
