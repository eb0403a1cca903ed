"""Rules 15: Bergen, points for equal ends, a test a statement."""

from __future__ import annotations

from typing import Any

import pytest

from service.engine.events import Drew
from service.engine.referee import legal_moves
from service.engine.state import FINISHED, ROUND_OVER
from service.engine.view import view
from tests.engine.table import EngineTable, assert_dealt_again, assert_players, complaints, position, variant

BERGEN = "bergen"

PICTURE = ("1-1 3-4 1-5 5-6 2-2 2-3", "1-4 1-3 1-6 6-6 2-4 2-5")
PICTURE_PLAY = [
    *(("1-1", 2), ("1-4@right", 0), ("3-4@right", 0), ("1-3@right", 3)),
    *(("1-5@left", 0), ("1-6@right", 0), ("5-6@left", 2), ("6-6@left", 3)),
]
"""Worked example 15a: each tile, and its points."""


def listed(table: EngineTable, tile: str) -> dict[str | None, int | None]:
    """The points that each place of a tile of the mover would bring."""
    return {end: points for end, (_, points) in table.listed(tile).items()}


def at_line(*hands: str, line: str = "0-0", **options: Any) -> EngineTable:
    return position(BERGEN, *hands, line=line, **options)


# 15.1


def test_15_1_two_to_four_players_each_alone_with_six_six_or_five_tiles() -> None:
    assert_players(BERGEN, 2, 4)
    tables = [EngineTable(BERGEN, seats=players) for players in (2, 3, 4)]
    assert [table.held for table in tables] == [[6] * 2, [6] * 3, [5] * 4]
    assert [len(table.state.stock) for table in tables] == [16, 10, 8]
    assert {table.rules.team(seat) for table in tables for seat in range(table.rules.seats)} == {None}
    assert not {"hand", "teams"} & tables[0].rules.settings.keys()


# 15.2


@pytest.mark.parametrize(("options", "reserve"), [({}, 2), ({"reserve": 0}, 0), ({"reserve": 1}, 1)])
def test_15_2_two_tiles_are_never_drawn_or_as_many_as_agreed(options: dict[str, Any], reserve: int) -> None:
    tables = [EngineTable(BERGEN, seats=players, **options) for players in (2, 3, 4)]
    assert [table.rules.drawable(table.state) + reserve for table in tables] == [16, 10, 8]


def test_15_2_who_cannot_place_draws_until_a_tile_fits() -> None:
    table = EngineTable(BERGEN, "1-1 …", "0-2 2-2 3-3 4-4 5-5 6-6", stock="2-3 0-4 1-6 0-0")
    table.do(0, "1-1")
    assert table.legal() == {"draw"}
    table.refuses(1, "pass")
    table.play("draw draw draw")
    assert [event.tile.name for event in table.events(Drew)] == ["2-3", "0-4", "1-6"]
    assert table.legal() == {"1-6"}
    table.refuses(1, "draw pass")


def test_15_2_nobody_may_draw_while_a_tile_fits_and_who_cannot_place_or_draw_passes() -> None:
    table = EngineTable(BERGEN, "1-1 …", "0-1 2-2 3-3 4-4 5-5 6-6", stock="0-0")
    table.do(0, "1-1")
    assert table.legal() == {"0-1"}
    table.refuses(1, "draw pass")
    table.put("1-2", "0-2 2-2", stock="3-4 3-5")
    assert table.legal() == {"pass"}
    table.refuses(1, "draw")


# 15.3


@pytest.mark.parametrize(
    ("options", "double", "stock"), [({}, "1-1", "0-0"), ({"opening": "highest_double"}, "5-5", "6-6")]
)
def test_15_3_the_lowest_or_the_highest_double_in_any_hand_must_be_led(
    options: dict[str, Any], double: str, stock: str
) -> None:
    table = EngineTable(BERGEN, "3-3 …", f"{double} 2-2 0-1 1-6 5-6 4-6", "4-4 …", stock=stock, **options)
    assert (table.turn, table.legal()) == (1, {double})
    table.refuses(1, "2-2 0-1 draw pass")


@pytest.mark.parametrize(("opening", "led"), [("lowest_double", "2-2"), ("highest_double", "4-4")])
def test_15_3_every_round_is_led_with_a_double(opening: str, led: str) -> None:
    later = ["0-1 0-2 4-4 0-3 0-4 0-5", "2-2 1-2 1-3 1-4 1-5 1-6"]
    table = EngineTable(BERGEN, "1-1 …", "2-2 …", later=[later], opening=opening, target=100)
    table.play_out()
    table.do(0, "deal")
    assert table.legal() == {led}


def test_15_3_without_a_double_in_any_hand_it_is_dealt_again() -> None:
    assert_dealt_again(variant(BERGEN).rules({}, 2), "no double 211")


# 15.4


