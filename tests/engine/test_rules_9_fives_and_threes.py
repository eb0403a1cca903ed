"""Rules 9: Fives and Threes, 5s & 3s, a test a statement."""

from __future__ import annotations

from typing import Any

import pytest

from service.engine.state import FINISHED, PLAYING, ROUND_OVER
from service.engine.tiles import double_set, parse_tile
from service.engine.view import view
from tests.engine.table import EngineTable, assert_hands, assert_players, assert_teams, complaints, position, variant

FIVES = "fives-and-threes"
POINTS = {3: 1, 5: 1, 6: 2, 9: 3, 10: 2, 12: 4, 15: 8, 18: 6, 20: 4}
"""The sums that score, and what they score."""


def at_line(*hands: str, line: str, **options: Any) -> EngineTable:
    return position(FIVES, *hands, line=line, **options)


# 9.1


def test_9_1_two_to_four_players_of_whom_four_may_play_in_teams() -> None:
    assert_players(FIVES, 2, 4)
    assert_teams(FIVES)


# 9.2


def test_9_2_seven_or_five_tiles_or_another_hand_and_nobody_draws() -> None:
    tables = [EngineTable(FIVES, seats=players) for players in (2, 3, 4)]
    assert [table.held for table in tables] == [[7] * 2, [5] * 3, [5] * 4]
    assert [table.rules.drawable(table.state) for table in tables] == [0] * 3
    assert_hands(FIVES, range(3, 10))


# 9.3


def test_9_3_the_seats_lead_in_turn_any_tile() -> None:
    deals = [["0-1 0-2 …", "6-6 1-1 …", "…"]] * 4
    table = EngineTable(FIVES, *deals[0], later=deals[1:])
    for number in range(4):
        assert table.turn == number % 3
        assert table.legal() == set(table.hand(number % 3).split())
        table.play_out()
        table.do(0, "deal")


def test_9_3_or_the_highest_double_in_any_hand_or_the_heaviest_tile() -> None:
    table = EngineTable(FIVES, "0-1 5-5 …", "1-6 …", stock="6-6", opening="highest_double")
    assert (table.turn, table.legal()) == (0, {"5-5"})
    doubles = "0-0 1-1 2-2 3-3 4-4 5-5 6-6"
    table = EngineTable(
        FIVES, "0-1 2-5 0-2", "3-4 0-3 0-4", "1-6 0-5 1-2", stock=doubles, opening="highest_double", hand=3
    )
    assert (table.turn, table.legal()) == (2, {"1-6"})


# 9.4


def test_9_4_two_ends_and_no_spinner() -> None:
    table = at_line("5-6 4-6", "6-6 0-1", "0-2 0-3", line="6-6 5-6@left 4-6@right")
    ends = [(end.name, end.number, end.gate) for end in table.layout.ends]
    assert ends == [("left", 5, "open"), ("right", 4, "open")]


def test_9_4_who_cannot_place_passes_and_who_can_must() -> None:
    table = at_line("0-1 1-2", "6-6 0-2", line="3-3")
    assert table.legal() == {"pass"}
    table.refuses(0, "draw")
    table.do(0, "pass")
    assert table.turn == 1
    table = at_line("0-3 1-2", "6-6 0-2", line="3-3")
    assert table.legal() == {"0-3"}
    table.refuses(0, "pass draw done")


# 9.5


def test_worked_9a() -> None:
    """5-6 → 11, 0 · 1-6 on the 6 → 6, 2 points · 1-5 on the 1 → 10, 2 · 5-5 on the right 5 → 15, 8 points."""
    table = EngineTable(FIVES, "5-6 1-5 …", "1-6 5-5 …")
    for move, ends_sum, points in (("5-6", 11, 0), ("1-6@right", 6, 2), ("1-5@right", 10, 2), ("5-5@right", 15, 8)):
        name, _, end = move.partition("@")
        assert table.listed(name)[end or None] == (ends_sum, points)
        table.play(move)
        assert table.scored == (ends_sum, points)
    assert table.state.running_totals() == (0 + 2, 2 + 8)


