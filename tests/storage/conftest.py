"""A Cluster for all tests of a pytest worker that do not disturb it; a new server for each test that disturbs one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from service.games.store.redis_store import RedisStore
from service.redis.connection import connect
from service.redis.topology import SingleNodeTopology, Topology, open_topology
from tests.storage.clusters import Cluster
from tests.storage.servers import RealServer
from tests.storage.waits import counted
from tests.support.stores.redis_stores import redis_store

TTL = 30 * 24 * 3600


@pytest.fixture(autouse=True)
def counted_waits() -> Iterator[None]:
    """Count the timeouts that run out in each thread."""
    with counted():
        yield


@pytest.fixture(scope="session")
def shared_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def cluster_topology(shared_cluster: Cluster) -> Topology:
    return open_topology(shared_cluster.url)


def servers(request: pytest.FixtureRequest, name: str) -> Topology:
    """One server, ``redis``, or a ``cluster``."""
    if name == "redis":
        return SingleNodeTopology(request.getfixturevalue("shared_client"))
    cluster: Topology = request.getfixturevalue("cluster_topology")
    return cluster


@pytest.fixture(params=["redis", "cluster"])
def topology(request: pytest.FixtureRequest) -> Topology:
    return servers(request, request.param)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    with RealServer(tmp_path) as server:
        yield server


@pytest.fixture
def client(server: RealServer) -> Iterator[redis.Redis]:
    client = connect(server.url)
    yield client
    client.close()


@pytest.fixture
def store(client: redis.Redis) -> RedisStore:
    return redis_store(SingleNodeTopology(client), TTL)
