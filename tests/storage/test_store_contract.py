"""The contract of every store, tested with Redis and the in-memory store."""

from __future__ import annotations

import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count, islice
from typing import Protocol

import pytest

from service.games.ports import (
    Commit,
    EventRange,
    GameExists,
    IdempotencyRecord,
    JoinCodeTaken,
    PriorWrite,
    Store,
    StoredGame,
    WriteRequest,
)
from service.redis import keys
from service.redis.errors import OutcomeUnknown
from service.redis.shards import shard_of, with_shard
from service.redis.topology import Topology
from tests.storage.conftest import TTL, servers
from tests.storage.write_requests import usual, write
from tests.support.stores.memory_store import MemoryStore
from tests.support.stores.redis_stores import redis_store
from tests.support.waiting import PATIENCE


class Harness(Protocol):
    """A store, and access to what the port does not show."""

    store: Store

    def seconds_left(self, game: str) -> set[int]:
        """The remaining time to live of all keys of a game, in whole seconds."""

    def expiries(self, game: str) -> set[float]:
        """The times at which the keys of a game expire, by the clock of the store."""

    def age(self, game: str, seconds: int) -> None:
        """Let so many seconds of the game's life pass."""


class MemoryHarness:
    def __init__(self) -> None:
        self.time = 1000.0
        self.memory = MemoryStore(TTL, lambda: self.time)
        self.store: Store = self.memory

    def seconds_left(self, game: str) -> set[int]:
        return {round(end - self.time) for end in self.expiries(game)}

    def expiries(self, game: str) -> set[float]:
        return {self.memory._games[game].expires}

    def age(self, game: str, seconds: int) -> None:
        self.time += seconds


class RedisHarness:
    def __init__(self, topology: Topology) -> None:
        self.store: Store = redis_store(topology, TTL)
        self._topology = topology

    def seconds_left(self, game: str) -> set[int]:
        ((seconds, micros),) = self._topology.call(keys.state(game), (b"TIME",))
        return {round((end - int(seconds) * 1000 - int(micros) / 1000) / 1000) for end in self.expiries(game)}

    def expiries(self, game: str) -> set[float]:
        return {self._expiry(key) for key in (keys.state(game), keys.part(b"events", game))}

    def age(self, game: str, seconds: int) -> None:
        for key in (keys.state(game), keys.part(b"events", game)):
            self._topology.call(key, (b"PEXPIREAT", key, self._expiry(key) - seconds * 1000))

    def _expiry(self, key: bytes) -> int:
        """When the key expires, in milliseconds of the server's clock."""
        (end,) = self._topology.call(key, (b"PEXPIRETIME", key))
        return int(end)


@pytest.fixture(params=["memory", "redis", "cluster"])
def harness(request: pytest.FixtureRequest) -> Harness:
    return MemoryHarness() if request.param == "memory" else RedisHarness(servers(request, request.param))


@pytest.fixture
def store(harness: Harness) -> Store:
    return harness.store


@pytest.fixture
def game() -> str:
    return secrets.token_urlsafe(16)


def test_the_size_of_a_game_is_that_of_its_state_and_its_events(store: Store, game: str) -> None:
    assert store.size(game) == 0
    store.create(game, b"s" * 1_000, [b"e" * 2_000], write())
    created = store.size(game)
    assert created >= 3_000
    store.commit(game, Commit(1, b"s" * 1_000, [b"e" * 4_000], write()))
    assert created + 4_000 <= store.size(game) < 3 * created


@pytest.mark.parametrize("strange", ["", "}", "a}b{c", "{", "\0", "\ud800", "ü" * 300, "x}:events", "never"])
def test_a_game_that_never_was_or_with_a_strange_id_is_none(store: Store, strange: str) -> None:
    assert store.read(strange) is None
    assert store.events(strange, [1, 2]) == []


def test_an_id_is_used_once(store: Store, game: str) -> None:
    store.create(game, b"first", [b"a"], write())
    with pytest.raises(GameExists):
        store.create(game, b"second", [b"b", b"c"], write())
    assert store.read(game) == StoredGame(1, b"first")
    assert store.events(game, [1, 2]) == [b"a"]


