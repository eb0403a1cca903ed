"""Hints and reviews, on one server and on a Cluster."""

from __future__ import annotations

import secrets

import pytest
import redis

from service.games.ports import Commit
from service.games.reminders import ReminderKind
from service.learning.store import RedisLearning
from service.redis import keys
from service.redis.shards import with_shard
from service.redis.topology import SingleNodeTopology, Topology
from tests.storage.test_deletions import TENANT, TOMBSTONE, Kept, kept_on
from tests.storage.write_requests import usual, write
from tests.support.stores.redis_stores import learning_of, redis_store

pytestmark = pytest.mark.gate


POSITION = b'3 ["Anna"'
LEASE = 20_000


@pytest.fixture
def kept(topology: Topology) -> Kept:
    return kept_on(topology)


@pytest.fixture
def game(kept: Kept) -> str:
    """A game at version 3."""
    game = with_shard(secrets.token_urlsafe(16))
    kept.store.create(game, b'["Anna",1]', usual(1, 3), write(), tenant=TENANT)
    return game


@pytest.fixture
def learning(kept: Kept) -> RedisLearning:
    return learning_of(kept.store)


def go_on(kept: Kept, game: str, expected: int = 3) -> None:
    """The next event."""
    after = b'["Bert",1]' if expected == 3 else b'["Carl",1]'
    assert kept.store.commit(game, Commit(expected, after, usual(expected + 1, expected + 1), write())) is None


def taken(kept: Kept, kind: ReminderKind, game: str) -> int:
    """How many reminders of this game are due, which then are no longer."""
    return sum(each.game == game for each in kept.queue.take(kind, 1000, LEASE))


def test_a_hint_is_asked_for_once_and_kept(kept: Kept, game: str, learning: RedisLearning) -> None:
    assert not learning.is_hint_requested(game, POSITION)
    assert [learning.request_hint(game, TENANT, POSITION) for _ in range(3)] == ["requested", "pending", "pending"]
    assert learning.is_hint_requested(game, POSITION)
    assert taken(kept, "hints", game) == 1
    assert learning.store_hint(game, POSITION, b"a hint")
    assert [learning.request_hint(game, TENANT, POSITION) for _ in range(2)] == [b"a hint", b"a hint"]
    assert not learning.is_hint_requested(game, POSITION)
    assert taken(kept, "hints", game) == 0


def test_a_hint_whose_reminder_was_lost_is_reminded_of_by_who_asks_again(
    kept: Kept, game: str, learning: RedisLearning
) -> None:
    learning.request_hint(game, TENANT, POSITION)
    (lease,) = [each for each in kept.queue.take("hints", 1000, LEASE) if each.game == game]
    kept.queue.reschedule("hints", [(lease, None)])
    assert learning.request_hint(game, TENANT, POSITION) == "pending"
    assert taken(kept, "hints", game) == 1


def test_a_hint_is_for_one_position(kept: Kept, game: str, learning: RedisLearning) -> None:
    learning.request_hint(game, TENANT, POSITION)
    go_on(kept, game)
    assert learning.request_hint(game, TENANT, POSITION) == "moved"
    assert not learning.store_hint(game, POSITION, b"too late")
    assert learning.request_hint(game, TENANT, b'4 ["Bert"') == "requested"
    assert not learning.is_hint_requested(game, POSITION)
    assert learning.store_hint(game, b'4 ["Bert"', b"a hint")
    go_on(kept, game, 4)
    assert learning.request_hint(game, TENANT, b'4 ["Bert"') == "moved"
    assert learning.request_hint(game, TENANT, b'5 ["Carl"') == "requested"


def test_another_history_that_has_reached_the_version_has_another_hint(kept: Kept, game: str) -> None:
    assert learning_of(kept.store).request_hint(game, TENANT, b'3 ["Bert"') == "moved"
    assert learning_of(kept.store).request_hint(with_shard("none"), TENANT, POSITION) == "moved"


