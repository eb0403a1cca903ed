"""The counts of our games beside those of the package all-fives-domino.

Of the package only ``Piece.append`` and ``AllFivesScorer.count`` are taken. Every tile that is laid here is appended
there, to the piece that it touches, and both count the ends (rules 8.7, 9.5).

=========================================  ===========================================================================
ours                                       the same, and what is not
=========================================  ===========================================================================
`all-fives`, for two to four               every count, and what it scores; but while exactly three sides of the
                                           spinner are covered, theirs adds the fourth, open one, as an arm of its own
`all-fives` with ``spinner`` ``none``      every count, and what it scores
`fives-and-threes`                         every count
=========================================  ===========================================================================

The rest of the package is another game: only a double that leads becomes a spinner, doubles can be laid face down, its
``Board`` never allows a fourth arm, and 5-5, then 1-1, 2-2 and so on up to 6-6, and at last 0-0 leads.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any, NamedTuple

import pytest

from service.engine.deal import Deck, seed_from_text
from service.engine.events import Played
from service.engine.layout import Layout
from tests.conftest import Figures
from tests.differential.in_step import Game, OurMatch
from tests.differential.libraries import library
from tests.support.lanes import fewer

pytestmark = pytest.mark.gate

pieces = library("all-fives-domino", "src.main.game.Piece")
scorer = library("all-fives-domino", "src.main.game.Scorer").AllFivesScorer

ROUNDS = 1000


class Comparison(NamedTuple):
    """A game of ours, and what of its counts and scores differs from the package."""

    ours: Game
    counts_differ: bool
    scores_differ: bool


COMPARISONS = (
    *[
        Comparison(Game("all-fives", seats, {"opening": "rotate"}), counts_differ=True, scores_differ=False)
        for seats in (2, 3, 4)
    ],
    Comparison(
        Game("all-fives", 2, {"opening": "rotate", "spinner": "none"}), counts_differ=False, scores_differ=False
    ),
    Comparison(Game("fives-and-threes", 4, {}), counts_differ=False, scores_differ=True),
)


class Table:
    """The pieces of the package, appended as our tiles are laid."""

    def __init__(self) -> None:
        self._pieces: list[Any] = []

    def follow(self, layout: Layout) -> None:
        """Append the tile that was laid last."""
        placement = layout.placements[-1]
        piece = pieces.Piece(placement.tile.low, placement.tile.high)
        if placement.host >= 0:
            self._pieces[placement.host].append(piece)
        self._pieces.append(piece)

    def count(self) -> int:
        counted: int = scorer.count(self._pieces[0])
        return counted


def fourth_side(layout: Layout) -> int:
    """The number of the spinner while exactly three of its sides are covered, else 0."""
    for index, placement in enumerate(layout.placements):
        if placement.tile.double:
            covered = [each.host for each in layout.placements].count(index) + (index > 0)
            return placement.tile.low if covered == 3 else 0
    return 0


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda comparison: str(comparison.ours))
def test_every_count_is_that_of_the_package(comparison: Comparison, figures: Figures) -> None:
    counted: Counter[str] = Counter()
    rng = Random(str(comparison.ours))
    ours = OurMatch(comparison.ours, Deck(seed_from_text("all-fives-domino")))
    for number in range(fewer(ROUNDS)):
        if ours.finished:
            ours = OurMatch(comparison.ours, Deck(seed_from_text(f"all-fives-domino {number}")))
        ours.deal()
        counted["rounds"] += 1
        theirs = Table()
        while ours.turn is not None:
            laid = ours.make(rng.choice(ours.legal()))
            if isinstance(laid, Played):
                theirs.follow(ours.state.layout)
                extra = fourth_side(ours.state.layout) if comparison.counts_differ else 0
                assert laid.ends_sum is not None
                assert laid.ends_sum + extra == theirs.count(), f"after {ours.events}"
                assert comparison.scores_differ or laid.points == scorer.score(laid.ends_sum)
                counted["counts"] += 1
                counted["counted otherwise"] += bool(extra)
    assert bool(counted["counted otherwise"]) == comparison.counts_differ
    figures(f"{comparison.ours} and all-fives-domino", counted)
