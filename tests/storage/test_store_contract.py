"""What every store promises, asked of Redis and of its twin in memory."""

from __future__ import annotations

import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import pytest
import redis

from service.games.ports import GameExists, Store, Stored
from service.storage import keys
from service.storage.memory_store import MemoryStore
from service.storage.nodes import SingleNode
from service.storage.redis_store import RedisStore
from tests.storage.conftest import TTL
from tests.storage.servers import RealServer
from tests.storage.writes import write


class Bench(Protocol):
    """A store, and what a test must do behind its back."""

    store: Store

    def seconds_left(self, game: str) -> set[int]:
        """How long the game is still kept, in whole seconds: one number if all of it ends at once."""

    def age(self, game: str, seconds: int) -> None:
        """Let so many seconds of the game's life pass."""


class MemoryBench:
    def __init__(self) -> None:
        self.time = 1000.0
        self.memory = MemoryStore(TTL, lambda: self.time)
        self.store: Store = self.memory

    def seconds_left(self, game: str) -> set[int]:
        return {round(self.memory._games[game].expires - self.time)}

    def age(self, game: str, seconds: int) -> None:
        self.time += seconds


class RedisBench:
    def __init__(self, server: RealServer, client: redis.Redis) -> None:
        self.store: Store = RedisStore(SingleNode(client), TTL)
        self._admin = server.admin

    def seconds_left(self, game: str) -> set[int]:
        ends = {self._end(key) for key in (keys.state(game), keys.events(game))}
        seconds, micros = self._admin.time()
        return {round((end - seconds * 1000 - micros / 1000) / 1000) for end in ends}

    def age(self, game: str, seconds: int) -> None:
        for key in (keys.state(game), keys.events(game)):
            self._admin.pexpireat(key, self._end(key) - seconds * 1000)

    def _end(self, key: bytes) -> int:
        """When the key ends, in milliseconds of the server's clock."""
        return int(self._admin.pexpiretime(key.decode()))


@pytest.fixture(params=["memory", "redis"])
def bench(request: pytest.FixtureRequest) -> Bench:
    if request.param == "memory":
        return MemoryBench()
    server: RealServer = request.getfixturevalue("shared_server")
    client: redis.Redis = request.getfixturevalue("shared_client")
    return RedisBench(server, client)


@pytest.fixture
def store(bench: Bench) -> Store:
    return bench.store


@pytest.fixture
def game() -> str:
    return secrets.token_urlsafe(16)


def test_a_game_is_read_as_it_was_created(store: Store, game: str) -> None:
    store.create(game, b"the state", [b"created", b"dealt"], write())
    assert store.read(game) == Stored(2, b"the state")


def test_a_game_that_never_was_is_none(store: Store, game: str) -> None:
    assert store.read(game) is None
    assert store.events(game, [1, 2]) == []


@pytest.mark.parametrize("strange", ["", "}", "a}b{c", "{", "\0", "\ud800", "ü" * 300, "x}:events"])
def test_a_strange_id_is_a_game_that_does_not_exist(store: Store, strange: str) -> None:
    assert store.read(strange) is None
    assert store.events(strange, [1]) == []


def test_an_id_is_given_once(store: Store, game: str) -> None:
    store.create(game, b"first", [b"a"], write())
    with pytest.raises(GameExists):
        store.create(game, b"second", [b"b", b"c"], write())
    assert store.read(game) == Stored(1, b"first")
    assert store.events(game, [1, 2]) == [b"a"]


def test_a_commit_moves_the_game_on_by_the_number_of_its_events(store: Store, game: str) -> None:
    store.create(game, b"one", [b"created"], write())
    assert store.commit(game, 1, b"four", [b"played", b"round ended", b"finished"], write()) is None
    assert store.read(game) == Stored(4, b"four")
    assert store.events(game, [1, 2, 3, 4]) == [b"created", b"played", b"round ended", b"finished"]


@pytest.mark.parametrize("expected", [0, 1, 2, 11, 13, 120, 1_000_000_000_000_000_000])
def test_a_commit_at_another_version_changes_nothing_and_tells_the_truth(
    store: Store, game: str, expected: int
) -> None:
    store.create(game, b"the truth", [b"%d" % number for number in range(1, 13)], write())
    assert store.commit(game, expected, b"a lie", [b"lie"], write()) == Stored(12, b"the truth")
    assert store.read(game) == Stored(12, b"the truth")
    assert store.events(game, range(1, 20)) == [b"%d" % number for number in range(1, 13)]


def test_a_commit_to_a_game_that_never_was_is_a_key_error(store: Store, game: str) -> None:
    with pytest.raises(KeyError):
        store.commit(game, 0, b"state", [b"event"], write())
    assert store.read(game) is None
    assert store.events(game, [1]) == []


def test_events_are_found_by_version_in_the_order_asked(store: Store, game: str) -> None:
    store.create(game, b"s", [b"e1", b"e2"], write())
    for version in range(2, 300):
        assert store.commit(game, version, b"s", [b"e%d" % (version + 1)], write()) is None
    assert store.events(game, [300, 1, 150, 2, 299, 150]) == [b"e300", b"e1", b"e150", b"e2", b"e299", b"e150"]
    assert store.events(game, range(1, 301)) == [b"e%d" % version for version in range(1, 301)]


