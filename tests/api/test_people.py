"""What is kept of a person of an application over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any
from urllib.parse import quote

import pytest

from tests.api.client import Api, Table, refusal, status_and_code, told
from tests.api.saved_games import shortest
from tests.support.table import match_finished

pytestmark = pytest.mark.gate

Publish = Callable[[], None]
ADA, BOB = {"name": "Ada Lovelace", "ref": "user-ada"}, {"name": "Bob Bernoulli", "ref": "user-bob"}


def create(api: Api, key: str | None, players: Any = (ADA, BOB), **more: Any) -> Table:
    """A new game of the application with this key."""
    return api.create("domino", players, key=key, **more)


def path_of(ref: str, query: str = "") -> str:
    return f"/v1/players/{quote(ref, safe='')}{query}"


def kept(api: Api, key: str, ref: str = "user-ada", query: str = "") -> Any:
    """The page about a person."""
    return told(api.get(path_of(ref, query), token=key))


def test_a_person_s_games_seats_names_and_results_are_told(api: Api, app_key: str, publish: Publish) -> None:
    table = create(api, app_key, ref="match-1", options=shortest("domino"))
    api.play_until(table, match_finished, Random(1))
    publish()
    view = api.get(table.path, token=app_key).get_json()
    standings = {each["seat"]: each for each in api.score(table)["standings"]}
    for ref, seat in (("user-ada", 0), ("user-bob", 1)):
        page = kept(api, app_key, ref)
        assert page.keys() == {"ref", "games"}
        assert page["ref"] == ref
        (game,) = page["games"]
        for name in ("id", "ref", "variant", "status", "version", "round", "winners", "updated_at", "expires_at"):
            assert game[name] == view[name], name
        (told,) = game["seats"]
        player = view["players"][seat]
        same = {name: player[name] for name in ("seat", "name", "kind", "total", "active")}
        assert told == {**same, "rank": standings[seat]["rank"]}


def test_a_person_in_two_seats_and_in_an_open_one_is_told_of_each(api: Api, app_key: str, publish: Publish) -> None:
    create(api, app_key, [ADA, BOB, {**ADA, "name": "Ada too"}, {"open": True, "ref": "user-ada"}])
    publish()
    (game,) = kept(api, app_key)["games"]
    named = [(each["seat"], each["kind"], each.get("name")) for each in game["seats"]]
    assert named == [(0, "human", "Ada Lovelace"), (2, "human", "Ada too"), (3, "open", None)]
    assert all("rank" not in each for each in game["seats"])


def test_nothing_is_told_of_those_who_sit_beside_a_person(api: Api, app_key: str, publish: Publish) -> None:
    table = create(api, app_key)
    table.make_legal_move()
    publish()
    text = api.get(path_of("user-ada"), token=app_key).text
    assert "Bob" not in text
    assert "user-bob" not in text
    assert not any(token in text for token in table.tokens.values())


def test_the_pages_about_a_person_lead_to_each_other(api: Api, app_key: str, publish: Publish) -> None:
    games = {create(api, app_key).id for _ in range(7)}
    create(api, app_key, [BOB, {"bot": "greedy"}])
    publish()
    found: list[str] = []
    query = "?limit=3"
    for _ in range(3):
        page = kept(api, app_key, query=query)
        found += [game["id"] for game in page["games"]]
        query = f"?limit=3&cursor={page.get('next')}"
    assert "next" not in page
    assert sorted(found) == sorted(games)


@pytest.mark.parametrize("ref", ["user/17", "/users//17/", "..a", "50%", "Ünal", "a?b=c#d", "a+b", "%2F", "名前"])
def test_any_ref_may_be_asked_for(api: Api, app_key: str, publish: Publish, ref: str) -> None:
    table = create(api, app_key, [{"name": "Ada", "ref": ref}, BOB])
    publish()
    page = kept(api, app_key, ref)
    assert (page["ref"], page["games"][0]["id"]) == (ref, table.id)


def test_people_of_others_are_told_as_if_there_were_none(
    api: Api, app_key: str, other_key: str, publish: Publish
) -> None:
    create(api, app_key)
    publish()
    answers = [api.get(path_of(ref), token=other_key) for ref in ("user-ada", "user-eve", "x" * 100, "a b")]
    assert {status_and_code(each) for each in answers} == {(404, "not_found")}
    assert {each.get_json()["reason"] for each in answers} == {"no_such_person"}
    assert len({each.data for each in answers}) == 1
    assert status_and_code(api.get(path_of("user-eve"), token=app_key)) == (404, "not_found")


def test_people_are_told_to_applications_only(api: Api, app_key: str, publish: Publish) -> None:
    table = create(api, app_key)
    publish()
    for token in (None, table.tokens[0], app_key[:-1]):
        assert status_and_code(api.get(path_of("user-ada"), token=token)) == (401, "unauthorized")


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("limit=0", "out_of_range"),
        ("limit=201", "out_of_range"),
        ("cursor=next", "not_a_cursor"),
        ("cursor=", "length"),
        ("ref=user-ada", "unknown_parameter"),
    ],
)
def test_a_wrong_query_about_a_person_is_refused(api: Api, app_key: str, query: str, reason: str) -> None:
    assert refusal(api.get(path_of("user-ada", f"?{query}"), token=app_key)) == (422, "invalid", reason)
