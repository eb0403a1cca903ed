"""``POST /v1/seeks``: strangers sit down at the same table, and nobody at one that is empty or another."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from itertools import count
from typing import Any

import pytest
import redis

from tests.api.client import Api, errors_of, status_and_code, told
from tests.api.followers import events_in
from tests.api.timed import TimedApi

pytestmark = pytest.mark.gate

Seek = Callable[..., dict[str, Any]]

_limits = count(30)


@pytest.fixture
def options() -> dict[str, Any]:
    """House rules that no other test has, so that no table of theirs is as asked for."""
    return {"limit": next(_limits)}


@pytest.fixture
def seek(timed_api: TimedApi, options: dict[str, Any]) -> Seek:
    """Seek a table of three, and give the answer."""

    def ask(name: str = "Ada", *, api: Api = timed_api, token: str | None = None, **fields: Any) -> dict[str, Any]:
        body = {"variant": "domino", "players": 3, "name": name, "options": options, **fields}
        return told(api.post("/v1/seeks", body, token=token), 201)

    return ask


def table_of(answers: list[dict[str, Any]]) -> list[tuple[str, int, bool]]:
    """At which table and seat each sits, and whether it was opened; tables by letters in their order."""
    letters = {game: chr(97 + at) for at, game in enumerate(dict.fromkeys(each["game"]["id"] for each in answers))}
    return [(letters[each["game"]["id"]], each["seat"], each["opened"]) for each in answers]


def test_strangers_sit_down_one_after_another_and_the_last_one_begins(seek: Seek, timed_api: TimedApi) -> None:
    answers = [seek(name) for name in ("Ada", "Bo", "Cem", "Dee")]
    assert table_of(answers) == [("a", 0, True), ("a", 1, False), ("a", 2, False), ("b", 0, True)]
    last = answers[2]["game"]
    assert (last["status"], [each["name"] for each in last["players"]]) == ("playing", ["Ada", "Bo", "Cem"])
    for each in answers[:3]:
        own = timed_api.get(f"/v1/games/{last['id']}", token=each["token"]).get_json()
        assert (own["you"]["seat"], len(own["you"]["hand"])) == (each["seat"], 7)


def test_a_table_is_the_same_in_all_that_is_asked_for(seek: Seek, options: dict[str, Any]) -> None:
    wishes: list[dict[str, Any]] = [
        *(
            {},
            {"players": 2},
            {"variant": "block", "options": {}},
            {"options": {**options, "hand": 5}},
            {"clock": {"turn": 30}},
        ),
        *({"fill": {"after": 60, "bot": "casual"}}, {"fill": {"after": 60, "bot": "greedy"}}, {"clock": {"turn": 31}}),
    ]
    opened = [seek(**wish) for wish in wishes]
    assert all(each["opened"] for each in opened)
    joined = [seek("Bo", **wish) for wish in wishes]
    assert [each["game"]["id"] for each in joined] == [each["game"]["id"] for each in opened]
    assert not seek("Cem", options={**options, "hand": 7})["opened"], "the default, though it is said"


def test_a_seat_that_was_left_is_given_to_the_next_one(seek: Seek, timed_api: TimedApi) -> None:
    ada, bo = seek("Ada"), seek("Bo")
    timed_api.delete(f"/v1/games/{ada['game']['id']}/players/0", token=ada["token"])
    cem, dee = seek("Cem"), seek("Dee")
    assert table_of([ada, bo, cem, dee]) == [("a", 0, True), ("a", 1, False), ("a", 0, False), ("a", 2, False)]


def test_a_table_that_nobody_looks_at_is_not_offered(seek: Seek, timed_api: TimedApi) -> None:
    ada = seek("Ada")
    timed_api.clock.advance(119)
    bo = seek("Bo")
    timed_api.clock.advance(60)
    timed_api.get(f"/v1/games/{ada['game']['id']}")  # not a player
    assert table_of([ada, bo, seek("Cem")]) == [("a", 0, True), ("a", 1, False), ("b", 0, True)]
    timed_api.get(f"/v1/games/{ada['game']['id']}", token=bo["token"])
    assert table_of([ada, seek("Dee")])[1] == ("a", 2, False), "it has waited longest, and is looked at again"


def test_who_goes_away_while_waiting_is_taken_off(seek: Seek, timed_api: TimedApi) -> None:
    ada, bo = seek("Ada"), seek("Bo")
    path = f"/v1/games/{ada['game']['id']}"
    assert timed_api.reminded(ada["game"]["id"]) == timed_api.clock.now + 120_000
    for seconds in (60, 59):
        timed_api.clock.advance(seconds)
        timed_api.get(path, token=bo["token"])
    assert not timed_api.act(ada["game"]["id"])
    timed_api.clock.advance(1)
    assert timed_api.act(ada["game"]["id"]) == "free"
    assert timed_api.get(path, token=ada["token"]).status_code == 401
    view = timed_api.get(path, token=bo["token"]).get_json()
    assert [each["kind"] for each in view["players"]] == ["open", "human", "open"]
    assert seek("Cem")["seat"] == 0
    timed_api.clock.advance(119)
    assert timed_api.act(ada["game"]["id"]), "Bo, but not Cem"
    assert [each["kind"] for each in timed_api.get(path).get_json()["players"]] == ["human", "open", "open"]


def test_an_open_stream_is_a_look(seek: Seek, timed_api: TimedApi) -> None:
    ada = seek("Ada")
    path = f"/v1/games/{ada['game']['id']}"
    how = {"headers": {"Accept": "text/event-stream"}, "buffered": False}
    with closing(timed_api.ask_unchecked("GET", f"{path}/events", token=ada["token"], **how)) as stream:
        chunks = stream.iter_encoded()
        assert len([event for _ in range(2) for event in events_in(next(chunks))]) == 2
        timed_api.clock.advance(121)
        next(chunks)  # a keep-alive
        assert not timed_api.act(ada["game"]["id"])
        assert not seek("Bo")["opened"]


def test_a_table_of_strangers_fills_itself(seek: Seek, timed_api: TimedApi) -> None:
    wish = {"fill": {"after": 60, "bot": "casual"}}
    ada = seek("Ada", **wish)
    assert ada["game"]["fills_at"] == "2030-01-01T00:01:00.000Z"
    timed_api.clock.advance(60)
    assert timed_api.act(ada["game"]["id"]) == "fill"
    view = timed_api.get(f"/v1/games/{ada['game']['id']}").get_json()
    assert (view["status"], [each["kind"] for each in view["players"]]) == ("playing", ["human", "bot", "bot"])
    assert seek("Bo", **wish)["opened"]


def test_a_repeated_request_gets_the_same_seat(timed_api: TimedApi, seek: Seek, options: dict[str, Any]) -> None:
    body = {"variant": "domino", "players": 2, "name": "Ada", "options": options}
    how = {"headers": {"Idempotency-Key": "the-seek-of-ada-once"}}
    first = timed_api.post("/v1/seeks", body, **how)
    seek("Bo", players=2)
    again = timed_api.post("/v1/seeks", body, **how)
    assert (again.get_json(), again.headers["Idempotent-Replayed"]) == (first.get_json(), "true")
    assert status_and_code(timed_api.post("/v1/seeks", body | {"name": "Eve"}, **how)) == (422, "key_reused")
    assert status_and_code(timed_api.post("/v1/seeks", body | {"players": 3}, **how)) == (422, "key_reused")


def test_an_application_has_its_own_tables(
    api: Api, seek: Seek, app_key: str, other_key: str, publish: Callable[[], None]
) -> None:
    def ask(name: str, token: str | None, **more: Any) -> dict[str, Any]:
        return seek(name, api=api, token=token, **more)

    answers = [ask("Ada", app_key, ref="a"), ask("Bo", other_key), ask("Cem", None), ask("Dee", app_key, ref="d")]
    assert [place for place, _, _ in table_of(answers)] == ["a", "b", "c", "a"]
    publish()
    (listed,) = api.get("/v1/games?player_ref=d", token=app_key).get_json()["games"]
    assert [each.get("ref") for each in listed["players"]] == ["a", "d", None]
    assert api.get("/v1/lobby", token=app_key).get_json()["games"] == []
    assert "join_code" not in listed
    refused = api.post("/v1/seeks", {"variant": "domino", "players": 2, "name": "Eve", "ref": "e"})
    assert errors_of(refused.get_json()).keys() == {"ref"}


@pytest.mark.parametrize(("lobby", "keys"), [("app", [True]), ("all", [True, False]), (None, [])])
def test_tables_in_a_lobby_are_offered_to_those_who_find_it(
    api: Api, seek: Seek, app_key: str, options: dict[str, Any], lobby: str | None, keys: list[bool]
) -> None:
    fields: dict[str, Any] = {} if lobby is None else {"lobby": lobby}
    players = [{"name": "Ada"}, {"open": True}, {"open": True}]
    body = {"variant": "domino", "players": players, "options": options, **fields}
    made = api.post("/v1/games", body, token=app_key).get_json()["game"]["id"]
    for with_key in (True, False):
        assert (seek("Bo", api=api, token=app_key if with_key else None)["game"]["id"] == made) == (with_key in keys)


@pytest.mark.parametrize("more", [{"seed": "s"}, {"auto": True}, {"unique_names": True}, {"spectators": False}])
def test_what_nobody_can_ask_for_is_not_offered(
    api: Api, seek: Seek, app_key: str, options: dict[str, Any], more: dict[str, Any]
) -> None:
    body = {"variant": "domino", "players": [{"open": True}] * 3, "options": options, "lobby": "app", **more}
    assert api.post("/v1/games", body, token=app_key).status_code == 201
    assert seek(api=api, token=app_key)["opened"]


def test_a_table_that_was_deleted_is_passed_over(api: Api, seek: Seek, app_key: str) -> None:
    first = seek("Ada", api=api, token=app_key)
    api.delete(f"/v1/games/{first['game']['id']}", token=app_key)
    assert table_of([first, seek("Bo", api=api, token=app_key)]) == [("a", 0, True), ("b", 0, True)]


def test_a_table_that_was_listed_but_never_made_is_made_by_the_next_one(
    seek: Seek, timed_api: TimedApi, server: redis.Redis
) -> None:
    ada = seek("Ada")
    game = ada["game"]["id"]
    for name in server.keys(f"domino:{{{game}}}*"):
        server.delete(name)
    assert table_of([ada, seek("Bo")]) == [("a", 0, True), ("a", 1, True)]
    view = timed_api.get(f"/v1/games/{game}").get_json()
    assert [each["kind"] for each in view["players"]] == ["open", "human", "open"]
