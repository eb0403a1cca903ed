"""Rules 10: Latin dominoes, a test a statement."""

from __future__ import annotations

from typing import Any

import pytest

from service.engine.events import Finished, ScoreLine
from service.engine.state import PLAYING, ROUND_OVER
from tests.engine.table import EngineTable, assert_players, variant

LATIN = "latin"
TABLES = ("puerto_rico", "quinientos", "dominican", "venezuelan", "classic", "cuban", "international")
DEALT = ("6-6 …", "…", "…", "…")
UNEVEN = ("1-2", "4-4 0-2", "3-3 2-4 1-4 0-3", "2-2 1-3")
"""3, 10, 20 and 8 pips: 23 and 18 of the teams."""
TIED = ("4-4 1-3", "2-3", "2-2 0-4", "3-3 2-4 0-3")
"""12, 5, 8 and 15 pips: 20 of each team."""


def finish(table: EngineTable, *hands: str) -> None:
    """Let seat 0 lead 6-6, lay 0-6 as its last tile after three passes, and the others keep these hands."""
    table.put("6-6 0-6", *hands[1:])
    table.play("6-6 pass pass pass 0-6@left")
    assert table.state.phase != PLAYING


def close(table: EngineTable, closer: int, *hands: str) -> None:
    """Let the round be blocked by this seat with these hands: 6-6 is led, and 5-6 laid on it after passes."""
    leader = table.turn
    assert leader is not None
    tiles = {leader: "6-6", closer: "5-6"}
    table.put(*[f"{tiles.get(seat, '')} {hand}" for seat, hand in enumerate(hands)])
    table.do(leader, "6-6")
    while table.turn != closer:
        assert table.turn is not None
        table.do(table.turn, "pass")
    table.do(closer, "5-6@right")
    assert table.counted.ended_by == "blocked"


def next_leader(table: EngineTable) -> int:
    table.do(0, "deal")
    assert table.turn is not None
    return table.turn


# 10.1, 10.2


def test_10_1_all_tiles_are_dealt_but_with_the_double_nine_set_ten_each() -> None:
    assert_players(LATIN, 4, 4)
    table = EngineTable(LATIN, seats=4)
    assert table.held == [7] * 4
    assert table.state.stock == ()
    assert [table.rules.team(seat) for seat in range(4)] == [0, 1, 0, 1]
    assert "teams" not in table.rules.settings
    table = EngineTable(LATIN, seats=4, set=9)
    assert table.held == [10] * 4
    assert (len(table.state.stock), table.rules.drawable(table.state)) == (15, 0)


def test_10_1_passing_and_placing_are_forced() -> None:
    table = EngineTable(LATIN, "6-6 0-6 …", "0-1 0-2 0-3 0-4 0-5 1-1 1-2", "1-6 …", "…")
    table.do(0, "6-6")
    assert table.legal() == {"pass"}
    table.do(1, "pass")
    table.refuses(2, "pass draw")


def test_10_2_the_first_round_is_led_by_the_highest_double_in_a_hand_or_any_tile_of_seat_0() -> None:
    table = EngineTable(LATIN, "…", "…", "6-6 …", "…")
    assert (table.turn, table.legal()) == (2, {"6-6"})
    table = EngineTable(LATIN, "…", "8-8 …", "7-7 …", "…", stock="9-9", set=9)
    assert (table.turn, table.legal()) == (1, {"8-8"})
    table = EngineTable(LATIN, "…", "…", "6-6 …", "…", first_lead="any")
    assert (table.turn, len(table.legal())) == (0, 7)


# 10.3


def test_10_3_winner_who_went_out_leads_any_tile() -> None:
    table = EngineTable(LATIN, *DEALT)
    finish(table, "", "1-1", "2-2", "3-3")
    assert table.counted.winner == 0
    table.do(0, "deal")
    assert (table.turn, len(table.legal())) == (0, 7)


@pytest.mark.parametrize(
    ("options", "closer", "leader"),
    [
        ({"tranque": "team"}, 3, 3),
        ({"tranque": "team"}, 1, 1),
        ({"tranque": "team", "leads": 3}, 0, 1),
        ({"tranque": "lightest_hand"}, 3, 0),
        ({"tranque": "team", "opens_next": "rotate"}, 3, 1),
    ],
)
def test_worked_10b_who_leads_after_a_blocked_round(options: dict[str, Any], closer: int, leader: int) -> None:
    """Seats 0 to 3 hold 3, 10, 20, 8; led by seat 0, or by seat 3 where seat 0 closes."""
    options = dict(options)
    first = options.pop("leads", 0)
    hands = ["…"] * 4
    hands[first] = "6-6 …"
    table = EngineTable(LATIN, *hands, **options)
    close(table, closer, *UNEVEN)
    assert [left.value for left in table.counted.hands] == [3, 10, 20, 8]
    assert next_leader(table) == leader