def test_a_commit_moves_the_game_on_by_the_number_of_its_events(store: Store, game: str) -> None:
    store.create(game, b"one", [b"created"], write())
    assert store.commit(game, Commit(1, b"four", [b"played", b"round ended", b"finished"], write())) is None
    assert store.read(game) == StoredGame(4, b"four")
    assert store.events(game, [1, 2, 3, 4]) == [b"created", b"played", b"round ended", b"finished"]


@pytest.mark.parametrize("expected", [0, 1, 2, 11, 13, 120, 1_000_000_000_000_000_000])
def test_a_commit_at_another_version_changes_nothing_and_returns_the_current_game(
    store: Store, game: str, expected: int
) -> None:
    store.create(game, b"current", [b"%d" % number for number in range(1, 13)], write())
    assert store.commit(game, Commit(expected, b"wrong", [b"wrong"], write())) == StoredGame(12, b"current")
    assert store.read(game) == StoredGame(12, b"current")
    assert store.events(game, range(1, 20)) == [b"%d" % number for number in range(1, 13)]


def test_a_commit_to_a_game_that_never_was_is_a_key_error(store: Store, game: str) -> None:
    with pytest.raises(KeyError):
        store.commit(game, Commit(0, b"state", [b"event"], write()))
    assert store.read(game) is None
    assert store.events(game, [1]) == []


def test_events_are_found_by_version_in_the_order_asked(store: Store, game: str) -> None:
    store.create(game, b"s", [b"e1", b"e2"], write())
    for version in range(2, 300):
        assert store.commit(game, Commit(version, b"s", [b"e%d" % (version + 1)], write())) is None
    assert store.events(game, [300, 1, 150, 2, 299, 150]) == [b"e300", b"e1", b"e150", b"e2", b"e299", b"e150"]
    assert store.events(game, range(1, 301)) == [b"e%d" % version for version in range(1, 301)]
    assert store.events(game, [-3, -1, 0, 3, 301, 1, 1000, 2**60]) == [b"e3", b"e1"]
    assert store.events(game, []) == []


def test_all_keys_of_a_game_expire_together_and_every_write_renews_them(harness: Harness, game: str) -> None:
    harness.store.create(game, b"s", [b"e1"], write())
    assert harness.seconds_left(game) == {TTL}
    harness.age(game, 1000)
    assert harness.seconds_left(game) == {TTL - 1000}
    harness.store.read(game)
    harness.store.commit(game, Commit(7, b"refused", [b"refused"], write()))
    assert harness.seconds_left(game) == {TTL - 1000}
    harness.store.commit(game, Commit(1, b"t", [b"e2"], write()))
    assert harness.seconds_left(game) == {TTL}


def test_a_game_is_found_by_its_join_code_and_no_other_game_of_its_shard_is(harness: Harness) -> None:
    store, shard = harness.store, 7
    ids = (with_shard(secrets.token_urlsafe(16)) for _ in count())
    game, other = islice((each for each in ids if shard_of(each) == shard), 2)
    first, second, third = (secrets.token_bytes(32) for _ in range(3))
    store.create(game, b"s", [b"e1"], write(), code=first)
    with pytest.raises(JoinCodeTaken):
        store.create(other, b"s", [b"e1"], write(), code=first)
    assert (store.read(other), store.find_code(shard, first)) == (None, game)
    store.create(other, b"s", [b"e1"], write(), code=second)
    with pytest.raises(JoinCodeTaken):
        store.commit(game, Commit(1, b"t", [b"e2"], write(), codes=(first, second)))
    assert store.read(game) == StoredGame(1, b"s")
    store.commit(game, Commit(1, b"t", [b"e2"], write(), codes=(first, third)))
    assert [store.find_code(shard, code) for code in (first, second, third)] == [None, other, game]
    store.commit(game, Commit(2, b"u", [b"e3"], write(), codes=(third, None)))
    assert store.find_code(shard, third) is None
    store.commit(other, Commit(1, b"t", [b"e2"], write(), codes=(second, second)))
    assert store.find_code(shard, second) == other
    assert store.find_code(shard + 1, second) is None


