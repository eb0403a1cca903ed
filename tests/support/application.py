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
from service.backends.keys import Backends, StoredBytes
from service.backends.ports import BackendStore, Erasure, ErasureStore, WebhookStore
from service.backends.webhooks.endpoints import Webhooks
from service.games.facade import GamesFacade
from service.games.ports import RandomBytes, TimeSource
from service.games.store.idempotency import Idempotency
from service.learning.queries import Learning
from service.limits.stored_bytes import UNLIMITED, Shares
from service.limits.windows import Count, LocalCounts
from service.metrics import Metrics
from service.outgoing.addresses import check_url
from service.redis.server_clock import system_clock
from service.web import app as web
from service.web.app import Application
from service.web.http.streams import KEEPALIVE_SECONDS, StreamLimits, Streams
from service.web.rate_limits import Limits, RateLimits
from tests.support.stores.memory_backends import MemoryBackends
from tests.support.stores.memory_feed import MemoryFeed
from tests.support.stores.memory_index import MemoryIndex, MemoryLobby
from tests.support.stores.memory_store import MemoryStore
from tests.support.stores.memory_webhooks import MemoryWebhooks
from tests.support.stores.redis_stores import learning_of

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
    """The application for these games; without ``backends``, no key is valid, and no limits hold but those given."""
    return web.create_app(
        games,
        Learning(games._repository, learning_of(games._repository.store)),
        backends or build_backends(MemoryBackends()),
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
    store: BackendStore,
    secrets: Sequence[bytes] = (),
    *,
    clock: TimeSource = system_clock,
    random_bytes: RandomBytes = os.urandom,
    needed_for_games: bool = False,
    listing: Listing | None = None,
    webhooks: WebhookStore | None = None,
    feed: Feeds | None = None,
    people: People | None = None,
    shares: Shares = UNLIMITED,
) -> BackendsFacade:
    """The applications of a store; what is left out is in memory, and empty. No name of a host is looked up.

    Without ``secrets``, a request under an idempotency key cannot be repeated elsewhere.
    """
    idempotency = Idempotency(secrets or [os.urandom(32)])
    index, games = MemoryIndex(TTL_SECONDS), MemoryStore(TTL_SECONDS)
    return BackendsFacade(
        Backends(store, clock=clock, random_bytes=random_bytes, idempotency=idempotency),
        Webhooks(
            webhooks or MemoryWebhooks(games, index),
            check_url=lambda url, _: check_url(url),
            clock=clock,
            random_bytes=random_bytes,
            idempotency=idempotency,
        ),
        listing or Listing(index, MemoryLobby()),
        feed or Feeds(MemoryFeed(index), games, clock),
        people=people or People(index, NoErasures()),
        needed_for_games=needed_for_games,
        stored=StoredBytes(shares),
    )


class NoErasures(ErasureStore):
    """Nobody is to be erased, and nobody can be."""

    def request(self, app: str, ref: str) -> bool:
        return False

    def pending(self, app: str) -> list[Erasure]:
        return []

    def is_pending(self, app: str, ref: str) -> bool:
        return False

    def done(self, app: str, erasure: Erasure) -> None:
        return None
