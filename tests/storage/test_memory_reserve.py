"""With its memory almost full, a server takes no new games, and the running ones go on."""

from __future__ import annotations

import pytest
import redis

from service.games.ports import Commit
from service.games.store.redis_store import RedisStore
from service.limits.memory import CHECK_SECONDS, MemoryReserve
from service.redis.calls import observe_nothing
from service.redis.connection import connect
from service.redis.errors import StorageUnavailable
from service.redis.topology import SingleNodeTopology, Topology
from tests.storage.clusters import Cluster
from tests.storage.conftest import TTL
from tests.storage.servers import FakeServer, RealServer, fill
from tests.storage.write_requests import write
from tests.support.stores.redis_stores import redis_store

pytestmark = pytest.mark.gate


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def with_reserve(topology: Topology, clock: Clock) -> RedisStore:
    return redis_store(topology, TTL, reserve=MemoryReserve(topology, observe_failure=observe_nothing, now=clock))


def assert_refused(store: RedisStore) -> None:
    with pytest.raises(StorageUnavailable, match="memory reserve") as error:
        store.create("new", b"s", [b"e"], write())
    assert error.value.retry_after >= 1
    with pytest.raises(StorageUnavailable, match="memory reserve"):
        store.reserve("name", "new")


@pytest.fixture
def store(client: redis.Redis, clock: Clock) -> RedisStore:
    return with_reserve(SingleNodeTopology(client), clock)


def test_moves_are_made_and_games_are_not_created_in_the_reserve(
    server: RealServer, store: RedisStore, clock: Clock
) -> None:
    store.create("running", b"s", [b"e"], write())
    fill(server.admin, 95)
    clock.seconds += CHECK_SECONDS
    assert_refused(store)
    for version in range(1, 20):
        assert store.commit("running", Commit(version, b"s", [b"e"], write())) is None
    store.compact("running")
    assert store.read("new") is None
    assert not server.admin.exists("domino:key:name")


@pytest.mark.parametrize("maxmemory", ["0", "1gb"])
def test_games_are_created_again_when_there_is_memory(
    server: RealServer, store: RedisStore, clock: Clock, maxmemory: str
) -> None:
    fill(server.admin, 95)
    assert_refused(store)
    server.configure(maxmemory=maxmemory)
    assert_refused(store)  # what is known of the memory is valid for a second
    clock.seconds += CHECK_SECONDS
    store.create("new", b"s", [b"e"], write())
    assert store.reserve("name", "new") == "new"


def test_games_are_created_below_the_reserve(server: RealServer, store: RedisStore) -> None:
    fill(server.admin, 80)
    store.create("new", b"s", [b"e"], write())


def test_the_memory_is_read_at_most_once_a_second_and_for_new_games_only(
    server: RealServer, store: RedisStore, clock: Clock
) -> None:
    def times_read() -> int:
        return int(server.admin.info("commandstats").get("cmdstat_info", {"calls": 0})["calls"])

    before = times_read()
    store.create("game", b"s", [b"e"], write())
    assert store.commit("game", Commit(1, b"s", [b"e"], write())) is None
    for number in range(10):
        store.create(f"game {number}", b"s", [b"e"], write())
    assert times_read() == before + 2  # the first of these counts itself
    clock.seconds += CHECK_SECONDS
    for number in range(10, 20):
        store.create(f"game {number}", b"s", [b"e"], write())
    assert times_read() == before + 4


@pytest.mark.parametrize("answer", [b"-NOPERM this user has no permissions\r\n", b"$8\r\n# Memory\r\n"])
def test_a_server_that_does_not_show_its_memory_takes_new_games(answer: bytes, clock: Clock) -> None:
    with FakeServer(lambda command: answer if command[0] == b"INFO" else b":1\r\n") as server:
        with_reserve(SingleNodeTopology(connect(server.url)), clock).create("game", b"s", [b"e"], write())


def test_a_server_that_does_not_answer_is_unavailable(server: RealServer, store: RedisStore) -> None:
    server.kill()
    with pytest.raises(StorageUnavailable, match="connection"):
        store.create("game", b"s", [b"e"], write())


def test_each_primary_of_a_cluster_has_its_own_reserve(
    shared_cluster: Cluster, cluster_topology: Topology, clock: Clock
) -> None:
    games = {cluster_topology.node(b"{%d}" % number): f"{number}" for number in range(30)}
    full, *others = games.values()
    primary = shared_cluster.primary_of(full.encode())
    host, port = primary.address.rsplit(":", 1)
    store = with_reserve(cluster_topology, clock)
    with redis.Redis(host=host, port=int(port), protocol=2) as admin:
        ballast = "{" + full + "}ballast"  # in a slot of this primary
        fill(admin, 95, ballast)
        try:
            with pytest.raises(StorageUnavailable, match="memory reserve"):
                store.create(full, b"s", [b"e"], write())
            for game in others:
                store.create(game, b"s", [b"e"], write())
        finally:
            admin.config_set("maxmemory", 0)
            admin.delete(ballast)