def test_15_4_two_ends_and_no_double_branches() -> None:
    table = EngineTable(BERGEN, "1-1 3-3 …", "1-3 …", stock="0-0")
    table.do(0, "1-1")
    assert [end.name for end in table.layout.ends] == ["left", "right"]
    table.do(1, "1-3@right")
    table.do(0, "3-3@right")
    ends = [(end.name, end.number, end.gate) for end in table.layout.ends]
    assert ends == [("left", 1, "open"), ("right", 3, "open")]


# 15.5


def test_worked_15a_a_whole_picture() -> None:
    table = EngineTable(BERGEN, *PICTURE, stock="0-0")
    for move, points in PICTURE_PLAY:
        name, _, end = move.partition("@")
        assert listed(table, name)[end or None] == points
        if name == "5-6":
            assert listed(table, name) == {"left": 2, "right": 2}
        table.play(move)
        assert table.scored == (None, points)
    assert table.state.running_totals() == (2 + 2, 3 + 3)


@pytest.mark.parametrize(
    ("line", "tile", "points"),
    [
        ("0-0 0-5@left 0-6@right", "5-6", {"left": 2, "right": 2}),
        ("0-0 0-5@left 0-6@right 5-6@right", "5-5", {"left": 3, "right": 3}),
        ("0-0 0-5@left 0-2@right 5-5@left", "2-5", {"left": 2, "right": 3}),
        ("0-0 0-5@left 2-5@left", "0-2", {"left": 3, "right": 2}),
        ("0-0 0-5@left 5-5@left 2-5@left 0-1@right 1-5@right 2-3@left", "3-5", {"left": 2, "right": 2}),
    ],
    ids=["equal ends", "double just laid", "double at the other end", "leading double", "double inside the line"],
)
def test_15_5_equal_ends_score_two_and_with_a_double_at_one_of_them_three(
    line: str, tile: str, points: dict[str | None, int | None]
) -> None:
    table = at_line(f"{tile} 0-1", "0-1", line=line)
    assert listed(table, tile) == points


def test_15_5_the_points_or_none_show_at_once_and_stand_on_the_card() -> None:
    table = EngineTable(BERGEN, *PICTURE, stock="0-0")
    table.play("1-1", "1-4@right")
    assert (table.last_play.points, table.state.running_totals()) == (0, (2, 0))
    table.play("3-4@right", "1-3@right")
    assert [player.total for player in view(table.rules, table.state, None).players] == [2, 3]
    result = table.play_out()
    assert [(line.seat, line.points, line.rule, line.text) for line in result.lines[:2]] == [
        (0, 2, "15.6", "double-heading"),
        (1, 3, "15.5", "triple-heading"),
    ]


@pytest.mark.parametrize("bonus", [1, 2])
@pytest.mark.parametrize(
    ("line", "last", "points"),
    [("0-0 0-5@left 0-6@right", "5-6@left", 2), ("0-0 0-5@left 0-6@right 5-6@right", "5-5@left", 3)],
)
def test_worked_15c_the_last_tile_scores_too(line: str, last: str, points: int, bonus: int) -> None:
    """2 + 1 = 3 points for the mover; with a double 3 + 1 = 4; with `bonus` 2: 4 and 5."""
    name = last.partition("@")[0]
    table = at_line(name, "3-4", line=line, bonus=bonus)
    table.do(0, last)
    assert (table.counted.ended_by, table.counted.winner) == ("out", 0)
    assert table.counted.scores == (points + bonus, 0)


# 15.6


@pytest.mark.parametrize("opening", ["lowest_double", "highest_double"])
def test_15_6_the_lead_scores_two(opening: str) -> None:
    table = EngineTable(BERGEN, "3-3 …", "3-4 …", stock="0-0 1-1 2-2 4-4 5-5 6-6", opening=opening)
    assert listed(table, "3-3") == {None: 2}
    table.do(0, "3-3")
    assert table.scored == (None, 2)
    assert table.state.running_totals() == (2, 0)


# 15.7


@pytest.mark.parametrize("bonus", [None, 1, 2])
def test_15_7_who_goes_out_scores_the_bonus(bonus: int | None) -> None:
    options: dict[str, Any] = {} if bonus is None else {"bonus": bonus}
    table = at_line("0-5", "3-4 6-6", **options)
    table.do(0, "0-5@left")
    assert (table.counted.ended_by, table.counted.winner, table.counted.scores) == ("out", 0, (bonus or 1, 0))
    assert [(line.seat, line.rule) for line in table.counted.lines] == [(0, "15.7")]


# 15.8


def blocked(*hands: str, **options: Any) -> EngineTable:
    """A blocked round with these hands: the ends are 0 and 0, and all blanks lie in the line."""
    line = "0-0 0-1@left 1-2@left 0-2@left 0-3@right 3-4@right 0-4@right 0-5@right 5-6@right"
    table = at_line("0-6 " + hands[0], *hands[1:], line=line, **options)
    table.do(0, "0-6@right")
    assert (table.counted.ended_by, table.counted.winner) == ("blocked", None)
    return table