def test_worked_9b() -> None:
    """6-6 → 12, 4 points · 3-6 left → 3 + 12 = 15, 8 points · 0-6 right → 3 + 0 = 3, 1 point."""
    table = EngineTable(FIVES, "6-6 0-6 …", "3-6 …")
    for move, ends_sum, points in (("6-6", 12, 4), ("3-6@left", 15, 8), ("0-6@right", 3, 1)):
        table.play(move)
        assert table.scored == (ends_sum, points)


def test_9_5_a_double_inside_the_line_counts_nothing() -> None:
    table = at_line("1-5 0-1", "0-0 0-2", line="5-6 5-5@left")
    assert table.layout.ends_sum == 16
    assert table.listed("1-5") == {"left": (1 + 6, 0)}


# 9.6


@pytest.mark.parametrize("ends_sum", [*range(19), 20, 22])
def test_9_6_what_each_sum_scores(ends_sum: int) -> None:
    table = at_line("0-1 0-2", "0-3 0-4", line="3-3")
    assert table.rules.points is not None
    assert table.rules.points(table.state, parse_tile("0-1"), None, ends_sum) == POINTS.get(ends_sum, 0)


def test_9_6_the_lead_scores_and_points_show_at_once_and_stand_on_the_card() -> None:
    table = EngineTable(FIVES, "4-5 …", "…")
    table.do(0, "4-5")
    assert (table.scored, table.state.running_totals()) == ((9, 3), (3, 0))
    table = at_line("4-5 1-2", "0-0 0-2", line="5-6")
    table.do(0, "4-5@left")
    assert table.scored == (10, 2)
    assert [player.total for player in view(table.rules, table.state, None).players] == [2, 0]
    (line,) = table.play_out().lines
    assert (line.seat, line.points, line.rule, line.text) == (0, 2, "9.6", "10 ÷ 5")


@pytest.mark.parametrize(
    ("line", "tile", "ends_sum", "points"),
    [("6-6 2-6@right", "4-6", 6, 2 + 1), ("5-6 3-5@left", "3-4", 10, 2 + 1), ("5-6 0-6@right", "0-2", 7, 0 + 1)],
)
def test_9_7_the_last_tile_scores_one_point_more(line: str, tile: str, ends_sum: int, points: int) -> None:
    table = at_line(tile, "1-1 1-2", line=line)
    (place,) = [end for end, told in table.listed(tile).items() if told == (ends_sum, points)]
    table.do(0, f"{tile}@{place}")
    assert (table.counted.ended_by, table.counted.winner, table.counted.scores) == ("out", 0, (points, 0))
    (scored,) = table.counted.lines
    assert scored.rule == "9.7"
    assert scored.text == (f"{ends_sum} ÷ {3 if ends_sum == 6 else 5} + 1" if points > 1 else "1")


def test_9_7_one_before_the_last_does_not() -> None:
    assert at_line("0-2 1-1", "1-3 1-2", line="5-6 0-6@right").listed("0-2") == {"right": (7, 0)}


# 9.7 in teams


def test_worked_9d() -> None:
    """Seat 0 lays its last tile: 2, no chipping point; seats 1, 2, 3 play on; seat 2 lays its last: 3 + 1 = 4."""
    table = at_line("0-4", "4-4 0-1", "1-4", "4-6 0-3", line="0-5 5-6@right", teams=2)
    assert table.listed("0-4") == {"left": (10, 2)}
    table.do(0, "0-4")
    assert (table.state.phase, table.turn) == (PLAYING, 1)
    table.do(1, "4-4@left")
    assert table.scored == (14, 0)
    assert table.listed("1-4") == {"left": (7, 1)}
    table.put("", "0-1", "3-4", "1-1 0-3")
    assert table.listed("3-4") == {"left": (9, 4)}
    table.do(2, "3-4")
    assert (table.counted.ended_by, table.counted.winner) == ("out", 2)
    assert table.counted.scores == (6, 0, 6, 0)
    assert [(line.seat, line.points, line.text) for line in table.counted.lines] == [
        (0, 2, "10 ÷ 5"),
        (2, 2, "10 ÷ 5"),
        (0, 4, "9 ÷ 3 + 1"),
        (2, 4, "9 ÷ 3 + 1"),
    ]


