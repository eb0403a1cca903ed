"""Where the tiles are."""

from __future__ import annotations

import pytest

from service.engine.deal import ArrangedDeal, Deck
from service.engine.events import Dealt, Drew, Played
from service.engine.referee import advance
from service.engine.state import PLAYING, Hand
from service.engine.tiles import sort_tiles
from tests.laws.matches import Match, law

pytestmark = pytest.mark.quick


@law()
def test_every_tile_is_in_exactly_one_place(match: Match) -> None:
    assert not any((*match.states[0].hands, match.states[0].stock))
    for happening in match.happenings:
        state = happening.after
        laid = [placement.tile for placement in state.layout.placements]
        assert sort_tiles([*laid, *state.stock, *[tile for hand in state.hands for tile in hand]]) == match.rules.tiles


@law()
def test_a_tile_moves_only_by_the_event_that_says_so(match: Match) -> None:
    for before, event, after in match.happenings:
        if isinstance(event, Dealt):
            assert (after.hands, after.stock, after.layout.placements) == (event.hands, event.stock, ())
            continue
        hands = list(before.hands)
        stock = before.stock
        laid = [(placement.tile, placement.seat) for placement in before.layout.placements]
        if isinstance(event, Played):
            hands[event.seat] = tuple([tile for tile in hands[event.seat] if tile != event.tile])
            laid.append((event.tile, event.seat))
        elif isinstance(event, Drew):
            assert event.tile == stock[0]
            hands[event.seat] = sort_tiles([*hands[event.seat], event.tile])
            stock = stock[1:]
        assert after.hands == tuple(hands)
        assert after.stock == stock
        assert [(placement.tile, placement.seat) for placement in after.layout.placements] == laid


@law()
def test_hands_are_sorted(match: Match) -> None:
    for state in match.states:
        assert state.hands == tuple([sort_tiles(hand) for hand in state.hands])


@law()
def test_a_deal_gives_as_many_tiles_as_the_rules_say_to_those_who_are_in(match: Match) -> None:
    for before, event, _ in match.happenings:
        if isinstance(event, Dealt):
            size = match.rules.hand_size(len(before.active_seats()))
            assert size > 0
            assert [len(hand) for hand in event.hands] == [
                0 if before.eliminated_round[seat] else size for seat in match.seats
            ]
            assert not event.arranged


@law()
def test_only_seats_that_are_in_hold_tiles_in_a_running_round(match: Match) -> None:
    for state in match.states:
        if state.phase == PLAYING:
            assert not any(state.hands[seat] for seat in match.seats if state.eliminated_round[seat])


@law()
def test_hidden_tiles_stay_hidden(match: Match) -> None:
    hidden: Hand = ()
    for state in match.states:
        if state.phase == PLAYING and not state.layout.placements:
            hidden = state.stock[-match.rules.reserve :] if match.rules.reserve else ()
        assert state.stock[len(state.stock) - len(hidden) :] == hidden
        assert match.rules.drawable(state) == max(0, len(state.stock) - match.rules.reserve)


@law(matches=10)
def test_deals_can_be_arranged_and_play_as_if_they_had_been_shuffled(match: Match) -> None:
    """The hands of an arranged deal may come in any order; the stock comes as it is drawn."""
    deals = [event for event in match.events if isinstance(event, Dealt)]
    arranged = tuple(
        [
            ArrangedDeal(tuple([tuple(match.rng.sample(hand, len(hand))) for hand in deal.hands]), deal.stock)
            for deal in deals
        ]
    )
    deck = Deck(b"another seed, never looked into.", arranged)
    state = match.states[0]
    for step in match.steps:
        events, state = advance(match.rules, deck, state, step.seat, move=step.move)
        first, *others = step.events
        if isinstance(first, Dealt):
            first = Dealt(first.round, first.hands, first.stock, arranged=True)
        assert events == (first, *others)
        assert state == step.after


@law()
def test_an_arranged_deal_is_taken_only_if_its_empty_hands_are_those_who_are_out(match: Match) -> None:
    """Else, and after the last arranged deal, the round is shuffled as if there were none."""
    deals = [(step, event) for step in match.steps for event in step.events if isinstance(event, Dealt)]
    everybody = ArrangedDeal(deals[0][1].hands, deals[0][1].stock)
    for step, dealt in deals:
        taken = Dealt(dealt.round, everybody.hands, everybody.stock, arranged=True)
        always = Deck(match.deck.seed, (everybody,) * dealt.round)
        somebody_out = any(step.before.eliminated_round)
        assert advance(match.rules, always, step.before, step.seat, move=step.move)[0] == (
            dealt if somebody_out else taken,
        )
        once = Deck(match.deck.seed, (everybody,))
        assert advance(match.rules, once, step.before, step.seat, move=step.move)[0] == (
            taken if dealt.round == 1 else dealt,
        )
