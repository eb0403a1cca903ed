"""The store of applications, on one server and on a Cluster."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
import redis

from service.backends.store import RedisBackends
from service.backends.values import MAX_REPEATS, Backend, KeyRecord, OwnLimits, Repeat, RepeatKnown
from service.games.model.errors import LimitReached
from service.games.ports import IDEMPOTENCY_TTL
from service.redis import keys
from service.redis.shards import with_shard
from service.redis.topology import SingleNodeTopology, Topology
from tests.support.stores.redis_stores import redis_backends

pytestmark = pytest.mark.gate


@pytest.fixture
def store(topology: Topology) -> Iterator[RedisBackends]:
    yield redis_backends(topology)
    topology.call(keys.APPLICATIONS, (b"DEL", keys.APPLICATIONS))


def new_application(created_at: int = 1, **fields: Any) -> Backend:
    app = with_shard(secrets.token_urlsafe(16))
    key = KeyRecord("Ab3dEf", secrets.token_bytes(32), created_at)
    return Backend(app, "A café 🀱", created_at, (key,))._replace(**fields)


def test_an_application_is_read_as_it_was_created_or_replaced(store: RedisBackends) -> None:
    ending = KeyRecord("x", b"\0" * 32, 5, 1_900_000_000_000)
    for application in (new_application(), new_application(keys=()), new_application(keys=(ending, ending))):
        assert store.read(application.id) is None
        store.create(application)
        assert store.read(application.id) == application
    limited = application._replace(limits=OwnLimits(requests=5, stored=0))
    for before, after in ((application, limited), (limited, application)):
        assert store.replace(before, after)
        assert store.read(application.id) == after


def test_all_applications_are_listed_once_the_oldest_first(store: RedisBackends) -> None:
    assert store.all() == []
    applications = [new_application(created_at) for created_at in (3, 1, 2)]
    for each in (*applications, applications[0]):
        store.create(each)
    assert store.all() == [applications[1], applications[2], applications[0]]


def test_an_application_is_replaced_only_as_it_is(store: RedisBackends) -> None:
    first = new_application()
    store.create(first)
    second = first._replace(name="another")
    assert store.replace(first, second)
    assert store.read(first.id) == second
    assert not store.replace(first, first._replace(name="a third"))
    assert not store.replace(first, None)
    assert store.read(first.id) == second


def test_a_request_is_kept_with_what_it_writes_and_written_once(store: RedisBackends) -> None:
    first = new_application()
    store.create(first)
    second, third = first._replace(name="second"), first._replace(name="third")
    rotated = Repeat("rotate", b"f.s", 2000, b'["salt", "a b"]')
    assert not store.replace(second, third, rotated)
    assert store.repeated(first.id, "rotate", 2000) is None
    assert store.replace(first, second, rotated)
    assert store.replace(first, second, rotated)  # the same attempt again
    assert store.repeated(first.id, "rotate", 2000) == rotated
    assert store.repeated(first.id, "other", 2000) is None
    assert store.repeated(new_application().id, "rotate", 2000) is None
    with pytest.raises(RepeatKnown):
        store.replace(second, third, rotated._replace(at=2001))
    assert store.read(first.id) == second
    assert store.replace(second, None)
    assert store.repeated(first.id, "rotate", 2000) == rotated


def test_a_request_is_kept_for_a_day(store: RedisBackends) -> None:
    first = new_application()
    store.create(first)
    second = first._replace(name="second")
    assert store.replace(first, second, Repeat("rotate", b"f", 1000, b"[]"))
    later = 1000 + IDEMPOTENCY_TTL * 1000
    assert store.repeated(first.id, "rotate", later - 1) is not None
    assert store.repeated(first.id, "rotate", later) is None
    again = Repeat("rotate", b"g", later, b"[]")
    assert store.replace(second, first._replace(name="again"), again)
    assert store.repeated(first.id, "rotate", later) == again


def test_so_many_requests_are_kept_at_a_time(store: RedisBackends) -> None:
    application = new_application()
    store.create(application)
    for number in range(MAX_REPEATS):
        after = application._replace(name=str(number))
        assert store.replace(application, after, Repeat(str(number), b"f", 1000 + number, b"[]"))
        application = after
    one_more = application._replace(name="one more")
    with pytest.raises(LimitReached):
        store.replace(application, one_more, Repeat("x", b"f", 2000, b"[]"))
    assert store.read(application.id) == application
    assert store.replace(application, one_more, Repeat("x", b"f", 1000 + IDEMPOTENCY_TTL * 1000, b"[]"))
    assert store.repeated(application.id, "0", 1001) is None
    assert store.repeated(application.id, "1", 1001) is not None


def test_a_replacement_may_be_made_again(store: RedisBackends) -> None:
    first = new_application()
    store.create(first)
    second = first._replace(keys=())
    assert store.replace(first, second)
    assert store.replace(first, second)
    assert store.replace(second, None)
    assert store.replace(second, None)


def test_a_deleted_application_is_neither_found_nor_listed_nor_brought_back(store: RedisBackends) -> None:
    gone, stays = new_application(), new_application()
    for each in (gone, stays):
        store.create(each)
    assert store.replace(gone, None)
    assert not store.replace(gone, gone._replace(keys=()))
    assert store.read(gone.id) is None
    assert store.all() == [stays]


def test_applications_do_not_expire_and_lie_in_the_slot_of_their_shard_or_are_none(shared_client: redis.Redis) -> None:
    store, application = redis_backends(SingleNodeTopology(shared_client)), new_application()
    store.create(application)
    key = keys.part(b"app", application.id)
    assert b"{%b}" % application.id.encode() in key
    assert (shared_client.ttl(key), shared_client.ttl(keys.APPLICATIONS)) == (-1, -1)
    shared_client.delete(key)
    assert store.all() == []
    shared_client.delete(keys.APPLICATIONS)
