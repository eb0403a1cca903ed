"""Rules 6: Block, a test a statement; and what rules A say of all the games that share it."""

from __future__ import annotations

from typing import Any

import pytest

from service.engine.events import Finished, Passed, ScoreLine
from service.engine.moves import PASS, Move
from service.engine.referee import legal_moves
from service.engine.state import FINISHED, PLAYING, ROUND_OVER
from tests.engine.table import EngineTable, assert_hands, assert_players, assert_teams, variant

BLOCK = "block"


def finish(table: EngineTable, *hands: str) -> None:
    """Let the leader be out at once with the lead 6-6, and the others keep these hands."""
    leader = table.turn
    assert leader is not None
    table.put(*["6-6" if seat == leader else hand for seat, hand in enumerate(hands)])
    table.do(leader, "6-6")
    assert table.state.phase != PLAYING


def block(table: EngineTable, *hands: str) -> None:
    """Let the round be blocked with these hands: the leader lays 6-6, the next seat 5-6, and nobody has a 5 or a 6."""
    leader = table.turn
    assert leader is not None
    closer = (leader + 1) % len(hands)
    table.put(*[f"{({leader: '6-6', closer: '5-6'}).get(seat, '')} {hand}" for seat, hand in enumerate(hands)])
    table.do(leader, "6-6")
    table.do(closer, "5-6@right")
    assert table.counted.ended_by == "blocked"


def blocked(hands: tuple[str, ...], **options: Any) -> EngineTable:
    table = EngineTable(BLOCK, "6-6 …", *["…"] * (len(hands) - 1), **options)
    block(table, *hands)
    return table


# 6.1, 6.2


def test_6_1_two_to_four_players_of_whom_four_may_play_in_teams() -> None:
    assert_players(BLOCK, 2, 4)
    assert_teams(BLOCK)
    rules = variant(BLOCK).rules({"teams": 2}, 4)
    assert [rules.side(seat) for seat in range(4)] == [(0, 2), (1, 3), (0, 2), (1, 3)]


@pytest.mark.parametrize(("players", "hand", "asleep"), [(2, 7, 14), (3, 5, 13), (4, 5, 8)])
def test_6_2_the_usual_hand_and_the_tiles_that_stay_asleep(players: int, hand: int, asleep: int) -> None:
    table = EngineTable(BLOCK, seats=players)
    assert table.held == [hand] * players
    assert len(table.state.stock) == asleep
    assert table.rules.drawable(table.state) == 0
    assert table.rules.settings["hand"] == hand


def test_6_2_option_hand_as_far_as_the_tiles_last() -> None:
    assert_hands(BLOCK, range(3, 15))


# 6.3, A10, A11


def test_6_3_the_highest_double_must_be_led() -> None:
    table = EngineTable(BLOCK, "3-3 …", "2-2 4-4 0-1 0-2 0-3 0-4 0-5")
    assert (table.turn, table.legal()) == (1, {"4-4"})


def test_a10_without_a_double_the_heaviest_tile_must_be_led() -> None:
    table = EngineTable(BLOCK, "2-5 0-1 0-2", "3-4 0-3 0-4", "1-6 0-5 1-2", hand=3)
    assert (table.turn, table.legal()) == (2, {"1-6"})
    table.refuses(2, "0-5")
    table = EngineTable(BLOCK, "2-5 0-1 0-2", "3-4 0-3 0-4", "0-6 0-5 1-2", hand=3)
    assert (table.turn, table.legal()) == (0, {"2-5"})
    table = EngineTable(BLOCK, "5-6 0-1 0-2", "3-4 0-3 0-4", "1-6 0-5 1-2", hand=3)
    assert (table.turn, table.legal()) == (0, {"5-6"})


def test_a11_rotate_seat_after_seat_leads_any_tile() -> None:
    table = EngineTable(BLOCK, seats=3, opening="rotate", target=1000)
    for round_number in range(1, 6):
        leader = (round_number - 1) % 3
        assert (table.state.round, table.turn) == (round_number, leader)
        assert len(table.legal()) == 5
        table.play_out()
        table.do(0, "deal")


def test_a11_winner_who_went_out_leads_any_tile_and_after_a_block_the_highest_double() -> None:
    hands = ("0-1 0-2 0-3 0-4 0-5 0-6 6-6", "1-2 1-3 1-4 1-5 1-6 2-3 5-5")
    table = EngineTable(BLOCK, *hands, opening="winner", later=[hands[::-1], hands, hands])
    assert (table.turn, table.legal()) == (0, {"6-6"})
    finish(table, "", "1-1")
    table.do(1, "deal")
    assert (table.turn, len(table.legal())) == (0, 7)
    block(table, "0-0", "1-1 2-2")
    table.do(0, "deal")
    assert (table.turn, table.legal()) == (0, {"6-6"})


def test_worked_6c_after_a_blocked_round_that_nobody_won_the_highest_double_leads() -> None:
    table = EngineTable(BLOCK, "6-6 …", "…", opening="winner", later=[("…", "6-6 …")])
    block(table, "3-3 1-2", "4-4 0-1")
    assert table.counted.scores == (0, 0)
    assert table.counted.winner is None
    table.do(0, "deal")
    assert (table.turn, table.legal()) == (1, {"6-6"})


# 6.4, A3, A4


def test_a3_after_a_leading_double_both_ends_show_its_number_and_are_two_places() -> None:
    table = EngineTable(BLOCK, "6-6 …", "5-6 …")
    table.do(0, "6-6")
    assert [(end.name, end.number) for end in table.layout.ends] == [("left", 6), ("right", 6)]
    assert table.places("5-6") == ["left", "right"]


