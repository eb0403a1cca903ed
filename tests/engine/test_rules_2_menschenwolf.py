"""Rules 2: Der Mensch ist des Menschen Wolf, a test a statement."""

from __future__ import annotations

import pytest

from service.engine.errors import GameOver, NotInMatch
from service.engine.events import Dealt, Drew, Eliminated, Finished, Flipped, RoundEnded
from service.engine.state import FINISHED, PLAYING, ROUND_OVER
from service.engine.tiles import double_set
from service.engine.view import view
from tests.engine.table import EngineTable, assert_players, names, tiles, variant

WOLF = "menschenwolf"

A_GOES_OUT = (
    "0-1 0-5 2-6 3-5 3-6 4-4 5-5",
    "0-0 0-6 1-1 1-3 1-4 2-2 2-4",
    "0-2 0-4 1-2 1-6 4-5 4-6 6-6",
    "0-3 1-5 2-3 2-5 3-3 3-4 5-6",
)
A_GOES_OUT_PLAY = """
    1-2 2-3
    3-5 1-1 4-5 3-4
    0-1 0-6 1-6@1-1.short 3-3
    2-6@1-6 1-4 0-2 0-3@0-2
    3-6@3-3.long 2-4 4-6@0-6 5-6
    4-4 5-5 2-2 0-4 1-5
    0-5
"""
"""The first worked example of 2.11: A is out, B keeps 0-0 1-3, C 6-6, D 2-5."""

TWO_LOSERS = (
    "0-4 2-2 2-6 3-3 4-4 4-5 6-6",
    "0-0 0-2 0-6 1-6 2-4 4-6 5-5",
    "0-3 0-5 1-1 1-3 2-5 3-6 5-6",
    "0-1 1-2 1-4 1-5 2-3 3-4 3-5",
)
TWO_LOSERS_PLAY = """
    1-2
    2-6 1-6@2-6 1-3@1-2 0-1
    3-3 0-0 0-3@3-3.long 3-5@3-3.short
    4-5 2-4 0-5@0-0.long 3-4
    4-4 2-2 0-2@2-2.long 2-5 1-4
    0-4@0-3 0-6 1-1 1-5
    6-6
"""
"""The second worked example of 2.11: A is out, B keeps 4-6 5-5, C 3-6 5-6, D 2-3."""


def end_round(table: EngineTable, lead: str, *hands: str) -> None:
    """Let the round end with these hands: the opener leads, then is out, or the second player turns the lead over."""
    assert table.turn is not None
    opener = table.turn
    held = [f"{lead} {hand}" if seat == opener else hand for seat, hand in enumerate(hands)]
    table.put(*held, stock="0-1 0-2 0-3")
    table.do(opener, lead)
    if hands[opener]:
        assert table.turn is not None
        table.do(table.turn, "flip")
    assert table.state.phase != PLAYING


def after_a_double_lead() -> EngineTable:
    """3-3 lies, the other high doubles and 1-2 are in the stock; seat 1 is to move."""
    table = EngineTable(WOLF, "3-3 3-4 3-6 …", "3-5 1-3 2-3 …", stock="1-2 4-4 5-5 6-6")
    table.do(0, "3-3")
    return table


def before_a_mother_in_mid_chain() -> EngineTable:
    """1-2 2-4 lies; seat 0 holds 4-4, 6-6 and 4-5, seat 1 4-6, 0-4 and 1-3."""
    table = EngineTable(WOLF, "1-2 4-4 6-6 4-5 …", "2-4 4-6 1-3 0-4 …", stock="1-1 2-2")
    table.play("1-2", "2-4")
    assert (table.turn, table.ends()) == (0, [1, 4])
    return table


def nothing_fits_the_second(seats: int, *, stock: str = "") -> EngineTable:
    """1-2 lies; seat 1 holds neither a 1 nor a 2, the last seat 1-3."""
    hands = ["1-2 …", "3-4 5-5 3-3 0-0 0-3 0-4 0-5 3-6 4-4"]
    size = variant(WOLF).rules({}, seats).hand_size(seats)
    hands[1] = " ".join(hands[1].split()[:size])
    table = EngineTable(WOLF, *hands, *["…"] * (seats - 3), *["1-3 …"] * (seats > 2), stock=stock)
    table.do(0, "1-2")
    return table


# 2.1

HANDS = {2: 7, 3: 9, 4: 7, 5: 5, 6: 4, 7: 4, 8: 3, 9: 3, 10: 2, 11: 2, 12: 2, 13: 2}
STOCKS = {2: 14, 3: 1, 4: 0, 5: 3, 6: 4, 7: 0, 8: 4, 9: 1, 10: 8, 11: 6, 12: 4, 13: 2}
DRAWABLE = {2: 12, 3: 0, 4: 0, 5: 1, 6: 2, 7: 0, 8: 2, 9: 0, 10: 6, 11: 4, 12: 2, 13: 0}
"""By the number of players."""


def test_2_1_two_to_thirteen_players_with_the_double_six_set() -> None:
    assert_players(WOLF, 2, 13)
    assert variant(WOLF).rules({}, 2).tiles == double_set(6)


