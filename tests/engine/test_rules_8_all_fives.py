"""Rules 8: All Fives, Muggins, a test a statement."""

from __future__ import annotations

from typing import Any

import pytest

from service.engine.events import Drew
from service.engine.state import FINISHED, PLAYING, ROUND_OVER
from service.engine.tiles import parse_tile
from service.engine.view import view
from tests.engine.table import EngineTable, assert_hands, assert_players, assert_teams, complaints, position, variant

ALL_FIVES = "all-fives"

COUNTED = [
    *(("5-5", 10, 10), ("2-5@5-5.long", 12, 0), ("3-5@5-5.long", 5, 5), ("0-5@5-5.short", 5, 5)),
    *(("5-6@5-5.short", 11, 0), ("6-6@5-6", 17, 0), ("3-3@3-5", 20, 20), ("0-0@0-5", 20, 20)),
]
"""Worked example 8a: each tile, the sum of the ends after it, and its points."""


def at_line(*hands: str, line: str, **options: Any) -> EngineTable:
    return position(ALL_FIVES, *hands, line=line, **options)


# 8.1


def test_8_1_two_to_four_players_of_whom_four_may_play_in_teams() -> None:
    assert_players(ALL_FIVES, 2, 4)
    assert_teams(ALL_FIVES)


# 8.2


def test_8_2_seven_or_five_tiles_or_another_hand() -> None:
    assert [variant(ALL_FIVES).rules({}, players).hand_size(players) for players in (2, 3, 4)] == [7, 5, 5]
    assert_hands(ALL_FIVES, range(5, 10))


# 8.3


@pytest.mark.parametrize("reserve", [None, 0, 1, 2])
def test_8_3_draws_until_it_fits_down_to_the_reserve(reserve: int | None) -> None:
    options: dict[str, Any] = {} if reserve is None else {"reserve": reserve}
    table = EngineTable(ALL_FIVES, seats=2, **options)
    assert table.rules.drawable(table.state) == 14 - (reserve or 0)
    table.lay("6-6")
    table.put("0-1 0-2", "1-6 2-3", stock="1-2 0-3 4-6 1-4")
    assert table.legal() == {"draw"}
    table.refuses(0, "pass")
    table.play("draw draw")
    if reserve == 2:
        assert table.legal() == {"pass"}
        table.refuses(0, "draw")
    else:
        table.play("draw")
        assert table.legal() == {"4-6"}
    assert [event.tile.name for event in table.events(Drew)] == ["1-2", "0-3", "4-6"][: 2 if reserve == 2 else 3]


def test_8_3_nobody_draws_who_can_place() -> None:
    table = at_line("1-6 0-1", "2-3", line="6-6", stock="0-0")
    assert table.legal() == {"1-6"}
    table.refuses(0, "draw pass")


# 8.4


def test_8_4_the_highest_double_leads_round_1_then_who_went_out_any_tile() -> None:
    hands = ("5-5 0-5 1-5 …", "4-4 2-3 …", "…")
    table = EngineTable(ALL_FIVES, *hands, stock="6-6", later=[("6-6 …", "…", "…")])
    assert (table.turn, table.legal()) == (0, {"5-5"})
    table.do(0, "5-5")
    table.put("0-1", "2-5", "1-1")
    table.do(1, "2-5@5-5.long")
    assert table.counted.winner == 1
    table.do(0, "deal")
    assert (table.turn, table.legal()) == (1, set(table.hand(1).split()))


def test_8_4_after_a_blocked_round_the_highest_double_again() -> None:
    table = EngineTable(ALL_FIVES, "5-5 0-1 …", "…", stock="6-6", later=[("0-1 …", "3-3 4-4 …")])
    table.lay("6-6 5-6@6-6.long")
    table.put("5-5 0-1", "1-2", stock="")
    table.do(0, "5-5")
    assert (table.counted.ended_by, table.counted.winner) == ("blocked", None)
    table.do(0, "deal")
    assert (table.turn, table.legal()) == (1, {"4-4"})