def test_an_expired_game_is_gone_and_its_id_free(harness: Harness, game: str) -> None:
    harness.store.create(game, b"s", [b"e1", b"e2"], write())
    harness.age(game, TTL + 1)
    assert harness.store.read(game) is None
    assert harness.store.events(game, [1, 2]) == []
    with pytest.raises(KeyError):
        harness.store.commit(game, Commit(2, b"t", [b"e3"], write()))
    harness.store.create(game, b"new", [b"f1"], write())
    assert harness.store.read(game) == StoredGame(1, b"new")
    assert harness.store.events(game, [1, 2]) == [b"f1"]


@pytest.mark.parametrize(
    "state",
    [
        *(b"", b" ", b"12 ", b"[]", b"\r\n$-1\r\n", bytes(range(256)), "ü€😀".encode(), b"\0" * 10),
        secrets.token_bytes(100_000),
    ],
    ids=["empty", "space", "like a version", "json", "like the protocol", "any byte", "utf-8", "nul", "100 kB"],
)
def test_any_bytes_are_read_as_they_were_written(store: Store, game: str, state: bytes) -> None:
    store.create(game, state, [state, state], write())
    assert store.read(game) == StoredGame(2, state)
    assert store.commit(game, Commit(2, b"other", [state], write())) is None
    assert store.commit(game, Commit(3, state, [b""], write())) is None
    assert store.commit(game, Commit(3, b"late", [b""], write())) == StoredGame(4, state)
    assert store.read(game) == StoredGame(4, state)
    assert store.events(game, [1, 2, 3, 4]) == [state, state, state, b""]


def test_ten_thousand_events_at_once_are_kept(store: Store, game: str) -> None:
    store.create(game, b"s", [b"e%d" % version for version in range(1, 10_001)], write())
    assert store.events(game, [1, 5_000, 10_000]) == [b"e1", b"e5000", b"e10000"]


def test_games_do_not_touch_each_other(store: Store, game: str) -> None:
    other = game + "x"
    store.create(game, b"one", [b"a"], write())
    store.create(other, b"two", [b"b", b"c"], write())
    store.commit(game, Commit(1, b"three", [b"d"], write()))
    assert (store.read(game), store.read(other)) == (StoredGame(2, b"three"), StoredGame(2, b"two"))
    assert (store.events(game, [1, 2]), store.events(other, [1, 2])) == ([b"a", b"d"], [b"b", b"c"])


def test_of_many_commits_at_one_version_exactly_one_wins_and_no_version_is_missing(store: Store, game: str) -> None:
    thread_count, rounds = 16, 25
    store.create(game, b"1", [b"created"], write())
    together = threading.Barrier(thread_count)

    def play(seat: int) -> list[int]:
        """Commit once at every version; the versions won."""
        won = []
        for version in range(1, rounds + 1):
            together.wait(PATIENCE)
            current = store.commit(
                game, Commit(version, b"%d" % (version + 1), [b"%d by %d" % (version + 1, seat)], write())
            )
            if current is None:
                won.append(version + 1)
            else:
                assert current == StoredGame(version + 1, b"%d" % (version + 1))
        return won

    with ThreadPoolExecutor(thread_count) as pool:
        wins = list(pool.map(play, range(thread_count)))

    winner = {version: seat for seat, won in enumerate(wins) for version in won}
    assert sorted(version for won in wins for version in won) == list(range(2, rounds + 2))
    assert store.read(game) == StoredGame(rounds + 1, b"%d" % (rounds + 1))
    assert store.events(game, range(1, rounds + 3)) == [
        b"created",
        *(b"%d by %d" % (version, winner[version]) for version in range(2, rounds + 2)),
    ]


def test_of_many_creations_of_one_game_exactly_one_succeeds(store: Store, game: str) -> None:
    thread_count = 16
    together = threading.Barrier(thread_count)

    def create(seat: int) -> bool:
        together.wait(PATIENCE)
        with suppress(GameExists):
            store.create(game, b"by %d" % seat, [b"by %d" % seat], write())
            return True
        return False

    with ThreadPoolExecutor(thread_count) as pool:
        made = list(pool.map(create, range(thread_count)))
    assert made.count(True) == 1
    assert store.read(game) == StoredGame(1, b"by %d" % made.index(True))
    assert store.events(game, [1, 2]) == [b"by %d" % made.index(True)]


