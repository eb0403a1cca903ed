"""The application that a worker of the web server runs.

Owns what it is made of, and which settings limit it.
"""

from __future__ import annotations

import logging
import os
from functools import partial
from threading import Thread

from flask import Flask

from service.bootstrap.backends import build_backends
from service.bootstrap.greenlets import run_in_background, watch_disconnect, yield_control
from service.bootstrap.storage import Storage, lifetimes_of, open_storage
from service.config import Settings
from service.games.automation.deletions import EVERY_GAME
from service.games.commands.bots_alone import BotsAlone
from service.games.facade import GamesFacade
from service.games.ports import Runtime
from service.games.store.admission import Keeping
from service.games.store.idempotency import Idempotency
from service.games.store.repository import GameRepository
from service.json_logging import configure_logging
from service.storage.pubsub import RedisEventFeed
from service.storage.rate_limits import counters_at
from service.storage.secret_file import load_or_create_secret, read_secret
from service.web.app import Ingress, WebParts, create_app
from service.web.http.streams import StreamLimits, Streams
from service.web.metrics import Metrics
from service.web.quotas import limit_history
from service.web.rate_limits import Limits, RateLimits
from service.web.store_gauges import StoreGauges


def build_app(settings: Settings) -> Flask:
    """Return the application on the Redis of the settings. Raises ``ValueError`` without a ``REDIS_URL``."""
    configure_logging(settings.log_level, settings.log_format)
    metrics = Metrics()
    storage = open_storage(settings, metrics)
    _start_clock(storage)
    limits = build_limits(settings, storage.url)
    notifications = RedisEventFeed(storage.topology)
    secrets = server_secrets(settings)
    runtime = Runtime(storage.clock, os.urandom, yield_control, run_in_background)
    heartbeats = storage.reminders.heartbeats
    admit_read, observe = partial(limit_history, limits), metrics.write_committed
    repository = GameRepository(
        storage.store,
        runtime,
        observe=observe,
        admit_read=admit_read,
        allowance=heartbeats.allowance,
        keeping=Keeping(lifetimes_of(settings), storage.shares),
    )
    heartbeats.on_outage(partial(repository.forget, EVERY_GAME))
    bots_alone = BotsAlone(storage.games_of_bots, repository, storage.clock, settings.max_games_of_bots)
    games = GamesFacade(repository, notifications, storage.reminders, runtime, secrets=secrets, bots_alone=bots_alone)
    backends = build_backends(settings, storage, notifications, Idempotency(secrets))
    app = create_app(
        WebParts(games, backends, limits, build_streams(settings, metrics), metrics, yield_control),
        Ingress(settings.trusted_proxies, settings.metrics_port, settings.public_url),
    )
    for forget in (app.forget, backends.listing.forget):
        storage.deleted.on_deletion(forget)
    for forget in (app.drop_cached, backends.listing.forget):
        storage.deleted.on_erasure(forget)
    _start_threads(storage, metrics)
    metrics.show_store(StoreGauges(storage.figures.read, games.readiness.require))
    return app


def _start_clock(storage: Storage) -> None:
    """Log what may lose games, and begin to follow the clock of the store."""
    for warning in storage.topology.durability_warnings():
        logging.getLogger(__name__).warning(warning)
    storage.clock.start_measurement()


def _start_threads(storage: Storage, metrics: Metrics) -> None:
    """Start what a worker does beside its requests."""
    Thread(target=storage.shares.keep_looking, name="memory of the store", daemon=True).start()
    Thread(target=storage.deleted.keep_polling, name="deleted games", daemon=True).start()
    beat = partial(storage.reminders.heartbeats.keep_beating, metrics.outage_allowance)
    Thread(target=beat, name="heartbeats", daemon=True).start()


def build_streams(settings: Settings, metrics: Metrics) -> Streams:
    """Return the streams of a worker, of which the settings allow so many."""
    metrics.streams_limit.set(settings.max_streams)
    limits = StreamLimits(
        settings.max_streams, settings.max_streams_per_address or None, settings.max_streams_per_game or None
    )
    return Streams(limits, metrics.streams, watch_disconnect)


def build_limits(settings: Settings, url: str) -> RateLimits:
    """Return the rate limits of the settings, counted in the Redis at this address."""
    limits = Limits(
        create=settings.creates_per_minute,
        failure=settings.token_failures_per_minute,
        read=settings.reads_per_minute,
        seat=settings.seat_requests_per_minute,
        token=settings.token_changes_per_hour,
        app=settings.app_requests_per_minute,
        app_games=settings.app_games_per_minute,
    )
    return RateLimits(partial(counters_at, url), limits, workers=settings.workers)


def server_secrets(settings: Settings) -> tuple[bytes, ...]:
    """Return the secrets of the settings, then that of the data folder, which is generated if there are none."""
    if not settings.secret_key:
        return (load_or_create_secret(settings.data_dir),)
    generated = read_secret(settings.data_dir)
    return (*[each.encode() for each in settings.secret_key], *([] if generated is None else [generated]))
