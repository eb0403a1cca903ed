"""Requests of applications under an ``Idempotency-Key``: repeated with an ended key, at the same time, elsewhere."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
import redis

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
from tests.api.client import Api, location_of, status_and_code
from tests.api.timed import SettableClock
from tests.support.application import build_backends, create_app
from tests.support.stores.redis_stores import memory_reserve, redis_calls

pytestmark = pytest.mark.gate

URL = "https://club.example/hooks"
OLD, NEW = b"the secret until yesterday", b"the secret from today on"


def once(key: str | None = None) -> dict[str, Any]:
    return {"headers": {"Idempotency-Key": key or str(uuid4())}}


def endpoint(api: Api, app_key: str) -> dict[str, Any]:
    made: dict[str, Any] = api.post("/v1/webhooks", {"url": URL, "events": ["game.turn"]}, token=app_key).get_json()
    return made


def worker(games: GamesFacade, redis_url: str, *secrets: bytes, clock: SettableClock | None = None) -> Api:
    """The application of another process over the same store, with these secrets."""
    nodes = SingleNodeTopology(connect(redis_url))
    backends = build_backends(
        nodes,
        secrets,
        clock=clock or system_clock,
    )
    return Api(create_app(games, backends=backends).test_client(use_cookies=False))


def valid_keys(api: Api, key: str) -> list[str]:
    return [each["suffix"] for each in api.get("/v1/app", token=key).get_json()["keys"]]


# An ended key


def test_the_key_that_a_rotation_has_ended_gets_its_answer_again_and_nothing_else(api: Api, app_key: str) -> None:
    key = once()
    first = api.post("/v1/app/keys", {"overlap": 0}, token=app_key, **key)
    again = api.post("/v1/app/keys", {"overlap": 0}, token=app_key, **key)
    assert (again.status_code, again.data) == (201, first.data)
    assert again.headers["Idempotent-Replayed"] == "true"
    new = first.get_json()["key"]
    assert len(valid_keys(api, new)) == 1
    suffix = first.get_json()["suffix"]
    for answer in (
        api.post("/v1/app/keys", {"overlap": 0}, token=app_key, **once()),
        api.post("/v1/app/keys", {"overlap": 0}, token=app_key),
        api.get("/v1/app", token=app_key, **key),
        api.delete(f"/v1/app/keys/{suffix}", token=app_key, **key),
        api.post("/v1/webhooks", {"url": URL, "events": ["game.turn"]}, token=app_key, **key),
        api.post("/v1/games", {"variant": "domino", "players": [{"name": "A"}, {"name": "B"}]}, token=app_key, **key),
    ):
        assert status_and_code(answer) == (401, "unauthorized")
    other = api.post("/v1/app/keys", {"overlap": 60}, token=app_key, **key)
    assert status_and_code(other) == (422, "key_reused")
    assert len(valid_keys(api, new)) == 1


def test_the_new_key_gets_the_answer_of_the_rotation_again_too(api: Api, app_key: str) -> None:
    key = once()
    first = api.post("/v1/app/keys", {"overlap": 0}, token=app_key, **key)
    again = api.post("/v1/app/keys", {"overlap": 0}, token=first.get_json()["key"], **key)
    assert (again.status_code, again.data) == (201, first.data)


def test_an_older_key_gets_nothing_of_a_rotation_by_a_later_one(api: Api, app_key: str) -> None:
    second = api.post("/v1/app/keys", {"overlap": 0}, token=app_key).get_json()["key"]
    key = once()
    assert api.post("/v1/app/keys", {"overlap": 0}, token=second, **key).status_code == 201
    assert status_and_code(api.post("/v1/app/keys", {"overlap": 0}, token=app_key, **key)) == (401, "unauthorized")


def test_the_key_of_another_application_gets_nothing_of_a_rotation(api: Api, app_key: str, other_key: str) -> None:
    key = once()
    first = api.post("/v1/app/keys", {}, token=app_key, **key)
    other = api.post("/v1/app/keys", {}, token=other_key, **key)
    assert other.status_code == 201
    assert other.get_json()["key"] != first.get_json()["key"]
    forged = app_key[:28] + other_key[28:]
    assert api.post("/v1/app/keys", {}, token=forged, **key).status_code == 401


# What is derived


def test_a_repeated_rotation_of_a_secret_leaves_the_old_one_valid(api: Api, backends: BackendsFacade) -> None:
    made = backends.keys.create("Club")
    webhook = endpoint(api, made.key)
    key = once()
    path = f"/v1/webhooks/{webhook['id']}/secret"
    first, again = (api.post(path, token=made.key, **key) for _ in range(2))
    assert again.data == first.data
    assert first.get_json()["secret"] != webhook["secret"]
    stored = backends.webhooks.get(made.backend.id, webhook["id"])
    shown = [f"whsec_{each}" for each in (secret_of(stored.old_secret), secret_of(stored.secret))]
    assert shown == [webhook["secret"], first.get_json()["secret"]]


def secret_of(secret: bytes | None) -> str:
    assert secret is not None
    return b64encode(secret).decode()


def test_no_key_of_an_application_is_stored_in_the_clear(api: Api, app_key: str, server: redis.Redis) -> None:
    made = api.post("/v1/app/keys", {}, token=app_key, **once()).get_json()
    app = app_key[4:28]
    kept: Any = server.hgetall(keys.repeats(app))
    record: Any = server.get(keys.application(app))
    values = [record, *kept.values()]
    assert len(values) == 2
    assert all(made["key"][28:].encode() not in value for value in values)


def test_the_answer_is_the_first_one_also_of_what_has_been_deleted_since(api: Api, app_key: str) -> None:
    key = once()
    body = {"url": URL, "events": ["game.turn"]}
    first = api.post("/v1/webhooks", body, token=app_key, **key)
    path = location_of(first)
    changed = once()
    secret = api.post(f"{path}/secret", token=app_key, **changed)
    api.ask("PATCH", path, json={"events": ["game.joined"]}, token=app_key)
    api.delete(path, token=app_key)
    assert api.post("/v1/webhooks", body, token=app_key, **key).data == first.data
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
    clock = SettableClock()
    api = worker(games, redis_url, NEW, clock=clock)
    path = f"/v1/webhooks/{endpoint(api, app_key)['id']}/secret"
    key = once()
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
    clock = SettableClock()
    api = worker(games, redis_url, NEW, clock=clock)
    name = keys.repeats(app_key[4:28])
    server.hset(name, mapping={str(each): b"%d x []" % clock() for each in range(MAX_REPEATS)})
    answer = api.post("/v1/app/keys", {}, token=app_key, **once())
    assert answer.get_json()["reason"] == "too_many_repeats"
    assert api.post("/v1/webhooks", {"url": URL, "events": ["game.turn"]}, token=app_key, **once()).status_code == 409
    assert len(valid_keys(api, app_key)) == 1
    app_key = api.post("/v1/app/keys", {}, token=app_key).get_json()["key"]
    clock.advance(IDEMPOTENCY_TTL)
    assert api.post("/v1/app/keys", {}, token=app_key, **once()).status_code == 201
    left: Any = server.ttl(name)
    assert server.hlen(name) == 1
    assert 0 < left <= IDEMPOTENCY_TTL