@pytest.mark.parametrize("seats", HANDS)
def test_2_1_and_2_2_the_hands_the_stock_and_what_of_it_can_be_drawn(seats: int) -> None:
    table = EngineTable(WOLF, seats=seats)
    assert table.held == [HANDS[seats]] * seats
    assert len(table.state.stock) == STOCKS[seats]
    assert table.rules.drawable(table.state) == view(table.rules, table.state, None).drawable == DRAWABLE[seats]


def test_2_1_the_table_is_read_anew_for_the_players_still_in() -> None:
    table = EngineTable(WOLF, "1-2 …", "…", "…", "…", limit=10)
    end_round(table, "1-2", "", "0-3", "5-6", "0-4")
    assert table.state.eliminated_round == (0, 0, 1, 0)
    table.do(0, "deal")
    assert table.held == [9, 9, 0, 9]
    assert len(table.state.stock) == 1
    end_round(table, names(table.state.hands[0][:1]), "", "5-6", "", "0-4")
    table.do(3, "deal")
    assert table.held == [7, 0, 0, 7]


def test_2_1_a_deal_arranged_for_a_player_who_is_out_by_then_is_not_taken() -> None:
    """Hands of nine for three would not do for the two who are left."""
    table = EngineTable(WOLF, "1-2 …", "…", "…", limit=10, later=[["6-6 …", "…", "…"], ["6-6 …", "", "…"]])
    end_round(table, "1-2", "", "5-6", "0-1")
    table.do(0, "deal")
    assert table.held == [7, 0, 7]
    assert [dealt.arranged for dealt in table.events(Dealt)] == [True, False]
    end_round(table, names(table.state.hands[0][:1]), "", "", "0-2")
    table.do(0, "deal")
    assert [dealt.arranged for dealt in table.events(Dealt)] == [True, False, True]
    assert table.hand(0).endswith("6-6")


# 2.2


def test_2_2_and_2_7_when_only_the_two_hidden_tiles_are_left_who_cannot_place_passes() -> None:
    table = nothing_fits_the_second(5, stock="5-6 1-1 2-2")
    table.refuses(1, "pass")
    table.do(1, "draw")
    assert (names(table.state.stock), table.legal()) == ("1-1 2-2", {"pass", "flip"})
    table.refuses(1, "draw")
    table.do(1, "pass")
    assert table.turn == 2


# 2.3


def test_2_3_who_holds_1_2_opens_round_1_and_must_lead_it() -> None:
    table = EngineTable(WOLF, "6-6 …", "5-5 …", "1-2 4-4 …")
    assert (table.turn, table.legal()) == (2, {"1-2"})
    table.refuses(2, "4-4 draw pass done flip")
    table.refuses(0, "6-6")
    table.do(2, "1-2")


def test_2_3_without_1_2_the_highest_double_in_any_hand_opens_and_must_be_led() -> None:
    table = EngineTable(WOLF, "3-3 …", "4-4 1-1 5-6 …", stock="1-2 5-5 6-6")
    assert (table.turn, table.legal()) == (1, {"4-4"})
    table.refuses(1, "1-1 5-6 4-4!")


def test_2_3_without_a_double_the_heaviest_tile_opens_and_of_equal_ones_that_with_the_higher_half() -> None:
    table = EngineTable(WOLF, "4-6 3-6 …", "5-6 …", stock="1-2 0-0 1-1 2-2 3-3 4-4 5-5 6-6")
    assert (table.turn, table.legal()) == (1, {"5-6"})
    table = EngineTable(WOLF, "2-6 …", "4-5 …", stock="1-2 0-0 1-1 2-2 3-3 4-4 5-5 6-6 5-6 4-6 3-6")
    assert (table.turn, table.legal()) == (1, {"4-5"})
    for opener, hands in enumerate((("3-6 …", "4-5 …"), ("4-5 …", "3-6 …"))):
        table = EngineTable(WOLF, *hands, stock="1-2 0-0 1-1 2-2 3-3 4-4 5-5 6-6 5-6 4-6")
        assert (table.turn, table.legal()) == (opener, {"3-6"})


def test_2_3_in_later_rounds_the_winner_opens_with_any_tile() -> None:
    table = EngineTable(WOLF, "1-2 …", "…", "…", later=[["1-2 6-6 …", "…", "0-1 0-2 0-3 2-3 2-4 2-5 2-6 3-3 3-4"]])
    end_round(table, "1-2", "5-5", "3-4", "1-1")
    assert table.counted.winner == 2
    table.do(0, "deal")
    assert table.hand(2) == "0-1 0-2 0-3 2-3 2-4 2-5 2-6 3-3 3-4"
    assert (table.turn, table.legal()) == (2, set(table.hand(2).split()))
    table.refuses(2, "3-3! 3-4! 1-2 draw pass")
    table.do(2, "2-5")
    assert table.ends() == [2, 5]


# 2.4


