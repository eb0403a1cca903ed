"""Rules 3: domino after FIDO, the points game, a test a statement."""

from __future__ import annotations

import pytest

from service.engine.errors import GameOver
from service.engine.events import Dealt, Drew, Played
from service.engine.moves import Move
from service.engine.referee import advance, can_open
from service.engine.state import FINISHED, PLAYING, ROUND_OVER
from service.engine.tiles import parse_tile
from service.engine.view import view
from tests.engine.table import EngineTable, assert_dealt_again, assert_players, names, tiles, variant

FIDO = "fido"

SIZES = {6: 28, 9: 55, 12: 91, 15: 136, 18: 190}
DIVISORS = {6: 3, 9: 5, 12: 7, 15: 9, 18: 11}

HANDS = {
    6: "7 5 4 4 3 3 2",
    9: "13 11 9 7 6 6 5",
    12: "22 18 15 13 11 10 9",
    15: "34 27 22 19 17 15 13",
    18: "47 38 31 27 23 21 19",
}
DEALS = [
    (highest, players, int(hand))
    for highest, row in HANDS.items()
    for players, hand in zip(range(3, 10), row.split(), strict=True)
]

COUNTING = ("12-12 0-12 1-11 …", "10-12 5-12 6-11 …", "10-11 11-11 6-12 …")
COUNTING_PLAY = [
    *(("12-12", 24, 0), ("10-12@12-12.long", 34, 0), ("10-11@10-12", 35, 5), ("0-12@12-12.long", 35, 5)),
    *(("5-12@12-12.short", 28, 4), ("11-11@10-11", 39, 0), ("1-11@11-11.short", 29, 0), ("6-11@11-11.long", 35, 5)),
]
"""The worked example of 3.5 and 3.6: each tile, the sum of the ends after it, and its points."""

NINE = ("6-6 2-5", "5-6 0-0", "4-6 0-1", "3-6 0-2", "2-6 0-3", "5-5 0-4", "4-5 0-5", "3-5 0-6", "1-4 1-1")
NINE_PLAY = """
    6-6 5-6@6-6.long 4-6@6-6.long 3-6@6-6.short 2-6@6-6.short
    5-5@5-6 4-5@5-5.long 3-5@5-5.short 1-4@4-6
    2-5@2-6
"""
"""A whole round of nine on double-six. The sums are 12, 17, 21, 18, 14, 19, 23, 21, 18, 21."""


def lead_of_12() -> EngineTable:
    """12-12 lies; seat 1 holds 10-12, 5-12 and 11-12, seat 2 9-12."""
    table = EngineTable(FIDO, "12-12 …", "10-12 5-12 11-12 …", "9-12 6-12 …")
    table.do(0, "12-12")
    return table


def listed(table: EngineTable, tile: str) -> list[tuple[int | None, int | None]]:
    """What a tile of the mover would bring, place by place: the sum of the ends, and the points."""
    return list(table.listed(tile).values())


# 3.1


def test_3_1_three_to_nine_players_with_the_double_12_set_unless_agreed_otherwise() -> None:
    assert_players(FIDO, 3, 9)
    rules = variant(FIDO).rules({}, 3)
    assert (rules.settings["set"], rules.settings["divisor"], len(rules.tiles)) == (12, 7, 91)


@pytest.mark.parametrize("highest", SIZES)
def test_3_1_the_size_and_the_divisor_of_each_set(highest: int) -> None:
    rules = variant(FIDO).rules({"set": highest}, 3)
    assert len(set(rules.tiles)) == len(rules.tiles) == SIZES[highest]
    assert max(tile.high for tile in rules.tiles) == highest
    assert (rules.settings["set"], rules.settings["divisor"]) == (highest, DIVISORS[highest])
    assert rules.points is not None
    for multiple in range(5):
        state, tile = rules.start(), rules.tiles[0]
        assert rules.points(state, tile, None, multiple * DIVISORS[highest]) == multiple
        assert rules.points(state, tile, None, multiple * DIVISORS[highest] + 1) == 0


# 3.2


@pytest.mark.parametrize(("highest", "players", "hand"), DEALS)
def test_3_2_the_hand_by_set_and_players(highest: int, players: int, hand: int) -> None:
    table = EngineTable(FIDO, seats=players, set=highest)
    assert table.held == [hand] * players
    assert len(table.state.stock) == SIZES[highest] - players * hand
    assert table.rules.drawable(table.state) == len(table.state.stock)


# 3.3


