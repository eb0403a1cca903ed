"""The messenger: its loops in this process, and the whole of it as a real process on a real Redis."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
import redis
from prometheus_client import CollectorRegistry

from service.backends.outbox import LOBBY_REFRESH_MS
from service.redis.errors import StorageUnavailable
from service.redis.topology import open_topology
from service.workers.consumer import Control, Queue
from service.workers.messenger import OUTBOX_SETTINGS, OutboxWorker
from service.workers.metrics import WorkerMetrics
from service.workers.processes import Loop, run_loops
from tests.backends.owned import APP, START, Followed, Owned, Published, listing_of
from tests.storage.servers import RealServer
from tests.support import reminders
from tests.support.background import Background
from tests.support.stores.redis_stores import redis_reminders, redis_store
from tests.support.waiting import PATIENCE, until
from tests.workers.tables import TTL

pytestmark = pytest.mark.gate


class Table(Followed):
    """With an outbox worker in this process."""

    def __init__(self, server: redis.Redis) -> None:
        super().__init__(server)
        self.registry = CollectorRegistry()
        self.woken: list[int] = []
        self.worker = OutboxWorker(
            self.outbox,
            Queue(self.memory, self.clock, WorkerMetrics(self.registry)),
            lambda work: work(),
            lambda: self.woken.append(self.now),
        )


@pytest.fixture
def table(empty_server: redis.Redis) -> Table:
    return Table(empty_server)


def test_what_was_told_is_forgotten_until_there_is_more(table: Table) -> None:
    game = table.create()
    assert table.worker.step() == OUTBOX_SETTINGS.poll_seconds[0]
    assert table.reminder(game) is None
    assert table.published.ids() == [game]
    table.play(game)
    assert table.reminder(game) == START
    table.worker.step()
    assert table.published.games() == listing_of([table.game(game)], APP)


def test_the_looks_become_rarer_while_there_is_nothing_to_tell(table: Table) -> None:
    pauses = [table.worker.step() for _ in range(30)]
    assert pauses == sorted(pauses)
    assert pauses[-1] == OUTBOX_SETTINGS.poll_seconds[1]
    table.create()
    assert table.worker.step() == OUTBOX_SETTINGS.poll_seconds[0]


def test_while_there_is_more_it_goes_on_at_once(table: Table) -> None:
    games = [table.create() for _ in range(OUTBOX_SETTINGS.batch + 1)]
    assert table.worker.step() == 0.0
    table.worker.step()
    assert sorted(table.published.ids()) == sorted(games)


def test_a_game_in_the_lobby_is_looked_at_again(table: Table) -> None:
    game = table.create(("anna",), open_seats=1)
    table.worker.step()
    assert table.reminder(game) == START + LOBBY_REFRESH_MS


def test_whoever_tells_endpoints_is_woken(table: Table) -> None:
    game = table.create()
    table.worker.step()
    assert table.woken == []
    table.published.activate(APP, "hook")
    table.play(game)
    table.worker.step()
    assert table.woken == [START]


def test_while_the_storage_is_away_a_game_is_tried_again(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    game = table.create()
    position = table.published.index.position
    errors = iter([StorageUnavailable("away", 2)])

    def failing(app: str, game: str) -> Any:
        for error in errors:
            raise error
        return position(app, game)

    monkeypatch.setattr(table.published.index, "position", failing)
    table.worker.step()
    assert table.reminder(game) == START + 2000
    table.now += 2000
    table.worker.step()
    assert table.published.ids() == [game]


def test_an_error_puts_one_game_off_and_no_other(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    broken, other = table.create(), table.create()
    publish = table.outbox.publish

    def failing(app: str, game: str) -> Any:
        if game == broken:
            raise ValueError(game)
        return publish(app, game)

    monkeypatch.setattr(table.outbox, "publish", failing)
    table.worker.step()
    assert table.published.ids() == [other]
    assert table.reminder(broken) == START + 1000
    assert table.registry.get_sample_value("domino_reminder_failures_total", {"kind": "outbox"}) == 1


def test_the_lag_is_measured_from_the_write_to_the_index(table: Table) -> None:
    table.create()
    table.now += 700
    table.worker.step()
    assert table.registry.get_sample_value("domino_outbox_lag_seconds_sum") == 0.7


def test_all_loops_run_and_end_together() -> None:
    stop, steps, closed = Control(), {"a": 0, "b": 0}, []

    def step_of(name: str) -> Any:
        def step() -> float:
            steps[name] += 1
            if min(steps.values()) > 3:
                stop.request()
            return 0.001

        return step

    loops = [Loop(name, step_of(name), lambda name=name: closed.append(name)) for name in steps]  # type: ignore[misc]
    assert run_loops(loops, stop) == 0
    assert sorted(closed) == ["a", "b"]


def test_a_loop_that_fails_ends_the_process_with_an_error(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> float:
        raise ValueError("a fault")

    assert run_loops([Loop("good", lambda: 10.0, lambda: None), Loop("bad", fail, lambda: None)], Control()) == 1
    assert "the loop bad has failed" in caplog.text


def test_a_loop_that_is_woken_does_not_wait() -> None:
    stop = Control()
    steps: list[int] = []

    def sleep() -> float:
        steps.append(1)
        return 3600.0

    loop = Loop("sleepy", sleep, lambda: None)
    ender = Loop("waker", lambda: _wake_twice(loop, steps, stop), lambda: None)
    assert run_loops([loop, ender], stop) == 0
    assert len(steps) >= 2


def test_a_stop_waits_for_no_loop_that_is_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.workers.processes.END_SECONDS", 100 * PATIENCE)
    stop, idle = Control(), Event()

    def step() -> float:
        idle.set()
        return 3600.0

    running = Thread(target=run_loops, args=([Loop("idle", step, lambda: None)], stop), daemon=True)
    running.start()
    assert idle.wait(PATIENCE)
    stop.request()
    running.join(PATIENCE)
    assert not running.is_alive()


def _wake_twice(loop: Loop, steps: list[int], stop: Control) -> float:
    loop.wake()
    if len(steps) >= 2:
        stop.request()
    return 0.01


# The process


class OnRedis(Owned):
    """Games on a real server, and what is told of them there."""

    def __init__(self, server: RealServer) -> None:
        topology = open_topology(server.url)
        super().__init__(redis_store(topology, TTL), redis_reminders(topology).server_time)
        self.published = Published(topology, TTL)


def waiting(server: RealServer) -> int:
    """How many reminders there are."""
    return len(reminders.stored(server.admin, "outbox"))


def test_the_index_follows_games_that_are_played(server: RealServer, tmp_path: Path) -> None:
    owned = OnRedis(server)
    with Background("messenger", server.url, tmp_path) as messenger:
        games = [owned.create((f"person {number}", "ben")) for number in range(20)]
        public = owned.create(("anna",), open_seats=1)
        for number in range(60):
            owned.play(games[number % 20])
        until(lambda: waiting(server) == 1)
        assert owned.published.games() == listing_of([owned.game(game) for game in [*games, public]], APP)
        assert owned.published.ids(player_ref="person 7") == [games[7]]
        assert owned.published.public() == [public]
        assert messenger.stop() == 0
        assert messenger.lines() == []


def test_what_happened_without_a_messenger_is_told_by_the_next_one(server: RealServer, tmp_path: Path) -> None:
    owned = OnRedis(server)
    games = [owned.create() for _ in range(5)]
    with Background("messenger", server.url, tmp_path) as messenger:
        until(lambda: waiting(server) == 0)
        messenger.kill()
    for _ in range(10):
        for game in games:
            owned.play(game)
    assert owned.published.games() != listing_of([owned.game(game) for game in games], APP)
    with Background("messenger", server.url, tmp_path):
        until(lambda: waiting(server) == 0)
    assert owned.published.games() == listing_of([owned.game(game) for game in games], APP)


def test_a_messenger_waits_for_redis(server: RealServer, tmp_path: Path) -> None:
    owned = OnRedis(server)
    with Background("messenger", server.url, tmp_path) as messenger:
        game = owned.create()
        until(lambda: waiting(server) == 0)
        server.kill()
        until(lambda: any("storage unavailable" in line["message"] for line in messenger.lines()))
        server.start()
        owned = OnRedis(server)
        owned.play(game)
        until(lambda: waiting(server) == 0)
        assert owned.published.games() == listing_of([owned.game(game)], APP)
        assert messenger.stop() == 0
        assert [line for line in messenger.lines() if line["level"] == "error"] == []


def test_a_stop_signal_ends_an_idle_messenger(server: RealServer, tmp_path: Path) -> None:
    owned = OnRedis(server)
    with Background("messenger", server.url, tmp_path) as messenger:
        owned.create()
        until(lambda: waiting(server) == 0)
        assert messenger.stop() == 0