def test_2_4_worked_example_3_3_leads() -> None:
    """Only its long sides accept; 3-5 on one → open ends 5, 3, 3, 3."""
    table = after_a_double_lead()
    assert (table.ends(), table.ends("gated")) == ([3, 3], [3, 3])
    assert table.places("3-5") == ["3-3.long", "3-3.long"]
    table.refuses(1, "3-5@3-3.short 1-3@3-3.short")
    table.play("3-5@3-3.long")
    assert (table.ends(), table.ends("gated")) == ([3, 3, 3, 5], [])
    assert table.places("3-4") == ["3-3.long", "3-3.short", "3-3.short"]


@pytest.mark.parametrize("end", ["e1", "e2"])
def test_2_4_the_first_tile_on_either_long_side_opens_the_short_sides_of_the_lead(end: str) -> None:
    table = after_a_double_lead()
    table.do(1, f"3-5@{end}")
    table.do(0, "3-4@3-3.short")
    assert table.ends() == [3, 3, 4, 5]
    table.do(1, "1-3@3-3.short")
    assert table.ends() == [1, 3, 4, 5]


def test_2_4_mother_in_mid_chain_takes_its_far_long_side_first_and_then_the_short_sides() -> None:
    """Worked: 1-2, 2-4, 4-4 → open: 1 and the far long side of 4-4; then 4-6 there → 1, 6, 4, 4."""
    table = before_a_mother_in_mid_chain()
    table.do(0, "4-4")
    assert (table.turn, table.ends(), table.ends("gated")) == (1, [1, 4], [4, 4])
    assert table.places("4-6") == ["4-4.long"]
    table.refuses(1, "4-6@4-4.short 0-4@4-4.short")
    table.do(1, "4-6")
    assert (table.ends(), table.ends("gated")) == ([1, 4, 4, 6], [])
    assert table.places("4-5") == ["4-4.short", "4-4.short"]


def test_2_4_a_later_double_is_no_mother_and_opens_no_extra_ends() -> None:
    """Worked: a later 6-6 adds no end."""
    table = before_a_mother_in_mid_chain()
    table.play("4-4", "4-6", "6-6")
    assert (table.ends(), table.ends("gated")) == ([1, 4, 4, 6], [])
    assert table.places("0-6") == ["6-6.long"]
    table.do(1, "0-6")
    assert (table.ends(), table.ends("gated")) == ([0, 1, 4, 4], [])


def test_2_4_other_ends_of_the_chain_stay_playable_meanwhile() -> None:
    table = before_a_mother_in_mid_chain()
    table.play("4-4")
    assert table.places("1-3") == ["1-2"]
    table.do(1, "1-3")
    assert (table.ends(), table.ends("gated")) == ([3, 4], [4, 4])
    assert table.places("4-5") == ["4-4.long"]
    table.refuses(0, "4-5@4-4.short")
    table.do(0, "4-5")
    assert (table.ends(), table.ends("gated")) == ([3, 4, 4, 5], [])


def test_2_4_a_face_down_double_is_never_the_mother_the_next_face_up_one_is() -> None:
    table = EngineTable(WOLF, "1-2 4-4 1-5 …", "2-4 1-1 …", stock="6-6")
    table.play("1-2", "2-4", "4-4!")
    assert (table.ends(), table.ends("gated"), table.ends("closed")) == ([1], [], [4])
    table.play("1-1")
    assert (table.ends(), table.ends("gated"), table.ends("closed")) == ([1], [1, 1], [4])
    table.refuses(0, "1-5@1-1.short")
    table.do(0, "1-5")
    assert (table.ends(), table.ends("gated"), table.ends("closed")) == ([1, 1, 5], [], [4])


def test_2_4_of_doubles_in_one_turn_the_first_that_lies_face_up_is_the_mother() -> None:
    table = EngineTable(WOLF, "1-2 …", "1-1 2-2 …", stock="6-6")
    table.play("1-2", "1-1!", "2-2")
    assert (table.ends(), table.ends("gated"), table.ends("closed")) == ([2], [2, 2], [1])
    table = EngineTable(WOLF, "1-2 …", "1-1 2-2 …", stock="6-6")
    table.play("1-2", "1-1", "2-2")
    assert (table.ends(), table.ends("gated")) == ([1, 2], [1, 1])


# 2.5


def test_2_5_any_later_double_but_no_other_tile_may_be_laid_face_down_and_closes_its_end() -> None:
    table = before_a_mother_in_mid_chain()
    assert table.places("4-4") == ["2-4", "2-4!"]
    table.play("4-4", "4-6")
    assert table.places("6-6") == ["4-6", "4-6!"]

    table = before_a_mother_in_mid_chain()
    table.refuses(0, "4-5!")
    assert table.places("6-6") == []
    table.refuses(0, "6-6!")
    table.play("4-4!")
    assert (table.ends(), table.ends("closed")) == ([1], [4])
    table.refuses(1, "4-6 0-4")


def test_2_5_the_opening_tile_is_never_laid_face_down() -> None:
    table = EngineTable(WOLF, "3-3 …", "…", stock="1-2 4-4 5-5 6-6")
    table.refuses(0, "3-3!")


# 2.6