def lines(table: EngineTable) -> list[tuple[int, int]]:
    return [(line.seat, line.points) for line in table.counted.lines if line.rule == "15.8"]


@pytest.mark.parametrize(
    ("hands", "options", "won"),
    [
        (("1-1 1-2", "3-6"), {"blocked": "lightest"}, [(0, 1)]),
        (("1-1 1-2", "3-6"), {"blocked": "no_doubles"}, [(1, 1)]),
        (("1-1 1-2", "5-5"), {"blocked": "lightest"}, [(0, 1)]),
        (("1-1 1-2", "5-5"), {"blocked": "no_doubles"}, [(1, 1)]),
        (("6-6", "2-3", "4-5"), {}, [(1, 1)]),
        (("6-6", "2-3", "4-5"), {"bonus": 2}, [(1, 2)]),
        (("1-4", "2-3", "4-5"), {"blocked": "lightest"}, []),
        (("1-4", "2-3", "4-5"), {"blocked": "no_doubles"}, []),
        (("1-1 2-2", "3-3 4-4", "1-6"), {"blocked": "no_doubles"}, [(2, 1)]),
        (("1-1 1-2", "2-2 1-2", "4-4 1-4"), {"blocked": "no_doubles"}, []),
    ],
)
def test_worked_15d_who_wins_a_blocked_round(
    hands: tuple[str, ...], options: dict[str, Any], won: list[tuple[int, int]]
) -> None:
    """A {2-2, 0-1} = 5, B {3-6} = 9: `lightest` A, `no_doubles` B; B {5-5}: A (5 to 10), or B (0 to 1); a tie: nobody.

    1-1 and 1-2 stand for 2-2 and 0-1.
    """
    assert lines(blocked(*hands, **options)) == won


def test_15_8_hidden_tiles_do_not_keep_a_round_going() -> None:
    table = at_line("0-4 6-6", "3-3", line="0-0 0-5@left", stock="4-5 3-5")
    table.do(0, "0-4@right")
    assert (table.counted.ended_by, lines(table)) == ("blocked", [(1, 1)])


# 15.9


def test_15_9_the_target_by_players_or_from_1_to_100() -> None:
    assert [variant(BERGEN).rules({}, players).settings["target"] for players in (2, 3, 4)] == [15, 10, 10]
    assert variant(BERGEN).rules({"target": 100}, 3).settings["target"] == 100
    assert complaints(BERGEN, 2, target=0) == complaints(BERGEN, 2, target=101) == {"options.target"}


def test_worked_15e_the_round_is_played_to_its_end() -> None:
    """A at 14 makes equal ends: 16, the round goes on. B at 13 goes out with a triple-heading: 17 wins."""
    table = at_line("5-6 3-4", "6-6", line="0-0 0-5@left 0-6@right", totals=(14, 13))
    table.do(0, "5-6@left")
    assert (table.state.running_totals(), table.turn) == ((16, 13), 1)
    table.do(1, "6-6@left")
    assert (table.state.phase, table.state.totals, table.state.winners) == (FINISHED, (16, 17), (1,))


@pytest.mark.parametrize(("target", "totals", "winners"), [(3, (0, 0), ()), (1, (0, 1), (0, 1))])
def test_15_9_below_the_target_another_round_is_dealt_and_equal_totals_share_the_win(
    target: int, totals: tuple[int, ...], winners: tuple[int, ...]
) -> None:
    table = at_line("0-5", "3-4 6-6", target=target, totals=totals)
    table.do(0, "0-5@left")
    assert table.state.totals == (1, totals[1])
    assert (table.state.phase, table.state.winners) == (FINISHED if winners else ROUND_OVER, winners)


# 15.10


def test_15_10_a_placement_has_points_and_no_sum() -> None:
    table = EngineTable(BERGEN, *PICTURE, stock="0-0")
    table.play("1-1")
    moves = legal_moves(table.rules, table.state, 1)
    assert moves
    assert all(move.points is not None and move.ends_sum is None for move in moves)
    assert not table.layout.counts_ends


def test_worked_15b_the_highest_double_leads() -> None:
    """6-6: 2 · 2-6 right: 0 · 4-6 left: 0 · 2-4 left → 2, 2: 2 · 2-2 right: 3."""
    table = EngineTable(BERGEN, "6-6 4-6 2-2 0-0 0-1 0-2", "2-6 2-4 1-1 1-3 1-4 1-5", opening="highest_double")
    for move, points in (("6-6", 2), ("2-6@right", 0), ("4-6@left", 0), ("2-4@left", 2), ("2-2@right", 3)):
        table.play(move)
        assert table.last_play.points == points
    assert table.state.running_totals() == (2 + 3, 2)


def test_15_options_stand_in_the_settings() -> None:
    settings = variant(BERGEN).rules({}, 2).settings
    assert settings == {"opening": "lowest_double", "reserve": 2, "bonus": 1, "blocked": "lightest", "target": 15}