def test_a3_a_lead_that_is_no_double_lies_with_its_smaller_half_to_the_left() -> None:
    table = EngineTable(BLOCK, "5-6 …", "…", opening="rotate")
    table.do(0, "5-6")
    assert [(end.name, end.number) for end in table.layout.ends] == [("left", 5), ("right", 6)]


def test_6_4_who_cannot_place_passes_and_nobody_draws() -> None:
    table = EngineTable(BLOCK, "6-6 0-6 0-1", "1-2 1-3 2-3", hand=3)
    table.do(0, "6-6")
    assert legal_moves(table.rules, table.state, 1) == (PASS,)
    table.refuses(1, "draw 1-2")
    assert table.do(1, "pass") == (Passed(1),)
    table.refuses(0, "pass draw")
    table.do(0, "0-6@left")


# 6.5 to 6.7, A6, A8, A12


def test_worked_6a_a_whole_round() -> None:
    table = EngineTable(BLOCK, "0-3 3-6 6-6", "0-1 1-5 5-6", hand=3)
    assert table.legal() == {"6-6"}
    table.do(0, "6-6")
    assert (table.legal(), table.places("5-6")) == ({"5-6"}, ["left", "right"])
    table.do(1, "5-6@right")
    assert legal_moves(table.rules, table.state, 0) == (Move("play", table.state.hands[0][1], "left"),)
    table.do(0, "3-6")
    table.do(1, "1-5")
    assert table.chain() == "3/6 6/6 6/5 5/1"
    table.do(0, "0-3")
    assert (table.counted.ended_by, table.counted.winner, table.counted.scores) == ("out", 0, (1, 0))
    assert table.counted.lines == (ScoreLine(0, 1, "6.5", "1"),)


def test_worked_6b_a_chain_that_shows_blanks_and_holds_all_of_them_is_blocked() -> None:
    table = EngineTable(BLOCK, "0-1 0-2 0-3 0-4 5-6 1-1 2-2", "1-2 0-0 3-4 0-5 0-6 4-4 5-5", opening="rotate")
    table.play("0-1 1-2@right 0-2@right 0-0@right 0-3@right 3-4@right 0-4@right 0-5@right 5-6@right")
    assert table.state.phase == PLAYING
    table.do(1, "0-6@right")
    assert (table.ends(), table.counted.ended_by, table.turn) == ([0, 0], "blocked", None)


@pytest.mark.parametrize(("blocked_score", "points"), [("minus_own", 23), ("others", 35), ("all", 47)])
def test_a12_the_lightest_side_scores_by_the_option(blocked_score: str, points: int) -> None:
    table = blocked(("4-4 2-2", "3-4 2-4 0-2", "3-3 2-3 1-4 0-4"), blocked_score=blocked_score)
    assert [left.value for left in table.counted.hands] == [12, 15, 20]
    assert (table.counted.scores, table.counted.winner) == ((points, 0, 0), None)
    assert [line.rule for line in table.counted.lines] == ["6.6"]


def test_a12_tied_for_the_fewest_nobody_scores() -> None:
    table = blocked(("4-4 2-2", "3-3 2-4", "3-4 2-3 1-4 0-3"))
    assert [left.value for left in table.counted.hands] == [12, 12, 20]
    assert (table.counted.scores, table.counted.lines) == ((0, 0, 0), ())


@pytest.mark.parametrize(("blocked_score", "points"), [("minus_own", 9), ("others", 23), ("all", 37)])
def test_a12_in_teams_both_hands_of_a_side_count(blocked_score: str, points: int) -> None:
    hands = ("1-4", "4-4 3-4 2-3", "3-3 1-2", "0-3")
    table = blocked(hands, teams=2, blocked_score=blocked_score)
    assert [left.value for left in table.counted.hands] == [5, 20, 9, 3]
    assert table.counted.scores == (points, 0, points, 0)


def test_6_5_the_side_of_who_went_out_scores_the_pips_of_all_other_sides() -> None:
    table = EngineTable(BLOCK, "6-6 …", "…", "…")
    finish(table, "", "4-4 0-1", "3-4")
    assert (table.counted.scores, table.counted.winner) == ((16, 0, 0), 0)
    assert table.counted.lines == (ScoreLine(0, 16, "6.5", "9 + 7"),)


def test_worked_6d_in_teams_the_hand_of_the_partner_counts_for_nobody() -> None:
    table = EngineTable(BLOCK, "…", "…", "6-6 …", "…", teams=2)
    finish(table, "5-5 0-1", "2-4", "", "4-4")
    assert table.counted.scores == (14, 0, 14, 0)
    assert [(line.seat, line.points) for line in table.counted.lines] == [(0, 14), (2, 14)]
    assert table.state.totals == (14, 0, 14, 0)


@pytest.mark.parametrize(("points", "over"), [("4-4 5-5 3-4 2-4", True), ("5-5 0-1", False)])
def test_worked_6e_the_match_is_over_when_a_total_has_reached_the_target(points: str, over: bool) -> None:
    table = EngineTable(BLOCK, "…", "6-6 …")
    table.state = table.state._replace(totals=(96, 88))
    finish(table, points, "")
    assert table.state.totals == (96, 119 if over else 99)
    assert table.state.phase == (FINISHED if over else ROUND_OVER)
    assert table.events(Finished) == ([Finished((1,))] if over else [])


def test_a8_equal_totals_share_the_win() -> None:
    table = EngineTable(BLOCK, "6-6 …", "…", target=20)
    table.state = table.state._replace(totals=(16, 20))
    finish(table, "", "2-2")
    assert table.events(Finished) == [Finished((0, 1))]
