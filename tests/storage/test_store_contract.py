"""What every store promises, asked of Redis and of its twin in memory."""

from __future__ import annotations

import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import pytest

from service.games.ports import (
    EventRange,
    GameExists,
    IdempotencyRecord,
    OutcomeUnknown,
    PriorWrite,
    Store,
    StoredGame,
    WriteRequest,
)
from service.storage import keys
from service.storage.memory_store import MemoryStore
from service.storage.redis_store import RedisStore
from service.storage.topology import SingleNodeTopology, Topology
from tests.storage.conftest import TTL
from tests.storage.write_requests import usual, write


class Bench(Protocol):
    """A store, and what a test must do behind its back."""

    store: Store

    def seconds_left(self, game: str) -> set[int]:
        """How long the game is still kept, in whole seconds: one number if all of it ends at once."""

    def ends(self, game: str) -> set[float]:
        """When the game is forgotten, by the clock of the store: one time if all of it ends at once."""

    def age(self, game: str, seconds: int) -> None:
        """Let so many seconds of the game's life pass."""


class MemoryBench:
    def __init__(self) -> None:
        self.time = 1000.0
        self.memory = MemoryStore(TTL, lambda: self.time)
        self.store: Store = self.memory

    def seconds_left(self, game: str) -> set[int]:
        return {round(end - self.time) for end in self.ends(game)}

    def ends(self, game: str) -> set[float]:
        return {self.memory._games[game].expires}

    def age(self, game: str, seconds: int) -> None:
        self.time += seconds


class RedisBench:
    def __init__(self, nodes: Topology) -> None:
        self.store: Store = RedisStore(nodes, TTL)
        self._nodes = nodes

    def seconds_left(self, game: str) -> set[int]:
        ((seconds, micros),) = self._nodes.call(keys.state(game), (b"TIME",))
        return {round((end - int(seconds) * 1000 - int(micros) / 1000) / 1000) for end in self.ends(game)}

    def ends(self, game: str) -> set[float]:
        return {self._end(key) for key in (keys.state(game), keys.events(game))}

    def age(self, game: str, seconds: int) -> None:
        for key in (keys.state(game), keys.events(game)):
            self._nodes.call(key, (b"PEXPIREAT", key, self._end(key) - seconds * 1000))

    def _end(self, key: bytes) -> int:
        """When the key ends, in milliseconds of the server's clock."""
        (end,) = self._nodes.call(key, (b"PEXPIRETIME", key))
        return int(end)


@pytest.fixture(params=["memory", "redis", "cluster"])
def bench(request: pytest.FixtureRequest) -> Bench:
    if request.param == "memory":
        return MemoryBench()
    if request.param == "redis":
        return RedisBench(SingleNodeTopology(request.getfixturevalue("shared_client")))
    return RedisBench(request.getfixturevalue("cluster_nodes"))


@pytest.fixture
def store(bench: Bench) -> Store:
    return bench.store


@pytest.fixture
def game() -> str:
    return secrets.token_urlsafe(16)


def test_a_game_is_read_as_it_was_created(store: Store, game: str) -> None:
    store.create(game, b"the state", [b"created", b"dealt"], write())
    assert store.read(game) == StoredGame(2, b"the state")


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
    assert store.read(game) == StoredGame(1, b"first")
    assert store.events(game, [1, 2]) == [b"a"]


def test_a_commit_moves_the_game_on_by_the_number_of_its_events(store: Store, game: str) -> None:
    store.create(game, b"one", [b"created"], write())
    assert store.commit(game, 1, b"four", [b"played", b"round ended", b"finished"], write()) is None
    assert store.read(game) == StoredGame(4, b"four")
    assert store.events(game, [1, 2, 3, 4]) == [b"created", b"played", b"round ended", b"finished"]


@pytest.mark.parametrize("expected", [0, 1, 2, 11, 13, 120, 1_000_000_000_000_000_000])
def test_a_commit_at_another_version_changes_nothing_and_tells_the_truth(
    store: Store, game: str, expected: int
) -> None:
    store.create(game, b"the truth", [b"%d" % number for number in range(1, 13)], write())
    assert store.commit(game, expected, b"a lie", [b"lie"], write()) == StoredGame(12, b"the truth")
    assert store.read(game) == StoredGame(12, b"the truth")
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
    assert bench.store.read(game) == StoredGame(1, b"new")
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
    assert store.read(game) == StoredGame(2, state)
    assert store.commit(game, 2, b"other", [state], write()) is None
    assert store.commit(game, 3, state, [b""], write()) is None
    assert store.commit(game, 3, b"late", [b""], write()) == StoredGame(4, state)
    assert store.read(game) == StoredGame(4, state)
    assert store.events(game, [1, 2, 3, 4]) == [state, state, state, b""]


