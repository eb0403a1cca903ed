"""Rules 14: Matador, a test a statement."""

from __future__ import annotations

from typing import Any

import pytest

from service.engine.errors import IllegalMove
from service.engine.events import Played, ScoreLine
from service.engine.layout import empty_layout
from service.engine.moves import DRAW, PASS, Move
from service.engine.referee import advance, legal_moves
from service.engine.replay import layout_after
from service.engine.state import FINISHED, ROUND_OVER
from service.engine.tiles import double_set, parse_tile
from tests.engine.table import EngineTable, assert_hands, assert_players, assert_teams, names, variant

MATADOR = "matador"
MATADORS = ["0-0", "1-6", "2-5", "3-4"]


def with_ends(left: int, right: int, *hands: str, stock: str = "1-1 1-2 1-3", **options: Any) -> EngineTable:
    """A table whose ends show these numbers, and these hands; seat 0 is to move."""
    table = EngineTable(MATADOR, "6-6 …", *["…"] * (len(hands) - 1), **options)
    table.do(0, "6-6")
    placements = table.layout.placements
    # The lead may stand for any two tiles: what an end wants depends on its number alone.
    ends = [("left", left, 0, "end", "open"), ("right", right, 0, "end", "open")]
    layout = empty_layout(table.rules.form).restored(placements, ends, 0)  # type: ignore[arg-type]  # words of the form
    table.state = table.state._replace(layout=layout, turn=0)
    table.put(*hands, stock=stock)
    return table


def taken(number: int) -> list[str]:
    """The tiles that an end of this number takes, each way of them with the number that it leaves."""
    table = with_ends(number, number, names(double_set(6)), "0-0")
    return sorted({f"{move.tile}→{move.outer}" for move in legal_moves(table.rules, table.state, 0)})


# 14.1, 14.2, 14.3


def test_14_1_two_to_four_players_of_whom_four_may_play_in_teams() -> None:
    assert_players(MATADOR, 2, 4)
    assert_teams(MATADOR)


@pytest.mark.parametrize(("players", "hand", "stock"), [(2, 7, 14), (3, 6, 10), (4, 5, 8)])
def test_14_2_the_usual_hand_and_the_stock(players: int, hand: int, stock: int) -> None:
    table = EngineTable(MATADOR, seats=players)
    assert table.held == [hand] * players
    assert (len(table.state.stock), table.rules.drawable(table.state)) == (stock, stock - 2)
    assert (table.rules.settings["hand"], table.rules.settings["reserve"]) == (hand, 2)


def test_14_2_option_hand_as_far_as_the_tiles_last() -> None:
    assert_hands(MATADOR, range(3, 10))


@pytest.mark.parametrize(("reserve", "drawable"), [(0, (14, 10, 8)), (1, (13, 9, 7)), (2, (12, 8, 6))])
def test_14_2_option_reserve_is_how_many_tiles_are_never_drawn(reserve: int, drawable: tuple[int, ...]) -> None:
    tables = [EngineTable(MATADOR, seats=players, reserve=reserve) for players in (2, 3, 4)]
    assert tuple([table.rules.drawable(table.state) for table in tables]) == drawable


@pytest.mark.parametrize(("reserve", "draws"), [(0, 3), (1, 2), (2, 1)])
def test_14_2_who_cannot_place_draws_until_it_fits_or_nothing_can_be_drawn(reserve: int, draws: int) -> None:
    table = with_ends(6, 6, "2-2 4-4", "1-1 3-3", stock="2-3 3-5 2-4", reserve=reserve)
    for _ in range(draws):
        assert legal_moves(table.rules, table.state, 0) == (DRAW,)
        table.do(0, "draw")
    assert legal_moves(table.rules, table.state, 0) == (PASS,)
    table.do(0, "pass")
    assert table.turn == 1


