"""The worked examples of Latin Dominoes (rules 10) over HTTP: arranged deals whose play ends as the example does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Api, Table
from tests.api.deals import deal
from tests.api.notation import make_moves
from tests.api.worked import Worked, deal_last, last_round, play_out, totals, values
from tests.support.table import seat_to_move

LATIN = "latin"


def next_leader(api: Api, table: Table) -> int:
    return seat_to_move(make_moves(api, table, "deal"))


def extras(counted: dict[str, Any]) -> list[tuple[int, str, int]]:
    """The lines of the extra points: seat, text and points of each."""
    return [(line["seat"], line["text"], line["points"]) for line in counted["lines"] if line["rule"] == "10.6"]


# 10a

OUT = Worked(
    (
        "0-1 0-2 1-2 4-4 4-6 5-5 6-6",
        "1-3 1-5 2-2 2-5 2-6 3-3 3-5",
        "0-3 0-4 1-1 1-6 2-3 4-5 5-6",
        "0-0 0-5 0-6 1-4 2-4 3-4 3-6",
    ),
    "6-6 2-6@right 1-6@left 2-4@right 0-1@left pass 0-4@left 3-4@right 4-6@left 3-3@right 5-6@left 3-6@right "
    "5-5@left 1-5@left 1-1@left 1-4@left 4-4@left pass 4-5@left 0-6@right 0-2@right 3-5@left 2-3@left pass "
    "1-2@left",
)


@pytest.mark.parametrize(("name", "points", "leader"), [("puerto_rico", 23, 0), ("classic", 20, 1)])
def test_worked_10a(api: Api, name: str, points: int, leader: int) -> None:
    """Seat 0 goes out, the others hold 15, 3 and 5: 23, and seat 0 leads; `classic`: 20, and the next seat leads.

    The tiles differ from those of the example, which no whole round can leave.
    """
    table = play_out(api, LATIN, OUT, table=name)
    counted = last_round(api, table)
    assert (counted["ended_by"], counted["winner"], "loser" in counted) == ("out", 0, False)
    assert values(counted) == [0, 15, 3, 5]
    assert counted["scores"] == [points, 0, points, 0]
    assert [player["team"] for player in api.view(table)["players"]] == [0, 1, 0, 1]
    assert next_leader(api, table) == leader


# 10b

CLOSED_BY_3 = Worked(
    (
        "0-0 0-1 0-2 0-6 1-1 2-6 3-6",
        "0-4 1-4 1-6 2-4 3-4 3-5 6-6",
        "0-3 0-5 2-3 2-5 4-4 5-5 5-6",
        "1-2 1-3 1-5 2-2 3-3 4-5 4-6",
    ),
    "6-6 5-6@right 1-5@right 1-1@right 1-6@right pass 4-6@left 3-6@right 1-4@left 0-3@right 1-3@left 0-6@right "
    "3-5@left 5-5@left 4-5@left 2-6@right 3-4@left 2-3@right 3-3@right",
)

CLOSED_BY_0 = Worked(
    (
        "0-0 1-2 1-4 1-6 2-5 4-5 5-5",
        "0-1 1-1 1-3 2-2 3-4 4-4 5-6",
        "0-2 0-6 2-3 2-6 3-3 3-6 6-6",
        "0-3 0-4 0-5 1-5 2-4 3-5 4-6",
    ),
    "6-6 4-6@right 1-6@left 1-3@left 2-3@left 2-4@left 1-4@left 4-4@right pass 1-5@left 4-5@right 5-6@left "
    "3-6@left 3-5@left 2-5@right 2-2@right 0-2@right 0-5@right 5-5@left",
)


@pytest.mark.parametrize(
    ("worked", "rules", "scores", "winner"),
    [
        (CLOSED_BY_3, {"tranque": "team", "count": "all"}, [0, 40, 0, 40], 3),
        (CLOSED_BY_3, {"tranque": "team", "count": "opponents"}, [0, 23, 0, 23], 3),
        (CLOSED_BY_0, {"tranque": "team", "count": "all"}, [0, 40, 0, 40], 1),
        (CLOSED_BY_3, {"tranque": "lightest_hand", "count": "all"}, [40, 0, 40, 0], 0),
        (CLOSED_BY_3, {"tranque": "lightest_hand", "count": "opponents"}, [17, 0, 17, 0], 0),
    ],
)
def test_worked_10b(api: Api, worked: Worked, rules: dict[str, Any], scores: list[int], winner: int) -> None:
    """Blocked with 3, 10, 20 and 7: what the winning team scores, and who leads next.

    When both ends are alike, the pips in hand are an even number: 7 stands for the 8 of the example.
    """
    table = play_out(api, LATIN, worked, **rules)
    counted = last_round(api, table)
    assert (counted["ended_by"], values(counted)) == ("blocked", [3, 10, 20, 7])
    assert (counted["scores"], counted["winner"]) == (scores, winner)
    assert next_leader(api, table) == winner


# 10c

TIED = Worked(
    (
        "1-1 1-2 1-5 1-6 2-6 3-4 3-6",
        "0-0 0-4 0-5 1-4 3-3 4-5 6-6",
        "0-1 0-3 0-6 2-4 2-5 4-4 5-6",
        "0-2 1-3 2-2 2-3 3-5 4-6 5-5",
    ),
    "6-6 5-6@left 4-6@right 1-5@left 0-4@right 0-6@right 1-3@left 1-6@right 3-3@left 0-1@right 3-5@left pass "
    "0-5@right 2-5@right 2-2@right 2-6@right 4-5@left 2-4@left 0-2@left 3-6@right 0-0@left 0-3@right",
)


@pytest.mark.parametrize(
    ("rules", "scores", "leader"),
    [
        ({"tie": "nobody"}, [0, 0, 0, 0], 1),
        ({"tie": "closer", "count": "opponents"}, [20, 0, 20, 0], 2),
        ({"tranque": "lightest_hand"}, [0, 40, 0, 40], 1),
    ],
)
def test_worked_10c(api: Api, rules: dict[str, Any], scores: list[int], leader: int) -> None:
    """Blocked with 12, 5, 8 and 15, led by seat 1 and closed by seat 2."""
    table = play_out(api, LATIN, TIED, **rules)
    counted = last_round(api, table)
    assert (counted["ended_by"], values(counted)) == ("blocked", [12, 5, 8, 15])
    assert counted["scores"] == scores
    assert ("winner" in counted) == any(scores)
    assert next_leader(api, table) == leader


# 10d, 10e

CAPICUA = Worked(
    (
        "0-2 0-3 0-5 2-5 3-5 4-6 6-6",
        "0-6 1-1 1-3 1-5 2-4 3-6 4-5",
        "0-0 2-3 2-6 3-3 4-4 5-5 5-6",
        "0-1 0-4 1-2 1-4 1-6 2-2 3-4",
    ),
    "6-6 0-6@left 0-0@left 1-6@right 0-2@left 1-1@right 2-3@left 3-4@left 4-6@left 1-5@right 5-6@left pass "
    "2-5@right 4-5@left 2-6@right 0-4@left 0-3@left 1-3@left pass 0-1@left 0-5@left 3-6@right 3-3@right pass "
    "3-5@right",
)

ENDS_ALIKE = Worked(
    (
        "0-3 1-2 2-5 3-3 3-5 4-6 6-6",
        "0-4 0-5 1-6 2-3 2-4 3-4 4-5",
        "0-0 0-1 0-2 0-6 1-1 1-3 1-5",
        "1-4 2-2 2-6 3-6 4-4 5-5 5-6",
    ),
    "6-6 1-6@left 0-1@left 3-6@right 3-3@right 0-5@left 1-3@right 1-4@right 2-5@left 2-3@left pass 4-4@right "
    "3-5@left 4-5@right 1-5@right 5-6@left 1-2@right 2-4@right 0-6@left pass 0-3@left 3-4@left pass pass "
    "4-6@right",
)

DOUBLE_ON_ENDS_ALIKE = Worked(
    (
        "0-1 1-3 1-4 2-5 3-4 4-4 6-6",
        "0-4 0-5 0-6 1-5 3-6 4-6 5-6",
        "0-0 0-2 0-3 1-1 2-3 2-4 3-3",
        "1-2 1-6 2-2 2-6 3-5 4-5 5-5",
    ),
    "6-6 5-6@left pass 3-5@left 3-4@left 0-4@left 0-3@left 1-6@right 1-3@left 1-5@right 1-1@left 5-5@right "
    "1-4@left 0-5@right 2-4@left 1-2@left 0-1@left 0-6@left 0-2@right 2-2@right 2-5@right 4-6@left pass 4-5@right "
    "4-4@left",
)

CAPICUA_WITH_A_BLANK = Worked(
    (
        "0-0 0-1 0-2 0-3 1-5 3-5 6-6",
        "0-6 1-3 2-5 3-4 3-6 4-6 5-5",
        "1-1 1-2 2-3 2-6 4-4 4-5 5-6",
        "0-4 0-5 1-4 1-6 2-2 2-4 3-3",
    ),
    "6-6 3-6@right 2-3@right 1-6@left 1-5@left 2-5@right 4-5@right 1-4@right 0-1@right 0-6@right 5-6@right "
    "0-5@right 0-3@right 1-3@right 1-2@right 2-4@right 3-5@left 3-4@left 4-4@left 0-4@left 0-0@left 4-6@right "
    "2-6@right 2-2@right 0-2@left",
)

DOUBLE_BLANK = Worked(
    (
        "0-0 0-3 2-3 3-5 4-6 5-6 6-6",
        "0-2 1-1 1-3 2-6 3-3 3-4 3-6",
        "0-6 1-2 1-5 1-6 2-5 4-4 5-5",
        "0-1 0-4 0-5 1-4 2-2 2-4 4-5",
    ),
    "6-6 3-6@right 0-6@left 0-5@left 3-5@left 3-4@right 4-4@right 4-5@right 0-3@left 0-2@left 2-5@left pass "
    "5-6@left 2-6@left 5-5@right 2-2@left 2-3@left 1-3@left 1-2@left 2-4@left 4-6@left pass 1-5@right 0-1@right "
    "0-0@right",
)


@pytest.mark.parametrize(
    ("worked", "before", "rules", "extra"),
    [
        (CAPICUA, {3, 5}, {}, ["capicúa"]),
        (ENDS_ALIKE, {4}, {}, []),
        (DOUBLE_ON_ENDS_ALIKE, {4}, {}, []),
        (CAPICUA_WITH_A_BLANK, {0, 2}, {}, ["capicúa"]),
        (CAPICUA_WITH_A_BLANK, {0, 2}, {"capicua_blank": False}, []),
        (DOUBLE_BLANK, {0, 6}, {}, ["chuchazo"]),
    ],
)
def test_worked_10d(api: Api, worked: Worked, before: set[int], rules: dict[str, bool], extra: list[str]) -> None:
    """3-5 on 3 and 5, and 0-2 on 0 and 2: capicúa; 4-6 and 4-4 on 4 and 4: none; 0-0 on 0 and 6: chuchazo."""
    play, _, move = worked.play.rpartition(" ")
    points = {"capicúa": 30, "chuchazo": 40}
    table = deal_last(api, LATIN, worked, capicua=30, chuchazo=40, **rules)
    view = make_moves(api, table, play)
    assert {end["number"] for end in view["board"]["ends"]} == before
    make_moves(api, table, move)
    counted = last_round(api, table)
    assert (counted["ended_by"], counted["winner"]) == ("out", 0)
    assert extras(counted) == [(seat, text, points[text]) for seat in (0, 2) for text in extra]


def test_worked_10e(api: Api) -> None:
    """Out with a capicúa: 36 + 100 + 100 in round 1, 36 + 100 + 25 in round 4, 36 + 100 in round 5.

    After a capicúa the pips in hand are an even number: 36 stands for the 37 of the example.
    """
    table = play_out(api, LATIN, *[CAPICUA] * 5, table="quinientos", target=1000)
    rounds = api.score(table)["rounds"]
    assert [each["scores"][0] for each in rounds] == [236, 211, 186, 161, 136]
    assert extras(rounds[0]) == [(0, "round 1", 100), (2, "round 1", 100), (0, "capicúa", 100), (2, "capicúa", 100)]
    assert extras(rounds[4]) == [(0, "capicúa", 100), (2, "capicúa", 100)]
    assert totals(api.view(table)) == [930, 0, 930, 0]


# 10f

ONE_PASSES = Worked(
    (
        "0-1 0-3 1-2 2-2 2-3 3-3 4-4",
        "0-6 1-1 1-6 2-5 2-6 4-6 6-6",
        "0-0 1-3 1-4 1-5 2-4 3-4 5-5",
        "0-2 0-4 0-5 3-5 3-6 4-5 5-6",
    ),
    "6-6 pass 5-6@left pass 0-6@right 0-0@right 0-2@right 1-2@right 1-1@right 1-4@right 3-5@left 4-4@right "
    "4-6@right 3-4@left 0-4@left 0-1@left 1-6@right 1-3@right 3-6@right pass 2-6@right 2-4@right 4-5@right pass "
    "2-5@right",
)

TWO_PASS = Worked(
    (
        "0-4 1-2 1-6 2-2 3-3 4-5 4-6",
        "0-6 2-6 3-4 3-6 4-4 5-6 6-6",
        "0-0 0-1 0-3 0-5 1-4 2-4 5-5",
        "0-2 1-1 1-3 1-5 2-3 2-5 3-5",
    ),
    "6-6 pass pass 4-6@right 5-6@left 5-5@left 1-5@left 4-5@right pass 0-1@left 0-2@left 1-2@left pass 0-5@right "
    "1-1@left 1-6@left 2-6@left 2-4@left pass 0-4@right 4-4@left 1-4@left 1-3@left 3-3@left 3-4@right 0-3@left "
    "2-3@right 2-2@right",
)

THREE_PASS = Worked(
    (
        "0-0 0-3 1-2 1-5 2-4 2-5 4-5",
        "0-6 1-6 2-6 3-6 4-6 5-6 6-6",
        "0-2 0-5 1-3 1-4 2-2 2-3 3-5",
        "0-1 0-4 1-1 3-3 3-4 4-4 5-5",
    ),
    "6-6 pass pass pass 2-6@right 2-3@right 3-3@right 0-3@right 3-6@left 3-5@left 5-5@left 4-5@left 0-6@right "
    "1-4@left 0-1@left 0-0@left 5-6@right 0-2@left pass 2-5@left pass 0-5@right 0-4@right 2-4@right pass "
    "2-2@right pass 1-2@right 1-6@right pass pass 1-5@left",
)


@pytest.mark.parametrize(
    ("worked", "begins", "extra"),
    [
        (ONE_PASSES, "6-6 pass 5-6@left", ["pase de salida"]),
        (TWO_PASS, "6-6 pass pass 4-6@right", []),
        (THREE_PASS, "6-6 pass pass pass", ["paso corrido"]),
    ],
)
def test_worked_10f(api: Api, worked: Worked, begins: str, extra: list[str]) -> None:
    """Led by seat 1. Only seat 2 passes: 25 for the leader's team; 2 and 3 pass: nothing; 2, 3 and 0 pass: 25."""
    assert worked.play.startswith(begins)
    counted = last_round(api, play_out(api, LATIN, worked, table="dominican"))
    assert extras(counted) == [(seat, text, 25) for text in extra for seat in (1, 3)]


