"""Recorded histories over HTTP, while everything around the service breaks: nothing is lost, nothing made twice.

A scenario is what breaks, and what may come of it. A wish has an Idempotency-Key, and what got no answer, or an
unclear one, is asked for again under it until all is known; where wishes without a key are made, too, the service's
own second sending is all they have. Then the games in Redis are held against the answers.
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
from pathlib import Path
from random import Random
from threading import Event
from typing import NamedTuple

import pytest
import redis

from service.storage.connection import connect
from service.storage.nodes import SingleNode
from service.storage.redis_store import RedisStore
from tests.conftest import Figures
from tests.histories.checker import check
from tests.histories.clients import TABLES, Client, Party
from tests.histories.history import Outcome, Wish
from tests.processes import runs
from tests.serving import Service
from tests.storage.servers import RealServer
from tests.whole.http_door import HttpDoor, Log
from tests.whole.proxy import Mishap, Proxy

CLIENTS = 8
SECONDS = 3.0
SOAK_SECONDS = float(os.environ.get("SOAK_SECONDS", "60"))
PATIENCE = 30.0
REST = 0.05
MOST_ATTEMPTS = 400
SLOWEST = 3.0
"""Seconds within which everything is answered."""


class Stage(NamedTuple):
    """Where a history is played: the service, its store as the tests reach it, and the line between them."""

    service: Service
    redis_url: str
    proxy: Proxy | None = None


class Play:
    """One history: the clients at work, what they went through, and what was broken meanwhile."""

    def __init__(self, stage: Stage, prefix: str, keyed: float) -> None:
        self.stage = stage
        self._keyed = keyed
        self.party = Party(prefix)
        self.log = Log()
        self.broken: Counter[str] = Counter()
        self._over = Event()
        self._luck = Random(prefix)

    def run(self, seconds: float, trouble: Trouble) -> None:
        """Let the clients play while there is trouble for so long, and until all they asked for is known."""
        with ThreadPoolExecutor(CLIENTS) as threads:
            running = [threads.submit(self._live, number) for number in range(CLIENTS)]
            try:
                until = time.monotonic() + seconds
                while time.monotonic() < until:
                    trouble(self)
            finally:
                if self.stage.proxy is not None:
                    self.stage.proxy.every = 0
                self._over.set()
            for each in running:
                each.result(2 * PATIENCE)

    def load(self, seconds: float) -> None:
        """Let the clients work in peace for a while."""
        self._over.wait(seconds)

    def until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, "it did not come true in time"
            self._over.wait(0.01)

    def any(self, pids: list[int]) -> int:
        return self._luck.choice(pids)

    def _live(self, number: int) -> None:
        with closing(HttpDoor(self.stage.service.url, self.log)) as door:
            client = Client(
                self.party,
                Random(f"{number} {self._luck.random()}"),
                [door],
                keyed=self._keyed,
                attempts=MOST_ATTEMPTS,
                loss_of_patience=0.0,
                rest=lambda: time.sleep(REST),
            )
            while len(self.party.tables) < TABLES and not self._over.is_set():
                client.create()
            while not self._over.is_set():
                client.act()


Trouble = Callable[[Play], None]


# What breaks


def nothing(play: Play) -> None:
    play.load(0.5)


def kill_a_worker(play: Play) -> None:
    service = play.stage.service
    started = len(service.workers())
    os.kill(play.any([pid for pid in service.workers() if runs(pid)]), signal.SIGKILL)
    play.broken["workers killed"] += 1
    play.until(lambda: len(service.workers()) > started)
    play.load(0.4)


def kill_the_server(play: Play) -> None:
    before = play.stage.service.embedded_server()
    os.kill(before, signal.SIGKILL)
    play.until(lambda: not runs(before))
    served = play.log.served
    play.broken["servers killed"] += 1
    play.until(lambda: play.log.served > served + 2 * CLIENTS)
    play.load(0.4)


def restart_the_workers(play: Play) -> None:
    service = play.stage.service
    old = [pid for pid in service.workers() if runs(pid)]
    service.process.send_signal(signal.SIGUSR1)
    play.broken["rolling restarts"] += 1
    play.until(lambda: not any(runs(pid) for pid in old))
    play.load(0.3)


def spoil_the_line(play: Play) -> None:
    assert play.stage.proxy is not None
    play.stage.proxy.every = 7
    play.load(0.5)


class Scenario(NamedTuple):
    """What breaks, where, whether clients may notice more than a closed connection, how many wishes have a key."""

    name: str
    trouble: Trouble
    stage: str = "embedded"
    noticed: bool = True
    keyed: float = 1.0


SCENARIOS = (
    Scenario("quiet", nothing, noticed=False),
    Scenario("workers killed", kill_a_worker),
    Scenario("rolling restart", restart_the_workers, noticed=False),
    Scenario("server killed", kill_the_server),
    Scenario("line spoilt", spoil_the_line, stage="proxied", keyed=0.8),
)


@pytest.fixture(scope="module")
def embedded() -> Iterator[Stage]:
    # A short path: the socket lies in this folder.
    with tempfile.TemporaryDirectory(prefix="h-", dir="/tmp") as folder, Service(Path(folder)) as service:
        yield Stage(service, f"unix://{folder}/redis.sock")


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    server = RealServer(tmp_path_factory.mktemp("redis"))
    try:
        with (
            Proxy(server.socket_path) as proxy,
            Service(tmp_path_factory.mktemp("data"), REDIS_URL=proxy.url) as service,
        ):
            yield Stage(service, server.url, proxy)
    finally:
        server.stop()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_nothing_is_lost_or_made_twice(scenario: Scenario, request: pytest.FixtureRequest, figures: Figures) -> None:
    play_and_judge(scenario, request.getfixturevalue(scenario.stage), SECONDS, figures)


@pytest.mark.soak
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_nothing_is_lost_or_made_twice_in_a_long_time(
    scenario: Scenario, request: pytest.FixtureRequest, figures: Figures
) -> None:
    play_and_judge(scenario, request.getfixturevalue(scenario.stage), SOAK_SECONDS, figures)


def play_and_judge(scenario: Scenario, stage: Stage, seconds: float, figures: Figures) -> None:
    with connect(stage.redis_url) as client:
        before = games_in(client)
        play = Play(stage, f"{time.time_ns():x}-", scenario.keyed)
        play.run(seconds, scenario.trouble)
        verdict = check(play.party.history, RedisStore(SingleNode(client), 3600), games_in(client) - before)
    if stage.proxy is not None:
        play.broken.update(stage.proxy.injected)
        stage.proxy.injected.clear()
    log = play.log
    measured = {"s outage at most": log.outage, "s for the slowest answer": log.slowest}
    figures(scenario.name, {**play.broken, **verdict.figures, **log.counted, **measured})
    assert not verdict.complaints, verdict.complaints
    assert not log.unexpected, log.unexpected
    assert verdict.told["made"] > 50
    assert not [wish for wish in play.party.history.wishes if wish.key and wish.outcome is Outcome.UNKNOWN]
    assert log.slowest < SLOWEST
    if not scenario.noticed:
        assert not log.counted["no answer"]
        assert not [what for what in log.counted if what.startswith("answered 5")]
        assert not [wish for wish in play.party.history.wishes if only_replayed(wish)]
    assert stage.proxy is None or all(play.broken[mishap.value] for mishap in Mishap)


def only_replayed(wish: Wish) -> bool:
    """Whether it was made, but the one who made it never said so."""
    return bool(wish.made) and all(told.replayed for told in wish.made)


def games_in(client: redis.Redis) -> set[str]:
    """The ids of all games there are."""
    names = [key.decode() for key in client.scan_iter("domino:{*}", count=1000)]
    return {name[len("domino:{") : -1] for name in names if name.endswith("}")}
