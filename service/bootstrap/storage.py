"""Build the stores of a process in Redis, its games, and the sender of requests to URLs of applications.

Owns the list of adapters, and the metrics that observe each. Does not depend on HTTP.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from threading import BoundedSemaphore, Thread
from typing import Final, NamedTuple

from service.backends.index.store import RedisIndex, RedisLobby
from service.backends.store import RedisBackends, RedisErasures
from service.backends.webhooks.store import RedisWebhooks
from service.config import Settings
from service.games.automation.deletions import EVERY_GAME, DeletedGames
from service.games.model.schedule import DAY_MS, Lifetimes
from service.games.ports import Runtime, sequential_runtime
from service.games.store.admission import StoragePolicy
from service.games.store.all_games import RedisStoredGames
from service.games.store.redis_store import RedisDeletions, RedisGamesOfBots, RedisStore
from service.games.store.reminder_queue import RedisReminders
from service.games.store.repository import GameRepository
from service.games.store.stats import RedisStats
from service.games.store.transactions import Committed
from service.learning.store import RedisLearning
from service.limits.memory import MemoryReserve
from service.limits.stored_bytes import Budgets, RedisShares
from service.metrics import Metrics, StoreGauges
from service.outgoing.sender import Sender
from service.redis.calls import NO_LIMIT, WRITE_FAILURES, RedisCalls, observe_nothing
from service.redis.connection import MAX_CONNECTIONS
from service.redis.server_clock import ServerClock
from service.redis.topology import Topology, open_topology


class Storage(NamedTuple):
    """The stores of a process, and the clock of Redis."""

    topology: Topology
    store: RedisStore
    reminders: RedisReminders
    backends: RedisBackends
    deleted: DeletedGames
    game_index: RedisIndex
    lobby: RedisLobby
    webhooks: RedisWebhooks
    erasures: RedisErasures
    games_of_bots: RedisGamesOfBots
    calls: RedisCalls
    clock: ServerClock
    shares: RedisShares
    stats: RedisStats
    stored_games: RedisStoredGames
    learning: RedisLearning


def open_storage(settings: Settings, metrics: Metrics, max_calls: int | None = None) -> Storage:
    """Return the storage for the settings; ``metrics`` counts its calls.

    ``max_calls`` limits the concurrent calls about games, endpoints and erasures. Calls about reminders and deletions,
    with which a process polls for work, are not limited. Raises ``ValueError`` without a ``REDIS_URL``.
    """
    if settings.redis_url is None:
        raise ValueError("REDIS_URL is required; `python -m service` starts an embedded server")
    topology = open_topology(settings.redis_url, settings.replicas)
    observe, failed, ttl = metrics.redis, metrics.failed_writes(WRITE_FAILURES), settings.game_ttl_seconds
    slots = NO_LIMIT if max_calls is None else BoundedSemaphore(max_calls)
    limited = partial(RedisCalls, topology, observe=observe, slots=slots)
    counted = limited(replicated=settings.replicated, observe_failure=failed)
    calls = limited(replicated=settings.replicated, observe_failure=observe_nothing)
    unlimited = RedisCalls(topology, observe=observe, observe_failure=observe_nothing)
    reserve = MemoryReserve(topology, observe_failure=failed)
    reminders = RedisReminders(topology, observe=observe, observe_failure=failed)
    clock = ServerClock(reminders.server_time, observe=metrics.clock_offset.set)
    budgets = Budgets(settings.stored_mb_per_day, settings.app_stored_mb_per_day)
    return Storage(
        topology=topology,
        store=RedisStore(counted, ttl, reserve),
        reminders=reminders,
        backends=RedisBackends(counted, reserve),
        deleted=DeletedGames(RedisDeletions(unlimited)),
        game_index=RedisIndex(calls, ttl),
        lobby=RedisLobby(limited(observe_failure=observe_nothing)),
        webhooks=RedisWebhooks(counted, limited(observe_failure=failed), reserve),
        erasures=RedisErasures(calls),
        games_of_bots=RedisGamesOfBots(calls, ttl),
        calls=calls,
        clock=clock,
        shares=RedisShares(unlimited, budgets, clock=clock, own_budget=RedisBackends(unlimited, reserve).own_budget),
        stats=RedisStats(unlimited),
        stored_games=RedisStoredGames(unlimited),
        learning=RedisLearning(calls),
    )


def build_repository(
    settings: Settings,
    storage: Storage,
    observe: Callable[[Committed], None],
    *,
    runtime: Runtime | None = None,
    admit_read: Callable[[int], None] | None = None,
) -> GameRepository:
    """Return the games of this storage; the arguments are those of ``GameRepository``.

    Without ``runtime`` and ``admit_read``, for a process that serves no requests: its reads are not limited.
    """
    lifetimes = Lifetimes.at_most(settings.game_ttl_days * DAY_MS, settings.finished_ttl_days * DAY_MS)
    repository = GameRepository(
        storage.store,
        runtime or sequential_runtime(storage.clock, os.urandom),
        observe=observe,
        admit_read=admit_read or (lambda _: None),
        allowance=storage.reminders.heartbeats.allowance,
        policy=StoragePolicy(lifetimes, storage.shares, automatic=runtime is None),
    )
    storage.reminders.heartbeats.on_outage(partial(repository.cache.forget, EVERY_GAME))
    return repository


MAX_CALLS: Final = MAX_CONNECTIONS * 3 // 4
"""The maximum number of concurrent calls of a messenger about games and endpoints; it works on hundreds of them.

The other connections remain free for polling.
"""


def build_worker_parts(
    settings: Settings, metrics: Metrics, max_calls: int | None = None
) -> tuple[Storage, GameRepository]:
    """Return the storage and the games of a process that handles reminders.

    Deadlines are compared with the clock of Redis. ``max_calls`` is that of ``open_storage``. Raises ``ValueError``
    without a ``REDIS_URL``.
    """
    storage = open_storage(settings, metrics, max_calls)
    repository = build_repository(settings, storage, metrics.write_committed)
    Thread(target=storage.shares.keep_refreshing, name="memory of the store", daemon=True).start()
    metrics.show_store(StoreGauges(storage.stats.read, lambda: None))
    storage.deleted.on_deletion(repository.cache.forget)
    storage.deleted.on_erasure(repository.cache.forget)
    return storage, repository


def build_sender(settings: Settings) -> Sender:
    """Return the sender, with the networks and the proxy in the settings."""
    return Sender(
        f"domino-service/{version('domino-service')}", networks=settings.webhook_networks, proxy=settings.webhook_proxy
    )