def with_doubles_to_lay() -> EngineTable:
    """1-2 lies; seat 1 holds 1-1, 2-2, 3-3 and 2-3, 1-4."""
    table = EngineTable(WOLF, "1-2 2-4 …", "1-1 2-2 3-3 2-3 1-4 …", stock="6-6")
    table.do(0, "1-2")
    return table


def test_2_6_a_turn_is_one_tile_even_with_a_fitting_double() -> None:
    table = with_doubles_to_lay()
    assert table.legal() == {"1-1", "2-2", "2-3", "1-4"}
    table.refuses(1, "done pass draw")
    table.do(1, "1-4")
    assert table.turn == 0
    table.refuses(1, "2-2 done")
    table = EngineTable(WOLF, "1-2 1-1 2-2 …", "…")
    table.do(0, "1-2")
    assert table.turn == 1
    table.refuses(0, "1-1 2-2 done")


def test_2_6_after_a_double_another_fitting_double_may_follow_and_nothing_else() -> None:
    table = with_doubles_to_lay()
    table.do(1, "1-1")
    assert (table.turn, table.legal()) == (1, {"2-2", "done"})
    table.refuses(1, "2-3 1-4 3-3 draw pass flip deal")
    table.do(1, "2-2")
    assert table.turn == 0


def test_2_6_after_a_double_the_turn_may_be_ended() -> None:
    table = with_doubles_to_lay()
    table.do(1, "2-2")
    assert table.legal() == {"1-1", "done"}
    table.do(1, "done")
    assert (table.turn, len(table.layout.placements)) == (0, 2)
    table.refuses(1, "1-1 done")


def test_2_6_each_double_goes_face_up_or_face_down_and_the_turn_is_over_when_none_can_follow() -> None:
    table = with_doubles_to_lay()
    assert table.places("1-1") == ["1-2", "1-2!"]
    table.do(1, "1-1!")
    assert table.places("2-2") == ["1-2", "1-2!"]
    table.do(1, "2-2")
    assert (table.turn, table.ends(), table.ends("closed")) == (0, [2], [1])
    table.refuses(1, "3-3 done")


def test_2_6_three_doubles_in_one_turn() -> None:
    table = EngineTable(WOLF, "1-2 2-3 1-1 3-3 4-4 …", "2-2 2-4 …", stock="5-5 6-6")
    table.play("1-2", "2-2", "2-3", "2-4@2-2.short")
    assert (table.turn, table.ends()) == (0, [1, 2, 3, 4])
    table.do(0, "1-1!")
    assert table.legal() == {"3-3", "4-4", "done"}
    table.do(0, "3-3")
    assert table.legal() == {"4-4", "done"}
    table.do(0, "4-4!")
    assert (table.turn, table.ends(), table.ends("closed")) == (1, [2, 3], [1, 4])


# 2.7


def test_2_7_who_cannot_place_draws_until_a_drawn_tile_fits() -> None:
    table = nothing_fits_the_second(2, stock="5-6 6-6 2-5 2-2")
    for drawn in ("5-6", "6-6"):
        table.refuses(1, "pass done")
        assert table.do(1, "draw") == (Drew(1, tiles(drawn)[0]),)
        table.refuses(1, drawn)
    table.do(1, "draw")
    assert (table.turn, table.legal()) == (1, {"2-5"})


def test_2_7_a_drawn_tile_that_fits_must_be_placed() -> None:
    table = nothing_fits_the_second(2, stock="2-2 2-5")
    table.do(1, "draw")
    assert table.places("2-2") == ["1-2", "1-2!"]
    table.refuses(1, "draw pass done flip")
    table.do(1, "2-2")
    assert table.turn == 0


def test_2_7_and_2_8_who_can_place_must_place() -> None:
    table = EngineTable(WOLF, "1-2 …", "2-3 …")
    table.do(0, "1-2")
    table.refuses(1, "draw pass done flip")


@pytest.mark.parametrize("seats", [3, 4, 7, 9])
def test_2_7_with_fewer_than_three_tiles_in_the_stock_nobody_draws(seats: int) -> None:
    table = nothing_fits_the_second(seats)
    table.refuses(1, "draw")
    assert table.legal() == {"pass", "flip"}


# 2.8


def test_2_8_the_second_player_may_turn_the_opening_tile_over_and_the_round_is_counted() -> None:
    table = nothing_fits_the_second(2)
    table.put("5-6", "0-3 0-4")
    flipped, ended = table.do(1, "flip")
    assert flipped == Flipped(1)
    assert isinstance(ended, RoundEnded)
    assert (table.state.phase, table.turn, table.counted.ended_by) == (ROUND_OVER, None, "flip")
    assert (table.layout.placements[0].face_down, table.ends(), table.counted.scores) == (True, [], (18, 0))


def test_2_8_the_flip_is_optional_until_a_drawn_tile_fits() -> None:
    table = nothing_fits_the_second(2, stock="5-6 6-6 2-5")
    for _ in range(2):
        assert table.legal() == {"draw", "flip"}
        table.do(1, "draw")
    before = table.state
    table.do(1, "flip")
    assert table.counted.ended_by == "flip"
    table.state = before
    table.do(1, "draw")
    table.refuses(1, "flip")


