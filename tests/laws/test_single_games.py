"""What holds in every match of a single game."""

from __future__ import annotations

import pytest

from service.engine.events import RoundEnded
from service.engine.tiles import pips
from tests.laws.matches import Match, law

pytestmark = pytest.mark.gate


@law(game="block")
def test_who_goes_out_scores_the_pips_of_the_other_sides(match: Match) -> None:
    """The partner's hand counts for nobody (rules 6.5)."""
    for _, event, _ in match.happenings:
        if isinstance(event, RoundEnded) and event.round.ended_by == "out":
            winner = event.round.winner
            assert winner is not None
            side = match.rules.side(winner)
            others = sum(pips(left.tiles) for left in event.round.hands if left.seat not in side)
            assert event.round.scores == tuple([others if seat in side else 0 for seat in match.seats])


@law(game="all-fives", matches=60)
def test_what_hands_come_to_is_rounded_by_at_most_two_pips(match: Match) -> None:
    """Once for all hands, or hand by hand (rules 8.9, 8.10)."""
    for before, event, _ in match.happenings:
        if isinstance(event, RoundEnded) and event.round.ended_by == "out":
            counted = event.round
            assert counted.winner is not None
            side = match.rules.side(counted.winner)
            others = [left for left in counted.hands if left.seat not in side]
            placed = sum(each.points for each in before.placements_scored if each.seat == counted.winner)
            scored = counted.scores[counted.winner] - placed
            roundings = 1 if match.rules.settings["rounding"] == "total" else len(others)
            assert not scored % 5
            assert abs(scored - sum(pips(left.tiles) for left in others)) <= 2 * roundings


@law(game="fives-and-threes", matches=60)
def test_no_total_passes_a_target_that_must_be_hit(match: Match) -> None:
    """With ``exact``, points that would bring a total over the target are not written (rules 9.9)."""
    target = match.rules.settings["target"]
    assert isinstance(target, int)
    for state in match.states:
        assert not match.rules.settings["exact"] or max(state.running_totals()) <= target


@law(game="tiddly-wink")
def test_a_pool_is_paid_by_the_others_and_by_nobody_else(match: Match) -> None:
    """The stakes of a round add up to nothing (rules 13.7)."""
    for _, event, _ in match.happenings:
        if isinstance(event, RoundEnded) and match.rules.settings["scoring"] == "pool":
            assert not sum(event.round.scores)
