"""The feed: listeners are notified of what is published, or that something may have been missed."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue

import pytest
import redis

from service.games.ports import Commit, EventNotification
from service.games.store import notifications
from service.games.store.notifications import RedisEventFeed
from service.games.store.redis_store import RedisStore
from service.redis import keys
from service.redis.connection import DedicatedConnection, NotSent, connect
from service.redis.shards import with_shard
from service.redis.topology import SingleNodeTopology, Topology, open_topology
from tests.storage.clusters import Cluster
from tests.storage.conftest import TTL
from tests.storage.servers import FakeServer, RealServer, frozen
from tests.storage.write_requests import write
from tests.support.stores.redis_stores import redis_store
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.gate

LATER = 9_000_000_000_000
"""No other test takes what is due so late."""


class RecordingListener:
    """A listener that records its notifications."""

    def __init__(self) -> None:
        self._received: SimpleQueue[EventNotification | None] = SimpleQueue()

    def __call__(self, notification: EventNotification | None) -> None:
        self._received.put(notification)

    def next(self) -> EventNotification | None:
        """The next notification; fails if it takes too long."""
        return self._received.get(timeout=PATIENCE)

    def wait_for(self, wanted: EventNotification | None) -> None:
        """Skip notifications until this one."""
        for _ in range(100):
            if self.next() == wanted:
                return
        raise AssertionError(f"{wanted} was never received")

    def received_only(self, *notifications: EventNotification | None) -> bool:
        """Whether exactly these notifications have been received since."""
        return [self.next() for _ in notifications] == list(notifications) and self._received.empty()


def feed_of(url: str) -> RedisEventFeed:
    return RedisEventFeed(SingleNodeTopology(connect(url)))


class Scene:
    """Games of a store, and a feed that tells of them."""

    def __init__(self, store: RedisStore, feed: RedisEventFeed) -> None:
        self.store = store
        self.feed = feed

    def create(self) -> str:
        return new_game(self.store)

    def watch(self, game: str) -> RecordingListener:
        """Watch a game, and wait until all writes are told."""
        listener = RecordingListener()
        self.feed.watch(game, listener)
        listener.wait_for(None)
        return listener

    def watch_new(self, number: int) -> dict[str, RecordingListener]:
        return {game: self.watch(game) for game in [self.create() for _ in range(number)]}

    def append(self, game: str, *events: bytes, after: int = 1) -> EventNotification:
        """Append these events to a game; returns the notification that should be received."""
        own = write()
        assert self.store.commit(game, Commit(after, b"s", list(events), own)) is None
        return EventNotification(after, events, own.id)


@pytest.fixture
def scene(shared_server: RealServer, shared_client: redis.Redis) -> Iterator[Scene]:
    with closing(feed_of(shared_server.url)) as feed:
        yield Scene(redis_store(SingleNodeTopology(shared_client), TTL), feed)


@pytest.fixture
def own(server: RealServer, store: RedisStore) -> Iterator[Scene]:
    """A scene on a server that may be disturbed."""
    with closing(feed_of(server.url)) as feed:
        yield Scene(store, feed)


def new_game(store: RedisStore) -> str:
    """A new game at version 1."""
    game = secrets.token_urlsafe(16)
    store.create(game, b"s", [b"created"], write())
    return game


@pytest.fixture
def short_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ping sooner and time out sooner."""
    monkeypatch.setattr(notifications, "PING_SECONDS", 0.05)
    monkeypatch.setattr(notifications, "SILENCE_SECONDS", 2.0)


def test_a_listener_is_first_notified_to_read_and_then_of_every_write_whole(
    scene: Scene, shared_server: RealServer
) -> None:
    game, listener = scene.create(), RecordingListener()
    scene.feed.watch(game, listener)
    assert listener.next() is None
    first = scene.append(game, b"[3]", b"[8]", b"[10]")
    second = scene.append(game, b"[4]", after=4)
    assert listener.received_only(first, second)
    shared_server.admin.spublish(keys.state(game), b"")  # a message without content
    assert listener.received_only(None, scene.append(game, b"[3]", after=5))


def test_a_listener_is_not_told_of_reminders(scene: Scene) -> None:
    game, own = with_shard(secrets.token_urlsafe(16)), write()
    scene.store.create(game, b"s", [b"created"], write())
    listener = scene.watch(game)
    scene.store.commit(game, Commit(1, b"s", [b"[3]", b"[8]"], own, reminders={"bots": LATER, "clock": LATER}))
    scene.store.commit(game, Commit(3, b"s", [b"[4]"], own, reminders={"bots": None, "clock": None}))
    first, second = EventNotification(1, (b"[3]", b"[8]"), own.id), EventNotification(3, (b"[4]",), own.id)
    assert listener.received_only(first, second)