def test_3_3_the_highest_double_in_any_hand_must_be_led() -> None:
    table = EngineTable(FIDO, "1-1 …", "10-10 3-3 11-12 …", "9-9 …", stock="12-12 11-11")
    assert (table.turn, table.legal()) == (1, {"10-10"})
    table.refuses(1, "3-3 11-12 10-10! draw pass done flip")
    table.refuses(2, "9-9")
    table.do(1, "10-10")


def test_3_3_without_a_double_in_any_hand_it_is_dealt_again() -> None:
    assert_dealt_again(variant(FIDO).rules({"set": 6}, 9), "no double at first 1357")  # all seven lie in the stock


def test_3_3_nobody_can_open_a_deal_without_a_double() -> None:
    rules = variant(FIDO).rules({"set": 6}, 9)
    others = [tile for tile in rules.tiles if not tile.double]
    hands = [tuple(others[2 * seat : 2 * seat + 2]) for seat in range(9)]
    for first, opens in ((hands[0], False), (tiles("0-0 0-1"), True)):
        assert can_open(rules, rules.start(), Dealt(1, (first, *hands[1:]), (), True)) is opens


# 3.4


def test_3_4_the_first_tile_on_the_opening_double_goes_to_a_long_side() -> None:
    table = lead_of_12()
    assert (table.ends(), table.ends("gated")) == ([12, 12], [12, 12])
    assert table.places("10-12") == ["12-12.long", "12-12.long"]
    table.refuses(1, "10-12@12-12.short 5-12@12-12.short")


@pytest.mark.parametrize("end", ["e1", "e2"])
def test_3_4_after_that_all_sides_of_the_opening_double_are_open(end: str) -> None:
    table = lead_of_12()
    table.do(1, f"10-12@{end}")
    assert (table.ends(), table.ends("gated")) == ([10, 12, 12, 12], [])
    assert table.places("9-12") == ["12-12.long", "12-12.short", "12-12.short"]


def test_3_4_on_every_other_double_two_short_sides_and_the_far_long_side_are_open_at_once() -> None:
    table = EngineTable(FIDO, "12-12 10-10 3-10 …", "11-12 5-10 …", "10-12 11-11 5-11 …")
    table.play("12-12", "11-12@12-12.long", "11-11")
    assert (table.ends(), table.ends("gated")) == ([11, 11, 11, 12, 12, 12], [])
    assert sorted(end.side for end in table.layout.ends if end.number == 11) == ["long", "short", "short"]
    table.put("3-11", "4-11", "5-11 0-1")
    assert table.places("3-11") == ["11-11.long", "11-11.short", "11-11.short"]


def test_3_4_every_double_branches() -> None:
    table = EngineTable(FIDO, "12-12 …", "10-12 …", "9-10 …")
    table.play("12-12", "10-12@12-12.long", "9-10")
    table.put("9-9 0-0", "9-11 0-1", "11-11 0-2")
    table.play("9-9")
    assert table.ends() == [9, 9, 9, 12, 12, 12]
    table.play("9-11@9-9.short", "11-11")
    assert table.ends() == [9, 9, 11, 11, 11, 12, 12, 12]
    table = EngineTable(FIDO, "12-12 …", "11-12 …", "11-11 …")
    table.play("12-12", "11-12@12-12.long", "11-11")
    lead, _, double = table.layout.placements
    assert (lead.host, double.host, double.side) == (-1, 1, "end")
    assert sorted(end.side for end in table.layout.ends if end.host == 2) == ["long", "short", "short"]


# 3.5


def test_3_5_counting_example() -> None:
    """12-12 → 24 · 10-12 → 34 · 10-11 → 35 · 0-12 → 35 · 5-12 → 28 · 11-11 → 39 · 1-11 → 29 · 6-11 → 35."""
    table = EngineTable(FIDO, *COUNTING)
    for number, (move, ends_sum, points) in enumerate(COUNTING_PLAY):
        assert table.turn == number % 3
        table.play(move)
        assert table.scored == (ends_sum, points)
        assert table.layout.ends_sum == sum(end.counts for end in table.layout.ends) == ends_sum
    assert table.state.running_totals() == (5, 4 + 5, 5)
    assert [player.total for player in view(table.rules, table.state, None).players] == [5, 4 + 5, 5]


def test_3_5_counting_example_at_34() -> None:
    """6-12 on a short side → 28, 4 points; the same tile on the free long side → 40, 0."""
    table = EngineTable(FIDO, *COUNTING)
    table.play("12-12", "10-12@12-12.long")
    assert table.places("6-12") == ["12-12.long", "12-12.short", "12-12.short"]
    assert sorted(listed(table, "6-12")) == [(28, 4), (28, 4), (40, 0)]
    before = table.state
    table.do(2, "6-12@12-12.short")
    assert (table.layout.ends_sum, table.last_play.points) == (28, 4)
    table.state = before
    table.do(2, "6-12@12-12.long")
    assert (table.layout.ends_sum, table.last_play.points) == (40, 0)