def test_8_4_highest_double_or_rotate_every_round() -> None:
    later = [["0-1 0-2 …", "6-6 …"]]
    for opening, leads in (("highest_double", {"6-6"}), ("rotate", None)):
        table = EngineTable(ALL_FIVES, "1-1 …", "0-0 …", later=later, opening=opening)
        if opening == "rotate":
            assert (table.turn, table.legal()) == (0, set(table.hand(0).split()))
        table.play_out()
        table.do(0, "deal")
        assert (table.turn, table.legal()) == (1, leads or set(table.hand(1).split()))


# 8.5, 8.6


def sides(table: EngineTable, double: str) -> list[tuple[str, str]]:
    """The free sides of this double, each with its gate, sorted."""
    return sorted(
        (end.side, end.gate) for end in table.layout.ends if table.layout.placements[end.host].tile.name == double
    )


def test_8_5_a_leading_spinner_opens_its_short_sides_when_both_long_sides_are_covered() -> None:
    table = at_line("3-5 0-1", "4-5 0-2", line="5-5")
    assert sides(table, "5-5") == [("long", "open"), ("long", "open"), ("short", "gated"), ("short", "gated")]
    assert [end.counts for end in table.layout.ends] == [5, 5, 0, 0]
    assert table.places("3-5") == ["5-5.long", "5-5.long"]
    table.do(0, "3-5@5-5.long")
    assert sides(table, "5-5") == [("long", "open"), ("short", "gated"), ("short", "gated")]
    assert table.places("4-5") == ["5-5.long"]
    table.refuses(1, "4-5@5-5.short")
    table.do(1, "4-5@5-5.long")
    assert sides(table, "5-5") == [("short", "open"), ("short", "open")]
    assert table.ends() == [3, 4, 5, 5]


def test_8_5_a_later_spinner_opens_them_when_its_far_long_side_is_covered() -> None:
    table = at_line("3-3 0-1", "3-4 0-2", line="2-3")
    table.do(0, "3-3")
    assert sides(table, "3-3") == [("long", "open"), ("short", "gated"), ("short", "gated")]
    table.do(1, "3-4")
    assert sides(table, "3-3") == [("short", "open"), ("short", "open")]


def test_8_5_and_8_6_only_the_first_double_of_the_round_branches() -> None:
    table = at_line("4-4 0-1", "4-6 0-2", line="3-3 3-4@3-3.long")
    table.do(0, "4-4")
    assert sides(table, "4-4") == [("long", "open")]
    table.do(1, "4-6@4-4")
    assert sides(table, "4-4") == []
    assert sides(table, "3-3") == [("long", "open"), ("short", "gated"), ("short", "gated")]


def test_8_5_none_no_double_branches_and_there_are_two_ends() -> None:
    table = at_line("3-5 0-1", "4-5 0-2", line="5-5", spinner="none")
    assert [(end.name, end.side) for end in table.layout.ends] == [("left", "long"), ("right", "long")]
    table.play("3-5@left 4-5@right")
    assert table.ends() == [3, 4]


# 8.7, 8.8


def test_worked_8a() -> None:
    hands = ("5-5 3-5 5-6 3-3 …", "2-5 0-5 6-6 0-0 …")
    table = EngineTable(ALL_FIVES, *hands, opening="rotate")
    for move, ends_sum, points in COUNTED:
        name = move.partition("@")[0]
        assert (ends_sum, points) in table.listed(name).values()
        table.play(move)
        assert table.scored == (ends_sum, points)
        assert sum(end.counts for end in table.layout.ends) == ends_sum
    assert table.state.running_totals() == (10 + 5 + 0 + 20, 0 + 5 + 0 + 20)


def test_worked_8b() -> None:
    """2-3 → 5, 5 points · 3-3 → 8 · 3-4 → 6 · 1-3 on a short side → 7 · 3-6 on the other → 13."""
    table = EngineTable(ALL_FIVES, "2-3 3-4 3-6 …", "3-3 1-3 …", opening="rotate")
    for move, ends_sum, points, ends, gated in (
        ("2-3", 5, 5, [2, 3], []),
        ("3-3@2-3", 8, 0, [2, 3], [3, 3]),
        ("3-4@3-3.long", 6, 0, [2, 3, 3, 4], []),
        ("1-3@3-3.short", 7, 0, [1, 2, 3, 4], []),
        ("3-6@3-3.short", 13, 0, [1, 2, 4, 6], []),
    ):
        table.play(move)
        assert (table.scored, table.ends(), table.ends("gated")) == ((ends_sum, points), ends, gated)


