"""Every POST of the document takes an ``Idempotency-Key``: the same request twice has one answer and one effect.

Each is sent again: as it was, with another body or key, after a day, at the same time, and to other processes. What is
special to one operation is in ``test_idempotency`` and ``test_app_idempotency``.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
import redis
from flask import Flask
from werkzeug.test import TestResponse

from service.backends.keys import KEY_PREFIX
from service.backends.values import DeliveryAttempt
from service.backends.webhooks.store import RedisWebhooks
from service.games.ports import IDEMPOTENCY_TTL
from service.games.store.notifications import RedisEventFeed
from service.redis.connection import connect
from service.redis.keys import WINDOWS
from service.redis.topology import SingleNodeTopology
from tests.api.client import Api, Table, errors_of, invalid_fields, status_and_code
from tests.api.conftest import SECRET, TTL_SECONDS
from tests.api.every_operation import REFUSED
from tests.api.finished import FinishedGames
from tests.api.saved_games import SavedGames
from tests.api.test_presence import overdue
from tests.api.test_whole_app import method_of, operations
from tests.api.timed import TimedApi
from tests.support.application import build_backends, create_app
from tests.support.contract import committed
from tests.support.games import build_games
from tests.support.lanes import in_lane
from tests.support.stores.redis_stores import redis_store, redis_webhooks
from tests.support.table import seat_to_move
from tests.support.waiting import PATIENCE
from tools.openapi.operations import problems_of

pytestmark = pytest.mark.quick_and_gate

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
        return self.api.create("domino", [{"name": "Ada"}, {"open": True}], key=self.app_key)

    def record(self) -> str:
        """The record of a match that is over."""
        return self.finished.copy().record()


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


def _take(given: Given) -> Post:
    body = {"name": "Bo", "join_code": given.own_game().join_code}
    return Post(given.api, "/v1/seats", body, None, body | {"name": "Cem"})


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


def _seek(given: Given) -> Post:
    body = {"variant": "domino", "players": 2, "name": "Ada"}
    return Post(given.api, "/v1/seeks", body, given.app_key, body | {"name": "Bo"})


def _start(given: Given) -> Post:
    table = given.api.create("domino", [{"name": "Ada"}, {"open": True}, {"name": "Cem"}])
    return Post(given.api, f"{table.path}/start", {}, table.tokens[2])


def _resign(given: Given) -> Post:
    table = given.api.create("domino", 3)
    return Post(given.api, f"{table.path}/players/0/resignation", {}, table.tokens[0])


def _token(given: Given) -> Post:
    table = given.api.create("domino", 2)
    return Post(given.api, f"{table.path}/players/0/token", {}, table.tokens[0])


def _rematch(given: Given) -> Post:
    table = given.finished.copy()
    return Post(given.api, f"{table.path}/rematch", {}, table.tokens[0])


def _review(table: Table, api: Api) -> Post:
    return Post(api, f"{table.path}/review", {}, table.tokens[0], makes=False)


def _read_record(given: Given, path: str) -> Post:
    return Post(given.api, path, given.record(), makes=False)


CASES: dict[str, Callable[[Given], Post]] = {
    "createKey": _create_key,
    "createWebhook": _create_webhook,
    "changeWebhookSecret": lambda given: Post(given.api, f"{given.endpoint()}/secret", {}, given.app_key),
    "pingWebhook": _ping,
    "redeliverMessage": _redeliver,
    "createGame": _create,
    "joinGame": _join,
    "takeSeat": _take,
    "makeMove": _move,
    "claimSeat": _claim,
    "changeToken": _token,
    "startGame": _start,
    "resign": _resign,
    "seekTable": _seek,
    "changeJoinCode": lambda given: Post(given.api, f"{given.own_game().path}/join-code", {}, given.app_key),
    "beginRematch": _rematch,
    "beginReview": lambda given: _review(given.finished.copy(), given.api),
    "verifyRecord": lambda given: _read_record(given, "/v1/verifications"),
    "replayRecord": lambda given: _read_record(given, "/v1/replays"),
}
"""A request for every POST of the document, by the id of its operation. A new one needs one, too."""

WITH_ANOTHER_BODY = (
    *("createKey", "createWebhook", "pingWebhook", "createGame", "joinGame", "takeSeat", "makeMove", "claimSeat"),
)
"""Those that make something and whose body may differ."""
SMOKE = ("createGame", "createWebhook", "makeMove")
"""A game, what belongs to an application, and a move."""
SAME_ANSWER = ("redeliverMessage", "beginRematch", "resign")
"""Those that tell a second request the same: the message that it named, the rematch that there is, who has resigned."""
CROWD = 8


@pytest.fixture
def given(api: Api, timed_api: TimedApi, saved_games: SavedGames, server: redis.Redis, app_key: str) -> Given:
    kept = redis_webhooks(SingleNodeTopology(server))
    return Given(api, timed_api, FinishedGames(api, saved_games, server), app_key, kept)


@pytest.fixture(params=in_lane(list(CASES), quick=SMOKE, gate=[case for case in CASES if case not in SMOKE]))
def operation(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def post(operation: str, given: Given) -> Post:
    return CASES[operation](given)


@pytest.fixture(scope="module")
def another_process(redis_url: str, feed: RedisEventFeed) -> Callable[..., Api]:
    """Make the application of another process over the same store, with these secrets."""

    @cache
    def make(*secrets: bytes) -> Api:
        nodes = SingleNodeTopology(connect(redis_url))
        games = build_games(redis_store(nodes, TTL_SECONDS), feed, secrets, TTL_SECONDS)
        return Api(create_app(games, backends=build_backends(nodes, secrets)).test_client(use_cookies=False))

    return make


def send(post: Post, key: str, **more: Any) -> TestResponse:
    return post.api.post(post.path, more.get("body", post.body), token=post.token, headers={"Idempotency-Key": key})


def stored(server: redis.Redis) -> dict[bytes, Any]:
    """All that the store holds for longer than a test takes, without counters of rate limits."""
    all_names: Any = server.keys("domino:*")
    names = [name for name in all_names if not name.startswith(WINDOWS)]
    with server.pipeline() as both:
        for name in names:
            both.pttl(name)
            both.dump(name)
        found = both.execute()
    held = zip(names, found[::2], found[1::2], strict=True)
    return {name: value for name, left, value in held if left == -1 or left > A_WHILE_MS}


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


def test_a_key_shorter_than_documented_is_refused_and_the_shortest_is_not(operation: str, post: Post) -> None:
    (shortest,) = [
        parameter["schema"]["minLength"]
        for methods in committed().document["paths"].values()
        for parameter in methods.get("post", {}).get("parameters", [])
        if methods["post"]["operationId"] == operation and parameter["name"] == "Idempotency-Key"
    ]
    refused = send(post, "k" * (shortest - 1))
    assert status_and_code(refused) == (422, "invalid")
    assert errors_of(refused.get_json()).keys() == {"Idempotency-Key"}
    assert send(post, "k" * shortest).status_code < 300


def sent_differently(post: Post, api: Api, key: str) -> TestResponse:
    """The answer to the same request, whose key is in quotes and whose body is written in another way."""
    headers = {"Idempotency-Key": f'"{key}"', "Accept": "application/json, text/plain, */*"}
    kind, body = "text/plain", post.body
    if not isinstance(body, str):
        kind = "application/json"
        body = json.dumps(dict(reversed(body.items())), indent=3).replace("name", "n\\u0061me")
    how = {"data": body, "content_type": f"{kind}; charset=utf-8"} if post.body else {}
    return api.ask("POST", post.path, token=post.token, headers=headers, **how)


def assert_same(again: TestResponse, first: TestResponse, post: Post) -> None:
    assert again.headers.get("Idempotent-Replayed") == ("true" if post.makes else None)
    assert said(again) == said(first)


def secrets_in(answer: TestResponse) -> set[str]:
    """The tokens, keys and codes in an answer."""
    body = answer.get_json()
    found = {body[name] for name in ("token", "join_code", "key", "secret") if name in body}
    return found | {each["token"] for each in body.get("seats", ())}


def test_the_same_request_twice_has_one_answer_and_one_effect(post: Post, server: redis.Redis) -> None:
    key = str(uuid4())
    first = send(post, key)
    assert first.status_code in (200, 201, 202), first.data
    assert "Idempotent-Replayed" not in first.headers
    made = stored(server)
    for again in (send(post, key), sent_differently(post, post.api, key), send(post, key)):
        assert_same(again, first, post)
    assert stored(server) == made


def test_a_process_with_the_secret_gives_the_same_answer_and_one_without_says_so(
    operation: str,
    post: Post,
    app: Flask,
    another_process: Callable[..., Api],
    server: redis.Redis,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (problems,) = [problems_of(described) for _, described in operations(app) if described.id == operation]
    rotating, without = another_process(b"new", SECRET), another_process(b"another")
    key = str(uuid4())
    first, made = send(post, key), stored(server)
    assert_same(send(post._replace(api=rotating), key), first, post)
    refused = send(post._replace(api=without), key)
    if "secret_changed" in problems:
        assert status_and_code(refused) == (503, "secret_changed")
        assert 30 <= int(refused.headers["Retry-After"]) <= 61
        (line,) = [each for each in caplog.records if each.levelname == "ERROR"]
        assert "SECRET_KEY" in line.getMessage()
        assert line.exc_info is None
    else:
        assert_same(refused, first, post)
    if post.other is not None:
        assert status_and_code(send(post._replace(api=without), key, body=post.other)) == (422, "key_reused")
    assert stored(server) == made


@pytest.mark.parametrize(
    "operation", in_lane(WITH_ANOTHER_BODY, quick=SMOKE, gate=[each for each in WITH_ANOTHER_BODY if each not in SMOKE])
)
def test_the_same_key_with_another_body_is_refused(post: Post, server: redis.Redis) -> None:
    key = str(uuid4())
    first, made = send(post, key), stored(server)
    assert first.status_code in (201, 202)
    assert status_and_code(send(post, key, body=post.other)) == (422, "key_reused")
    assert_same(send(post, key), first, post)
    assert stored(server) == made


def test_another_key_or_none_makes_another_request(operation: str, post: Post) -> None:
    first = send(post, str(uuid4()))
    for more in ({"Idempotency-Key": str(uuid4())}, {}):
        second = post.api.post(post.path, post.body, token=post.token, headers=more)
        assert "Idempotent-Replayed" not in second.headers
        if post.makes and operation not in SAME_ANSWER:
            assert second.data != first.data
            assert second.status_code >= 400 or secrets_in(second).isdisjoint(secrets_in(first))


def test_after_a_day_a_key_makes_another_request(operation: str, post: Post, server: redis.Redis) -> None:
    if not post.makes:
        pytest.skip("nothing is kept of what makes nothing")
    key, before = str(uuid4()), set(kept_keys(server))
    first = send(post, key)
    let_a_day_pass(server, before)
    second = send(post, key)
    assert "Idempotent-Replayed" not in second.headers
    if operation not in SAME_ANSWER and operation != "changeJoinCode":  # a code of the same key is the same again
        assert second.data != first.data
        assert second.status_code >= 400 or secrets_in(second).isdisjoint(secrets_in(first))


def kept_keys(server: redis.Redis) -> list[bytes]:
    """The names of what the store keeps of requests under their keys."""
    found: tuple[Any, Any] = server.keys("domino:*key:*"), server.keys("domino:*:repeats")
    return [*found[0], *found[1]]


def let_a_day_pass(server: redis.Redis, before: set[bytes]) -> None:
    """Make what is kept since then a day older."""
    assert IDEMPOTENCY_TTL == 24 * 60 * 60
    new = set(kept_keys(server)) - before
    assert new
    for name in new:
        left: Any = server.ttl(name)
        assert IDEMPOTENCY_TTL - 10 < left <= IDEMPOTENCY_TTL
        if name.endswith(b":repeats"):
            repeats: Any = server.hgetall(name)
            for field, value in repeats.items():
                at, _, rest = value.partition(b" ")
                server.hset(name, field, b"%d %b" % (int(at) - IDEMPOTENCY_TTL * 1000, rest))
        else:
            server.delete(name)


def test_a_refused_request_can_be_sent_right_under_its_key(operation: str, post: Post) -> None:
    key = str(uuid4())
    wrong = {"seat": 12} if operation == "claimSeat" else REFUSED[operation]
    assert send(post, key, body=wrong).status_code in (403, 409, 422)
    first = send(post, key)
    assert first.status_code < 300
    assert "Idempotent-Replayed" not in first.headers
    assert_same(send(post, key), first, post)


def crowd(post: Post, key: str, *bodies: Any) -> list[TestResponse]:
    """The answers to requests that are sent at the same time, with these bodies in turn."""
    together = threading.Barrier(CROWD)

    def ask(number: int) -> TestResponse:
        own = Api(post.api.client.application.test_client(use_cookies=False))
        together.wait(PATIENCE)
        return send(post._replace(api=own), key, body=bodies[number % len(bodies)])

    with ThreadPoolExecutor(CROWD) as pool:
        return list(pool.map(ask, range(CROWD), timeout=2 * PATIENCE))


def test_of_concurrent_requests_under_a_key_one_has_an_effect(operation: str, post: Post, server: redis.Redis) -> None:
    key = str(uuid4())
    answers = crowd(post, key, post.body)
    assert len({(each.status_code, each.data) for each in answers}) == 1
    assert answers[0].status_code < 300
    made = [each for each in answers if "Idempotent-Replayed" not in each.headers]
    if operation != "redeliverMessage":  # a message that waits already is asked for once, whatever the key
        assert len(made) == (1 if post.makes else CROWD)
    kept = stored(server)
    assert_same(send(post, key), made[0], post)
    assert stored(server) == kept


@pytest.mark.gate
@pytest.mark.parametrize(
    "operation",
    # The other claim, of a seat whose time is not over, is refused as such if it comes first.
    [operation for operation in WITH_ANOTHER_BODY if operation != "claimSeat"],
)
def test_of_two_different_concurrent_requests_under_one_key_one_has_an_effect(post: Post) -> None:
    answers = crowd(post, str(uuid4()), post.body, post.other)
    made = [each for each in answers if each.status_code < 300]
    assert len({each.data for each in made}) == 1
    assert sum("Idempotent-Replayed" not in each.headers for each in made) == 1
    assert {status_and_code(each) for each in answers if each not in made} == {(422, "key_reused")}


def test_a_key_that_is_none_is_refused_everywhere(post: Post, server: redis.Redis) -> None:
    made = stored(server)
    assert invalid_fields(send(post, "two, keys")) == ["Idempotency-Key"]
    assert stored(server) == made


def test_a_key_belongs_to_what_it_was_used_for(given: Given) -> None:
    key = str(uuid4())
    for operation in sorted(CASES, key="createKey".__eq__):  # after which the key of the application is not valid
        answer = send(CASES[operation](given), key)
        assert answer.status_code < 300, operation
        assert "Idempotent-Replayed" not in answer.headers, operation