def test_9_7_a_partner_without_tiles_is_skipped() -> None:
    table = at_line("0-4", "4-4 4-5", "2-4 4-6", "3-4 1-4", line="0-5 5-6@right", teams=2)
    table.play("0-4 4-4@left 2-4@left")
    table.put("", "2-5 0-1", "4-6 0-2", "2-3 1-1")
    table.play("2-3@left")
    assert table.turn == 1


def test_9_7_alone_the_first_to_lay_the_last_tile_ends_the_round() -> None:
    table = at_line("0-4", "4-4 4-5", "1-4", "3-4 1-4", line="0-5 5-6@right")
    table.do(0, "0-4")
    assert (table.counted.ended_by, table.counted.scores) == ("out", (2 + 1, 0, 0, 0))


# 9.8


def blocked(*hands: str, **options: Any) -> EngineTable:
    """A blocked round with these hands: the ends are 0 and 0, and all blanks lie in the line."""
    line = "0-0 0-1@left 1-2@left 0-2@left 0-3@right 3-4@right 0-4@right 0-5@right 5-6@right"
    table = at_line("0-6 " + hands[0], *hands[1:], line=line, **options)
    table.do(0, "0-6@right")
    return table


def test_9_8_and_9_10_nobody_scores_at_the_end_of_a_blocked_round_and_nobody_has_won_it() -> None:
    counted = blocked("6-6", "1-1 2-3", "4-5").counted
    assert (counted.ended_by, counted.winner, counted.scores, counted.lines) == ("blocked", None, (0, 0, 0), ())


def test_9_8_the_points_of_placements_stay() -> None:
    line = "3-3 1-3@left 1-2@left 2-3@left 0-3@right 0-4@right 3-4@right 3-5@right 5-6@right"
    table = at_line("3-6 6-6", "1-1 0-2", line=line)
    table.do(0, "3-6@right")
    assert (table.counted.ended_by, table.counted.scores) == ("blocked", (2, 0))


def test_9_8_hands_are_never_counted() -> None:
    table = at_line("0-2", "1-1 5-6", line="5-6 0-6@right")
    table.do(0, "0-2")
    assert table.counted.scores == (1, 0)
    assert [left.value for left in table.counted.hands] == [0, 13]


# 9.9


def test_9_9_the_target_is_61_or_from_1_to_1000() -> None:
    for options, target in (({}, 61), ({"target": 1}, 1), ({"target": 1000}, 1000)):
        assert variant(FIVES).rules(options, 2).settings["target"] == target
    assert complaints(FIVES, 2, target=0) == complaints(FIVES, 2, target=1001) == {"options.target"}


@pytest.mark.parametrize(
    ("hands", "totals", "options", "scores"),
    [
        (("4-5 1-2", "0-0 0-2"), (59, 40), {}, (2, 0)),
        (("4-5", "0-0 0-2"), (58, 40), {}, (3, 0)),  # the last tile
        (("4-5 1-2", "0-0 0-2", "1-1", "0-1"), (59, 40, 59, 40), {"teams": 2}, (2, 0, 2, 0)),
    ],
)
def test_9_9_the_match_ends_in_the_middle_of_a_round(
    hands: tuple[str, ...], totals: tuple[int, ...], options: dict[str, int], scores: tuple[int, ...]
) -> None:
    table = at_line(*hands, line="5-6", totals=totals, **options)
    table.do(0, "4-5@left")
    assert (table.counted.ended_by, table.counted.winner, table.counted.scores) == ("target", 0, scores)
    assert table.state.totals == tuple(map(sum, zip(totals, scores, strict=True)))
    assert (table.state.phase, table.state.winners) == (FINISHED, (0, 2) if options else (0,))