def test_worked_8c() -> None:
    """5-5 → 10, 10 points · 2-5 right → 12 · 3-5 left → 5, 5 points · 3-3 left → 8; a further 5-x fits nowhere."""
    table = EngineTable(ALL_FIVES, "5-5 3-5 5-6 …", "2-5 3-3 …", opening="rotate", spinner="none")
    for move, ends_sum, points in (("5-5", 10, 10), ("2-5@right", 12, 0), ("3-5@left", 5, 5), ("3-3@left", 8, 0)):
        table.play(move)
        assert table.scored == (ends_sum, points)
    table.put("5-6 2-2", "0-1")
    table.refuses(0, "5-6")


@pytest.mark.parametrize("number", range(7))
def test_8_7_a_leading_double_counts_both_halves_until_both_its_long_sides_are_covered(number: int) -> None:
    one, other = [each for each in (1, 2, 3) if each != number][:2]
    table = at_line("6-6", "6-6", line=f"{number}-{number}")
    assert table.layout.ends_sum == 2 * number
    ends = [end.name for end in table.layout.ends]
    first = f"{min(one, number)}-{max(one, number)}@{ends[0]}"
    table.lay(f"{number}-{number} {first}")
    assert table.layout.ends_sum == one + 2 * number
    table.lay(f"{number}-{number} {first} {min(other, number)}-{max(other, number)}@{ends[1]}")
    assert table.layout.ends_sum == one + other


def test_8_7_an_end_counts_a_double_with_both_halves_and_an_arm_on_a_short_side_like_any_other() -> None:
    table = at_line("4-4 0-1", "4-6 0-2", line="5-5 4-5@5-5.long 3-5@5-5.long")
    table.do(0, "4-4")
    assert table.scored == (8 + 3, 0)
    table.do(1, "4-6@4-4")
    assert table.scored == (6 + 3, 0)
    table = at_line("1-5 0-1", "1-1 0-2", line="5-5 4-5@5-5.long 3-5@5-5.long")
    table.do(0, "1-5@5-5.short")
    assert table.scored == (4 + 3 + 1, 0)
    table.do(1, "1-1@1-5")
    assert table.scored == (4 + 3 + 2, 0)


@pytest.mark.parametrize("ends_sum", range(41))
def test_8_8_multiples_of_five_score(ends_sum: int) -> None:
    rules = variant(ALL_FIVES).rules({}, 2)
    assert rules.points is not None
    wanted = ends_sum if ends_sum in (5, 10, 15, 20, 25, 30, 35, 40) else 0
    assert rules.points(rules.start(), parse_tile("0-1"), None, ends_sum) == wanted


def test_8_8_the_lead_and_the_last_tile_score() -> None:
    table = EngineTable(ALL_FIVES, "5-5 …", "…", stock="6-6")
    table.do(0, "5-5")
    assert table.scored == (10, 10)
    assert [player.total for player in view(table.rules, table.state, None).players] == [10, 0]
    table = at_line("2-5", "6-6 4-6", line="5-5 3-5@5-5.long")
    table.do(0, "2-5@5-5.long")
    assert table.scored == (5, 5)
    assert table.counted.scores == (5 + 20, 0)
    assert [(line.points, line.rule, line.text) for line in table.counted.lines] == [
        (5, "8.8", "5"),
        (20, "8.9", "22 → 20"),
    ]


# 8.9


@pytest.mark.parametrize(
    ("left", "points"),
    [("2-5 6-6 3-5", 25), ("6-6 5-5 2-4", 30), ("0-3", 5), ("1-1", 0), ("3-4", 5), ("4-4", 10), ("0-0", 0)],
)
def test_worked_8d_the_pips_of_the_others_rounded(left: str, points: int) -> None:
    """27 → 25, 28 → 30, 3 → 5, 2 → 0, 7 → 5, 8 → 10."""
    table = at_line("1-4", left, line="0-4 0-2@e1")
    table.do(0, "1-4")
    assert (table.counted.ended_by, table.counted.winner, table.counted.scores) == ("out", 0, (points, 0))


