"""The law of the feed: whoever reads it is told of each event of the application's games, once and in their order.

Games, messengers and faults are those of the law of the index. Here each application has readers, some of which begin
late, and each of which may be replaced at any time by another one that knows only the cursor of what was received.
"""

from __future__ import annotations

import os
from random import Random
from typing import Any

import orjson
import pytest
import redis

from service.backends.index.feed import FeedReader, Feeds
from service.redis.topology import SingleNodeTopology, Topology
from tests.backends.owned import START, Published
from tests.backends.test_index_law import APPS, LEASE, TTL, World, clear, topology
from tests.support import reminders
from tests.support.lanes import in_lane
from tests.support.stores.memory_store import MemoryStore
from tests.support.stores.redis_stores import redis_reminders, redis_store
from tests.support.stores.simulated_clock import under_clock

__all__ = ["topology"]

pytestmark = pytest.mark.gate

STEPS = 300
SEEDS = in_lane(range(int(os.environ.get("FEED_LAW_SEEDS", "8"))), gate=range(3))


class Client:
    """Somebody who reads a feed, and remembers the last cursor only."""

    def __init__(self, feeds: Feeds, app: str, random: Random) -> None:
        self.feeds, self.app, self.random = feeds, app, random
        self.received: list[dict[str, Any]] = []
        self.cursor: str | None = None
        self.reader: FeedReader | None = None

    def act(self) -> None:
        """Read a page, or what a stream has, or lose the connection."""
        choice = self.random.random()
        if choice < 0.2:
            self.reader = None
        elif choice < 0.6 or self.cursor is None:
            self.reader = None
            page = self.feeds.page(self.app, self.cursor, self.random.choice([1, 3, 100]))
            self.take(page.items, page.cursor)
        else:
            self.reader = self.reader or self.feeds.follow(self.app, self.cursor, self.random.choice([1, 3, 100]))
            self.reader.recheck()
            published = self.reader.wait(0)
            if published is not None:
                self.take(published.items, published.cursor)

    def take(self, items: tuple[tuple[str, bytes], ...], cursor: str) -> None:
        self.received += [orjson.loads(item) for _, item in items]
        self.cursor = cursor
        assert not items or items[-1][0] == cursor

    def finish(self) -> None:
        """Read until there is no more."""
        more = True
        while more:
            page = self.feeds.page(self.app, self.cursor, 100)
            self.take(page.items, page.cursor)
            more = page.more


class Read(World):
    """The games, each of whose applications has two readers."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        feeds = Feeds(self.published.feed, MemoryStore(TTL), self.owned.clock)
        self.clients = [Client(feeds, app, self.random) for app in APPS for _ in range(2)]

    def act(self) -> None:
        super().act()
        self.random.choice(self.clients).act()

    def judge_clients(self) -> None:
        games = self.existing()
        for client in self.clients:
            client.finish()
            own = [game for game in games if game.ownership is not None and game.ownership.app == client.app]
            self.judge_feed(client.app, own, client.received)
            cursors = [item["cursor"] for item in client.received]
            assert len(set(cursors)) == len(cursors)


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_fails_the_feed_tells_each_event_once(seed: int, empty_server: redis.Redis) -> None:
    now = START

    def clock() -> int:
        nonlocal now
        now += 1
        return now

    store = MemoryStore(TTL, lambda: now / 1000)
    published = Published(under_clock(SingleNodeTopology(empty_server), lambda: now), TTL)
    world = Read(store, store, published, clock=clock, random=Random(seed))
    for _ in range(3):
        world.run(STEPS)
        now += LEASE

    def pass_time() -> None:
        nonlocal now
        now += LEASE

    world.settle(pass_time)
    world.judge_clients()
    assert len(world.faults.seen) == 5
    assert world.deleted


def test_in_real_time_whatever_fails_the_feed_tells_each_event_once(topology: Topology) -> None:
    reminders = redis_reminders(topology)
    clear(topology)
    store = redis_store(topology, TTL)
    world = Read(store, reminders, Published(topology, TTL), clock=reminders.server_time, random=Random(1))
    world.run(STEPS)
    world.settle(lambda: make_all_due(topology))
    world.judge_clients()
    assert world.faults.seen


def make_all_due(topology: Topology) -> None:
    """Let the leases of all games end."""
    reminders.end_leases(topology, "outbox")
