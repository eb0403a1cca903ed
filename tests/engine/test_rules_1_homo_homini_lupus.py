"""Rules 1: Homo homini lupus, a test a statement."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from service.engine.errors import GameOver
from service.engine.events import Dealt, Drew, Played, RoundEnded
from service.engine.referee import legal_moves
from service.engine.state import FINISHED, PLAYING, ROUND_OVER
from service.engine.tiles import double_set
from service.engine.view import DrewView, event_view, view
from tests.engine.table import EngineTable, assert_players, complaints, tiles

LUPUS = "homo-homini-lupus"

A_GOES_OUT = (
    "0-2 0-4 1-1 1-2 3-6 5-5",
    "0-1 0-5 1-6 2-6 3-3 3-4",
    "1-3 1-4 2-3 3-5 4-6 5-6",
    "0-3 1-5 2-4 2-5 4-5 6-6",
)
A_GOES_OUT_STOCK = "0-6 2-2 0-0 4-4"
A_GOES_OUT_PLAY = """
    1-1             0-1@1-1.short 1-4@1-1.short  0-3
    1-2@1-1.long    2-6           1-3@1-1.long   2-4
    0-2             3-3@1-3       2-3@0-3        6-6
    3-6@6-6.long    3-4@3-6       3-5            1-5
    0-4@3-4         1-6           4-6            2-5
    5-5
"""
"""The worked example of 1.8: A is out, B keeps 0-5, C 5-6, D 4-5."""

FOUR_ARMS = ("0-0 0-4 4-4 …", "0-1 1-1 …", "0-2 2-2 …", "0-3 3-3 …")
FOUR_ARMS_PLAY = "0-0 0-1@0-0.long 0-2@0-0.long 0-3@0-0.short 0-4 1-1! 2-2! 3-3!"
"""The first worked example of 1.7, but for 4-4 face down. The stock is 4-6 5-5 5-6 6-6."""

NO_ZERO_LEFT = ("0-0 0-2 3-3 …", "0-1 2-6 0-4 …", "1-5 0-6 4-4 …", "0-5 0-3 …")
NO_ZERO_LEFT_PLAY = """
    0-0             0-1@0-0.long  1-5       0-5@1-5
    0-2@0-0.long    2-6           0-6@2-6   0-3@0-0.short
    3-3!            0-4@0-0.short
