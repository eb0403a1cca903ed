"""The worked examples of All Fives (rules 8) over HTTP: arranged deals whose play ends as the example does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Api, Table
from tests.api.deals import deal
from tests.api.notation import find_move, make_moves
from tests.api.worked import Worked, deal_last, last_round, left_in, make_scoring_move, play_out, totals, values
from tests.support.table import seat_to_move

ALL_FIVES = "all-fives"

Play = tuple[tuple[str, int, int], ...]


def check_points(api: Api, hands: tuple[str, ...], play: Play, **rules: Any) -> Table:
    """Make these moves, seat 0 first, each with the sum of the ends after it and its points."""
    rules = {"opening": "rotate", **rules}
    table = api.create(ALL_FIVES, 2, deals=[deal(ALL_FIVES, *hands, **rules)], rules=rules)
    for text, ends_sum, points in play:
        assert make_scoring_move(api, table, text) == (ends_sum, points)
        board = api.view(table)["board"]
        assert sum(end["counts"] for end in board["ends"]) == board["ends_sum"] == ends_sum
    return table


def ends(api: Api, table: Table, tile: str) -> list[tuple[str, str, bool]]:
    """The free sides of a tile, each with its state and whether it is open, sorted."""
    listed = api.view(table)["board"]["ends"]
    return sorted((end["side"], end["state"], end["open"]) for end in listed if end["tile"] == tile)


def test_worked_8a(api: Api) -> None:
    play = (
        ("5-5", 10, 10),
        ("2-5@5-5.long", 12, 0),
        ("3-5@5-5.long", 5, 5),
        ("0-5@5-5.short", 5, 5),
        ("5-6@5-5.short", 11, 0),
        ("6-6@5-6", 17, 0),
        ("3-3@3-5", 20, 20),
        ("0-0@0-5", 20, 20),
    )
    table = check_points(api, ("5-5 3-5 5-6 3-3 …", "2-5 0-5 6-6 0-0 …"), play)
    assert totals(api.view(table)) == [10 + 5 + 20, 5 + 20]


def test_worked_8a_the_short_sides_open_when_both_long_sides_are_covered(api: Api) -> None:
    table = check_points(api, ("5-5 3-5 …", "2-5 …"), (("5-5", 10, 10), ("2-5@5-5.long", 12, 0)))
    gated = ("short", "gated", False)
    assert ends(api, table, "5-5") == [("long", "open", True), gated, gated]
    shut = next(end["id"] for end in api.view(table)["board"]["ends"] if not end["open"])
    refused = api.move(table, 0, {"action": "play", "tile": "3-5", "end": shut})
    assert (refused.status_code, refused.get_json()["code"]) == (409, "illegal_move")
    make_moves(api, table, "3-5@5-5.long")
    assert ends(api, table, "5-5") == [("short", "open", True)] * 2


def test_worked_8b(api: Api) -> None:
    """2-3 → 5, 5 points · 3-3 → 8 · 3-4 → 6 · 1-3 on a short side → 7 · 3-6 on the other → 13."""
    hands = ("2-3 3-4 3-6 …", "3-3 1-3 …")
    play = (
        ("2-3", 5, 5),
        ("3-3@2-3", 8, 0),
        ("3-4@3-3.long", 6, 0),
        ("1-3@3-3.short", 7, 0),
        ("3-6@3-3.short", 13, 0),
    )
    check_points(api, hands, play)
    table = check_points(api, hands, play[:2])
    gated = ("short", "gated", False)
    assert ends(api, table, "3-3") == [("long", "open", True), gated, gated]


def test_worked_8c(api: Api) -> None:
    """5-5 → 10, 10 points · 2-5 right → 12 · 3-5 left → 5, 5 points · 3-3 left → 8; a further 5-x fits nowhere."""
    play = (("5-5", 10, 10), ("2-5@right", 12, 0), ("3-5@left", 5, 5), ("3-3@left", 8, 0))
    table = check_points(api, ("5-5 3-5 5-6 …", "2-5 3-3 …"), play, spinner="none")
    assert [end["id"] for end in api.view(table)["board"]["ends"]] == ["left", "right"]
    assert "5-6" not in [move.get("tile") for move in api.moves(table, 0)]


# 8d

LEFT_28 = Worked(
    (
        "0-5 1-2 1-3 2-5 2-6 5-6 6-6",
        "0-2 1-4 1-5 2-3 2-4 3-5 4-5",
    ),
    "6-6 draw draw draw draw draw 3-6@e2 5-6@e1 3-3@e5 1-3@e7 4-5@e6 2-6@e3 1-4@e9 1-2@e10 1-5@e11 2-5@e13 "
    "2-3@e14 draw 0-1@e12 3-4@e15 0-5@e16",
    "4-4 3-3 3-4 0-4 3-6 0-1 2-2 1-1 4-6 1-6 0-0 5-5 0-3 0-6",
)
LEFT_3 = Worked(
    (
        "0-2 1-2 1-4 2-3 2-5 3-6 4-4",
        "0-0 0-3 1-6 2-2 4-5 5-6 6-6",
    ),
    "6-6 3-6@e1 1-6@e2 2-3@e5 5-6@e4 1-2@e7 4-5@e8 1-4@e6 draw 0-1@e9 4-4@e10 0-0@e12 0-2@e14 2-2@e15 2-5@e16",
    "0-1 2-6 0-6 1-3 0-4 3-3 4-6 5-5 1-1 2-4 3-5 3-4 1-5 0-5",
)
LEFT_2 = Worked(
    (
        "0-5 0-6 2-2 2-3 3-3 4-5 6-6",
        "0-0 0-2 0-4 1-1 1-3 2-4 2-5",
    ),
    "6-6 draw 1-6@e2 0-6@e1 0-2@e6 2-2@e7 1-3@e5 3-3@e9 2-4@e8 2-3@e10 2-5@e12 4-5@e13 0-4@e11 0-5@e15",
    "1-6 1-2 5-6 3-5 4-4 5-5 3-4 0-3 3-6 1-4 4-6 1-5 2-6 0-1",
)
LEFT_7 = Worked(
    (
        "0-0 1-2 2-3 2-4 3-3 3-4 4-6",
        "0-3 0-4 0-6 1-4 2-5 3-5 5-6",
    ),
    "3-3 0-3@e1 0-0@e5 0-6@e6 2-3@e2 3-5@e4 3-4@e3 5-6@e9 4-6@e11 0-4@e10 2-4@e8 1-4@e12 1-2@e15",
    "0-2 6-6 1-3 1-6 5-5 4-4 2-2 0-1 2-6 1-1 0-5 3-6 1-5 4-5",
)
LEFT_8 = Worked(
    (
        "1-1 1-5 1-6 2-4 3-5 4-6 5-5",
        "0-4 0-5 0-6 1-4 3-4 4-4 5-6",
    ),
    "5-5 5-6@e2 3-5@e1 0-5@e4 4-6@e5 1-4@e8 1-6@e9 0-6@e10 1-5@e3 3-4@e6 2-4@e13 0-4@e7 1-1@e12",
    "2-6 0-0 1-2 0-3 1-3 2-3 0-1 3-6 4-5 2-2 0-2 3-3 2-5 6-6",
)


@pytest.mark.parametrize(
    ("worked", "left", "points"),
    [(LEFT_28, 28, 30), (LEFT_3, 3, 5), (LEFT_2, 2, 0), (LEFT_7, 7, 5), (LEFT_8, 8, 10)],
    ids=["28", "3", "2", "7", "8"],
)
def test_worked_8d(api: Api, worked: Worked, left: int, points: int) -> None:
    """28 → 30; 3 → 5; 2 → 0; 7 → 5; 8 → 10."""
    counted = last_round(api, play_out(api, ALL_FIVES, worked))
    assert (counted["ended_by"], counted["winner"], values(counted)) == ("out", 0, [0, left])
    line = counted["lines"][-1]
    assert (line["seat"], line["rule"], line["points"]) == (0, "8.9", points)


LEFT_27 = Worked(
    (
        "1-1 1-3 1-4 3-3 3-6",
        "0-2 0-3 2-5 3-4 4-6",
        "0-1 2-4 3-5 5-6 6-6",
    ),
    "1-1 draw 1-2@e1 0-1@e2 1-3@e4 3-4@e7 2-4@e5 1-4@e8 0-2@e6 draw draw 4-4@e9 draw 2-3@e11 0-3@e13 0-6@e14 "
    "3-6@e15 4-6@e12 5-6@e17 3-3@e16",
    "1-2 0-6 4-4 2-3 1-6 2-2 0-5 4-5 0-0 5-5 0-4 2-6 1-5",
)


def test_worked_8d_added_up_and_then_rounded(api: Api) -> None:
    """Left with 2-5, 6-6, 3-5 = 27 → 25."""
    counted = last_round(api, play_out(api, ALL_FIVES, LEFT_27, opening="rotate"))
    assert (left_in(counted), values(counted)) == (["", "2-5", "3-5 6-6"], [0, 7, 20])
    assert counted["lines"][-1] == {"seat": 0, "points": 25, "rule": "8.9", "text": "7 + 20 → 25"}


THREE_TIMES_8 = Worked(
    (
        "1-1 2-4 4-6 5-6 6-6",
        "0-3 0-5 1-6 2-5 3-4",
        "0-0 0-6 1-5 3-5 3-6",
        "0-1 0-4 1-4 2-6 4-4",
    ),
    "6-6 1-6@e2 1-5@e5 2-6@e1 4-6@e3 2-5@e6 0-6@e4 0-1@e10 1-1@e11 3-4@e8 3-6@e13 1-4@e12 2-4@e7 draw 2-2@e9 draw "
    "0-2@e17 0-4@e15 5-6@e14",
    "2-2 0-2 3-3 1-2 5-5 2-3 1-3 4-5",
)


@pytest.mark.parametrize(("rounding", "points"), [("total", 25), ("each_hand", 30)])
def test_worked_8d_three_opponents(api: Api, rounding: str, points: int) -> None:
    """Three opponents with 8 each: 24 → 25; `each_hand`: 10 + 10 + 10 = 30."""
    counted = last_round(api, play_out(api, ALL_FIVES, THREE_TIMES_8, rounding=rounding))
    assert (counted["winner"], values(counted)) == (0, [0, 8, 8, 8])
    assert counted["lines"][-1]["points"] == points


# 8e

MATCH = (
    Worked(
        (
            "0-3 0-5 1-5 2-3 3-4 4-4 4-6",
            "0-0 1-6 2-2 3-3 4-5 5-5 5-6",
        ),
        "5-5 0-5@e1 0-0@e5 0-3@e6 5-6@e2 1-5@e4 4-5@e3 3-4@e7 1-6@e9 4-4@e11 draw draw 2-6@e8 4-6@e12 2-2@e14 2-3@e16",
        "0-2 2-6 1-2 3-5 3-6 1-3 0-6 1-4 0-4 6-6 1-1 0-1 2-4 2-5",
    ),
    Worked(
        (
            "0-0 0-1 0-2 0-5 2-2 3-4 3-5",
            "0-4 0-6 1-3 2-4 2-5 2-6 5-6",
        ),
        "2-2 2-6@e2 0-2@e1 2-4@e4 0-5@e6 2-5@e3 3-4@e7 0-6@e5 3-5@e10 5-6@e8 0-0@e11 0-4@e14 draw 4-6@e15 draw "
        "4-5@e12 draw 4-4@e17 draw draw draw 1-6@e16 0-1@e19",
        "4-6 4-5 4-4 3-3 1-2 1-6 2-3 5-5 1-5 1-4 0-3 3-6 1-1 6-6",
    ),
    Worked(
        (
            "0-3 0-5 1-4 2-5 3-5 4-6 5-5",
            "1-1 1-3 1-5 1-6 2-6 3-4 6-6",
        ),
        "6-6 4-6@e1 1-6@e2 1-4@e5 1-3@e7 3-5@e8 2-6@e4 2-5@e10 1-5@e6 5-5@e12 draw draw draw draw 5-6@e3 0-5@e11 "
        "0-1@e15 draw draw draw 4-5@e9 1-1@e16 draw 4-4@e17 3-4@e19 3-6@e20 1-2@e18 2-2@e22 0-2@e23",
        "0-2 1-2 0-1 5-6 3-6 2-2 4-5 4-4 2-4 0-4 2-3 0-0 0-6 3-3",
    ),
    Worked(
        (
            "0-2 0-3 2-3 2-4 2-5 3-4 3-5",
            "1-2 1-4 2-2 2-6 4-5 5-5 6-6",
        ),
        "6-6 draw 3-6@e2 2-6@e1 0-3@e5 1-2@e6 0-2@e7 1-4@e8 2-3@e9 4-5@e10 3-5@e11 5-5@e13 2-5@e12 2-2@e15",
        "3-6 1-1 4-4 4-6 0-1 0-6 0-0 0-5 1-3 5-6 0-4 1-5 3-3 1-6",
    ),
)


def before_the_scoring_of_a(api: Api, **rules: Any) -> tuple[Table, list[str]]:
    """The last round before seat 0 scores 10 at 240, and the moves that follow."""
    table = deal_last(api, ALL_FIVES, *MATCH, opening="highest_double", **rules)
    moves = MATCH[-1].play.split()
    while totals(api.view(table)) != [240, 235] or not find_move(api, table, moves[0]).get("points"):
        make_moves(api, table, moves.pop(0))
    return table, moves


def test_worked_8e(api: Api) -> None:
    """A places for 10: 250, the round goes on. B then places for 15 (250) and goes out; A holds 13 → 265: B wins."""
    table, moves = before_the_scoring_of_a(api)
    assert make_scoring_move(api, table, moves[0])[1] == 10
    assert totals(api.view(table)) == [250, 235]
    assert [make_scoring_move(api, table, text)[1] for text in moves[1:]] == [15, *[0] * (len(moves) - 2)]
    counted, view = last_round(api, table), api.view(table)
    assert (counted["ended_by"], counted["winner"], values(counted)) == ("out", 1, [13, 0])
    assert counted["lines"][-1] == {"seat": 1, "points": 15, "rule": "8.9", "text": "13 → 15"}
    assert (view["status"], view["winners"], totals(view)) == ("finished", [1], [250, 265])


def test_worked_8e_at_once(api: Api) -> None:
    """A places for 10: 250, A has won."""
    table, moves = before_the_scoring_of_a(api, finish="at_once")
    assert make_scoring_move(api, table, moves[0])[1] == 10
    counted, view = last_round(api, table), api.view(table)
    assert (counted["ended_by"], counted["winner"]) == ("target", 0)
    assert (view["status"], view["winners"], totals(view)) == ("finished", [0], [250, 235])


# 8f

TEAMS = (
    Worked(
        (
            "0-1 1-4 2-4 5-6 6-6",
            "0-3 1-2 2-3 2-6 4-6",
            "0-0 2-5 3-4 3-6 4-4",
            "0-5 1-1 3-3 4-5 5-5",
        ),
        "6-6 2-6@e2 3-6@e1 3-3@e6 2-4@e5 4-6@e4 4-4@e8 4-5@e10 5-6@e3 0-3@e7 0-0@e13 5-5@e12 0-1@e14 1-2@e16 3-4@e9 "
        "0-5@e11 draw 0-6@e19 2-3@e18",
        "0-6 0-4 0-2 1-6 2-2 1-3 3-5 1-5",
    ),
    Worked(
        (
            "0-1 1-4 2-4 5-6 6-6",
            "0-3 1-2 2-3 2-6 4-6",
            "0-0 2-5 3-4 3-6 4-4",
            "0-5 1-1 3-3 4-5 5-5",
        ),
        "6-6 2-6@e2 3-6@e1 3-3@e6 2-4@e5 4-6@e4 4-4@e8 4-5@e10 5-6@e3 0-3@e7 0-0@e13 5-5@e12 0-1@e14 1-2@e16 3-4@e9 "
        "0-5@e11 draw 0-6@e19 2-3@e18",
        "0-6 0-4 0-2 1-6 2-2 1-3 3-5 1-5",
    ),
    Worked(
        (
            "0-2 0-4 1-3 1-6 5-5",
            "0-0 2-2 2-5 3-4 4-5",
            "1-1 1-4 3-5 4-4 4-6",
            "0-3 0-5 1-2 1-5 2-4",
        ),
        "5-5 2-5@e2 3-5@e1 1-5@e3 1-6@e7 2-2@e5 4-6@e8 0-5@e4 1-3@e6 3-4@e10 1-1@e12 1-2@e9 0-4@e11 4-5@e16 1-4@e15 "
        "0-3@e13 0-2@e19",
        "3-6 2-3 2-6 3-3 0-6 6-6 5-6 0-1",
    ),
    Worked(
        (
            "1-4 2-4 2-5 3-3 6-6",
            "0-0 0-1 4-5 4-6 5-5",
            "0-4 1-2 3-5 3-6 4-4",
            "0-3 0-6 1-1 1-3 1-6",
        ),
        "6-6 4-6@e1 4-4@e5 1-6@e2 1-4@e6 0-1@e8 0-4@e9 1-1@e7 2-4@e10 draw 5-6@e4 3-5@e13 1-3@e11 2-5@e12 5-5@e16 "
        "3-6@e15 0-6@e18 3-3@e14",
        "5-6 3-4 1-5 2-6 2-3 0-2 2-2 0-5",
    ),
)


def test_worked_8f(api: Api) -> None:
    """Teams at 180 and 120; seat 2 scores 20 with a tile: seats 0 and 2 both show 200 at once."""
    table = deal_last(api, ALL_FIVES, *TEAMS, opening="highest_double", teams=2)
    first, second, third = TEAMS[-1].play.split()[:3]
    make_moves(api, table, first, second)
    assert totals(api.view(table)) == [180, 120, 180, 120]
    assert seat_to_move(api.view(table)) == 2
    assert make_scoring_move(api, table, third) == (20, 20)
    view = api.view(table)
    assert (view["status"], totals(view)) == ("playing", [200, 120, 200, 120])