def test_ten_thousand_events_at_once_are_kept(store: Store, game: str) -> None:
    store.create(game, b"s", [b"e%d" % version for version in range(1, 10_001)], write())
    assert store.events(game, [1, 5_000, 10_000]) == [b"e1", b"e5000", b"e10000"]


def test_games_do_not_touch_each_other(store: Store, game: str) -> None:
    other = game + "x"
    store.create(game, b"one", [b"a"], write())
    store.create(other, b"two", [b"b", b"c"], write())
    store.commit(game, 1, b"three", [b"d"], write())
    assert (store.read(game), store.read(other)) == (StoredGame(2, b"three"), StoredGame(2, b"two"))
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
                assert truth == StoredGame(version + 1, b"%d" % (version + 1))
        return won

    with ThreadPoolExecutor(crowd) as pool:
        wins = list(pool.map(play, range(crowd)))

    winner = {version: seat for seat, won in enumerate(wins) for version in won}
    assert sorted(version for won in wins for version in won) == list(range(2, rounds + 2))
    assert store.read(game) == StoredGame(rounds + 1, b"%d" % (rounds + 1))
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
    assert store.read(game) == StoredGame(1, b"by %d" % made.index(True))
    assert store.events(game, [1, 2]) == [b"by %d" % made.index(True)]


# ── A write that is sent again ───────────────────────────────────────────────────────────────────────────────────────


def test_a_creation_sent_again_is_made_once_and_says_that_it_is_made(store: Store, game: str) -> None:
    sent = write()
    assert [store.create(game, b"s", [b"e1", b"e2"], sent) for _ in range(2)] == [None, None]
    assert store.read(game) == StoredGame(2, b"s")
    assert store.events(game, [1, 2, 3]) == [b"e1", b"e2"]


def test_a_creation_sent_again_leaves_a_game_that_moved_on_alone(store: Store, game: str) -> None:
    sent = write()
    store.create(game, b"s", [b"e1"], sent)
    store.commit(game, 1, b"t", [b"e2"], write())
    assert store.create(game, b"s", [b"e1"], sent) is None
    assert store.read(game) == StoredGame(2, b"t")
    assert store.events(game, [1, 2]) == [b"e1", b"e2"]


def test_a_commit_sent_again_is_made_once_and_says_that_it_is_made(store: Store, game: str) -> None:
    store.create(game, b"s", [b"e1"], write())
    sent = write()
    assert [store.commit(game, 1, b"t", [b"e2", b"e3"], sent) for _ in range(3)] == [None, None, None]
    assert store.read(game) == StoredGame(3, b"t")
    assert store.events(game, [1, 2, 3, 4]) == [b"e1", b"e2", b"e3"]


def test_a_commit_sent_again_is_known_when_the_game_has_moved_on(store: Store, game: str) -> None:
    store.create(game, b"s", [b"e1"], write())
    sent = write()
    store.commit(game, 1, b"t", [b"e2", b"e3"], sent)
    store.commit(game, 3, b"u", [b"e4"], write())
    store.commit(game, 4, b"v", [b"e5", b"e6"], write())
    assert store.commit(game, 1, b"t", [b"e2", b"e3"], sent) is None
    assert store.read(game) == StoredGame(6, b"v")
    assert store.events(game, range(1, 9)) == [b"e1", b"e2", b"e3", b"e4", b"e5", b"e6"]


def test_what_another_write_did_is_not_taken_for_this_one(store: Store, game: str) -> None:
    first = write()
    store.create(game, b"s", [b"e1"], first)
    store.commit(game, 1, b"t", [b"e2"], write())
    assert store.commit(game, 1, b"t", [b"e2"], write()) == StoredGame(2, b"t")
    assert store.commit(game, 1, b"t", [b"e2"], first) == StoredGame(2, b"t")
    with pytest.raises(GameExists):
        store.create(game, b"s", [b"e1"], write())


# ── A write that is made once whoever sends it ───────────────────────────────────────────────────────────────────────


def test_a_record_tells_what_was_made_under_it(store: Store, game: str) -> None:
    assert store.find_write(game, "wish") is None
    store.create(game, b"s", [b"e1"], write(IdempotencyRecord("seed", b"asked 0")))
    store.commit(game, 1, b"t", [b"e2", b"e3"], write(IdempotencyRecord("wish", b"asked 1")))
    store.commit(game, 3, b"u", [b"e4"], write())
    assert store.find_write(game, "seed") == PriorWrite(1, b"asked 0")
    assert store.find_write(game, "wish") == PriorWrite(3, b"asked 1")
    assert store.find_write(game, "other") is None
    assert store.find_write(game + "x", "wish") is None


