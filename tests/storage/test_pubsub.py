"""The feed: who listens hears what is published, or hears that something may have been missed."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue

import pytest
import redis

from service.games.ports import EventNotification
from service.storage import keys, pubsub
from service.storage.connection import DedicatedConnection, NotSent, connect
from service.storage.pubsub import RedisEventFeed
from service.storage.redis_store import RedisStore
from service.storage.topology import SingleNodeTopology, Topology, open_topology
from tests.storage.clusters import Cluster
from tests.storage.conftest import TTL
from tests.storage.servers import FalseServer, RealServer
from tests.storage.write_requests import write

PATIENCE = 20.0


class Ear:
    """A listener that keeps what it is told."""

    def __init__(self) -> None:
        self._told: SimpleQueue[EventNotification | None] = SimpleQueue()

    def __call__(self, news: EventNotification | None) -> None:
        self._told.put(news)

    def next(self) -> EventNotification | None:
        """What it is told next; fails when that takes too long."""
        return self._told.get(timeout=PATIENCE)

    def until(self, wanted: EventNotification | None) -> None:
        """Listen until this is told."""
        for _ in range(100):
            if self.next() == wanted:
                return
        raise AssertionError(f"{wanted} was never told")

    def hears_nothing_but(self, *news: EventNotification | None) -> bool:
        """Whether this and nothing else has been told since."""
        told = [self.next() for _ in news]
        return told == list(news) and self._told.empty()


def feed_of(url: str) -> RedisEventFeed:
    return RedisEventFeed(SingleNodeTopology(connect(url)))


@pytest.fixture
def feed(shared_server: RealServer) -> Iterator[RedisEventFeed]:
    with closing(feed_of(shared_server.url)) as feed:
        yield feed


@pytest.fixture
def shared_store(shared_client: redis.Redis) -> RedisStore:
    return RedisStore(SingleNodeTopology(shared_client), TTL)


@pytest.fixture
def open_game(shared_store: RedisStore) -> Callable[[], str]:
    return lambda: opened(shared_store)


def opened(store: RedisStore) -> str:
    """A new game at version 1."""
    game = secrets.token_urlsafe(16)
    store.create(game, b"s", [b"created"], write())
    return game


def say(store: RedisStore, game: str, after: int, *events: bytes) -> EventNotification:
    """Append these to a game; the news that should be heard."""
    assert store.commit(game, after, b"s", list(events), write()) is None
    return EventNotification(after, events)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A feed that gives a silent server less time."""
    monkeypatch.setattr(pubsub, "PING_SECONDS", 0.05)
    monkeypatch.setattr(pubsub, "SILENCE_SECONDS", 0.3)


def test_who_listens_is_told_to_look_once_and_then_hears_every_write_whole(
    feed: RedisEventFeed, shared_store: RedisStore, open_game: Callable[[], str]
) -> None:
    game, ear = open_game(), Ear()
    feed.watch(game, ear)
    assert ear.next() is None
    first = say(shared_store, game, 1, b"[3]", b"[8]", b"[10]")
    second = say(shared_store, game, 4, b"[4]")
    assert ear.hears_nothing_but(first, second)


def test_a_second_listener_hears_from_then_on(
    feed: RedisEventFeed, shared_store: RedisStore, open_game: Callable[[], str]
) -> None:
    game, early, late = open_game(), Ear(), Ear()
    feed.watch(game, early)
    early.until(None)
    feed.watch(game, late)
    news = say(shared_store, game, 1, b"[3]")
    assert early.hears_nothing_but(news)
    assert late.hears_nothing_but(news)


def test_nobody_hears_of_another_game(
    feed: RedisEventFeed, shared_store: RedisStore, open_game: Callable[[], str]
) -> None:
    games, ears = [open_game() for _ in range(5)], [Ear() for _ in range(5)]
    for game, ear in zip(games, ears, strict=True):
        feed.watch(game, ear)
        ear.until(None)
    news = [say(shared_store, game, 1, b"[%d]" % place) for place, game in enumerate(games)]
    assert all(ear.hears_nothing_but(each) for ear, each in zip(ears, news, strict=True))


def test_who_stops_hears_nothing_more_and_others_do(
    feed: RedisEventFeed, shared_store: RedisStore, open_game: Callable[[], str]
) -> None:
    game, gone, left = open_game(), Ear(), Ear()
    stop = feed.watch(game, gone)
    feed.watch(game, left)
    gone.until(None)
    left.until(None)
    stop()
    stop()  # once more does no harm
    assert left.hears_nothing_but(say(shared_store, game, 1, b"[3]"))
    assert gone.hears_nothing_but()


