"""The worked examples of Tiddly-Wink (rules 13) over HTTP: the deals are arranged, the moves are data."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tests.api.client import Api, Table
from tests.api.deals import deal
from tests.api.notation import make_moves
from tests.api.worked import Worked, last_round, play_out, values

TIDDLY_WINK = "tiddly-wink"

NO_DOUBLE_AT_FIRST = "no double at first 5"
"""A seed whose first deal to five players has no double in any hand."""

DOUBLE_FIRST = ("…", "…", "0-4 1-5 5-5", "1-1 1-4 2-2", "5-6 …")
BLOCKED = Worked(
    ("1-2 1-5 5-5", "0-5 1-6 3-5", "0-6 1-3 2-3", "0-1 0-2 3-6", "0-0 0-4 2-5"),
    "5-5 1-5 1-6 0-6 0-2 2-5 pass 3-5 1-3 0-1 0-4",
)
TIED = Worked(
    ("1-2 1-5 5-5", "0-3 1-6 5-6", "0-6 2-3 3-5", "0-2 1-3 3-6", "1-4 2-5 2-6"),
    "5-5 1-5 1-6 0-6 0-2 2-6 pass 5-6 3-5 1-3 1-4",
)
OUT = Worked(
    (*["…"] * 6, "2-2 2-5 5-5"),
    "5-5 2-5 pass pass pass pass pass pass 2-2",
    stock="0-2 1-2 2-3 2-4 2-6 6-6 5-6",
)


def moves_of(api: Api, table: Table, seat: int) -> set[str]:
    """The legal moves of a seat: a tile with its end, or the action."""
    listed = api.view(table, seat)["legal_moves"]
    return {f"{each['tile']} {each.get('end', '')}".strip() if "tile" in each else each["action"] for each in listed}


def test_13a_worked_example_seven_players_and_stake_1(api: Api) -> None:
    """+6 and six times −1."""
    table = play_out(api, TIDDLY_WINK, OUT)
    counted = last_round(api, table)
    assert (counted["ended_by"], counted["winner"]) == ("out", 6)
    assert counted["scores"] == [-1, -1, -1, -1, -1, -1, 6]
    assert {line["rule"] for line in counted["lines"]} == {"13.7"}


def test_13a_worked_example_nine_players_and_stake_5(api: Api) -> None:
    """+40 and eight times −5."""
    table = api.create(TIDDLY_WINK, 9, rules={"stake": 5}, seed="nine")
    api.play_until(table, lambda view: view["status"] != "playing", Random(1))
    counted = last_round(api, table)
    assert counted["scores"] == [40 if seat == counted["winner"] else -5 for seat in range(9)]
    assert sum(counted["scores"]) == 0


def test_13b_worked_example(api: Api) -> None:
    """Seat 2 leads 5-5: 1-5 or done; after 1-5 its turn is over. The other side of 5-5 is never used."""
    table = api.create(TIDDLY_WINK, 5, deals=[deal(TIDDLY_WINK, *DOUBLE_FIRST)], seed="what comes after")
    make_moves(api, table, "5-5")
    assert moves_of(api, table, 2) == {"1-5 right", "done"}
    make_moves(api, table, "1-5")
    view = api.view(table)
    assert [(end["id"], end["number"]) for end in view["board"]["ends"]] == [("right", 1)]
    assert view["turn"]["seat"] == 3
    assert moves_of(api, table, 3) == {"1-1 right", "1-4 right"}
    make_moves(api, table, "1-1")
    assert moves_of(api, table, 3) == {"1-4 right", "done"}
    make_moves(api, table, "done")
    assert moves_of(api, table, 4) == {"1-2 right", "1-3 right"}
    for end, reason in (("left", "no_such_end"), ("right", "does_not_fit"), (None, "fits_nowhere")):
        refused = api.move(table, 4, {"action": "play", "tile": "5-6", **({"end": end} if end else {})})
        assert (refused.status_code, refused.get_json()["reason"]) == (409, reason)


def test_13c_worked_example(api: Api) -> None:
    """Nobody of five players holds a double → dealt again, not counted as a round."""
    table = api.create(TIDDLY_WINK, 5, seed=NO_DOUBLE_AT_FIRST)
    view = api.view(table)
    assert view["round"] == 1
    (lead,) = moves_of(api, table, view["turn"]["seat"])
    low, high = lead.split("-")
    assert low == high


@pytest.mark.parametrize(("scoring", "scores"), [("pool", [-1, -1, -1, -1, 4]), ("pips", [0, 0, 0, 0, 22])])
def test_13d_worked_example(api: Api, scoring: str, scores: list[int]) -> None:
    """End 4; pips in hand 3, 5, 5, 9, and 0 for {0-0}: that one wins, +4 and four times −1; with ``pips`` +22."""
    table = play_out(api, TIDDLY_WINK, BLOCKED, scoring=scoring)
    assert [end["number"] for end in api.view(table)["board"]["ends"]] == [4]
    counted = last_round(api, table)
    assert (counted["ended_by"], "winner" in counted) == ("blocked", False)
    assert values(counted) == [3, 5, 5, 9, 0]
    assert counted["scores"] == scores


@pytest.mark.parametrize("scoring", ["pool", "pips"])
def test_13d_worked_example_of_a_tie(api: Api, scoring: str) -> None:
    """Pips 3, 3, 5, 9, 7: nobody writes anything."""
    table = play_out(api, TIDDLY_WINK, TIED, scoring=scoring)
    counted = last_round(api, table)
    assert values(counted) == [3, 3, 5, 9, 7]
    assert (counted["scores"], counted["lines"]) == ([0] * 5, [])


def test_13e_worked_example(api: Api) -> None:
    """Seat 6 lays 2-2 as its last tile: out; there is no second tile to lay."""
    table = play_out(api, TIDDLY_WINK, OUT)
    view = api.view(table)
    assert (view["status"], view["board"]["tiles"][-1]["tile"]) == ("round_over", "2-2")
    counted = last_round(api, table)
    assert (counted["ended_by"], counted["winner"]) == ("out", 6)


def test_13_8_the_british_version_has_two_ends(api: Api) -> None:
    rules: dict[str, Any] = {"version": "british"}
    dealt = deal(TIDDLY_WINK, "6-6 5-6 …", "…", "…", "…", "…", **rules)
    table = api.create(TIDDLY_WINK, 5, deals=[dealt], rules=rules, seed="what comes after")
    view = make_moves(api, table, "6-6")
    assert [(end["id"], end["number"]) for end in view["board"]["ends"]] == [("left", 6), ("right", 6)]
    assert {"5-6 left", "5-6 right", "done"} <= moves_of(api, table, 0)
    assert [player["tiles"] for player in view["players"]] == [4, 5, 5, 5, 5]