def test_worked_9c_a_score_over_the_target_is_not_written() -> None:
    """At 58 a count of 12 (4) is not written: 58."""
    table = at_line("0-1 0-2", "1-1 0-4", line="1-6 6-6@right", totals=(58, 0))
    assert table.listed("0-1") == {"left": (12, 0)}
    table.do(0, "0-1")
    assert (table.scored, table.state.phase) == ((12, 0), PLAYING)
    assert table.state.running_totals() == (58, 0)


def test_worked_9c_a_last_tile_over_the_target() -> None:
    """At 59 a last tile that makes 6 is 2 + 1 = 3: not written, 59, and the round ends `out`."""
    table = at_line("4-6", "0-0 0-1", line="6-6 2-6@right", totals=(59, 0))
    table.do(0, "4-6")
    assert (table.scored, table.counted.ended_by, table.counted.scores) == ((6, 0), "out", (0, 0))
    assert (table.counted.winner, table.state.phase, table.state.totals) == (0, ROUND_OVER, (59, 0))


def test_worked_9c_a_last_tile_to_the_target() -> None:
    """At 60 a last tile that makes 7 is 0 + 1: 61, the match is won."""
    table = at_line("0-2", "1-1 5-6", line="5-6 0-6@right", totals=(60, 0))
    table.do(0, "0-2")
    assert (table.scored, table.counted.ended_by) == ((7, 1), "target")
    assert (table.state.phase, table.state.totals, table.state.winners) == (FINISHED, (61, 0), (0,))


def test_worked_9c_with_exact_false_a_score_over_the_target_wins() -> None:
    """58 + 4 = 62 wins."""
    table = at_line("0-1 0-2", "1-1 0-4", line="1-6 6-6@right", totals=(58, 0), exact=False)
    table.do(0, "0-1")
    assert (table.scored, table.counted.ended_by, table.state.winners) == ((12, 4), "target", (0,))
    assert table.state.totals == (62, 0)


def test_9_9_the_points_of_the_running_round_count_towards_the_target() -> None:
    table = at_line("4-5 1-2 0-1", "0-0 4-4", line="5-6", totals=(57, 0))
    table.do(0, "4-5@left")
    assert (table.scored, table.state.running_totals()) == ((10, 2), (59, 0))
    table.lay("1-6 6-6@right")
    assert table.listed("0-1") == {"left": (12, 0)}


# 9.10


def test_9_10_nor_has_one_blocked_after_a_partner_went_out() -> None:
    line = "0-0 0-1@left 1-2@left 0-2@left 0-3@right 3-4@right 0-4@right 0-5@right 5-6@right"
    table = at_line("0-6", "1-1", "2-3", "4-5", line=line, teams=2)
    table.do(0, "0-6@right")
    assert table.state.went_out_first == 0
    assert (table.counted.ended_by, table.counted.winner) == ("blocked", None)


# 9e


def test_worked_9e_the_highest_sums() -> None:
    """Highest on two ends: 6-6 and 5-5, 22 → 0; 20 = 6-6 and 4-4 → 4; 19 and 21 cannot occur."""
    rules = variant(FIVES).rules({}, 2)
    sums = set()
    for one in double_set(6):
        for other in double_set(6):
            if one is not other:
                counts = [2 * tile.low if tile.double else tile.high for tile in (one, other)]
                sums |= {sum(counts), *((counts[0] + other.low,) if not other.double else ())}
    assert max(sums) == 22
    assert not {19, 21} & sums
    assert rules.points is not None
    state = EngineTable(FIVES, seats=2).state
    assert [rules.points(state, parse_tile("4-4"), None, ends_sum) for ends_sum in (22, 20)] == [0, 4]
    table = at_line("5-5 0-1", "1-1 0-4", line="5-6 6-6@right")
    table.do(0, "5-5@left")
    assert table.scored == (22, 0)
    table = at_line("4-4 0-1", "1-1 0-4", line="4-6 6-6@right")
    table.do(0, "4-4@left")
    assert table.scored == (20, 4)


def test_9_options_stand_in_the_settings() -> None:
    settings = variant(FIVES).rules({}, 3).settings
    assert settings == {"hand": 5, "opening": "rotate", "target": 61, "exact": True, "teams": 0}