def test_14_2_a_drawn_tile_that_fits_must_be_placed() -> None:
    table = with_ends(6, 6, "2-2 4-4", "1-1 3-3", stock="2-3 1-4 0-5 0-4 0-3")
    table.play("draw draw")
    assert (table.turn, table.legal(), table.places("1-4")) == (0, {"1-4"}, ["left:4", "right:4"])
    table.refuses(0, "pass draw")


def test_14_3_the_highest_double_must_be_led() -> None:
    table = EngineTable(MATADOR, "3-3 …", "2-2 4-4 0-1 0-2 0-3 0-4 0-5")
    assert (table.turn, table.legal()) == (1, {"4-4"})
    table = EngineTable(MATADOR, "2-5 0-1 0-2", "3-4 0-3 0-4", "1-6 0-5 1-2", hand=3)
    assert (table.turn, table.legal()) == (2, {"1-6"})


def test_14_3_option_opening() -> None:
    table = EngineTable(MATADOR, seats=3, opening="rotate", target=1000)
    for leader in (0, 1, 2, 0):
        assert (table.turn, len(table.legal())) == (leader, 6)
        table.play_out()
        table.do(0, "deal")
    table = EngineTable(MATADOR, "6-6 …", "…", opening="winner", later=[("…", "…")], target=1000)
    table.put("6-6", "5-5")
    table.do(0, "6-6")
    table.do(1, "deal")
    assert (table.turn, len(table.legal())) == (0, 7)


# 14.4, 14.5


@pytest.mark.parametrize("number", range(1, 7))
def test_14_4_touching_halves_add_up_to_seven_and_the_other_half_is_the_new_end(number: int) -> None:
    wanted = 7 - number
    fitting = {f"{min(wanted, half)}-{max(wanted, half)}→{half}" for half in range(7)}
    turned = {f"{name}→{half}" for name in MATADORS for half in name.split("-")}
    assert set(taken(number)) == fitting | turned


def test_14_4_nothing_wants_a_blank_and_a_blank_wants_nothing() -> None:
    assert taken(0) == ["0-0→0", "1-6→1", "1-6→6", "2-5→2", "2-5→5", "3-4→3", "3-4→4"]
    for number in range(7):
        assert not [each for each in taken(number) if each.startswith("0-") and each[2] != "0" and each[-1] != "0"]


def test_14_5_a_matador_fits_every_end_either_way_round() -> None:
    for number in range(7):
        table = with_ends(number, number, "0-0 1-6 2-5 3-4", "0-1")
        for name in MATADORS:
            halves = sorted(set(name.split("-")))
            assert table.places(name) == [f"{end}:{half}" for end in ("left", "right") for half in halves]


def test_worked_14a_what_a_leading_double_six_accepts() -> None:
    table = EngineTable(MATADOR, "6-6 …", "…")
    table.do(0, "6-6")
    assert [end.number for end in table.layout.ends] == [6, 6]
    table.put("0-0", names(tile for tile in double_set(6) if tile.name != "6-6"))
    assert table.legal() == {"0-1", "1-1", "1-2", "1-3", "1-4", "1-5", *MATADORS}
    table.do(1, "1-4@left")
    assert [end.number for end in table.layout.ends] == [4, 6]
    assert table.chain() == "4/1 6/6"


def test_worked_14d_a_blank_takes_matadors_only() -> None:
    table = with_ends(1, 5, "0-6 2-2", names([*double_set(6)]), stock="1-1 1-2 1-3")
    table.do(0, "0-6@left")
    assert table.layout.ends[0].number == 0
    moves = [move for move in legal_moves(table.rules, table.state, 1) if move.end == "left"]
    assert sorted(f"{move.tile}→{move.outer}" for move in moves) == taken(0)


# 14.6


def test_worked_14b_one_six_on_a_six_is_two_moves_an_end() -> None:
    table = with_ends(6, 6, "1-6 2-2", "1-1")
    assert table.places("1-6") == ["left:1", "left:6", "right:1", "right:6"]
    for half in (1, 6):
        after = layout_after(table.rules, table.layout, Played(0, parse_tile("1-6"), "left", False, outer=half))
        assert after is not None
        assert [end.number for end in after.ends] == [half, 6]


