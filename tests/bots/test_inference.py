"""What a seat infers is never wrong, and not nothing. The worked examples are named after the rule they follow from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.bots.inference import infer
from service.bots.knowledge import Knowledge, observe, tile_set
from service.engine.events import Dealt
from service.engine.state import PLAYING, State
from service.engine.tiles import TILES, Tile
from service.engine.variant import Opening
from service.engine.variants import variants
from tests.bots.seen import Moment, is_possible, moments
from tests.conftest import Figures
from tests.engine.table import EngineTable, tiles
from tests.laws.matches import Case, Match, law, setups

pytestmark = pytest.mark.gate


def candidates(table: EngineTable, viewer: int, seat: int) -> list[set[Tile]]:
    """What a viewer knows of each tile of a seat."""
    start = max(place for place, event in enumerate(table.log) if isinstance(event, Dealt))
    known = infer(table.rules, observe(table.rules, table.state, table.log[start:], viewer))
    return [{tile for tile in TILES if each >> tile.index & 1} for each in known.candidates[seat]]


def with_number(*numbers: int) -> set[Tile]:
    return {tile for tile in TILES if {tile.low, tile.high} & set(numbers)}


def unseen(table: EngineTable, viewer: int) -> set[Tile]:
    seen = {*table.state.hands[viewer], *[placement.tile for placement in table.layout.placements]}
    return set(table.rules.tiles) - seen


# Soundness


def wrongly_excluded(known: Knowledge, moment: Moment, seat: int) -> list[int]:
    """The seats whose true hand is not among the candidates."""
    others = [(other, hand) for other, hand in enumerate(moment.state.hands) if other != seat]
    return [other for other, hand in others if not is_possible(hand, known.candidates[other])]


@law(matches=30)
def test_the_true_hands_are_always_among_the_candidates(match: Match) -> None:
    for number, moment in enumerate(moments(match)):
        seat = match.rng.choice(match.seats)
        known = infer(match.rules, moment.seen_by(match, seat))
        assert not wrongly_excluded(known, moment, seat), (number, seat)


def test_an_opener_who_follows_from_the_last_one_tells_nothing_wrong() -> None:
    def next_seat_leads(state: State) -> Opening:
        last = state.opener
        seat = 0 if last is None else last if state.turn is not None else (last + 1) % 4
        return Opening(seat, state.hands[seat])

    match = Match(Case("block", 4, (), "openers", 1))
    match.rules = replace(match.rules, opening=next_seat_leads)
    assert match.states[-1].round > 4
    for number, moment in enumerate(moments(match)):
        for seat in match.seats:
            known = infer(match.rules, moment.seen_by(match, seat))
            assert not wrongly_excluded(known, moment, seat), (number, seat)


def test_4_6_of_a_tile_that_the_only_seat_with_tiles_draws_nothing_wrong_is_told() -> None:
    """Few matches of the law come to that."""
    match = Match(Case("dominospiel", 5, (), "alone 1197", 1197, 30))
    for moment in moments(match):
        for seat in match.seats:
            assert not wrongly_excluded(infer(match.rules, moment.seen_by(match, seat)), moment, seat)


@law(matches=4)
def test_the_candidates_are_unseen_tiles(match: Match) -> None:
    for moment in moments(match):
        for seat in match.seats:
            known = infer(match.rules, moment.seen_by(match, seat))
            hands = moment.state.hands
            seen = {*hands[seat], *[placement.tile for placement in moment.state.layout.placements]}
            assert set(known.unseen) == set(match.rules.tiles) - seen
            assert [len(each) for each in known.candidates] == [
                0 if other == seat else len(hand) for other, hand in enumerate(hands)
            ]
            assert not any([tiles & ~tile_set(known.unseen) for each in known.candidates for tiles in each])


@pytest.mark.soak
@pytest.mark.parametrize("key", variants())
def test_the_true_hands_are_among_the_candidates_with_every_choice_of_options(key: str, figures: Figures) -> None:
    """Every number of players with every choice of options, each in one match that is seen by all."""
    hands = wrong = looks = telling = 0
    for number, (seats, options) in enumerate(setups(key)):
        match = Match(Case(key, seats, options, f"knowledge {number}", number, 120))
        for place, moment in enumerate(moments(match)):
            seat = (place + number) % seats
            known = infer(match.rules, moment.seen_by(match, seat))
            full = tile_set(known.unseen)
            looks += 1
            telling += any([tiles != full for each in known.candidates for tiles in each])
            hands += sum([1 for other, hand in enumerate(moment.state.hands) if hand and other != seat])
            wrong += len(wrongly_excluded(known, moment, seat))
    figures(f"knowledge, {key}", {"hands": hands, "wrongly excluded": wrong, "looks": looks, "that tell": telling})
    assert not wrong


# Worked examples

LUPUS, WOLF, FIDO, SIMPLE, DOMINO = "homo-homini-lupus", "menschenwolf", "fido", "dominospiel", "domino"


def test_1_2_nobody_holds_a_double_below_the_one_that_was_led() -> None:
    table = EngineTable(LUPUS, "2-2 3-3 …", "0-1 0-2 0-3 0-4 0-5 0-6", "…", "…", stock="0-0 1-1")
    table.play("2-2")
    for seat in (0, 2, 3):
        assert candidates(table, 1, seat) == [unseen(table, 1) - set(tiles("0-0 1-1"))] * (5 if seat == 0 else 6)


def test_1_2_who_is_to_open_knows_that_too() -> None:
    table = EngineTable(LUPUS, "2-2 3-3 …", "…", "…", "…", stock="0-0 1-1")
    assert candidates(table, 0, 1) == [unseen(table, 0) - set(tiles("0-0 1-1"))] * 6


def test_1_6_who_draws_had_nothing_that_fits_until_a_drawn_tile_was_laid() -> None:
    table = EngineTable(LUPUS, "0-0 …", "1-1 1-2 1-3 1-4 1-5 1-6", "…", "…", stock="2-2 0-6 5-5 6-6")
    table.play("0-0", "draw")
    assert candidates(table, 2, 1) == [unseen(table, 2) - with_number(0)] * 6 + [unseen(table, 2)]
    table.play("draw")
    assert candidates(table, 2, 1) == [unseen(table, 2) - with_number(0)] * 7 + [unseen(table, 2)]
    table.play("0-6@0-0.long")
    assert candidates(table, 2, 1) == [unseen(table, 2) - with_number(0)] * 7


def test_2_3_nobody_was_dealt_the_one_two_or_a_higher_double_than_the_one_that_was_led() -> None:
    table = EngineTable(WOLF, "5-5 …", "…", stock="1-2 6-6")
    table.play("5-5")
    assert candidates(table, 1, 0) == [unseen(table, 1) - set(tiles("1-2 6-6"))] * 6


def test_2_3_the_winner_leads_with_any_tile_in_later_rounds_which_tells_nothing() -> None:
    table = EngineTable(WOLF, "1-2 …", "…")
    table.play_out()
    table.do(0, "deal")
    assert table.turn is not None
    leader, lead = table.turn, table.state.hands[table.turn][0]
    table.play(lead.name)
    watcher = 1 - leader
    assert candidates(table, watcher, leader) == [unseen(table, watcher)] * 6


def test_2_6_a_turn_that_ends_after_a_double_tells_that_no_other_double_fits() -> None:
    table = EngineTable(WOLF, "1-2 …", "2-2 0-0 4-4 5-5 0-3 3-4 4-5", stock="1-1 3-3 6-6 0-5 5-6")
    table.play("1-2", "2-2@1-2")
    assert table.turn == 0
    fitting = set(tiles("1-1 2-2")) & unseen(table, 0)
    assert candidates(table, 0, 1) == [unseen(table, 0) - fitting] * 6


def test_2_7_who_draws_had_nothing_that_fits() -> None:
    table = EngineTable(WOLF, "1-2 0-1 0-2 1-3 1-4 1-5 1-6", "0-0 0-3 0-4 0-5 0-6 3-3 3-4", stock="5-6 2-5")
    table.play("1-2", "draw")
    assert candidates(table, 0, 1) == [unseen(table, 0) - with_number(1, 2)] * 7 + [unseen(table, 0)]
    table.play("draw", "2-5")
    assert candidates(table, 0, 1) == [unseen(table, 0) - with_number(1, 2)] * 8


def test_2_8_after_a_flip_all_hands_are_known() -> None:
    table = EngineTable(WOLF, "1-2 0-1 0-2 1-3 1-4 1-5 1-6", "0-0 0-3 0-4 0-5 0-6 3-3 3-4")
    table.play("1-2", "flip")
    assert candidates(table, 0, 1) == [{tile} for tile in table.state.hands[1]]


def test_2_8_the_second_player_who_passes_instead_of_a_flip_had_nothing_that_fits() -> None:
    """Four players: the stock is all hidden (rules 2.2)."""
    table = EngineTable(WOLF, "1-2 0-1 0-2 1-3 1-4 1-5 1-6", "0-0 0-3 0-4 0-5 0-6 3-3 3-4", "…", "…")
    table.play("1-2", "pass")
    for watcher in (0, 2, 3):
        assert candidates(table, watcher, 1) == [unseen(table, watcher) - with_number(1, 2)] * 7


def test_3_3_nobody_was_dealt_a_higher_double_than_the_one_that_was_led() -> None:
    table = EngineTable(FIDO, "4-4 …", "…", "…", stock="5-5 6-6", set=6)
    table.play("4-4")
    assert candidates(table, 1, 2) == [unseen(table, 1) - set(tiles("5-5 6-6"))] * 7


def test_3_7_of_a_drawn_tile_that_has_to_wait_nothing_is_known() -> None:
    table = EngineTable(FIDO, "6-6 …", "0-0 0-1 0-2 0-3 0-4 0-5 1-1", "…", stock="4-5 3-6", set=6)
    table.play("6-6", "draw")
    assert candidates(table, 2, 1) == [unseen(table, 2) - with_number(6)] * 7 + [unseen(table, 2)]
    assert candidates(table, 0, 2) == [unseen(table, 0)] * 7


def test_4_4_a_turn_that_ends_by_itself_tells_that_nothing_fits_any_more() -> None:
    table = EngineTable(SIMPLE, "0-0 1-1 2-2 3-3 4-4", "…", "…", "…", "…")
    table.play("0-0")
    assert table.turn == 1
    assert candidates(table, 1, 0) == [unseen(table, 1) - with_number(0)] * 4


def test_4_4_who_says_done_could_have_gone_on() -> None:
    table = EngineTable(SIMPLE, "0-0 0-1 2-2 3-3 4-4", "0-2 …", "…", "…", "…")
    table.play("0-0", "done")
    known = infer(table.rules, observe(table.rules, table.state, table.log, 1))
    assert [condition.seat for condition in known.conditions] == [0]
    fitting = tile_set(tuple(unseen(table, 1) & with_number(0)))
    assert known.conditions[0].tiles == (fitting,) * 4
    assert candidates(table, 1, 0) == [unseen(table, 1)] * 4


def test_4_5_who_buys_and_goes_on_bought_a_tile_that_fits_and_else_one_that_does_not() -> None:
    hands = ("0-0 1-1 2-2 3-3 4-4", "1-2 1-3 1-4 1-5 1-6", "2-4 2-5 2-6 3-4 3-5", "…", "…")
    table = EngineTable(SIMPLE, *hands, stock="2-3 0-5")
    table.play("0-0", "draw")
    assert table.turn == 2
    assert candidates(table, 3, 1) == [unseen(table, 3) - with_number(0)] * 6
    table.play("draw")
    assert table.turn == 2
    before = unseen(table, 3)
    assert candidates(table, 3, 2) == [before - with_number(0)] * 5 + [before & with_number(0)]
    table.play("0-5@left")
    assert candidates(table, 3, 2) == [unseen(table, 3) - with_number(0)] * 5


def test_5_3_a_seat_may_hold_a_higher_double_only_if_the_opener_may_hold_a_still_higher_one() -> None:
    table = EngineTable(DOMINO, "2-2 5-5 …", "…", "…", stock="6-6")
    table.play("2-2")
    assert candidates(table, 1, 0) == [unseen(table, 1)] * 6
    assert candidates(table, 1, 2) == [unseen(table, 1) - set(tiles("6-6"))] * 7


def test_5_5_a_tile_that_was_drawn_and_kept_fits_and_one_that_ended_the_turn_does_not() -> None:
    hands = ("6-6 …", "0-1 0-2 0-3 0-4 0-5 1-1 1-2", "1-3 1-4 1-5 2-2 2-3 2-4 2-5")
    table = EngineTable(DOMINO, *hands, stock="3-6 4-5")
    table.play("6-6", "draw", "pass")
    before = unseen(table, 0)
    assert candidates(table, 0, 1) == [before - with_number(6)] * 7 + [before & with_number(6)]
    table.play("draw")
    assert table.turn == 0
    before = unseen(table, 0)
    assert candidates(table, 0, 2) == [before - with_number(6)] * 8
    assert candidates(table, 0, 1) == [before - with_number(6)] * 7 + [before & with_number(6)]


def test_5_5_a_pass_on_threes_tells_that_no_tile_has_a_three() -> None:
    table = EngineTable(DOMINO, "3-3 6-6 …", "0-0 0-1 0-2 1-1 1-2 2-2 4-4", "…", "…")
    table.play("3-3", "pass")
    for watcher in (0, 2, 3):
        assert candidates(table, watcher, 1) == [unseen(table, watcher) - with_number(3) - set(tiles("6-6"))] * 7


def test_5_5_a_laid_tile_is_the_one_that_was_known_best() -> None:
    hands = ("6-6 …", "0-1 0-2 0-3 0-4 0-5 1-1 1-2", "…")
    table = EngineTable(DOMINO, *hands, stock="3-6")
    table.play("6-6", "draw", "3-6@left")
    assert candidates(table, 0, 1) == [unseen(table, 0) - with_number(6)] * 7


def test_a_seat_that_is_out_of_the_match_infers_too() -> None:
    match = Match(Case("menschenwolf", 6, (("limit", 10),), "out", 1))
    for moment in moments(match):
        out = [seat for seat in match.seats if moment.state.eliminated_round[seat]]
        if out and moment.state.phase == PLAYING:
            known = infer(match.rules, moment.seen_by(match, out[0]))
            assert not wrongly_excluded(known, moment, out[0])
            return
    raise AssertionError("nobody went out")
