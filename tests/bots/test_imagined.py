"""A state is made of what a seat has seen, and of the hands and the stock that it cannot see."""

from __future__ import annotations

from service.engine.view import imagined
from tests.bots.seen import moments
from tests.laws.matches import Case, Match, law


@law(matches=40)
def test_a_state_imagined_with_the_true_hands_and_stock_is_the_true_one(match: Match) -> None:
    assert_true(match)


def test_4_6_who_alone_holds_tiles_begins_a_new_turn_without_a_draw() -> None:
    """Few matches of the law come to that."""
    assert_true(Match(Case("dominospiel", 5, (), "alone 70", 70, 40)))


def assert_true(match: Match) -> None:
    for number, moment in enumerate(moments(match)):
        seen = moment.seen_by(match, number % match.case.seats)
        assert (
            imagined(match.rules, seen.view, seen.events, moment.state.hands, stock=moment.state.stock) == moment.state
        )
