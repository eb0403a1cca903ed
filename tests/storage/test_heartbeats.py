"""The heartbeats and the outage allowance that follows from them: with Redis, with a Cluster and in memory.

The harness is that of the reminders, whose clock goes on only if a test says so.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import redis

from service.games.reminders import NO_ALLOWANCE
from service.games.store.heartbeats import HEARTBEAT_MS, LONGEST_ALLOWANCE_MS, OUTAGE_MS, Heartbeat, RedisHeartbeats
from service.redis import keys
from service.redis.calls import observe_nothing
from service.redis.errors import StorageUnavailable
from service.redis.shards import shard_of
from service.redis.topology import open_topology
from tests.storage.clusters import Cluster
from tests.storage.servers import RealServer
from tests.storage.test_reminders import (
    AGO,
    LATER,
    LEASE,
    Harness,
    RedisHarness,
    create,
    harness,
    new_game,
    take,
)
from tests.support.stores.redis_stores import redis_reminders

pytestmark = pytest.mark.gate

__all__ = ["harness"]

of_redis = pytest.mark.parametrize("harness", ["redis", "cluster"], indirect=True)


def until(harness: Harness, game: str) -> int:
    """For how many milliseconds from now deadlines are postponed that began before the last outage was over."""
    return harness.queue.read_clock(game).allowance.until - harness.queue.server_time()


def test_after_an_outage_deadlines_are_postponed_by_its_length(harness: Harness) -> None:
    game = new_game()
    harness.beat()
    harness.pass_time(30_000)
    began = harness.queue.server_time()
    harness.beat()
    since, end = harness.queue.read_clock(game).allowance
    assert since == began
    assert end - since == 30_000
    for passed in range(1_000, 11_000, 1_000):  # heartbeats go on, and the end comes nearer
        harness.pass_time(1_000)
        harness.beat()
        assert until(harness, game) <= end - since - passed
    while until(harness, game) > 0:
        harness.pass_time(1_000)
        harness.beat()
    assert harness.queue.read_clock(game).allowance == NO_ALLOWANCE


def test_who_only_takes_what_is_due_sends_no_heartbeat(harness: Harness) -> None:
    game = create(harness, "clock", -AGO)
    harness.beat()
    for _ in range(10):
        harness.pass_time(3_000)
        take(harness, "clock")
    harness.beat()
    assert until(harness, game) == 30_000


def test_as_long_as_players_can_move_nothing_is_postponed_however_rarely_somebody_takes(harness: Harness) -> None:
    game = create(harness, "clock", -AGO)
    for _ in range(8):  # a scheduler that is away, or is killed each time before it takes anything
        harness.beat()
        harness.pass_time(1_000)
    assert harness.queue.read_clock(game).allowance == NO_ALLOWANCE
    assert take(harness, "clock") == {game}


def test_a_short_gap_is_no_outage(harness: Harness) -> None:
    harness.beat()
    harness.pass_time(OUTAGE_MS)
    harness.beat()
    assert harness.queue.read_clock(new_game()).allowance == NO_ALLOWANCE
    harness.pass_time(OUTAGE_MS + 1)
    harness.beat()
    assert until(harness, new_game()) == OUTAGE_MS + 1


@pytest.mark.parametrize(
    ("passed", "allowed"),
    [
        ([30_000, 0], 30_000),
        ([30_000], 30_000),
        ([30_000, 20_000, 0], 50_000),
        ([10 * LONGEST_ALLOWANCE_MS, 0], LONGEST_ALLOWANCE_MS),
    ],
    ids=["over", "as if it ended now", "added to what is left", "an hour at most"],
)
def test_an_outage_allows_as_long_as_it_lasted(harness: Harness, passed: list[int], allowed: int) -> None:
    for milliseconds in passed:
        harness.beat()
        harness.pass_time(milliseconds)
    assert until(harness, new_game()) == allowed


def test_outages_that_are_shorter_than_the_time_between_them_do_not_add_up(harness: Harness) -> None:
    harness.beat()
    for _ in range(2):
        harness.pass_time(6_000)
        harness.beat()
        for _ in range(8):
            harness.pass_time(1_000)
            harness.beat()
    assert until(harness, new_game()) <= 0


def test_where_there_was_no_heartbeat_nothing_is_postponed(harness: Harness) -> None:
    game = create(harness, "clock", -30_000)
    assert harness.queue.read_clock(game).allowance == NO_ALLOWANCE
    harness.beat()
    assert harness.queue.read_clock(game).allowance == NO_ALLOWANCE


def test_a_clock_that_was_set_back_does_not_hide_later_outages(harness: Harness) -> None:
    harness.beat()
    harness.pass_time(-50_000)
    harness.beat()
    harness.pass_time(30_000)
    harness.beat()
    assert until(harness, new_game()) > 20_000


def test_a_process_knows_what_the_last_heartbeat_has_told_it(harness: Harness) -> None:
    game = new_game()
    assert harness.queue.allowance(game) == NO_ALLOWANCE
    harness.beat()
    harness.pass_time(30_000)
    harness.beat()
    assert harness.queue.allowance(game) == harness.queue.read_clock(game).allowance != NO_ALLOWANCE


@of_redis
def test_another_process_learns_the_allowance_without_a_heartbeat(harness: Harness) -> None:
    assert isinstance(harness, RedisHarness)
    other, game = RedisHeartbeats(harness.topology, observe=observe_nothing), new_game()
    other.refresh()
    assert harness.queue.read_clock(game).allowance == NO_ALLOWANCE
    harness.beat()
    harness.pass_time(30_000)
    harness.beat()
    harness.pass_time(3_000)
    other.refresh()
    assert other.allowance(game) == harness.queue.read_clock(game).allowance
    harness.pass_time(3_000)  # six seconds without a heartbeat, as a look is none
    assert harness.queue.read_clock(game).allowance.since > other.allowance(game).since


def test_a_process_acts_once_on_each_outage_that_it_learns_of(shared_client: redis.Redis) -> None:
    harness = RedisHarness(shared_client)
    harness.clear()
    learned: list[str] = []
    sending, looking = harness.heartbeats, RedisHeartbeats(harness.topology, observe=observe_nothing)
    sending.on_outage(lambda: learned.append("sends"))
    looking.on_outage(lambda: learned.append("looks"))
    for passed in (0, 1_000, 30_000, 0):
        harness.pass_time(passed)
        sending.beat()
        looking.refresh()
    harness.clear()
    assert learned == ["sends", "looks"]


@of_redis
def test_heartbeats_of_several_processes_are_one(harness: Harness) -> None:
    assert isinstance(harness, RedisHarness)
    other = RedisHeartbeats(harness.topology, observe=observe_nothing)
    for _ in range(5):
        harness.beat()
        harness.pass_time(1_000)
        other.beat()
        harness.pass_time(1_000)
    assert harness.queue.read_clock(new_game()).allowance == NO_ALLOWANCE


def test_a_heartbeat_is_written_once_in_its_time_however_many_send_it(server: RealServer) -> None:
    heartbeats = redis_reminders(open_topology(server.url)).heartbeats
    heartbeats.beat()
    first = server.admin.get(keys.HEARTBEATS[0])
    server.admin.config_resetstat()
    for _ in range(5):
        heartbeats.beat()
    last = server.admin.get(keys.HEARTBEATS[0])
    assert isinstance(first, bytes)
    assert isinstance(last, bytes)
    writes = server.admin.info("commandstats").get("cmdstat_set", {"calls": 0})["calls"]
    assert writes <= 1 + (int(last.split()[0]) - int(first.split()[0])) // HEARTBEAT_MS


def test_a_server_of_a_cluster_that_was_away_postpones_its_games_alone(shared_cluster: Cluster) -> None:
    harness = RedisHarness(shared_cluster)
    harness.clear()
    harness.beat()
    lost = harness.topology.node(keys.HEARTBEATS[0])
    now = harness.queue.server_time()
    for key in keys.HEARTBEATS:
        if harness.topology.node(key) == lost:
            harness.topology.call(key, (b"SET", key, b"%d 0 0" % (now - 60_000)))
    harness.beat()
    games: dict[bool, str] = {}
    while len(games) < 2:
        game = new_game()
        games[harness.topology.node(keys.HEARTBEATS[shard_of(game) or 0]) == lost] = game
    for is_lost, game in games.items():
        assert (harness.queue.read_clock(game).allowance != NO_ALLOWANCE) is is_lost
        assert (harness.queue.allowance(game) != NO_ALLOWANCE) is is_lost
    harness.clear()


def test_no_heartbeat_reaches_a_server_that_is_away() -> None:
    heartbeats = redis_reminders(open_topology("redis://127.0.0.1:1")).heartbeats
    calls: tuple[Callable[[], None], ...] = (heartbeats.beat, heartbeats.refresh)
    for call in calls:
        with pytest.raises(StorageUnavailable):
            call()


def test_data_that_a_store_loads_from_its_disk_shows_how_long_it_was_away(server: RealServer) -> None:
    """A heartbeat is data like any other: what was stopped with it comes back with it."""
    game, reminders = new_game(), redis_reminders(open_topology(server.url))
    before = reminders.server_time()
    server.admin.set(keys.HEARTBEATS[0], f"{before - 60_000} 0 0")
    reminders.heartbeats.beat()
    now, allowance = reminders.read_clock(game)
    assert 60_000 <= allowance.until - allowance.since <= 60_000 + now - before
    assert allowance.since <= now


# ── A clock of a server that is set back ─────────────────────────────────────────────────────────────────────────────


@of_redis
def test_the_time_of_games_goes_on_when_the_clock_of_a_server_is_set_back(harness: Harness) -> None:
    """What is due soon does not wait for the clock."""
    harness.beat()
    soon, later = create(harness, "clock", 10_000), create(harness, "clock", LATER)
    before = harness.queue.server_time()
    harness.pass_time(-60_000)
    assert harness.queue.server_time() == before  # even before the next heartbeat
    harness.beat()
    assert harness.queue.server_time() == before
    assert take(harness, "clock") == set()
    for _ in range(4):
        harness.beat()
        harness.pass_time(2_600)  # the last of it without a heartbeat
    (taken,) = harness.queue.take("clock", 9, LEASE)
    assert taken.game == soon
    assert harness.queue.take("clock", 9, LEASE) == []  # its lease is of the same time
    renewed = harness.queue.renew("clock", taken, LEASE)
    assert renewed is not None
    assert 0 <= renewed.leased - taken.leased < 2  # a lease has a fraction, which no other lease has
    assert harness.queue.read_clock(later).allowance == NO_ALLOWANCE


def test_the_time_of_games_comes_back_to_the_clock_of_the_server_slowly(shared_client: redis.Redis) -> None:
    harness = RedisHarness(shared_client)
    harness.clear()
    harness.beat()
    harness.pass_time(-2_000)
    harness.beat()
    ahead = [_ahead(shared_client)]
    for _ in range(3):
        harness.pass_time(4_000)
        harness.beat()
        ahead.append(_ahead(shared_client))
    assert ahead == [2_000, 1_992, 1_984, 1_976]
    harness.clear()


def _ahead(client: redis.Redis) -> int:
    value = client.get(keys.HEARTBEATS[0])
    assert isinstance(value, bytes)
    return Heartbeat.parse(value).ahead
