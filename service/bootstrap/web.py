"""Build the application that a worker of the web server runs.

Owns its parts, the settings that limit them, the functions that yield to other requests, and the thresholds of garbage
collection. Does not depend on the endpoints.
"""

from __future__ import annotations

import gc
import logging
import os
import socket
import time
from collections.abc import Callable
from functools import partial
from threading import Thread
from typing import Any, Final

from flask import Flask

from service.backends.facade import BackendsFacade
from service.backends.index.feed import Feeds
from service.backends.index.listing import Listing, People
from service.backends.index.store import RedisFeed
from service.backends.keys import Backends
from service.backends.webhooks.endpoints import Webhooks
from service.bootstrap.secret_file import server_secrets
from service.bootstrap.storage import Storage, build_repository, build_sender, open_storage
from service.config import Settings
from service.games.commands.validation import BotsAlone
from service.games.facade import GamesFacade
from service.games.ports import EventFeed, Runtime
from service.games.store.idempotency import Idempotency
from service.games.store.notifications import RedisEventFeed
from service.json_logging import configure_logging
from service.learning.queries import Learning
from service.limits.windows import SharedCounts
from service.metrics import Metrics, StoreGauges
from service.redis.topology import Topology
from service.web.app import Application, create_app
from service.web.http.streams import StreamLimits, Streams
from service.web.quotas import EVENTS_PER_READ, limit_reads
from service.web.rate_limits import Limits, RateLimits

# Applications (backends) and their webhooks.


def build_backends(
    settings: Settings, storage: Storage, notifications: EventFeed, idempotency: Idempotency
) -> BackendsFacade:
    """Return the applications in this storage; ``notifications`` reports new items of a feed.

    Keys and secrets that a request with an idempotency key creates are derived from the secrets of ``idempotency``.
    """
    clock = storage.clock
    return BackendsFacade(
        Backends(storage.backends, clock=clock, random_bytes=os.urandom, idempotency=idempotency),
        Webhooks(
            storage.webhooks,
            check_url=build_sender(settings).check,
            clock=clock,
            random_bytes=os.urandom,
            idempotency=idempotency,
        ),
        Listing(storage.game_index, storage.lobby, allowance=storage.reminders.heartbeats.allowance),
        Feeds(RedisFeed(storage.calls), notifications, clock),
        people=People(storage.game_index, storage.erasures),
        needed_for_games=settings.games == "apps",
        shares=storage.shares,
    )


# Background work, yielding, and detection of disconnects. In gunicorn's worker, threads are greenlets.


YIELD_SECONDS = 1e-9
"""The shortest sleep for which gevent polls its sockets; as in ``server.gunicorn_worker``, which cannot be imported."""
_READABLE: Final = 1  # the event mask of libev


def run_in_background(work: Callable[[], None]) -> None:
    """Run background work in a thread, with gevent a greenlet that starts after the current request.

    A process that stops does not wait for it.
    """
    Thread(target=work, daemon=True).start()


def yield_control() -> None:
    """Let the other requests of this worker run: with gevent, a sleep yields to the event loop.

    A sleep of zero seconds would run the greenlets that are ready, but not poll sockets.
    """
    time.sleep(YIELD_SECONDS)


def watch_disconnect(connection: Any, notify: Callable[[], None]) -> Callable[[], None]:
    """Call ``notify`` when a client disconnects, or closes its sending direction.

    ``connection`` is the socket of gunicorn's worker. Returns a function that stops watching; call it before the
    connection is closed. Nothing is read from the connection: watching ends when the client sends data, such as its
    next request.
    """
    if connection is None:  # not gunicorn's worker
        return lambda: None
    from gevent import get_hub, spawn  # noqa: PLC0415 # the worker's event loop; nothing else needs gevent

    watcher = get_hub().loop.io(connection.fileno(), _READABLE)

    def on_readable() -> None:
        watcher.stop()
        spawn(check)

    def check() -> None:
        try:
            disconnected = not connection.recv(1, socket.MSG_PEEK)
        except OSError:
            disconnected = True
        if disconnected:
            notify()

    def stop() -> None:
        watcher.stop()
        watcher.close()

    watcher.start(on_readable)
    return stop