"""
"""The second worked example of 1.7, but for 4-4 face down. The stock is 4-6 5-5 5-6 6-6."""

ONE_ARM_OPEN_PLAY = "0-0 0-1@0-0.long 0-2@0-0.long 0-3@0-0.short 1-1! 2-2! 3-3!"
"""The only open end is the last side of 0-0; seat 3 is to move."""


def one_arm_open(*, stock: str) -> EngineTable:
    """Seat 0 holds the 0-tiles that the stock does not name."""
    zeros = " ".join([name for name in ("0-4", "0-5", "0-6") if name not in stock])
    table = EngineTable(LUPUS, f"0-0 1-1 {zeros} …", "0-1 2-2 …", "0-2 3-3 …", "0-3 …", stock=stock)
    table.play(ONE_ARM_OPEN_PLAY)
    assert (table.turn, table.ends()) == (3, [0])
    return table


# 1.1


def test_1_1_exactly_four_players_each_alone_with_hands_of_6_and_a_stock_of_4() -> None:
    assert_players(LUPUS, 4, 4)
    assert complaints(LUPUS, 4, teams=2) == {"options.teams"}
    table = EngineTable(LUPUS, seats=4)
    assert [table.rules.team(seat) for seat in range(4)] == [None] * 4
    assert table.rules.tiles == double_set(6)
    assert (table.held, len(table.state.stock), table.rules.drawable(table.state)) == ([6] * 4, 4, 4)
    assert sorted([*table.state.stock, *sum(table.state.hands, ())], key=lambda tile: tile.rank) == [*double_set(6)]


# 1.2


def test_1_2_the_lowest_double_held_by_anyone_must_be_led_face_up() -> None:
    table = EngineTable(LUPUS, "2-2 0-1 …", "5-5 6-6 …", "1-1 3-3 1-2 …", "4-4 0-2 …", stock="0-0")
    assert (table.turn, table.legal()) == (2, {"1-1"})
    table.refuses(2, "1-1! 3-3 1-2 draw pass done flip deal")
    for seat, tile in ((0, "2-2"), (1, "5-5"), (3, "4-4")):
        assert table.legal(seat) == set()
        table.refuses(seat, tile)
    table.do(2, "1-1")
    assert not table.layout.placements[0].face_down


def test_1_2_a_double_is_always_in_some_hand() -> None:
    table = EngineTable(LUPUS, "6-6 …", "…", "5-5 …", "4-4 …", stock="0-0 1-1 2-2 3-3")
    assert (table.turn, table.legal()) == (3, {"4-4"})


def test_1_2_every_round_opens_this_way() -> None:
    later = [["…", "…", "0-0 …", "…"]]
    table = EngineTable(LUPUS, "0-0 …", "…", "…", "…", later=later)
    table.put("0-0", "0-1", "0-2", "0-3")
    table.do(0, "0-0")
    assert table.counted.winner == 0
    table.do(1, "deal")
    assert (table.turn, table.legal()) == (2, {"0-0"})


# 1.3


def test_1_3_all_four_sides_of_the_lead_are_open_at_once() -> None:
    table = EngineTable(LUPUS, "0-0 …", "0-1 …", "…", "…")
    table.do(0, "0-0")
    assert (table.ends(), table.ends("gated")) == ([0, 0, 0, 0], [])
    assert table.places("0-1") == ["0-0.long", "0-0.long", "0-0.short", "0-0.short"]


@pytest.mark.parametrize(
    "sides",
    [
        ["long", "long", "short", "short"],
        ["short", "short", "long", "long"],
        ["short", "long", "short", "long"],
        ["long", "short", "short", "long"],
    ],
)
def test_1_3_the_four_sides_are_served_in_any_order(sides: list[str]) -> None:
    table = EngineTable(LUPUS, "0-0 0-4 …", "0-1 …", "0-2 …", "0-3 …")
    table.do(0, "0-0")
    for tile, side in zip(("0-1", "0-2", "0-3", "0-4"), sides, strict=True):
        table.play(f"{tile}@0-0.{side}")
    assert table.ends() == [1, 2, 3, 4]


@pytest.mark.parametrize("seed", range(12))
def test_1_3_there_are_never_more_than_four_arms(seed: int) -> None:
    table, rng = EngineTable(LUPUS, seats=4, seed=str(seed), rounds=1), Random(seed)
    while table.state.phase == PLAYING:
        assert table.turn is not None
        assert len(table.layout.ends) == (4 if table.layout.placements else 0)
        move = rng.choice(legal_moves(table.rules, table.state, table.turn))
        text = move.tile.name if move.tile else move.action
        table.do(table.turn, text + (f"@{move.end}" if move.end else "") + "!" * move.face_down)


def test_1_3_later_face_up_doubles_do_not_branch() -> None:
    table = EngineTable(LUPUS, "0-0 …", "0-1 …", "1-1 …", "1-2 …")
    table.play("0-0", "0-1@0-0.long", "1-1")
    assert (table.ends(), table.ends("gated")) == ([0, 0, 0, 1], [])
    assert table.places("1-2") == ["1-1.long"]
    table.play("1-2")
    assert table.ends() == [0, 0, 0, 2]


# 1.4


def test_1_4_one_tile_a_turn_and_who_can_place_must_place() -> None:
    table = EngineTable(LUPUS, "0-0 0-5 …", "0-1 0-2 1-1 …", "0-3 …", "0-4 …")
    table.do(0, "0-0")
    assert table.legal() == {"0-1", "0-2"}
    table.refuses(1, "draw pass done flip")
    table.do(1, "0-1@0-0.long")
    assert table.turn == 2
    table.refuses(1, "0-2 1-1 done draw pass")


def test_1_4_the_turn_goes_clockwise() -> None:
    table = EngineTable(LUPUS, "0-3 …", "0-4 …", "0-0 0-1 …", "0-2 …")
    turns = []
    for tile in ("0-0", "0-2@0-0.long", "0-3@0-0.long", "0-4@0-0.short", "0-1"):
        turns.append(table.turn)
        table.play(tile)
    assert turns == [2, 3, 0, 1, 2]


# 1.5


def with_a_double_to_lay() -> EngineTable:
    """0-0, and 0-1 on it; seat 2 holds 1-1, 2-2 and 1-6, seat 3 has 1-2, seat 0 0-4 and 1-4."""
    table = EngineTable(LUPUS, "0-0 0-4 1-4 …", "0-1 0-5 1-3 …", "1-1 2-2 1-6 …", "1-2 0-2 …")
    table.play("0-0", "0-1@0-0.long")
    return table


def test_1_5_a_double_that_fits_but_no_other_tile_may_be_laid_face_up_or_face_down() -> None:
    table = with_a_double_to_lay()
    assert [table.places(tile) for tile in ("1-1", "1-6", "2-2")] == [["0-1", "0-1!"], ["0-1"], []]
    table.refuses(2, "2-2 2-2! 1-6!")
    table.play("1-1", "1-2")
    assert (table.ends(), table.ends("closed")) == ([0, 0, 0, 2], [])


def test_1_5_a_face_down_double_closes_its_arm_for_good() -> None:
    table = with_a_double_to_lay()
    table.play("1-1!")
    assert (table.ends(), table.ends("closed")) == ([0, 0, 0], [1])
    table.refuses(3, "1-2")
    table.play("0-2@0-0.long")
    table.refuses(0, "1-4")
    table.play("0-4@0-0.short", "0-5")
    assert (table.ends(), table.ends("closed")) == ([2, 4, 5], [1])
    table.refuses(2, "1-6")


def test_1_5_a_face_down_double_is_shown() -> None:
    table = with_a_double_to_lay()
    table.play("1-1!")
    for who in (None, 0, 1, 2, 3):
        laid = view(table.rules, table.state, who).layout.placements[-1]
        assert (laid.tile.name, laid.face_down, laid.seat) == ("1-1", True, 2)
        assert event_view(table.last_play, who) == table.last_play == Played(2, tiles("1-1")[0], "e5", True, None, None)


# 1.6


def test_1_6_who_cannot_place_draws_until_a_drawn_tile_fits() -> None:
    table = one_arm_open(stock="6-6 5-6 0-5 0-6")
    for drawn in ("6-6", "5-6"):
        assert table.legal() == {"draw"}
        table.refuses(3, "pass")
        assert table.do(3, "draw") == (Drew(3, tiles(drawn)[0]),)
        table.refuses(3, drawn)
    table.do(3, "draw")
    assert (table.turn, table.legal()) == (3, {"0-5"})


def test_1_6_a_drawn_tile_that_fits_must_be_placed() -> None:
    table = one_arm_open(stock="6-6 0-4 0-5 0-6")
    table.play("draw", "draw")
    table.refuses(3, "draw pass done 6-6")
    table.play("0-4")
    assert (table.turn, table.ends()) == (0, [4])


def test_1_6_a_drawn_double_may_go_face_up_or_face_down() -> None:
    table = EngineTable(LUPUS, "0-0 1-1 4-5 4-6 …", "0-1 2-2 0-5 0-6 …", "0-2 3-3 …", "0-3 0-4 …", stock="4-4")
    table.play(ONE_ARM_OPEN_PLAY, "0-4")
    table.put("5-6", "0-5", "0-6", "1-6")
    assert table.legal() == {"draw"}
    table.play("draw")
    assert table.places("4-4") == ["0-4", "0-4!"]


def test_1_6_all_four_tiles_of_the_stock_may_go_and_then_who_cannot_place_passes() -> None:
    table = one_arm_open(stock="5-5 5-6 6-6 4-6")
    table.play("draw draw draw")
    table.refuses(3, "pass")
    table.play("draw")
    assert (len(table.state.hands[3]), table.state.stock) == (9, ())
    assert (table.turn, table.legal()) == (3, {"pass"})
    table.refuses(3, "draw 5-5 6-6")
    table.play("pass")
    assert (table.turn, table.legal()) == (0, {"0-4", "0-5", "0-6"})


# 1.7


def test_1_7_b_the_round_ends_when_all_four_arms_are_closed() -> None:
    """The worked example: spinner 0-0 with arms 0-1 1-1↓, 0-2 2-2↓, 0-3 3-3↓, 0-4 4-4↓."""
    table = EngineTable(LUPUS, *FOUR_ARMS)
    table.play(FOUR_ARMS_PLAY)
    assert (table.ends(), table.ends("closed")) == ([4], [1, 2, 3])
    assert (table.state.phase, table.turn) == (PLAYING, 0)
    before = table.state
    *_, ended = table.do(0, "4-4!")
    assert isinstance(ended, RoundEnded)
    assert (table.ends(), table.ends("closed")) == ([], [1, 2, 3, 4])
    assert (table.state.phase, table.counted.ended_by, table.counted.winner) == (ROUND_OVER, "closed", None)
    table.state = before
    table.do(0, "4-4")
    assert (table.state.phase, table.ends()) == (PLAYING, [4])


def test_1_7_c_the_round_ends_when_no_unplayed_tile_fits_even_with_stock_left() -> None:
    """The worked example: arms 0-1-5-0, 0-2-6-0, 0-3 3-3↓, 0-4 4-4↓; the open ends are 0 and 0, all 0-tiles lie."""
    table = EngineTable(LUPUS, *NO_ZERO_LEFT)
    table.play(NO_ZERO_LEFT_PLAY)
    assert (table.state.phase, table.ends(), table.ends("closed")) == (PLAYING, [0, 0, 4], [3])
    *_, ended = table.do(2, "4-4!")
    assert isinstance(ended, RoundEnded)
    assert (table.ends(), table.ends("closed"), len(table.state.stock)) == ([0, 0], [3, 4], 4)
    assert (table.counted.ended_by, table.counted.winner) == ("blocked", None)


def test_1_7_c_a_tile_in_the_stock_or_another_hand_that_fits_keeps_the_round_alive() -> None:
    table = one_arm_open(stock="6-6 0-4 0-5 0-6")
    for hand in table.state.hands:
        assert not [tile for tile in hand if tile.low == 0]
    assert (table.state.phase, table.legal()) == (PLAYING, {"draw"})
    table = one_arm_open(stock="")
    assert (table.state.phase, table.legal()) == (PLAYING, {"draw"})


def test_1_7_d_the_round_ends_when_the_stock_is_empty_and_no_hand_fits() -> None:
    table = one_arm_open(stock="5-5 5-6 6-6 4-6")
    table.play("draw draw draw draw pass")
    assert (table.state.phase, table.state.stock) == (PLAYING, ())
    table.put("0-4 0-5", "3-3", "5-6", "1-6")
    *_, ended = table.do(0, "0-4")
    assert isinstance(ended, RoundEnded)
    assert (table.counted.ended_by, table.counted.winner, table.ends()) == ("blocked", None, [4])


@pytest.mark.parametrize(
    ("dealt", "play", "hands", "stock", "reason"),
    [
        (FOUR_ARMS, FOUR_ARMS_PLAY, "4-4, 0-5, 0-6, 5-6", "", "out"),  # and closed
        (NO_ZERO_LEFT, NO_ZERO_LEFT_PLAY, "1-1, 1-2, 4-4, 1-3", None, "out"),  # and blocked
        (FOUR_ARMS, FOUR_ARMS_PLAY, "4-4 0-5, 0-6, 5-6, 1-6", "", "closed"),  # and the stock is empty
    ],
)
def test_1_7_the_first_reason_that_holds_is_given(
    dealt: tuple[str, ...], play: str, hands: str, stock: str | None, reason: str
) -> None:
    table = EngineTable(LUPUS, *dealt)
    table.play(play)
    table.put(*hands.split(","), stock=stock)
    table.play("4-4!")
    assert table.counted.ended_by == reason


# 1.8


def test_1_7_a_and_1_8_worked_example() -> None:
    """A out, B 0-5, C 5-6, D 4-5 → S = 25, S/4 = 6.25 → A +625, B +125, C −475, D −275."""
    table = EngineTable(LUPUS, *A_GOES_OUT, stock=A_GOES_OUT_STOCK)
    table.play(A_GOES_OUT_PLAY)
    assert (table.state.phase, table.turn) == (ROUND_OVER, None)
    assert (table.counted.ended_by, table.counted.winner) == ("out", 0)
    assert [table.hand(seat) for seat in range(4)] == ["", "0-5", "5-6", "4-5"]
    assert [left.value for left in table.counted.hands] == [0, 5, 11, 9]
    assert table.counted.scores == table.state.totals == (625, 125, -475, -275)
    assert [(line.seat, line.points, line.rule, line.text) for line in table.counted.lines] == [
        (0, 625, "1.8", "(25 ÷ 4 − 0) × 100"),
        (1, 125, "1.8", "(25 ÷ 4 − 5) × 100"),
        (2, -475, "1.8", "(25 ÷ 4 − 11) × 100"),
        (3, -275, "1.8", "(25 ÷ 4 − 9) × 100"),
    ]


def test_1_8_the_scores_add_up_to_0() -> None:
    for seed in range(10):
        table = EngineTable(LUPUS, seats=4, seed=f"sum {seed}")
        table.play_out()
        left = [sum(tile.pips for tile in hand) for hand in table.state.hands]
        assert sum(table.counted.scores) == 0
        assert table.counted.scores == tuple(25 * sum(left) - 100 * pips for pips in left)
        assert all(type(score) is int for score in table.counted.scores)


@pytest.mark.parametrize(
    ("dealt", "play", "first", "scores"),
    [
        (FOUR_ARMS, FOUR_ARMS_PLAY, "0-5 0-6 1-2", (975, 175, -225, -925)),
        (NO_ZERO_LEFT, NO_ZERO_LEFT_PLAY, "1-1 1-2 1-3", (1000, 300, 100, -1400)),
    ],
    ids=["closed", "blocked"],
)
def test_1_8_the_same_formula_when_nobody_is_out(
    dealt: tuple[str, ...], play: str, first: str, scores: tuple[int, ...]
) -> None:
    """Left are 14, 22, 26, 33, S = 95, 25·S = 2375; or 9, 16, 18, 33, S = 76, 25·S = 1900. The stock does not count."""
    table = EngineTable(LUPUS, *dealt)
    table.play(play, "4-4!")
    assert (table.hand(0), table.hand(3)) == (first, "3-4 3-5 3-6 4-5")
    assert table.counted.scores == scores


def test_1_8_double_zero_counts_0_and_1_9_ties_share_the_win() -> None:
    table = EngineTable(LUPUS, "1-1 …", "…", "…", "…", stock="0-0", rounds=1)
    table.do(0, "1-1")
    table.put("0-0", "1-2", "5-6", "4-5")
    table.do(1, "1-2@1-1.long")
    assert [left.value for left in table.counted.hands] == [0, 0, 11, 9]
    assert (table.counted.scores, table.state.winners) == ((500, 500, -600, -400), (0, 1))


# 1.9


@pytest.mark.parametrize(("options", "rounds"), [({}, 4), ({"rounds": 1}, 1), ({"rounds": 3}, 3), ({"rounds": 6}, 6)])
def test_1_9_a_match_is_the_number_of_rounds_agreed_on_by_default_4(options: dict[str, Any], rounds: int) -> None:
    table = EngineTable(LUPUS, seats=4, **options)
    assert table.rules.settings["rounds"] == rounds
    for number in range(1, rounds + 1):
        assert (table.state.phase, table.state.round) == (PLAYING, number)
        table.play_out()
        if number < rounds:
            table.do(number % 4, "deal")
    assert (table.state.phase, len(table.events(Dealt))) == (FINISHED, rounds)
    for seat in range(4):
        assert table.legal(seat) == set()
        table.refuses(seat, "deal", reason=GameOver)


def test_1_9_the_highest_total_wins() -> None:
    """S is 14, then 18: A +350 −50, B −750 +450, C +250 −750, D +150 +350."""
    table = EngineTable(LUPUS, "0-0 …", "…", "…", "…", later=[["…", "0-0 …", "…", "…"]], rounds=2)
    table.put("0-0", "5-6", "0-1", "0-2")
    table.do(0, "0-0")
    assert (table.state.totals, table.state.winners) == ((350, -750, 250, 150), ())
    table.do(2, "deal")
    table.put("0-5", "0-0", "6-6", "0-1")
    table.do(1, "0-0")
    assert (table.state.totals, table.state.winners) == ((300, -300, -500, 500), (3,))


# What everybody may know


def test_1_6_that_a_tile_was_drawn_is_public_but_not_which() -> None:
    table = one_arm_open(stock="6-6 0-4 0-5 0-6")
    (drew,) = table.do(3, "draw")
    assert event_view(drew, 3) == DrewView(3, tiles("6-6")[0])
    for other in (None, 0, 1, 2):
        assert event_view(drew, other) == DrewView(3, None)
        assert [player.tiles for player in view(table.rules, table.state, other).players] == [4, 4, 4, 6]
        assert view(table.rules, table.state, other).stock == 3
