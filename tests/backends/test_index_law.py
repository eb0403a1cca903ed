"""The law of the index: at rest it lists the games as they are, and the feed has told each of their events in order.

Random moves, joins, deletions and expiries in the games of two applications, followed by messengers of which any is
killed between any two calls, and whose calls fail with and without effect. Then everything is put right, and compared
with what the games say.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import orjson
import pytest
import redis

from service.backends.index.store import MAX_FOR_ALL, RedisIndex, RedisLobby
from service.backends.outbox import LOBBY_REFRESH_MS, Outbox
from service.backends.values import IndexEntry, IndexPosition, LobbyEntry
from service.games.model.errors import Gone
from service.games.model.game import Audience, Game
from service.games.ports import Store
from service.games.reminders import ReminderQueue
from service.games.store.codec import encode_tombstone
from service.redis import keys
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.redis.topology import SingleNodeTopology, Topology, open_topology
from tests.backends.owned import START, Owned, Published, application, listing_of
from tests.storage.servers import SERVERS
from tests.support.lanes import in_lane
from tests.support.reminders import end_leases
from tests.support.stores.memory_store import MemoryStore
from tests.support.stores.redis_stores import redis_reminders, redis_store
from tests.support.stores.simulated_clock import under_clock

pytestmark = pytest.mark.gate

TTL = 86_400
APPS = (application(1), application(2))
REFS = ("anna", "ben", "carl", None)
LEASE = 1000
STEPS = 400
SEEDS = in_lane(range(int(os.environ.get("INDEX_LAW_SEEDS", "12"))), gate=range(6))


class Killed(BaseException):
    """The process of a messenger ends here."""


class Faults:
    """Fails the calls of messengers at random, before or after they have had their effect."""

    def __init__(self, random: Random, rate: float) -> None:
        self.random = random
        self.rate = rate
        self.seen: Counter[str] = Counter()
        self.between: Callable[[], None] = lambda: None
        """Called between any two calls: others act meanwhile."""

    def call(self, work: Callable[[], Any], *, writes: bool) -> Any:
        self.between()
        if self.random.random() >= self.rate:
            return work()
        fault = self.random.choice(["killed before", "killed after", "lost before", "lost after", "away"])
        self.seen[fault] += 1
        if fault in ("killed after", "lost after"):
            work()
        if fault.startswith("killed"):
            raise Killed
        if fault == "away" or not writes:
            raise StorageUnavailable(fault)
        raise OutcomeUnknown(fault)


class FaultyIndex:
    def __init__(self, index: RedisIndex, faults: Faults) -> None:
        self.index, self.faults = index, faults

    def position(self, app: str, game: str) -> IndexPosition:
        position: IndexPosition = self.faults.call(lambda: self.index.position(app, game), writes=False)
        return position

    def put(self, app: str, entry: IndexEntry, *arguments: Any, **more: Any) -> Any:
        return self.faults.call(lambda: self.index.put(app, entry, *arguments, **more), writes=True)


class FaultyLobby:
    def __init__(self, lobby: RedisLobby, faults: Faults) -> None:
        self.lobby, self.faults = lobby, faults

    def put(self, entry: LobbyEntry) -> bool:
        return bool(self.faults.call(lambda: self.lobby.put(entry), writes=True))


class World:
    """Games of two applications and of nobody, and two messengers that are started again when they are killed."""

    def __init__(
        self,
        store: Store,
        reminders: ReminderQueue,
        published: Published,
        *,
        clock: Callable[[], int],
        random: Random,
        rate: float = 0.1,
    ) -> None:
        self.owned = Owned(store, clock, str(random.random()))
        self.reminders, self.published, self.random = reminders, published, random
        self.games: list[str] = []
        self.deleted: dict[str, str] = {}
        self.faults = Faults(random, rate)
        self.depth = 0
        self.faults.between = self.interfere
        self.outboxes = [self.start_outbox() for _ in range(2)]

    def start_outbox(self) -> Outbox:
        index, lobby = FaultyIndex(self.published.index, self.faults), FaultyLobby(self.published.lobby, self.faults)
        return Outbox(self.owned.new_repository(), index, lobby, self.owned.clock)  # type: ignore[arg-type]

    def act(self) -> None:
        """Something happens in a game."""
        choice = self.random.random()
        if choice < 0.15 or not self.games:
            app = self.random.choice([*APPS, None])
            refs = [self.random.choice(REFS) for _ in range(self.random.choice([1, 2]))]
            seats = 3 - len(refs)
            lobby: Audience | None = self.random.choice(["all", "app", None])
            ref = self.random.choice(["club", None])
            self.games.append(self.owned.create(refs, app=app, ref=ref, open_seats=seats, lobby=lobby))
            return
        game = self.random.choice(self.games)
        try:
            if choice < 0.25:
                self.owned.join(game, self.random.choice(REFS))
            elif choice < 0.28:
                self.delete(game)
            else:
                self.owned.play(game)
        except Gone:
            pass

    def delete(self, game: str) -> None:
        ownership = self.owned.game(game).ownership
        if ownership is not None:
            self.owned.store.delete(game, encode_tombstone(ownership.app), self.owned.clock(), ownership.app)
            self.deleted[game] = ownership.app

    def interfere(self) -> None:
        """Between two calls of a messenger others act, and sometimes another messenger does all of its work."""
        if self.depth < 2 and self.random.random() < 0.3:
            self.depth += 1
            try:
                self.act()
                if self.random.random() < 0.5:
                    self.publish(1)
            finally:
                self.depth -= 1

    def publish(self, limit: int) -> None:
        """A messenger takes some games, and follows them until it is killed."""
        number = self.random.randrange(len(self.outboxes))
        outbox = self.outboxes[number]
        try:
            for taken in self.reminders.take("outbox", limit, LEASE):
                try:
                    again = outbox.publish(taken.tenant, taken.game).again
                except (StorageUnavailable, OutcomeUnknown):
                    again = self.owned.clock()
                self.faults.call(lambda: None, writes=False)
                self.reminders.reschedule("outbox", [(taken, again)])
        except StorageUnavailable:
            pass
        except Killed:
            self.outboxes[number] = self.start_outbox()

    def run(self, steps: int) -> None:
        for _ in range(steps):
            if self.random.random() < 0.6:
                self.act()
            else:
                self.publish(self.random.choice([1, 2, 10]))

    def settle(self, pass_time: Callable[[], None]) -> None:
        """No more faults: leases end, and everything that is due is done."""
        self.faults.rate, self.faults.between = 0.0, lambda: None
        for _ in range(4):
            pass_time()
            self.publish(10_000)

    def existing(self) -> list[Game]:
        found = []
        for game in self.games:
            try:
                found.append(self.owned.repository.reader.load(game))
            except Gone:
                assert game in self.deleted
        return [game for game in found if game is not None]

    def judge(self) -> None:
        """Compare what was told with the games."""
        games = self.existing()
        for app in APPS:
            assert self.published.games(app) == listing_of(games, app)
            own = [game for game in games if game.ownership is not None and game.ownership.app == app]
            for ref in ("anna", "ben", "carl"):
                with_ref = [game for game in own if ref in [seat.ref for seat in game.seats]]
                assert self.published.games(app, player_ref=ref) == listing_of(with_ref, app)
                waiting = {game.id for game in own if ref in [game.seats[seat].ref for seat in game.to_act]}
                assert set(self.published.ids(app, player_ref=ref, waiting=True)) == waiting
            self.judge_feed(app, own, [orjson.loads(item) for item in self.published.items(app)])
        shown: set[str] = set()
        for app in APPS:
            own = [
                game
                for game in games
                if game.seats.are_open
                and game.ownership is not None
                and game.ownership.app == app
                and game.ownership.lobby is not None
            ]
            assert set(self.published.public(app)) == {game.id for game in own}
            for_all = [game for game in own if game.ownership is not None and game.ownership.lobby == "all"]
            newest = sorted(for_all, key=lambda each: (each.created_at, each.id), reverse=True)[:MAX_FOR_ALL]
            shown |= {game.id for game in newest}
        assert set(self.published.public()) == shown

    def judge_feed(self, app: str, own: list[Game], items: list[dict[str, Any]]) -> None:
        versions: dict[str, list[int]] = {}
        deleted = []
        for item in items:
            if item["type"] == "deleted":
                deleted.append(item["game_id"])
            else:
                assert item["game_id"] not in deleted
                versions.setdefault(item["game_id"], []).append(item["version"])
        for game in own:
            assert versions.pop(game.id) == list(range(1, game.version + 1))
        assert sorted(deleted) == sorted(game for game, owner in self.deleted.items() if owner == app)
        for each, published in versions.items():  # of those that were deleted perhaps not all was told before
            assert published == list(range(1, len(published) + 1))
            assert each in self.deleted


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_fails_the_index_is_right_in_the_end(seed: int, empty_server: redis.Redis) -> None:
    random = Random(seed)
    now = START

    def clock() -> int:
        nonlocal now
        now += random.randrange(3)
        return now

    def pass_time(milliseconds: int = LOBBY_REFRESH_MS) -> None:
        nonlocal now
        now += milliseconds

    store = MemoryStore(TTL, lambda: now / 1000)
    published = Published(under_clock(SingleNodeTopology(empty_server), lambda: now), TTL)
    world = World(store, store, published, clock=clock, random=random)
    world.run(STEPS)
    pass_time(LEASE)
    world.run(STEPS)
    world.settle(lambda: pass_time(LEASE))  # much less than the time after which the lobby forgets a game
    world.judge()
    assert len(world.faults.seen) == 5
    assert world.deleted
    pass_time(TTL * 500)
    for game in world.existing():
        if world.random.random() < 0.5:
            world.owned.play(game.id)
    world.settle(pass_time)
    pass_time(TTL * 500)
    left = world.existing()
    for app in APPS:
        assert world.published.games(app) == listing_of(left, app)
    assert world.published.public() == []


@pytest.fixture(scope="module", params=in_lane(["redis", "cluster"], gate=["cluster"]))
def topology(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Topology]:
    with SERVERS[request.param](tmp_path_factory.mktemp(request.param)) as server:
        yield open_topology(server.url)


@pytest.mark.parametrize("seed", range(2))
def test_in_real_time_whatever_fails_the_index_is_right_in_the_end(seed: int, topology: Topology) -> None:
    reminders = redis_reminders(topology)
    clear(topology)

    def pass_time() -> None:
        end_leases(topology, "outbox")

    store = redis_store(topology, TTL)
    world = World(store, reminders, Published(topology, TTL), clock=reminders.server_time, random=Random(seed))
    world.run(STEPS)
    world.settle(pass_time)
    world.judge()
    assert world.faults.seen


def clear(topology: Topology) -> None:
    for key, *_ in topology.by_primary(keys.CHECKS):
        assert topology.call(key, (b"FLUSHALL",)) == [b"OK"]
