"""Requests of applications under an ``Idempotency-Key``: repeated with an ended key, at the same time, elsewhere."""

from __future__ import annotations

import os
from base64 import b64decode
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
import redis
from werkzeug.test import TestResponse

from service.backends.facade import BackendsFacade
from service.backends.keys import Backends
from service.backends.store import RedisBackends
from service.backends.values import MAX_REPEATS, Backend, Repeat
from service.games.facade import GamesFacade
from service.games.ports import IDEMPOTENCY_TTL
from service.games.store.idempotency import Idempotency, IdempotencyKey
from service.redis import keys
from service.redis.connection import connect
from service.redis.server_clock import system_clock
from service.redis.topology import SingleNodeTopology
from tests.api.client import Api, location_of, refusal, status_and_code
from tests.api.timed import SettableClock
from tests.support.application import build_backends, create_app
from tests.support.stores.redis_stores import memory_reserve, redis_calls

pytestmark = pytest.mark.gate

HOOK = {"url": "https://club.example/hooks", "events": ["game.turn"]}
NEW = b"the secret of another process"


def once(key: str | None = None) -> dict[str, Any]:
    return {"headers": {"Idempotency-Key": key or str(uuid4())}}


def endpoint(api: Api, app_key: str) -> dict[str, Any]:
    made: dict[str, Any] = api.post("/v1/webhooks", HOOK, token=app_key).get_json()
    return made


def worker(games: GamesFacade, redis_url: str, clock: SettableClock) -> Api:
    """The application of another process over the same store, with this clock."""
    backends = build_backends(SingleNodeTopology(connect(redis_url)), [NEW], clock=clock)
    return Api(create_app(games, backends=backends).test_client(use_cookies=False))


def rotate(api: Api, token: str, key: dict[str, Any], overlap: int = 0) -> TestResponse:
    return api.post("/v1/app/keys", {"overlap": overlap}, token=token, **key)


def valid_keys(api: Api, key: str) -> list[str]:
    return [each["suffix"] for each in api.get("/v1/app", token=key).get_json()["keys"]]


# An ended key


def test_the_key_that_a_rotation_has_ended_gets_its_answer_again_and_nothing_else(api: Api, app_key: str) -> None:
    key = once()
    first = rotate(api, app_key, key)
    new, suffix = first.get_json()["key"], first.get_json()["suffix"]
    for token in (app_key, new):
        again = rotate(api, token, key)
        assert (again.status_code, again.data, again.headers["Idempotent-Replayed"]) == (201, first.data, "true")
    assert valid_keys(api, new) == [suffix]
    for answer in (
        rotate(api, app_key, once()),
        rotate(api, app_key, {}),
        api.get("/v1/app", token=app_key, **key),
        api.delete(f"/v1/app/keys/{suffix}", token=app_key, **key),
        api.post("/v1/webhooks", HOOK, token=app_key, **key),
        api.post("/v1/games", {"variant": "domino", "players": [{"name": "A"}, {"name": "B"}]}, token=app_key, **key),
    ):
        assert status_and_code(answer) == (401, "unauthorized")
    assert status_and_code(rotate(api, app_key, key, overlap=60)) == (422, "key_reused")
    assert valid_keys(api, new) == [suffix]


def test_an_older_key_gets_nothing_of_a_rotation_by_a_later_one(api: Api, app_key: str) -> None:
    second, key = rotate(api, app_key, {}).get_json()["key"], once()
    assert rotate(api, second, key).status_code == 201
    assert status_and_code(rotate(api, app_key, key)) == (401, "unauthorized")


def test_the_key_of_another_application_gets_nothing_of_a_rotation(api: Api, app_key: str, other_key: str) -> None:
    key = once()
    first, other = (rotate(api, token, key, overlap=60) for token in (app_key, other_key))
    assert other.status_code == 201
    assert other.get_json()["key"] != first.get_json()["key"]
    assert rotate(api, app_key[:28] + other_key[28:], key, overlap=60).status_code == 401


# What is derived


def test_a_repeated_rotation_of_a_secret_leaves_the_old_one_valid(api: Api, backends: BackendsFacade) -> None:
    made, key = backends.keys.create("Club"), once()
    webhook = endpoint(api, made.key)
    first, again = (api.post(f"/v1/webhooks/{webhook['id']}/secret", token=made.key, **key) for _ in range(2))
    assert again.data == first.data
    stored = backends.webhooks.get(made.backend.id, webhook["id"])
    shown = [b64decode(each.removeprefix("whsec_")) for each in (webhook["secret"], first.get_json()["secret"])]
    assert (shown, shown[0] != shown[1]) == ([stored.old_secret, stored.secret], True)


