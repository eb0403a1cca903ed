"""Rules 11: Kozel, a test a statement."""

from __future__ import annotations

from typing import Any

import pytest

from service.engine.deal import ArrangedDeal
from service.engine.errors import InvalidSetup
from service.engine.events import Dealt, Finished, ScoreLine
from service.engine.referee import can_open
from service.engine.state import PLAYING, ROUND_OVER
from tests.engine.table import EngineTable, tiles, variant

KOZEL = "kozel"


def finish(table: EngineTable, *hands: str) -> None:
    """Let the leader be out at once with its lead, and the others keep these hands."""
    leader = table.turn
    assert leader is not None
    tile = "1-1" if table.state.round == 1 else "4-4"
    table.put(*[tile if seat == leader else hand for seat, hand in enumerate(hands)])
    table.do(leader, tile)
    assert table.state.phase != PLAYING


def fish(table: EngineTable, *hands: str) -> None:
    """Let the leader lay a tile, the next seat close both ends, and nobody hold a 1 or a 6; these hands are left."""
    leader = table.turn
    assert leader is not None
    added = {leader: "1-1", (leader + 1) % len(hands): "1-6"}
    table.put(*[f"{added.get(seat, '')} {hand}" for seat, hand in enumerate(hands)], stock="")
    table.do(leader, "1-1")
    table.do((leader + 1) % len(hands), "1-6@right")
    assert table.counted.ended_by == "blocked"


def dealt(players: int, **options: Any) -> EngineTable:
    return EngineTable(KOZEL, "1-1 …", *["…"] * (players - 1), **options)


# 11.1, 11.2


def test_11_1_four_play_in_two_teams_unless_they_say_otherwise() -> None:
    assert variant(KOZEL).players == (2, 4)
    assert [variant(KOZEL).rules({}, players).settings["teams"] for players in (2, 3, 4)] == [0, 0, 2]
    assert variant(KOZEL).rules({"teams": 0}, 4).teams == 0
    for players in (2, 3):
        with pytest.raises(InvalidSetup):
            variant(KOZEL).rules({"teams": 2}, players)


@pytest.mark.parametrize(("hand", "stocks"), [(7, (14, 7, 0)), (5, (18, 13, 8))])
def test_11_2_the_hands_and_the_stock(hand: int, stocks: tuple[int, ...]) -> None:
    tables = [EngineTable(KOZEL, seats=players, hand=hand) for players in (2, 3, 4)]
    assert [len(table.state.hands[0]) for table in tables] == [hand] * 3
    assert tuple([table.rules.drawable(table.state) for table in tables]) == stocks
    with pytest.raises(InvalidSetup):
        variant(KOZEL).rules({"hand": 6}, 2)


# 11.3, 11.4


@pytest.mark.parametrize(
    ("hands", "options", "seat", "lead"),
    [
        (("1-1 …", "…", "…", "…"), {}, 0, "1-1"),
        (("6-6 …", "2-2 …"), {"stock": "1-1"}, 1, "2-2"),
        (("0-0 0-1 0-2 0-3 0-4", "0-5 0-6 1-2 1-3 1-4"), {"hand": 5}, 0, "0-0"),
        (("6-6 0-1 0-2 0-3 0-4", "0-0 0-6 1-2 1-3 1-4"), {"hand": 5}, 0, "6-6"),
        (("0-5 0-1 0-2 0-3 0-4", "5-6 0-6 1-2 1-3 1-4"), {"hand": 5}, 1, "5-6"),  # without a double the heaviest tile
    ],
)
def test_worked_11a_the_first_lead(hands: tuple[str, ...], options: dict[str, Any], seat: int, lead: str) -> None:
    table = EngineTable(KOZEL, *hands, **options)
    assert (table.turn, table.legal()) == (seat, {lead})


def test_11_4_the_winner_of_the_last_round_leads_any_tile() -> None:
    table = EngineTable(KOZEL, "…", "1-1 …")
    finish(table, "2-3", "")
    table.do(0, "deal")
    assert (table.turn, len(table.legal())) == (1, 7)


@pytest.mark.parametrize(
    ("hands", "winner"),
    [(("2-3", "4-4 2-5", "0-2", "5-5"), 2), (("2-3", "4-4 2-5", "0-5", "5-5"), 0), (("5-5", "0-2", "4-4", "0-3"), 1)],
)
def test_11_4_after_a_fish_the_lighter_player_of_the_winning_side_leads(hands: tuple[str, ...], winner: int) -> None:
    table = dealt(4)
    fish(table, *hands)
    assert table.counted.winner == winner
    table.do(0, "deal")
    assert (table.turn, len(table.legal())) == (winner, 7)


# 11.5 to 11.7


def test_11_5_draws_until_it_fits_to_the_last_tile() -> None:
    table = EngineTable(KOZEL, "1-1 …", "…")
    table.do(0, "1-1")
    table.put("2-2", "3-3", stock="4-4 5-5 1-2")
    table.play("draw draw draw")
    assert table.legal() == {"1-2"}