# ── Repeated writes ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_repeated_creation_is_made_once_and_leaves_a_newer_game_alone(store: Store, game: str) -> None:
    sent = write()
    assert [store.create(game, b"s", [b"e1", b"e2"], sent) for _ in range(2)] == [None, None]
    assert store.read(game) == StoredGame(2, b"s")
    store.commit(game, Commit(2, b"t", [b"e3"], write()))
    assert store.create(game, b"s", [b"e1", b"e2"], sent) is None
    assert store.read(game) == StoredGame(3, b"t")
    assert store.events(game, [1, 2, 3, 4]) == [b"e1", b"e2", b"e3"]


def test_a_repeated_commit_is_made_once_and_recognised_in_a_newer_game(store: Store, game: str) -> None:
    store.create(game, b"s", [b"e1"], write())
    sent = write()
    assert [store.commit(game, Commit(1, b"t", [b"e2", b"e3"], sent)) for _ in range(3)] == [None, None, None]
    assert store.read(game) == StoredGame(3, b"t")
    store.commit(game, Commit(3, b"u", [b"e4"], write()))
    store.commit(game, Commit(4, b"v", [b"e5", b"e6"], write()))
    assert store.commit(game, Commit(1, b"t", [b"e2", b"e3"], sent)) is None
    assert store.read(game) == StoredGame(6, b"v")
    assert store.events(game, range(1, 9)) == [b"e1", b"e2", b"e3", b"e4", b"e5", b"e6"]


def test_another_write_is_not_mistaken_for_this_one(store: Store, game: str) -> None:
    first = write()
    store.create(game, b"s", [b"e1"], first)
    store.commit(game, Commit(1, b"t", [b"e2"], write()))
    assert store.commit(game, Commit(1, b"t", [b"e2"], write())) == StoredGame(2, b"t")
    assert store.commit(game, Commit(1, b"t", [b"e2"], first)) == StoredGame(2, b"t")
    with pytest.raises(GameExists):
        store.create(game, b"s", [b"e1"], write())


# ── Idempotency records ──────────────────────────────────────────────────────────────────────────────────────────────


def test_an_idempotency_record_leads_to_its_write(store: Store, game: str) -> None:
    assert store.find_write(game, "key") is None
    first, second = write(IdempotencyRecord("seed", b"request 0")), write(IdempotencyRecord("key", b"request 1"))
    store.create(game, b"s", [b"e1"], first)
    store.commit(game, Commit(1, b"t", [b"e2", b"e3"], second))
    store.commit(game, Commit(3, b"u", [b"e4"], write()))
    assert store.find_write(game, "seed") == PriorWrite(1, b"request 0", first.id)
    assert store.find_write(game, "key") == PriorWrite(3, b"request 1", second.id)
    assert store.find_write(game, "other") is None
    assert store.find_write(game + "x", "key") is None


def test_another_write_under_the_same_key_returns_the_first(store: Store, game: str) -> None:
    first, sent = write(IdempotencyRecord("seed", b"request 0")), write(IdempotencyRecord("key", b"request"))
    store.create(game, b"s", [b"e1"], first)
    store.commit(game, Commit(1, b"t", [b"e2"], sent))
    assert store.create(game, b"wrong", [b"wrong"], write(IdempotencyRecord("seed", b"wrong"))) == PriorWrite(
        1, b"request 0", first.id
    )
    for expected in (1, 2):
        assert store.commit(
            game, Commit(expected, b"wrong", [b"wrong"], write(IdempotencyRecord("key", b"wrong")))
        ) == PriorWrite(2, b"request", sent.id)
    assert store.commit(game, Commit(1, b"t", [b"e2"], sent)) is None
    assert store.read(game) == StoredGame(2, b"t")
    assert store.events(game, [1, 2, 3]) == [b"e1", b"e2"]


def test_a_write_that_was_not_made_leaves_no_record(store: Store, game: str) -> None:
    store.create(game, b"s", [b"e1"], write())
    late = write(IdempotencyRecord("key", b"request"))
    assert store.commit(game, Commit(7, b"wrong", [b"wrong"], late)) == StoredGame(1, b"s")
    assert store.find_write(game, "key") is None
    assert store.commit(game, Commit(1, b"t", [b"e2"], late)) is None


def test_the_first_value_under_a_name_is_reserved(store: Store, game: str) -> None:
    assert store.reserve(game, "first") == "first"
    assert store.reserve(game, "second") == "first"
    assert store.reserve(game + "x", "second") == "second"