_YOUNG_THRESHOLD: Final = 5_000
"""Net allocations between two collections of the youngest generation; a collection takes one or two milliseconds.

Ordinary requests leave no reference cycles: reference counting frees their objects, and most remaining objects are
cached games. Only requests to unknown addresses and unexpected errors leave cycles.
"""


def create() -> Flask:
    """Return the application of gunicorn's worker, for the settings in the environment. Raises ``InvalidSettings``."""
    app = build_app(Settings.from_environ(os.environ))
    # Exclude permanent objects from collections: a full collection would pause all requests of the worker.
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_THRESHOLD, 50, 20)
    return app


def build_app(settings: Settings) -> Flask:
    """Return the application for the settings. Raises ``ValueError`` without a ``REDIS_URL``."""
    configure_logging(settings.log_level, settings.log_format)
    metrics = Metrics()
    storage = open_storage(settings, metrics)
    _start_clock(storage)
    limits = build_limits(settings, storage.topology)
    notifications = RedisEventFeed(storage.topology)
    idempotency = Idempotency(server_secrets(settings.secret_key, settings.data_dir))
    runtime = Runtime(storage.clock, os.urandom, yield_control, run_in_background)
    admit_read = partial(limit_reads, limits, per_read=EVENTS_PER_READ)
    repository = build_repository(settings, storage, metrics.write_committed, runtime=runtime, admit_read=admit_read)
    bots_alone = BotsAlone(storage.games_of_bots, repository, storage.clock, settings.max_games_of_bots)
    games = GamesFacade(
        repository, notifications, storage.reminders, runtime, idempotency=idempotency, bots_alone=bots_alone
    )
    learning = Learning(repository, storage.learning)
    backends = build_backends(settings, storage, notifications, idempotency)
    app = create_app(
        games,
        learning,
        backends,
        limits,
        streams=build_streams(settings, metrics),
        metrics=metrics,
        yield_control=yield_control,
        proxies=settings.trusted_proxies,
        metrics_port=settings.metrics_port,
        addresses=settings.public_url,
    )
    _follow_deletions(storage, app, backends)
    _start_threads(storage, metrics)
    metrics.show_store(StoreGauges(storage.stats.read, games.check_store))
    return app


def _start_clock(storage: Storage) -> None:
    """Log warnings about durability, and start measuring the clock of the store."""
    for warning in storage.topology.durability_warnings():
        logging.getLogger(__name__).warning(warning)
    storage.clock.start_measurement()


def _follow_deletions(storage: Storage, app: Application, backends: BackendsFacade) -> None:
    """Remove a game from all caches of this process when it is deleted, or a player in it is erased."""
    for forget in (app.services.forget, backends.listing.forget):
        storage.deleted.on_deletion(forget)
    for forget in (app.services.drop_cached, backends.listing.forget):
        storage.deleted.on_erasure(forget)


def _start_threads(storage: Storage, metrics: Metrics) -> None:
    """Start the background threads of a worker."""
    Thread(target=storage.shares.keep_refreshing, name="memory of the store", daemon=True).start()
    Thread(target=storage.deleted.keep_polling, name="deleted games", daemon=True).start()
    beat = partial(storage.reminders.heartbeats.keep_beating, metrics.outage_allowance.set)
    Thread(target=beat, name="heartbeats", daemon=True).start()


def build_streams(settings: Settings, metrics: Metrics) -> Streams:
    """Return the streams of a worker, with the limits of the settings."""
    metrics.streams_limit.set(settings.max_streams)
    limits = StreamLimits(
        settings.max_streams, settings.max_streams_per_address or None, settings.max_streams_per_game or None
    )
    return Streams(limits, metrics.streams, watch_disconnect)


def build_limits(settings: Settings, topology: Topology) -> RateLimits:
    """Return the rate limits of the settings, counted in Redis."""
    limits = Limits(
        create=settings.creates_per_minute,
        failure=settings.token_failures_per_minute,
        read=settings.reads_per_minute,
        seat=settings.seat_requests_per_minute,
        token=settings.token_changes_per_hour,
        app=settings.app_requests_per_minute,
        app_games=settings.app_games_per_minute,
    )
    return RateLimits(SharedCounts(topology), limits, workers=settings.workers)
