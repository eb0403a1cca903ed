"""However many threads call the store at once, no more calls are under way than it may be asked."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore, Event, Lock
from typing import Any

import pytest
import redis

from service.backends.values import DeliveryAttempt, DueGame, Webhook
from service.backends.webhooks.store import RedisWebhooks
from service.bootstrap.storage import MAX_CALLS
from service.games.store.redis_store import RedisStore
from service.redis.connection import MAX_CONNECTIONS, Command, connect
from service.redis.topology import SingleNodeTopology
from tests.backends.owned import APP
from tests.storage.servers import RealServer
from tests.support.stores.redis_stores import memory_reserve, redis_calls
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.gate

MOST = 5
THREADS = 60


class Counting(SingleNodeTopology):
    """A server; counts how many calls to it are under way at a time at most."""

    def __init__(self, client: redis.Redis) -> None:
        super().__init__(client)
        self._lock = Lock()
        self._under_way = 0
        self.full, self.go_on = Event(), Event()
        self.most = 0

    def call(self, key: bytes, *commands: Command) -> list[Any]:
        with self._lock:
            self._under_way += 1
            self.most = max(self.most, self._under_way)
            if self._under_way == MOST:
                self.full.set()
        try:
            assert self.go_on.wait(PATIENCE)
            return super().call(key, *commands)
        finally:
            with self._lock:
                self._under_way -= 1

    def call_each(self, calls: Sequence[tuple[bytes, Command]]) -> list[Any]:
        return [self.call(key, command)[0] for key, command in calls]


def test_what_many_attempts_ask_of_the_store_waits_before_it_takes_a_connection(shared_server: RealServer) -> None:
    counting = Counting(connect(shared_server.url))
    limited = redis_calls(counting, slots=BoundedSemaphore(MOST))
    reserve = memory_reserve(counting)
    webhooks, store = RedisWebhooks(limited, limited, reserve), RedisStore(limited, 60, reserve)
    webhook = Webhook("name", APP, "https://example.org", (), "active", 1, b"secret")
    due = DueGame("game", 1, 0, 0, 0)
    attempt = DeliveryAttempt("msg_1", "game.turn", "game", 1, 1, 200, None, 1, 1)
    calls = (
        lambda: webhooks.read(APP, "name"),
        lambda: webhooks.due(webhook, 1, 1),
        lambda: webhooks.mark_notified(webhook, due, 1, done=True),
        lambda: webhooks.log(webhook, attempt),
        lambda: webhooks.release(webhook, 1.0, None, games=False),
        lambda: store.read("game"),
    )
    with ThreadPoolExecutor(THREADS) as pool:
        begun = [pool.submit(calls[number % len(calls)]) for number in range(THREADS)]
        assert counting.full.wait(PATIENCE)
        counting.go_on.set()
        for each in begun:
            each.result()
    assert counting.most == MOST


def test_a_messenger_leaves_connections_for_looking_for_what_is_due() -> None:
    assert MAX_CALLS < MAX_CONNECTIONS