def test_3_5_what_each_uncovered_end_counts() -> None:
    """Short sides that are not open yet count, too."""
    table = EngineTable(FIDO, *COUNTING)
    table.play("12-12")
    counted = sorted((end.gate, end.side, end.counts) for end in table.layout.ends)
    assert counted == [("gated", "short", 12)] * 2 + [("open", "long", 0)] * 2
    table.play("10-12@12-12.long")
    found = sorted((end.side, end.number, end.counts) for end in table.layout.ends)
    assert found == [("end", 10, 10), ("long", 12, 0), ("short", 12, 12), ("short", 12, 12)]


def test_3_5_what_a_tile_changes_in_the_sum() -> None:
    """On a counted end its difference; on a long side, where no double can be, its other half; a double its number."""
    table = lead_of_12()
    assert listed(table, "5-12") == [(24 + 5, 0), (24 + 5, 0)]
    assert listed(table, "11-12") == [(35, 5), (35, 5)]
    before = table.state
    table.put("0-0", "11-11 5-5", "1-1")
    table.refuses(1, "11-11@12-12.long 5-5@12-12.long")
    table.state = before
    table.play("10-12@12-12.long")
    assert sorted(listed(table, "9-12")) == [(34 - 12 + 9, 0), (34 - 12 + 9, 0), (34 + 9, 0)]
    table.put("0-0", "0-1", "3-10 10-11 10-10")
    assert listed(table, "3-10") == [(34 - 10 + 3, 0)]
    assert listed(table, "10-11") == [(34 - 10 + 11, 5)]
    assert listed(table, "10-10") == [(44, 0)]
    table.play("10-10")
    assert table.layout.ends_sum == 44


# 3.6


def test_3_6_divisible_by_the_divisor_scores_the_quotient() -> None:
    """63 → 9 points: 24, 33, 41, 50, 60, 63."""
    table = EngineTable(FIDO, "12-12 9-9 8-11 …", "9-12 9-10 …", "8-12 …", stock="")
    table.play("12-12", "9-12@12-12.long", "8-12@12-12.long", "9-9@9-12", "9-10@9-9.long")
    table.put("0-0", "0-1", "8-11 1-1")
    assert table.layout.ends_sum == 60
    table.do(2, "8-11@8-12")
    assert table.scored == (63, 9)
    assert table.state.running_totals() == (0, 0, 9)


@pytest.mark.parametrize(
    ("highest", "lead", "ends_sum", "points"),
    [
        *((6, "6-6", 12, 4), (6, "3-3", 6, 2), (6, "5-5", 10, 0), (6, "0-0", 0, 0)),
        *((9, "5-5", 10, 2), (12, "7-7", 14, 2), (12, "12-12", 24, 0), (18, "11-11", 22, 2)),
    ],
)
def test_3_6_the_opening_tile_scores_too(highest: int, lead: str, ends_sum: int, points: int) -> None:
    number = parse_tile(lead).low
    higher = " ".join([f"{n}-{n}" for n in range(number + 1, highest + 1)])
    table = EngineTable(FIDO, f"{lead} …", *["…"] * 3, stock=higher, set=highest)
    table.do(0, lead)
    assert table.scored == (ends_sum, points)
    assert table.state.running_totals() == (points, 0, 0, 0)


def test_3_6_a_claimed_sum_is_not_believed() -> None:
    table = lead_of_12()
    boast = Move("play", parse_tile("5-12"), "e1", False, 70, 10)
    (played,), _ = advance(table.rules, table.deck, table.state, 1, move=boast)
    assert isinstance(played, Played)
    assert (played.ends_sum, played.points) == (29, 0)


# 3.7


def test_3_7_one_tile_a_turn() -> None:
    table = lead_of_12()
    table.do(1, "10-12@12-12.long")
    assert table.turn == 2
    table.refuses(1, "5-12 11-12 done")


def test_3_7_who_can_place_must_place_but_need_not_score() -> None:
    table = lead_of_12()
    assert {(24 + 11, 5)} <= set(listed(table, "11-12"))
    before = table.state
    table.do(1, "5-12@12-12.long")
    assert table.last_play.points == 0
    table.state = before
    table.put("0-0", "9-12 0-1", "1-1")
    assert (table.legal(), {points for _, points in listed(table, "9-12")}) == ({"9-12"}, {0})
    table.refuses(1, "draw pass done flip")


