"""The law of the index while primaries of a Cluster are killed: at rest index and feed tell what the games say.

Games, messengers and their faults are those of ``tests.backends.test_index_law``. A game, the index of its application,
and the lobby are in slots of several servers, and any of these may fail over between two calls of a messenger. As the
guide for operators advises, writes count when a replica has them (``DURABILITY=replicated``).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from time import monotonic

import pytest

from service.games.model.errors import Gone, NotFound
from service.games.model.game import Game
from service.redis import keys
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.redis.topology import Topology, open_topology
from tests.backends.owned import Published
from tests.backends.test_feed_law import make_all_due
from tests.backends.test_index_law import APPS, TTL, World, clear
from tests.conftest import Figures
from tests.storage.clusters import Cluster, until
from tests.support.stores.redis_stores import redis_reminders, redis_store

pytestmark = pytest.mark.gate

STEPS = 40
"""Steps between two failovers."""
FAILOVERS = 3
SOAK_SECONDS = float(os.environ.get("SOAK_SECONDS", "60"))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A Cluster whose slots are served though others are not."""
    folder: Path = tmp_path_factory.mktemp("cluster")
    with Cluster(folder, **{"cluster-require-full-coverage": "no"}) as cluster:
        yield cluster


class FailingOver(World):
    """Games on a Cluster, primaries of which are killed between any two calls, and come back as replicas.

    A replica takes over at once, or after a ``vote``.
    """

    def __init__(self, cluster: Cluster, topology: Topology, random: Random, *, vote: bool = False) -> None:
        reminders = redis_reminders(topology)
        published = Published(topology, TTL, replicated=True)
        store = redis_store(topology, TTL, replicated=True)
        self.cluster, self.topology, self.vote = cluster, topology, vote
        self.failovers = 0
        self.wanted = 0
        super().__init__(store, reminders, published, clock=reminders.server_time, random=random)

    def act(self) -> None:
        with suppress(StorageUnavailable, OutcomeUnknown, NotFound):
            super().act()

    def interfere(self) -> None:
        if self.failovers < self.wanted and self.random.random() < 0.05:
            self.fail_over()
        super().interfere()

    def fail_over(self) -> None:
        """Kill the primary of a game, or of what an application is told."""
        app = self.random.choice(APPS)
        names = [
            keys.part(b"index", app),
            keys.part(b"feed", app),
            keys.lobby(None)[0],
            *(keys.state(game) for game in self.games[-3:]),
        ]
        self.failovers += 1
        self.cluster.fail_over(self.random.choice(names), vote=self.vote)

    def run_through_failovers(self, number: int) -> None:
        """Let so many happen, one after the other has been overcome; then compare all that was told with the games."""
        for _ in range(number):
            self.run(STEPS)
            self.wanted = self.failovers + 1
            while self.failovers < self.wanted:
                self.publish(10)
                self.act()
            self.publish(10)  # after the last failover no move has a game told once more
            until(self.cluster.is_whole)
        rate, between = self.faults.rate, self.faults.between
        self.settle(lambda: make_all_due(self.topology))
        self.games = sorted(self.stored())
        self.judge()
        self.faults.rate, self.faults.between = rate, between

    def stored(self) -> Iterator[str]:
        """The ids of all games, also of those whose creation had an unknown outcome, and of deleted ones."""
        for server in self.cluster.servers:
            if server.admin.execute_command("ROLE")[0] == "master":
                for name in server.admin.scan_iter("domino:{*}", count=1000, _type="string"):
                    if name.endswith("}"):
                        yield name[len("domino:{") : -1]

    def existing(self) -> list[Game]:
        """The games of which something is stored; a deletion counts as it was made, whatever its outcome was."""
        found = []
        self.deleted = {}
        for game in self.games:
            try:
                found.append(self.owned.repository.reader.load(game))
            except Gone as deleted:
                self.deleted[game] = deleted.app
        return [game for game in found if game is not None]


def test_after_failovers_the_index_is_right_in_the_end(cluster: Cluster) -> None:
    topology = open_topology(cluster.url)
    clear(topology)
    world = FailingOver(cluster, topology, Random(1))
    world.run_through_failovers(FAILOVERS)
    assert world.faults.seen
    assert world.games


@pytest.mark.soak
@pytest.mark.parametrize("vote", [False, True])
def test_however_often_primaries_fail_the_index_is_right_in_the_end(
    vote: bool, cluster: Cluster, figures: Figures
) -> None:
    topology = open_topology(cluster.url)
    clear(topology)
    deadline, seed = monotonic() + SOAK_SECONDS, 0
    while monotonic() < deadline:
        seed += 1
        world = FailingOver(cluster, topology, Random(seed), vote=vote)
        for _ in range(3):
            world.run_through_failovers(FAILOVERS)
        figures("index", {"failovers": world.failovers, "games": len(world.games), **world.faults.seen})
        clear(topology)