def test_another_write_under_the_same_record_is_told_what_was_made(store: Store, game: str) -> None:
    sent = write(IdempotencyRecord("wish", b"asked"))
    store.create(game, b"s", [b"e1"], write(IdempotencyRecord("seed", b"asked 0")))
    store.commit(game, 1, b"t", [b"e2"], sent)
    assert store.create(game, b"lie", [b"lie"], write(IdempotencyRecord("seed", b"lie"))) == PriorWrite(1, b"asked 0")
    for expected in (1, 2):
        assert store.commit(game, expected, b"lie", [b"lie"], write(IdempotencyRecord("wish", b"lie"))) == PriorWrite(
            2, b"asked"
        )
    assert store.commit(game, 1, b"t", [b"e2"], sent) is None
    assert store.read(game) == StoredGame(2, b"t")
    assert store.events(game, [1, 2, 3]) == [b"e1", b"e2"]


def test_a_write_that_was_not_made_leaves_no_record(store: Store, game: str) -> None:
    store.create(game, b"s", [b"e1"], write())
    late = write(IdempotencyRecord("wish", b"asked"))
    assert store.commit(game, 7, b"lie", [b"lie"], late) == StoredGame(1, b"s")
    assert store.find_write(game, "wish") is None
    assert store.commit(game, 1, b"t", [b"e2"], late) is None


def test_the_first_value_under_a_name_is_reserved(store: Store, game: str) -> None:
    assert store.reserve(game, "first") == "first"
    assert store.reserve(game, "second") == "first"
    assert store.reserve(game + "x", "second") == "second"


def test_a_passage_begins_behind_a_version_and_is_no_longer_than_asked(store: Store, game: str) -> None:
    assert store.event_range(game, 0, 10) is None
    store.create(game, b"s", [b"e1", b"e2"], write())
    store.commit(game, 2, b"t", [b"e3", b"e4"], write())
    assert store.event_range(game, 0, 3) == EventRange(1, (b"e1", b"e2", b"e3"), 4)
    assert store.event_range(game, 2, 10) == EventRange(3, (b"e3", b"e4"), 4)
    behind = store.event_range(game, 4, 10)
    assert behind is not None
    assert (behind.events, behind.version) == ((), 4)


def test_a_check_answers(store: Store) -> None:
    store.check()


# ── Events in little room ────────────────────────────────────────────────────────────────────────────────────────────


def keep_usual(store: Store, game: str, *sizes: int) -> list[WriteRequest]:
    """Keep a game of so many writes with so many events each; its writes."""
    writes = [write() for _ in sizes]
    store.create(game, b"1", usual(1, sizes[0]), writes[0])
    version = sizes[0]
    for number, (size, each) in enumerate(zip(sizes[1:], writes[1:], strict=True), 2):
        assert store.commit(game, version, b"%d" % number, usual(version + 1, version + size), each) is None
        version += size
    return writes


def all_that_is_read(store: Store, game: str) -> list[object]:
    """What every read says of a game, from every cursor and of every length."""
    stored = store.read(game)
    assert stored is not None
    beyond = stored.version + 3
    passages = [store.event_range(game, after, limit) for after in range(-2, beyond) for limit in (1, 2, 5, 1000)]
    alone = [store.events(game, [version]) for version in range(-2, beyond)]
    return [stored, passages, alone, store.events(game, [*range(beyond, -2, -1), *range(-2, beyond)])]


@pytest.mark.parametrize("sizes", [(1,), (2,), (1, 1), (2, 1), (2, 3), (2, 1, 1, 2, 1), (2, 1, 4, 1, 3)], ids=str)
def test_whatever_is_read_is_the_same_when_events_are_compacted(
    bench: Bench, game: str, sizes: tuple[int, ...]
) -> None:
    keep_usual(bench.store, game, *sizes)
    bench.age(game, 1000)
    before, ends = all_that_is_read(bench.store, game), bench.ends(game)
    for _ in range(2):
        bench.store.compact(game)
        assert all_that_is_read(bench.store, game) == before
    assert bench.ends(game) == ends


def test_a_compacted_game_goes_on_and_is_compacted_again(store: Store, game: str) -> None:
    keep_usual(store, game, 2, 1, 2)
    version = 5
    for _ in range(3):
        store.compact(game)
        assert store.commit(game, version, b"more", usual(version + 1, version + 2), write()) is None
        version += 2
        assert store.event_range(game, 0, 100) == EventRange(1, tuple(usual(1, version)), version)
        assert store.events(game, range(version, 0, -1)) == usual(1, version)[::-1]
    before = all_that_is_read(store, game)
    store.compact(game)
    assert all_that_is_read(store, game) == before


def test_a_game_that_is_gone_and_unusual_events_are_left_as_they_are(bench: Bench, game: str) -> None:
    store, sent = bench.store, write()
    store.compact(game)
    assert store.read(game) is None
    store.create(game, b"s", [b"e1"], write())
    store.commit(game, 1, b"t", [b"e2"], sent)
    store.commit(game, 2, b"u", [b"e3"], write())
    before = all_that_is_read(store, game)
    store.compact(game)
    assert all_that_is_read(store, game) == before
    assert store.commit(game, 1, b"t", [b"e2"], sent, again=True) is None
    bench.age(game, TTL + 1)
    store.compact(game)
    assert store.read(game) is None


