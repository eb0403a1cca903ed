"""A messenger that erases people, in this process; it can be stopped, or somebody else can act, at any of its calls."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

import redis
from prometheus_client import CollectorRegistry

from service.backends.erasures import Erasures
from service.backends.index.store import RedisIndex, RedisLobby
from service.backends.outbox import Outbox
from service.backends.store import RedisErasures
from service.redis import keys
from service.redis.connection import connect
from service.redis.topology import SingleNodeTopology
from service.workers.consumer import Queue
from service.workers.messenger import ErasureWorker
from service.workers.metrics import WorkerMetrics
from tests.support.games import build_repository
from tests.support.stores.redis_stores import redis_calls, redis_deletions, redis_reminders, redis_store

MAX_STEPS: Final = 10_000


class Killed(BaseException):
    """The process ends here."""


class Eraser:
    """A messenger of its own, as far as it erases; ``before`` is called with the number of each call that it makes."""

    def __init__(self, redis_url: str, ttl: int, before: Callable[[int], None] = lambda _: None) -> None:
        nodes = SingleNodeTopology(connect(redis_url))
        calls = redis_calls(nodes)
        self._before = before
        self.calls = 0
        self.reminders: Any = self._watched(redis_reminders(nodes))
        store: Any = self._watched(redis_store(nodes, ttl))
        index: Any = self._watched(RedisIndex(calls, ttl))
        clock = redis_reminders(nodes).server_time
        self.repository = build_repository(store, clock, os.urandom)
        outbox = Outbox(self.repository, index, RedisLobby(calls), clock)
        erasures: Any = self._watched(RedisErasures(calls))
        deletions: Any = self._watched(redis_deletions(nodes))
        self.erasures = Erasures(
            erasures, self.repository, index, outbox, reminders=self.reminders, on_erased=deletions.record_erasure
        )
        self.registry = CollectorRegistry()
        self.worker = ErasureWorker(self.erasures, Queue(self.reminders, clock, WorkerMetrics(self.registry)))

    def run(self) -> None:
        """Erase until nobody is to be erased any more."""
        for _ in range(MAX_STEPS):
            if self.worker.step():
                return
        raise AssertionError("it does not end")

    def _watched(self, port: object) -> Watched:
        return Watched(port, self._count)

    def _count(self) -> None:
        self.calls += 1
        self._before(self.calls)


class Watched:
    """A port every call of which is announced."""

    def __init__(self, port: object, announce: Callable[[], None]) -> None:
        self._port = port
        self._announce = announce

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)

        def call(*arguments: Any, **more: Any) -> Any:
            self._announce()
            return method(*arguments, **more)

        return call


def end_leases(server: redis.Redis) -> None:
    """Let the leases of applications with people who are to be erased end, as after some time."""
    for key in keys.reminder_sets("erasures"):
        apps: Any = server.zrange(key, 0, -1)
        for app in apps:
            server.zadd(key, {app: 0})