def test_10_3_after_a_round_that_nobody_won_the_same_player_leads_again() -> None:
    table = EngineTable(LATIN, "…", "…", "6-6 …", "…")
    close(table, 3, *TIED)
    assert [left.value for left in table.counted.hands] == [12, 5, 8, 15]
    assert (table.counted.scores, table.counted.winner) == ((0, 0, 0, 0), None)
    assert next_leader(table) == 2


def test_10_3_rotate_the_player_after_the_last_leader() -> None:
    table = EngineTable(LATIN, "…", "…", "…", "6-6 …", opens_next="rotate", target=1000)
    for leader in (3, 0, 1, 2, 3):
        assert table.turn == leader
        if table.state.round > 1:
            assert len(table.legal()) == 7
        table.play_out()
        table.do(0, "deal")


# 10.4, 10.5


@pytest.mark.parametrize(("table_name", "points"), [("puerto_rico", 23), ("classic", 20)])
def test_worked_10a_the_team_of_who_went_out_scores(table_name: str, points: int) -> None:
    table = EngineTable(LATIN, *DEALT, table=table_name)
    finish(table, "", "5-5 2-3", "0-3", "1-4")
    assert [left.value for left in table.counted.hands] == [0, 15, 3, 5]
    assert table.counted.scores == (points, 0, points, 0)
    assert {line.rule for line in table.counted.lines} == {"10.4"}
    assert next_leader(table) == (0 if table_name == "puerto_rico" else 1)


@pytest.mark.parametrize(
    ("tranque", "count", "scores", "text"),
    [
        ("team", "all", (0, 41, 0, 41), "3 + 10 + 20 + 8"),
        ("team", "opponents", (0, 23, 0, 23), "3 + 20"),
        ("lightest_hand", "all", (41, 0, 41, 0), "3 + 10 + 20 + 8"),
        ("lightest_hand", "opponents", (18, 0, 18, 0), "10 + 8"),
    ],
)
def test_worked_10b_a_blocked_round(tranque: str, count: str, scores: tuple[int, ...], text: str) -> None:
    table = EngineTable(LATIN, *DEALT, tranque=tranque, count=count)
    close(table, 3, *UNEVEN)
    assert table.counted.scores == scores
    lines = [ScoreLine(seat, score, "10.5", text) for seat, score in enumerate(scores) if score]
    assert table.counted.lines == tuple(lines)


@pytest.mark.parametrize(
    ("options", "scores"),
    [
        ({"tie": "nobody"}, (0, 0, 0, 0)),
        ({"tie": "opener", "count": "opponents"}, (20, 0, 20, 0)),
        ({"tie": "closer", "count": "opponents"}, (20, 0, 20, 0)),
        ({"tranque": "lightest_hand"}, (0, 40, 0, 40)),
    ],
)
def test_worked_10c_a_tie_of_the_teams(options: dict[str, Any], scores: tuple[int, ...]) -> None:
    table = EngineTable(LATIN, *DEALT, **options)
    close(table, 2, *TIED)
    assert table.counted.scores == scores


def test_10_5_a_tie_goes_to_the_team_of_the_closer_or_of_the_opener() -> None:
    for tie, scores in (("opener", (20, 0, 20, 0)), ("closer", (0, 20, 0, 20))):
        table = EngineTable(LATIN, *DEALT, tie=tie, count="opponents")
        close(table, 1, *TIED)
        assert table.counted.scores == scores
        assert table.counted.winner == {"opener": 2, "closer": 1}[tie]


def test_10_5_a_tie_of_the_lightest_hands() -> None:
    hands = ("2-3", "1-4", "2-2 0-4", "3-3 2-4 0-3")
    for tie, winner in (("nobody", None), ("opener", 0), ("closer", 1)):
        table = EngineTable(LATIN, *DEALT, tie=tie, tranque="lightest_hand")
        close(table, 1, *hands)
        assert table.counted.winner == winner


def test_10_5_of_two_partners_equally_light_the_first_from_the_leader_wins() -> None:
    table = EngineTable(LATIN, "…", "6-6 …", "…", "…", tranque="lightest_hand")
    close(table, 2, "2-3", "2-2 0-4", "1-4", "3-3 2-4 0-3")
    assert table.counted.winner == 2


# 10.6