def test_no_key_of_an_application_is_stored_in_the_clear(api: Api, app_key: str, server: redis.Redis) -> None:
    made, app = api.post("/v1/app/keys", {}, token=app_key, **once()).get_json(), app_key[4:28]
    kept: Any = server.hgetall(keys.part(b"repeats", app))
    record: Any = server.get(keys.part(b"app", app))
    values = [record, *kept.values()]
    assert len(values) == 2
    assert all(made["key"][28:].encode() not in value for value in values)


def test_the_answer_is_the_first_one_also_of_what_has_been_deleted_since(api: Api, app_key: str) -> None:
    key, changed = once(), once()
    first = api.post("/v1/webhooks", HOOK, token=app_key, **key)
    path = location_of(first)
    secret = api.post(f"{path}/secret", token=app_key, **changed)
    api.ask("PATCH", path, json={"events": ["game.joined"]}, token=app_key)
    api.delete(path, token=app_key)
    assert api.post("/v1/webhooks", HOOK, token=app_key, **key).data == first.data
    assert api.post(f"{path}/secret", token=app_key, **changed).data == secret.data
    assert api.get("/v1/webhooks", token=app_key).get_json() == {"webhooks": []}


# Elsewhere, at the same time, and later


class Overtaken(RedisBackends):
    """Another process does something just before one of the reads of this one: ``reads`` counts them down."""

    reads = 0
    overtake: Callable[[], Any]

    def read(self, app: str) -> Backend | None:
        self._count()
        return super().read(app)

    def repeated(self, app: str, name: str, now: int) -> Repeat | None:
        self._count()
        return super().repeated(app, name, now)

    def _count(self) -> None:
        self.reads -= 1
        if self.reads == 0:
            self.overtake()


@pytest.mark.parametrize("reads", [1, 2])
def test_a_rotation_that_is_overtaken_by_itself_gives_the_same_key(redis_url: str, reads: int) -> None:
    topology = SingleNodeTopology(connect(redis_url))
    store = Overtaken(redis_calls(topology), memory_reserve(topology))
    here = Backends(store, clock=system_clock, random_bytes=os.urandom, idempotency=Idempotency([NEW]))
    there = build_backends(topology, [NEW]).keys
    made = here.create("Club")
    key = IdempotencyKey("a rotation that is sent twice", b"")
    others = []
    store.reads = reads
    store.overtake = lambda: others.append(there.rotate(made.backend.id, 0, presented=made.key, key=key))
    mine = here.rotate(made.backend.id, 0, presented=made.key, key=key)
    (other,) = others
    assert (mine.answer.key, mine.replayed, other.replayed) == (other.answer.key, True, False)


def test_after_a_day_a_key_may_be_used_again(games: GamesFacade, redis_url: str, app_key: str) -> None:
    clock, key = SettableClock(), once()
    api = worker(games, redis_url, clock)
    path = f"/v1/webhooks/{endpoint(api, app_key)['id']}/secret"
    first = api.post(path, {}, token=app_key, **key).get_json()["secret"]
    clock.advance(IDEMPOTENCY_TTL - 1)
    assert api.post(path, {}, token=app_key, **key).get_json()["secret"] == first
    clock.advance(1)
    later = api.post(path, {}, token=app_key, **key)
    assert "Idempotent-Replayed" not in later.headers
    assert later.get_json()["secret"] != first


def test_of_an_application_so_many_requests_are_kept_and_no_more_within_a_day(
    games: GamesFacade, redis_url: str, server: redis.Redis, app_key: str
) -> None:
    clock, name = SettableClock(), keys.part(b"repeats", app_key[4:28])
    api = worker(games, redis_url, clock)
    server.hset(name, mapping={str(each): b"%d x []" % clock() for each in range(MAX_REPEATS)})
    for answer in (rotate(api, app_key, once()), api.post("/v1/webhooks", HOOK, token=app_key, **once())):
        assert refusal(answer) == (409, "limit_reached", "too_many_repeats")
    assert len(valid_keys(api, app_key)) == 1
    clock.advance(IDEMPOTENCY_TTL)
    assert rotate(api, rotate(api, app_key, {}).get_json()["key"], once()).status_code == 201
    left: Any = server.ttl(name)
    assert server.hlen(name) == 1
    assert 0 < left <= IDEMPOTENCY_TTL
