"""The worked examples of Fives and Threes (rules 9) over HTTP: arranged deals whose play ends as the example does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Api, Table
from tests.api.deals import deal
from tests.api.notation import make_moves
from tests.api.worked import Worked, deal_last, last_round, make_scoring_move, totals
from tests.support.table import seat_to_move

FIVES = "fives-and-threes"


def check_points(api: Api, hands: tuple[str, ...], play: tuple[tuple[str, int, int], ...]) -> list[int]:
    """Make these moves, each with the sum of the ends after it and its points; the totals after them."""
    table = api.create(FIVES, 2, deals=[deal(FIVES, *hands)])
    for text, ends_sum, points in play:
        assert make_scoring_move(api, table, text) == (ends_sum, points)
    return totals(api.view(table))


def test_worked_9a(api: Api) -> None:
    """5-6 → 11, 0 · 1-6 on the 6 → 6, 2 points · 1-5 on the 1 → 10, 2 · 5-5 on the right 5 → 15, 8 points."""
    play = (("5-6", 11, 0), ("1-6@right", 6, 2), ("1-5@right", 10, 2), ("5-5@right", 15, 8))
    assert check_points(api, ("5-6 1-5 …", "1-6 5-5 …"), play) == [2, 2 + 8]


def test_worked_9b(api: Api) -> None:
    """6-6 → 12, 4 points · 3-6 left → 15, 8 points · 0-6 right → 3, 1 point."""
    play = (("6-6", 12, 4), ("3-6@left", 15, 8), ("0-6@right", 3, 1))
    assert check_points(api, ("6-6 0-6 …", "3-6 …"), play) == [4 + 1, 8]


# 9c

FIRST_ROUND = Worked(
    (
        "0-2 0-4 0-5 1-4 2-5 2-6 3-5",
        "0-6 1-6 2-3 2-4 4-4 4-6 5-5",
    ),
    "5-5 2-5@right 2-3@right 3-5@right pass 0-5@right 0-6@right 2-6@right 2-4@right 0-4@right pass 0-2@right",
    "2-2 3-3 1-3 4-5 1-5 0-1 3-6 5-6 0-0 6-6 1-2 0-3 1-1 3-4",
)
SECOND_ROUND = Worked(
    (
        "0-4 0-5 1-5 3-3 3-5 3-6 6-6",
        "0-1 1-1 2-2 2-3 2-4 3-4 5-5",
    ),
    "6-6 pass 3-6@right 3-4@right 0-4@right 0-1@right 1-5@right 5-5@right 3-5@right 2-3@right pass 2-4@right",
    "5-6 4-4 2-6 4-6 4-5 0-2 1-4 1-2 0-0 0-3 2-5 1-6 1-3 0-6",
)
COUNT_OF_TWELVE = Worked(
    (
        "0-0 0-2 0-4 1-5 3-6 4-6 5-5",
        "0-5 1-2 2-3 3-3 4-5 5-6 6-6",
    ),
    "6-6 3-6@right 3-3@right 4-6@left 2-3@right 0-4@left 0-5@left 5-5@left 4-5@left 0-2@right pass 0-0@right",
    "2-6 3-5 1-4 1-3 1-6 2-2 2-5 0-3 0-6 1-1 4-4 3-4 0-1 2-4",
)
LAST_TILE_SIX = Worked(
    (
        "0-1 0-5 1-6 2-5 3-5 4-6 6-6",
        "0-4 0-6 1-1 1-3 2-3 3-6 4-4",
    ),
    "6-6 3-6@right 1-6@left 2-3@right 2-5@right 1-3@left 0-5@right 0-4@right 4-6@right 0-6@right 3-5@left pass "
    "0-1@right",
    "3-3 1-2 5-5 1-4 2-4 2-2 5-6 1-5 0-2 0-3 4-5 3-4 2-6 0-0",
)
LAST_TILE_SEVEN = Worked(
    (
        "0-2 0-4 0-6 1-2 3-3 3-6 6-6",
        "0-0 0-1 1-6 2-5 2-6 4-5 4-6",
    ),
    "6-6 1-6@left 3-6@right 0-1@left 3-3@right 0-0@left 0-2@left 2-5@left pass 4-5@left 0-4@left pass 0-6@left "
    "2-6@left 1-2@left",
    "5-5 2-3 0-3 1-4 2-2 1-1 5-6 2-4 1-3 3-5 4-4 1-5 0-5 3-4",
)
"""After the first two rounds the totals are 48 and 2."""

TWELVE = 7
"""The move of the third round that makes 12."""


def before_the_last_tile(api: Api, worked: Worked, moves: int, **rules: Any) -> Table:
    """The third round after so many moves."""
    table = deal_last(api, FIVES, FIRST_ROUND, SECOND_ROUND, worked, opening="highest_double", **rules)
    make_moves(api, table, " ".join(worked.play.split()[:moves]))
    return table


def test_worked_9c_a_score_over_the_target_is_not_written(api: Api) -> None:
    """At 58 a count of 12 (4) is not written: 58."""
    table = before_the_last_tile(api, COUNT_OF_TWELVE, TWELVE)
    assert totals(api.view(table))[0] == 58
    assert make_scoring_move(api, table, COUNT_OF_TWELVE.play.split()[TWELVE]) == (12, 0)
    assert totals(api.view(table))[0] == 58
    assert api.view(table)["status"] != "finished"


def test_worked_9c_with_exact_false_it_wins(api: Api) -> None:
    """With `exact` false 58 + 4 = 62 wins."""
    table = before_the_last_tile(api, COUNT_OF_TWELVE, TWELVE, exact=False)
    assert make_scoring_move(api, table, COUNT_OF_TWELVE.play.split()[TWELVE]) == (12, 4)
    view = api.view(table)
    assert (view["status"], view["winners"], totals(view)[0]) == ("finished", [0], 62)
    assert (last_round(api, table)["ended_by"], last_round(api, table)["winner"]) == ("target", 0)


def test_worked_9c_a_last_tile_over_the_target(api: Api) -> None:
    """At 59 a last tile that makes 6 is 2 + 1 = 3: not written, 59, and the round ends `out`."""
    moves = LAST_TILE_SIX.play.split()
    table = before_the_last_tile(api, LAST_TILE_SIX, len(moves) - 1)
    assert totals(api.view(table))[0] == 59
    assert make_scoring_move(api, table, moves[-1]) == (6, 0)
    view = api.view(table)
    assert (view["status"], totals(view)[0]) == ("round_over", 59)
    assert (last_round(api, table)["ended_by"], last_round(api, table)["winner"]) == ("out", 0)


def test_worked_9c_a_last_tile_to_the_target(api: Api) -> None:
    """At 60 a last tile that makes 7 is 0 + 1: 61, the match is won."""
    moves = LAST_TILE_SEVEN.play.split()
    table = before_the_last_tile(api, LAST_TILE_SEVEN, len(moves) - 1)
    assert totals(api.view(table))[0] == 60
    assert make_scoring_move(api, table, moves[-1]) == (7, 1)
    view = api.view(table)
    assert (view["status"], view["winners"], totals(view)[0]) == ("finished", [0], 61)
    counted = last_round(api, table)
    assert (counted["ended_by"], counted["winner"]) == ("target", 0)
    assert counted["lines"][-1] == {"seat": 0, "points": 1, "rule": "9.7", "text": "1"}


# 9d

SECOND_PARTNER_OUT = Worked(
    (
        "0-1 1-4 1-6 2-3 4-6",
        "0-3 2-6 4-4 5-6 6-6",
        "0-2 0-5 0-6 2-5 3-3",
        "0-0 0-4 1-5 2-4 4-5",
    ),
    "0-1 0-3@left 3-3@left 1-5@right 2-3@left 5-6@right 2-5@left 4-5@left 4-6@right 4-4@right pass 0-4@right "
    "1-4@left pass 0-2@right 2-4@right 1-6@left 6-6@left 0-6@left 0-0@left pass 0-5@left",
    "1-2 1-3 2-2 3-5 3-6 1-1 3-4 5-5",
)


def test_worked_9d(api: Api) -> None:
    """Seat 0 lays its last tile: 2, no chipping point; the others play on; seat 2 lays its last: 3 + 1 = 4."""
    table = deal_last(api, FIVES, SECOND_PARTNER_OUT, teams=2)
    moves = SECOND_PARTNER_OUT.play.split()
    last = max(at for at, text in enumerate(moves) if text.partition("@")[0] in SECOND_PARTNER_OUT.hands[0].split())
    make_moves(api, table, " ".join(moves[:last]))
    assert make_scoring_move(api, table, moves[last]) == (10, 2)
    assert api.view(table)["status"] == "playing"
    movers = []
    for text in moves[last + 1 : -1]:
        movers.append(seat_to_move(api.view(table)))
        make_moves(api, table, text)
    assert set(movers) == {1, 2, 3}
    assert make_scoring_move(api, table, moves[-1]) == (9, 4)
    counted = last_round(api, table)
    assert (counted["ended_by"], counted["winner"]) == ("out", 2)
    assert [(line["seat"], line["points"]) for line in counted["lines"][-4:]] == [(0, 2), (2, 2), (0, 4), (2, 4)]


# 9e


@pytest.mark.parametrize(
    ("hands", "play", "told"),
    [
        (("5-6 5-5 …", "6-6 …"), "5-6 6-6@right 5-5@left", (22, 0)),
        (("4-6 4-4 …", "6-6 …"), "4-6 6-6@right 4-4@left", (20, 4)),
    ],
    ids=["22", "20"],
)
def test_worked_9e(api: Api, hands: tuple[str, ...], play: str, told: tuple[int, int]) -> None:
    """The highest sum is 6-6 and 5-5: 22 → 0; 20 is 6-6 and 4-4 → 4."""
    table = api.create(FIVES, 2, deals=[deal(FIVES, *hands)])
    first, last = play.rsplit(" ", 1)
    make_moves(api, table, first)
    assert make_scoring_move(api, table, last) == told
