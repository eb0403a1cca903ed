"""Every POST of the document takes an ``Idempotency-Key``: the same request twice has one answer and one effect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
import redis
from flask import Flask
from werkzeug.test import TestResponse

from service.backends.keys import KEY_PREFIX
from service.backends.webhooks.ports import DeliveryAttempt
from service.storage.rate_limits import PREFIX
from service.storage.redis.topology import SingleNodeTopology
from service.storage.webhooks import RedisWebhooks
from tests.api.client import Api, Table, status_and_code
from tests.api.finished import FinishedGames
from tests.api.saved_games import SavedGames
from tests.api.test_presence import overdue
from tests.api.test_whole_app import method_of, operations
from tests.api.timed import TimedApi
from tests.support.contract import committed
from tests.support.stores.redis_stores import redis_webhooks
from tests.support.table import seat_to_move

URL = "https://club.example/hooks"
A_WHILE_MS = 1_200_000
START = 1_800_000_000_000


class Post(NamedTuple):
    """A request that makes something, the bearer's token, and another body that is valid, too, where there is one."""

    api: Api
    path: str
    body: Any
    token: str | None = None
    other: Any = None
    makes: bool = True


class Given(NamedTuple):
    """What a case may use."""

    api: Api
    timed_api: TimedApi
    finished: FinishedGames
    app_key: str
    webhooks: RedisWebhooks

    def endpoint(self) -> str:
        """The path of an endpoint of the application."""
        made = self.api.post("/v1/webhooks", {"url": URL, "events": ["game.turn"]}, token=self.app_key).get_json()
        return f"/v1/webhooks/{made['id']}"

    def own_game(self) -> Table:
        """A game of the application with an open seat."""
        body = {"variant": "domino", "players": [{"name": "Ada"}, {"open": True}]}
        return Table(self.api, self.api.post("/v1/games", body, token=self.app_key).get_json())

    def record(self) -> str:
        """The record of a match that is over."""
        return self.api.get(f"{self.finished.copy().path}/record", headers={"Accept": "text/plain"}).text


def _create(given: Given) -> Post:
    body = {"variant": "domino", "players": [{"name": "Ada"}, {"open": True}]}
    return Post(given.api, "/v1/games", body, None, body | {"seed": "another"})


def _create_key(given: Given) -> Post:
    return Post(given.api, "/v1/app/keys", {"overlap": 0}, given.app_key, {"overlap": 60})


def _create_webhook(given: Given) -> Post:
    body = {"url": URL, "events": ["game.turn"]}
    return Post(given.api, "/v1/webhooks", body, given.app_key, body | {"events": ["game.joined"]})


def _ping(given: Given) -> Post:
    return Post(given.api, f"{given.endpoint()}/pings", {}, given.app_key, {"type": "game.turn"})


def _redeliver(given: Given) -> Post:
    path = given.endpoint()
    app, webhook = given.app_key.removeprefix(KEY_PREFIX)[:24], path.rpartition("/")[2]
    endpoint = given.webhooks.read(app, webhook)
    assert endpoint is not None
    given.webhooks.log(endpoint, DeliveryAttempt("msg_1", "game.turn", None, START, 84, 204, None, 0, START))
    return Post(given.api, f"{path}/deliveries/msg_1/attempts", {}, given.app_key)


def _join(given: Given) -> Post:
    table = given.own_game()
    body = {"name": "Bo", "join_code": table.join_code}
    return Post(given.api, f"{table.path}/players", body, None, body | {"name": "Cem"})


def _move(given: Given) -> Post:
    table = given.api.create("domino", 2)
    seat = seat_to_move(given.api.view(table))
    move = given.api.moves(table, seat)[0]
    other = {name: value for name, value in move.items() if name != "version"}
    return Post(given.api, f"{table.path}/moves", move, table.tokens[seat], other)


def _claim(given: Given) -> Post:
    table, late = overdue(given.timed_api)
    by, other = (seat for seat in table.tokens if seat != late)
    return Post(given.timed_api, f"{table.path}/claims", {"seat": late}, table.tokens[by], {"seat": other})


def _token(given: Given) -> Post:
    table = given.api.create("domino", 2)
    return Post(given.api, f"{table.path}/players/0/token", {}, table.tokens[0])


def _rematch(given: Given) -> Post:
    table = given.finished.copy()
    return Post(given.api, f"{table.path}/rematch", {}, table.tokens[0])


def _review(table: Table, api: Api) -> Post:
    return Post(api, f"{table.path}/review", {}, table.tokens[0], makes=False)


def _read_record(given: Given, path: str) -> Post:
    return Post(given.api, path, {"record": given.record()}, makes=False)


