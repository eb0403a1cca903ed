"""The alerts of ``examples/monitoring`` fire when the service fails, and are quiet while it is well.

A real Prometheus asks real processes; its rules are those of the example, without the time for which they wait.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final, Self

import httpx
import pytest

from service.redis import keys
from tests.backends.endpoints import Listener
from tests.outgoing.endpoints import answer
from tests.storage.servers import RealServer, fill
from tests.support.background import Background
from tests.support.processes import Process, await_port, free_ports
from tests.support.prometheus import Prometheus, rules
from tests.support.serving import Service
from tests.support.waiting import PATIENCE, until
from tests.whole.table import Table, connect
from tools.write_dashboard import PANELS

pytestmark = pytest.mark.nightly

WORKERS = ("bots", "scheduler", "messenger")
LOOPBACK = "127.0.0.0/8"
AWAY: Final = ("DominoProcessDown", "DominoBotsLate", "DominoDeadlinesLate", "DominoOutboxLate")
NO_STORE: Final = ("DominoNotReady", "DominoStoreWriteErrors", "DominoManyErrors", "DominoDeadlinesHeld")
SLOW: Final = ("DominoMovesSlow", "DominoStoreSlow")
FAULTS: Final = (
    *("DominoFault", "DominoBotFallbacks", "DominoReminderFailures"),
    *("DominoWebhooksFailing", "DominoWebhookDisabled"),
)
FOLLOWING: Final = {"Accept": "text/event-stream", "Connection": "close"}
FULL: Final = ("DominoStoreMemoryHigh", "DominoStreamsNearLimit")


def test_every_alert_is_provoked_here() -> None:
    assert sorted(rule["alert"] for rule in rules()) == sorted((*AWAY, *NO_STORE, *SLOW, *FAULTS, *FULL))


class Site:
    """A Redis, two workers of the web server, some of the other processes, and the Prometheus that asks them all."""

    def __init__(self, folder: Path, workers: tuple[str, ...] = WORKERS, max_streams: int = 100) -> None:
        self._folder = folder
        self._workers = workers
        self._max_streams = str(max_streams)
        self.ports = dict(zip(("service", *WORKERS), free_ports(4), strict=True))

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self.server = stack.enter_context(RealServer(self._folder / "redis"))
            port = str(self.ports["service"])
            self.service = stack.enter_context(
                Service(
                    self._folder / "data",
                    REDIS_URL=self.server.url,
                    METRICS_PORT=port,
                    MAX_STREAMS=self._max_streams,
                    WEBHOOK_NETWORKS=LOOPBACK,
                )
            )
            for name in self._workers:
                given = {"METRICS_PORT": str(self.ports[name]), "WEBHOOK_NETWORKS": LOOPBACK}
                stack.enter_context(Background(name, self.server.url, self._folder / "logs", **given))
            for name in self._workers:
                await_port(self.ports[name])  # so that none is away at the start
            self.prometheus = stack.enter_context(Prometheus(self._folder / "prometheus", self.ports))
            self.http = stack.enter_context(connect(self.service.url))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def application(self) -> dict[str, str]:
        """A new application; its header."""
        return {"Authorization": f"Bearer {self.service.new_key()}"}

    def table_of(self, owner: dict[str, str]) -> Table:
        """A game of an application."""
        wanted = {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bo"}]}
        return Table(self.http, self.http.post("/v1/games", json=wanted, headers=owner).raise_for_status().json())

    def bots_turn(self, level: str) -> Table:
        """A game in which a computer player of this level has to choose between moves."""
        table = Table.create(self.http, "domino", [{"name": "Ada"}, {"bot": level}], seed="alerts")  # with a choice
        while table.to_move() == 0:
            table.make_legal_move()
        return table


@pytest.fixture
def well(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path) as site:
        site.prometheus.until_scraped(*site.ports)
        yield site


def selectors() -> set[str]:
    """Every metric of the rules and of the dashboard, with its labels."""
    expressions = [rule["expr"] for rule in rules()] + [line for panel in PANELS for line, _ in panel.lines]
    return {each for text in expressions for each in re.findall(r"\b(?:domino_\w+|up\b)(?:\{[^}]*\})?", text)}


def test_every_metric_is_there_at_a_fresh_start_and_no_alert_fires_while_all_is_well(well: Site) -> None:
    found = selectors()
    assert len(found) > 35
    assert {each for each in found if not well.prometheus.query(each)} == set()
    table = well.table_of(well.application())
    for _ in table.play(1):
        pass
    well.prometheus.until_shown('domino_moves_total{variant="domino",process="service"} > 10')
    assert well.prometheus.fired() <= {"DominoProcessDown", *SLOW}, "these a busy machine may cause"


def test_processes_that_are_away(tmp_path: Path) -> None:
    with Site(tmp_path, workers=()) as site:
        site.bots_turn("greedy")
        Table.create(site.http, "domino", 2, clock={"turn": 5})
        site.table_of(site.application())
        site.prometheus.until_firing(*AWAY)


def test_a_store_that_is_slow_and_then_away(well: Site) -> None:
    table = Table.create(well.http, "domino", 2)
    with paused(well.server):
        for number, _ in enumerate(table.play(1)):
            if number == 30:
                break
        well.prometheus.until_firing(*SLOW)
    assert not {"DominoNotReady", "DominoManyErrors"} & well.prometheus.fired()
    table = Table.create(well.http, "domino", 2)
    view = table.view()
    seat, move = table.to_move(view), table.moves(table.to_move(view))[0]
    well.server.kill()
    killed = time.monotonic()
    assert {table.move(seat, move).status_code for _ in range(20)} == {503}
    well.prometheus.until_firing("DominoNotReady", "DominoStoreWriteErrors", "DominoManyErrors")
    while time.monotonic() - killed < 7:
        time.sleep(0.1)
    well.server.start()
    well.prometheus.until_firing(*NO_STORE)


class paused:  # noqa: N801 # a context manager
    """A server that executes nothing for 0.2 seconds, again and again."""

    def __init__(self, server: RealServer) -> None:
        self._server = server
        self._ended = Event()
        self._thread = Thread(target=self._pause)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(PATIENCE)

    def _pause(self) -> None:
        while not self._ended.wait(0.02):
            self._server.admin.client_pause(200)


def test_faults_and_endpoints_that_fail(tmp_path: Path) -> None:
    failing, gone = Listener(answer("500 Some")), Listener(answer("410 Gone"))
    with Site(tmp_path, workers=("scheduler", "messenger")) as site, ExitStack() as stack:
        for each in (failing, gone):
            stack.callback(each.close)
        environ = {"REDIS_URL": site.server.url, "METRICS_PORT": str(site.ports["bots"]), "LOG_FORMAT": "json"}
        command = [sys.executable, "-m", "tests.whole.broken_bots"]
        stack.enter_context(Process(command, tmp_path / "bots.log", **environ))
        await_port(site.ports["bots"])
        site.prometheus.until_scraped(*site.ports)
        site.bots_turn("random")
        spoilt = Table.create(site.http, "domino", 2, clock={"turn": 5})
        value = site.server.admin.get(keys.state(spoilt.id))
        assert isinstance(value, bytes)
        site.server.admin.set(keys.state(spoilt.id), value.split(b" ")[0] + b" {", keepttl=True)
        assert spoilt.get().status_code == 500
        owner = site.application()
        for listener in (failing, gone):
            wanted = {"url": listener.url, "events": ["game.turn", "game.finished"]}
            site.http.post("/v1/webhooks", json=wanted, headers=owner).raise_for_status()
        until(lambda: statuses(site.http, owner) == ["active", "active"])
        for _ in site.table_of(owner).play(1):
            pass
        site.prometheus.until_firing(*FAULTS)


def statuses(http: httpx.Client, owner: dict[str, str]) -> list[str]:
    listed: list[dict[str, Any]] = http.get("/v1/webhooks", headers=owner).raise_for_status().json()["webhooks"]
    return [each["status"] for each in listed]


def test_a_store_and_streams_that_are_nearly_full(tmp_path: Path) -> None:
    with Site(tmp_path, max_streams=2) as site, ExitStack() as stack:
        site.prometheus.until_scraped(*site.ports)
        table = Table.create(site.http, "domino", 2)
        fill(site.server.admin, 85)
        opened = 0
        for _ in range(200):
            request = site.http.stream("GET", f"{table.path}/events", headers=FOLLOWING)
            stream = stack.enter_context(request)
            opened += stream.status_code == 200
            if opened == 4:
                break
            if stream.status_code != 200:
                stream.read()
        site.prometheus.until_firing(*FULL)
