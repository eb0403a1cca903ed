"""The open streams of a worker: streams of games and feeds, and long polls, each of which counts as a stream.

Owns their limits, their two formats, and how often the key of a waiting client is checked again. Does not depend on
their items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Generator, Mapping
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import Any, Final, NamedTuple, TypeVar

import orjson
from prometheus_client import Gauge

from service.backends.keys import CACHE_SECONDS, REVOKED_SECONDS
from service.client_address import client_network
from service.games.queries.follower import Follower
from service.web.http.errors import TooManyStreams, current_environ

KEEPALIVE_SECONDS: Final = 10.0
"""Seconds without an event after which a stream sends a keep-alive: less than the 15 s of the contract."""
CHECK_SECONDS: Final = REVOKED_SECONDS - CACHE_SECONDS
"""Seconds after which the key of a waiting application is checked again."""
WatchDisconnect = Callable[[Any, Callable[[], None]], Callable[[], None]]
"""Takes a connection and a function to call when its client disconnects; returns a function that stops watching."""


Page = TypeVar("Page")
S = TypeVar("S", bound=Follower[Any])


class StreamLimits(NamedTuple):
    """The maximum number of open streams of a worker; ``None`` for no limit.

    ``by_address``: from one network.
    ``by_game``: of one game or feed.
    """

    total: int | None = None
    by_address: int | None = None
    by_game: int | None = None


class _OpenStream(NamedTuple):
    """``game``: also the id of an application, for its feed; ``unwatch``: called before the connection is closed."""

    network: str
    game: str
    unwatch: Callable[[], None]


class Streams:
    """The open streams of this worker, within ``limits``; a waiting long poll counts as one.

    ``watch_disconnect``: ends the stream of a client that disconnects; without it, only the next write would show that.
    ``keepalive_seconds``: the interval of keep-alives in a stream without events.
    """

    def __init__(
        self,
        limits: StreamLimits,
        gauge: Gauge,
        watch_disconnect: WatchDisconnect,
        *,
        keepalive_seconds: float = KEEPALIVE_SECONDS,
    ) -> None:
        self.keepalive_seconds = keepalive_seconds
        self._limits = limits
        self._gauge = gauge
        self._watch_disconnect = watch_disconnect
        self._open: dict[Follower[Any], _OpenStream] = {}
        self._by_address: Counter[str] = Counter()
        self._by_game: Counter[str] = Counter()
        self._draining = False
        self._lock = Lock()

    def add(self, subscribe: Callable[[], S], game: str) -> S:
        """Open a stream of this game, or of the feed of this application, for the client of the current request.

        Raises ``TooManyStreams``.
        """
        environ = current_environ()
        network = client_network(environ.get("REMOTE_ADDR", ""))
        with self._lock:
            if self._draining or self._is_full(network, game):
                raise TooManyStreams
            subscription = subscribe()
            unwatch = self._watch_disconnect(environ.get("gunicorn.socket"), subscription.shutdown)
            self._open[subscription] = _OpenStream(network, game, unwatch)
            self._by_address[network] += 1
            self._by_game[game] += 1
        self._gauge.inc()
        return subscription

    def remove(self, subscription: Follower[Any]) -> None:
        """Close a stream; idempotent."""
        with self._lock:
            if subscription not in self._open:
                return
            stream = self._open.pop(subscription)
            for counts, key in (self._by_address, stream.network), (self._by_game, stream.game):
                counts[key] -= 1
                if not counts[key]:
                    del counts[key]
        stream.unwatch()
        subscription.close()
        self._gauge.dec()

    @contextmanager
    def open(self, subscribe: Callable[[], S], game: str) -> Generator[S]:
        """Open a stream during a ``with`` block, as ``add``."""
        subscription = self.add(subscribe, game)
        try:
            yield subscription
        finally:
            self.remove(subscription)

    def recheck(self, games: Container[str]) -> None:
        """Make the streams of deleted games check for the deletion, in case its notification was lost."""
        with self._lock:
            for subscription, stream in self._open.items():
                if stream.game in games:
                    subscription.recheck()

    def drain(self) -> None:
        """Make every stream send a closing event and end, and open no more."""
        with self._lock:
            self._draining = True
            for subscription in self._open:
                subscription.shutdown()

    def _is_full(self, network: str, game: str) -> bool:
        counts = len(self._open), self._by_address[network], self._by_game[game]
        return any([limit is not None and count >= limit for limit, count in zip(self._limits, counts, strict=True)])


def wait_while_valid(subscription: Follower[Page], seconds: float, check: Callable[[], object] | None) -> Page | None:
    """Return the next item; ``None`` if there is none within ``seconds``, or if the service is shutting down.

    ``check``: called every ``CHECK_SECONDS`` and before an item is returned; raises ``Unauthorized`` once the key of
    the client is no longer valid.
    """
    deadline = monotonic() + seconds
    while True:
        left = max(deadline - monotonic(), 0.0)
        part = left if check is None else min(left, CHECK_SECONDS)
        item = subscription.wait(part)
        if check is not None:
            check()
        if item is not None or subscription.closing or part == left:
            return item


# The two formats of streams: server-sent events, and lines of JSON.


SSE: Final = "text/event-stream"
NDJSON: Final = "application/x-ndjson"
RETRY_MS: Final = 1000
"""Milliseconds that a client of server-sent events waits before it reconnects."""


class _SseFormat:
    """``text/event-stream`` (WHATWG HTML 9.2), without event names, so that one ``onmessage`` gets all events."""

    keepalive = b":\n"

    def start(self, cursor: str | None) -> bytes:
        """Return the preamble of a stream, with the cursor after which it begins if the client has to learn it."""
        # A client stores the cursor only at an empty line.
        return b"retry: %d\n" % RETRY_MS + (b"" if cursor is None else b"id: %b\n\n" % cursor.encode())

    def line(self, value: object, cursor: int | str | None) -> bytes:
        """Return one event, with the cursor after it."""
        name = "" if cursor is None else f"id: {cursor}\n"
        return b"%bdata: %b\n\n" % (name.encode(), orjson.dumps(value))


class _NdjsonFormat:
    """``application/x-ndjson``: one event per line, and empty lines as keep-alives; events contain their cursors."""

    keepalive = b"\n"

    def start(self, _cursor: str | None) -> bytes:
        return b"\n"

    def line(self, value: object, _cursor: int | str | None) -> bytes:
        return orjson.dumps(value) + b"\n"


FORMATS: Final[Mapping[str, _SseFormat | _NdjsonFormat]] = {SSE: _SseFormat(), NDJSON: _NdjsonFormat()}