def test_worked_14c_eight_moves() -> None:
    table = with_ends(3, 0, "3-4 0-4 4-4 0-0 2-2", "1-1")
    assert table.places("3-4") == ["left:3", "left:4", "right:3", "right:4"]
    assert table.places("0-4") == ["left:0"]
    assert table.places("4-4") == ["left:4"]
    assert table.places("0-0") == ["left:0", "right:0"]
    assert len(legal_moves(table.rules, table.state, 0)) == 8
    table.refuses(0, "2-2@left", "2-2@right", "0-4@right", "4-4@right", "0-4@left:4", "3-4@left:5")


def test_14_6_a_move_may_leave_out_the_half_only_where_the_tile_has_one_way() -> None:
    table = with_ends(3, 0, "3-4 0-4 4-4", "1-1 1-2")
    for move, reason in (
        (Move("play", parse_tile("3-4"), "left"), ("either_way", {"tile": "3-4", "end": "left", "halves": ["3", "4"]})),
        (
            Move("play", parse_tile("0-4"), "left", outer=4),
            ("wrong_half_outside", {"tile": "0-4", "end": "left", "half": 4}),
        ),
    ):
        with pytest.raises(IllegalMove) as refused:
            advance(table.rules, table.deck, table.state, 0, move=move)
        assert refused.value.reason == reason
    with pytest.raises(IllegalMove, match="several_ends"):
        advance(table.rules, table.deck, table.state, 0, move=Move("play", parse_tile("3-4"), outer=3))
    table.do(0, "0-4@left")
    assert table.last_play == Played(0, parse_tile("0-4"), "left", False, outer=0)


def test_14_6_the_lead_names_no_half() -> None:
    table = EngineTable(MATADOR, "6-6 …", "…")
    assert [move.outer for move in legal_moves(table.rules, table.state, 0)] == [None]
    with pytest.raises(IllegalMove, match="both_halves_outside"):
        advance(table.rules, table.deck, table.state, 0, move=Move("play", parse_tile("6-6"), outer=6))
    table.do(0, "6-6")
    assert (table.last_play.outer, table.layout.placements[0].outer) == (None, None)


def test_14_6_where_equal_halves_touch_a_half_may_be_named_but_is_not_told() -> None:
    table = EngineTable("block", "6-6 …", "5-6 …")
    table.do(0, "6-6")
    events, _ = advance(table.rules, table.deck, table.state, 1, move=Move("play", parse_tile("5-6"), "left", outer=5))
    assert events == (Played(1, parse_tile("5-6"), "left", False),)
    with pytest.raises(IllegalMove, match="wrong_half_outside"):
        advance(table.rules, table.deck, table.state, 1, move=Move("play", parse_tile("5-6"), "left", outer=6))


# 14.7


def test_worked_14f_a_double_shows_its_number_and_fits_where_its_number_is_wanted() -> None:
    table = with_ends(2, 0, "5-5 1-1", "2-2 1-1")
    table.refuses(0, "1-1@left", "1-1@right")
    table.do(0, "5-5@left")
    assert table.layout.ends[0].number == 5
    assert table.legal(1) == {"2-2"}


def test_14_7_doubles_and_matadors_lie_lengthwise_and_open_one_end() -> None:
    table = with_ends(6, 2, "0-0 1-1 5-5 2-2", "1-1")
    fitting = [move.tile.name for move in legal_moves(table.rules, table.state, 0) if move.tile]
    assert fitting == ["0-0", "0-0", "1-1", "5-5"]
    table = EngineTable(MATADOR, seats=4)
    table.play_out()
    assert {placement.side for placement in table.layout.placements} == {"end"}
    assert [end.side for end in table.layout.ends] == ["end", "end"]


