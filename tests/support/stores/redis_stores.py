"""The stores of Redis in tests, unobserved unless a test is about what is observed.

Owns what production passes and few tests are about. Does not depend on the servers.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from service.backends.store import RedisBackends
from service.backends.webhooks.store import RedisWebhooks
from service.games.ports import Store
from service.games.store.redis_store import RedisDeletions, RedisStore
from service.games.store.reminder_queue import RedisReminders
from service.learning.store import RedisLearning
from service.limits.memory import MemoryReserve
from service.redis.calls import NO_LIMIT, FailureObserver, Observer, RedisCalls, observe_nothing
from service.redis.topology import Topology, open_topology
from tests.support.stores.memory_store import MemoryStore


def redis_calls(
    topology: Topology,
    *,
    replicated: bool = False,
    observe: Observer = observe_nothing,
    observe_failure: FailureObserver = observe_nothing,
    slots: AbstractContextManager[object] = NO_LIMIT,
) -> RedisCalls:
    """Calls to the servers of a topology."""
    return RedisCalls(topology, replicated=replicated, observe=observe, observe_failure=observe_failure, slots=slots)


def redis_store(
    topology: Topology,
    ttl_seconds: int,
    *,
    kind: type[RedisStore] = RedisStore,
    replicated: bool = False,
    reserve: MemoryReserve | None = None,
    observe: Observer = observe_nothing,
    observe_failure: FailureObserver = observe_nothing,
) -> RedisStore:
    """The games on the servers of a topology, in a store of this class."""
    calls = redis_calls(topology, replicated=replicated, observe=observe, observe_failure=observe_failure)
    return kind(calls, ttl_seconds, memory_reserve(topology) if reserve is None else reserve)


def topology_of(store: Store) -> Topology:
    """The servers of the games of a store; of games in memory, a server that does not answer."""
    if isinstance(store, MemoryStore):
        return open_topology("redis://127.0.0.1:1")
    topology: Topology = store._calls.topology  # type: ignore[attr-defined] # a ``RedisStore``, or what wraps one
    return topology


def learning_of(store: Store) -> RedisLearning:
    """The hints and reviews beside the games of a store in Redis."""
    return RedisLearning(redis_calls(topology_of(store)))


def redis_reminders(
    topology: Topology, *, observe: Observer = observe_nothing, observe_failure: FailureObserver = observe_nothing
) -> RedisReminders:
    """The reminders on the servers of a topology."""
    return RedisReminders(topology, observe=observe, observe_failure=observe_failure)


def memory_reserve(topology: Topology) -> MemoryReserve:
    """The memory reserve of the servers of a topology."""
    return MemoryReserve(topology, observe_failure=observe_nothing)


def redis_backends(
    topology: Topology,
    *,
    reserve: MemoryReserve | None = None,
) -> RedisBackends:
    """The applications on the servers of a topology."""
    return RedisBackends(redis_calls(topology), memory_reserve(topology) if reserve is None else reserve)


def redis_webhooks(
    topology: Topology, *, replicated: bool = False, reserve: MemoryReserve | None = None
) -> RedisWebhooks:
    """The endpoints on the servers of a topology."""
    endpoints = redis_calls(topology, replicated=replicated)
    return RedisWebhooks(endpoints, redis_calls(topology), memory_reserve(topology) if reserve is None else reserve)


def redis_deletions(topology: Topology) -> RedisDeletions:
    """The deletions noted on the servers of a topology."""
    return RedisDeletions(redis_calls(topology))
