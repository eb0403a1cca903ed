"""Rules 4: Dominospiel, simple domino, a test a statement."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import pytest

from service.engine.errors import GameOver
from service.engine.events import Drew, Eliminated
from service.engine.state import FINISHED, PLAYING, ROUND_OVER
from service.engine.tiles import double_set, parse_tile
from tests.engine.table import EngineTable, assert_players, names, variant

SPIEL = "dominospiel"

TOTALS = (
    "0-3 3-4 1-3 1-4 2-6 3-5 3-6",
    "4-4 0-4 0-5 5-5 5-6 0-6 4-6",
    "0-0 0-1 1-2 2-2 0-2 1-1 2-3",
    "3-3 6-6 1-5 1-6 2-4 2-5 4-5",
)
TOTALS_PLAY = """
    0-0 0-1@left 1-2 2-2 0-2@left
    pass
    0-3@right 3-4 done
    4-4 0-4@right 0-5@right 5-5 5-6 0-6@right
"""
"""The worked example of 4.8 in one blocked round: A keeps 34, B 10, C 7, D 53."""


class Settled(NamedTuple):
    """How a match was settled, its numbers ready to be compared with whole ones and fractions."""

    mode: str
    amounts: tuple[object, ...]
    payments: list[tuple[object, ...]]


def settled(table: EngineTable) -> Settled:
    """The settlement; whatever it is, the payments make up the amounts, and these add up to 0."""
    assert table.rules.settlement is not None
    settlement = table.rules.settlement(table.state)
    amounts = [Fraction(0)] * len(table.state.totals)
    for payment in settlement.payments:
        assert payment.amount > 0
        amounts[payment.payer] -= payment.amount
        amounts[payment.payee] += payment.amount
    assert tuple(amounts) == settlement.amounts
    assert sum(settlement.amounts) == 0
    return Settled(settlement.mode, settlement.amounts, [tuple(payment) for payment in sorted(settlement.payments)])


def finished_with(*hands: str, **options: Any) -> EngineTable:
    """A match that one round ends: seat 0 leads 0-0, its only tile, and is out; these hands are left."""
    table = EngineTable(SPIEL, "0-0 …", *["…"] * (len(hands) - 1), round_end="first_out", **{"limit": 1, **options})
    table.put("0-0", *hands[1:], stock="")
    table.do(0, "0-0")
    assert table.state.phase == FINISHED
    return table


# 4.1


def test_4_1_two_to_seven_players_with_the_double_six_set() -> None:
    assert_players(SPIEL, 2, 7)
    assert variant(SPIEL).rules({}, 2).tiles == double_set(6)


@pytest.mark.parametrize(
    ("players", "hand", "stock"), [(2, 14, 0), (3, 9, 1), (4, 7, 0), (5, 5, 3), (6, 4, 4), (7, 4, 0)]
)
def test_4_1_all_tiles_are_dealt_as_far_as_they_divide_and_the_rest_is_the_stock(
    players: int, hand: int, stock: int
) -> None:
    table = EngineTable(SPIEL, seats=players)
    assert table.held == [hand] * players
    assert (len(table.state.stock), table.rules.drawable(table.state)) == (stock, stock)


# 4.2


def test_4_2_who_holds_0_0_opens_and_must_lead_it() -> None:
    table = EngineTable(SPIEL, "6-6 …", "5-5 …", "0-0 1-1 0-1 …")
    assert (table.turn, table.legal()) == (2, {"0-0"})
    table.refuses(2, "1-1 0-1 0-0! draw pass done flip")
    table.refuses(0, "6-6")
    table.do(2, "0-0")


def test_4_2_is_0_0_in_the_stock_the_lowest_double_in_any_hand_opens() -> None:
    table = EngineTable(SPIEL, "2-2 …", "6-6 5-5 …", "3-3 4-4 …", "0-1 …", "0-2 …", stock="0-0 1-1")
    assert (table.turn, table.legal()) == (0, {"2-2"})
    table.do(0, "2-2")


def test_4_2_every_round_is_opened_so() -> None:
    table = EngineTable(SPIEL, "0-0 …", "…", "…", later=[["…", "…", "0-0 …"]], limit=1000)
    table.play_out()
    table.do(1, "deal")
    assert (table.turn, table.legal()) == (2, {"0-0"})


# 4.3


def test_4_3_two_ends() -> None:
    table = EngineTable(SPIEL, "0-0 0-1 0-2 …", "…", "…", "…")
    table.do(0, "0-0")
    assert [(end.name, end.number) for end in table.layout.ends] == [("left", 0), ("right", 0)]
    assert table.places("0-1") == ["left", "right"]
    table.play("0-1@left", "0-2@right")
    assert (table.chain(), table.ends()) == ("1/0 0/0 0/2", [1, 2])


def test_4_3_doubles_do_not_branch_and_are_never_laid_face_down() -> None:
    table = EngineTable(SPIEL, "0-0 0-1 1-1 1-2 …", "…", "…", "…")
    table.play("0-0", "0-1@right")
    assert table.places("1-1") == ["right"]
    table.refuses(0, "1-1!")
    table.play("1-1")
    ends = [(end.name, end.number, end.gate) for end in table.layout.ends]
    assert ends == [("left", 0, "open"), ("right", 1, "open")]
    table.play("1-2")
    assert (table.ends(), table.chain()) == ([0, 2], "0/0 0/1 1/1 1/2")


# 4.4


def test_4_4_a_turn_is_any_number_of_fitting_tiles_but_at_least_one_until_done() -> None:
    table = EngineTable(SPIEL, "0-0 …", "0-1 1-2 2-2 2-3 1-3 …", "0-2 …", "…")
    table.play("0-0", "done")
    table.refuses(1, "done pass draw flip")
    for tile in ("0-1@left", "1-2", "2-2", "2-3"):
        table.do(1, tile)
        assert (table.turn, "done" in table.legal()) == (1, True)
        table.refuses(1, "pass draw")
    table.do(1, "done")
    assert table.turn == 2
    table.refuses(1, "1-3 done")


@pytest.mark.parametrize(("more", "ends"), [("", [0, 0]), ("0-1@left 1-2 2-6", [0, 6])])
def test_4_4_the_opening_turn_too_may_have_any_number_of_tiles(more: str, ends: list[int]) -> None:
    table = EngineTable(SPIEL, "0-0 0-1 1-2 2-6 …", "…", "…", "…")
    table.do(0, "0-0")
    assert table.turn == 0
    table.play(more, "done")
    assert (table.turn, table.ends()) == (1, ends)


def test_4_4_only_fitting_tiles_may_follow_and_without_one_the_turn_is_over_without_saying_so() -> None:
    table = EngineTable(SPIEL, "0-0 0-1 2-3 6-6 1-4 …", "…", "…", "…")
    table.play("0-0", "0-1@right")
    table.refuses(0, "2-3 6-6 1-4@left")
    assert table.places("1-4") == ["right"]
    table = EngineTable(SPIEL, "0-0 …", "…", "…", "…", "…")
    table.put("0-0 0-1 2-3", "1-5", "0-2", "0-3", "0-4")
    table.do(0, "0-0")
    assert table.turn == 0
    table.do(0, "0-1@left")
    assert table.turn == 1
    table.refuses(0, "done")


# 4.5


def bought(stock: str) -> EngineTable:
    """0-0 lies; seat 1, to move, holds nothing that fits but 1-1, 1-2 and 6-6, the others a 0-tile each."""
    table = EngineTable(SPIEL, "0-0 …", "…", "…", "…", "…")
    table.play("0-0", "done")
    table.put("0-5 4-5", "1-1 1-2 6-6", "0-2 5-5", "0-3 3-3", "0-4 4-4", stock=stock)
    return table


def test_4_5_who_has_no_fitting_tile_buys_one_and_if_it_does_not_fit_the_turn_is_over() -> None:
    table = bought("3-4 0-1")
    assert table.legal() == {"draw"}
    table.refuses(1, "pass done 1-1")
    assert table.do(1, "draw") == (Drew(1, parse_tile("3-4")),)
    assert (table.turn, table.hand(1), names(table.state.stock)) == (2, "1-1 1-2 3-4 6-6", "0-1")
    table.refuses(1, "draw pass done")


@pytest.mark.parametrize(("more", "chain"), [("1-1 1-2", "0/0 0/1 1/1 1/2"), ("done", "0/0 0/1")])
def test_4_5_if_the_bought_tile_fits_it_is_placed_and_the_turn_may_go_on(more: str, chain: str) -> None:
    table = bought("0-1 3-4")
    table.do(1, "draw")
    assert (table.turn, table.legal()) == (1, {"0-1"})
    table.refuses(1, "done pass draw")
    table.do(1, "0-1@right")
    assert table.legal() == {"1-1", "1-2", "done"}
    table.play(more)
    assert (table.turn, table.chain()) == (2, chain)


def test_4_5_nobody_buys_a_second_time_in_a_turn() -> None:
    table = bought("0-6 3-4")
    table.play("draw", "0-6@right")
    assert table.legal() == {"6-6", "done"}
    table.refuses(1, "draw")
    table.do(1, "6-6")
    assert (table.turn, names(table.state.stock)) == (2, "3-4")


def test_4_5_stock_empty_who_has_no_fitting_tile_passes() -> None:
    table = bought("")
    assert table.legal() == {"pass"}
    table.refuses(1, "draw done")
    table.do(1, "pass")
    assert table.turn == 2


# 4.6


def with_one_out(stock: str, **options: Any) -> EngineTable:
    """0-0 0-1 lies and seat 1 has just laid its last tile, 0-1; seat 0 holds 5-5, seat 2 1-2 and 6-6."""
    table = EngineTable(SPIEL, "0-0 0-6 …", "…", "…", **options)
    table.play("0-0", "done")
    table.put("5-5", "0-1", "1-2 6-6", stock=stock)
    table.do(1, "0-1@right")
    return table


def test_4_6_a_player_without_tiles_is_out_of_the_round_and_the_others_play_on() -> None:
    table = with_one_out("3-3 2-6 4-4")
    assert (table.state.phase, table.turn, table.state.went_out_first) == (PLAYING, 2, 1)
    table.refuses(1, "draw pass")
    table.do(2, "1-2")
    table.do(0, "draw")
    assert table.turn == 2


def test_4_6_the_round_ends_when_the_stock_is_empty_and_nobody_left_fits() -> None:
    """Seat 2 gets rid of all with the bought 2-6; seat 0 keeps 5-5 and the bought 3-3 at the ends 0 and 6.

    Who was out first wins; each writes the pips left in hand, so who is out is safe.
    """
    table = with_one_out("3-3 2-6")
    table.play("1-2")
    assert (table.state.phase, table.turn, table.legal()) == (PLAYING, 0, {"draw"}), "although nobody fits"
    table.play("draw", "draw", "2-6")
    assert table.state.phase == PLAYING
    table.play("6-6")
    assert (table.ends(), [table.hand(seat) for seat in range(3)]) == ([0, 6], ["3-3 5-5", "", ""])
    assert (table.state.phase, table.counted.ended_by, table.counted.winner) == (ROUND_OVER, "blocked", 1)
    assert table.counted.scores == table.state.totals == (16, 0, 0)
    assert [(line.seat, line.points, line.rule) for line in table.counted.lines] == [(0, 16, "4.6")]


def test_4_6_the_last_one_holding_tiles_keeps_buying_and_what_cannot_be_placed_counts() -> None:
    """Alone with 5-5 and 3-3, seat 0 buys 4-4, then 0-5, which fits and takes 5-5 along; 3-3 and 4-4 stay."""
    table = with_one_out("3-3 2-6 4-4 0-5")
    table.play("1-2", "draw", "draw", "2-6", "6-6")
    assert (table.turn, table.legal()) == (0, {"draw"})
    table.do(0, "draw")
    assert (table.turn, table.legal()) == (0, {"draw"})
    table.do(0, "draw")
    assert (table.turn, table.legal()) == (0, {"0-5"})
    table.do(0, "0-5")
    table.do(0, "5-5")
    assert (table.counted.ended_by, table.counted.scores) == ("blocked", (14, 0, 0))


def test_4_6_the_round_ends_when_nobody_has_a_tile_left_and_by_default_nobody_writes_the_stock() -> None:
    table = with_one_out("5-6 2-6 0-5")
    assert table.rules.settings["round_end"] == "play_on"
    table.play("1-2", "draw", "draw", "2-6", "6-6")
    assert (table.state.phase, table.turn) == (PLAYING, 0)
    table.play("5-6", "5-5")
    assert (table.state.phase, table.counted.ended_by, table.counted.winner) == (ROUND_OVER, "out", 1)
    assert (table.counted.scores, names(table.state.stock)) == ((0, 0, 0), "0-5")


@pytest.mark.parametrize("round_end", ["play_on", "first_out"])
def test_4_6_a_round_without_anybody_out_has_no_winner_and_no_stock_to_write(round_end: str) -> None:
    table = EngineTable(SPIEL, *TOTALS, round_end=round_end)
    table.play(TOTALS_PLAY)
    assert (table.counted.ended_by, table.counted.winner, table.counted.scores) == ("blocked", None, (34, 10, 7, 53))


def test_4_6_option_first_out_ends_the_round_and_the_loser_writes_the_stock_too() -> None:
    """Seat 0 keeps 10, seat 2 3 + 12 = 15, the most; the stock, whose order is secret, has 6 + 8 = 14."""
    for stock in ("3-3 2-6", "2-6 3-3"):
        table = with_one_out(stock, round_end="first_out")
        assert (table.state.phase, table.counted.ended_by, table.counted.winner) == (ROUND_OVER, "out", 1)
        assert table.counted.scores == (10, 0, 15 + 14)
        assert [(line.seat, line.points) for line in table.counted.lines] == [(0, 10), (2, 15), (2, 14)]
    assert table.counted == with_one_out("3-3 2-6", round_end="first_out").counted


def test_4_6_option_first_out_each_of_several_tied_losers_writes_the_stock() -> None:
    table = EngineTable(SPIEL, "0-0 0-6 …", "…", "…", "…", round_end="first_out")
    table.play("0-0", "done")
    table.put("4-6", "0-1", "5-5", "1-2", stock="2-3")
    table.do(1, "0-1@right")
    assert table.counted.scores == (10 + 5, 0, 10 + 5, 3)


# 4.7


@pytest.mark.parametrize(
    ("options", "left", "over"),
    [
        ({}, "6-6 5-6 5-5 4-6 1-5", False),  # 12 + 11 + 10 + 10 + 6 = 49
        ({}, "6-6 5-6 5-5 4-6 1-6", True),
        ({}, "6-6 5-6 5-5 4-6 2-6", True),
        *(({"limit": 10}, "5-6", True), ({"limit": 11}, "5-6", True), ({"limit": 12}, "5-6", False)),
    ],
)
def test_4_7_the_match_ends_when_a_player_has_50_or_the_limit_agreed_on(
    options: dict[str, Any], left: str, over: bool
) -> None:
    table = EngineTable(SPIEL, "0-0 …", "…", "…", round_end="first_out", **options)
    assert table.rules.settings["limit"] == options.get("limit", 50)
    table.put("0-0", left, "0-1", stock="")
    table.do(0, "0-0")
    assert (table.state.phase, table.state.winners) == ((FINISHED, (0,)) if over else (ROUND_OVER, ()))


def test_4_7_what_is_written_adds_up_over_the_rounds() -> None:
    table = EngineTable(SPIEL, "0-0 …", "…", "…", later=[["0-0 …", "…", "…"]], round_end="first_out", limit=30)
    table.put("0-0", "6-6", "4-6 5-5", stock="")
    table.do(0, "0-0")
    assert (table.state.totals, table.state.phase) == ((0, 12, 20), ROUND_OVER)
    table.do(2, "deal")
    table.put("0-0", "5-6", "4-6", stock="")
    table.do(0, "0-0")
    assert (table.state.totals, table.state.phase) == ((0, 23, 30), FINISHED)


def test_4_7_the_lowest_total_wins() -> None:
    table = EngineTable(SPIEL, *TOTALS)
    table.play(TOTALS_PLAY)
    assert (table.state.phase, table.state.totals, table.state.winners) == (FINISHED, (34, 10, 7, 53), (2,))
    for seat in range(4):
        table.refuses(seat, "deal", reason=GameOver)


def test_4_7_ties_share_the_win() -> None:
    table = finished_with("", "0-1", "5-6", limit=10)
    assert table.state.winners == (0,)
    table = EngineTable(SPIEL, "0-0 …", "…", "…", limit=10)
    table.play("0-0", "done")
    table.put("0-6", "0-1", "1-2 5-5", stock="")
    table.play("0-1@right", "1-2", "0-6")
    assert (table.state.totals, table.state.winners) == ((0, 0, 10), (0, 1))


def test_4_7_nobody_goes_out_of_the_match_before_its_end() -> None:
    table = EngineTable(SPIEL, *TOTALS, limit=54)
    table.play(TOTALS_PLAY)
    assert (table.state.phase, table.state.eliminated_round, table.events(Eliminated)) == (ROUND_OVER, (0, 0, 0, 0), [])


# 4.8


@pytest.mark.parametrize(
    ("options", "mode", "amounts"),
    [
        ({}, "average", (-8, 16, 19, -27)),
        ({"settlement": "difference"}, "difference", (19, 43, 46, -108)),
        ({"settlement": "fixed"}, "fixed", (1, 1, 1, -3)),
        ({"settlement": "fixed", "stake": 5}, "fixed", (5, 5, 5, -15)),
    ],
)
def test_4_8_worked_examples(options: dict[str, Any], mode: str, amounts: tuple[int, ...]) -> None:
    """Totals A 34, B 10, C 7, D 53 → mean 26: A pays 8, B gets 16, C gets 19, D pays 27. Else D pays all others."""
    table = EngineTable(SPIEL, *TOTALS, **options)
    table.play(TOTALS_PLAY)
    assert table.state.totals == (34, 10, 7, 53)
    settlement = settled(table)
    assert (settlement.mode, settlement.amounts) == (mode, amounts)
    if mode != "average":
        assert settlement.payments == [(3, seat, amounts[seat]) for seat in range(3)]


@pytest.mark.parametrize(
    ("totals", "amounts"),
    [
        ((0, 1), (Fraction(1, 2), Fraction(-1, 2))),
        ((0, 1, 10), (Fraction(11, 3), Fraction(8, 3), Fraction(-19, 3))),
        ((50, 50, 50), (0, 0, 0)),
        ((0, 2), (1, -1)),
        ((5, 0, 10), (0, 5, -5)),
        ((1, 2, 3, 50), (13, 12, 11, -36)),
        ((50, 48, 2, 0), (-25, -23, 23, 25)),
    ],
)
def test_4_8_average_is_the_distance_from_the_mean(totals: tuple[int, ...], amounts: tuple[object, ...]) -> None:
    table = finished_with("", *["0-1"] * (len(totals) - 1))
    table.state = table.state._replace(totals=totals)
    assert settled(table).amounts == amounts


def test_4_8_fixed_tied_for_the_highest_total_share_what_is_to_be_paid() -> None:
    """Totals 0, 1, 10, 10 and a stake of 3: 6 are to be paid, 3 each."""
    settlement = settled(finished_with("", "0-1", "5-5", "4-6", settlement="fixed", stake=3))
    assert settlement.amounts == (3, 3, -3, -3)
    assert settlement.payments == [(payer, payee, Fraction(3, 2)) for payer in (2, 3) for payee in (0, 1)]


def test_4_8_difference_tied_for_the_highest_total_share_what_is_to_be_paid() -> None:
    """Totals 0, 1, 10, 10: 10 + 9 are to be paid, 19/2 each."""
    settlement = settled(finished_with("", "0-1", "5-5", "4-6", settlement="difference"))
    assert settlement.amounts == (10, 9, Fraction(-19, 2), Fraction(-19, 2))
    settlement = settled(finished_with("", "1-4", "0-5", "2-3", settlement="fixed"))
    assert settlement.amounts == (1, Fraction(-1, 3), Fraction(-1, 3), Fraction(-1, 3))


@pytest.mark.parametrize("mode", ["average", "difference", "fixed"])
@pytest.mark.parametrize("players", range(2, 8))
def test_4_8_the_sum_is_0_for_every_mode_and_number_of_players(mode: str, players: int) -> None:
    table = EngineTable(SPIEL, seats=players, settlement=mode, limit=1, seed=f"{mode} {players}")
    table.play_out()
    while table.state.phase == ROUND_OVER:
        table.do(0, "deal")
        table.play_out()
    assert settled(table).mode == mode