@pytest.mark.parametrize("drawn", ["0-0", "3-12"])
def test_3_7_who_cannot_draws_one_tile_and_does_not_place_it_this_turn(drawn: str) -> None:
    twelves = [f"{half}-12" for half in range(12) if half != 4 and f"{half}-12" != drawn]
    table = EngineTable(FIDO, "12-12 …", "…", "4-12 …", stock=" ".join([drawn, *twelves]))
    table.do(0, "12-12")
    assert table.legal() == {"draw"}
    table.refuses(1, "pass done")
    assert table.do(1, "draw") == (Drew(1, parse_tile(drawn)),)
    assert (table.turn, drawn in table.hand(1).split()) == (2, True)
    table.refuses(1, f"{drawn}@12-12 draw pass")


def test_3_7_a_drawn_tile_may_be_placed_in_the_next_turn() -> None:
    table = lead_of_12()
    table.put("0-2", "0-0 1-1", "9-12 2-2", stock="3-12 0-1")
    table.play("draw", "9-12@12-12.long", "draw")
    assert (table.turn, table.legal()) == (1, {"3-12"})
    table.do(1, "3-12@12-12.short")


def test_3_7_stock_empty_who_cannot_place_passes() -> None:
    table = lead_of_12()
    table.put("0-0", "1-1 0-1", "9-12 1-2", stock="")
    assert table.legal() == {"pass"}
    table.refuses(1, "draw 1-1")
    table.do(1, "pass")
    assert table.turn == 2


# 3.8


def test_3_8_the_round_ends_when_the_stock_is_empty_and_nobody_fits_and_ties_share_the_win() -> None:
    """6-6 scores 12 ÷ 3; 5-6 makes it 17. Left are 3-3, 1-1 and 2-2."""
    table = EngineTable(FIDO, "6-6 …", "…", "…", set=6)
    table.do(0, "6-6")
    table.put("3-3", "5-6 1-1", "2-2", stock="")
    table.do(1, "5-6@6-6.long")
    assert (table.state.phase, table.counted.ended_by, table.counted.winner) == (FINISHED, "blocked", None)
    assert (table.counted.scores, table.state.winners) == ((4 - 6, -2, -4), (0, 1))


def test_3_8_the_round_ends_when_the_last_tile_of_the_stock_is_drawn_and_nobody_fits() -> None:
    table = EngineTable(FIDO, "6-6 …", "…", "…", set=6)
    table.do(0, "6-6")
    table.put("3-3", "1-1", "2-2", stock="4-4 5-5")
    table.do(1, "draw")
    assert table.state.phase == PLAYING
    table.do(2, "draw")
    assert (table.state.phase, table.counted.ended_by) == (FINISHED, "blocked")


def test_3_8_the_round_goes_on_while_the_stock_or_another_hand_has_a_tile() -> None:
    table = EngineTable(FIDO, "6-6 …", "…", "…", set=6)
    table.do(0, "6-6")
    table.put("3-6", "1-1", "2-2", stock="4-4")
    table.do(1, "draw")
    assert (table.state.phase, table.turn, table.legal()) == (PLAYING, 2, {"pass"})


def test_3_8_when_somebody_lays_their_last_tile_which_scores_too_everybody_subtracts_the_pips_left_in_hand() -> None:
    """Points 4+7, 0, 7, 6, 0, 0, 0, 7, 6; left 0, 0-0, 0-1, 0-2, 0-3, 0-4, 0-5, 0-6, 1-1. Totals may be negative."""
    table = EngineTable(FIDO, *NINE, set=6)
    table.play(NINE_PLAY)
    assert (table.last_play.seat, table.last_play.ends_sum, table.last_play.points) == (0, 21, 7)
    assert (table.counted.ended_by, table.counted.winner, table.hand(0)) == ("out", 0, "")
    assert [left.value for left in table.counted.hands] == [0, 0, 1, 2, 3, 4, 5, 6, 2]
    assert table.counted.scores == table.state.totals == (11, 0, 6, 4, -3, -4, -5, 1, 4)
    shown = view(table.rules, table.state, None).players
    assert tuple([player.total for player in shown]) == table.state.running_totals() == table.state.totals
    assert [(line.seat, line.points, line.rule) for line in table.counted.lines if line.seat in (0, 1, 2)] == [
        (0, 4, "3.6"),
        (2, 7, "3.6"),
        (0, 7, "3.6"),
        (2, -1, "3.8"),
    ]
    assert (table.state.phase, table.state.winners) == (FINISHED, (0,))


# 3.9


