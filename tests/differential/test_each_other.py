"""Our games in step with each other: of the same deal with the same lead, some games make the same round.

A family is a list of such games. Deals are sought that all of them open by the same seat with a tile in common; then
every list of moves is the same in all of them, draws and passes included, and they end with the same move, for the same
reason, with the same hands. Families say what else is the same: the counts of the ends, or the scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import pytest

from service.engine.deal import ArrangedDeal, Deck, split
from service.engine.events import Dealt
from service.engine.moves import Move
from service.engine.referee import can_open
from service.engine.tiles import Tile
from tests.conftest import Figures
from tests.differential.in_step import Game, OurMatch
from tests.support.lanes import fewer

pytestmark = pytest.mark.gate

ROUNDS = 500
MAX_DEALS = 1000


class Family(NamedTuple):
    """Games that make the same round."""

    name: str
    games: tuple[Game, ...]
    counts_alike: bool = False
    """The sum of the ends after every play is the same, too."""
    scores_alike: bool = False
    """What every seat scores is the same, too."""


ALL_DEALT = (
    Game("block", 4, {"hand": 7, "opening": "rotate"}),
    Game("draw", 4, {"hand": 7, "opening": "rotate"}),
    Game("latin", 4, {"first_lead": "any"}),
    Game("fives-and-threes", 4, {"hand": 7, "target": 1000}),
)

FAMILIES = (
    Family("four hands of seven, any lead", ALL_DEALT),
    Family("four hands of seven, led by a double", (*ALL_DEALT, Game("domino", 4, {}))),
    Family("four hands of seven, led by 1-1", (*ALL_DEALT, Game("kozel", 4, {}))),
    *[
        Family(
            f"{seats} draw, but two tiles",
            (Game("draw", seats, {"hand": hand, "reserve": 2}), Game("bergen", seats, {"opening": "highest_double"})),
        )
        for seats, hand in ((2, 6), (3, 6), (4, 5))
    ],
    *[
        Family(
            f"{seats} draw all tiles",
            (
                Game("draw", seats, {"hand": hand, "reserve": 0, "opening": "rotate"}),
                Game("kozel", seats, {"hand": hand}),
                Game("all-fives", seats, {"hand": hand, "opening": "rotate", "spinner": "none"}),
            ),
        )
        for seats, hand in ((2, 7), (3, 7), (4, 5))
    ],
    Family(
        "the ends count the same on a line",
        (
            Game("fives-and-threes", 4, {"hand": 7, "target": 1000}),
            Game("all-fives", 4, {"hand": 7, "opening": "rotate", "spinner": "none"}),
        ),
        counts_alike=True,
    ),
    Family(
        "partners",
        (Game("block", 4, {"hand": 7, "teams": 2, "blocked_score": "others"}), Game("latin", 4, {"table": "classic"})),
        scores_alike=True,
    ),
    *[
        Family(
            f"nothing to draw, {blocked_score}, {teams} teams",
            (
                Game("block", 4, {"hand": 7, "blocked_score": blocked_score, "teams": teams}),
                Game("draw", 4, {"hand": 7, "blocked_score": blocked_score, "teams": teams}),
            ),
            scores_alike=True,
        )
        for blocked_score in ("minus_own", "others", "all")
        for teams in (0, 2)
    ],
)


def same_round(games: tuple[Game, ...], rng: Random) -> tuple[list[OurMatch], set[Tile]]:
    """Matches of these games with the same deal, which the same seat opens, and the tiles with which it may in all."""
    for _ in range(MAX_DEALS):
        for deal in deals(games[0], rng):
            matches = [OurMatch(game, Deck(bytes(32), (deal,))) for game in games]
            dealt = Dealt(1, deal.hands, deal.stock, arranged=True)
            if all(can_open(match.rules, match.state, dealt) for match in matches):
                for match in matches:
                    match.deal()
                leads = set.intersection(*[{move.tile for move in match.legal() if move.tile} for match in matches])
                if len({match.turn for match in matches}) == 1 and leads:
                    return matches, leads
    raise AssertionError(f"none of {MAX_DEALS} deals is opened alike")


def deals(game: Game, rng: Random) -> Iterator[ArrangedDeal]:
    """A random deal, and the same with its hands one seat further, and so on."""
    rules = OurMatch(game, Deck(bytes(32))).rules
    hands, stock = split(rng.sample(rules.tiles, len(rules.tiles)), [rules.hand_size(game.seats)] * game.seats)
    for first in range(game.seats):
        yield ArrangedDeal(hands[first:] + hands[:first], stock)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: str(family.name))
def test_a_family_makes_the_same_rounds(family: Family, figures: Figures) -> None:
    counted: Counter[str] = Counter()
    rng = Random(family.name)

    for _ in range(fewer(ROUNDS)):
        matches, leads = same_round(family.games, rng)
        one = matches[0]
        while one.turn is not None:
            legal = [choices(match, leads, family) for match in matches]
            where = f"after {one.events}"
            assert all(list(each) == list(legal[0]) for each in legal), where
            choice = rng.choice(list(legal[0]))
            for match, moves in zip(matches, legal, strict=True):
                match.make(moves[choice])
            assert {match.turn for match in matches} == {one.turn}, where
            counted[str(choice[0])] += 1
        assert {ending(match) for match in matches} == {ending(one)}
        if family.scores_alike:
            assert {match.result.scores for match in matches} == {one.result.scores}
        counted["rounds"] += 1
        counted[one.result.ended_by] += 1
    assert counted["out"]
    assert counted["blocked"]
    figures(f"alike: {family.name}", counted)


def choices(match: OurMatch, leads: set[Tile], family: Family) -> dict[tuple[object, ...], Move]:
    """The legal moves, each by what has to be the same in all games; of the leads those that are legal in all."""
    return {
        (move.action, move.tile, move.end, move.ends_sum if family.counts_alike else None): move
        for move in match.legal()
        if match.state.layout.placements or move.tile in leads
    }


def ending(match: OurMatch) -> tuple[object, ...]:
    """Why the round ended, and the tiles that were left."""
    return match.result.ended_by, *[left.tiles for left in match.result.hands]