def test_events_that_are_not_kept_are_left_out(store: Store, game: str) -> None:
    store.create(game, b"s", [b"e1", b"e2", b"e3"], write())
    assert store.events(game, [-3, -1, 0, 3, 4, 1, 100, 2**60]) == [b"e3", b"e1"]
    assert store.events(game, []) == []


def test_all_of_a_game_ends_at_once_and_every_write_starts_its_life_anew(bench: Bench, game: str) -> None:
    bench.store.create(game, b"s", [b"e1"], write())
    assert bench.seconds_left(game) == {TTL}
    bench.age(game, 1000)
    assert bench.seconds_left(game) == {TTL - 1000}
    bench.store.read(game)
    bench.store.commit(game, 7, b"refused", [b"refused"], write())
    assert bench.seconds_left(game) == {TTL - 1000}
    bench.store.commit(game, 1, b"t", [b"e2"], write())
    assert bench.seconds_left(game) == {TTL}


def test_an_expired_game_is_gone_and_its_id_free(bench: Bench, game: str) -> None:
    bench.store.create(game, b"s", [b"e1", b"e2"], write())
    bench.age(game, TTL + 1)
    assert bench.store.read(game) is None
    assert bench.store.events(game, [1, 2]) == []
    with pytest.raises(KeyError):
        bench.store.commit(game, 2, b"t", [b"e3"], write())
    bench.store.create(game, b"new", [b"f1"], write())
    assert bench.store.read(game) == Stored(1, b"new")
    assert bench.store.events(game, [1, 2]) == [b"f1"]


@pytest.mark.parametrize(
    "state",
    [
        b"",
        b" ",
        b"12 ",
        b"[]",
        b"\r\n$-1\r\n",
        bytes(range(256)),
        "ü€😀".encode(),
        b"\0" * 10,
        secrets.token_bytes(100_000),
    ],
    ids=["empty", "space", "like a version", "json", "like the protocol", "any byte", "utf-8", "nul", "100 kB"],
)
def test_any_bytes_come_back_as_they_went(store: Store, game: str, state: bytes) -> None:
    store.create(game, state, [state, state], write())
    assert store.read(game) == Stored(2, state)
    assert store.commit(game, 2, b"other", [state], write()) is None
    assert store.commit(game, 3, state, [b""], write()) is None
    assert store.commit(game, 3, b"late", [b""], write()) == Stored(4, state)
    assert store.read(game) == Stored(4, state)
    assert store.events(game, [1, 2, 3, 4]) == [state, state, state, b""]


def test_ten_thousand_events_at_once_are_kept(store: Store, game: str) -> None:
    store.create(game, b"s", [b"e%d" % version for version in range(1, 10_001)], write())
    assert store.events(game, [1, 5_000, 10_000]) == [b"e1", b"e5000", b"e10000"]


def test_games_do_not_touch_each_other(store: Store, game: str) -> None:
    other = game + "x"
    store.create(game, b"one", [b"a"], write())
    store.create(other, b"two", [b"b", b"c"], write())
    store.commit(game, 1, b"three", [b"d"], write())
    assert (store.read(game), store.read(other)) == (Stored(2, b"three"), Stored(2, b"two"))
    assert (store.events(game, [1, 2]), store.events(other, [1, 2])) == ([b"a", b"d"], [b"b", b"c"])


def test_of_a_crowd_at_one_version_exactly_one_wins_and_no_version_is_missing(store: Store, game: str) -> None:
    crowd, rounds = 16, 25
    store.create(game, b"1", [b"created"], write())
    together = threading.Barrier(crowd)

    def play(seat: int) -> list[int]:
        """Commit once at every version; the versions won."""
        won = []
        for version in range(1, rounds + 1):
            together.wait(30)
            truth = store.commit(game, version, b"%d" % (version + 1), [b"%d by %d" % (version + 1, seat)], write())
            if truth is None:
                won.append(version + 1)
            else:
                assert truth == Stored(version + 1, b"%d" % (version + 1))
        return won

    with ThreadPoolExecutor(crowd) as pool:
        wins = list(pool.map(play, range(crowd)))

    winner = {version: seat for seat, won in enumerate(wins) for version in won}
    assert sorted(version for won in wins for version in won) == list(range(2, rounds + 2))
    assert store.read(game) == Stored(rounds + 1, b"%d" % (rounds + 1))
    assert store.events(game, range(1, rounds + 3)) == [
        b"created",
        *(b"%d by %d" % (version, winner[version]) for version in range(2, rounds + 2)),
    ]


def test_of_a_crowd_creating_one_game_exactly_one_does(store: Store, game: str) -> None:
    crowd = 16
    together = threading.Barrier(crowd)

    def create(seat: int) -> bool:
        together.wait(30)
        try:
            store.create(game, b"by %d" % seat, [b"by %d" % seat], write())
        except GameExists:
            return False
        return True

    with ThreadPoolExecutor(crowd) as pool:
        made = list(pool.map(create, range(crowd)))
    assert made.count(True) == 1
    assert store.read(game) == Stored(1, b"by %d" % made.index(True))
    assert store.events(game, [1, 2]) == [b"by %d" % made.index(True)]


def test_a_check_answers(store: Store) -> None:
    store.check()
