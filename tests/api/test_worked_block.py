"""The worked rounds of rules 6 and 7 over HTTP."""

from __future__ import annotations

from tests.api.client import Api
from tests.api.deals import deal
from tests.api.notation import make_moves
from tests.api.worked import Worked, last_round, left_in, play_out, totals


def test_6_worked_round(api: Api) -> None:
    table = play_out(
        api, "block", Worked(("0-3 3-6 6-6", "0-1 1-5 5-6"), "6-6 5-6@right 3-6@left 1-5@right 0-3@left"), hand=3
    )
    counted = last_round(api, table)
    assert (counted["ended_by"], counted["winner"], counted["scores"]) == ("out", 0, [1, 0])
    assert counted["lines"] == [{"seat": 0, "points": 1, "rule": "6.5", "text": "1"}]
    assert left_in(counted) == ["", "0-1"]
    assert totals(api.view(table)) == [1, 0]


def test_6_nothing_can_be_drawn(api: Api) -> None:
    hands = deal("block", "6-6 0-6 0-1", "1-2 1-3 2-3", hand=3)
    table = api.create("block", 2, deals=[hands], rules={"hand": 3})
    make_moves(api, table, "6-6")
    view = api.view(table, 1)
    assert view["stock"] == {"tiles": 22, "drawable": 0}
    assert [move["action"] for move in view["legal_moves"]] == ["pass"]
    refused = api.move(table, 1, {"action": "draw"})
    assert (refused.status_code, refused.get_json()["code"]) == (409, "illegal_move")


def test_6_a_blocked_round_in_teams_is_a_line_for_each_seat_of_the_winners(api: Api) -> None:
    hands = ("6-6 0-1 0-2", "5-6 4-4 1-4", "1-1 2-2 1-2", "3-3 3-4 2-3")
    table = play_out(api, "block", Worked(hands, "6-6 5-6@right"), hand=3, teams=2)
    counted = last_round(api, table)
    assert (counted["ended_by"], "winner" in counted) == ("blocked", False)
    assert counted["scores"] == [19, 0, 19, 0]
    assert [(line["seat"], line["rule"], line["text"]) for line in counted["lines"]] == [
        (0, "6.6", "13 + 18 − 12"),
        (2, "6.6", "13 + 18 − 12"),
    ]
    assert [player["team"] for player in api.view(table)["players"]] == [0, 1, 0, 1]


def test_7_worked_round(api: Api) -> None:
    hands = ("1-1 2-2 2-4", "0-5 3-5 3-6")
    play = "2-2 draw draw 2-6@right 2-4@left 0-4@left draw 1-6@right 0-5@left 1-1@right"
    table = play_out(api, "draw", Worked(hands, play, stock="0-4 2-6 1-6"), hand=3)
    counted = last_round(api, table)
    assert (counted["ended_by"], counted["winner"], counted["scores"]) == ("out", 0, [17, 0])
    assert left_in(counted) == ["", "3-5 3-6"]
