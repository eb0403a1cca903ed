"""Reminders in Redis where scripts are unknown, slots have moved, and servers are away."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from service.games.reminders import ClockReading, LeasedReminder, ReminderKind
from service.games.store.reminder_queue import RedisReminders
from service.redis import keys
from service.redis.cluster import ClusterTopology
from service.redis.connection import NotSent
from service.redis.errors import StorageUnavailable
from service.redis.shards import with_shard
from service.redis.topology import SingleNodeTopology, Topology, open_topology
from tests.storage.clusters import Cluster, Sentinels, until
from tests.storage.conftest import TTL
from tests.storage.servers import RealServer, frozen
from tests.storage.write_requests import write
from tests.support import reminders
from tests.support.stores.redis_stores import redis_reminders, redis_store

pytestmark = pytest.mark.gate

LEASE = 20_000


@pytest.fixture
def games(shared_cluster: Cluster, cluster_topology: Topology) -> Iterator[list[str]]:
    """Games on every server of the Cluster that are due."""
    clear(cluster_topology)
    yield due_games(cluster_topology, 12)
    clear(cluster_topology)


def clear(topology: Topology) -> None:
    kinds: tuple[ReminderKind, ...] = ("bots", "clock")
    for kind in kinds:
        reminders.clear(topology, kind)
    for key in keys.HEARTBEATS:
        topology.call(key, (b"DEL", key))


def due_games(topology: Topology, number: int) -> list[str]:
    store, games = redis_store(topology, TTL), []
    for _ in range(number):
        game = with_shard(secrets.token_urlsafe(16))
        store.create(game, b"s", [b"e1"], write(), reminders={"bots": 1, "clock": 1})
        games.append(game)
    return games


def taken(queue: RedisReminders, limit: int = 100) -> set[str]:
    return {reminder.game for reminder in queue.take("bots", limit, LEASE)}


def test_a_server_that_forgot_its_scripts_is_sent_them(server: RealServer) -> None:
    topology = open_topology(server.url)
    queue = redis_reminders(topology)
    (game,) = due_games(topology, 1)
    server.admin.script_flush()
    (reminder,) = queue.take("bots", 5, LEASE)
    assert reminder.game == game
    server.admin.script_flush()
    assert queue.reschedule("bots", [(reminder, None)]) == 1
    assert reminders.stored(server.admin, "bots") == {}


def test_the_servers_of_a_cluster_that_forgot_their_scripts_are_sent_them(
    shared_cluster: Cluster, cluster_topology: Topology, games: list[str]
) -> None:
    for each in shared_cluster.servers[:3]:
        each.admin.script_flush()
    assert taken(redis_reminders(cluster_topology)) == set(games)


def test_the_games_of_a_cluster_are_on_all_its_servers_and_no_more_are_taken_than_wanted(
    cluster_topology: Topology, games: list[str]
) -> None:
    assert len({cluster_topology.node(keys.state(game)) for game in games}) > 1
    queue = redis_reminders(cluster_topology)
    assert [len(taken(queue, 5)) for _ in range(4)] == [5, 5, 2, 0]


def test_slots_that_have_moved_are_found(shared_cluster: Cluster, games: list[str]) -> None:
    topology = open_topology(shared_cluster.url)
    assert isinstance(topology, ClusterTopology)
    topology.node(keys.HEARTBEATS[0])
    topology._owners = [topology._owners[0]] * len(topology._owners)
    assert taken(redis_reminders(topology)) == set(games)


def test_each_command_goes_to_the_owner_of_its_key(cluster_topology: Topology) -> None:
    names = [secrets.token_hex(8).encode() for _ in range(50)]
    assert cluster_topology.call_each([(name, (b"SET", name, b"1", b"EX", 60)) for name in names]) == [b"OK"] * 50
    assert cluster_topology.call_each([(name, (b"INCR", name)) for name in names]) == [2] * 50
    (wrong,) = cluster_topology.call_each([(names[0], (b"LPUSH", names[0], b"1"))])
    assert isinstance(wrong, redis.ResponseError)
    assert cluster_topology.call_each([]) == []


def test_a_single_server_answers_each_command(shared_client: redis.Redis) -> None:
    topology = SingleNodeTopology(shared_client)
    name = secrets.token_hex(8).encode()
    assert topology.call_each([(name, (b"SET", name, b"1")), (name, (b"DEL", name))]) == [b"OK", 1]
    assert topology.call_each([]) == []


def test_no_map_of_the_cluster_is_waited_for_once() -> None:
    topology = open_topology("redis+cluster://127.0.0.1:1")
    answers = topology.call_each([(key, (b"GET", key)) for key in keys.HEARTBEATS])
    assert all(isinstance(answer, NotSent) for answer in answers)
    with pytest.raises(StorageUnavailable):
        redis_reminders(topology).take("bots", 5, LEASE)


def test_a_server_that_is_away_makes_the_queue_unavailable() -> None:
    failures: list[str] = []
    operations: list[str] = []
    queue = redis_reminders(
        open_topology("redis://127.0.0.1:1"),
        observe=lambda operation, _: operations.append(operation),
        observe_failure=failures.append,
    )
    for call in (
        lambda: queue.take("clock", 5, LEASE),
        lambda: queue.reschedule("bots", [(LeasedReminder(with_shard("A" * 22), 1, 1.5, ClockReading(1)), None)]),
        lambda: queue.read_clock(with_shard("A" * 22)),
        queue.server_time,
    ):
        with pytest.raises(StorageUnavailable):
            call()
    assert failures == ["connection", "connection"]
    assert operations == ["due", "reschedule", "time", "time"]


def test_a_server_of_a_cluster_that_is_away_does_not_keep_the_others_from_giving(tmp_path: Path) -> None:
    with Cluster(tmp_path, **{"cluster-require-full-coverage": "no"}) as cluster:
        topology = open_topology(cluster.url)
        games = due_games(topology, 12)
        lost = topology.node(keys.state(games[0]))
        for number in range(3):
            if cluster.servers[number].address == lost:
                cluster.servers[number + 3].kill()
                cluster.servers[number].kill()
        expected = {game for game in games if topology.node(keys.state(game)) != lost}
        failures: list[str] = []
        queue = redis_reminders(topology, observe_failure=failures.append)
        assert expected
        assert taken(queue) == expected
        assert failures


def test_behind_sentinels_one_script_takes_few_of_all_shards_and_two_take_some_of_many(tmp_path: Path) -> None:
    with Sentinels(tmp_path) as sentinels:
        topology = open_topology(sentinels.url)
        games = due_games(topology, 12)
        queue, found = redis_reminders(topology), set[str]()
        for limit, many, scripts in ((5, 5, 2), (7, 7, 1), (7, 0, 1)):
            sentinels.servers[0].admin.config_resetstat()
            some = taken(queue, limit)
            assert len(some) == many
            found |= some
            commands: Any = sentinels.servers[0].admin.info("commandstats")
            assert commands["cmdstat_evalsha"]["calls"] == scripts
        assert found == set(games)


def test_a_lease_whose_answer_is_lost_is_given_again(server: RealServer) -> None:
    topology = open_topology(server.url)
    queue = redis_reminders(topology)
    (game,) = due_games(topology, 1)
    with frozen(server), pytest.raises(StorageUnavailable):
        queue.take("bots", 5, 1)
    until(lambda: taken(queue) == {game})