def test_2_8_no_flip_for_the_third_player_or_before_the_lead() -> None:
    table = nothing_fits_the_second(5, stock="5-6 1-1 2-2")
    table.play("draw", "pass")
    table.put("0-1", "3-4", "5-5", "1-3", "6-6")
    assert (table.turn, len(table.layout.placements), table.legal()) == (2, 1, {"pass"})
    table.refuses(2, "flip")
    table = EngineTable(WOLF, "1-2 …", "3-4 …")
    table.refuses(0, "flip")
    table.refuses(1, "flip")


def test_2_8_no_flip_once_a_second_tile_lies() -> None:
    table = EngineTable(WOLF, "1-2 2-4 …", "2-3 …", stock="6-6 5-5 5-6")
    table.play("1-2", "2-3")
    table.put("5-5", "5-6")
    assert table.legal() == {"draw"}
    table.refuses(0, "flip")
    table.put("2-4 1-4", "5-6")
    table.do(0, "1-4")
    assert table.legal() == {"draw"}
    table.refuses(1, "flip")


def test_2_8_the_second_player_is_the_next_one_still_in_the_match() -> None:
    table = EngineTable(WOLF, "1-2 …", "…", "…", "…", limit=10)
    end_round(table, "1-2", "", "5-6", "0-4", "0-3")
    assert table.state.eliminated_round == (0, 1, 0, 0)
    table.do(0, "deal")
    table.put("1-2 0-1", "", "3-4", "5-5 1-3")
    table.do(0, "1-2")
    assert (table.turn, "flip" in table.legal()) == (2, True)
    table.do(2, "flip")


# 2.9


def test_2_9_a_the_round_ends_when_somebody_lays_their_last_tile() -> None:
    table = EngineTable(WOLF, *A_GOES_OUT)
    table.play(A_GOES_OUT_PLAY)
    assert (table.state.phase, table.counted.ended_by, table.counted.winner) == (ROUND_OVER, "out", 0)


def test_2_9_b_the_round_ends_at_once_when_every_end_is_closed() -> None:
    table = with_doubles_to_lay()
    table.play("1-1!")
    before = table.state
    *_, ended = table.do(1, "2-2!")
    assert isinstance(ended, RoundEnded)
    assert (table.ends(), table.ends("closed")) == ([], [1, 2])
    assert (table.counted.ended_by, table.hand(1) != "") == ("closed", True)
    table.state = before
    table.do(1, "2-2")  # the mother, whose long side is still to be served
    assert (table.state.phase, table.ends(), table.ends("gated")) == (PLAYING, [2], [2, 2])


def test_2_9_c_the_round_ends_when_no_hand_fits_and_only_the_hidden_tiles_are_left() -> None:
    table = nothing_fits_the_second(2)
    table.put("5-6 0-6", "3-4 5-5", stock="3-6 1-1 2-2")
    assert (table.state.phase, table.legal()) == (PLAYING, {"draw", "flip"})
    *_, ended = table.do(1, "draw")
    assert isinstance(ended, RoundEnded)
    assert (table.counted.ended_by, names(table.state.stock)) == ("blocked", "1-1 2-2")


@pytest.mark.parametrize(
    ("hand", "stock", "legal"), [("0-6", "3-6 4-4 1-1 2-2", {"draw", "flip"}), ("1-6", "3-6 1-1 2-2", {"pass", "flip"})]
)
def test_2_9_c_the_round_goes_on_while_a_tile_can_be_drawn_or_another_hand_fits(
    hand: str, stock: str, legal: set[str]
) -> None:
    table = nothing_fits_the_second(2)
    table.put(f"5-6 {hand}", "3-4 5-5", stock=stock)
    table.do(1, "draw")
    assert (table.state.phase, table.turn, table.legal()) == (PLAYING, 1, legal)


@pytest.mark.parametrize(
    ("hand", "stock", "moves", "reason"),
    [
        ("1-1 2-2", "", "1-1! 2-2!", "out"),  # and closed
        ("1-1 2-2 0-4", "", "1-1! 2-2!", "closed"),  # and blocked
        ("1-4", "5-5 6-6", "1-4", "out"),  # and blocked
    ],
)
def test_2_9_the_first_reason_that_holds_is_given(hand: str, stock: str, moves: str, reason: str) -> None:
    table = with_doubles_to_lay()
    table.put("0-3", hand, stock=stock)
    table.play(moves)
    assert table.counted.ended_by == reason


# 2.10


@pytest.mark.parametrize(
    ("hand", "value"),
    [
        *(("", 0), ("0-0", 10), ("0-0 0-1", 11), ("0-0 1-3", 14), ("6-6", 50), ("5-6 6-6", 23), ("0-0 6-6", 22)),
        *(("2-5", 7), ("0-1 0-2 5-5", 13)),
    ],
)
def test_2_10_the_value_of_a_hand(hand: str, value: int) -> None:
    """Pips, but 0-0 always counts 10, and 6-6 counts 50 when it is the only tile left (12 otherwise)."""
    assert variant(WOLF).rules({}, 4).hand_value(tiles(hand)) == value
    table = EngineTable(WOLF, "1-2 …", "…", "…", "…")
    end_round(table, "1-2", "", "0-3", hand or "0-4", "5-6 5-5 4-6")
    assert [left.value for left in table.counted.hands] == [0, 3, value or 4, 31]


