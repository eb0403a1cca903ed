"""``GET /v1/games/{game}/score``: the standings, and the score lines of every round.

How a round is counted, who stands where, and what is paid hold the laws and the rules of the engine; here is what is
shown of it. ``test_worked_examples`` has the card of one counted round of each game.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.api.client import Api
from tests.api.saved_games import SavedGame, decoded
from tests.engine.table import SCORING_PLAYS
from tests.support.table import match_finished

pytestmark = pytest.mark.quick

ALWAYS = {"game_id", "version", "status", "best", "standings", "rounds", "winners"}
ROUND = {"number", "ended_by", "hands", "scores", "carried", "lines"}
BEST = {
    "homo-homini-lupus": "highest",
    "menschenwolf": "lowest",
    "fido": "highest",
    "dominospiel": "lowest",
    "domino": "lowest",
}


def test_the_score_card_has_exactly_the_fields_of_the_contract(api: Api, saved_game: SavedGame) -> None:
    score, view = api.score(saved_game.table), api.view(saved_game.table)
    settled = (view["variant"], view["status"]) == ("dominospiel", "finished")
    carried = {"carry", "unit", "manche"} & view.keys()
    assert score.keys() == ALWAYS | carried | ({"settlement"} if settled else set())
    assert (score["game_id"], score["best"]) == (saved_game.table.id, BEST.get(view["variant"], score["best"]))
    for name in ("version", "status", "winners", *carried):
        assert score[name] == view[name]
    for each in score["rounds"]:
        assert ROUND <= each.keys() <= ROUND | {"winner", "loser", "manche"}


@pytest.mark.parametrize(("eggs", "is_shown"), [(True, True), (False, False)])
def test_what_is_carried_is_shown_where_the_rules_carry_points(api: Api, eggs: bool, is_shown: bool) -> None:
    table = api.create("kozel", 4, options={"eggs": eggs})
    assert ("carry" in api.score(table)) == ("carry" in api.view(table)) == is_shown


def test_every_viewer_gets_the_same_score_card(api: Api, saved_game: SavedGame) -> None:
    cards = [
        api.get(f"{saved_game.table.path}/score", token=token) for token in (None, *saved_game.table.tokens.values())
    ]
    assert all(card.data == cards[0].data for card in cards)
    assert len({card.headers["ETag"] for card in cards}) == len(cards)


def test_every_seat_is_listed_once_with_the_name_and_total_of_the_view(api: Api, saved_game: SavedGame) -> None:
    standings = {each["seat"]: each for each in api.score(saved_game.table)["standings"]}
    players = api.view(saved_game.table)["players"]
    assert sorted(standings) == [player["seat"] for player in players]
    for player in players:
        shown = standings[player["seat"]]
        for name in ("name", "team", "total", "active"):
            assert shown.get(name) == player.get(name)


def test_the_better_total_comes_first_who_is_out_last_and_ties_share_a_rank(api: Api, saved_game: SavedGame) -> None:
    score = api.score(saved_game.table)
    standings, sign = score["standings"], -1 if score["best"] == "highest" else 1
    for one, other in pairwise(standings):
        assert (one["rank"], one["seat"]) < (other["rank"], other["seat"])
        assert one["active"] or not other["active"]
    playing = [each for each in standings if each["active"]]
    for each in playing:
        assert each["rank"] == 1 + sum(sign * other["total"] < sign * each["total"] for other in playing)


def test_the_counted_rounds_are_listed_and_the_running_one_is_not(api: Api, saved_game: SavedGame) -> None:
    view = api.view(saved_game.table)
    counted = view["round"] - (view["status"] == "playing")
    assert [each["number"] for each in api.score(saved_game.table)["rounds"]] == list(range(1, counted + 1))


def test_lines_add_up_to_scores_and_scores_to_totals(api: Api, saved_game: SavedGame) -> None:
    score, view = api.score(saved_game.table), api.view(saved_game.table)
    totals = [0] * len(view["players"])
    for each in score["rounds"]:
        assert len(each["scores"]) == len(totals)
        explained = [0] * len(totals)
        for line in each["lines"]:
            assert line["rule"]
            assert line["text"]
            explained[line["seat"]] += line["points"]
        assert explained == each["scores"]
        totals = [total + points for total, points in zip(totals, each["scores"], strict=True)]
    shown = [player["total"] for player in view["players"]]
    if view["variant"] in SCORING_PLAYS and view["status"] == "playing":
        assert sum(shown) >= sum(totals), "the points of the running round count at once"
    else:
        assert shown == totals


def test_the_score_card_is_304_for_a_matching_etag_until_the_next_event(api: Api, saved_game: SavedGame) -> None:
    table, path = saved_game.table, f"{saved_game.table.path}/score"
    for seat, token in ((None, None), *table.tokens.items()):
        etag = api.get(path, token=token).headers["ETag"]
        assert etag == f'"{decoded(table.id, saved_game.snapshot).etag(seat)}"'
        again = api.get(path, token=token, headers={"If-None-Match": etag})
        assert (again.status_code, again.headers["ETag"]) == (304, etag)
        assert api.get(path, headers={"If-None-Match": f'"{saved_game.snapshot.version - 1}-s"'}).status_code == 200
    known = api.get(path).headers["ETag"]
    view = api.view(table)
    if view["status"] in ("playing", "round_over"):
        api.play_until(table, lambda now: now["version"] > view["version"])
        fresh = api.get(path, headers={"If-None-Match": known})
        assert (fresh.status_code, fresh.json and fresh.json["version"] > view["version"]) == (200, True)


def test_in_a_team_game_the_standings_say_the_teams(api: Api) -> None:
    table = api.create("domino", 4, options={"teams": 2})
    assert {each["seat"]: each["team"] for each in api.score(table)["standings"]} == {0: 0, 1: 1, 2: 0, 3: 1}


@pytest.mark.parametrize(
    ("mode", "amounts"),
    [
        ("average", [(0.67, "2/3"), (-0.33, "-1/3"), (-0.33, "-1/3")]),
        ("difference", [(1, "1"), (-0.5, "-1/2"), (-0.5, "-1/2")]),
        ("fixed", [(7, "7"), (-3.5, "-7/2"), (-3.5, "-7/2")]),
    ],
)
def test_a_settlement_has_exact_amounts_and_who_pays_whom(
    api: Api, mode: str, amounts: list[tuple[float, str]]
) -> None:
    """Totals 22, 23 and 23, after the first move listed each time (rules 4.8)."""
    rules = {"limit": 1, "settlement": mode, "stake": 7}
    table = api.create("dominospiel", 3, seed="tie 71", options=rules)
    api.play_until(table, match_finished)
    settled = api.score(table)["settlement"]
    paid = [(-amount, exact.removeprefix("-")) for amount, exact in amounts[1:]]
    assert settled == {
        "mode": mode,
        "amounts": [{"seat": seat, "amount": amount, "exact": exact} for seat, (amount, exact) in enumerate(amounts)],
        "payments": [
            {"from": seat, "to": 0, "amount": amount, "exact": exact} for seat, (amount, exact) in enumerate(paid, 1)
        ],
    }
