"""Puts the service together: the only place that names concrete adapters."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from importlib.metadata import version
from threading import Thread
from typing import Any, Final, NamedTuple

from flask import Flask

from service.backends.facade import ApplicationService
from service.backends.index.feed import Feeds
from service.backends.index.listing import Listing
from service.backends.index.people import People
from service.backends.index.ports import GameIndex, Lobby
from service.backends.index.reindex import Progress, Reindexer
from service.backends.ports import ApplicationStore, ErasureStore
from service.backends.webhooks.endpoints import CheckUrl
from service.backends.webhooks.ports import WebhookStore
from service.config import Network, Settings
from service.games.automation.deletions import DeletedGames
from service.games.automation.due import Automation
from service.games.facade import GameService
from service.games.ports import Clock, RandomBytes, Runtime, sequential_runtime
from service.games.reminders import ReminderQueue
from service.games.store.idempotency import Idempotency
from service.games.store.repository import GameRepository
from service.games.store.transactions import Committed
from service.json_logging import configure_logging
from service.outgoing.addresses import check_url
from service.outgoing.sender import Sender
from service.storage.backends import RedisApplications
from service.storage.capacity_guard import CapacityGuard
from service.storage.deletions import RedisDeletions
from service.storage.erasures import RedisErasures
from service.storage.feed import RedisFeed
from service.storage.games import RedisStore
from service.storage.index import RedisIndex, RedisLobby
from service.storage.pubsub import RedisEventFeed
from service.storage.rate_limits import counters_at
from service.storage.redis.calls import RedisCalls
from service.storage.redis.limited import LimitedTopology
from service.storage.redis.server_clock import ServerClock, system_clock
from service.storage.redis.topology import Topology, open_topology
from service.storage.reminders import RedisReminders
from service.storage.secret_file import load_or_create_secret, read_secret
from service.storage.webhooks import RedisWebhooks
from service.web.app import Ingress, WebParts, create_app
from service.web.http.streams import StreamLimits, Streams
from service.web.metrics import Metrics
from service.web.quotas import limit_history
from service.web.rate_limits import Limits, RateLimits

YIELD_SECONDS = 1e-9
"""The shortest sleep for which gevent polls its sockets. The same as in ``service.server.request_bodies``, which must
not be imported here."""
_READABLE: Final = 1  # the event mask of libev


def build_app(settings: Settings, banned: Sequence[Network] = ()) -> Flask:
    """The application on the Redis of the settings, which refuses clients in ``banned`` networks.

    Raises ``ValueError`` without a ``REDIS_URL``.
    """
    configure_logging(settings.log_level, settings.log_format)
    metrics = Metrics()
    storage = open_storage(settings, metrics)
    for warning in storage.topology.durability_warnings():
        logging.getLogger(__name__).warning(warning)
    storage.clock.start_measurement()
    limits = build_limits(settings, storage.url)
    hints = RedisEventFeed(storage.topology)
    secrets = server_secrets(settings)
    runtime = Runtime(storage.clock, os.urandom, yield_control, run_in_background)
    repository = GameRepository(
        storage.store, runtime, observe=metrics.write_committed, admit_read=partial(limit_history, limits)
    )
    games = GameService(
        repository, hints, storage.reminders, runtime, secrets=secrets, ttl_seconds=settings.game_ttl_seconds
    )
    stream_limits = StreamLimits(
        settings.max_streams, settings.max_streams_per_address or None, settings.max_streams_per_game or None
    )
    streams = Streams(stream_limits, metrics.streams, watch_disconnect=watch_disconnect)
    listing = Listing(storage.game_index, storage.lobby, ttl=settings.game_ttl_seconds * 1000)
    apps = build_apps(
        storage.applications,
        secrets,
        clock=storage.clock,
        open_to_all=settings.apps == "open",
        needed_for_games=settings.games == "apps",
        networks=settings.webhook_networks,
        listing=listing,
        webhooks=storage.webhooks,
        check_endpoint_url=build_sender(settings).check,
        feed=Feeds(RedisFeed(storage.calls), hints, storage.clock),
        people=People(storage.game_index, storage.erasures, ttl=settings.game_ttl_seconds * 1000),
    )
    app = create_app(
        WebParts(games, apps, limits, streams, metrics, yield_control),
        Ingress(settings.trusted_proxies, banned, settings.metrics_port),
    )
    storage.deleted.on_deletion(app.forget)
    storage.deleted.on_deletion(listing.forget)
    storage.deleted.on_erasure(app.drop_cached)
    storage.deleted.on_erasure(listing.forget)
    Thread(target=storage.deleted.keep_polling, name="deleted games", daemon=True).start()
    return app


class Storage(NamedTuple):
    """What a process needs of Redis: games and what is due in them, applications and lists, its clock."""

    url: str
    topology: Topology
    store: RedisStore
    reminders: RedisReminders
    applications: RedisApplications
    deleted: DeletedGames
    game_index: RedisIndex
    lobby: RedisLobby
    webhooks: RedisWebhooks
    erasures: RedisErasures
    calls: RedisCalls
    clock: ServerClock


def open_storage(settings: Settings, metrics: Metrics, most_calls: int | None = None) -> Storage:
    """The storage of the settings, which counts in ``metrics``, with at most so many calls to it under way.

    Raises ``ValueError`` without a ``REDIS_URL``.
    """
    if settings.redis_url is None:
        raise ValueError("REDIS_URL is required; `python -m service` starts an embedded server")
    topology = open_topology(settings.redis_url)
    if most_calls is not None:
        topology = LimitedTopology(topology, most_calls)
    store = RedisStore(
        topology,
        settings.game_ttl_seconds,
        replicated=settings.durability == "replicated",
        guard=CapacityGuard(topology),
        observe=metrics.redis,
        observe_failure=metrics.store_write_failed,
    )
    reminders = RedisReminders(topology, observe=metrics.redis, observe_failure=metrics.store_write_failed)
    applications = RedisApplications(
        topology,
        replicated=settings.durability == "replicated",
        observe=metrics.redis,
        observe_failure=metrics.store_write_failed,
    )
    deleted = DeletedGames(RedisDeletions(topology, observe=metrics.redis))
    calls = RedisCalls(topology, replicated=settings.durability == "replicated", observe=metrics.redis)
    return Storage(
        settings.redis_url,
        topology,
        store,
        reminders,
        applications,
        deleted,
        RedisIndex(calls, settings.game_ttl_seconds),
        RedisLobby(RedisCalls(topology, observe=metrics.redis)),
        RedisWebhooks(
            topology,
            replicated=settings.durability == "replicated",
            observe=metrics.redis,
            observe_failure=metrics.store_write_failed,
        ),
        RedisErasures(calls),
        calls,
        ServerClock(reminders.server_time, observe=metrics.clock_offset),
    )


class WorkerParts(NamedTuple):
    """What the processes beside the web server work with."""

    repository: GameRepository
    automation: Automation
    reminders: ReminderQueue
    deleted: DeletedGames
    game_index: GameIndex
    lobby: Lobby
    webhooks: WebhookStore
    erasures: ErasureStore
    clock: ServerClock


def build_limits(settings: Settings, url: str) -> RateLimits:
    """The rate limits of the settings, counted in the Redis at this address."""
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


def build_worker_parts(settings: Settings, metrics: Metrics, most_calls: int | None = None) -> WorkerParts:
    """The parts of a process that does what is due in games. Raises ``ValueError`` without a ``REDIS_URL``.

    Whether a time is over is judged by the clock of Redis. ``most_calls`` to the storage are under way at a time.
    """
    storage = open_storage(settings, metrics, most_calls)
    repository = build_repository(storage, metrics.write_committed)
    automation = Automation(repository, storage.reminders.judged)
    storage.deleted.on_deletion(repository.forget)
    storage.deleted.on_erasure(repository.forget)
    return WorkerParts(
        repository,
        automation,
        storage.reminders,
        storage.deleted,
        storage.game_index,
        storage.lobby,
        storage.webhooks,
        storage.erasures,
        storage.clock,
    )


def build_reindexer(storage: Storage, report: Callable[[Progress], None]) -> Reindexer:
    """What rebuilds the indexes in this storage."""
    repository = build_repository(storage, lambda _: None)
    return Reindexer(repository, storage.game_index, storage.reminders, storage.clock, report)


def build_repository(storage: Storage, observe: Callable[[Committed], None]) -> GameRepository:
    """The games of this storage for a process that serves no requests, which may read as much as it needs."""
    runtime = sequential_runtime(storage.clock, os.urandom)
    return GameRepository(storage.store, runtime, observe=observe, admit_read=lambda _: None)


def server_secrets(settings: Settings) -> tuple[bytes, ...]:
    """The secrets of the settings, then the one in the data folder, which is generated if there is none at all."""
    if not settings.secret_key:
        return (load_or_create_secret(settings.data_dir),)
    generated = read_secret(settings.data_dir)
    return (*[each.encode() for each in settings.secret_key], *([] if generated is None else [generated]))


def build_apps(
    store: ApplicationStore,
    secrets: Sequence[bytes] = (),
    *,
    clock: Clock = system_clock,
    random_bytes: RandomBytes = os.urandom,
    open_to_all: bool = False,
    needed_for_games: bool = False,
    networks: Collection[Network] = (),
    listing: Listing | None = None,
    webhooks: WebhookStore | None = None,
    check_endpoint_url: CheckUrl = lambda _: None,
    feed: Feeds | None = None,
    people: People | None = None,
) -> ApplicationService:
    """The applications of a store, with the random bytes of the operating system unless others are given.

    Keys and secrets of requests under an idempotency key are derived from the first of the ``secrets``, as tokens are;
    without any, such a request cannot be repeated elsewhere.

    Remote players may be in these ``networks``, though they are not public.
    """
    return ApplicationService(
        store,
        clock=clock,
        random_bytes=random_bytes,
        idempotency=Idempotency(secrets or [os.urandom(32)]),
        open_to_all=open_to_all,
        needed_for_games=needed_for_games,
        check_player_url=partial(check_url, networks=networks),
        listing=listing,
        webhooks=webhooks,
        check_endpoint_url=check_endpoint_url,
        feed=feed,
        people=people,
    )


def build_sender(settings: Settings) -> Sender:
    """What sends requests to addresses that strangers give, as the settings allow."""
    return Sender(
        f"domino-service/{version('domino-service')}",
        networks=settings.webhook_networks,
        proxy=settings.webhook_proxy,
    )


def run_in_background(work: Callable[[], None]) -> None:
    """Run background work in a thread, under gevent a greenlet, after the current request.

    A process does not wait for it when it stops.
    """
    Thread(target=work, daemon=True).start()


def yield_control() -> None:
    """Let the other requests of this worker run: under gevent, a sleep yields to the event loop.

    A sleep of zero seconds would run greenlets that are ready, but not poll the sockets.
    """
    time.sleep(YIELD_SECONDS)


def watch_disconnect(connection: Any, notify: Callable[[], None]) -> Callable[[], None]:
    """Call ``notify`` when the client of a connection of gunicorn's worker disconnects, or ends what it sends.

    Returns a function that stops the watch, to be called before the connection is closed. Nothing is read from the
    connection: a client that has sent more, such as its next request, is no longer watched.
    """
    if connection is None:  # another server
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
