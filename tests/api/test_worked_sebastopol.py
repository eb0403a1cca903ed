"""The worked examples of Sebastopol (rules 12) over HTTP: the deals are arranged, the moves are data."""

from __future__ import annotations

import pytest

from tests.api.client import Api, Table
from tests.api.deals import deal
from tests.api.notation import make_moves
from tests.api.worked import Worked, last_round, play_out, totals, values

SEBASTOPOL = "sebastopol"

CROSS = ("2-6 5-6 6-6 …", "1-6 3-6 …", "3-4 3-5 …", "0-6 4-6 …")
"""The hands of 12a; seat 2 holds no six."""
OUT = Worked(
    (
        "0-3 0-5 2-3 2-4 2-5 3-5 5-5",
        "0-0 1-1 1-5 1-6 2-2 3-3 4-4",
        "0-1 0-2 1-2 1-3 3-6 4-6 5-6",
        "0-4 0-6 1-4 2-6 3-4 4-5 6-6",
    ),
    "6-6 pass 1-6@e4 4-6@e1 2-6@e2 pass pass 3-6@e3 3-4@e8 2-4@e6 1-5@e5 1-2@e10 1-4@e9 0-5@e11 2-2@e7 0-2@e15 "
    "0-4@e14 0-3@e16 3-3@e18 1-3@e19 4-5@e17 2-5@e21 1-1@e13 0-1@e23 0-6@e24",
)
TIED = Worked(
    (
        "0-0 0-1 0-2 0-3 0-4 1-4 5-6",
        "0-5 1-3 1-5 1-6 2-2 2-5 6-6",
        "0-6 1-1 2-4 3-4 3-6 4-4 4-6",
        "1-2 2-3 2-6 3-3 3-5 4-5 5-5",
    ),
    "6-6 0-6@e3 2-6@e2 5-6@e1 1-6@e4 2-4@e6 5-5@e7 0-1@e5 2-5@e10 4-4@e9 2-3@e12 0-3@e14 1-3@e11 4-6@e13 1-2@e8 "
    "0-2@e15 2-2@e19 3-6@e16",
)
BLOCKED = Worked(
    (
        "0-1 1-5 2-2 2-6 3-4 4-5 4-6",
        "0-0 0-5 1-3 1-4 2-4 4-4 5-5",
        "0-2 0-6 1-2 2-3 2-5 3-3 3-6",
        "0-3 0-4 1-1 1-6 3-5 5-6 6-6",
    ),
    "6-6 2-6@e4 pass 0-6@e2 1-6@e3 4-6@e1 1-4@e7 1-2@e5 0-4@e9 0-1@e6 0-0@e11 0-2@e13 1-1@e10 2-2@e14 1-3@e15 "
    "2-5@e16 0-3@e17 1-5@e12 0-5@e18 pass 5-6@e20 3-4@e8 pass 3-6@e23",
)
SCORES_55 = Worked(
    (
        "0-3 1-3 1-4 1-6 3-3 3-5 6-6",
        "0-2 0-5 0-6 1-2 1-5 2-3 3-4",
        "0-1 0-4 1-1 2-2 2-5 3-6 5-5",
        "0-0 2-4 2-6 4-4 4-5 4-6 5-6",
    ),
    "6-6 0-6@e4 3-6@e1 2-6@e3 1-6@e2 1-2@e7 0-1@e8 0-0@e10 0-3@e11 2-3@e12 2-2@e13 2-4@e14 3-3@e6 0-2@e5 "
    "0-4@e15 pass 1-3@e16 1-5@e19 2-5@e20 pass 1-4@e9 3-4@e22 pass pass 3-5@e23",
)
SCORES_30 = Worked(
    (
        "0-2 0-3 1-1 1-3 1-4 2-2 2-4",
        "1-5 2-3 3-5 4-5 4-6 5-5 6-6",
        "0-1 0-4 0-6 1-2 1-6 2-6 3-3",
        "0-0 0-5 2-5 3-4 3-6 4-4 5-6",
    ),
    "6-6 1-6@e4 5-6@e2 pass 4-6@e1 0-6@e3 0-0@e8 1-1@e5 3-5@e6 0-4@e9 4-4@e12 1-3@e10 4-5@e13 3-3@e14 3-4@e7 "
    "0-3@e17 2-3@e16 0-1@e18 2-5@e19 1-4@e20 5-5@e21 pass 0-5@e23 0-2@e24 1-5@e15",
)
SCORES_20 = Worked(
    (
        "0-0 0-4 1-4 2-2 2-6 4-4 5-5",
        "0-2 1-3 2-3 2-5 3-3 3-6 6-6",
        "0-1 0-3 0-5 1-2 1-5 4-5 5-6",
        "0-6 1-1 1-6 2-4 3-4 3-5 4-6",
    ),
    "6-6 5-6@e4 4-6@e2 2-6@e3 3-6@e1 4-5@e5 2-4@e9 1-4@e6 2-3@e10 0-3@e8 3-5@e12 0-4@e13 2-5@e7 1-5@e11 3-4@e15 "
    "5-5@e17 1-3@e18 0-5@e19 0-6@e21 pass pass 0-1@e20 1-6@e22 0-0@e23 0-2@e25 1-2@e24",
)
SCORES_5 = Worked(
    (
        "1-5 2-3 3-5 4-5 4-6 5-5 6-6",
        "0-1 0-4 0-6 1-2 1-6 2-6 3-3",
        "0-0 0-5 2-5 3-4 3-6 4-4 5-6",
        "0-2 0-3 1-1 1-3 1-4 2-2 2-4",
    ),
    "6-6 2-6@e1 5-6@e4 pass 4-6@e2 1-6@e3 0-5@e6 2-4@e7 2-3@e10 0-6@e9 3-6@e12 2-2@e5 3-5@e13 1-2@e14 2-5@e15 "
    "0-3@e11 1-5@e8 0-4@e18 4-4@e20 1-3@e16 4-5@e21 3-3@e22 3-4@e24 1-4@e25 5-5@e19",
)


