"""Events are all there is: they give the state, and the same causes give the same events."""

from __future__ import annotations

import pytest

from service.engine.layout import Layout, empty_layout
from service.engine.referee import advance, apply
from service.engine.replay import layout_after, replay
from service.engine.view import event_view
from tests.laws.matches import Match, law

pytestmark = pytest.mark.quick


@law()
def test_a_replay_of_the_events_gives_the_state(match: Match) -> None:
    assert replay(match.rules, match.events) == match.states[-1]
    for step in match.some_steps(2):
        until = match.steps.index(step) + 1
        events = [event for earlier in match.steps[:until] for event in earlier.events]
        assert replay(match.rules, events) == step.after


@law()
def test_the_table_follows_from_what_anybody_may_know_of_the_events(match: Match) -> None:
    seen: Layout | None = empty_layout(match.rules.form)
    known = seen
    for happening in match.happenings:
        seen = layout_after(match.rules, seen, event_view(happening.event, None))
        known = layout_after(match.rules, known, happening.event)
        assert seen == known == happening.after.layout


@law()
def test_the_events_applied_one_by_one_give_the_state_that_advance_gives(match: Match) -> None:
    for step in match.steps:
        events, after = advance(match.rules, match.deck, step.before, step.seat, move=step.move)
        assert (events, after) == (step.events, step.after)
        state = step.before
        for event in events:
            state = apply(match.rules, state, event)
        assert state == step.after


@law()
def test_the_same_match_played_again_is_the_same(match: Match) -> None:
    assert Match(match.case).steps == match.steps


@law()
def test_it_does_not_matter_which_seat_that_is_in_asks_for_the_deal(match: Match) -> None:
    for step in match.steps:
        if step.move.action == "deal":
            for seat in step.before.active_seats():
                assert advance(match.rules, match.deck, step.before, seat, move=step.move) == (step.events, step.after)


@law()
def test_rounds_are_numbered_from_one(match: Match) -> None:
    state = match.states[0]
    assert (state.round, state.phase) == (0, "round_over")
    for step in match.steps:
        assert step.after.round == step.before.round + (step.move.action == "deal")