# 2.11


def test_2_11_worked_example_the_loser_writes_everybodys_points() -> None:
    """A out, B {0-0,1-3} = 14, C {6-6} = 50, D {2-5} = 7 → C writes 71."""
    table = EngineTable(WOLF, *A_GOES_OUT)
    table.play(A_GOES_OUT_PLAY)
    assert [table.hand(seat) for seat in range(4)] == ["", "0-0 1-3", "6-6", "2-5"]
    assert [left.value for left in table.counted.hands] == [0, 14, 50, 7]
    assert (table.counted.scores, table.counted.loser, table.counted.carried) == ((0, 0, 71, 0), 2, 0)
    assert (table.state.totals, table.state.carry) == ((0, 0, 71, 0), 0)
    assert [(line.seat, line.points, line.text) for line in table.counted.lines] == [(2, 71, "0 + 14 + 50 + 7")]


def test_2_11_worked_example_without_a_single_loser_nobody_writes() -> None:
    """B and C 20 each, D 5 → nobody writes, 45 carried."""
    table = EngineTable(WOLF, *TWO_LOSERS)
    table.play(TWO_LOSERS_PLAY)
    assert [table.hand(seat) for seat in range(4)] == ["", "4-6 5-5", "3-6 5-6", "2-3"]
    assert (table.counted.scores, table.counted.loser, table.counted.carried) == ((0, 0, 0, 0), None, 45)
    assert (table.state.totals, table.state.carry, table.counted.lines) == ((0, 0, 0, 0), 45, ())


def test_2_11_option_others_write_own_where_there_is_a_single_loser() -> None:
    table = EngineTable(WOLF, *A_GOES_OUT, others_write_own=True)
    table.play(A_GOES_OUT_PLAY)
    assert (table.counted.scores, table.counted.loser) == ((0, 14, 71, 7), 2)
    table = EngineTable(WOLF, *TWO_LOSERS, others_write_own=True)
    table.play(TWO_LOSERS_PLAY)
    assert (table.counted.scores, table.counted.carried) == ((0, 0, 0, 0), 45)


def test_2_11_the_loser_is_who_has_the_most_points_in_hand_not_the_most_pips() -> None:
    table = EngineTable(WOLF, "1-2 …", "…", "…")
    end_round(table, "1-2", "", "6-6", "5-6 5-5 4-6")
    assert (table.counted.loser, table.counted.scores) == (1, (0, 81, 0))


def test_2_11_carries_add_up_and_go_to_the_next_single_loser() -> None:
    table = EngineTable(WOLF, "1-2 …", "…", "…", "…")
    end_round(table, "1-2", "", "4-6 5-5", "3-6 5-6", "2-3")
    table.do(0, "deal")
    end_round(table, "3-3", "", "5-5", "4-6", "1-1")
    assert (table.counted.carried, table.state.carry, table.state.totals) == (22, 67, (0, 0, 0, 0))
    table.do(0, "deal")
    assert table.state.carry == view(table.rules, table.state, None).carry == 67
    end_round(table, "3-3", "", "5-6", "0-1", "0-2")
    assert (table.counted.scores, table.counted.carried) == ((0, 81, 0, 0), 0)
    assert (table.state.totals, table.state.carry) == ((0, 81, 0, 0), 0)
    assert sum(line.points for line in table.counted.lines if line.seat == 1) == 81


def test_2_11_a_carry_goes_to_the_loser_alone_and_the_lines_show_what_is_added_up() -> None:
    table = EngineTable(WOLF, "1-2 …", "…", "…", "…", others_write_own=True)
    end_round(table, "1-2", "", "4-6 5-5", "3-6 5-6", "2-3")
    table.do(0, "deal")
    end_round(table, "3-3", "", "5-6", "0-1", "0-2")
    assert table.counted.scores == (0, 14 + 45, 1, 2)
    assert [(line.seat, line.points, line.text) for line in table.counted.lines if line.points] == [
        (1, 14, "0 + 11 + 1 + 2"),
        (1, 45, "45 carried over"),
        (2, 1, "0-1 = 1"),
        (3, 2, "0-2 = 2"),
    ]


def test_2_11_what_is_carried_when_the_match_ends_lapses() -> None:
    table = EngineTable(WOLF, "1-2 …", "…", "…")
    end_round(table, "1-2", "", "0-0", "5-5")
    assert (table.state.phase, table.state.totals) == (FINISHED, (0, 0, 0))


# 2.12


@pytest.mark.parametrize(("second", "total", "out"), [("0-4", 100, False), ("0-5", 101, True)])
def test_2_12_a_total_of_100_stays_and_one_of_101_is_out(second: str, total: int, out: bool) -> None:
    table = EngineTable(WOLF, "1-2 …", "…", "…", "…")
    end_round(table, "1-2", "", f"5-6 4-6 {second}", "6-6", "5-5 4-5 0-6")
    assert (table.state.totals, table.state.eliminated_round) == ((0, 0, total, 0), (0, 0, int(out), 0))
    assert table.events(Eliminated) == [Eliminated(2)] * out
    assert (table.state.phase, table.state.winners) == (ROUND_OVER, ())