def test_a_second_listener_is_notified_from_then_on_and_a_stopped_one_no_longer(scene: Scene) -> None:
    game, gone, left = scene.create(), RecordingListener(), RecordingListener()
    stop = scene.feed.watch(game, gone)
    gone.wait_for(None)
    scene.feed.watch(game, left)
    notification = scene.append(game, b"[3]")
    assert gone.received_only(notification)
    assert left.received_only(notification)
    stop()
    stop()  # a second call is harmless
    assert left.received_only(scene.append(game, b"[4]", after=2))
    assert gone.received_only()


def test_no_listener_is_notified_of_another_game(scene: Scene) -> None:
    listeners = scene.watch_new(5)
    told = [scene.append(game, b"[%d]" % place) for place, game in enumerate(listeners)]
    assert all(listener.received_only(each) for listener, each in zip(listeners.values(), told, strict=True))


def test_a_game_without_listeners_has_no_subscription(scene: Scene, shared_server: RealServer) -> None:
    game, other, later = (scene.create() for _ in range(3))
    stop = scene.feed.watch(game, RecordingListener())
    scene.watch(other)
    stop()
    scene.watch(later)  # the subscription thread has handled the stop by now
    channels = shared_server.admin.pubsub_shardchannels()
    assert not [each for each in channels if game.encode() in each]
    assert len([each for each in channels if other.encode() in each or later.encode() in each]) == 2


@pytest.mark.parametrize("attempt", range(20))
def test_a_listener_that_comes_as_the_last_one_leaves_misses_nothing(scene: Scene, attempt: int) -> None:
    game, listener = scene.create(), RecordingListener()
    for _ in range(attempt):
        scene.feed.watch(game, RecordingListener())()
    scene.feed.watch(game, listener)
    appended = scene.append(game, b"[3]")
    if listener.next() != appended:  # the subscription takes effect only now; one that was left may still be in effect
        listener.wait_for(scene.append(game, b"[4]", after=2))


def test_a_killed_connection_is_replaced_and_all_listeners_are_notified_to_read(
    scene: Scene, shared_server: RealServer
) -> None:
    listeners = scene.watch_new(3)
    assert shared_server.admin.client_kill_filter(_type="pubsub") == 1
    for game, listener in listeners.items():
        assert listener.next() is None
        assert listener.received_only(scene.append(game, b"[3]"))


