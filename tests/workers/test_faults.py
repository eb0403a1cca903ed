"""Bot workers that are killed, several at a time, and a Redis that is: every move is made exactly once.

The games are of computer players with a seed, so that each decision is determined by the game's version: whatever
happened, every match must have the events that it has without any fault.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from tests.conftest import Figures
from tests.storage.servers import RealServer
from tests.support import reminders
from tests.support.background import Background
from tests.workers.tables import PATIENCE, VARIANTS, fewest, on_redis, request, undisturbed, until

pytestmark = pytest.mark.gate

SOAK_SECONDS = float(os.environ.get("SOAK_SECONDS", "60"))


def end_leases(server: RealServer) -> None:
    """Let all leases end, as if their time were over: those of the killed, and those of the living."""
    reminders.end_leases(server.admin, "bots_alone")


class Matches:
    """Matches of computer players, and workers of which any is killed and replaced."""

    def __init__(self, server: RealServer, folder: Path, seed: int, games: int, workers: int) -> None:
        self.server, self.folder, self.random = server, folder, Random(seed)
        self.wanted = [
            request(variant, ("grg" * 3)[: fewest(variant)], seed=f"{seed}-{number}")
            for number in range(games)
            for variant in VARIANTS
        ]
        hosted = on_redis(server.url)
        self.ids = [hosted.create(each).view.id for each in self.wanted]
        self.workers = [Background("bots", server.url, folder) for _ in range(workers)]
        self.ended: list[Background] = []

    def progress(self) -> tuple[int, bool]:
        """The sum of all versions, and whether all matches are finished."""
        hosted = on_redis(self.server.url)
        games = [hosted.game(each) for each in self.ids]
        return sum(game.version for game in games), all(game.status == "finished" for game in games)

    def kill_one(self, *, redis_too: bool) -> bool:
        """Kill a worker while moves are being made; returns whether any were still to be made."""
        end_leases(self.server)
        before, finished = self.progress()
        if finished:
            return False
        until(lambda: self.progress()[0] > before)
        time.sleep(self.random.uniform(0.0, 0.2))
        victim = self.random.randrange(len(self.workers))
        self.workers[victim].kill()
        if redis_too:
            self.server.kill()
            time.sleep(self.random.uniform(0.0, 0.5))
            self.server.start()
        self.ended.append(self.workers[victim])
        self.workers[victim] = Background("bots", self.server.url, self.folder)
        return True

    def judge(self) -> int:
        """Let all matches end, and compare them with those without faults; returns the number of events."""
        deadline = time.monotonic() + PATIENCE
        while not self.progress()[1]:
            assert time.monotonic() < deadline
            end_leases(self.server)
            time.sleep(0.1)
        for worker in self.workers:
            assert worker.stop() in (0, -signal.SIGTERM)  # the latter before Python has started
        assert [
            line for each in (*self.workers, *self.ended) for line in each.lines() if line["level"] == "error"
        ] == []
        hosted = on_redis(self.server.url)
        events = 0
        for game, each in zip(self.ids, self.wanted, strict=True):
            happened = hosted.events(game)
            assert happened == undisturbed(each)
            events += len(happened)
        return events


@contextmanager
def matches(folder: Path, *, seed: int, games: int, workers: int) -> Iterator[Matches]:
    server = RealServer(folder / "redis")
    try:
        playing = Matches(server, folder, seed, games, workers)
        try:
            yield playing
        finally:
            for each in playing.workers:
                each.stop()
    finally:
        server.stop()


@pytest.mark.parametrize(("workers", "redis_too"), [(1, False), (2, True), (5, False)])
def test_every_move_is_made_once(workers: int, redis_too: bool, tmp_path: Path) -> None:
    with matches(tmp_path, seed=workers, games=2, workers=workers) as playing:
        assert sum([playing.kill_one(redis_too=redis_too and not number) for number in range(4)]) >= 2
        playing.judge()


@pytest.mark.soak
def test_every_move_is_made_once_however_often_workers_are_killed(tmp_path: Path, figures: Figures) -> None:
    deadline = time.monotonic() + SOAK_SECONDS
    seed = 0
    while time.monotonic() < deadline:
        seed += 1
        with matches(tmp_path / str(seed), seed=seed, games=20, workers=1 + seed % 5) as playing:
            kills = sum([playing.kill_one(redis_too=number % 5 == seed % 5) for number in range(12)])
            figures("bot workers killed", {"kills": kills, "events": playing.judge()})
