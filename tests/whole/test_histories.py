"""Recorded histories over HTTP, while everything around the service fails: no write is lost or made twice.

A scenario is what fails, and what may follow from it. A write with an Idempotency-Key that got no answer, or an
unclear one, is retried until its outcome is known; writes without a key depend on the service's own retries.
Afterwards the games in Redis are compared with the answers.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from random import Random
from threading import Event
from typing import NamedTuple

import pytest
import redis

from service.storage import keys
from service.storage.redis.connection import connect
from service.storage.redis.topology import open_topology
from tests.conftest import Figures
from tests.histories.checker import check
from tests.histories.clients import Client, Party
from tests.histories.history import Operation, Outcome
from tests.storage.clusters import NODE_TIMEOUT, Cluster, Server
from tests.storage.servers import RealServer, write_before_answering
from tests.support.processes import runs
from tests.support.serving import Service
from tests.support.stores.redis_stores import redis_store
from tests.whole.http_connection import HttpDoor, Log
from tests.whole.proxy import Mishap, Proxy

pytestmark = pytest.mark.gate

CLIENTS = 8
SECONDS = 2.0
SOAK_SECONDS = float(os.environ.get("SOAK_SECONDS", "60"))
PATIENCE = 30.0
REST = 0.05
FAILOVER = 3.0
"""Seconds after the node time-out of a Cluster within which its games are served again."""
MOST_ATTEMPTS = 400
SLOWEST = 3.0
"""Seconds within which every request is answered, whatever fails; asserted in soak runs only."""


class Stage(NamedTuple):
    """Where a history is played: the service, the addresses of its servers, and what can be broken between or there."""

    service: Service
    nodes: str
    servers: list[str]
    proxy: Proxy | None = None
    cluster: Cluster | None = None
    tables: int = 3

    def games(self) -> set[str]:
        """The ids of all games there are."""
        found = set()
        for url in self.servers:
            with connect(url) as client:
                names = [key.decode() for key in client.scan_iter("domino:{*}", count=1000)]
            found |= {name[len("domino:{") : -1] for name in names if name.endswith("}")}
        return found


class Outage(NamedTuple):
    """The games that lost their server, the others, and the time between failure and recovery."""

    games: frozenset[str]
    others: frozenset[str]
    began: float
    ended: float


class Play:
    """One history: its clients, the log of their requests, and the injected failures."""

    def __init__(self, stage: Stage, prefix: str, keyed: float) -> None:
        self.stage = stage
        self._keyed = keyed
        self.party = Party(prefix)
        self.log = Log()
        self.broken: Counter[str] = Counter()
        self.outages: list[Outage] = []
        self._over = Event()
        self._rng = Random(prefix)

    def run(self, seconds: float, trouble: Trouble) -> None:
        """Run the clients while failures are injected for so long, and until all outcomes are known."""
        with ThreadPoolExecutor(CLIENTS) as threads:
            running = [threads.submit(self._live) for _ in range(CLIENTS)]
            try:
                until = time.monotonic() + seconds
                while time.monotonic() < until or not self._enough():
                    assert time.monotonic() < until + PATIENCE, "too little happened"
                    trouble(self)
            finally:
                if self.stage.proxy is not None:
                    self.stage.proxy.every = 0
                self._over.set()
            for each in running:
                each.result(2 * PATIENCE)
        with closing(HttpDoor(self.stage.service.url, self.log)) as door:
            self._client(door).settle()

    def _enough(self) -> bool:
        """Whether requests were served, and every mishap of the proxy has occurred."""
        proxy = self.stage.proxy
        return self.log.served > 10 * CLIENTS and (proxy is None or all(proxy.injected[each.value] for each in Mishap))

    def until_read(self, games: frozenset[str]) -> None:
        """Wait until one of these games is read again."""
        now = time.monotonic()
        self.until(
            lambda: any(
                answer.at > now and answer.game in games and (answer.method, answer.status) == ("GET", 200)
                for answer in tuple(self.log.answers)
            )
        )

    def load(self, seconds: float) -> None:
        """Let the clients work without a failure for a while."""
        self._over.wait(seconds)

    def until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, "it did not come true in time"
            self._over.wait(0.01)

    def until_served(self) -> None:
        """Wait until the clients are served again."""
        served = self.log.served
        self.until(lambda: self.log.served > served + 8 * CLIENTS)

    def any(self, pids: list[int]) -> int:
        return self._rng.choice(pids)

    def _live(self) -> None:
        with closing(HttpDoor(self.stage.service.url, self.log)) as door:
            client = self._client(door)
            while len(self.party.tables) < self.stage.tables and not self._over.is_set():
                client.create()
            while not self._over.is_set():
                client.act()

    def _client(self, door: HttpDoor) -> Client:
        return Client(
            self.party,
            Random(self._rng.random()),
            [door],
            keyed=self._keyed,
            tables=self.stage.tables,
            attempts=MOST_ATTEMPTS,
            loss_of_patience=0.2,
            rest=lambda: time.sleep(REST),
        )


Trouble = Callable[[Play], None]


# Failures


def nothing(play: Play) -> None:
    play.load(0.5)


def kill_a_worker(play: Play) -> None:
    service = play.stage.service
    started = len(service.workers())
    os.kill(play.any([pid for pid in service.workers() if runs(pid)]), signal.SIGKILL)
    play.broken["workers killed"] += 1
    play.until(lambda: len(service.workers()) > started)
    play.until_served()


def kill_the_server(play: Play) -> None:
    with connect(play.stage.nodes) as client:
        write_before_answering(client)
    before = play.stage.service.embedded_server()
    os.kill(before, signal.SIGKILL)
    play.until(lambda: not runs(before))
    play.broken["servers killed"] += 1
    play.until_served()
    play.load(0.3)


def restart_the_workers(play: Play) -> None:
    service = play.stage.service
    old = [pid for pid in service.workers() if runs(pid)]
    service.process.send_signal(signal.SIGHUP)
    play.broken["rolling restarts"] += 1
    play.until(lambda: not any(runs(pid) for pid in old))
    play.until_served()


def disturb_connections(play: Play) -> None:
    assert play.stage.proxy is not None
    play.stage.proxy.every = 7
    play.load(0.5)


def kill_a_primary(play: Play) -> None:
    """Kill a primary, and start it again after the failover: it is a replica from then on."""
    cluster, primary, hit, others = games_by_primary(play)
    began = time.monotonic()
    primary.kill()
    play.broken["primaries killed"] += 1
    play.until(lambda: owned(cluster, hit))
    play.until_read(hit)
    primary.start()
    play.until(lambda: whole(cluster))
    play.load(0.5)
    play.outages.append(Outage(hit, others, began, time.monotonic()))


def freeze_a_replica(play: Play) -> None:
    cluster, primary, hit, others = games_by_primary(play)
    replica = cluster.replica_of(primary)
    began = time.monotonic()
    replica.freeze()
    try:
        play.broken["replicas frozen"] += 1
        play.load(1.5)
    finally:
        replica.thaw()
    play.until(lambda: whole(cluster))
    play.load(0.5)
    play.outages.append(Outage(hit, others, began, time.monotonic()))


def games_by_primary(play: Play) -> tuple[Cluster, Server, frozenset[str], frozenset[str]]:
    """A primary that stores games, those games, and the others."""
    cluster = play.stage.cluster
    assert cluster is not None
    play.until(lambda: len(play.party.tables) >= play.stage.tables)
    owners = {table.game: cluster.primary_of(keys.state(table.game)) for table in list(play.party.tables)}
    primary = next(iter(owners.values()))
    hit = frozenset([game for game, owner in owners.items() if owner is primary])
    return cluster, primary, hit, frozenset(owners) - hit


def owned(cluster: Cluster, games: frozenset[str]) -> bool:
    try:
        return all(cluster.primary_of(keys.state(game)) for game in games)
    except (LookupError, redis.RedisError):
        return False


def whole(cluster: Cluster) -> bool:
    try:
        return cluster.is_whole()
    except redis.RedisError:
        return False


class Scenario(NamedTuple):
    """What fails, and where.

    Whether clients may notice (``noticed``) more than a closed connection; how many writes have a key; and whether
    a write may be lost, as when the only server that has it dies (``DURABILITY=local``). The slowest answer may take so
    many seconds; while no worker runs, clients wait for the next one.
    """

    name: str
    trouble: Trouble
    stage: str = "embedded"
    noticed: bool = True
    keyed: float = 1.0
    lossy: bool = False
    slowest: float = SLOWEST


SCENARIOS = (
    Scenario("quiet", nothing, noticed=False),
    Scenario("workers killed", kill_a_worker, slowest=PATIENCE),
    Scenario("rolling restart", restart_the_workers, noticed=False, slowest=PATIENCE),
    Scenario("server killed", kill_the_server),
    Scenario("connections disturbed", disturb_connections, stage="proxied", keyed=0.8),
    Scenario("Cluster: a primary killed", kill_a_primary, stage="replicated"),
    Scenario("Cluster: a replica frozen", freeze_a_replica, stage="replicated"),
)
LONG_SCENARIOS = (*SCENARIOS, Scenario("Cluster, local: a primary killed", kill_a_primary, stage="local", lossy=True))


@pytest.fixture(scope="module")
def embedded() -> Iterator[Stage]:
    # A short path: the socket lies in this folder.
    with tempfile.TemporaryDirectory(prefix="h-", dir="/tmp") as folder, Service(Path(folder)) as service:
        url = f"unix://{folder}/redis.sock"
        yield Stage(service, url, [url])


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    server = RealServer(tmp_path_factory.mktemp("redis"))
    try:
        with (
            Proxy(server.socket_path) as proxy,
            Service(tmp_path_factory.mktemp("data"), REDIS_URL=proxy.url) as service,
        ):
            yield Stage(service, server.url, [server.url], proxy)
    finally:
        server.stop()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A Cluster whose slots are served though others are not."""
    settings = {"cluster-require-full-coverage": "no"}
    with Cluster(tmp_path_factory.mktemp("cluster"), **settings) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def replicated(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    yield from over_cluster(cluster, tmp_path_factory.mktemp("data"), "replicated")


@pytest.fixture(scope="module")
def local(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    yield from over_cluster(cluster, tmp_path_factory.mktemp("data"), "local")


def over_cluster(cluster: Cluster, folder: Path, durability: str) -> Iterator[Stage]:
    with Service(folder, REDIS_URL=cluster.url, DURABILITY=durability) as service:
        servers = [f"redis://{server.address}" for server in cluster.servers]
        yield Stage(service, cluster.url, servers, cluster=cluster, tables=12)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_nothing_is_lost_or_made_twice(scenario: Scenario, request: pytest.FixtureRequest, figures: Figures) -> None:
    play_and_judge(scenario, request.getfixturevalue(scenario.stage), SECONDS, figures)


@pytest.mark.soak
@pytest.mark.parametrize("scenario", LONG_SCENARIOS, ids=lambda scenario: scenario.name)
def test_nothing_is_lost_or_made_twice_in_a_long_time(
    scenario: Scenario, request: pytest.FixtureRequest, figures: Figures
) -> None:
    log, outages = play_and_judge(scenario, request.getfixturevalue(scenario.stage), SOAK_SECONDS, figures)
    assert log.slowest < scenario.slowest
    for outage_of_games in outages:
        for method in ("GET", "POST") if scenario.lossy else ("GET",):  # else moves wait for a new replica
            assert longest_gap(log, outage_of_games, method) < NODE_TIMEOUT + FAILOVER


def play_and_judge(scenario: Scenario, stage: Stage, seconds: float, figures: Figures) -> tuple[Log, list[Outage]]:
    """Play a history and check it; what was measured in seconds is returned, as it depends on the machine."""
    before = stage.games()
    play = Play(stage, f"{time.time_ns():x}-", scenario.keyed)
    play.run(seconds, scenario.trouble)
    verdict = check(play.party.history, redis_store(open_topology(stage.nodes), 3600), stage.games() - before)
    if stage.proxy is not None:
        play.broken.update(stage.proxy.injected)
        stage.proxy.injected.clear()
    log = play.log
    measured = {"s outage at most": log.outage, "s for the slowest answer": log.slowest}
    for outage_of_games in play.outages:
        for what, method in (("reads", "GET"), ("moves", "POST")):
            name = f"s without {what} of the games hit at most"
            measured[name] = max(measured.get(name, 0.0), longest_gap(log, outage_of_games, method))
    figures(scenario.name, {**play.broken, **verdict.figures, **log.counted, **measured})
    assert scenario.lossy or not verdict.complaints, verdict.complaints
    assert not log.unexpected, log.unexpected
    assert verdict.outcomes["made"] > 10
    assert not [
        operation
        for operation in play.party.history.operations
        if operation.key and operation.outcome is Outcome.UNKNOWN
    ]
    if not scenario.noticed:
        assert not log.counted["no answer"]
        assert not [what for what in log.counted if what.startswith("answered 5")]
        assert not [operation for operation in play.party.history.operations if only_replayed(operation)]
    for outage_of_games in play.outages:
        assert outage_of_games.others
        failed = [
            answer for answer in log.answers if answer.game in outage_of_games.others and not 0 < answer.status < 500
        ]
        assert not failed, failed
    return log, play.outages


def longest_gap(log: Log, outage_of_games: Outage, method: str) -> float:
    """Seconds without a good answer about the games that were hit."""
    good = [
        answer.at
        for answer in log.answers
        if answer.game in outage_of_games.games and answer.method == method and answer.status in (200, 201)
    ]
    times = [
        outage_of_games.began,
        *[at for at in good if outage_of_games.began < at < outage_of_games.ended],
        outage_of_games.ended,
    ]
    return max(after - before for before, after in pairwise(times))


def only_replayed(operation: Operation) -> bool:
    """Whether the write was made, but all answers were repetitions of a lost first one."""
    return bool(operation.made) and all(result.replayed for result in operation.made)