def test_a_game_that_nobody_follows_any_more_costs_no_subscription(
    feed: RedisEventFeed, shared_server: RealServer, shared_store: RedisStore, open_game: Callable[[], str]
) -> None:
    game, other, ear = open_game(), open_game(), Ear()
    stop = feed.watch(game, Ear())
    feed.watch(other, ear)
    ear.until(None)
    stop()
    later = open_game()
    feed.watch(later, ear)
    ear.until(None)  # the tender has come behind the stop
    channels = shared_server.admin.pubsub_shardchannels()
    assert not [each for each in channels if game.encode() in each]
    assert len([each for each in channels if other.encode() in each or later.encode() in each]) == 2


@pytest.mark.parametrize("attempt", range(20))
def test_who_comes_as_the_last_one_leaves_misses_nothing(
    feed: RedisEventFeed, shared_store: RedisStore, open_game: Callable[[], str], attempt: int
) -> None:
    game, ear = open_game(), Ear()
    for _ in range(attempt):
        feed.watch(game, Ear())()
    feed.watch(game, ear)
    ear.until(None)
    ear.until(say(shared_store, game, 1, b"[3]"))


def test_a_connection_that_is_killed_is_made_anew_and_all_are_told_to_look(
    feed: RedisEventFeed, shared_server: RealServer, shared_store: RedisStore, open_game: Callable[[], str]
) -> None:
    games, ears = [open_game() for _ in range(3)], [Ear() for _ in range(3)]
    for game, ear in zip(games, ears, strict=True):
        feed.watch(game, ear)
        ear.until(None)
    assert shared_server.admin.client_kill_filter(_type="pubsub") == 1
    for game, ear in zip(games, ears, strict=True):
        assert ear.next() is None
        assert ear.hears_nothing_but(say(shared_store, game, 1, b"[3]"))


