"""Players follow the protocol of ``docs/fairness.md``, and check their match with both verifiers."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from service.engine.variants import variants
from tests.api.client import Api
from tests.api.saved_games import longest, shortest, variants_in_lane
from tests.support.table import match_finished, reached, round_over, seat_to_move
from tests.vectors.verifiers import Said, in_javascript, in_python

pytestmark = pytest.mark.gate

Noted = dict[int, str]


def note(api: Api, path: str, noted: Noted) -> None:
    """Record the published commitments; none may have changed."""
    for each in api.get(path).get_json()["commitments"]:
        assert noted.setdefault(each["round"], each["commitment"]) == each["commitment"]


def check(api: Api, path: str, noted: Noted) -> tuple[Said, dict[str, Any]]:
    answer = api.get(f"{path}/fairness")
    said = in_python().run(given=answer.data)
    assert in_javascript().run(given=answer.data) == said
    report: dict[str, Any] = answer.get_json()
    assert {each["round"]: each["commitment"] for each in report["rounds"]} == noted
    return said, report


@pytest.mark.parametrize("key", variants_in_lane())
def test_a_match_among_players_who_trust_nobody_can_be_checked_as_the_page_says(api: Api, key: str) -> None:
    seats = variants()[key].players.low
    noted: Noted = {}
    table = api.create(key, [{"open": True}] * seats, options=longest(key, rounds=2))
    note(api, table.path, noted)
    assert check(api, table.path, noted)[0].left == 2

    given = [f"of seat {seat}: 🁣 {Random(seat).random()}" for seat in range(seats)]
    hands = {}
    for text in given:
        api.take_seat(table, client_seed=text)
    for seat in range(seats):
        hands[seat] = api.view(table, seat)["you"]["hand"]
    note(api, table.path, noted)
    assert check(api, table.path, noted)[0].out.endswith("0 hold, 2 open, 0 wrong\n")

    view = api.play_until(table, round_over, Random(key))
    assert view["status"] == "round_over"
    said, report = check(api, table.path, noted)
    assert said.left == 0
    assert report["rounds"][0]["client_seeds"] == given
    assert report["rounds"][0]["hands"] == [names(hands[seat]) for seat in range(seats)]

    dealer = seat_to_move(view)
    api.make_move(table, dealer, {"action": "deal", "client_seed": "another text"})
    note(api, table.path, noted)
    api.play_until(table, lambda view: view["round"] == 2 and round_over(view), Random(key))
    said, report = check(api, table.path, noted)
    assert said.left == 0
    given[dealer] = "another text"
    assert report["rounds"][1]["client_seeds"] == given


@pytest.mark.parametrize("key", variants_in_lane())
def test_of_a_finished_match_nothing_is_left_open(api: Api, key: str) -> None:
    noted: Noted = {}
    table = api.create(key, variants()[key].players.low, options=shortest(key))
    view = api.view(table)
    while not match_finished(view):
        note(api, table.path, noted)
        view = api.play_until(table, reached(view["version"] + 1), Random(key))
    said, report = check(api, table.path, noted)
    assert said.left == 0
    assert said.out.endswith(f"{len(report['rounds'])} hold, 0 open, 0 wrong\n")


def names(hand: list[Any]) -> list[str]:
    return [each if isinstance(each, str) else each["tile"] for each in hand]


def test_the_verifiers_report_that_an_arranged_match_proves_nothing(api: Api) -> None:
    table = api.create("domino", 2, seed="arranged")
    said, report = check(api, table.path, {})
    assert not report["provable"]
    assert said == (2, "", "-: there is nothing to check: the deals of this game were arranged, or not committed to\n")
