"""Build the common parts of the processes beside the web server, and of the commands that read all games."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from threading import Thread
from typing import Final

from service.backends.index.reindex import Progress, Reindexer
from service.bootstrap.storage import Storage, lifetimes_of, open_storage
from service.config import Settings
from service.games.automation.deletions import EVERY_GAME
from service.games.ports import sequential_runtime
from service.games.store.admission import StoragePolicy
from service.games.store.repository import GameRepository
from service.games.store.transactions import Committed
from service.metrics import Metrics, StoreGauges
from service.redis.connection import MAX_CONNECTIONS

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


def build_reindexer(settings: Settings, storage: Storage, report: Callable[[Progress], None]) -> Reindexer:
    """Return the object that rebuilds the indexes in this storage; it calls ``report`` with its progress."""
    repository = build_repository(settings, storage, lambda _: None)
    return Reindexer(repository, storage.game_index, storage.reminders, storage.clock, report=report)


def build_repository(settings: Settings, storage: Storage, observe: Callable[[Committed], None]) -> GameRepository:
    """Return the games of this storage for a process that serves no requests, without limits for reading."""
    runtime = sequential_runtime(storage.clock, os.urandom)
    repository = GameRepository(
        storage.store,
        runtime,
        observe=observe,
        admit_read=lambda _: None,
        allowance=storage.reminders.heartbeats.allowance,
        policy=StoragePolicy(lifetimes_of(settings), storage.shares, automatic=True),
    )
    storage.reminders.heartbeats.on_outage(partial(repository.cache.forget, EVERY_GAME))
    return repository
