"""The main loop, and the port of a process without a web server."""

from __future__ import annotations

import logging
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError

import pytest

from service.redis.errors import StorageUnavailable
from service.workers import consumer
from service.workers.consumer import Control, run
from tests.storage.servers import RealServer
from tests.support.background import Background
from tests.support.processes import free_ports
from tests.support.waiting import PATIENCE, until
from tests.workers.tables import on_redis, request

pytestmark = pytest.mark.gate


def test_an_outage_is_logged_when_it_begins_and_when_it_is_over(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    stop = Control()
    monkeypatch.setattr(stop, "wait", pauses.append)
    results: Iterator[float | StorageUnavailable] = iter(
        [0.25, *[StorageUnavailable("connection")] * 7, 0.25, StorageUnavailable("timeout"), 0.25]
    )

    def step() -> float:
        result = next(results, None)
        if result is None:
            stop.request()
            return 0.0
        if isinstance(result, StorageUnavailable):
            raise result
        return result

    with caplog.at_level(logging.INFO, "service"):
        run(step, stop)
    assert pauses == [0.25, 0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0, 0.25, 0.1, 0.25, 0.0]
    assert caplog.messages == [
        "storage unavailable: connection",
        "storage available again",
        "storage unavailable: timeout",
        "storage available again",
    ]


def test_a_process_is_alive_as_long_as_its_steps_end(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(consumer, "monotonic", lambda: now)
    stop = Control()
    now += consumer.STUCK_SECONDS - 1
    assert stop.is_alive()
    now += 1
    assert not stop.is_alive()
    stop.record_step()
    assert stop.is_alive()


def test_a_process_on_its_own_shows_its_metrics_and_that_it_is_alive(server: RealServer, tmp_path: Path) -> None:
    hosted = on_redis(server.url)
    game = hosted.create(request("domino", "gg")).view.id
    (port,) = free_ports(1)
    with Background("bots", server.url, tmp_path, METRICS_PORT=str(port)):
        until(lambda: hosted.game(game).status == "finished")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE) as answer:
            text = answer.read().decode()
        assert 'domino_bot_moves_total{level="greedy"}' in text
        assert 'domino_bot_decision_seconds_count{level="greedy"}' in text
        assert "domino_clock_offset_seconds " in text
        assert game not in text
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=PATIENCE) as answer:
            assert answer.read() == b'{"status":"ok"}'
        with pytest.raises(HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/other", timeout=PATIENCE)


@pytest.mark.parametrize("command", ["bots", "scheduler"])
def test_without_a_redis_they_do_not_start(command: str, tmp_path: Path) -> None:
    process = Background(command, "", tmp_path)
    assert process.process.wait(PATIENCE) == 2
    assert b"REDIS_URL is not set" in process.log.read_bytes()


@pytest.mark.parametrize("command", ["bots", "scheduler"])
def test_they_wait_for_a_redis_that_is_away(command: str, server: RealServer, tmp_path: Path) -> None:
    hosted = on_redis(server.url)
    game = hosted.create(request("domino", "gg")).view.id
    server.kill()
    with Background(command, server.url, tmp_path) as process:
        until(lambda: any(line["message"].startswith("storage unavailable") for line in process.lines()))
        server.start()
        until(lambda: any(line["message"] == "storage available again" for line in process.lines()))
        if command == "bots":
            until(lambda: on_redis(server.url).game(game).status == "finished")
        assert process.stop() == 0
        told = [line["level"] for line in process.lines() if line["message"].startswith("storage")]
        assert told == ["warning", "info"]