def test_an_event_range_starts_after_a_version_and_is_no_longer_than_requested(store: Store, game: str) -> None:
    assert store.event_range(game, 0, 10) is None
    store.create(game, b"s", [b"e1", b"e2"], write())
    store.commit(game, Commit(2, b"t", [b"e3", b"e4"], write()))
    assert store.event_range(game, 0, 3) == EventRange(1, (b"e1", b"e2", b"e3"), 4)
    assert store.event_range(game, 2, 10) == EventRange(3, (b"e3", b"e4"), 4)
    beyond_the_end = store.event_range(game, 4, 10)
    assert beyond_the_end is not None
    assert (beyond_the_end.events, beyond_the_end.version) == ((), 4)


def test_a_check_answers(store: Store) -> None:
    store.check()


# ── Compaction ───────────────────────────────────────────────────────────────────────────────────────────────────────


def create_usual(store: Store, game: str, *sizes: int) -> list[WriteRequest]:
    """Create a game with a write of each of these numbers of events; returns the writes."""
    writes = [write() for _ in sizes]
    store.create(game, b"1", usual(1, sizes[0]), writes[0])
    version = sizes[0]
    for number, (size, each) in enumerate(zip(sizes[1:], writes[1:], strict=True), 2):
        assert store.commit(game, Commit(version, b"%d" % number, usual(version + 1, version + size), each)) is None
        version += size
    return writes


def every_read(store: Store, game: str) -> list[object]:
    """The result of every read of a game, after every version and with several limits."""
    stored = store.read(game)
    assert stored is not None
    beyond = stored.version + 3
    ranges = [store.event_range(game, after, limit) for after in range(-2, beyond) for limit in (1, 2, 5, 1000)]
    alone = [store.events(game, [version]) for version in range(-2, beyond)]
    return [stored, ranges, alone, store.events(game, [*range(beyond, -2, -1), *range(-2, beyond)])]


@pytest.mark.parametrize("sizes", [(1,), (2,), (1, 1), (2, 1), (2, 3), (2, 1, 1, 2, 1), (2, 1, 4, 1, 3)], ids=str)
def test_every_read_returns_the_same_after_compaction(harness: Harness, game: str, sizes: tuple[int, ...]) -> None:
    create_usual(harness.store, game, *sizes)
    harness.age(game, 1000)
    before, expiries = every_read(harness.store, game), harness.expiries(game)
    for _ in range(2):
        harness.store.compact(game)
        assert every_read(harness.store, game) == before
    assert harness.expiries(game) == expiries


def test_a_compacted_game_goes_on_and_is_compacted_again(store: Store, game: str) -> None:
    create_usual(store, game, 2, 1, 2)
    version = 5
    for _ in range(3):
        store.compact(game)
        assert store.commit(game, Commit(version, b"more", usual(version + 1, version + 2), write())) is None
        version += 2
        assert store.event_range(game, 0, 100) == EventRange(1, tuple(usual(1, version)), version)
        assert store.events(game, range(version, 0, -1)) == usual(1, version)[::-1]
    before = every_read(store, game)
    store.compact(game)
    assert every_read(store, game) == before


def test_a_game_that_is_gone_and_unusual_events_are_left_as_they_are(harness: Harness, game: str) -> None:
    store, sent = harness.store, write()
    store.compact(game)
    assert store.read(game) is None
    store.create(game, b"s", [b"e1"], write())
    store.commit(game, Commit(1, b"t", [b"e2"], sent))
    store.commit(game, Commit(2, b"u", [b"e3"], write()))
    before = every_read(store, game)
    store.compact(game)
    assert every_read(store, game) == before
    assert store.commit(game, Commit(1, b"t", [b"e2"], sent), again=True) is None
    harness.age(game, TTL + 1)
    store.compact(game)
    assert store.read(game) is None


