"""The generated matches reach what the games have, and every match comes to its end."""

from __future__ import annotations

from typing import get_args

import pytest

from service.engine.events import Dealt, EndReason, Event, Finished, RoundEnded
from service.engine.moves import ACTIONS
from service.engine.state import FINISHED, PLAYING
from service.engine.variants import variants
from tests.laws.matches import TIMES, Case, Match, cases, law, option_values, setups
from tests.support.lanes import fewer

pytestmark = pytest.mark.quick


@pytest.mark.nightly
def test_together_the_matches_show_every_action_event_and_reason() -> None:
    actions, events, reasons = set(), set(), set()
    for key in variants():
        for case in cases(key, "everything", 60):
            match = Match(case)
            actions |= {step.move.action for step in match.steps}
            events |= {type(event) for event in match.events}
            reasons |= {event.round.ended_by for event in match.events if isinstance(event, RoundEnded)}
    assert actions == set(ACTIONS)
    assert events == set(get_args(Event))
    assert reasons == set(get_args(EndReason))


@pytest.mark.parametrize("key", variants())
def test_every_number_of_players_and_every_value_of_an_option_is_played(key: str) -> None:
    variant = variants()[key]
    assert {seats for seats, _ in setups(key)} == set(range(variant.players.low, variant.players.high + 1))
    played = {choice for _, options in setups(key) for choice in options}
    assert played == {(option.key, value) for option in variant.options for value in option_values(option)}
    drawn = {choice for case in cases(key, "every value", 400) for choice in case.options}
    assert drawn == played


@law()
def test_a_round_ends_in_a_bounded_number_of_moves(match: Match) -> None:
    """Between two tiles laid or drawn there is at most one pass or done a seat."""
    most = (2 * len(match.rules.tiles) + 1) * (len(match.seats) + 1)
    moves = 0
    for step in match.steps:
        moves = 0 if isinstance(step.events[0], Dealt) else moves + 1
        assert moves <= most


@pytest.mark.parametrize("key", variants())
def test_a_match_ends(key: str) -> None:
    numbers = [option for option in variants()[key].options if not option.values]
    long = {(each.key, value) for each in numbers for value in (each.low + 40, each.high) if value > each.low + 6}
    for case in cases(key, "the end", fewer(40) * TIMES):
        short = tuple([choice for choice in case.options if choice not in long or choice[0] == "hand"])
        match = Match(Case(key, case.seats, short, case.seed, case.move_seed, moves=20_000))
        assert match.states[-1].phase == FINISHED, case
        assert isinstance(match.events[-1], Finished)
        assert [event for event in match.events if isinstance(event, Finished)] == [match.events[-1]]


@law()
def test_events_come_in_their_order(match: Match) -> None:
    """A deal, then what the seats do; the count, who goes out by it, and at most one end of the match."""
    for step in match.steps:
        names = [type(event).__name__ for event in step.events]
        if len(names) == 1:
            assert names[0] not in ("RoundEnded", "Eliminated", "Finished")
            assert step.after.phase == PLAYING
        else:
            assert names[0] in ("Played", "Drew", "Flipped")
            assert names[1] == "RoundEnded"
            assert set(names[2:-1]) <= {"Eliminated"}
            assert names[-1] in ("RoundEnded", "Eliminated", "Finished")
            assert step.after.phase != PLAYING