@pytest.mark.parametrize(("rounding", "points"), [(None, 25), ("total", 25), ("each_hand", 30)])
def test_worked_8d_three_opponents_with_8_each(rounding: str | None, points: int) -> None:
    options: dict[str, Any] = {} if rounding is None else {"rounding": rounding}
    table = at_line("1-4", "4-4", "3-5", "2-6", line="0-4 0-2@e1", **options)
    table.do(0, "1-4")
    assert table.counted.scores == (points, 0, 0, 0)
    assert table.counted.lines[-1].text == ("10 + 10 + 10" if points == 30 else "8 + 8 + 8 → 25")


def test_8_9_the_side_of_who_went_out_scores_the_hands_of_the_other_side() -> None:
    table = at_line("1-4", "4-4", "6-6", "2-6", line="0-4 0-2@e1", teams=2)
    table.do(0, "1-4")
    assert table.counted.scores == (15, 0, 15, 0)
    assert [(line.seat, line.points) for line in table.counted.lines] == [(0, 15), (2, 15)]


# 8.10


def blocked(*hands: str, **options: Any) -> EngineTable:
    """A blocked round with these hands: all blanks lie, and both ends are blank."""
    line = "0-1 1-2@right 0-2@right 0-0@right 0-3@left 3-4@left 0-4@left 0-5@right 5-6@right"
    table = at_line("0-6 " + hands[0], *hands[1:], line=line, spinner="none", **options)
    table.do(0, "0-6@right")
    return table


@pytest.mark.parametrize("reserve", [0, 1, 2])
def test_8_10_hidden_tiles_do_not_keep_a_round_going(reserve: int) -> None:
    table = at_line("0-4 6-6", "3-3", line="0-0 0-5@e1", stock="4-5 3-5"[: 3 if reserve == 1 else 7], reserve=reserve)
    table.do(0, "0-4@0-0.long")
    assert (table.state.phase == PLAYING) == (reserve == 0)