def test_a_review_is_begun_once_and_kept(kept: Kept, game: str, learning: RedisLearning) -> None:
    assert learning.review(game, TENANT) is None
    assert taken(kept, "reviews", game) == 0
    assert learning.review(game, TENANT, begin=True) == (b"", False)
    assert learning.review(game, TENANT, begin=True) == (b"", False)
    assert taken(kept, "reviews", game) == 1
    assert learning.store_review(game, b"half", is_complete=False)
    assert learning.review(game, TENANT) == (b"half", False)
    assert learning.store_review(game, b"whole", is_complete=True)
    assert not learning.store_review(game, b"half", is_complete=False)
    assert learning.review(game, TENANT, begin=True) == learning.review(game, TENANT) == (b"whole", True)


def test_a_review_whose_reminder_was_lost_is_reminded_of_by_who_asks_for_it(
    kept: Kept, game: str, learning: RedisLearning
) -> None:
    learning.review(game, TENANT, begin=True)
    (lease,) = [each for each in kept.queue.take("reviews", 1000, LEASE) if each.game == game]
    kept.queue.reschedule("reviews", [(lease, None)])
    learning.review(game, TENANT)
    assert taken(kept, "reviews", game) == 1


def test_nothing_is_kept_that_nobody_asked_for(kept: Kept, game: str) -> None:
    assert not learning_of(kept.store).store_review(game, b"whole", is_complete=True)
    assert learning_of(kept.store).review(with_shard("none"), TENANT, begin=True) is None


def test_a_deletion_removes_both_and_nothing_is_kept_after_it(kept: Kept, game: str, learning: RedisLearning) -> None:
    learning.request_hint(game, TENANT, POSITION)
    learning.review(game, TENANT, begin=True)
    kept.store.delete(game, TOMBSTONE, 1000, TENANT)
    assert (taken(kept, "hints", game), taken(kept, "reviews", game)) == (0, 0)
    assert not learning.store_hint(game, POSITION, b"a hint")
    assert not learning.store_review(game, b"whole", is_complete=True)
    assert learning.review(game, TENANT) is None
    assert learning.review(game, TENANT, begin=True) is None
    assert learning.request_hint(game, TENANT, POSITION) == "moved"


def test_a_deletion_leaves_no_key_of_them(shared_client: redis.Redis) -> None:
    store, game = redis_store(SingleNodeTopology(shared_client), 1000), with_shard(secrets.token_urlsafe(16))
    store.create(game, b'["Anna",1]', usual(1, 3), write(), tenant=TENANT)
    learning = learning_of(store)
    learning.request_hint(game, TENANT, POSITION)
    learning.store_hint(game, POSITION, b"a hint")
    learning.review(game, TENANT, begin=True)
    alone = store.size(game)
    assert shared_client.exists(*keys.learning(game)) == 2
    learning.store_review(game, b"x" * 10_000, is_complete=False)
    assert store.size(game) > alone + 9000
    store.delete(game, TOMBSTONE, 1000, TENANT)
    assert shared_client.exists(*keys.learning(game)) == 0


def test_they_live_as_long_as_their_game(shared_client: redis.Redis) -> None:
    store, game = redis_store(SingleNodeTopology(shared_client), 1000), with_shard(secrets.token_urlsafe(16))
    store.create(game, b'["Anna",1]', usual(1, 3), write()._replace(ttl=100), tenant=TENANT)
    learning = learning_of(store)
    learning.request_hint(game, TENANT, POSITION)
    learning.store_hint(game, POSITION, b"a hint")
    learning.review(game, TENANT, begin=True)
    learning.store_review(game, b"half", is_complete=False)
    for key in keys.learning(game):
        assert 90_000 < shared_client.pttl(key) <= 100_000
    assert store.commit(game, Commit(3, b'["Bert",1]', usual(4, 4), write())) is None
    assert learning.review(game, TENANT) is not None
    assert 990_000 < shared_client.pttl(keys.learning(game)[1]) <= 1_000_000