def show_ends(table: EngineTable, left: int, right: int) -> None:
    """Let the lead lie, and the ends show these numbers; seat 0 is to move."""
    table.do(0, "6-6")
    layout = table.layout
    ends = tuple([end._replace(number=n, wants=1 << n) for end, n in zip(layout.ends, (left, right), strict=True)])
    shown = layout._replace(ends=ends, open_mask=1 << left | 1 << right)
    table.state = table.state._replace(layout=shown, turn=0)


def ended(tile: str, ends: str, end: str, **options: Any) -> list[tuple[str, int]]:
    """The extras of seat 0, which lays this last tile on a line with these ends, each with its points."""
    table = EngineTable(LATIN, *DEALT, table="dominican", pass_salida=0, pass_all=0, **options)
    show_ends(table, *[int(each) for each in ends])
    table.put(tile, "1-1", "2-2", "3-3")
    table.do(0, f"{tile}@{end}")
    return [(line.text, line.points) for line in table.counted.lines if line.rule == "10.6" and line.seat == 0]


@pytest.mark.parametrize(
    ("tile", "ends", "end", "options", "extra"),
    [
        *[("3-5", "35", end, {}, [("capicúa", 25)]) for end in ("left", "right")],
        *[(tile, "44", "left", {}, []) for tile in ("4-6", "4-4")],
        ("0-2", "02", "left", {}, [("capicúa", 25)]),
        *[("0-0", ends, "left", {}, [("chuchazo", 25)]) for ends in ("06", "00")],
        ("0-2", "02", "left", {"capicua_blank": False}, []),
        ("3-5", "35", "left", {"capicua_blank": False}, [("capicúa", 25)]),
    ],
)
def test_worked_10d_capicua_and_chuchazo(
    tile: str, ends: str, end: str, options: dict[str, bool], extra: list[tuple[str, int]]
) -> None:
    assert ended(tile, ends, end, **options) == extra


@pytest.mark.parametrize(("round_number", "points"), [(1, 237), (2, 212), (4, 162), (5, 137)])
def test_worked_10e_out_with_a_capicua_and_a_round_bonus(round_number: int, points: int) -> None:
    table = EngineTable(LATIN, *DEALT, table="quinientos")
    show_ends(table, 3, 5)
    table.state = table.state._replace(round=round_number)
    table.put("3-5", "4-6 5-5", "4-4", "1-5 0-3")
    assert sum(tile.pips for hand in table.state.hands[1:] for tile in hand) == 37
    table.do(0, "3-5@left")
    assert table.counted.scores == (points, 0, points, 0)


def extras(table: EngineTable) -> list[tuple[int, str, int]]:
    return [(line.seat, line.text, line.points) for line in table.counted.lines if line.rule == "10.6"]


@pytest.mark.parametrize(
    ("hands", "moves", "winner", "extra"),
    [
        (("4-4", "6-6 1-1", "2-2", "3-6"), "6-6 pass 3-6@left", 3, [(seat, "pase de salida", 25) for seat in (1, 3)]),
        (("3-6", "6-6 1-1", "2-2", "4-4"), "6-6 pass pass 3-6@left", 0, []),
    ],
    ids=["exactly the next player", "the partner too"],
)
def test_worked_10f_a_pass_after_the_lead(
    hands: tuple[str, ...], moves: str, winner: int, extra: list[tuple[int, str, int]]
) -> None:
    table = EngineTable(LATIN, "…", "6-6 …", "…", "…", table="dominican")
    table.put(*hands)
    table.play(moves)
    assert (table.counted.ended_by, table.counted.winner, extras(table)) == ("out", winner, extra)


def test_worked_10f_three_passes_are_a_paso_corrido_also_for_a_team_that_loses_the_round() -> None:
    table = EngineTable(LATIN, "…", "6-6 …", "…", "…", table="dominican")
    table.put("0-5", "6-6 0-6 1-1 5-5", "2-2", "4-4")
    table.play("6-6 pass pass pass 0-6@left")
    assert table.turn == 2
    table.play("pass pass 0-5@left")
    assert (table.counted.winner, table.counted.ended_by) == (0, "out")
    assert extras(table) == [(1, "paso corrido", 25), (3, "paso corrido", 25)]
    assert table.counted.scores == (24, 25, 24, 25)


def test_10_6_the_second_tile_may_also_be_the_last_one() -> None:
    table = EngineTable(LATIN, "6-6 …", "…", "…", "…", table="dominican")
    finish(table, "", "1-1", "2-2", "3-3")
    assert extras(table) == [(0, "paso corrido", 25), (2, "paso corrido", 25)]


def test_10_6_extras_are_written_in_a_round_that_nobody_wins() -> None:
    table = EngineTable(LATIN, "…", "…", "6-6 …", "…", table="dominican", tranque="team", tie="nobody")
    close(table, 0, *TIED)
    assert table.counted.winner is None
    assert extras(table) == [(0, "pase de salida", 25), (2, "pase de salida", 25)]
    assert table.state.totals == (25, 0, 25, 0)