def test_3_9_a_match_is_one_round() -> None:
    table = EngineTable(FIDO, seats=3)
    assert table.rules.settings["rounds"] == 1
    table.play_out()
    assert table.state.phase == FINISHED
    table.refuses(0, "deal", reason=GameOver)


def test_3_9_option_rounds_is_a_series_by_sum() -> None:
    """Round 1: 4 − 6, −2, −4. Round 2, led by seat 2: 5-5 scores nothing, left are 4-4, 2-2, nothing."""
    table = EngineTable(FIDO, "6-6 …", "…", "…", later=[["…", "…", "5-5 6-6 …"]], set=6, rounds=2)
    table.do(0, "6-6")
    table.put("3-3", "5-6 1-1", "2-2", stock="")
    table.do(1, "5-6@6-6.long")
    assert (table.state.phase, table.state.totals, table.state.winners) == (ROUND_OVER, (-2, -2, -4), ())
    table.do(1, "deal")
    assert table.state.running_totals() == (-2, -2, -4)
    table.put("4-4", "2-2", "5-5")
    table.do(2, "5-5")
    assert table.counted.scores == (-8, -4, 0)
    assert (table.state.phase, table.state.totals, table.state.winners) == (FINISHED, (-10, -6, -4), (2,))


def test_3_9_every_round_of_a_series_is_opened_by_the_highest_double() -> None:
    table = EngineTable(FIDO, "6-6 …", "…", "…", later=[["…", "…", "6-6 …"]], set=6, rounds=2)
    table.put("6-6", "0-1", "0-2")
    table.do(0, "6-6")
    table.do(1, "deal")
    assert (table.turn, table.legal()) == (2, {"6-6"})


# 3.10


@pytest.mark.parametrize(
    ("highest", "rows"),
    [
        (12, "3-12=2 8-8=1 0-0=7 7-7=7 0-7=7 10-11=1 0-12=5 6-6=6 12-12=5 5-12=7"),
        *((6, "0-4=1 0-6=3 5-5=2"), (9, "0-9=4"), (15, "0-10=1 9-9=9"), (18, "0-18=7 11-11=11")),
    ],
)
def test_3_10_the_row_of_a_tile(highest: int, rows: str) -> None:
    """Rows at 7: 3-12 → 2; 8-8 → 1; 0-0, 7-7, 0-7 → 7."""
    found = variant(FIDO).rules({"set": highest}, 3).rows
    assert found is not None
    for tile, row in (each.split("=") for each in rows.split()):
        assert found[parse_tile(tile)] == int(row), tile


def test_3_10_rows_r_and_divisor_less_r_serve_each_other() -> None:
    """At 35, 2 above nothing: 0-2 of row 2 makes it 37, and then 2-7 of row 5 makes it 42."""
    table = EngineTable(FIDO, *COUNTING)
    for move, _, _ in COUNTING_PLAY[:4]:
        table.play(move)
    assert table.layout.ends_sum == 35
    table.put("0-0", "0-2 1-1", "2-7 2-2")
    table.play("0-2@0-12")
    assert (table.layout.ends_sum, table.last_play.points) == (37, 0)
    table.play("2-7")
    assert (table.layout.ends_sum, table.last_play.points) == (42, 6)
    assert table.rules.rows is not None
    assert [table.rules.rows[tile] for tile in tiles("0-2 2-7")] == [2, 5]


def test_3_10_a_row_up_and_its_partner_down_bring_the_same_points() -> None:
    """At 34, 1 is missing: 10-11 of row 1 adds 1, 6-12 of row 6 takes 6 away."""
    table = EngineTable(FIDO, *COUNTING)
    table.play("12-12", "10-12@12-12.long")
    assert listed(table, "10-11") == [(35, 5)]
    assert (28, 4) in listed(table, "6-12")
    assert table.rules.rows is not None
    assert [table.rules.rows[tile] for tile in tiles("10-11 6-12")] == [1, 6]


def test_3_10_a_hand_can_be_shown_sorted_by_row() -> None:
    table = EngineTable(FIDO, "12-12 …", "3-12 8-8 0-7 …", "…")
    for seat in range(3):
        you = view(table.rules, table.state, seat).you
        assert you is not None
        assert you.rows is not None
        assert you.hand == table.state.hands[seat]
        assert table.rules.rows is not None
        assert you.rows == tuple([table.rules.rows[tile] for tile in you.hand])
        by_row = [row for row, _ in sorted(zip(you.rows, names(you.hand).split(), strict=True))]
        assert by_row == sorted(by_row)
        assert set(by_row) <= set(range(1, 8))
    assert view(table.rules, table.state, None).you is None
