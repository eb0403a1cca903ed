"""Rules 17: cochon, a test a statement."""

from __future__ import annotations

from typing import Any

import pytest

from service.engine.events import Manche, ScoreLine
from service.engine.state import FINISHED
from tests.engine.table import EngineTable, assert_players

COCHON = "cochon"
LOW = ("0-0 0-1 0-2 0-3 1-1 1-2 6-6", "0-4 0-5 1-3 1-4 1-5 2-2 2-3", "2-4 2-5 3-3 3-4 3-5 4-4 4-5")
"""Worked 17b: 6-6 blocks at once, with 11, 33 and 51 pips."""
ASLEEP = "0-6 1-6 2-6 3-6 4-6 5-6 5-5"


def standing(*stars: int, totals: tuple[int, ...] = (0, 0, 0), number: int = 1, **options: object) -> EngineTable:
    """A match with these stars in the running manche, its next round dealt."""
    table = EngineTable(COCHON, seats=len(stars), **options)  # type: ignore[arg-type]
    table.state = table.state._replace(manche=Manche(number, stars), totals=totals)
    return table


def win(table: EngineTable, seat: int) -> None:
    """Let this seat go out."""
    hands = ["3-4"] * table.rules.seats
    hands[seat] = "1-2"
    table.lay("1-3")
    table.put(*hands)
    table.state = table.state._replace(turn=seat)
    table.play("1-2")


def test_17_1_three_or_four_alone_with_seven_tiles_and_the_others_asleep() -> None:
    assert_players(COCHON, 3, 4)
    for seats in (3, 4):
        table = EngineTable(COCHON, seats=seats)
        assert table.held == [7] * seats
        assert (len(table.state.stock), table.rules.drawable(table.state)) == (28 - 7 * seats, 0)


@pytest.mark.parametrize(
    ("stars", "winner", "left", "scores", "ended"),
    [
        ((2, 0, 0), 0, (3, 0, 0), (3, -1, -1), "won"),
        ((2, 1, 0), 0, (3, 1, 0), (2, 0, -1), "won"),
        ((2, 2, 0), 2, (2, 2, 1), (0, 0, 1), "chiree"),
        ((1, 1, 0), 0, (2, 1, 0), (1, 0, 0), None),
        ((2, 1, 1, 0), 1, (2, 2, 1, 0), (0, 1, 0, 0), None),
    ],
)
def test_worked_17a_stars_points_and_the_end_of_a_manche(
    stars: tuple[int, ...], winner: int, left: tuple[int, ...], scores: tuple[int, ...], ended: Any
) -> None:
    table = standing(*stars, totals=(0,) * len(stars))
    win(table, winner)
    assert (table.counted.manche, table.counted.scores) == (Manche(1, left, ended), scores)
    assert table.state.manche is not None
    running = Manche(2, (0,) * len(stars)) if ended else Manche(1, left)
    assert table.state.manche.running() == running
    table.do(0, "deal")
    assert len(table.legal()) == (1 if ended else 7)
    assert ended or table.turn == winner


def test_worked_17b_three_blocked_rounds_make_two_pigs() -> None:
    table = EngineTable(COCHON, *LOW, stock=ASLEEP, later=[LOW, LOW])
    for number in range(3):
        table.play("6-6")
        assert (table.counted.ended_by, table.counted.winner) == ("blocked", 0)
        if number < 2:
            table.do(1, "deal")
            assert len(table.legal()) == 7
    assert table.state.totals == (5, -1, -1)
    assert table.counted.lines == (
        ScoreLine(0, 1, "17.4", "1"),
        ScoreLine(0, 2, "17.6", "cochon × 2"),
        ScoreLine(1, -1, "17.6", "cochon −1"),
        ScoreLine(2, -1, "17.6", "cochon −1"),
    )


@pytest.mark.parametrize("blocked", ["under_six", "nobody"])
def test_worked_17b_a_blocked_round_for_nobody_and_the_six_leads_again(blocked: str) -> None:
    table = EngineTable(COCHON, *LOW, stock=ASLEEP, later=[LOW], blocked=blocked)
    table.play("6-6")
    assert (table.counted.winner, table.state.totals, table.counted.manche) == (None, (0, 0, 0), Manche(1, (0, 0, 0)))
    table.do(0, "deal")
    assert table.legal() == {"6-6"}


@pytest.mark.parametrize(
    ("blocked", "hands", "winner"),
    [
        ("under_six", ("6-6 2-3", "5-5", "4-4"), 0),
        ("under_six", ("6-6 2-4", "5-5", "4-4"), None),
        ("lightest", ("6-6 2-4", "5-5", "4-4"), 0),
        ("lightest", ("6-6 2-3", "0-5", "4-4"), None),
    ],
)
def test_17_3_who_alone_has_the_fewest_pips(blocked: str, hands: tuple[str, ...], winner: int | None) -> None:
    table = EngineTable(COCHON, *LOW, stock=ASLEEP, blocked=blocked)
    table.put(*hands)
    table.play("6-6")
    assert table.counted.winner == winner


@pytest.mark.parametrize(
    ("options", "number", "totals", "over"),
    [
        ({}, 2, (9, 0, 0), False),
        ({}, 3, (0, 0, 0), True),
        ({"target": 1}, 1, (0, 2, 0), False),
        ({"match": "score"}, 9, (18, 0, 0), True),
        ({"match": "score"}, 9, (17, 0, 0), False),
    ],
)
def test_17_7_over_at_the_end_of_a_manche_if_one_alone_is_ahead(
    options: dict[str, object], number: int, totals: tuple[int, ...], over: bool
) -> None:
    """Seat 0 wins the manche with 2 to 1 to 0: 2 points for it, and −1 for seat 2; in the third case 2 to 2."""
    table = standing(2, 1, 0, totals=totals, number=number, **options)
    win(table, 0)
    assert (table.state.phase == FINISHED) == over
    assert table.state.winners == ((0,) if over else ())


def test_worked_17c_equal_totals_are_played_off_in_a_whole_manche() -> None:
    table = standing(2, 1, 0, totals=(1, 3, 0), target=1)
    win(table, 0)
    assert (table.state.totals, table.state.winners) == ((3, 3, -1), ())
    table.do(0, "deal")
    win(table, 0)
    assert (table.state.totals, table.state.winners) == ((4, 3, -1), ())  # not before the end of the manche


@pytest.mark.parametrize(
    ("stars", "worth"),
    [((0, 0, 0), (0, 0, 0)), ((2, 1, 0), (4 / 9, 1 / 9, -5 / 9)), ((2, 0, 0), (26 / 27, -13 / 27, -13 / 27))],
)
def test_17_6_what_stars_are_worth_to_equal_players(stars: tuple[int, ...], worth: tuple[float, ...]) -> None:
    table = standing(*stars)
    assert table.rules.prospects is not None
    assert table.rules.prospects(table.state) == pytest.approx(worth)


def test_17_7_a_match_is_over_after_a_thousand_rounds_at_the_latest() -> None:
    table = standing(0, 0, 0)
    table.state = table.state._replace(round=1000)
    win(table, 1)
    assert table.state.winners == (1,)