@pytest.mark.parametrize(("blocked_score", "points"), [(None, 20), ("others", 20), ("minus_own", 10)])
def test_8_10_blocked_the_fewest_pips_score(blocked_score: str | None, points: int) -> None:
    options: dict[str, Any] = {} if blocked_score is None else {"blocked_score": blocked_score}
    table = blocked("4-6", "1-1 2-6", "3-6 2-2", **options)
    assert (table.counted.ended_by, table.counted.winner) == ("blocked", None)
    table = blocked("4-5", "1-1 2-6", "3-6 2-2", **options)
    assert table.counted.scores == ((23 + 2) // 5 * 5 if points == 20 else (14 + 2) // 5 * 5, 0, 0)


def test_8_10_each_hand_is_rounded_before_adding_and_subtracting_and_never_below_nothing() -> None:
    """The true pips say who has the fewest: 8 before 9, though 10 and 10 are rounded; 10 − 10 is 0."""
    table = blocked("2-6", "4-5", blocked_score="minus_own", rounding="each_hand")
    assert table.counted.scores == (0, 0)
    (line,) = table.counted.lines
    assert (line.seat, line.text) == (0, "10 − 10")
    assert blocked("1-2", "4-5", blocked_score="minus_own", rounding="each_hand").counted.scores == (5, 0)
    assert blocked("1-2", "4-5", blocked_score="minus_own").counted.scores == (5, 0)
    assert blocked("4-4", "1-6 1-1", rounding="each_hand").counted.scores == (10, 0)


def test_8_10_a_result_below_nothing_scores_nothing() -> None:
    hands = ("1-2", "1-3", "1-1 2-2", "3-3")
    teams = blocked(*hands, blocked_score="minus_own", rounding="each_hand", teams=2)
    own, others = [3, 6], [4, 6]
    assert sum(own) < sum(others)
    assert teams.counted.scores == (0, 0, 0, 0)
    assert [(line.seat, line.text) for line in teams.counted.lines] == [(0, "5 + 5 − 10"), (2, "5 + 5 − 10")]


def test_8_10_a_tie_scores_nothing() -> None:
    table = blocked("4-4", "2-6", "1-6 5-5")
    assert (table.counted.ended_by, table.counted.scores, table.counted.lines) == ("blocked", (0, 0, 0), ())


# 8.11


def test_8_11_the_target_by_players_or_from_50_to_1000() -> None:
    assert [variant(ALL_FIVES).rules({}, players).settings["target"] for players in (2, 3, 4)] == [250, 200, 200]
    assert variant(ALL_FIVES).rules({"target": 50}, 2).settings["target"] == 50
    assert complaints(ALL_FIVES, 2, target=49) == complaints(ALL_FIVES, 2, target=1001) == {"options.target"}


TEN = "5-6 1-5@e1 1-3@e3"
"""A line with the ends 6 and 3."""


def test_worked_8e_the_round_goes_on() -> None:
    """A places for 10: 250. B then places for 15 (250) and goes out; A holds 13 → +15 → 265: B wins."""
    table = at_line("3-4 6-6 0-1", "4-5 4-4", line=TEN, totals=(240, 235))
    table.do(0, "3-4")
    assert table.scored == (10, 10)
    assert (table.state.running_totals(), table.state.phase) == ((250, 235), PLAYING)
    table.lay("3-6")
    table.put("6-6 0-1", "6-6")
    table.state = table.state._replace(turn=1)
    table.do(1, "6-6")
    assert table.scored == (15, 15)
    assert (table.counted.ended_by, table.counted.scores) == ("out", (10, 15 + 15))
    assert (table.state.phase, table.state.totals, table.state.winners) == (FINISHED, (250, 265), (1,))


@pytest.mark.parametrize("hand", ["3-4 6-6 0-1", "3-4"], ids=["", "last tile"])
def test_worked_8e_at_once(hand: str) -> None:
    """A places for 10: 250, A has won. Hands are not counted even if it was a last tile."""
    table = at_line(hand, "4-5", line=TEN, totals=(240, 235), finish="at_once")
    table.do(0, "3-4")
    assert (table.counted.ended_by, table.counted.winner, table.counted.scores) == ("target", 0, (10, 0))
    assert (table.state.phase, table.state.totals, table.state.winners) == (FINISHED, (250, 235), (0,))


@pytest.mark.parametrize(("total", "options", "over"), [(240, {"finish": "at_once"}, True), (235, {}, False)])
def test_8_11_a_target_reached_by_the_count_ends_the_match(total: int, options: dict[str, str], over: bool) -> None:
    table = at_line("1-4", "6-6", line="0-4 0-2@e1", totals=(total, 0), **options)
    table.do(0, "1-4")
    assert (table.counted.ended_by, table.state.totals) == ("out", (total + 10, 0))
    assert (table.state.phase, table.state.winners) == ((FINISHED, (0,)) if over else (ROUND_OVER, ()))


# 8.12


@pytest.mark.parametrize("finish", ["round", "at_once"])
def test_worked_8f(finish: str) -> None:
    """Teams at 180 and 120; seat 2 scores 20 with a tile: seats 0 and 2 both show 200 at once, or have won."""
    line = "5-5 2-5@5-5.long 3-5@5-5.long 0-5@5-5.short 5-6@5-5.short 6-6@5-6"
    totals = (180, 120, 180, 120)
    table = at_line("0-1", "0-2", "3-3 1-1", "0-4", line=line, totals=totals, teams=2, finish=finish)
    table.state = table.state._replace(turn=2)
    table.do(2, "3-3")
    assert table.scored == (20, 20)
    assert [player.total for player in view(table.rules, table.state, None).players] == [200, 120, 200, 120]
    if finish == "round":
        assert table.state.phase == PLAYING
    else:
        assert (table.counted.ended_by, table.counted.winner, table.state.winners) == ("target", 2, (0, 2))
        assert table.counted.scores == (20, 0, 20, 0)
        assert [(line.seat, line.points) for line in table.counted.lines] == [(0, 20), (2, 20)]


def test_8_options_stand_in_the_settings() -> None:
    assert variant(ALL_FIVES).rules({}, 3).settings == {
        "hand": 5,
        "reserve": 0,
        "opening": "winner",
        "spinner": "after_sides",
        "rounding": "total",
        "blocked_score": "others",
        "target": 200,
        "finish": "round",
        "teams": 0,
    }