def test_2_12_who_is_out_is_dealt_no_hand_and_has_no_turn() -> None:
    table = EngineTable(WOLF, "1-2 …", "…", "…", limit=10)
    end_round(table, "1-2", "", "5-6", "0-3")
    assert table.legal(1) == set()
    table.refuses(1, "deal", reason=NotInMatch)
    table.do(2, "deal")
    assert table.held == [7, 0, 7]
    table.do(0, names(table.state.hands[0][:1]))
    assert table.turn == 2


@pytest.mark.parametrize(("limit", "out"), [(29, True), (30, False), (31, False)])
def test_2_12_option_limit(limit: int, out: bool) -> None:
    table = EngineTable(WOLF, "1-2 …", "…", "…", limit=limit)
    assert table.rules.settings["limit"] == limit
    end_round(table, "1-2", "", "5-6 4-6", "4-5")
    assert (table.state.totals, table.state.eliminated_round) == ((0, 30, 0), (0, int(out), 0))


def test_2_12_if_all_go_in_the_same_round_the_lowest_total_wins() -> None:
    table = EngineTable(WOLF, "1-2 …", "…", "…", limit=20, others_write_own=True)
    end_round(table, "1-2", "5-6 4-6", "5-5 4-6 3-3", "5-6 5-5")
    assert table.state.totals == (21, 26 + 21 + 21, 21)
    assert table.events(Eliminated) == [Eliminated(0), Eliminated(1), Eliminated(2)]
    assert (table.state.phase, table.state.winners) == (FINISHED, (0, 2))


# 2.13


def test_2_13_a_lone_double_zero_ends_the_match_and_the_lowest_total_wins() -> None:
    table = EngineTable(WOLF, "1-2 …", "…", "…")
    end_round(table, "1-2", "5-6", "0-3", "0-4")
    assert (table.state.totals, table.counted.winner) == ((18, 0, 0), 1)
    table.do(0, "deal")
    end_round(table, "6-6", "3-3", "1-1", "0-0")
    assert table.state.totals == (18, 0, 18)
    assert (table.state.phase, table.state.winners) == (FINISHED, (1,))
    assert table.events(Finished) == [Finished((1,))]


def test_2_13_the_round_is_written_first() -> None:
    table = EngineTable(WOLF, "1-2 …", "…", "…")
    end_round(table, "1-2", "5-6", "0-0", "0-4")
    assert table.state.totals == (25, 0, 0)
    assert table.state.winners == (1, 2)


def test_2_13_who_went_over_the_limit_in_this_round_does_not_win() -> None:
    table = EngineTable(WOLF, "1-2 …", "…", "…", "…", limit=10)
    end_round(table, "1-2", "", "0-3", "5-6", "0-0")
    assert table.events(Eliminated) == [Eliminated(2)]
    assert (table.state.phase, table.state.winners) == (FINISHED, (0, 1, 3))
    table = EngineTable(WOLF, "1-2 …", "…", "…", limit=10)
    end_round(table, "1-2", "", "0-3", "0-0")
    assert (table.state.totals, table.events(Eliminated)) == ((0, 0, 13), [Eliminated(2)])
    assert (table.state.phase, table.state.winners) == (FINISHED, (0, 1))


def test_2_13_double_zero_that_is_not_left_alone_ends_nothing() -> None:
    table = EngineTable(WOLF, "1-2 …", "…", "…")
    end_round(table, "1-2", "", "0-0 0-1", "0-3")
    assert (table.state.phase, table.state.winners) == (ROUND_OVER, ())
    table = EngineTable(WOLF, "1-2 …", "…", "…")
    end_round(table, "1-2", "", "5-6", "0-3")
    table.do(0, "deal")
    end_round(table, "0-0", "", "5-6", "0-3")
    assert (table.state.phase, table.state.winners) == (ROUND_OVER, ())


def test_2_13_if_all_go_over_the_limit_in_this_round_the_lowest_total_wins_all_the_same() -> None:
    table = EngineTable(WOLF, "1-2 …", "…", "…", limit=5, others_write_own=True)
    end_round(table, "1-2", "1-5", "0-0", "5-6")
    assert (table.state.totals, table.state.eliminated_round) == ((6, 10, 27), (1, 1, 1))
    assert (table.state.phase, table.state.winners) == (FINISHED, (0,))


# 2.14


def test_2_14_the_match_ends_when_one_player_is_left_and_that_player_wins() -> None:
    table = EngineTable(WOLF, "1-2 …", "…", "…", limit=10)
    end_round(table, "1-2", "", "5-6", "0-3")
    assert (table.state.phase, table.state.eliminated_round) == (ROUND_OVER, (0, 1, 0))
    table.do(0, "deal")
    end_round(table, "6-6", "", "", "5-5 0-1")
    assert (table.state.totals, table.state.eliminated_round) == ((0, 14, 11), (0, 1, 2))
    assert (table.state.phase, table.state.winners) == (FINISHED, (0,))
    for seat in range(3):
        table.refuses(seat, "deal", reason=GameOver)


