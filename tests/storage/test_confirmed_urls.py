"""The contract of confirmed URLs, tested with Redis, with a Cluster and in memory."""

from __future__ import annotations

import secrets

import pytest

from service.backends.ports import CONFIRMED_MS, MOST_CONFIRMED, ConfirmedUrls
from service.games.model.shards import with_shard
from service.storage import keys
from service.storage.confirmed_urls import RedisConfirmedUrls
from tests.storage.test_deletions import open_servers
from tests.support.stores.memory_confirmed_urls import MemoryConfirmedUrls
from tests.support.stores.redis_stores import redis_calls

pytestmark = pytest.mark.gate

NOW = 1_800_000_000_000
URL = "https://bots.example/move?secret=1"


@pytest.fixture(params=["memory", "redis", "cluster"])
def confirmed(request: pytest.FixtureRequest) -> ConfirmedUrls:
    if request.param == "memory":
        return MemoryConfirmedUrls()
    return RedisConfirmedUrls(redis_calls(open_servers(request, request.param)))


@pytest.fixture
def app() -> str:
    return with_shard(secrets.token_urlsafe(16))


def test_a_url_is_confirmed_for_its_application_and_for_a_while(confirmed: ConfirmedUrls, app: str) -> None:
    assert not confirmed.is_confirmed(app, URL, NOW)
    confirmed.confirm(app, URL, NOW)
    assert confirmed.is_confirmed(app, URL, NOW + CONFIRMED_MS - 1)
    assert not confirmed.is_confirmed(app, URL, NOW + CONFIRMED_MS)
    assert not confirmed.is_confirmed(app, URL + "0", NOW)
    assert not confirmed.is_confirmed(with_shard(secrets.token_urlsafe(16)), URL, NOW)
    confirmed.confirm(app, URL, NOW + 1)
    assert confirmed.is_confirmed(app, URL, NOW + CONFIRMED_MS)


def test_of_too_many_those_that_answered_first_are_forgotten(confirmed: ConfirmedUrls, app: str) -> None:
    for number in range(MOST_CONFIRMED + 2):
        confirmed.confirm(app, f"{URL}{number}", NOW + number)
    known = [confirmed.is_confirmed(app, f"{URL}{number}", NOW) for number in range(MOST_CONFIRMED + 2)]
    assert known == [False] * 2 + [True] * MOST_CONFIRMED


@pytest.mark.parametrize("servers", ["redis", "cluster"])
def test_no_url_is_stored_and_what_is_expires(servers: str, request: pytest.FixtureRequest, app: str) -> None:
    topology = open_servers(request, servers)
    RedisConfirmedUrls(redis_calls(topology)).confirm(app, URL, NOW)
    key = keys.confirmed_urls(app)
    stored, expires = topology.call(key, (b"ZRANGE", key, 0, -1), (b"PTTL", key))
    assert stored == [keys.digest(URL)]
    assert 0 < expires <= CONFIRMED_MS
