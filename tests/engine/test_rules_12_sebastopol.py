"""Rules 12: Sebastopol, a test a statement."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from service.engine.events import Drew, Finished, Passed, RoundResult
from service.engine.referee import advance, legal_moves
from service.engine.state import FINISHED, PLAYING, ROUND_OVER
from service.engine.tiles import double_set
from tests.engine.table import EngineTable, assert_players, complaints, tiles, variant

SEBASTOPOL = "sebastopol"

WORKED_A = ("2-6 5-6 6-6 …", "1-6 3-6 …", "3-4 3-5 …", "0-6 4-6 …")
"""The hands of 12a; seat 2 holds no six."""
CROSS = "6-6 3-6@e1 pass 0-6@e3 2-6@e4 1-6"
"""The cross of 12a."""


def cross(*hands: str, **options: Any) -> EngineTable:
    """The cross of 12a is complete and seat 2 to move; the seats hold these tiles, or what they were dealt."""
    table = EngineTable(SEBASTOPOL, *WORKED_A, **options)
    table.play(CROSS)
    assert (table.turn, table.ends()) == (2, [0, 1, 2, 3])
    if hands:
        table.put(*hands)
    return table


def out(*others: str, **options: Any) -> EngineTable:
    """Seat 0 is out with its lead, and the others keep these hands."""
    table = EngineTable(SEBASTOPOL, *WORKED_A, **options)
    table.put("6-6", *others)
    table.do(0, "6-6")
    return table


def blocked(*hands: str, **options: Any) -> EngineTable:
    """Seat 2 has laid 3-5, and nobody holds a tile that fits 0, 1, 2 or 5."""
    table = cross(*hands, **options)
    table.put(hands[0], hands[1], f"3-5 {hands[2]}", hands[3])
    table.do(2, "3-5")
    return table


def count_blocked(*hands: str, **options: Any) -> RoundResult:
    """The count of a blocked round in which these hands are left."""
    table = EngineTable(SEBASTOPOL, *WORKED_A, **options)
    table.put(*hands)
    return table.rules.score_round(table.state, "blocked", table.rules.hands_left(table.state))


# 12.1


def test_12_1_exactly_four_players_each_alone_with_seven_tiles_and_no_stock() -> None:
    assert_players(SEBASTOPOL, 4, 4)
    assert complaints(SEBASTOPOL, 4, teams=2) == {"options.teams"}
    table = EngineTable(SEBASTOPOL, seats=4)
    assert [table.rules.team(seat) for seat in range(4)] == [None] * 4
    assert (table.rules.tiles, table.held) == (double_set(6), [7] * 4)
    assert (table.state.stock, table.rules.drawable(table.state)) == ((), 0)


# 12.2


@pytest.mark.parametrize("holder", range(4))
def test_12_2_whoever_holds_6_6_leads_it(holder: int) -> None:
    table = EngineTable(SEBASTOPOL, *["6-6 …" if seat == holder else "…" for seat in range(4)])
    assert (table.turn, table.legal()) == (holder, {"6-6"})
    table.refuses(holder, *[tile.name for tile in table.state.hands[holder] if tile.name != "6-6"], "pass")


def test_12_2_every_round_opens_this_way() -> None:
    later = [("…", "…", "…", "6-6 …")]
    table = EngineTable(SEBASTOPOL, *WORKED_A, later=later)
    table.put("6-6", "0-1", "0-2", "0-3")
    table.do(0, "6-6")
    assert table.counted.winner == 0
    table.do(2, "deal")
    assert (table.turn, table.legal()) == (3, {"6-6"})


# 12.3


@pytest.mark.parametrize("order", ["e1 e2 e3 e4", "e4 e3 e2 e1", "e3 e1 e4 e2", "e2 e4 e1 e3"])
def test_12_3_in_any_order_of_the_sides(order: str) -> None:
    table = EngineTable(SEBASTOPOL, "6-6 2-6 …", "1-6 …", "3-6 …", "0-6 …")
    table.do(0, "6-6")
    for tile, end in zip(("1-6", "3-6", "0-6", "2-6"), order.split(), strict=True):
        table.play(f"{tile}@{end}")
    assert (table.ends(), table.ends("gated")) == ([0, 1, 2, 3], [])


def test_12_3_until_the_cross_is_complete_nothing_else_may_be_placed() -> None:
    table = EngineTable(SEBASTOPOL, "6-6 3-3 …", "3-6 1-3 …", "0-6 3-5 …", "2-6 2-3 …")
    table.play("6-6 3-6@e2")
    assert (table.ends(), table.ends("gated")) == ([6, 6, 6], [3])
    table.refuses(2, "3-5 3-5@e5")
    table.play("0-6@e1")
    assert (table.ends(), table.ends("gated")) == ([6, 6], [0, 3])
    table.refuses(3, "2-3 pass")


@pytest.mark.parametrize("seed", range(12))
def test_12_3_the_cross_is_always_completed(seed: int) -> None:
    """Six other sixes are in the hands, so no round is over before, and no tile lies elsewhere before."""
    table, rng = EngineTable(SEBASTOPOL, seats=4, seed=str(seed)), Random(seed)
    while table.state.phase == PLAYING:
        assert table.turn is not None
        move = rng.choice(legal_moves(table.rules, table.state, table.turn))
        table.state = advance(table.rules, table.deck, table.state, table.turn, move=move)[1]
    assert [placement.host for placement in table.layout.placements[:6]][:5] == [-1, 0, 0, 0, 0]
    assert all(placement.host for placement in table.layout.placements[5:])
    assert sorted(placement.side for placement in table.layout.placements[1:5]) == ["long", "long", "short", "short"]


# 12.4


def test_12_4_a_turn_is_one_tile_even_a_double_which_never_branches() -> None:
    table = cross("1-2", "0-3", "3-3 3-5 4-4", "0-2")
    table.refuses(2, "pass draw done")
    table.do(2, "3-3")
    assert (table.turn, table.ends(), table.ends("gated")) == (3, [0, 1, 2, 3], [])
    assert [(end.name, end.side) for end in table.layout.ends if end.number == 3] == [("e9", "long")]
    table.refuses(2, "3-5 done pass")
    assert cross("1-2", "0-3", "4-4 4-5 5-5", "0-2").legal() == {"pass"}


@pytest.mark.parametrize("seed", range(6))
def test_12_4_there_are_four_arms_to_the_end(seed: int) -> None:
    table, rng = cross(seed=str(seed)), Random(seed)
    while table.state.phase == PLAYING:
        assert table.turn is not None
        move = rng.choice(legal_moves(table.rules, table.state, table.turn))
        table.state = advance(table.rules, table.deck, table.state, table.turn, move=move)[1]
        assert [end.gate for end in table.layout.ends] == ["open"] * 4


# 12.5


@pytest.mark.parametrize("blocked_score", ["minus_own", "others", "all"])
def test_worked_12c_out(blocked_score: str) -> None:
    """The others hold 11, 23, 8 → 42."""
    counted = out("5-6", "0-4 4-5 5-5", "2-6", blocked_score=blocked_score).counted
    assert [left.value for left in counted.hands] == [0, 11, 23, 8]
    assert (counted.ended_by, counted.winner, counted.scores) == ("out", 0, (42, 0, 0, 0))
    lines = [(line.seat, line.points, line.rule, line.text) for line in counted.lines]
    assert lines == [(0, 42, "12.5", "11 + 23 + 8")]


@pytest.mark.parametrize(
    ("blocked_score", "text"), [("minus_own", "7 + 8 + 10 − 6"), ("others", "7 + 8 + 10"), ("all", "7 + 8 + 10 + 6")]
)
def test_12_5_the_round_is_over_when_no_hand_fits_and_the_line_says_what_was_added(
    blocked_score: str, text: str
) -> None:
    table = blocked("3-3", "3-4", "4-4", "4-6", blocked_score=blocked_score)
    assert (table.counted.ended_by, table.counted.winner, table.state.phase) == ("blocked", None, ROUND_OVER)
    assert [(line.seat, line.rule, line.text) for line in table.counted.lines] == [(0, "12.5", text)]


def test_12_5_the_pips_left_by_a_blocked_round_are_even() -> None:
    """All eight halves of a blocked number lie on the table, and those at joints are paired: so an even number of ends
    shows it, and the tiles on the table add up to an even number, as the set does."""
    left = []
    for number in range(60):
        table, rng = EngineTable(SEBASTOPOL, seats=4, seed=f"blocked {number}"), Random(number)
        while table.state.phase == PLAYING:
            assert table.turn is not None
            move = rng.choice(legal_moves(table.rules, table.state, table.turn))
            events, table.state = advance(table.rules, table.deck, table.state, table.turn, move=move)
            table.log += events
        if table.counted.ended_by == "blocked":
            left.append(sum(hand.value for hand in table.counted.hands))
    assert len(left) > 3
    assert not any(pips % 2 for pips in left)


def test_12_5_and_12_6_the_options_by_default_and_what_else_they_take() -> None:
    assert variant(SEBASTOPOL).rules({}, 4).settings == {"blocked_score": "minus_own", "target": 60}
    for value in ("", "own", "ALL", True, 1, None):
        assert complaints(SEBASTOPOL, 4, blocked_score=value) == {"options.blocked_score"}
    for target in (0, -1, 1001, "60", 60.0, True, None):
        assert complaints(SEBASTOPOL, 4, target=target) == {"options.target"}


# 12.6


@pytest.mark.parametrize("target", [1, 50, 60, 100, 1000])
def test_12_6_the_match_is_over_when_a_total_has_reached_the_target(target: int) -> None:
    for total, over in ((target - 43, False), (target - 42, True), (target - 41, True)):
        table = EngineTable(SEBASTOPOL, *WORKED_A, target=target)
        table.state = table.state._replace(totals=(total, 0, 0, 0))
        table.put("6-6", "5-6", "0-4 4-5 5-5", "2-6")
        table.do(0, "6-6")
        assert table.state.totals == (total + 42, 0, 0, 0)
        assert (table.state.phase == FINISHED) == over
        assert table.state.winners == ((0,) if over else ())


# Worked examples


def test_worked_12a_the_cross() -> None:
    table = EngineTable(SEBASTOPOL, *WORKED_A)
    table.do(0, "6-6")
    assert (table.ends(), table.ends("gated")) == ([6, 6, 6, 6], [])
    for tile in ("1-6", "3-6"):
        assert table.places(tile) == ["6-6.long", "6-6.long", "6-6.short", "6-6.short"]
    assert len(legal_moves(table.rules, table.state, 1)) == 8
    table.do(1, "3-6@e1")
    assert table.ends("gated") == [3]
    assert (table.turn, table.legal()) == (2, {"pass"})
    table.refuses(2, "3-5 3-4 draw done flip")
    table.do(2, "pass")
    assert (table.turn, table.events(Passed), table.events(Drew)) == (3, [Passed(2)], [])
    assert len(legal_moves(table.rules, table.state, 3)) == 6
    table.do(3, "0-6@e3")
    assert len(legal_moves(table.rules, table.state, 0)) == 4
    table.do(0, "2-6@e4")
    assert (table.legal(), table.places("1-6")) == ({"1-6"}, ["6-6.long"])
    table.do(1, "1-6")
    assert [(end.number, end.gate) for end in table.layout.ends] == [(3, "open"), (1, "open"), (0, "open"), (2, "open")]
    assert table.places("3-5") == ["3-6"]
    table.do(2, "3-5")


def test_worked_12b_the_sixes_that_are_left() -> None:
    table = cross()
    left = tiles("4-6 5-6")
    assert [tile for hand in table.state.hands for tile in hand if 6 in (tile.low, tile.high)] == [left[1], left[0]]
    assert not table.layout.fits_any(left)
    table.do(2, "3-4")
    assert table.places("4-6") == ["3-4"]
    table.do(3, "4-6")
    assert table.places("5-6") == ["4-6"]
    (end,) = [end for end in table.layout.ends if end.number == 6]
    assert [tile for hand in table.state.hands for tile in hand if 6 in (tile.low, tile.high)] == [left[1]]
    assert table.layout.placements[end.host].tile == left[0]
    table = cross()
    table.do(2, "3-5")
    assert table.layout.fits_any(tiles("5-6"))
    assert not table.layout.fits_any(tiles("4-6"))


@pytest.mark.parametrize(("blocked_score", "points"), [("minus_own", 35), ("others", 43), ("all", 51)])
def test_worked_12c_blocked(blocked_score: str, points: int) -> None:
    """9, 11, 23, 8 → the last scores 43 − 8 = 35 (``others`` 43, ``all`` 51); 9, 11, 23, 9 → nobody."""
    counted = count_blocked("3-6", "5-6", "3-3 3-4 4-6", "4-4", blocked_score=blocked_score)
    assert [left.value for left in counted.hands] == [9, 11, 23, 8]
    assert counted.scores == (0, 0, 0, points)
    counted = count_blocked("3-6", "5-6", "3-3 3-4 4-6", "4-5", blocked_score=blocked_score)
    assert [left.value for left in counted.hands] == [9, 11, 23, 9]
    assert (counted.scores, counted.lines) == ((0, 0, 0, 0), ())


def test_worked_12d_the_target() -> None:
    """Totals 55, 30, 20, 0; seat 3 scores 42 → no end. Seat 0 scores 5 → 60: seat 0 wins."""
    table = EngineTable(SEBASTOPOL, "…", "…", "…", "6-6 …", later=[("6-6 …", "…", "…", "…")])
    table.state = table.state._replace(totals=(55, 30, 20, 0))
    table.put("5-6", "0-4 4-5 5-5", "2-6", "6-6")
    table.do(3, "6-6")
    assert (table.state.phase, table.state.totals) == (ROUND_OVER, (55, 30, 20, 42))
    table.do(3, "deal")
    table.put("6-6", "0-1", "0-0", "0-4")
    table.do(0, "6-6")
    assert (table.state.phase, table.state.totals, table.state.winners) == (FINISHED, (60, 30, 20, 42), (0,))
    assert table.events(Finished) == [Finished((0,))]
