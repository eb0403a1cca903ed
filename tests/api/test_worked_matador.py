"""The worked examples of rules 14 over HTTP, and which half of a tile stays outside in what is listed and told."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Api, Table
from tests.api.deals import deal
from tests.api.notation import make_moves
from tests.api.worked import Worked, last_round, left_in, play_out, totals, values

MATADOR = "matador"


def ways(api: Api, table: Table, seat: int) -> list[tuple[str, str, int]]:
    """The plays that are listed: tile, end and the half that stays outside."""
    return [(move["tile"], move["end"], move["outer"]) for move in api.view(table, seat)["legal_moves"]]


def led(api: Api) -> Table:
    """6-6 is led; seat 1 holds 1-6, a 1-4 that fits one way, and 2-2, which does not fit."""
    hands = deal(MATADOR, "6-6 1-3 0-4", "1-6 1-4 2-2", hand=3)
    table = api.create(MATADOR, 2, deals=[hands], rules={"hand": 3})
    make_moves(api, table, "6-6")
    return table


def test_14_worked_round(api: Api) -> None:
    worked = Worked(
        ("6-6 1-3 0-4", "1-6 2-4 5-5"),
        "6-6 1-6@right:1 1-3@left 2-4@left draw draw 2-6@right 5-5@left",
        stock="1-1 2-6",
    )
    table = play_out(api, MATADOR, worked, hand=3)
    counted = last_round(api, table)
    assert (counted["ended_by"], counted["winner"], counted["scores"]) == ("out", 1, [0, 6])
    assert counted["lines"] == [{"seat": 1, "points": 6, "rule": "14.9", "text": "6"}]
    assert left_in(counted) == ["0-4 1-1", ""]
    view = api.view(table)
    assert totals(view) == [0, 6]
    board = view["board"]
    assert [(each["tile"], each.get("outer"), each.get("number")) for each in board["tiles"]] == [
        ("6-6", None, None),
        ("1-6", 1, 6),
        ("1-3", 3, 1),
        ("2-4", 2, 4),
        ("2-6", 2, 6),
        ("5-5", 5, 5),
    ]
    assert {each["on"]["side"] for each in board["tiles"][1:]} == {"end"}
    assert [(each["id"], each["number"], each["side"]) for each in board["ends"]] == [
        ("left", 5, "end"),
        ("right", 2, "end"),
    ]


def test_14_6_every_listed_play_but_the_lead_names_its_outer_half(api: Api) -> None:
    hands = deal(MATADOR, "6-6 1-3 0-4", "1-6 1-4 2-2", hand=3)
    table = api.create(MATADOR, 2, deals=[hands], rules={"hand": 3})
    assert ["outer" in move for move in api.view(table, 0)["legal_moves"]] == [False]
    make_moves(api, table, "6-6")
    assert ways(api, table, 1) == [
        ("1-4", "left", 4),
        ("1-4", "right", 4),
        ("1-6", "left", 1),
        ("1-6", "left", 6),
        ("1-6", "right", 1),
        ("1-6", "right", 6),
    ]


def test_14_6_every_played_event_but_that_of_the_lead_tells_it(api: Api) -> None:
    table = led(api)
    make_moves(api, table, "1-6@left:6")
    events: list[dict[str, Any]] = api.get(f"/v1/games/{table.id}/events").get_json()["events"]
    assert [event["data"] for event in events if event["type"] == "played"] == [
        {"tile": "6-6", "face_down": False},
        {"tile": "1-6", "end": "left", "face_down": False, "outer": 6},
    ]


def test_14_6_a_half_that_is_left_out_is_asked_for_where_there_are_two_ways(api: Api) -> None:
    table = led(api)
    move = {"action": "play", "tile": "1-6", "end": "left"}
    refused = api.move(table, 1, move)
    problem = refused.get_json()
    assert (refused.status_code, problem["code"], problem["reason"]) == (409, "illegal_move", "either_way")
    assert problem["params"] == {"tile": "1-6", "end": "left", "halves": ["1", "6"]}
    assert "either way" in problem["detail"]
    assert api.move(table, 1, {**move, "outer": 2}).get_json()["reason"] == "wrong_half_outside"
    assert api.move(table, 1, {**move, "outer": 19}).status_code == 422
    assert api.move(table, 1, {"action": "draw", "outer": 1}).status_code == 422
    made = api.move(table, 1, {"action": "play", "tile": "1-4", "end": "left"})
    assert made.get_json()["board"]["tiles"][-1]["outer"] == 4


def test_14_6_a_game_of_equal_halves_names_no_outer_half_anywhere(api: Api) -> None:
    hands = deal("block", "6-6 0-6 0-1", "5-6 1-3 2-3", hand=3)
    table = api.create("block", 2, deals=[hands], rules={"hand": 3})
    make_moves(api, table, "6-6")
    assert '"outer"' not in str(api.view(table, 1)).replace("'", '"')
    make_moves(api, table, "5-6@left")
    assert '"outer"' not in str(api.view(table, 0)).replace("'", '"')
    assert "outer" not in api.get(f"/v1/games/{table.id}/events").get_data(as_text=True)


BLOCKED = Worked(
    (
        "0-3 1-2 2-2 2-5 3-6 4-5 5-6",
        "0-0 1-3 1-4 1-5 2-6 4-4 6-6",
        "0-1 0-6 1-6 2-3 3-5 4-6 5-5",
        "0-2 0-4 0-5 1-1 2-4 3-3 3-4",
    ),
    "6-6 1-6@left:1 3-4@right:3 2-5@right:2 0-0@right:0 0-6@left:0",
)


@pytest.mark.parametrize(("blocked_score", "points"), [("minus_own", 79), ("others", 104), ("all", 129)])
def test_14_two_blanks_without_a_matador_block_the_round(api: Api, blocked_score: str, points: int) -> None:
    """The ends are 0 and 0 and the four matadors lie on the table: blocked at once, with 39, 31, 34 and 25 in hand."""
    table = play_out(api, MATADOR, BLOCKED, hand=7, blocked_score=blocked_score)
    counted = last_round(api, table)
    assert (counted["ended_by"], "winner" in counted) == ("blocked", False)
    assert values(counted) == [39, 31, 34, 25]
    assert counted["scores"] == [0, 0, 0, points]
    assert [end["number"] for end in api.view(table)["board"]["ends"]] == [0, 0]