def test_14_7_a_lead_that_is_no_double_has_its_smaller_half_on_the_left() -> None:
    table = EngineTable(MATADOR, "5-6 0-1 0-2", "3-4 0-3 0-4", hand=3)
    table.do(0, "5-6")
    assert [(end.name, end.number) for end in table.layout.ends] == [("left", 5), ("right", 6)]


# 14.8


def test_14_8_who_holds_a_matador_neither_draws_nor_passes() -> None:
    for name in MATADORS:
        table = with_ends(0, 0, f"{name} 2-2 5-6", "1-1")
        assert table.legal() == {name}
        table.refuses(0, "draw pass")


# 14.9


def out(**options: Any) -> EngineTable:
    """A round that seat 2 of four goes out of; 0 holds 11, 1 holds 6, 3 holds 8."""
    table = EngineTable(MATADOR, "…", "…", "6-6 …", "…", **options)
    table.put("5-6", "3-3", "6-6", "4-4")
    table.do(2, "6-6")
    return table


def test_14_9_who_goes_out_scores_the_pips_of_all_others_but_a_partner() -> None:
    counted = out().counted
    assert (counted.ended_by, counted.winner, counted.scores) == ("out", 2, (0, 0, 25, 0))
    assert counted.lines == (ScoreLine(2, 25, "14.9", "11 + 6 + 8"),)
    counted = out(teams=2).counted
    assert counted.scores == (14, 0, 14, 0)
    assert counted.lines == (ScoreLine(0, 14, "14.9", "6 + 8"), ScoreLine(2, 14, "14.9", "6 + 8"))


@pytest.mark.parametrize(("blocked_score", "points"), [("minus_own", 5), ("others", 14), ("all", 23)])
def test_worked_14e_two_blanks_without_a_matador_are_blocked_at_once(blocked_score: str, points: int) -> None:
    table = with_ends(0, 1, "0-6 2-6 1-5", "0-2 0-5 1-1", stock="1-3 5-5", blocked_score=blocked_score)
    table.do(0, "0-6@right")
    counted = table.counted
    assert [end.number for end in table.layout.ends] == [0, 0]
    assert [left.value for left in counted.hands] == [14, 9]
    assert (counted.ended_by, counted.winner, counted.scores) == ("blocked", None, (0, points))
    assert {line.rule for line in counted.lines} == {"14.9"}


def test_14_9_a_round_goes_on_while_a_matador_can_still_be_drawn() -> None:
    table = with_ends(0, 1, "0-6 2-6 1-5", "0-2 0-5 1-1", stock="1-3 5-5 3-4")
    table.do(0, "0-6@right")
    assert (table.turn, table.legal()) == (1, {"draw"})


# 14.10


@pytest.mark.parametrize(("target", "phase"), [(25, FINISHED), (26, ROUND_OVER)])
def test_14_10_the_target_ends_the_match(target: int, phase: str) -> None:
    assert variant(MATADOR).rules({}, 2).settings["target"] == 100
    table = out(target=target)
    assert table.state.phase == phase
    assert table.state.winners == ((2,) if phase == FINISHED else ())


# The round of the rule page


def test_the_round_of_the_rule_page() -> None:
    table = EngineTable(MATADOR, "6-6 1-3 0-4", "1-6 2-4 5-5", stock="1-1 2-6", hand=3)
    ends = []
    for move in ("6-6", "1-6@right:1", "1-3@left", "2-4@left", "draw", "draw", "2-6@right", "5-5@left"):
        assert table.turn is not None
        table.do(table.turn, move)
        ends.append([end.number for end in table.layout.ends])
    assert ends == [[6, 6], [6, 1], [3, 1], [2, 1], [2, 1], [2, 1], [2, 2], [5, 2]]
    assert (table.counted.ended_by, table.counted.winner, table.counted.scores) == ("out", 1, (0, 6))