def test_2_14_the_last_two_play_on_by_the_same_rules() -> None:
    table = EngineTable(WOLF, "1-2 …", "…", "…", limit=10)
    end_round(table, "1-2", "", "5-6", "0-3")
    table.do(0, "deal")
    table.put("3-3 1-1", "", "4-4 5-5", stock="0-6 0-5 0-4 0-3")
    table.do(0, "3-3")
    assert (table.ends(), table.ends("gated"), table.legal()) == ([3, 3], [3, 3], {"draw", "flip"})
    table.do(2, "flip")
    assert (table.counted.loser, table.counted.scores) == (2, (0, 0, 20))
    assert table.state.winners == (0,)


# 2.15


def test_2_15_who_went_out_wins_the_round_and_opens_the_next() -> None:
    table = EngineTable(WOLF, "…", "…", "1-2 …")
    end_round(table, "1-2", "0-3", "5-6", "")
    assert table.counted.winner == 2
    table.do(0, "deal")
    assert (table.turn, table.legal()) == (2, set(table.hand(2).split()))


def test_2_15_else_the_fewest_points_in_hand_win_the_round() -> None:
    table = EngineTable(WOLF, "1-2 …", "…", "…")
    end_round(table, "1-2", "5-6 0-1", "0-0 0-3", "0-6 0-5")
    assert (table.counted.winner, [left.value for left in table.counted.hands]) == (2, [12, 13, 11])
    table.do(0, "deal")
    assert table.turn == 2


@pytest.mark.parametrize(("opener", "values", "winner"), [("6-6 5-5", (7, 22, 7, 11), 2), ("2-5", (7, 7, 7, 11), 1)])
def test_2_15_tied_for_the_fewest_points_the_first_clockwise_from_the_opener_wins_the_round(
    opener: str, values: tuple[int, ...], winner: int
) -> None:
    table = EngineTable(WOLF, "…", "1-2 …", "…", "…")
    end_round(table, "1-2", "1-6", opener, "3-4", "5-6")
    assert tuple(left.value for left in table.counted.hands) == values
    assert table.counted.winner == winner
    table.do(0, "deal")
    assert table.turn == winner


def test_2_15_is_the_winner_of_the_round_out_of_the_match_the_next_one_still_in_opens() -> None:
    table = EngineTable(WOLF, "1-2 …", "…", "…", "…", limit=30, others_write_own=True)
    end_round(table, "1-2", "0-3", "3-4 0-6", "0-4", "0-5")
    assert (table.state.totals, table.counted.winner) == ((3, 25, 4, 5), 0)
    table.do(0, "deal")
    end_round(table, "4-4", "3-4", "1-5", "2-6", "3-6")
    assert (table.state.totals, table.counted.winner) == ((10, 31, 12, 35), 1)
    assert table.state.eliminated_round == (0, 2, 0, 2)
    table.do(0, "deal")
    assert table.turn == 2


def test_2_15_from_round_2_on_the_highest_total_deals_and_it_is_shown() -> None:
    table = EngineTable(WOLF, "1-2 …", "…", "…")
    assert view(table.rules, table.state, None).dealer is None
    end_round(table, "1-2", "", "0-3", "5-6")
    table.do(0, "deal")
    assert view(table.rules, table.state, None).dealer == 2
    end_round(table, "4-4", "", "5-6 5-5", "0-1")
    table.do(0, "deal")
    assert table.state.totals == (0, 22, 14)
    assert view(table.rules, table.state, 0).dealer == 1


def test_2_15_of_tied_totals_the_first_clockwise_from_the_last_opener_deals() -> None:
    table = EngineTable(WOLF, "…", "…", "1-2 …", "…")
    end_round(table, "1-2", "5-5", "4-6", "", "0-1")
    assert table.state.totals == (0, 0, 0, 0)
    table.do(0, "deal")
    assert view(table.rules, table.state, None).dealer == 2


def test_2_15_only_a_player_still_in_deals() -> None:
    table = EngineTable(WOLF, "…", "1-2 …", "…", "…", limit=10)
    end_round(table, "1-2", "5-6", "0-1", "0-3", "0-4")
    assert (table.state.totals, table.state.eliminated_round) == ((19, 0, 0, 0), (1, 0, 0, 0))
    table.do(1, "deal")
    assert view(table.rules, table.state, None).dealer == 1


def test_2_15_is_the_last_opener_out_the_next_one_still_in_is_the_first_of_the_tied() -> None:
    table = EngineTable(WOLF, "…", "1-2 …", "…", "…", limit=10)
    end_round(table, "1-2", "0-1", "5-6", "0-3", "0-4")
    assert (table.state.totals, table.state.eliminated_round) == ((0, 19, 0, 0), (0, 1, 0, 0))
    table.do(0, "deal")
    assert len(table.events(Dealt)) == 2
    assert view(table.rules, table.state, None).dealer == 2
