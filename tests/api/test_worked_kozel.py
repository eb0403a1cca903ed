"""The worked examples of Kozel (rules 11) over HTTP: arranged deals whose play ends as the example does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Api
from tests.api.deals import deal
from tests.api.notation import make_moves
from tests.api.worked import Worked, last_round, left_in, play_out, totals, values
from tests.support.table import Json, seat_to_move

KOZEL = "kozel"


def actions(view: Json) -> list[str]:
    return [move.get("tile", move["action"]) for move in view["legal_moves"]]


# 11a


@pytest.mark.parametrize(
    ("hands", "stock", "leader", "lead"),
    [
        (("0-0 …", "…", "1-1 …", "6-6 …"), "", 2, "1-1"),
        (("6-6 …", "2-2 …"), "1-1", 1, "2-2"),
        (("0-1 0-2 0-3 0-4 0-5 0-6 1-2", "0-0 1-3 1-4 1-5 1-6 2-3 2-4"), "", 1, "0-0"),
        (("0-1 0-2 0-3 0-4 0-5 0-6 1-2", "5-6 1-3 1-4 1-5 1-6 2-3 2-4"), "", 1, "5-6"),
    ],
)
def test_worked_11a(api: Api, hands: tuple[str, ...], stock: str, leader: int, lead: str) -> None:
    """1-1 must be led; it is in the stock: 2-2; only 0-0 is held: 0-0; no double: the heaviest tile."""
    table = api.create(KOZEL, len(hands), deals=[deal(KOZEL, *hands, stock=stock)])
    view = api.view(table, leader)
    assert (seat_to_move(view), actions(view)) == (leader, [lead])


# 11b, 11c

LONE_BLANK = Worked(
    (
        "0-1 0-5 1-1 1-4 3-4 3-5 4-6",
        "0-0 0-2 1-3 1-5 1-6 2-4 5-6",
        "0-6 2-2 2-5 3-3 4-4 5-5 6-6",
        "0-3 0-4 1-2 2-3 2-6 3-6 4-5",
    ),
    "1-1 1-5@left 2-5@left 2-6@left 0-1@right 0-2@right 2-2@right 2-3@right 3-5@right 1-6@left 5-5@right "
    "4-5@right 3-4@right 1-3@left 3-3@right 3-6@left 4-6@left 2-4@left pass 0-3@right 0-5@right 5-6@right "
    "0-6@right 0-4@right 1-4@right",
)

BLANK_AND_LONE_SIX = Worked(
    (
        "0-5 0-6 1-1 2-5 3-6 4-6 5-6",
        "0-0 0-1 0-2 0-3 1-2 3-3 3-5",
        "0-4 1-3 2-3 2-6 3-4 4-5 6-6",
        "1-4 1-5 1-6 2-2 2-4 4-4 5-5",
    ),
    "1-1 1-2@left 2-3@left 1-5@right 5-6@right 3-3@left 1-3@left 1-6@left 0-6@left 0-2@left 2-6@right 2-4@right "
    "2-5@left 3-5@left 0-4@right pass 3-6@left 0-3@right 3-4@right 4-4@right 4-6@left pass 4-5@right 5-5@right "
    "0-5@right",
)

BLANK_AND_SIX = Worked(
    (
        "0-2 0-3 0-6 1-1 1-3 4-6 5-6",
        "0-0 0-5 1-4 2-2 3-5 4-4 6-6",
        "1-2 1-5 2-3 2-4 3-6 4-5 5-5",
        "0-1 0-4 1-6 2-5 2-6 3-3 3-4",
    ),
    "1-1 1-4@right 2-4@right 2-6@right 0-6@right 0-5@right 5-5@right 1-6@left 5-6@left 3-5@left 4-5@right "
    "3-3@left 0-3@left 4-4@right pass 0-4@right 0-2@left 2-2@left 2-3@left 0-1@right 1-3@right pass 3-6@right "
    "3-4@left 4-6@left",
)


@pytest.mark.parametrize(
    ("worked", "rules", "seat", "left"),
    [
        (LONE_BLANK, {}, 1, ("0-0", 25)),
        (LONE_BLANK, {"lone_blank": 40}, 1, ("0-0", 40)),
        (BLANK_AND_LONE_SIX, {}, 1, ("0-0 0-1", 1)),
        (BLANK_AND_LONE_SIX, {}, 2, ("6-6", 12)),
        (BLANK_AND_LONE_SIX, {"lone_six": 50}, 2, ("6-6", 50)),
        (BLANK_AND_SIX, {"lone_six": 50}, 1, ("0-0 6-6", 12)),
    ],
)
def test_worked_11b(api: Api, worked: Worked, rules: dict[str, Any], seat: int, left: tuple[str, int]) -> None:
    """0-0 alone: 25; 0-0 and 0-1: 1; 6-6 alone: 12, or 50 with the option; 0-0 and 6-6: 12."""
    counted = last_round(api, play_out(api, KOZEL, worked, **rules))
    assert (left_in(counted)[seat], values(counted)[seat]) == left


def test_worked_11c(api: Api) -> None:
    """Seat 0 is out, seat 2 holds 20, seat 1 0-0, seat 3 1-2: team 1 writes 28, team 0 nothing."""
    table = play_out(api, KOZEL, LONE_BLANK)
    counted = last_round(api, table)
    assert values(counted) == [0, 25, 20, 3]
    assert (counted["ended_by"], counted["winner"], counted["loser"]) == ("out", 0, 1)
    assert counted["lines"] == [{"seat": seat, "points": 28, "rule": "11.10", "text": "25 + 3"} for seat in (1, 3)]
    assert totals(api.view(table)) == [0, 28, 0, 28]


# 11d

LEFT_WITH_12 = Worked(
    (
        "0-2 0-6 1-1 2-5 2-6 3-5 5-6",
        "0-4 0-5 2-3 3-3 3-4 3-6 4-6",
        "0-0 1-2 1-6 2-2 4-4 4-5 6-6",
        "0-1 0-3 1-3 1-4 1-5 2-4 5-5",
    ),
    "1-1 pass 1-6@left 1-4@right 0-6@left 0-4@right 0-0@right 0-3@right 0-2@left 3-4@right 4-4@right 2-4@right "
    "2-6@left 4-6@left 4-5@left 5-5@left 2-5@left 2-3@left 1-2@right 1-5@right 3-5@right 3-6@right 6-6@right "
    "1-3@left 5-6@right",
)

LEFT_WITH_13 = Worked(
    (
        "0-3 1-1 1-6 3-3 3-4 3-5 4-6",
        "0-2 0-6 1-3 1-5 2-5 4-4 6-6",
        "0-5 2-3 2-4 2-6 3-6 4-5 5-5",
        "0-0 0-1 0-4 1-2 1-4 2-2 5-6",
    ),
    "1-1 1-3@right 3-6@right 5-6@right 1-6@left 2-5@right 2-3@right pass 3-5@right 6-6@left 0-5@right 0-0@right "
    "4-6@left 4-4@left 2-4@left 0-4@right 3-4@right 0-2@left pass 0-1@left 3-3@right 1-5@left 4-5@left 1-4@left "
    "0-3@right",
)

LEFT_WITH_5 = Worked(
    (
        "0-5 1-1 1-2 1-3 1-4 2-2 2-5",
        "0-1 0-3 2-3 2-6 3-6 4-4 5-6",
        "0-0 0-6 1-6 2-4 3-5 4-5 5-5",
        "0-2 0-4 1-5 3-3 3-4 4-6 6-6",
    ),
    "1-1 0-1@right 0-6@right 4-6@right 1-2@left 2-6@left 2-4@right 6-6@left 2-2@right 2-3@right 1-6@left "
    "3-4@right 1-4@left 4-4@right 4-5@left 1-5@left 1-3@left 3-6@left pass 0-4@right 0-5@right 5-6@left 3-5@right "
    "3-3@right 2-5@left",
)


@pytest.mark.parametrize(
    ("rounds", "total"), [([LEFT_WITH_12], 0), ([LEFT_WITH_13], 13), ([LEFT_WITH_13, LEFT_WITH_5], 18)]
)
def test_worked_11d(api: Api, rounds: list[Worked], total: int) -> None:
    """Total 0, left with 12: nothing is written; with 13: 13; total 13, left with 5: 18."""
    table = play_out(api, KOZEL, *rounds)
    assert totals(api.view(table)) == [0, total, 0, total]
    assert last_round(api, table)["loser"] == 1


# 11e

EGGS = Worked(
    (
        "0-3 0-4 1-1 1-4 1-5 2-4 3-4",
        "0-0 0-6 2-2 2-5 3-5 4-5 4-6",
        "0-1 1-3 2-3 2-6 4-4 5-5 6-6",
        "0-2 0-5 1-2 1-6 3-3 3-6 5-6",
    ),
    "1-1 pass 1-3@right 3-3@right 1-5@left 3-5@right 5-5@right 5-6@right pass 2-5@left 2-6@left 3-6@left 3-4@left "
    "0-6@right 4-4@left 0-2@right 0-4@left 0-0@left 2-3@right 0-5@left 0-3@right 4-5@left 0-1@right 1-2@right "
    "2-4@left 2-2@left",
)

LEFT_WITH_9 = Worked(
    (
        "0-1 0-4 1-1 1-5 2-4 2-5 3-5",
        "0-0 0-3 1-4 3-3 3-4 3-6 6-6",
        "0-5 0-6 2-2 2-3 4-5 4-6 5-6",
        "0-2 1-2 1-3 1-6 2-6 4-4 5-5",
    ),
    "1-1 1-4@right 4-6@right 1-3@left 3-5@left 3-6@right 5-6@left 1-6@left 1-5@left 3-4@right 4-5@left 4-4@left "
    "0-4@right 0-3@right 2-3@right 2-6@right 2-4@left 6-6@right 0-6@right 0-2@left 0-1@right 0-0@left 0-5@left "
    "5-5@left 2-5@left",
)


def test_worked_11e(api: Api) -> None:
    """A fish with 17 and 17: 34 are carried, the same player leads; then team 1 is left with 9 and writes 43."""
    table = play_out(api, KOZEL, EGGS)
    counted = last_round(api, table)
    assert (counted["ended_by"], counted["scores"], counted["carried"]) == ("blocked", [0, 0, 0, 0], 34)
    assert not {"winner", "loser"} & set(counted)
    assert (api.view(table)["carry"], api.score(table)["carry"]) == (34, 34)
    view = make_moves(api, table, "deal")
    assert seat_to_move(view) == 0
    assert len(actions(api.view(table, 0))) == 7

    table = play_out(api, KOZEL, EGGS, LEFT_WITH_9)
    counted = last_round(api, table)
    assert (counted["loser"], counted["carried"], counted["scores"]) == (1, 0, [0, 43, 0, 43])
    assert [(line["points"], line["rule"]) for line in counted["lines"] if line["seat"] == 1] == [
        (9, "11.10"),
        (34, "11.11"),
    ]
    assert api.view(table)["carry"] == 0


# 11f

TEAM_0_LEFT_WITH_48 = Worked(
    (
        "0-1 0-3 1-2 1-3 2-6 3-6 6-6",
        "0-5 0-6 1-1 2-5 3-5 4-5 5-5",
        "0-0 0-2 0-4 1-5 2-2 2-3 2-4",
        "1-4 1-6 3-3 3-4 4-4 4-6 5-6",
    ),
    "1-1 1-5@right 5-6@right 0-1@left 0-5@left pass 4-6@right pass 4-5@right pass pass pass 5-5@left pass pass "
    "pass 2-5@left 2-3@left 3-3@left 0-3@left 0-6@left pass 1-6@left 1-3@left 3-5@left",
)

TEAM_1_LEFT_WITH_40 = Worked(
    (
        "0-1 0-5 1-3 1-4 1-5 2-3 2-5",
        "0-2 0-6 1-1 1-2 1-6 3-3 3-6",
        "0-0 0-3 0-4 3-4 3-5 5-6 6-6",
        "2-2 2-4 2-6 4-4 4-5 4-6 5-5",
    ),
    "3-6 3-4@left 4-4@left 1-4@left 0-6@right 0-3@right pass 1-3@right 1-2@left pass 2-2@left 2-5@left 1-6@right "
    "5-6@right 4-5@right 1-5@left 1-1@left 0-4@right pass 0-5@right pass 3-5@right pass 2-3@right 0-2@right "
    "0-0@right pass 0-1@left",
)

TEAM_0_LEFT_WITH_9 = Worked(
    (
        "0-1 0-4 1-2 2-2 3-3 3-4 4-5",
        "0-2 0-3 1-6 2-4 3-6 4-4 4-6",
        "0-0 0-5 1-5 2-3 2-6 5-5 5-6",
        "0-6 1-1 1-3 1-4 2-5 3-5 6-6",
    ),
    "4-5 2-4@left 5-6@right 2-5@left pass 4-6@right 0-5@left 1-4@right 0-1@left 1-6@right 2-6@right 1-1@left "
    "1-2@right pass 1-5@left 1-3@right 3-4@right 4-4@right 5-5@left 3-5@left 3-3@left 3-6@left pass 0-6@left "
    "0-4@right 0-3@left 0-0@right pass pass 0-2@right",
)


def test_worked_11f(api: Api) -> None:
    """Totals 96 and 40; team 0 writes 9 and has 105: seats 1 and 3 win."""
    rounds = [TEAM_0_LEFT_WITH_48, TEAM_0_LEFT_WITH_48, TEAM_1_LEFT_WITH_40]
    table = play_out(api, KOZEL, *rounds)
    assert totals(api.view(table)) == [96, 40, 96, 40]
    table = play_out(api, KOZEL, *rounds, TEAM_0_LEFT_WITH_9)
    view = api.view(table)
    assert (view["status"], totals(view), view["winners"]) == ("finished", [105, 40, 105, 40], [1, 3])


ALONE_1 = Worked(
    (
        "0-1 0-2 0-6 1-1 1-4 1-5 2-5",
        "0-4 0-5 2-3 3-3 3-6 4-6 5-6",
        "0-3 1-3 3-4 4-4 4-5 5-5 6-6",
    ),
    "1-1 draw 1-2@right 1-3@left 0-2@right 0-4@right 4-5@right 1-5@right 2-3@left draw draw 2-4@left 0-1@right "
    "0-5@right 3-4@left 2-5@right 3-3@left 0-3@left 0-6@left 4-6@left 4-4@left 1-4@left",
    "1-2 3-5 2-4 2-6 0-0 2-2 1-6",
)

ALONE_2 = Worked(
    (
        "0-2 0-4 1-1 1-6 3-3 3-5 6-6",
        "0-3 0-5 1-2 1-3 1-5 2-6 3-6",
        "0-1 1-4 2-3 2-5 4-5 4-6 5-6",
    ),
    "3-5 0-3@left 0-1@left 1-1@left 1-3@left 2-5@right 3-3@left 1-2@right 2-3@left 0-2@left 0-5@left 5-6@left "
    "1-6@right 3-6@left 4-6@right 0-4@right draw draw draw 3-4@left 1-4@left draw draw draw 0-0@right 1-5@left "
    "4-5@left",
    "2-4 4-4 3-4 5-5 2-2 0-0 0-6",
)

ALONE_3 = Worked(
    (
        "0-2 1-3 1-5 3-3 3-6 4-4 5-6",
        "0-4 0-5 0-6 2-2 3-4 3-5 4-5",
        "0-1 0-3 1-2 1-6 2-3 2-4 2-5",
    ),
    "2-3 0-2@left 3-5@right 2-5@right draw draw draw 0-0@left 2-2@right 0-3@left 3-3@left 3-4@left 2-4@left draw "
    "draw draw draw 2-6@left 0-6@left 0-1@left 1-3@left pass 1-2@right 3-6@left pass 1-6@right",
    "4-6 1-4 0-0 6-6 1-1 5-5 2-6",
)

ALONE_4 = Worked(
    (
        "0-2 1-1 2-3 2-4 3-3 3-4 3-5",
        "0-1 1-4 1-6 2-6 4-4 4-5 5-6",
        "0-4 1-3 1-5 2-2 2-5 3-6 6-6",
    ),
    "6-6 draw draw 0-6@left 2-6@right 2-2@right 0-2@left draw 1-2@right 1-3@right 2-4@left 1-4@left 1-5@left "
    "2-3@right 5-6@left 3-6@left 3-3@left draw draw draw draw 0-3@left 0-4@left 3-4@left pass 2-5@right",
    "0-5 0-6 1-2 5-5 4-6 0-0 0-3",
)


def test_worked_11f_of_three_alone(api: Api) -> None:
    """Totals 90, 60 and 30; the first two write 15 and 45: 105, 105 and 30, and seat 2 wins."""
    rounds = [ALONE_1, ALONE_2, ALONE_3]
    table = play_out(api, KOZEL, *rounds)
    assert totals(api.view(table)) == [90, 60, 30]
    table = play_out(api, KOZEL, *rounds, ALONE_4)
    view = api.view(table)
    assert (view["status"], totals(view), view["winners"]) == ("finished", [105, 105, 30], [2])


# 11g


@pytest.mark.parametrize("two_doubles", [True, False])
def test_worked_11g(api: Api, two_doubles: bool) -> None:
    """Ends 3 and 5: after 3-3 the moves are 5-5 on the right and `done`. The lead 1-1 ends the turn."""
    rules: dict[str, Any] = {"two_doubles": two_doubles}
    hands = ("1-1 1-3 2-2 0-2 0-4 0-6 2-4", "1-5 3-3 5-5 1-2 0-0 4-6 2-6")
    table = api.create(KOZEL, 2, deals=[deal(KOZEL, *hands, **rules)], rules=rules)
    view = make_moves(api, table, "1-1")
    assert seat_to_move(view) == 1
    view = make_moves(api, table, "1-5@right 1-3@left")
    assert [end["number"] for end in view["board"]["ends"]] == [3, 5]
    view = make_moves(api, table, "3-3")
    assert seat_to_move(view) == (1 if two_doubles else 0)
    if two_doubles:
        assert [(move["action"], move.get("tile"), move.get("end")) for move in api.view(table, 1)["legal_moves"]] == [
            ("play", "5-5", "right"),
            ("done", None, None),
        ]
        assert seat_to_move(make_moves(api, table, "5-5")) == 0


# Settings


def test_11_1_teams_need_four_players_who_play_in_them_unless_they_say_otherwise(api: Api) -> None:
    for players, rules, teams in ((2, {}, 0), (3, {}, 0), (4, {}, 2), (4, {"teams": 0}, 0)):
        view = api.view(api.create(KOZEL, players, rules=rules))
        assert view["rules"]["teams"] == teams
        assert [player.get("team") for player in view["players"]] == [
            seat % 2 if teams else None for seat in range(players)
        ]
    refused = api.try_create(KOZEL, [{"name": "Ann"}, {"name": "Bo"}], rules={"teams": 2})
    assert refused.status_code == 422
    assert list(refused.get_json()["errors"]) == ["rules.teams"]


def test_11_7_an_arranged_deal_that_would_be_dealt_again_is_refused(api: Api) -> None:
    hands = ("0-0 1-1 2-2 3-3 4-4 0-1 0-2", "5-6 3-5 2-6 1-4 0-5 1-6 2-4")
    players = [{"name": "Ann"}, {"name": "Bo"}]
    deals = [deal(KOZEL, *hands)]
    assert api.try_create(KOZEL, players, deals=deals).status_code == 201
    assert api.try_create(KOZEL, players, deals=deals, rules={"redeal": True}).status_code == 422
