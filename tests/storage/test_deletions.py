"""The contract of deletion, tested with Redis, with a Cluster and in memory."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest
import redis
from redis.exceptions import ConnectionError as ConnectionBroken

from service.games.ports import (
    DELETIONS_KEPT_MS,
    Commit,
    Deletions,
    EventNotification,
    EventRange,
    GameExists,
    IdempotencyRecord,
    PriorWrite,
    Store,
    StoredGame,
)
from service.games.reminders import ReminderKind, ReminderQueue, Reminders
from service.redis import keys
from service.redis.connection import Command, NotSent
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.redis.shards import with_shard
from service.redis.topology import SingleNodeTopology, Topology
from tests.storage.conftest import TTL, servers
from tests.storage.write_requests import usual, write
from tests.support.stores.memory_store import MemoryStore
from tests.support.stores.redis_stores import redis_deletions, redis_reminders, redis_store
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.gate

TENANT = "an application"
TOMBSTONE = b'[0,"an application"]'
DUE = 1_000
"""When somebody is to be told of a deletion: long ago."""
ALL: Reminders = {"bots": DUE + 1, "clock": DUE + 2, "outbox": DUE + 3}


class Kept(NamedTuple):
    """A store, and what is read beside it."""

    store: Store
    deletions: Deletions
    queue: ReminderQueue


@pytest.fixture(params=["memory", "redis", "cluster"])
def kept(request: pytest.FixtureRequest) -> Kept:
    if request.param == "memory":
        memory = MemoryStore(TTL)
        return Kept(memory, memory, memory)
    return kept_on(servers(request, request.param))


def kept_on(topology: Topology) -> Kept:
    """A store on the servers of a topology."""
    return Kept(redis_store(topology, TTL), redis_deletions(topology), redis_reminders(topology))


@pytest.fixture
def store(kept: Kept) -> Store:
    return kept.store


@pytest.fixture
def game(store: Store) -> str:
    """A game at version 3 with all reminders."""
    game = with_shard(secrets.token_urlsafe(16))
    store.create(game, b"[1,Anna]", usual(1, 3), write(), reminders=ALL, tenant=TENANT)
    return game


def due(kept: Kept, kind: ReminderKind, game: str) -> list[int]:
    """When the game is due, if it is."""
    return [each.due for each in kept.queue.take(kind, 1000, 20_000) if each.game == game]


def test_a_game_that_never_was_cannot_be_deleted(store: Store) -> None:
    assert store.delete(with_shard(secrets.token_urlsafe(16)), TOMBSTONE, DUE, TENANT) is None


def test_a_game_is_deleted_once_and_is_a_tombstone_at_the_next_version(store: Store, game: str) -> None:
    assert [store.delete(game, TOMBSTONE, DUE, TENANT) for _ in range(3)] == [4, 4, 4]
    assert store.read(game) == StoredGame(4, TOMBSTONE)


def test_an_older_game_without_a_shard_is_deleted_too(kept: Kept) -> None:
    game = secrets.token_urlsafe(16)
    kept.store.create(game, b"a state", [b"created"], write())
    assert kept.store.delete(game, TOMBSTONE, DUE, TENANT) == 2
    assert kept.store.read(game) == StoredGame(2, TOMBSTONE)
    assert kept.store.event_range(game, 0, 10) == EventRange(3, (), 2)


def test_a_deleted_game_has_no_events_and_is_not_compacted(store: Store, game: str) -> None:
    store.delete(game, TOMBSTONE, DUE, TENANT)
    for _ in range(2):
        assert store.events(game, [1, 2, 3, 4]) == []
        for after in range(5):
            assert store.event_range(game, after, 10) == EventRange(5, (), 4)
        store.compact(game)


def test_a_compacted_game_is_deleted_as_any_other(store: Store, game: str) -> None:
    store.commit(game, Commit(3, b"finished", usual(4, 40), write()))
    store.compact(game)
    assert store.delete(game, TOMBSTONE, DUE, TENANT) == 41
    assert store.event_range(game, 0, 10) == EventRange(42, (), 41)


def test_no_write_follows_a_deletion_even_one_whose_answer_was_lost(store: Store, game: str) -> None:
    lost = write()
    assert store.commit(game, Commit(3, b"a state", [b"moved"], lost)) is None
    store.delete(game, TOMBSTONE, DUE, TENANT)
    for version in range(7):
        for request, again in ((write(), False), (write(), True), (lost, True)):
            commit = Commit(version, b"a state", [b"moved"], request, prefix=b"[1")
            assert store.commit(game, commit, again=again) == StoredGame(5, TOMBSTONE)
    assert store.read(game) == StoredGame(5, TOMBSTONE)


def test_a_creation_that_is_repeated_after_the_deletion_creates_nothing(store: Store) -> None:
    game = with_shard(secrets.token_urlsafe(16))
    first = write(IdempotencyRecord("name", b"digest"))
    store.create(game, b"a state", [b"created"], first)
    store.delete(game, TOMBSTONE, DUE, TENANT)
    again = write(IdempotencyRecord("name", b"digest"))
    assert store.create(game, b"a state", [b"created"], again) == PriorWrite(1, b"digest", first.id)
    with pytest.raises(GameExists):
        store.create(game, b"a state", [b"created"], write())
    assert store.read(game) == StoredGame(2, TOMBSTONE)


def test_a_deletion_and_writes_at_the_same_time_leave_the_tombstone(store: Store, game: str) -> None:
    crowd = 8
    barrier = threading.Barrier(crowd + 1)

    def commit(number: int) -> bool:
        barrier.wait(PATIENCE)
        committed = False
        for _ in range(50):
            current = store.read(game)
            assert current is not None
            if current.state == TOMBSTONE:
                break
            state = b"[1,%d]" % number
            answer = store.commit(game, Commit(current.version, state, [b"moved"], write(), prefix=b"[1"))
            committed = committed or answer is None
        return committed

    with ThreadPoolExecutor(crowd) as threads:
        writers = [threads.submit(commit, number) for number in range(crowd)]
        barrier.wait(PATIENCE)
        version = store.delete(game, TOMBSTONE, DUE, TENANT)
        for each in writers:
            each.result(PATIENCE)
    assert version is not None
    assert store.read(game) == StoredGame(version, TOMBSTONE)
    assert store.event_range(game, 0, 10) == EventRange(version + 1, (), version)


def test_a_deletion_removes_the_reminders_and_writes_that_of_the_outbox_once(kept: Kept, game: str) -> None:
    for outbox in ([DUE], []):
        kept.store.delete(game, TOMBSTONE, DUE, TENANT)
        assert due(kept, "outbox", game) == outbox
        for kind in ("bots", "clock", "webhooks"):
            assert due(kept, kind, game) == []


def test_an_erasure_and_a_deletion_are_told_for_a_while(kept: Kept, game: str) -> None:
    def told() -> tuple[int, int]:
        games, erased, complete = kept.deletions.deleted(60_000)
        assert complete
        return list(games).count(game), list(erased).count(game)

    assert told() == (0, 0)
    for _ in range(2):
        kept.deletions.record_erasure(game)
        assert told() == (0, 1)
    kept.store.delete(game, TOMBSTONE, DUE, TENANT)
    assert told() == (1, 1)
    other = with_shard(secrets.token_urlsafe(16))
    kept.store.create(other, b"[1,Anna]", usual(1, 3), write())
    kept.store.delete(other, TOMBSTONE, DUE, TENANT)
    games, erased, _ = kept.deletions.deleted(60_000)
    assert (other in games, other in erased) == (True, False)


def test_only_recent_deletions_are_told(game: str) -> None:
    time = 1_000_000.0
    store = MemoryStore(TTL, lambda: time)
    store.create(game, b"a state", [b"created"], write())
    store.delete(game, TOMBSTONE, DUE, TENANT)
    time += 10
    assert store.deleted(10_000).games == (game,)
    assert store.deleted(9_999).games == ()
    time += 600
    assert store.deleted(10_000_000).games == ()


def test_redis_tells_only_of_recent_deletions(topology: Topology) -> None:
    """The clock of the server cannot be moved, so the time that is stored is."""
    game, deletions = deleted_game(topology), redis_deletions(topology)
    (key,) = [key for key in keys.DELETED if _score(topology, key, game) is not None]
    topology.call(key, (b"ZINCRBY", key, -20_000, game.encode()))
    assert game in deletions.deleted(25_000).games
    assert game not in deletions.deleted(15_000).games
    (left,) = topology.call(key, (b"PTTL", key))
    assert 0 < left <= DELETIONS_KEPT_MS


def deleted_game(topology: Topology) -> str:
    game, store = with_shard(secrets.token_urlsafe(16)), redis_store(topology, TTL)
    store.create(game, b"a state", [b"created"], write())
    store.delete(game, TOMBSTONE, DUE, TENANT)
    return game


def _score(topology: Topology, key: bytes, game: str) -> object:
    (score,) = topology.call(key, (b"ZSCORE", key, game.encode()))
    return score


def test_a_tombstone_expires_when_the_game_would_have(topology: Topology) -> None:
    game, store = with_shard(secrets.token_urlsafe(16)), redis_store(topology, TTL)
    key = keys.state(game)
    store.create(game, b"a state", [b"created"], write())
    topology.call(key, (b"EXPIRE", key, 1234))
    store.delete(game, TOMBSTONE, DUE, TENANT)
    store.delete(game, TOMBSTONE, DUE, TENANT)
    (left,) = topology.call(key, (b"TTL", key))
    assert 1200 < left <= 1234


@pytest.mark.parametrize("deleted", [False, True])
def test_a_repeated_write_leaves_a_game_and_its_tombstone_the_life_that_they_have(
    topology: Topology, *, deleted: bool
) -> None:
    game, store = with_shard(secrets.token_urlsafe(16)), redis_store(topology, TTL)
    key, record, move = keys.state(game), IdempotencyRecord("name", b"digest"), IdempotencyRecord("move", b"digest")
    first, second = write(record), write(move)
    store.create(game, b"a state", [b"created"], first)
    store.commit(game, Commit(1, b"another", [b"played"], second))
    if deleted:
        store.delete(game, TOMBSTONE, DUE, TENANT)
    topology.call(key, (b"EXPIRE", key, 1234))
    (before,) = topology.call(key, (b"GET", key))
    assert store.create(game, b"a state", [b"created"], write(record)) == PriorWrite(1, b"digest", first.id)
    assert store.commit(game, Commit(1, b"another", [b"played"], write(move))) == PriorWrite(2, b"digest", second.id)
    assert store.commit(game, Commit(1, b"another", [b"played"], second)) is None
    assert store.find_write(game, "name") == PriorWrite(1, b"digest", first.id)
    left, after = [topology.call(key, (command, key))[0] for command in (b"TTL", b"GET")]
    assert 1200 < left <= 1234
    assert after == before


def test_whoever_follows_a_game_is_notified_of_a_version_without_events(game: str) -> None:
    store = MemoryStore(TTL)
    store.create(game, b"a state", usual(1, 3), write())
    received: list[EventNotification | None] = []
    store.watch(game, received.append)
    store.delete(game, TOMBSTONE, DUE, TENANT)
    assert received == [EventNotification(4, ())]


class _HalfAway(SingleNodeTopology):
    """A server of which one half does not answer, as if there were two; or none of it."""

    scripts_span_slots = False
    away = 128

    def call_each(self, calls: Sequence[tuple[bytes, Command]]) -> list[object]:
        answers = super().call_each(calls)
        away = NotSent()
        away.__cause__ = ConnectionBroken("refused")
        return [*[away] * self.away, *answers[self.away :]]


def test_what_the_other_servers_tell_is_told_while_one_is_away(shared_client: redis.Redis) -> None:
    # So that the server has the script: else half of the second try would be away, which has the other half alone.
    redis_deletions(SingleNodeTopology(shared_client)).deleted(60_000)
    topology = _HalfAway(shared_client)
    deletions = redis_deletions(topology)
    games = [deleted_game(topology) for _ in range(40)]
    told, _, complete = deletions.deleted(60_000)
    assert not complete
    assert 0 < len(set(told) & set(games)) < len(games)
    topology.away = 256
    with pytest.raises(StorageUnavailable):
        deletions.deleted(60_000)


def test_a_deletion_that_no_replica_confirms_has_an_unknown_outcome(shared_client: redis.Redis) -> None:
    game, topology = with_shard(secrets.token_urlsafe(16)), SingleNodeTopology(shared_client)
    store = redis_store(topology, TTL)
    store.create(game, b"a state", [b"created"], write())
    for _ in range(2):
        with pytest.raises(OutcomeUnknown):
            redis_store(topology, TTL, replicated=True).delete(game, TOMBSTONE, DUE, TENANT)
    assert store.read(game) == StoredGame(2, TOMBSTONE)
