"""The application of the service in a test, which names only what it is about."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Final

from prometheus_client import Gauge

from service.backends.facade import BackendsFacade
from service.backends.index.feed import Feeds
from service.backends.index.listing import Listing, People
from service.backends.index.store import RedisFeed, RedisIndex, RedisLobby
from service.backends.keys import Backends
from service.backends.store import RedisErasures
from service.backends.webhooks.endpoints import Webhooks
from service.games.facade import GamesFacade
from service.games.ports import EventFeed, RandomBytes, TimeSource
from service.games.store.idempotency import Idempotency
from service.learning.queries import Learning
from service.learning.store import RedisLearning
from service.limits.memory import MemoryReserve
from service.limits.stored_bytes import UNLIMITED, Shares
from service.limits.windows import Count, LocalCounts
from service.metrics import Metrics
from service.outgoing.addresses import check_url
from service.redis.server_clock import system_clock
from service.redis.topology import Topology
from service.web import app as web
from service.web.app import Application
from service.web.http.streams import KEEPALIVE_SECONDS, StreamLimits, Streams
from service.web.rate_limits import Limits, RateLimits
from tests.support.stores.memory_store import MemoryStore
from tests.support.stores.redis_stores import redis_backends, redis_calls, redis_webhooks, topology_of

TTL_SECONDS: Final = 3600


def create_app(
    games: GamesFacade,
    streams: Streams | None = None,
    *,
    backends: BackendsFacade | None = None,
    metrics: Metrics | None = None,
    limits: RateLimits | None = None,
    proxies: int = 0,
    yield_control: Callable[[], None] = lambda: None,
    metrics_port: int = 0,
) -> Application:
    """The application for these games; no limits hold but those given.

    Without ``backends``, the applications are on the server of the games; with games in memory on none that answers.
    """
    topology = topology_of(games.commands.repository.store)
    return web.create_app(
        games,
        Learning(games.commands.repository, RedisLearning(redis_calls(topology))),
        backends or build_backends(topology),
        limits or rate_limits(),
        streams=streams or build_streams(),
        metrics=metrics or Metrics(),
        yield_control=yield_control,
        proxies=proxies,
        metrics_port=metrics_port,
    )


def build_streams(
    limits: StreamLimits = StreamLimits(),  # noqa: B008 # it is immutable
    gauge: Gauge | None = None,
    keepalive_seconds: float = KEEPALIVE_SECONDS,
) -> Streams:
    """The streams of a worker, without limits and uncounted; that a client has gone is only found by a write."""
    return Streams(
        limits,
        gauge or Gauge("open_streams", "Open streams.", registry=None),
        lambda _connection, _notify: lambda: None,
        keepalive_seconds=keepalive_seconds,
    )


def rate_limits(
    count: Count | None = None,
    clock: Callable[[], float] = time.time,
    *,
    workers: int = 1,
    **limits: int,
) -> RateLimits:
    """Rate limits that are counted in memory, unless ``count`` does it elsewhere."""
    return RateLimits(count or LocalCounts(), Limits(**limits), workers=workers, clock=clock)


def build_backends(
    topology: Topology,
    secrets: Sequence[bytes] = (),
    *,
    clock: TimeSource = system_clock,
    random_bytes: RandomBytes = os.urandom,
    needed_for_games: bool = False,
    ttl_seconds: int = TTL_SECONDS,
    notifications: EventFeed | None = None,
    reserve: MemoryReserve | None = None,
    shares: Shares = UNLIMITED,
) -> BackendsFacade:
    """The applications on the servers of a topology. No name of a host is looked up.

    Without ``secrets``, a request under an idempotency key cannot be repeated elsewhere. Without ``notifications``, a
    reader of the feed looks for itself.
    """
    idempotency, calls = Idempotency(secrets or [os.urandom(32)]), redis_calls(topology)
    index = RedisIndex(calls, ttl_seconds)
    return BackendsFacade(
        Backends(
            redis_backends(topology, reserve=reserve),
            clock=clock,
            random_bytes=random_bytes,
            idempotency=idempotency,
        ),
        Webhooks(
            redis_webhooks(topology, reserve=reserve),
            check_url=lambda url, _: check_url(url),
            clock=clock,
            random_bytes=random_bytes,
            idempotency=idempotency,
        ),
        Listing(index, RedisLobby(calls)),
        Feeds(RedisFeed(calls), notifications or MemoryStore(ttl_seconds), clock),
        people=People(index, RedisErasures(calls)),
        needed_for_games=needed_for_games,
        shares=shares,
    )