def test_of_a_compacted_write_that_is_sent_again_nobody_can_say_whether_it_is_made(store: Store, game: str) -> None:
    _, second, _, last = keep_usual(store, game, 2, 1, 2, 2)
    store.compact(game)
    before = all_that_is_read(store, game)
    for sent in (second, write()):
        for expected in (0, 1, 2, 3, 4):
            with pytest.raises(OutcomeUnknown):
                store.commit(game, expected, b"lie", [b"lie"], sent, again=True)
            assert store.commit(game, expected, b"lie", [b"lie"], sent) == StoredGame(7, b"4"), (
                "it is sent for the first time"
            )
    assert store.commit(game, 5, b"4", usual(6, 7), last, again=True) is None
    for expected in (5, 6, 8, 100):
        assert store.commit(game, expected, b"lie", [b"lie"], second, again=True) == StoredGame(7, b"4")
    assert all_that_is_read(store, game) == before
    assert store.commit(game, 7, b"5", usual(8, 8), second, again=True) is None


def test_of_an_uncompacted_write_that_is_sent_again_it_is_known_whether_it_is_made(store: Store, game: str) -> None:
    _, second, _ = keep_usual(store, game, 1, 1, 1)
    assert store.commit(game, 1, b"2", usual(2, 2), second, again=True) is None
    for expected in (0, 1, 2):
        assert store.commit(game, expected, b"lie", [b"lie"], write(), again=True) == StoredGame(3, b"3")


def test_a_compacted_write_with_a_record_is_known_by_it(store: Store, game: str) -> None:
    sent = write(IdempotencyRecord("wish", b"asked"))
    store.create(game, b"1", usual(1, 2), write(IdempotencyRecord("seed", b"asked 0")))
    store.commit(game, 2, b"2", usual(3, 3), sent)
    store.commit(game, 3, b"3", usual(4, 4), write())
    store.compact(game)
    assert store.commit(game, 2, b"2", usual(3, 3), sent, again=True) is None
    assert store.commit(game, 2, b"2", usual(3, 3), write(IdempotencyRecord("wish", b"lie")), again=True) == PriorWrite(
        3, b"asked"
    )
    never_made = write(IdempotencyRecord("another wish", b"asked"))
    assert store.commit(game, 2, b"lie", [b"lie"], never_made, again=True) == StoredGame(4, b"3")
    assert store.find_write(game, "wish") == PriorWrite(3, b"asked")
    assert store.create(game, b"1", usual(1, 2), write(IdempotencyRecord("seed", b"lie"))) == PriorWrite(2, b"asked 0")


def test_a_compacted_creation_that_is_sent_again_is_one_of_a_game_that_exists(store: Store, game: str) -> None:
    first, *_ = keep_usual(store, game, 2, 1)
    assert store.create(game, b"1", usual(1, 2), first) is None
    store.compact(game)
    before = all_that_is_read(store, game)
    with pytest.raises(GameExists):
        store.create(game, b"1", usual(1, 2), first)
    assert all_that_is_read(store, game) == before


def test_who_reads_or_writes_while_events_are_compacted_sees_all_of_them(store: Store, game: str) -> None:
    """A writer, readers and compactors at the same time; each write of one or two events."""
    rounds = 60
    keep_usual(store, game, 2)
    together = threading.Barrier(5)

    def write_on() -> int:
        version = 2
        for number in range(rounds):
            together.wait(30)
            more = usual(version + 1, version + 1 + number % 2)
            assert store.commit(game, version, b"s", more, write()) is None
            version += len(more)
        return version

    def read_some() -> None:
        for number in range(rounds):
            together.wait(30)
            for after in (0, 1, number, 2 * number):
                passage = store.event_range(game, after, 7)
                assert passage is not None
                assert passage.first == min(after, passage.version) + 1
                assert list(passage.events) == usual(after + 1, min(after + 7, passage.version))
                asked = [version for version in (after, 1, after + 2) if 1 <= version <= passage.version]
                assert store.events(game, asked) == [each for version in asked for each in usual(version, version)]

    def compact_on() -> None:
        for _ in range(rounds):
            together.wait(30)
            store.compact(game)

    with ThreadPoolExecutor(5) as pool:
        written = pool.submit(write_on)
        others = [pool.submit(work) for work in (read_some, read_some, compact_on, compact_on)]
        for each in others:
            each.result()
        version = written.result()
    store.compact(game)
    assert store.event_range(game, 0, 1000) == EventRange(1, tuple(usual(1, version)), version)
