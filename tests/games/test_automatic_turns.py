"""Turns without a choice: with ``auto``, draws and passes to which people are forced are made with the move before."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from service.engine.events import Drew, Passed
from service.engine.moves import DRAW, PASS, Move
from service.engine.presence import Left, Returned
from service.engine.referee import forced_move, legal_moves
from service.engine.state import PLAYING
from service.engine.variants import variants
from service.games.model.clock import ClockSettings
from service.games.model.game_events import EventEnvelope, GameEvent
from tests.laws.matches import setups
from tests.records.hosted import MANY, HostedMatch, hosted_match

KEYS = sorted(variants())
MOST = 150
"""Decisions of people in a match."""
SETUPS = 4
BANK = 600_000


def history(match: HostedMatch) -> list[EventEnvelope]:
    return list(match.repository.histories.history(match.game))


def is_marked(event: GameEvent) -> bool:
    return isinstance(event, Drew | Passed) and event.auto is not None


def unmarked(event: GameEvent) -> GameEvent:
    return replace(event, auto=None) if isinstance(event, Drew | Passed) else event


def decide(match: HostedMatch, most: int) -> list[tuple[int, Move]]:
    """So many decisions of the people of a match, with their seats."""
    made: list[tuple[int, Move]] = []
    while len(made) < most and not match.over:
        game = match.game
        seat = match.rng.choice(game.to_act)
        move = match.rng.choice(legal_moves(game.rules, game.state, seat))
        match.now += 1000
        match.move(seat, move)
        made.append((seat, move))
    return made


def force(match: HostedMatch) -> None:
    """Make the moves to which people are forced by hand."""
    while (game := match.game).state.phase == PLAYING and (move := forced_move(game.rules, game.state)) is not None:
        assert game.state.turn is not None
        match.move(game.state.turn, move)


@pytest.mark.parametrize("key", KEYS)
def test_a_match_is_the_same_as_one_in_which_these_moves_are_made_by_hand(key: str) -> None:
    marked = 0
    for number, (seats, options) in enumerate(Random(key).sample(found := setups(key), min(SETUPS, len(found)))):
        people = (None,) * seats
        made = [
            HostedMatch(key, people, seed=number, options=dict(options), dealt_from=f"{number}", auto=auto)
            for auto in (True, False)
        ]
        by_itself, by_hand = made
        for seat, move in decide(by_itself, MOST):
            by_hand.move(seat, move)
            force(by_hand)
        events, expected = ([each.event for each in history(match)] for match in made)
        assert [unmarked(event) for event in events] == expected
        assert by_itself.game.state == by_hand.game.state
        assert not any(map(is_marked, expected))
        marked += sum(map(is_marked, events))
    assert marked > 0


@pytest.mark.parametrize("key", KEYS)
def test_nobody_is_asked_for_a_move_that_is_the_only_draw_or_pass(key: str) -> None:
    seats, options = setups(key)[0]
    match = HostedMatch(key, (None,) * seats, seed=5, options=dict(options), auto=True)
    for _ in range(MOST):
        game = match.game
        if match.over:
            break
        seat = game.to_act[0]
        moves = legal_moves(game.rules, game.state, seat)
        assert len(moves) > 1 or moves[0] not in (DRAW, PASS)
        match.move(seat, match.rng.choice(moves))


def test_a_pass_after_a_draw_that_is_kept_is_never_marked() -> None:
    """The seat could have laid the tile (rules 5.5)."""
    match = HostedMatch("domino", (None, None), seed=1, auto=True)
    assert match.game.rules.drawing.keep
    decide(match, 400)
    events = [each.event for each in history(match)]
    after_a_draw = [
        event
        for before, event in pairwise(events)
        if isinstance(event, Passed) and isinstance(before, Drew) and before.seat == event.seat
    ]
    assert after_a_draw
    assert not any(map(is_marked, after_a_draw))
    assert any(is_marked(event) for event in events if isinstance(event, Drew))


def test_no_bank_pays_for_a_turn_without_a_choice() -> None:
    clock = ClockSettings(bank=BANK)
    match = HostedMatch("draw", (None, None, None), seed=2, clock=clock, dealt_from="2", auto=True)
    playing = 0
    for _ in range(60):
        game = match.game
        if game.state.phase != PLAYING or game.state.round > 1:
            break
        playing += 1
        decide(match, 1)
    game = match.game
    assert any(map(is_marked, [each.event for each in history(match)]))
    # Each decision took a second, whoever's turn it was: the forced moves, and who waited, took none.
    assert sum(BANK - bank for bank in game.running_clock.banks) == 1000 * playing


def test_only_moves_of_people_who_are_present_are_marked() -> None:
    marked = 0
    for number in range(1, MANY, 2):
        match = hosted_match(number)
        away: set[int] = set()
        for each in history(match):
            event = each.event
            if isinstance(event, Returned):
                away.discard(event.seat)
            elif isinstance(event, Left):
                away.add(event.seat)
            elif is_marked(event):
                assert isinstance(event, Drew | Passed)
                assert match.game.seats[event.seat].level is None
                assert event.seat not in away
                marked += 1
    assert marked > 50


def test_moves_without_a_choice_have_the_time_and_the_write_of_the_move_before() -> None:
    match = HostedMatch("draw", (None, None), seed=3, auto=True)
    decide(match, 100)
    events = history(match)
    forced = [(before, each) for before, each in pairwise(events) if is_marked(each.event)]
    assert forced
    assert all(before.at == each.at for before, each in forced)