def test_subscriptions_survive_a_restart_of_the_server(
    server: RealServer, own: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    listeners = own.watch_new(3)
    server.kill()
    late = RecordingListener()
    own.feed.watch(next(iter(listeners)), late)
    server.start()
    told = []
    for game, listener in listeners.items():
        assert listener.next() is None
        told.append(own.append(game, b"[3]"))
        assert listener.received_only(told[-1])
    late.wait_for(told[0])
    assert [each.levelname for each in caplog.records] == ["WARNING"]


def test_a_listener_that_comes_before_the_server_is_notified_when_it_starts(server: RealServer, own: Scene) -> None:
    game, listener = own.create(), RecordingListener()
    server.kill()
    own.feed.watch(game, listener)
    server.start()
    assert listener.next() is None
    assert listener.received_only(own.append(game, b"[3]"))


@pytest.mark.usefixtures("short_timeouts")
def test_an_unresponsive_server_is_disconnected_and_subscribed_to_again(server: RealServer, own: Scene) -> None:
    game = own.create()
    listener = own.watch(game)
    with frozen(server):
        (connection,) = own.feed._connections.values()
        wait_for_reader(connection)
    assert listener.next() is None
    listener.wait_for(own.append(game, b"[3]"))


def wait_for_reader(connection: notifications._SubscriberConnection) -> None:
    connection._reader.join(PATIENCE)
    assert not connection._reader.is_alive()


@pytest.mark.usefixtures("short_timeouts")
def test_a_quiet_game_on_a_responsive_server_keeps_its_connection(own: Scene) -> None:
    game = own.create()
    listener = own.watch(game)
    (connection,) = own.feed._connections.values()
    connection._reader.join(5.0)  # more than two read timeouts
    assert connection._reader.is_alive()
    assert listener.received_only(own.append(game, b"[3]"))


class MovingTopology(SingleNodeTopology):
    """A channel that moves from one server to another without any notice."""

    def __init__(self, *urls: str) -> None:
        super().__init__(connect(urls[0]))
        self._servers = [SingleNodeTopology(connect(url)) for url in urls]
        self.current = 0

    def node(self, key: bytes) -> str:
        return self._servers[self.current].node(key)

    def open_subscriber(self, key: bytes) -> DedicatedConnection:
        return self._servers[self.current].open_subscriber(key)


@pytest.mark.usefixtures("short_timeouts")
def test_a_game_that_moves_to_another_server_is_followed_there(
    shared_server: RealServer, server: RealServer, store: RedisStore
) -> None:
    topology = MovingTopology(shared_server.url, server.url)
    with closing(RedisEventFeed(topology)) as feed:
        moving = Scene(store, feed)
        game = moving.create()
        listener = moving.watch(game)
        topology.current = 1
        assert listener.next() is None
        assert listener.received_only(moving.append(game, b"[3]"))


def test_a_subscription_that_the_server_ends_is_renewed() -> None:
    subscribed = []

    def answer(command: list[bytes]) -> bytes:
        if command[0] != b"SSUBSCRIBE":
            return b"+OK\r\n"
        subscribed.append(command[1])
        confirmed = b"*3\r\n$10\r\nssubscribe\r\n$%d\r\n%b\r\n:1\r\n" % (len(command[1]), command[1])
        taken_back = b"*3\r\n$12\r\nsunsubscribe\r\n$%d\r\n%b\r\n:0\r\n" % (len(command[1]), command[1])
        return confirmed + taken_back if len(subscribed) == 1 else confirmed

    listener = RecordingListener()
    with FakeServer(answer) as server, closing(feed_of(server.url)) as feed:
        feed.watch("a game", listener)
        assert (listener.next(), listener.next()) == (None, None)
        assert len(subscribed) == 2


class FailingTopology(SingleNodeTopology):
    """A topology whose first calls fail."""

    def __init__(self, url: str) -> None:
        super().__init__(connect(url))
        self.faults: list[Exception] = [KeyError("a bug"), NotSent()]

    def node(self, key: bytes) -> str:
        if self.faults:
            raise self.faults.pop()
        return super().node(key)


def test_an_error_while_subscribing_does_not_end_the_feed(scene: Scene, shared_server: RealServer) -> None:
    with closing(RedisEventFeed(FailingTopology(shared_server.url))) as feed:
        failing = Scene(scene.store, feed)
        game = failing.create()
        failing.watch(game).wait_for(failing.append(game, b"[3]"))


def test_a_write_succeeds_on_a_server_that_does_not_allow_publishing(server: RealServer, store: RedisStore) -> None:
    game = new_game(store)
    server.admin.acl_setuser(
        "default", enabled=True, nopass=True, categories=["+@all"], keys=["*"], reset_channels=True
    )
    with closing(connect(server.url)) as client:
        store = redis_store(SingleNodeTopology(client), TTL)
        assert store.commit(game, Commit(1, b"t", [b"[3]"], write())) is None
        assert store.read(game) == (2, b"t")


def test_a_closed_feed_disconnects_and_notifies_no_listener(own: Scene) -> None:
    game = own.create()
    listener = own.watch(game)
    (connection,) = own.feed._connections.values()
    own.feed.close()
    wait_for_reader(connection)
    own.append(game, b"[3]")
    assert listener.received_only()


# ── A Cluster ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_games_on_every_primary_of_a_cluster_are_followed(shared_cluster: Cluster, cluster_topology: Topology) -> None:
    with closing(RedisEventFeed(cluster_topology)) as feed:
        everywhere = Scene(redis_store(cluster_topology, TTL), feed)
        listeners = everywhere.watch_new(12)
        assert len({shared_cluster.primary_of(keys.state(game)).address for game in listeners}) > 1
        for game, listener in listeners.items():
            listener.wait_for(everywhere.append(game, b"one"))


def test_after_a_failover_listeners_are_notified_to_read_and_the_feed_goes_on(tmp_path: Path) -> None:
    with Cluster(tmp_path) as cluster:
        topology = open_topology(cluster.url)
        game = new_game(redis_store(topology, TTL, replicated=True))
        with closing(RedisEventFeed(topology)) as feed:
            after = Scene(redis_store(topology, TTL), feed)
            listener = after.watch(game)
            cluster.primary_of(keys.state(game)).kill()
            listener.wait_for(None)  # its replica has replaced it, and is subscribed to
            listener.wait_for(after.append(game, b"one"))