def test_worked_11g_two_doubles_in_a_turn() -> None:
    table = EngineTable(KOZEL, "1-1 …", "…", two_doubles=True)
    table.put("1-1 1-3 2-2", "1-5 3-3 5-5 1-2 0-0")
    assert table.legal() == {"1-1"}
    table.do(0, "1-1")
    assert table.turn == 1, "the lead is one tile"
    table.play("1-5@right 1-3@left")
    assert table.ends() == [3, 5]
    table.put("2-2 4-4", "3-3 5-5 1-2")
    table.do(1, "3-3")
    assert (table.turn, table.legal(), table.places("5-5")) == (1, {"5-5", "done"}, ["right"])
    before = table.state
    table.do(1, "5-5")
    assert table.turn == 0
    table.state = before
    table.do(1, "done")
    assert table.turn == 0


@pytest.mark.parametrize(("hand", "options"), [("3-3 3-4 0-0", {"two_doubles": True}), ("3-3 5-5 1-2 0-0", {})])
def test_11_6_without_a_double_that_fits_or_without_the_option_a_turn_is_one_tile(
    hand: str, options: dict[str, Any]
) -> None:
    table = EngineTable(KOZEL, "1-1 …", "…", **options)
    table.put("1-1 1-3 2-2", f"1-5 {hand}")
    table.play("1-1 1-5@right 1-3@left 3-3")
    assert table.turn == 0


@pytest.mark.parametrize(
    ("hand", "again"),
    [
        ("0-0 1-1 2-2 3-3 4-4 0-1 0-2", True),
        ("0-0 1-1 2-2 3-3 4-5 0-1 0-2", False),
        ("0-0 0-1 0-2 0-3 0-4 0-5 1-2", True),
        ("0-1 0-2 0-3 0-4 0-5 0-6 1-2", True),
        ("0-0 0-1 0-2 0-3 0-4 1-2 1-3", False),
    ],
)
def test_11_7_option_redeal(hand: str, again: bool) -> None:
    for redeal in (True, False):
        rules = variant(KOZEL).rules({"redeal": redeal}, 2)
        rest = [tile for tile in rules.tiles if tile not in tiles(hand)]
        mixed = rest[::3][:7]
        stock = tuple([tile for tile in rest if tile not in mixed])
        deal = ArrangedDeal((tiles(hand), tuple(mixed)), stock)
        event = Dealt(1, deal.hands, deal.stock, arranged=True)
        assert can_open(rules, rules.start(), event) == (not (again and redeal))


def test_11_7_a_later_round_is_dealt_again_too() -> None:
    for redeal in (True, False):
        table = EngineTable(KOZEL, "1-1 0-1 2-2 2-3 3-5 4-5 2-6", "0-0 0-5 1-6 2-4 3-6 4-6 5-6", redeal=redeal)
        finish(table, "", "2-3")
        hand = tiles("0-0 1-1 2-2 3-3 4-4 0-1 0-2")
        rest = tuple([tile for tile in table.rules.tiles if tile not in hand])
        other = rest[::3]
        event = Dealt(2, (hand, other), tuple([tile for tile in rest if tile not in other]), arranged=True)
        assert can_open(table.rules, table.state, event) == (not redeal)


# 11.8 to 11.13


def test_11_8_out_is_looked_at_before_blocked() -> None:
    table = EngineTable(KOZEL, "1-1 …", "…")
    table.put("1-1", "2-2", stock="")
    table.do(0, "1-1")
    assert table.counted.ended_by == "out"


def test_11_10_in_a_fish_the_side_with_the_lowest_value_of_both_hands_writes_nothing() -> None:
    table = dealt(4)
    fish(table, "0-2", "0-3", "5-5 4-4", "2-2")
    assert [left.value for left in table.counted.hands] == [2, 3, 18, 4]
    assert table.counted.scores == (20, 0, 20, 0)
    assert (table.counted.winner, table.counted.loser) == (1, 0)


@pytest.mark.parametrize(("leader", "loser"), [(0, 1), (1, 2), (2, 3), (3, 0)])
def test_11_13_the_loser_of_a_team_is_its_first_seat_from_the_leader(leader: int, loser: int) -> None:
    table = EngineTable(KOZEL, *["1-1 …" if seat == leader else "…" for seat in range(4)])
    finish(table, "0-5 5-5", "0-6 6-6", "4-5", "4-6")
    assert table.counted.loser == loser


@pytest.mark.parametrize(
    ("hand", "options", "value"),
    [
        ("0-0", {}, 25),
        ("0-0", {"lone_blank": 7}, 7),
        ("0-0 0-1", {}, 1),
        ("6-6", {}, 12),
        ("6-6", {"lone_six": 50}, 50),
        ("0-0 6-6", {"lone_six": 50}, 12),
    ],
)
def test_worked_11b_the_value_of_a_hand(hand: str, options: dict[str, Any], value: int) -> None:
    assert variant(KOZEL).rules(options, 2).hand_value(tiles(hand)) == value


