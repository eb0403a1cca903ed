"""What an operator sees of a store, on one server and on a Cluster."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import get_args

import pytest
import redis

from service.games.ports import Backlog
from service.games.reminders import ReminderKind
from service.games.store import stats
from service.games.store.stats import MAX_TENANTS, RedisStats
from service.redis.errors import StorageUnavailable
from service.redis.shards import with_shard
from service.redis.topology import SingleNodeTopology, Topology, open_topology
from tests.storage.servers import RealServer, fill
from tests.support import reminders
from tests.support.stores.redis_stores import redis_calls, redis_reminders

pytestmark = pytest.mark.gate

NONE = Backlog(0, 0.0)


@pytest.fixture(autouse=True)
def always_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats, "VALID_MS", 0)


@pytest.fixture
def topology(topology: Topology) -> Iterator[Topology]:
    clear(topology)
    yield topology
    clear(topology)


def clear(topology: Topology) -> None:
    for kind in get_args(ReminderKind):
        reminders.clear(topology, kind)


def of(topology: Topology) -> RedisStats:
    return RedisStats(redis_calls(topology))


def new_game() -> str:
    return with_shard(secrets.token_urlsafe(16))


def test_nothing_waits_in_an_empty_store(topology: Topology) -> None:
    found = of(topology).read()
    assert found.backlogs == dict.fromkeys(get_args(ReminderKind), NONE)
    used, limit = found.memory
    assert used > 100_000
    assert limit == 0


def test_what_is_due_and_not_taken_is_counted_by_its_kind(topology: Topology) -> None:
    queue = redis_reminders(topology)
    now = queue.server_time()
    for number in range(40):
        queue.restore("bots", new_game(), f"tenant {number % 3}", now - 1000 * number)
    queue.restore("clock", new_game(), "tenant", now + 60_000)
    queue.restore("webhooks", new_game(), "", now - 5_000)
    found = of(topology).read().backlogs
    assert found["bots"].waiting == 40
    assert 39 <= found["bots"].oldest < 42
    assert found["webhooks"].waiting == 1
    assert 5 <= found["webhooks"].oldest < 8
    assert found["clock"] == found["outbox"] == NONE
    assert len(queue.take("bots", 100, 20_000)) == 40
    assert of(topology).read().backlogs["bots"] == NONE, "they are leased"


def test_of_very_many_tenants_so_many_are_counted(shared_client: redis.Redis) -> None:
    topology = SingleNodeTopology(shared_client)
    clear(topology)
    queue = redis_reminders(topology)
    now = queue.server_time()
    for number in range(MAX_TENANTS + 50):
        queue.restore("clock", new_game(), f"{number}", now - 1000 * number)
    found = of(topology).read().backlogs["clock"]
    assert found.waiting == MAX_TENANTS
    assert found.oldest > MAX_TENANTS // 2
    clear(topology)


def test_the_memory_is_that_of_the_server(server: RealServer) -> None:
    fill(server.admin, 90)
    used, limit = of(open_topology(server.url)).read().memory
    assert 0.85 < used / limit < 0.95


def test_reading_often_asks_once_a_second(server: RealServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats, "VALID_MS", 60_000)
    figures_of_it = of(open_topology(server.url))

    def scripts() -> int:
        return int(server.admin.info("commandstats").get("cmdstat_evalsha", {"calls": 0})["calls"])

    before = scripts()
    first = figures_of_it.read()
    assert [figures_of_it.read() for _ in range(5)] == [first] * 5
    assert scripts() == before + 1
    server.kill()
    assert figures_of_it.read() == first
    monkeypatch.setattr(stats, "VALID_MS", 0)
    with pytest.raises(StorageUnavailable):
        figures_of_it.read()
