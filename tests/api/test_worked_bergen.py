"""The worked examples of Bergen (rules 15) over HTTP: arranged deals whose play ends as the example does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Api
from tests.api.deals import deal
from tests.api.worked import Worked, last_round, left_in, make_scoring_move, play_out, totals

BERGEN = "bergen"


def check_points(api: Api, hands: tuple[str, ...], play: tuple[tuple[str, int], ...], **rules: Any) -> list[int]:
    """Make these moves, each with its points and without a sum of the ends; the totals after them."""
    table = api.create(BERGEN, 2, deals=[deal(BERGEN, *hands, **rules)], rules=rules)
    for text, points in play:
        assert make_scoring_move(api, table, text) == (None, points)
    return totals(api.view(table))


def test_worked_15a(api: Api) -> None:
    """1-1: 2 · 1-4 right: 0 · 3-4 right: 0 · 1-3 right: 3 · 1-5 left: 0 · 1-6 right: 0 · 5-6 left: 2 · 6-6 left: 3."""
    play = (
        ("1-1", 2),
        ("1-4@right", 0),
        ("3-4@right", 0),
        ("1-3@right", 3),
        ("1-5@left", 0),
        ("1-6@right", 0),
        ("5-6@left", 2),
        ("6-6@left", 3),
    )
    hands = ("1-1 3-4 1-5 5-6 2-2 2-3", "1-4 1-3 1-6 6-6 2-4 2-5")
    assert check_points(api, hands, play) == [2 + 2, 3 + 3]


def test_worked_15b(api: Api) -> None:
    """6-6: 2 · 2-6 right: 0 · 4-6 left: 0 · 2-4 left: 2 · 2-2 right: 3, with the highest double as lead."""
    play = (("6-6", 2), ("2-6@right", 0), ("4-6@left", 0), ("2-4@left", 2), ("2-2@right", 3))
    hands = ("6-6 4-6 2-2 0-0 0-1 0-2", "2-6 2-4 1-1 1-3 1-4 1-5")
    assert check_points(api, hands, play, opening="highest_double") == [2 + 3, 2]


# 15c

LAST_TILE = Worked(
    (
        "0-1 1-4 1-5 4-4 4-5 5-6",
        "0-5 1-3 2-2 2-6 3-4 6-6",
    ),
    "2-2 draw 2-5@left 2-6@right 4-5@left 6-6@right 5-6@right 0-5@right 4-4@left 3-4@left 0-1@right 1-3@right",
    "2-5 0-0 1-1 3-6 0-6 1-6 3-5 2-3 2-4 0-3 1-2 0-2 4-6 5-5 3-3 0-4",
)
LAST_DOUBLE = Worked(
    (
        "1-3 1-5 2-3 3-4 4-5 5-5",
        "1-4 2-2 2-6 4-4 4-6 6-6",
    ),
    "2-2 2-3@right 2-6@left 3-4@right 1-4@right 1-5@right 6-6@left 5-5@right 4-6@left 4-5@right 4-4@left",
    "1-1 5-6 3-5 0-2 3-3 0-0 2-5 1-2 0-6 1-6 2-4 3-6 0-3 0-1 0-5 0-4",
)


@pytest.mark.parametrize(
    ("worked", "bonus", "points"),
    [(LAST_TILE, 1, 2 + 1), (LAST_DOUBLE, 1, 3 + 1), (LAST_TILE, 2, 2 + 2), (LAST_DOUBLE, 2, 3 + 2)],
    ids=["equal ends", "a double", "equal ends, bonus 2", "a double, bonus 2"],
)
def test_worked_15c(api: Api, worked: Worked, bonus: int, points: int) -> None:
    """A last tile that makes the ends equal: 2 + 1 = 3; with a double 3 + 1 = 4; with `bonus` 2: 4 and 5."""
    counted = last_round(api, play_out(api, BERGEN, worked, bonus=bonus))
    assert (counted["ended_by"], counted["winner"]) == ("out", 1)
    last, out = counted["lines"][-2:]
    assert (last["seat"], last["rule"], out["seat"], out["rule"]) == (1, "15.5", 1, "15.7")
    assert last["points"] + out["points"] == points


# 15d

WITHOUT_DOUBLES = Worked(
    (
        "0-0 0-1 0-6 1-1 2-2 2-5",
        "1-3 1-4 2-3 2-4 3-6 6-6",
    ),
    "0-0 draw 0-5@right 0-6@left 6-6@left 2-5@right 2-4@right draw draw 5-6@left 1-4@right 1-1@right 1-3@right "
    "draw draw draw 5-5@left 2-3@right 1-2@right draw draw draw 4-5@left 0-4@left draw draw draw 1-5@right "
    "0-2@left 2-6@left draw draw 3-5@right 4-6@left 3-3@right 3-4@right pass 4-4@left",
    "0-5 0-2 5-6 0-4 1-2 5-5 2-6 4-4 4-5 4-6 3-4 1-5 3-3 3-5 0-3 1-6",
)
ALL_WITH_DOUBLES = Worked(
    (
        "0-1 0-3 1-2 2-2 2-3 6-6",
        "0-0 0-5 2-4 3-6 4-4 5-5",
    ),
    "0-0 0-3@right 3-6@right 6-6@right 0-5@left draw 4-5@left 4-4@left draw draw 0-4@left draw 0-2@left 2-3@left "
    "draw 4-6@right draw draw 3-4@right draw 3-5@left 2-5@left 2-4@left draw draw draw draw 1-4@left draw draw "
    "3-3@right 1-1@left pass 1-6@left 5-6@left 1-5@left pass 1-2@left pass 2-6@left",
    "4-5 1-5 0-4 0-2 4-6 2-5 3-4 3-5 1-1 2-6 1-6 1-4 5-6 3-3 1-3 0-6",
)


@pytest.mark.parametrize(("blocked", "winner"), [("lightest", 0), ("no_doubles", 1)])
def test_worked_15d_a_hand_without_doubles(api: Api, blocked: str, winner: int) -> None:
    """A {2-2, 0-1} = 5, B {3-6} = 9: `lightest` A, `no_doubles` B."""
    counted = last_round(api, play_out(api, BERGEN, WITHOUT_DOUBLES, blocked=blocked))
    assert (counted["ended_by"], "winner" in counted) == ("blocked", False)
    assert left_in(counted) == ["0-1 2-2", "3-6"]
    assert [(line["seat"], line["points"]) for line in counted["lines"] if line["rule"] == "15.8"] == [(winner, 1)]


@pytest.mark.parametrize(("blocked", "winner"), [("lightest", 0), ("no_doubles", 1)])
def test_worked_15d_no_hand_without_doubles(api: Api, blocked: str, winner: int) -> None:
    """A {2-2, 0-1}, B {5-5}: `lightest` A (5 to 10), `no_doubles` B (0 to 1)."""
    counted = last_round(api, play_out(api, BERGEN, ALL_WITH_DOUBLES, blocked=blocked))
    assert (counted["ended_by"], "winner" in counted) == ("blocked", False)
    assert left_in(counted) == ["0-1 2-2", "5-5"]
    assert [(line["seat"], line["points"]) for line in counted["lines"] if line["rule"] == "15.8"] == [(winner, 1)]


# 15e

THREE_ROUNDS = (
    Worked(
        (
            "0-0 0-6 1-2 4-5 5-6 6-6",
            "0-1 1-5 1-6 2-5 3-5 4-6",
        ),
        "0-0 0-1@right 0-6@left 4-6@left 4-5@left 2-5@left 1-2@left 1-5@right 5-6@right 1-6@left 6-6@right",
        "4-4 1-1 3-3 2-2 1-3 0-5 3-4 5-5 2-6 0-3 2-4 2-3 1-4 3-6 0-2 0-4",
    ),
    Worked(
        (
            "0-6 1-4 2-4 3-5 4-5 4-6",
            "1-2 2-2 3-3 3-6 4-4 5-5",
        ),
        "2-2 2-4@left 1-2@right 1-4@right 4-4@left 4-6@left 3-6@left 4-5@right 3-3@left 3-5@left 5-5@left",
        "5-6 1-3 1-1 2-6 0-1 0-2 0-0 0-3 0-5 3-4 2-3 6-6 0-4 2-5 1-5 1-6",
    ),
    Worked(
        (
            "2-3 3-4 3-5 4-4 4-5 4-6",
            "0-0 0-4 1-2 1-5 2-2 6-6",
        ),
        "0-0 draw 0-1@left 0-4@right 4-6@right 6-6@right draw 1-6@right 1-5@left 3-5@left 1-2@right 2-3@left 2-2@right",
        "0-1 1-6 3-6 5-6 1-3 0-3 0-6 0-5 1-4 2-5 2-4 0-2 1-1 5-5 3-3 2-6",
    ),
)


def test_worked_15e(api: Api) -> None:
    """A at 14 makes equal ends: 16, the round goes on. B at 13 goes out with a triple-heading: 17 wins."""
    table = play_out(api, BERGEN, *THREE_ROUNDS)
    view = api.view(table)
    assert (view["status"], view["winners"], totals(view)) == ("finished", [1], [16, 17])
    lines = [(line["seat"], line["points"]) for line in last_round(api, table)["lines"]]
    assert lines[-3:] == [(0, 2), (1, 3), (1, 1)]
    before = [sum(points for seat, points in lines[-3:] if seat == each) for each in range(2)]
    assert [total - points for total, points in zip(totals(view), before, strict=True)] == [14, 13]