def dealt(api: Api, *hands: str) -> Table:
    """A game with this deal."""
    return api.create(SEBASTOPOL, 4, deals=[deal(SEBASTOPOL, *hands)], seed="what comes after")


def plays(api: Api, table: Table, seat: int) -> list[tuple[str, str]]:
    """The tiles that this seat may place, each with its end; an action that is no play without one."""
    return [(each.get("tile", each["action"]), each.get("end", "")) for each in api.view(table, seat)["legal_moves"]]


def ends(api: Api, table: Table) -> list[tuple[int, str]]:
    return [(end["number"], end["state"]) for end in api.view(table)["board"]["ends"]]


def test_12a_worked_example(api: Api) -> None:
    """The cross: 8 plays, a pass, 6 plays, 4 plays, one play; then 3, 0, 2 and 1 are open."""
    table = dealt(api, *CROSS)
    assert plays(api, table, 0) == [("6-6", "")]
    make_moves(api, table, "6-6")
    assert len(plays(api, table, 1)) == 8
    make_moves(api, table, "3-6@e1")
    assert ends(api, table) == [(3, "gated"), (6, "open"), (6, "open"), (6, "open")]
    assert plays(api, table, 2) == [("pass", "")]
    refused = api.move(table, 2, {"action": "play", "tile": "3-5", "end": "e5"})
    assert (refused.status_code, refused.get_json()["reason"]) == (409, "end_gated")
    assert refused.get_json()["detail"] == "The end e5 is not open yet."
    make_moves(api, table, "pass")
    assert len(plays(api, table, 3)) == 6
    make_moves(api, table, "0-6@e3")
    assert len(plays(api, table, 0)) == 4
    make_moves(api, table, "2-6@e4")
    assert plays(api, table, 1) == [("1-6", "e2")]
    make_moves(api, table, "1-6")
    assert ends(api, table) == [(3, "open"), (1, "open"), (0, "open"), (2, "open")]
    assert ("3-5", "e5") in plays(api, table, 2)


def test_12b_worked_example(api: Api) -> None:
    """4-6 and 5-6 fit nowhere until an arm shows 4 or 5; on the 6 of 4-6 only 5-6 goes."""
    table = dealt(api, *CROSS)
    make_moves(api, table, "6-6 3-6@e1 pass 0-6@e3 2-6@e4 1-6")
    assert {number for number, _ in ends(api, table)} == {0, 1, 2, 3}
    make_moves(api, table, "3-4@e5")
    assert [each for each in plays(api, table, 3) if each[0] == "4-6"] == [("4-6", "e9")]
    make_moves(api, table, "4-6")
    assert [each for each in plays(api, table, 0) if each[0] == "5-6"] == [("5-6", "e10")]
    assert not [tile for tile, end in plays(api, table, 0) if end == "e10" and tile != "5-6"]


def test_12c_worked_example_out(api: Api) -> None:
    """The others hold 11, 23, 8 → 42."""
    table = play_out(api, SEBASTOPOL, OUT)
    counted = last_round(api, table)
    assert (counted["ended_by"], counted["winner"]) == ("out", 3)
    assert values(counted) == [23, 8, 11, 0]
    assert counted["scores"] == [0, 0, 0, 42] == totals(api.view(table))
    assert counted["lines"] == [{"seat": 3, "points": 42, "rule": "12.5", "text": "23 + 8 + 11"}]


@pytest.mark.parametrize(("blocked_score", "points"), [("minus_own", 36), ("others", 44), ("all", 52)])
def test_12c_worked_example_blocked(api: Api, blocked_score: str, points: int) -> None:
    """As 9, 11, 23 and 8, but with 24: the pips that a blocked round leaves are even."""
    counted = last_round(api, play_out(api, SEBASTOPOL, BLOCKED, blocked_score=blocked_score))
    assert (counted["ended_by"], "winner" in counted) == ("blocked", False)
    assert (values(counted), counted["scores"]) == ([9, 24, 11, 8], [0, 0, 0, points])


@pytest.mark.parametrize("blocked_score", ["minus_own", "others", "all"])
def test_12c_worked_example_of_a_tie(api: Api, blocked_score: str) -> None:
    """9, 11, 23, 9 → nobody."""
    counted = last_round(api, play_out(api, SEBASTOPOL, TIED, blocked_score=blocked_score))
    assert (counted["ended_by"], values(counted)) == ("blocked", [9, 11, 9, 23])
    assert (counted["scores"], counted["lines"]) == ([0, 0, 0, 0], [])


def test_12d_worked_example(api: Api) -> None:
    """Totals 55, 30, 20, 0; seat 3 scores 42 → no end. Seat 0 scores 5 → 60: seat 0 wins."""
    first = (SCORES_55, SCORES_30, SCORES_20)
    view = api.view(play_out(api, SEBASTOPOL, *first))
    assert (view["status"], totals(view)) == ("round_over", [55, 30, 20, 0])
    view = api.view(play_out(api, SEBASTOPOL, *first, OUT))
    assert (view["status"], totals(view)) == ("round_over", [55, 30, 20, 42])
    view = api.view(play_out(api, SEBASTOPOL, *first, OUT, SCORES_5))
    assert (view["status"], totals(view), view["winners"]) == ("finished", [60, 30, 20, 42], [0])
