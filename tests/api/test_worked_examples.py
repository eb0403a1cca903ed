"""The worked examples of the rules: arranged deals whose play ends with the hands of the example.

The hands and the moves are data; what is expected of them is copied from the rules.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tests.api.client import Api, Table
from tests.api.deals import deal
from tests.api.notation import find_move, make_moves
from tests.api.worked import Worked, last_round, left_in, play_out, totals, values
from tests.support.table import seat_to_move

# 1.7

CLOSED = Worked(
    ("0-0 0-4 4-4 …", "0-1 1-1 …", "0-2 2-2 …", "0-3 3-3 …"),
    "0-0 0-1 0-2 0-3 0-4 1-1@0-1! 2-2@0-2! 3-3@0-3! 4-4@0-4!",
)
NOTHING_FITS = Worked(
    ("0-0 0-4 4-4 …", "0-1 1-5 0-5 …", "0-2 2-6 0-6 …", "0-3 3-3 …"),
    "0-0 0-1 0-2 0-3 0-4 1-5@0-1 2-6@0-2 3-3@0-3! 4-4@0-4! 0-5@1-5 0-6@2-6",
)


@pytest.mark.parametrize(("worked", "reason"), [(CLOSED, "closed"), (NOTHING_FITS, "blocked")], ids=["b", "c"])
def test_1_7_worked_example_over_at_once(api: Api, worked: Worked, reason: str) -> None:
    """All arms closed → over at once; the open ends are 0 and 0 and all seven 0-tiles lie → over at once."""
    table = play_out(api, "homo-homini-lupus", worked)
    counted = last_round(api, table)
    assert (counted["ended_by"], "winner" in counted) == (reason, False)
    assert api.view(table)["stock"]["tiles"] == 4, "even with stock left"
    assert counted["scores"] == [25 * sum(values(counted)) - 100 * each for each in values(counted)]


# 1.8

FOUR_WOLVES = Worked(
    (
        "0-0 0-2 0-3 1-1 1-3 3-3",
        "0-5 0-6 1-2 2-5 3-4 4-6",
        "0-4 1-4 1-6 4-4 5-6 6-6",
        "2-2 2-3 2-6 3-5 3-6 4-5",
    ),
    "0-0 0-6@e1 0-4@e3 2-6@e5 0-3@e2 1-2@e7 1-4@e9 2-3@e8 0-2@e4 2-5@e11 4-4@e10 3-5@e13 1-3@e15 4-6@e6 6-6@e17! "
    "2-2@e12 1-1@e16 3-4@e14 1-6@e20 3-6@e22 3-3@e21!",
)


def test_1_8_worked_example(api: Api) -> None:
    """A out, B 0-5, C 5-6, D 4-5 → S = 25, S/4 = 6.25 → A +625, B +125, C −475, D −275."""
    table = play_out(api, "homo-homini-lupus", FOUR_WOLVES)
    counted = last_round(api, table)
    assert (counted["ended_by"], counted["winner"]) == ("out", 0)
    assert left_in(counted) == ["", "0-5", "5-6", "4-5"]
    assert values(counted) == [0, 5, 11, 9]
    assert counted["scores"] == [625, 125, -475, -275] == totals(api.view(table))
    assert [(line["seat"], line["points"], line["rule"]) for line in counted["lines"]] == [
        (seat, points, "1.8") for seat, points in enumerate((625, 125, -475, -275))
    ]
    assert counted["lines"][0]["text"] == "(25 ÷ 4 − 0) × 100"


# 2.11

ONE_LOSER = Worked(
    (
        "0-3 0-5 1-1 1-2 2-2 3-4 3-6",
        "0-0 1-3 1-4 1-5 2-6 3-3 5-5",
        "0-2 0-6 2-4 3-5 4-5 4-6 6-6",
        "0-1 0-4 1-6 2-3 2-5 4-4 5-6",
    ),
    "1-2 2-6@e2 4-6@e3 1-6@e1 3-6@e5 3-3@e6 3-5@e7 4-4@e4 3-4@e9 1-4@e12 4-5@e10 0-1@e13 0-5@e15 5-5@e16 2-4@e14 "
    "0-4@e11 2-2@e18 1-5@e17 0-6@e19 2-3@e8 1-1@e21! pass 0-2@e20 5-6@e22 0-3@e25",
)
TWO_LOSERS = Worked(
    (
        "0-0 0-1 0-3 0-6 1-1 1-2 1-5",
        "1-6 2-3 3-3 3-4 4-6 5-5 5-6",
        "0-4 2-6 3-5 3-6 4-4 4-5 6-6",
        "0-2 0-5 1-3 1-4 2-2 2-4 2-5",
    ),
    "1-2 1-6@e1 3-6@e3 2-2@e2 0-3@e4 2-3@e5 2-6@e7 1-3@e9 1-1@e11! done 5-6@e10 0-4@e8 0-2@e6 0-0@e15 3-4@e14 "
    "4-5@e13 0-5@e16 1-5@e19 3-3@e17! 4-4@e18 2-4@e22 0-1@e20 pass pass 2-5@e23 0-6@e24",
)


@pytest.mark.parametrize(
    ("others_write_own", "scores"), [(False, [0, 0, 71, 0]), (True, [0, 14, 71, 7])], ids=["nothing", "their own"]
)
def test_2_11_worked_example_with_a_single_loser(api: Api, others_write_own: bool, scores: list[int]) -> None:
    """A out, B {0-0, 1-3} = 14, C {6-6} = 50, D {2-5} = 7 → C writes 71, the others nothing (or their own)."""
    table = play_out(api, "menschenwolf", ONE_LOSER, others_write_own=others_write_own)
    counted = last_round(api, table)
    assert (counted["ended_by"], counted["winner"], counted["loser"]) == ("out", 0, 2)
    assert left_in(counted) == ["", "0-0 1-3", "6-6", "2-5"]
    assert values(counted) == [0, 14, 50, 7]
    assert counted["scores"] == scores == totals(api.view(table))
    assert (counted["carried"], api.view(table)["carry"]) == (0, 0)


def test_2_11_worked_example_without_a_single_loser(api: Api) -> None:
    """B and C 20 each, D 5 → nobody writes, 45 carried; the next single loser writes them too."""
    table = play_out(api, "menschenwolf", TWO_LOSERS, limit=1000)
    counted = last_round(api, table)
    assert values(counted) == [0, 20, 20, 5]
    assert (counted["winner"], "loser" in counted) == (0, False)
    assert (counted["scores"], counted["lines"], counted["carried"]) == ([0] * 4, [], 45)
    assert api.view(table)["carry"] == api.score(table)["carry"] == 45

    make_moves(api, table, "deal")
    api.play_until(table, lambda view: view["status"] == "round_over")
    following = last_round(api, table)
    assert following["scores"][following["loser"]] == sum(values(following)) + 45
    assert [line["points"] for line in following["lines"]] == [sum(values(following)), 45]
    assert api.view(table)["carry"] == api.score(table)["carry"] == 0


# 3.5

COUNTED = (
    "0-0 0-3 0-4 0-7 0-9 0-12 1-6 1-9 1-11 2-11 3-5 3-7 3-9 3-12 4-4 5-5 5-11 7-7 7-10 8-8 8-11 12-12",
    "0-8 0-10 0-11 1-7 1-8 2-3 2-7 2-8 3-3 3-4 4-5 4-6 4-9 4-10 4-12 5-9 5-10 5-12 6-11 8-12 9-10 10-12",
    "0-1 0-5 1-2 1-10 1-12 2-12 3-6 4-7 4-8 4-11 6-6 6-7 6-8 6-9 6-12 7-9 7-11 7-12 8-10 9-11 10-11 11-11",
)
COUNTING = (
    ("12-12", 24, 0),
    ("10-12@12-12.long", 34, 0),
    ("10-11@10-12", 35, 5),
    ("0-12@12-12.long", 35, 5),
    ("5-12@12-12.short", 28, 4),
    ("11-11@10-11", 39, 0),
    ("1-11@11-11.short", 29, 0),
    ("6-11@11-11.long", 35, 5),
    ("1-12@1-11", 46, 0),
    ("5-11@5-12", 52, 0),
    ("0-11@0-12", 63, 9),
)
"""Each move with the sum and the points after it; the last three lead on to the 63 of the rules."""


def counting(api: Api) -> Table:
    return api.create("fido", 3, deals=[deal("fido", *COUNTED)])


def test_3_5_worked_example(api: Api) -> None:
    """12-12 → 24 · 34 · 35, 5 points · 35, 5 · 28, 4 · 39 · 29 · 35, 5; and 63 → 9 points."""
    table = counting(api)
    written = [0, 0, 0]
    for number, (text, ends_sum, points) in enumerate(COUNTING):
        seat = seat_to_move(api.view(table))
        assert seat == number % 3
        listed = find_move(api, table, text)
        assert (listed["ends_sum"], listed["points"]) == (ends_sum, points)
        view = make_moves(api, table, text)
        written[seat] += points
        assert view["board"]["ends_sum"] == ends_sum == sum(end["counts"] for end in view["board"]["ends"])
        assert totals(view) == written
    assert written == [5, 5 + 4 + 9, 5]


def test_3_5_worked_example_at_34(api: Api) -> None:
    """At 34: 6-12 on a short side → 28, 4 points; the same tile on the free long side → 40, 0."""
    for side, ends_sum, points in (("short", 28, 4), ("long", 40, 0)):
        table = counting(api)
        make_moves(api, table, "12-12 10-12@12-12.long")
        listed = find_move(api, table, f"6-12@12-12.{side}")
        assert (listed["ends_sum"], listed["points"]) == (ends_sum, points)
        view = make_moves(api, table, f"6-12@12-12.{side}")
        assert (view["board"]["ends_sum"], totals(view)) == (ends_sum, [0, 0, points])


def test_3_10_worked_rows(api: Api) -> None:
    """Rows at 7: 3-12 → 2; 8-8 → 1; 0-0, 7-7, 0-7 → 7."""
    you = api.view(counting(api), 0)["you"]
    rows = dict(zip(you["hand"], you["rows"], strict=True))
    assert [rows[tile] for tile in ("3-12", "8-8", "0-0", "7-7", "0-7")] == [2, 1, 7, 7, 7]


# 4.8

FIRST_OF_TWO = Worked(
    (
        "0-0 0-5 1-2 1-4 2-2 2-6 4-5",
        "0-4 0-6 1-1 1-3 1-5 1-6 6-6",
        "0-2 2-3 2-5 3-3 3-4 4-4 4-6",
        "0-1 0-3 2-4 3-5 3-6 5-5 5-6",
    ),
    "0-0 0-5@left 4-5@left 1-4@left 1-2@left 2-6@left 1-6@left 0-6@right 1-1@left 1-3@left 6-6@right 4-6@right "
    "3-3@left 2-3@left 4-4@right 0-2@left 3-4@right 0-3@left 3-6@right 5-6@right 3-5@right",
)
SECOND_OF_TWO = Worked(
    (
        "1-1 1-2 1-6 2-2 4-4 4-6 5-5",
        "0-0 0-5 0-6 1-3 1-5 2-6 3-5",
        "0-2 0-4 2-3 2-4 2-5 3-4 4-5",
        "0-1 0-3 1-4 3-3 3-6 5-6 6-6",
    ),
    "0-0 0-5@right 0-6@left 3-5@right 2-6@left 1-3@right 1-5@right 2-5@left 4-5@left 0-4@left 0-2@left 2-4@left "
    "3-4@left 2-3@left 5-6@right done 1-6@right 1-2@right 2-2@right",
)
"""Two rounds whose pips add up to the totals of the example."""


@pytest.mark.parametrize(
    ("rules", "amounts", "payments"),
    [
        ({"settlement": "average"}, [-8, 16, 19, -27], None),
        ({}, [-8, 16, 19, -27], None),
        ({"settlement": "difference"}, [19, 43, 46, -108], {0: 19, 1: 43, 2: 46}),
        ({"settlement": "fixed"}, [1, 1, 1, -3], {0: 1, 1: 1, 2: 1}),
        ({"settlement": "fixed", "stake": 7}, [7, 7, 7, -21], {0: 7, 1: 7, 2: 7}),
    ],
    ids=["average", "default", "difference", "fixed", "fixed at 7"],
)
def test_4_8_worked_example(
    api: Api, rules: dict[str, Any], amounts: list[int], payments: dict[int, int] | None
) -> None:
    """A 34, B 10, C 7, D 53 → mean 26: A pays 8, B gets 16, C gets 19, D pays 27; by difference D pays 19, 43, 46."""
    table = play_out(api, "dominospiel", FIRST_OF_TWO, SECOND_OF_TWO, **rules)
    view, score = api.view(table), api.score(table)
    assert (view["status"], view["winners"]) == ("finished", [2])
    assert totals(view) == [34, 10, 7, 53]
    assert [each["scores"] for each in score["rounds"]] == [[4, 10, 7, 17], [30, 0, 0, 36]]
    settled = score["settlement"]
    assert settled["mode"] == rules.get("settlement", "average")
    assert [(each["seat"], each["amount"], each["exact"]) for each in settled["amounts"]] == [
        (seat, amount, str(amount)) for seat, amount in enumerate(amounts)
    ]
    made_up = [0, 0, 0, 0]
    for payment in settled["payments"]:
        assert Fraction(payment["exact"]) == payment["amount"] > 0
        made_up[payment["from"]] -= payment["amount"]
        made_up[payment["to"]] += payment["amount"]
    assert made_up == amounts
    if payments is not None:
        assert {payment["to"]: payment["amount"] for payment in settled["payments"]} == payments
        assert {payment["from"] for payment in settled["payments"]} == {3}


# 5.9: seats 0 and 3 are team A, 1 and 4 team B, 2 and 5 team C

FINISHED = Worked(
    (
        "0-9 1-6 1-8 3-3 3-8 9-9",
        "0-2 0-3 1-2 3-9 4-6 4-9",
        "0-7 1-3 1-4 2-2 2-6 3-7",
        "0-4 0-8 1-1 1-7 2-5 5-6",
        "0-5 1-5 4-8 5-5 5-9 6-9",
        "0-6 1-9 3-5 3-6 5-8 8-8",
    ),
    "9-9 3-9@right 1-3@right 1-1@right 6-9@left 1-9@right 0-9@right 0-2@right 2-6@right 5-6@left 1-5@left 3-6@right "
    "3-3@right 0-3@right 1-4@left 0-4@right 4-8@right 8-8@right 3-8@right 4-9@left 3-7@right 1-7@right 5-9@left "
    "5-8@left 1-8@left 1-2@right 2-2@right 2-5@right 0-5@right 0-6@right 1-6@left",
)
LONE_ZERO_IN_ANOTHER_TEAM = Worked(
    (
        "0-6 1-7 4-5 5-5 8-9 9-9",
        "0-0 1-3 2-7 4-7 5-9 6-9",
        "0-7 0-9 1-4 2-2 3-8 4-9",
        "0-2 0-3 2-4 3-5 5-6 5-8",
        "1-8 1-9 2-9 3-9 4-6 6-6",
        "0-1 0-4 2-6 6-8 7-8 7-9",
    ),
    "9-9 5-9@right 4-9@left 2-4@left 2-9@left 7-9@left 5-5@right 4-7@left 1-4@left 5-8@right 1-8@left 7-8@left "
    "8-9@right 2-7@left 2-2@left 0-2@left 1-9@right 0-4@left 4-5@left 1-3@right 3-8@right 5-6@left 6-6@left 6-8@right "
    "0-6@left 6-9@right 0-9@right 0-3@left 3-9@left 0-1@right 1-7@right",
)
LONE_ZERO_OF_THE_PARTNER = Worked(
    (
        "0-9 2-3 3-3 5-8 8-9 9-9",
        "0-2 0-3 0-5 3-4 3-9 4-6",
        "0-7 0-8 1-3 1-4 2-6 4-9",
        "0-0 0-4 1-1 4-8 5-6 5-9",
        "0-6 1-5 4-4 5-5 5-7 6-9",
        "1-9 2-4 3-5 3-6 6-8 7-9",
    ),
    "9-9 3-9@right 1-3@right 1-1@right 6-9@left 1-9@right 0-9@right 0-2@right 2-6@right 5-6@left 1-5@left 3-6@right "
    "3-3@right 0-3@right 1-4@left 0-4@left 0-6@right 6-8@right 5-8@right 0-5@right 0-8@right 4-8@right 4-4@right "
    "2-4@right 2-3@right 3-4@right 4-9@right 5-9@right 5-7@right 7-9@right 8-9@right",
)
BLOCKED = Worked(
    (
        "0-0 0-5 1-1 3-5 3-8 8-8",
        "0-8 0-9 2-2 2-8 3-3 5-8",
        "1-3 2-6 3-4 3-7 7-8 7-9",
        "1-5 2-5 4-4 5-6 7-7 8-9",
        "1-9 2-9 3-9 4-5 4-6 5-5",
        "0-7 2-3 4-8 5-7 5-9 6-6",
    ),
    "8-8 2-8@left 7-8@right 2-5@left 5-5@left 5-7@right 3-5@right 5-8@left 1-3@right 8-9@left 1-9@right 5-9@right "
    "0-5@right 0-9@right 7-9@right 7-7@right 2-9@left 0-7@right 0-0@right 2-2@left 2-6@left 5-6@left 4-5@left "
    "4-8@left 3-8@left 3-3@left 3-4@left 4-4@left 4-6@left 6-6@left draw 0-6@right draw 1-6@right draw 1-4@right draw "
    "4-7@right draw 1-7@right draw 1-2@right draw 2-7@right draw 6-7@right draw 3-6@right draw 0-3@right draw 6-9@left "
    "draw 9-9@left draw 0-4@right draw 4-9@left draw 2-4@right draw 0-2@right draw 0-1@right draw 1-8@right draw "
    "6-8@right",
    "0-6 1-6 1-4 4-7 1-7 1-2 2-7 6-7 3-6 0-3 6-9 9-9 0-4 4-9 2-4 0-2 0-1 1-8 6-8",
)
ZERO_BESIDE_ANOTHER = Worked(
    (
        "1-5 2-3 3-3 3-5 4-5 5-5 5-6",
        "1-2 1-3 2-2 2-4 3-4 3-6 4-4",
        "0-3 0-5 0-6 1-6 2-5 2-6 4-6",
        "0-0 0-1 0-2 0-4 1-1 1-4 6-6",
    ),
    "1-1 1-5@left 1-3@right 2-5@left 0-2@left 3-3@right 3-6@right 1-6@right 1-4@right 4-5@right pass 0-5@right "
    "0-4@left pass 3-4@left 0-6@right 6-6@right 2-3@left 2-2@left 2-6@left pass 5-6@left pass 4-6@right pass 3-5@left "
    "2-4@right 0-3@left",
)


def teams(api: Api, worked: Worked, count: int = 3, highest: int = 9) -> dict[str, Any]:
    """The count of this play in so many teams; a team has one score and one total."""
    table = play_out(api, "domino", worked, set=highest, teams=count)
    counted = last_round(api, table)
    assert totals(api.view(table)) == counted["scores"]
    for seat, score in enumerate(counted["scores"]):
        assert score == counted["scores"][seat % count]
        assert score == sum(line["points"] for line in counted["lines"] if line["seat"] == seat)
    return counted


def by_team(counted: dict[str, Any], count: int = 3) -> list[int]:
    """What the hands of each team are worth together."""
    return [sum(hand["value"] for hand in counted["hands"] if hand["seat"] % count == team) for team in range(count)]


def test_5_9_worked_example_out(api: Api) -> None:
    """The finisher's partner holds 8, team B 20, team C 15 → A 0, B 28, C 23."""
    counted = teams(api, FINISHED)
    assert (counted["ended_by"], counted["winner"]) == ("out", 0)
    assert by_team(counted) == [8, 20, 15]
    assert counted["scores"] == [0, 28, 23] * 2


