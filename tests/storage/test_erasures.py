"""The people of applications who are to be erased, as they are kept in Redis and in a Cluster."""

from __future__ import annotations

import secrets
from typing import NamedTuple

import pytest

from service.backends import store as redis_backends
from service.backends.store import RedisErasures
from service.backends.values import Erasure
from service.games.reminders import LeasedReminder
from service.games.store.reminder_queue import RedisReminders
from service.redis.shards import with_shard
from service.redis.topology import Topology
from tests.support.stores.redis_stores import redis_calls, redis_reminders

pytestmark = pytest.mark.gate

LEASE = 20_000


class Kept(NamedTuple):
    """The erasures of an application, and the queue in which it is due."""

    app: str
    erasures: RedisErasures
    queue: RedisReminders

    def refs(self) -> list[str]:
        return [each.ref for each in self.erasures.pending(self.app)]

    def take(self) -> list[LeasedReminder]:
        return [each for each in self.queue.take("erasures", 1000, LEASE) if each.game == self.app]


@pytest.fixture
def kept(topology: Topology) -> Kept:
    app = with_shard(secrets.token_urlsafe(16))
    return Kept(app, RedisErasures(redis_calls(topology)), redis_reminders(topology))


def test_whoever_is_to_be_erased_is_known_until_it_is_done(kept: Kept) -> None:
    app, erasures, _ = kept
    assert kept.refs() == []
    for ref in ("anna", "ben/名前"):
        assert erasures.request(app, ref)
        assert erasures.is_pending(app, ref)
    assert sorted(kept.refs()) == ["anna", "ben/名前"]
    assert not erasures.is_pending(app, "cleo")
    assert not erasures.is_pending(with_shard(secrets.token_urlsafe(16)), "anna")
    for _ in range(2):
        for each in erasures.pending(app):
            erasures.done(app, each)
        assert kept.refs() == []


def test_what_was_asked_for_again_is_not_done(kept: Kept) -> None:
    app, erasures, _ = kept
    erasures.request(app, "anna")
    (first,) = erasures.pending(app)
    erasures.request(app, "anna")
    (again,) = erasures.pending(app)
    assert again.at > first.at
    erasures.done(app, first)
    assert erasures.pending(app) == [again]
    erasures.done(app, Erasure("ben", again.at))
    assert erasures.pending(app) == [again]
    erasures.done(app, again)
    assert kept.refs() == []


def test_a_request_makes_the_application_due_at_once(kept: Kept) -> None:
    assert kept.take() == []
    kept.erasures.request(kept.app, "anna")
    (taken,) = kept.take()
    assert kept.take() == []
    assert kept.queue.reschedule("erasures", [(taken, None)])
    assert not kept.queue.is_set("erasures", kept.app, "")


@pytest.mark.parametrize("ref", ["anna", "ben"])
def test_a_request_during_a_lease_makes_it_due_again_so_that_its_end_forgets_nothing(kept: Kept, ref: str) -> None:
    kept.erasures.request(kept.app, "anna")
    (taken,) = kept.take()
    kept.erasures.request(kept.app, ref)
    assert not kept.queue.reschedule("erasures", [(taken, None)])
    assert [each.game for each in kept.take()] == [kept.app]


def test_there_may_be_only_so_many_but_each_may_be_asked_for_again(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_backends, "MAX_ERASURES", 3)
    app, erasures, _ = kept
    assert [erasures.request(app, ref) for ref in "abcd"] == [True, True, True, False]
    assert sorted(kept.refs()) == ["a", "b", "c"]
    assert erasures.request(app, "a")
    erasures.done(app, erasures.pending(app)[0])
    assert erasures.request(app, "d")