def test_a_repeated_write_with_compacted_events_has_an_unknown_outcome(store: Store, game: str) -> None:
    _, second, _, last = create_usual(store, game, 2, 1, 2, 2)
    store.compact(game)
    before = every_read(store, game)
    for sent in (second, write()):
        for expected in (0, 1, 2, 3, 4):
            with pytest.raises(OutcomeUnknown):
                store.commit(game, Commit(expected, b"wrong", [b"wrong"], sent), again=True)
            assert store.commit(game, Commit(expected, b"wrong", [b"wrong"], sent)) == StoredGame(7, b"4"), (
                "it is a first attempt"
            )
    assert store.commit(game, Commit(5, b"4", usual(6, 7), last), again=True) is None
    for expected in (5, 6, 8, 100):
        assert store.commit(game, Commit(expected, b"wrong", [b"wrong"], second), again=True) == StoredGame(7, b"4")
    assert every_read(store, game) == before
    assert store.commit(game, Commit(7, b"5", usual(8, 8), second), again=True) is None


def test_a_repeated_write_with_uncompacted_events_is_recognised(store: Store, game: str) -> None:
    _, second, _ = create_usual(store, game, 1, 1, 1)
    assert store.commit(game, Commit(1, b"2", usual(2, 2), second), again=True) is None
    for expected in (0, 1, 2):
        assert store.commit(game, Commit(expected, b"wrong", [b"wrong"], write()), again=True) == StoredGame(3, b"3")


def test_a_compacted_write_is_recognised_by_its_idempotency_record(store: Store, game: str) -> None:
    sent = write(IdempotencyRecord("key", b"request"))
    first = write(IdempotencyRecord("seed", b"request 0"))
    store.create(game, b"1", usual(1, 2), first)
    store.commit(game, Commit(2, b"2", usual(3, 3), sent))
    store.commit(game, Commit(3, b"3", usual(4, 4), write()))
    store.compact(game)
    assert store.commit(game, Commit(2, b"2", usual(3, 3), sent), again=True) is None
    assert store.commit(
        game, Commit(2, b"2", usual(3, 3), write(IdempotencyRecord("key", b"wrong"))), again=True
    ) == PriorWrite(3, b"request", sent.id)
    never_made = write(IdempotencyRecord("another key", b"request"))
    assert store.commit(game, Commit(2, b"wrong", [b"wrong"], never_made), again=True) == StoredGame(4, b"3")
    assert store.find_write(game, "key") == PriorWrite(3, b"request", sent.id)
    assert store.create(game, b"1", usual(1, 2), write(IdempotencyRecord("seed", b"wrong"))) == PriorWrite(
        2, b"request 0", first.id
    )


def test_a_repeated_creation_of_a_compacted_game_finds_that_it_exists(store: Store, game: str) -> None:
    first, *_ = create_usual(store, game, 2, 1)
    assert store.create(game, b"1", usual(1, 2), first) is None
    store.compact(game)
    before = every_read(store, game)
    with pytest.raises(GameExists):
        store.create(game, b"1", usual(1, 2), first)
    assert every_read(store, game) == before


def test_reads_and_writes_during_compaction_see_all_events(store: Store, game: str) -> None:
    """With a writer, readers and compactors at the same time; each write has one or two events."""
    rounds = 60
    create_usual(store, game, 2)
    together = threading.Barrier(5)

    def write_on() -> int:
        version = 2
        for number in range(rounds):
            together.wait(PATIENCE)
            more = usual(version + 1, version + 1 + number % 2)
            assert store.commit(game, Commit(version, b"s", more, write())) is None
            version += len(more)
        return version

    def read_some() -> None:
        for number in range(rounds):
            together.wait(PATIENCE)
            for after in (0, 1, number, 2 * number):
                event_range = store.event_range(game, after, 7)
                assert event_range is not None
                assert event_range.first == min(after, event_range.version) + 1
                assert list(event_range.events) == usual(after + 1, min(after + 7, event_range.version))
                requested = [version for version in (after, 1, after + 2) if 1 <= version <= event_range.version]
                assert store.events(game, requested) == [
                    each for version in requested for each in usual(version, version)
                ]

    def compact_on() -> None:
        for _ in range(rounds):
            together.wait(PATIENCE)
            store.compact(game)

    with ThreadPoolExecutor(5) as pool:
        written = pool.submit(write_on)
        others = [pool.submit(work) for work in (read_some, read_some, compact_on, compact_on)]
        for each in others:
            each.result()
        version = written.result()
    store.compact(game)
    assert store.event_range(game, 0, 1000) == EventRange(1, tuple(usual(1, version)), version)