def test_5_9_worked_example_blocked(api: Api) -> None:
    """Blocked instead → 8, 20, 15."""
    counted = teams(api, BLOCKED)
    assert (counted["ended_by"], "winner" in counted) == ("blocked", False)
    assert by_team(counted) == [8, 20, 15]
    assert counted["scores"] == [8, 20, 15] * 2


def test_5_9_a_lone_double_zero_counts_10_in_another_team(api: Api) -> None:
    """Lone 0-0 = 10: the 20 of team B are 0-0 in one hand and 4-6 in the other."""
    counted = teams(api, LONE_ZERO_IN_ANOTHER_TEAM)
    assert (left_in(counted)[1], values(counted)[1], by_team(counted)) == ("0-0", 10, [8, 20, 15])
    assert counted["scores"] == [0, 28, 23] * 2


def test_5_9_a_lone_double_zero_of_the_finishers_partner_goes_to_the_other_teams(api: Api) -> None:
    """Lone 0-0 = 10: with it instead of the 8, B writes 30 and C 25."""
    counted = teams(api, LONE_ZERO_OF_THE_PARTNER)
    assert (left_in(counted)[3], values(counted)[3], by_team(counted)) == ("0-0", 10, [10, 20, 15])
    assert counted["scores"] == [0, 30, 25] * 2


def test_5_9_a_double_zero_beside_another_tile_counts_nothing(api: Api) -> None:
    """{0-0, 0-1} = 1: team B holds 1 and 11, the finisher's partner 10 → B writes 22."""
    counted = teams(api, ZERO_BESIDE_ANOTHER, count=2, highest=6)
    assert left_in(counted) == ["5-5", "1-2 4-4", "", "0-0 0-1"]
    assert (counted["winner"], values(counted)) == (2, [10, 11, 0, 1])
    assert counted["scores"] == [0, 22] * 2