def test_worked_10f_the_team_that_loses_the_round_has_its_extra(api: Api) -> None:
    """Team 0 wins the round, here with 31, in the example with 60; team 1 has its 25 all the same."""
    table = play_out(api, LATIN, THREE_PASS, table="dominican")
    counted = last_round(api, table)
    assert (counted["scores"], counted["winner"] % 2) == ([31, 25, 31, 25], 0)
    assert totals(api.view(table)) == [31, 25, 31, 25]


# The double-nine set


def test_10_2_at_the_cuban_table_the_highest_double_in_a_hand_leads_and_fifteen_tiles_stay_asleep(api: Api) -> None:
    hands = deal(LATIN, "…", "8-8 …", "7-7 …", "…", stock="9-9", table="cuban")
    table = api.create(LATIN, 4, deals=[hands], rules={"table": "cuban"})
    view = api.view(table, 1)
    assert view["stock"] == {"tiles": 15, "drawable": 0}
    assert (seat_to_move(view), [move["tile"] for move in view["legal_moves"]]) == (1, ["8-8"])
    assert (view["rules"]["set"], view["rules"]["target"], view["rules"]["count"]) == (9, 150, "opponents")
    assert "teams" not in view["rules"]


def test_10_1_only_four_can_play_and_there_is_no_option_teams(api: Api) -> None:
    for players, rules in ((2, {}), (3, {}), (5, {}), (4, {"teams": 2}), (4, {"set": 7}), (4, {"capicua": 101})):
        names = [{"name": name} for name in ("Ann", "Bo", "Cy", "Di", "Ed")[:players]]
        assert api.try_create(LATIN, names, rules=rules).status_code == 422