def test_a_server_that_dies_and_comes_back_is_heard_again(
    server: RealServer, store: RedisStore, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(feed_of(server.url)) as feed:
        games, ears = [opened(store) for _ in range(3)], [Ear() for _ in range(3)]
        for game, ear in zip(games, ears, strict=True):
            feed.watch(game, ear)
            ear.until(None)
        server.kill()
        late = Ear()
        feed.watch(games[0], late)
        server.start()
        for game, ear in zip(games, ears, strict=True):
            assert ear.next() is None
            assert ear.hears_nothing_but(say(store, game, 1, b"[3]"))
        late.until(EventNotification(1, (b"[3]",)))
    assert [each.levelname for each in caplog.records] == ["WARNING"]


def test_who_listens_before_there_is_a_server_hears_when_there_is(server: RealServer, store: RedisStore) -> None:
    game = opened(store)
    server.kill()
    with closing(feed_of(server.url)) as feed:
        ear = Ear()
        feed.watch(game, ear)
        server.start()
        assert ear.next() is None
        assert ear.hears_nothing_but(say(store, game, 1, b"[3]"))


@pytest.mark.usefixtures("hasty")
def test_a_server_that_falls_silent_is_left_and_found_again(server: RealServer, store: RedisStore) -> None:
    game, ear = opened(store), Ear()
    with closing(feed_of(server.url)) as feed:
        feed.watch(game, ear)
        ear.until(None)
        server.freeze()
        try:
            (line,) = feed._lines.values()
            line_reader_ends(line)
        finally:
            server.thaw()
        assert ear.next() is None
        ear.until(say(store, game, 1, b"[3]"))


def line_reader_ends(line: pubsub._SubscriberConnection) -> None:
    line._reader.join(PATIENCE)
    assert not line._reader.is_alive()


@pytest.mark.usefixtures("hasty")
def test_a_silent_game_on_a_server_that_answers_keeps_its_line(server: RealServer, store: RedisStore) -> None:
    game, ear = opened(store), Ear()
    with closing(feed_of(server.url)) as feed:
        feed.watch(game, ear)
        ear.until(None)
        (line,) = feed._lines.values()
        line._reader.join(1.0)  # three silences
        assert line._reader.is_alive()
        assert ear.hears_nothing_but(say(store, game, 1, b"[3]"))


class Moving(SingleNodeTopology):
    """A channel that moves from one server to another, of which neither says a word."""

    def __init__(self, *urls: str) -> None:
        super().__init__(connect(urls[0]))
        self._homes = [SingleNodeTopology(connect(url)) for url in urls]
        self.home = 0

    def node(self, key: bytes) -> str:
        return self._homes[self.home].node(key)

    def open_subscriber(self, key: bytes) -> DedicatedConnection:
        return self._homes[self.home].open_subscriber(key)


@pytest.mark.usefixtures("hasty")
def test_a_game_that_moves_to_another_server_is_followed_there(
    shared_server: RealServer, server: RealServer, store: RedisStore
) -> None:
    nodes, game, ear = Moving(shared_server.url, server.url), opened(store), Ear()
    with closing(RedisEventFeed(nodes)) as feed:
        feed.watch(game, ear)
        ear.until(None)
        nodes.home = 1
        assert ear.next() is None
        assert ear.hears_nothing_but(say(store, game, 1, b"[3]"))


def test_a_server_that_takes_the_subscription_back_is_asked_anew() -> None:
    asked = []

    def answer(command: list[bytes]) -> bytes:
        if command[0] != b"SSUBSCRIBE":
            return b"+OK\r\n"
        asked.append(command[1])
        confirmed = b"*3\r\n$10\r\nssubscribe\r\n$%d\r\n%b\r\n:1\r\n" % (len(command[1]), command[1])
        taken_back = b"*3\r\n$12\r\nsunsubscribe\r\n$%d\r\n%b\r\n:0\r\n" % (len(command[1]), command[1])
        return confirmed + taken_back if len(asked) == 1 else confirmed

    ear = Ear()
    with FalseServer(answer) as false, closing(feed_of(false.url)) as feed:
        feed.watch("a game", ear)
        assert (ear.next(), ear.next()) == (None, None)
        assert len(asked) == 2


class Spoilt(SingleNodeTopology):
    """Nodes with a fault of their own, at first."""

    def __init__(self, url: str) -> None:
        super().__init__(connect(url))
        self.faults: list[Exception] = [KeyError("a bug"), NotSent()]

    def node(self, key: bytes) -> str:
        if self.faults:
            raise self.faults.pop()
        return super().node(key)


def test_a_fault_at_a_subscription_ends_nothing(
    shared_server: RealServer, shared_store: RedisStore, open_game: Callable[[], str]
) -> None:
    game, ear = open_game(), Ear()
    with closing(RedisEventFeed(Spoilt(shared_server.url))) as feed:
        feed.watch(game, ear)
        ear.until(None)
        ear.until(say(shared_store, game, 1, b"[3]"))


def test_a_server_that_forbids_news_keeps_the_write_all_the_same(server: RealServer, store: RedisStore) -> None:
    game = opened(store)
    server.admin.acl_setuser(
        "default", enabled=True, nopass=True, categories=["+@all"], keys=["*"], reset_channels=True
    )
    with closing(connect(server.url)) as client:
        store = RedisStore(SingleNodeTopology(client), TTL)
        assert store.commit(game, 1, b"t", [b"[3]"], write()) is None
        assert store.read(game) == (2, b"t")


def test_a_closed_feed_hangs_up_and_tells_nobody(tmp_path: Path, server: RealServer, store: RedisStore) -> None:
    game, ear = opened(store), Ear()
    feed = feed_of(server.url)
    feed.watch(game, ear)
    ear.until(None)
    (line,) = feed._lines.values()
    feed.close()
    line_reader_ends(line)
    say(store, game, 1, b"[3]")
    assert ear.hears_nothing_but()


# ── A Cluster ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_games_of_every_part_of_a_cluster_are_heard(shared_cluster: Cluster, cluster_nodes: Topology) -> None:
    store = RedisStore(cluster_nodes, TTL)
    games = [opened(store) for _ in range(12)]
    assert len({shared_cluster.primary_of(keys.state(game)).address for game in games}) > 1
    with closing(RedisEventFeed(cluster_nodes)) as feed:
        ears = {game: Ear() for game in games}
        for game, ear in ears.items():
            feed.watch(game, ear)
            ear.until(None)
        for game, ear in ears.items():
            ear.until(say(store, game, 1, b"one"))


def test_after_a_primary_is_killed_the_feed_tells_to_look_again_and_goes_on(tmp_path: Path) -> None:
    with Cluster(tmp_path) as cluster:
        nodes = open_topology(cluster.url)
        game = opened(RedisStore(nodes, TTL, replicated=True))
        store = RedisStore(nodes, TTL)
        with closing(RedisEventFeed(nodes)) as feed:
            ear = Ear()
            feed.watch(game, ear)
            ear.until(None)
            cluster.primary_of(keys.state(game)).kill()
            ear.until(None)  # a replica has taken its place, and is listened to
            ear.until(say(store, game, 1, b"one"))
