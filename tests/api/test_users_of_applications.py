"""Open seats that an application takes for its users, and the join codes of its games."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest
import redis

from service.backends.webhooks.messages import game_messages
from tests.api.client import Api, Table, causes_of, refusal, status_and_code
from tests.api.redis_contents import keys_with
from tests.api.saved_games import decoded, take_snapshot, unchanged
from tests.api.twins import history_of

pytestmark = pytest.mark.gate

Publish = Callable[[], None]
KEY = {"Idempotency-Key": "a-key-of-the-application"}
GAME, CLEO = "match-17", "user-cleo"
SECOND_BEGINS = "rain"
"""A seed of the deals of two players with which the second seat has the first turn."""


def owned(api: Api, key: str | None, open_seats: int = 1, **more: Any) -> Table:
    """A game of the application with a player who has no ref, and open seats."""
    named = {} if key is None else {"ref": GAME}
    return api.create("domino", [{"name": "Ada"}, *[{"open": True}] * open_seats], key=key, **named, **more)


def take_seat(api: Api, table: Table, key: str | None, **body: Any) -> Any:
    return api.post(f"{table.path}/players", {"name": "Cleo", **body}, token=key)


def test_an_application_takes_an_open_seat_for_a_user_without_the_code(api: Api, app_key: str) -> None:
    table = owned(api, app_key)
    answer = take_seat(api, table, app_key, ref=CLEO)
    assert answer.status_code == 201
    joined = answer.get_json()
    assert (joined["seat"], joined["name"]) == (1, "Cleo")
    assert joined["game"] == api.get(table.path, token=joined["token"]).get_json()
    assert joined["game"]["players"][1]["ref"] == CLEO
    assert api.get(table.path, token=app_key).get_json()["players"][1]["ref"] == CLEO
    assert CLEO not in api.get(table.path).text + api.get(table.path, token=table.tokens[0]).text


def test_whatever_follows_is_told_of_the_user(api: Api, app_key: str, server: redis.Redis, publish: Publish) -> None:
    table = owned(api, app_key, seed=SECOND_BEGINS)
    take_seat(api, table, app_key, ref=CLEO)
    publish()
    waiting_for = [{"seat": 1, "ref": CLEO}]
    (listed,) = api.get(f"/v1/games?player_ref={CLEO}&to_act=true", token=app_key).get_json()["games"]
    assert (listed["id"], listed["waiting_for"]) == (table.id, waiting_for)
    *_, dealt = api.get("/v1/feed", token=app_key).get_json()["items"]
    assert (dealt["type"], dealt["waiting_for"]) == ("dealt", waiting_for)
    snapshot = take_snapshot(server, table.id)
    game = decoded(table.id, snapshot)
    messages = game_messages("hook", game, (), history_of(game, snapshot)[1:])
    told = {message.type: orjson.loads(message.body)["data"] for message in messages}
    assert told["game.joined"]["player_ref"] == told["game.turn"]["player_ref"] == CLEO
    assert told["game.turn"]["waiting_for"] == waiting_for


def test_a_ref_replaces_that_of_the_open_seat_and_without_one_that_stays(api: Api, app_key: str) -> None:
    players = [{"name": "Ada"}, {"open": True, "ref": "guest-1"}, {"open": True, "ref": "guest-2"}]
    table = owned(api, app_key, players=players)
    take_seat(api, table, app_key, ref=CLEO)
    take_seat(api, table, app_key)
    seats = api.get(table.path, token=app_key).get_json()["players"]
    assert [each.get("ref") for each in seats] == [None, CLEO, "guest-2"]


def test_a_code_that_is_given_is_checked_with_a_key_too(api: Api, app_key: str, server: redis.Redis) -> None:
    table = owned(api, app_key, open_seats=2)
    with unchanged(server, table):
        for headers in ({}, KEY):
            body = {"name": "Cleo", "join_code": "WRONG"}
            answer = api.post(f"{table.path}/players", body, token=app_key, headers=headers)
            assert refusal(answer) == (403, "forbidden", "wrong_join_code")
    assert take_seat(api, table, app_key, join_code=table.join_code).status_code == 201
    assert take_seat(api, table, app_key).status_code == 201
    assert status_and_code(take_seat(api, table, app_key)) == (409, "seats_taken")


@pytest.mark.parametrize("bearer", ["nobody", "a seat"])
def test_only_the_owner_gives_a_ref_or_no_code(api: Api, app_key: str, server: redis.Redis, bearer: str) -> None:
    for table in (owned(api, app_key), owned(api, None)):
        token = table.tokens[0] if bearer == "a seat" else None
        with unchanged(server, table):
            cases: list[tuple[dict[str, Any], list[tuple[str, str]]]] = [
                ({"ref": CLEO, "join_code": table.join_code}, [("ref", "needs_key")]),
                ({"ref": CLEO}, [("join_code", "required"), ("ref", "needs_key")]),
                ({}, [("join_code", "required")]),
            ]
            for body, causes in cases:
                for headers in ({}, KEY):
                    answer = api.post(f"{table.path}/players", {"name": "Cleo", **body}, token=token, headers=headers)
                    assert causes_of(answer) == causes
            answer = take_seat(api, table, token, ref=CLEO, join_code="WRONG")
            assert status_and_code(answer) == (403, "forbidden")


def test_another_application_takes_no_seat(api: Api, app_key: str, other_key: str, server: redis.Redis) -> None:
    for table in (owned(api, app_key), owned(api, None)):
        with unchanged(server, table):
            for body in ({"ref": CLEO}, {"join_code": table.join_code}):
                assert refusal(take_seat(api, table, other_key, **body)) == (401, "unauthorized", "unknown_key")


def test_a_join_for_a_user_is_repeated_to_the_same_answer(api: Api, app_key: str) -> None:
    table = owned(api, app_key, open_seats=3)
    body = {"name": "Cleo", "ref": CLEO}
    first, again = [api.post(f"{table.path}/players", body, token=app_key, headers=KEY) for _ in range(2)]
    assert (again.status_code, again.data, again.headers["Idempotent-Replayed"]) == (201, first.data, "true")
    other = api.post(f"{table.path}/players", {**body, "ref": "user-bo"}, token=app_key, headers=KEY)
    assert status_and_code(other) == (422, "key_reused")
    # The same key of somebody with the code is another one.
    by_code = api.post(f"{table.path}/players", {"name": "Bo", "join_code": table.join_code}, headers=KEY)
    assert (by_code.status_code, by_code.get_json()["seat"]) == (201, 2)


# The join code


def code_of(api: Api, table: Table, key: str | None) -> str | None:
    """The join code in the view of the game."""
    code: str | None = api.get(table.path, token=key).get_json().get("join_code")
    return code


def listed_code(api: Api, table: Table, key: str) -> str | None:
    """The join code in the list of games."""
    (game,) = [each for each in api.get("/v1/games", token=key).get_json()["games"] if each["id"] == table.id]
    code: str | None = game.get("join_code")
    return code


@pytest.mark.parametrize("lobby", [{"lobby": "all"}, {}])
def test_the_owner_is_told_the_code_of_an_open_seat(
    api: Api, app_key: str, publish: Publish, lobby: dict[str, str]
) -> None:
    table = api.create("domino", [{"open": True}] * 2, key=app_key, **lobby)
    code = table.join_code
    assert table.created["game"]["join_code"] == code
    assert table.created["game"] == api.get(table.path, token=app_key).get_json()
    publish()
    assert listed_code(api, table, app_key) == code
    code = api.post(f"{table.path}/join-code", token=app_key).get_json()["join_code"]
    publish()
    assert code_of(api, table, app_key) == listed_code(api, table, app_key) == code != table.join_code
    renamed = api.ask("PATCH", f"{table.path}/players/0", json={"ref": CLEO}, token=app_key).get_json()
    assert renamed["join_code"] == code
    assert take_seat(api, table, None, join_code=code).status_code == 201
    publish()
    assert code_of(api, table, app_key) == listed_code(api, table, app_key) == code
    assert take_seat(api, table, app_key).status_code == 201
    publish()
    assert code_of(api, table, app_key) is listed_code(api, table, app_key) is None
    assert code not in api.get(f"{table.path}/events?view=true", token=app_key).text


def test_nobody_else_is_told_the_join_code(api: Api, app_key: str, publish: Publish, server: redis.Redis) -> None:
    players = [{"name": "Ada", "ref": CLEO}, {"open": True}]
    table = owned(api, app_key, players=players)
    code = str(table.join_code)
    publish()
    for token in (None, table.tokens[0]):
        for path in ("", "?text=true", "/events?view=true", "/events?after=1000000", "/score", "/record"):
            answer = api.get(table.path + path, token=token)
            assert code not in answer.text + str(answer.headers)
    assert code not in str(api.get(table.path, token=app_key).headers)
    for path in ("/v1/feed", f"/v1/players/{CLEO}", "/v1/lobby"):
        assert code not in api.get(path, token=app_key).text
    assert code not in api.get("/v1/lobby").text
    assert code in api.get(f"{table.path}/events?after=1000000", token=app_key).text, "the owner's view, after a reset"
    assert take_seat(api, table, app_key).status_code == 201
    publish()
    assert keys_with(server, code.encode()) == []


def test_a_creation_that_is_repeated_tells_its_first_join_code(api: Api, app_key: str) -> None:
    body = {"variant": "domino", "players": [{"name": "Ada"}, {"open": True}]}
    first = api.post("/v1/games", body, token=app_key, headers=KEY)
    table = Table(api, first.get_json())
    for change in ("join-code", "players"):
        api.post(f"{table.path}/{change}", {"name": "Cleo"} if change == "players" else None, token=app_key)
        assert api.post("/v1/games", body, token=app_key, headers=KEY).data == first.data