def test_10_6_the_round_bonus_is_for_a_blocked_round_too_but_not_for_one_that_nobody_wins() -> None:
    table = EngineTable(LATIN, *DEALT, table="quinientos")
    close(table, 3, *UNEVEN)
    assert table.counted.scores == (0, 41 + 100, 0, 41 + 100)
    table = EngineTable(LATIN, *DEALT, table="quinientos")
    close(table, 3, *TIED)
    assert (table.counted.scores, table.counted.lines) == ((0, 0, 0, 0), ())


# 10.7, 10.8


def test_10_7_both_teams_over_the_target_the_higher_total_wins_and_equal_ones_are_shared() -> None:
    for others, winners in ((260, (1, 3)), (226, (0, 1, 2, 3)), (210, (0, 2))):
        table = EngineTable(LATIN, *DEALT)
        table.state = table.state._replace(totals=(214, others, 214, others))
        finish(table, "", "1-1", "2-2", "3-3")
        assert table.state.totals == (226, others, 226, others)
        assert table.events(Finished) == [Finished(winners)]
    table = EngineTable(LATIN, *DEALT)
    finish(table, "", "1-1", "2-2", "3-3")
    assert table.state.phase == ROUND_OVER


@pytest.mark.parametrize(
    ("option", "of_tables"),
    [
        ("target", (200, 500, 200, 100, 100, 150, 200)),
        ("count", ("all", "all", "all", "opponents", "opponents", "opponents", "all")),
        ("opens_next", ("winner", "winner", "winner", "rotate", "rotate", "winner", "rotate")),
        ("tranque", ("team", "team", "lightest_hand", "team", "team", "team", "team")),
        ("tie", ("nobody", "nobody", "opener", "closer", "nobody", "nobody", "nobody")),
        ("capicua", (0, 100, 25, 0, 0, 0, 0)),
        ("chuchazo", (0, 100, 25, 0, 0, 0, 0)),
        ("pass_salida", (0, 0, 25, 0, 0, 0, 0)),
        ("pass_all", (0, 0, 25, 0, 0, 0, 0)),
        ("round_bonus", (False, True, False, False, False, False, False)),
        ("first_lead", (*("highest_double",) * 6, "any")),
        ("capicua_blank", (True,) * 7),
        ("set", (6, 6, 6, 6, 6, 9, 6)),
    ],
)
def test_10_8_the_tables(option: str, of_tables: tuple[object, ...]) -> None:
    settled = [variant(LATIN).rules({"table": table}, 4).settings[option] for table in TABLES]
    assert tuple(settled) == of_tables


def test_10_8_at_international_any_tile_leads_the_seats_lead_in_turn_and_a_tie_counts_for_nobody() -> None:
    table = EngineTable(LATIN, "…", "…", "6-6 …", "…", table="international")
    assert (table.turn, len(table.legal())) == (0, 7)
    close(table, 1, *TIED)
    assert table.state.totals == (0, 0, 0, 0)
    assert (next_leader(table), len(table.legal())) == (1, 7)
    table.put("5-6", "6-6", "4-5", "0-4")
    table.do(1, "6-6")
    assert table.counted.scores == (0, 24, 0, 24)
    assert next_leader(table) == 2


def test_10_8_each_option_can_still_be_set_by_itself() -> None:
    given = {"table": "quinientos", "target": 300, "round_bonus": False, "capicua": 0}
    settings = variant(LATIN).rules(given, 4).settings
    assert [settings[key] for key in ("target", "round_bonus", "capicua", "chuchazo")] == [300, False, 0, 100]


def test_10_8_the_double_nine_set_can_be_played_at_every_table() -> None:
    for table in TABLES:
        rules = variant(LATIN).rules({"table": table, "set": 9}, 4)
        assert (len(rules.tiles), rules.hand_size(4)) == (55, 10)


@pytest.mark.parametrize("opens_next", ["winner", "rotate"])
@pytest.mark.parametrize(
    ("tranque", "leader", "closer", "winner"), [("team", 0, 3, 3), ("team", 3, 0, 1), ("lightest_hand", 0, 3, 0)]
)
def test_10_9_the_winner_of_a_blocked_round_is_who_would_lead_next(
    opens_next: str, tranque: str, leader: int, closer: int, winner: int
) -> None:
    hands = ["6-6 …" if seat == leader else "…" for seat in range(4)]
    table = EngineTable(LATIN, *hands, tranque=tranque, opens_next=opens_next)
    close(table, closer, *UNEVEN)
    assert table.counted.winner == winner