def test_worked_11c_a_side_writes_its_own_hands() -> None:
    table = dealt(4)
    finish(table, "", "0-0", "5-5 4-6", "1-2")
    assert [left.value for left in table.counted.hands] == [0, 25, 20, 3]
    assert table.counted.scores == (0, 28, 0, 28)
    assert table.counted.lines == (ScoreLine(1, 28, "11.10", "25 + 3"), ScoreLine(3, 28, "11.10", "25 + 3"))
    assert (table.counted.winner, table.counted.loser) == (0, 1)


@pytest.mark.parametrize(
    ("total", "hand", "written"), [(0, "5-5 0-2", 0), (0, "5-5 0-3", 13), (13, "0-5", 5), (0, "0-0", 25)]
)
def test_worked_11d_the_first_entry_must_be_large_enough(total: int, hand: str, written: int) -> None:
    table = dealt(2)
    table.state = table.state._replace(totals=(0, total))
    finish(table, "", hand)
    assert table.counted.scores == (0, written)
    assert table.counted.loser == 1


def test_worked_11e_eggs_are_carried_to_the_next_loser() -> None:
    table = EngineTable(KOZEL, "…", "1-1 …", "…", "…")
    fish(table, "5-5", "2-5", "3-4", "4-4 0-2")
    assert [left.value for left in table.counted.hands] == [10, 7, 7, 10]
    assert (table.counted.scores, table.counted.carried) == ((0, 0, 0, 0), 34)
    assert (table.counted.winner, table.counted.loser) == (None, None)
    table.do(0, "deal")
    assert (table.turn, len(table.legal()), table.state.carry) == (1, 7, 34)
    table.state = table.state._replace(turn=0, opener=0, next_leader=0)
    finish(table, "", "4-5", "3-3", "")
    assert table.counted.scores == (0, 43, 0, 43)
    assert [(line.points, line.rule) for line in table.counted.lines if line.seat == 1] == [(9, "11.10"), (34, "11.11")]
    assert table.state.carry == 0


def test_11_11_carries_add_up_and_lapse_with_an_entry_that_is_too_small() -> None:
    table = dealt(2, open_at=50)
    fish(table, "2-2", "0-4")
    table.do(0, "deal")
    fish(table, "2-3", "0-5")
    assert table.state.carry == 18
    table.do(0, "deal")
    finish(table, "", "0-6")
    assert (table.counted.scores, table.counted.loser, table.state.carry) == ((0, 0), 1, 0)


def test_11_11_the_loser_is_the_side_with_the_highest_value_tied_the_first_from_the_leader() -> None:
    table = EngineTable(KOZEL, "…", "1-1 …", "…")
    table.state = table.state._replace(carry=10)
    fish(table, "5-5 3-5", "2-2", "3-4 4-4 0-3")
    assert [left.value for left in table.counted.hands] == [18, 4, 18]
    assert table.counted.loser == 2
    assert table.counted.scores == (18, 0, 28)


def test_11_11_without_eggs_the_tied_sides_write_nothing_and_the_others_their_own_if_it_is_large_enough() -> None:
    table = dealt(3, eggs=False)
    fish(table, "2-2", "0-4", "5-5 4-4")
    assert (table.counted.scores, table.counted.carried) == ((0, 0, 18), 0)
    assert (table.counted.winner, table.counted.loser) == (None, None)
    table.do(0, "deal")
    assert (table.turn, len(table.legal())) == (0, 7)
    table = dealt(3, eggs=False)
    fish(table, "2-2", "0-4", "5-5")
    assert table.counted.scores == (0, 0, 0)


def test_worked_11f_the_goat_and_the_winners() -> None:
    table = dealt(4)
    table.state = table.state._replace(totals=(96, 40, 96, 40), turn=1, opener=1)
    finish(table, "4-5", "", "", "5-5")
    assert table.state.totals == (105, 40, 105, 40)
    assert table.events(Finished) == [Finished((1, 3))]


def test_worked_11f_of_three_alone_the_lowest_total_wins() -> None:
    table = EngineTable(KOZEL, "…", "…", "1-1 …")
    table.state = table.state._replace(totals=(90, 60, 30))
    finish(table, "5-5 0-5", "6-6 5-6 4-6 4-5 0-3", "")
    assert table.state.totals == (105, 105, 30)
    assert table.events(Finished) == [Finished((2,))]


def test_11_12_equal_totals_share_the_win_and_below_the_limit_the_match_goes_on() -> None:
    table = EngineTable(KOZEL, "…", "1-1 …", "…")
    table.state = table.state._replace(totals=(30, 40, 80))
    finish(table, "5-5", "", "6-6 4-5")
    assert table.state.totals == (40, 40, 101)
    assert table.events(Finished) == [Finished((0, 1))]
    table = dealt(2)
    table.state = table.state._replace(totals=(0, 80))
    finish(table, "", "6-6 4-4")
    assert (table.state.totals, table.state.phase) == ((0, 100), ROUND_OVER)