CASES: dict[str, Callable[[Given], Post]] = {
    "registerApplication": lambda given: Post(given.api, "/v1/apps", {"name": "Club"}, None, {"name": "Other"}),
    "createKey": _create_key,
    "createWebhook": _create_webhook,
    "changeWebhookSecret": lambda given: Post(given.api, f"{given.endpoint()}/secret", {}, given.app_key),
    "pingWebhook": _ping,
    "redeliverMessage": _redeliver,
    "createGame": _create,
    "joinGame": _join,
    "makeMove": _move,
    "claimSeat": _claim,
    "changeToken": _token,
    "changeJoinCode": lambda given: Post(given.api, f"{given.own_game().path}/join-code", {}, given.app_key),
    "beginRematch": _rematch,
    "beginReview": lambda given: _review(given.finished.copy(), given.api),
    "verifyRecord": lambda given: _read_record(given, "/v1/verifications"),
    "replayRecord": lambda given: _read_record(given, "/v1/replays"),
}
"""A request for every POST of the document, by the id of its operation. A new one needs one, too."""

WITH_ANOTHER_BODY = (
    "registerApplication",
    "createKey",
    "createWebhook",
    "pingWebhook",
    "createGame",
    "joinGame",
    "makeMove",
    "claimSeat",
)
"""Those that make something and whose body may differ."""


@pytest.fixture
def given(api: Api, timed_api: TimedApi, saved_games: SavedGames, server: redis.Redis, app_key: str) -> Given:
    kept = redis_webhooks(SingleNodeTopology(server))
    return Given(api, timed_api, FinishedGames(api, saved_games, server), app_key, kept)


@pytest.fixture(params=CASES)
def post(request: pytest.FixtureRequest, given: Given) -> Post:
    return CASES[request.param](given)


def send(post: Post, key: str, **more: Any) -> TestResponse:
    body = more.get("body", post.body)
    return post.api.post(post.path, body, token=post.token, headers={"Idempotency-Key": key})


def stored(server: redis.Redis) -> dict[bytes, Any]:
    """All that the store holds for longer than a test takes, without counters of rate limits."""
    names: Any = server.keys("domino:*")
    kept = {name: server.pttl(name) for name in names if not name.startswith(PREFIX.encode())}
    return {name: server.dump(name) for name, left in kept.items() if left == -1 or left > A_WHILE_MS}


def said(answer: TestResponse) -> tuple[int, bytes, list[tuple[str, str]]]:
    """What an answer says, but for the mark of a repeated one and the quota, which every request uses up."""
    quota = ("Idempotent-Replayed", "RateLimit", "RateLimit-Policy")
    return answer.status_code, answer.data, [each for each in answer.headers if each[0] not in quota]


def test_every_post_of_the_document_lists_the_header_and_has_a_case(app: Flask) -> None:
    posts = {path: methods["post"] for path, methods in committed().document["paths"].items() if "post" in methods}
    assert {each["operationId"] for each in posts.values()} == set(CASES)
    for rule, described in operations(app):
        if method_of(rule) == "POST":
            assert "Idempotency-Key" in described.headers, described.id


@pytest.mark.parametrize("operation", CASES)
def test_a_key_shorter_than_the_document_says_is_refused_and_the_shortest_one_is_not(
    operation: str, given: Given
) -> None:
    (shortest,) = [
        parameter["schema"]["minLength"]
        for methods in committed().document["paths"].values()
        for parameter in methods.get("post", {}).get("parameters", [])
        if methods["post"]["operationId"] == operation and parameter["name"] == "Idempotency-Key"
    ]
    post = CASES[operation](given)
    refused = send(post, "k" * (shortest - 1))
    assert status_and_code(refused) == (422, "invalid")
    assert refused.get_json()["errors"].keys() == {"Idempotency-Key"}
    assert send(post, "k" * shortest).status_code < 300


def test_the_same_request_twice_has_one_answer_and_one_effect(post: Post, server: redis.Redis) -> None:
    key = str(uuid4())
    first = send(post, key)
    assert first.status_code in (200, 201, 202), first.data
    assert "Idempotent-Replayed" not in first.headers
    made = stored(server)
    for _ in range(2):
        again = send(post, key)
        assert again.headers.get("Idempotent-Replayed") == ("true" if post.makes else None)
        assert said(again) == said(first)
    assert stored(server) == made


@pytest.mark.parametrize("operation", WITH_ANOTHER_BODY)
def test_the_same_key_with_another_body_is_refused(operation: str, given: Given, server: redis.Redis) -> None:
    post = CASES[operation](given)
    key = str(uuid4())
    assert send(post, key).status_code in (201, 202)
    made = stored(server)
    assert status_and_code(send(post, key, body=post.other)) == (422, "key_reused")
    assert stored(server) == made


def test_a_key_that_is_none_is_refused_everywhere(post: Post, server: redis.Redis) -> None:
    made = stored(server)
    answer = send(post, "two, keys")
    assert status_and_code(answer) == (422, "invalid")
    assert list(answer.get_json()["errors"]) == ["Idempotency-Key"]
    assert stored(server) == made


def test_without_a_key_every_request_is_a_new_one(given: Given) -> None:
    for make in (CASES["registerApplication"], CASES["createWebhook"], CASES["pingWebhook"]):
        post = make(given)
        first, second = (post.api.post(post.path, post.body, token=post.token) for _ in range(2))
        assert first.get_json()["id"] != second.get_json()["id"]
        assert "Idempotent-Replayed" not in second.headers
