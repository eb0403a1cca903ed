"""What an operator sees of a store, on one server and on a Cluster."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import get_args

import pytest
import redis
from redis.crc import key_slot

from service.games.figures import MOST_APPLICATIONS, Application, Backlog
from service.games.model.shards import with_shard
from service.games.ports import StorageUnavailable
from service.games.reminders import ReminderKind
from service.storage import figures, keys
from service.storage.figures import MOST_HOLDERS, RedisFigures
from service.storage.redis.calls import observe_nothing
from service.storage.redis.topology import SingleNodeTopology, Topology, open_topology
from tests.storage.servers import RealServer, fill
from tests.support import reminders
from tests.support.stores.redis_stores import redis_calls, redis_reminders

pytestmark = pytest.mark.gate

NONE = Backlog(0, 0.0)
START = 1_800_000_000_000


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def always_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "VALID_SECONDS", 0.0)


@pytest.fixture(params=["redis", "cluster"])
def topology(request: pytest.FixtureRequest) -> Iterator[Topology]:
    found: Topology = (
        SingleNodeTopology(request.getfixturevalue("shared_client"))
        if request.param == "redis"
        else request.getfixturevalue("cluster_topology")
    )
    clear(found)
    yield found
    clear(found)


def clear(topology: Topology) -> None:
    for kind in get_args(ReminderKind):
        reminders.clear(topology, kind)
    topology.call(keys.APPLICATIONS, (b"DEL", keys.APPLICATIONS))


def of(topology: Topology, clock: Clock) -> RedisFigures:
    return RedisFigures(topology, redis_calls(topology), clock, observe=observe_nothing)


def new_game() -> str:
    return with_shard(secrets.token_urlsafe(16))


def test_nothing_waits_in_an_empty_store(topology: Topology, clock: Clock) -> None:
    found = of(topology, clock).read()
    assert found.backlogs == dict.fromkeys(get_args(ReminderKind), NONE)
    assert (found.running, found.applications, found.each) == (0, 0, ())
    used, limit = found.memory
    assert used > 100_000
    assert limit == 0


def test_what_is_due_and_not_taken_is_counted_by_its_kind(topology: Topology, clock: Clock) -> None:
    queue = redis_reminders(topology)
    now = queue.server_time()
    for number in range(40):
        queue.restore("bots", new_game(), f"holder {number % 3}", now - 1000 * number)
    queue.restore("clock", new_game(), "holder", now + 60_000)
    queue.restore("webhooks", new_game(), "", now - 5_000)
    found = of(topology, clock).read().backlogs
    assert found["bots"].waiting == 40
    assert 39 <= found["bots"].oldest < 42
    assert found["webhooks"].waiting == 1
    assert 5 <= found["webhooks"].oldest < 8
    assert found["clock"] == found["outbox"] == NONE
    assert len(queue.take("bots", 100, 20_000)) == 40
    assert of(topology, clock).read().backlogs["bots"] == NONE, "they are leased"


def test_of_very_many_holders_so_many_are_counted(shared_client: redis.Redis, clock: Clock) -> None:
    topology = SingleNodeTopology(shared_client)
    clear(topology)
    queue = redis_reminders(topology)
    now = queue.server_time()
    for number in range(MOST_HOLDERS + 50):
        queue.restore("clock", new_game(), f"{number}", now - 1000 * number)
    found = of(topology, clock).read().backlogs["clock"]
    assert found.waiting == MOST_HOLDERS
    assert found.oldest > MOST_HOLDERS // 2
    clear(topology)


def test_a_running_game_is_counted_once_and_for_five_minutes(topology: Topology, clock: Clock) -> None:
    first, second = of(topology, clock), of(topology, clock)
    clock.now = START + 3_600_000 * (1 + topology.scripts_span_slots)
    games = {new_game() for _ in range(100)}
    first.note_running(games)
    second.note_running(set(list(games)[:50]))
    second.note_running(set())
    assert 97 <= first.read().running <= 103
    clock.now += 60_000
    second.note_running({min(games)})
    (left,) = topology.call(keys.running(0), (b"TTL", keys.running(clock.now // 60_000)))
    assert 300 < left <= 360, "nothing stays"
    assert 97 <= second.read().running <= 103
    clock.now += 300_000
    assert first.read().running == 1
    clock.now += 60_000
    assert first.read().running == 0


def test_each_application_is_shown_where_there_are_few(topology: Topology, clock: Clock) -> None:
    apps = sorted(secrets.token_urlsafe(18) for _ in range(2))
    for app, games in zip(apps, (3, 0), strict=True):
        topology.call(keys.APPLICATIONS, (b"SADD", keys.APPLICATIONS, app.encode()))
        for number in range(games):
            topology.call(keys.totals(app)[0], (b"ZADD", keys.totals(app)[0], number, b"game %d" % number))
    topology.call(keys.totals(apps[0])[1], (b"SET", keys.totals(apps[0])[1], 12_345))
    found = of(topology, clock).read()
    assert found.applications == 2
    assert found.each == (Application(apps[0], 3, 12_345), Application(apps[1], 0, 0))
    for number in range(MOST_APPLICATIONS):
        topology.call(keys.APPLICATIONS, (b"SADD", keys.APPLICATIONS, b"app %d" % number))
    found = of(topology, clock).read()
    assert (found.applications, found.each) == (MOST_APPLICATIONS + 2, ())


def test_the_memory_is_that_of_the_server(server: RealServer, clock: Clock) -> None:
    fill(server.admin, 90)
    used, limit = of(open_topology(server.url), clock).read().memory
    assert 0.85 < used / limit < 0.95


def test_reading_often_asks_once_a_second(server: RealServer, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "VALID_SECONDS", 60.0)
    figures_of_it = of(open_topology(server.url), clock)

    def scripts() -> int:
        return int(server.admin.info("commandstats").get("cmdstat_evalsha", {"calls": 0})["calls"])

    before = scripts()
    first = figures_of_it.read()
    assert [figures_of_it.read() for _ in range(5)] == [first] * 5
    assert scripts() == before + 1
    server.kill()
    assert figures_of_it.read() == first
    monkeypatch.setattr(figures, "VALID_SECONDS", 0.0)
    with pytest.raises(StorageUnavailable):
        figures_of_it.read()


def test_the_keys_of_the_running_games_lie_in_one_slot() -> None:
    assert len({key_slot(keys.running(minute)) for minute in range(30_000_000, 30_000_010)}) == 1
