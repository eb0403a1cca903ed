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
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import orjson
from prometheus_client import Gauge

from service.backends.keys import CACHE_SECONDS, REVOKED_SECONDS
from service.client_address import client_network
from service.games.queries.follower import Follower
from service.web.http.errors import TooManyStreams

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


class StreamClient(NamedTuple):
    """The client of a stream.

    ``network``: the network of its address.
    ``game``: the id of the game that it follows, or of the application whose feed it follows.
    ``connection``: the server's object for its connection, if any.
    """

    network: str
    game: str
    connection: object | None = None


def stream_client(environ: Mapping[str, Any], game: str) -> StreamClient:
    """Return the client that opens a stream of this game or application, from the WSGI environment."""
    return StreamClient(client_network(environ.get("REMOTE_ADDR", "")), game, environ.get("gunicorn.socket"))


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
        self._open: dict[Follower[Any], tuple[StreamClient, Callable[[], None]]] = {}
        self._by_address: Counter[str] = Counter()
        self._by_game: Counter[str] = Counter()
        self._draining = False
        self._lock = Lock()

    def add(self, subscribe: Callable[[], S], client: StreamClient) -> S:
        """Open a stream. Raises ``TooManyStreams``."""
        with self._lock:
            if self._draining or self._is_full(client):
                raise TooManyStreams
            subscription = subscribe()
            self._open[subscription] = client, self._watch_disconnect(client.connection, subscription.shutdown)
            self._by_address[client.network] += 1
            self._by_game[client.game] += 1
        self._gauge.inc()
        return subscription

    def remove(self, subscription: Follower[Any]) -> None:
        """Close a stream; idempotent."""
        with self._lock:
            if subscription not in self._open:
                return
            client, unwatch = self._open.pop(subscription)
            _decrement(self._by_address, client.network)
            _decrement(self._by_game, client.game)
        unwatch()
        subscription.close()
        self._gauge.dec()

    @contextmanager
    def open(self, subscribe: Callable[[], S], client: StreamClient) -> Generator[S]:
        """Open a stream during a ``with`` block. Raises ``TooManyStreams``."""
        subscription = self.add(subscribe, client)
        try:
            yield subscription
        finally:
            self.remove(subscription)

    def recheck(self, games: Container[str]) -> None:
        """Make the streams of deleted games check for the deletion, in case its notification was lost."""
        with self._lock:
            for subscription, (client, _) in self._open.items():
                if client.game in games:
                    subscription.recheck()

    def drain(self) -> None:
        """Make every stream send a closing event and end, and open no more."""
        with self._lock:
            self._draining = True
            for subscription in self._open:
                subscription.shutdown()

    def _is_full(self, client: StreamClient) -> bool:
        total, by_address, by_game = self._limits
        return (
            _reached(total, len(self._open))
            or _reached(by_address, self._by_address[client.network])
            or _reached(by_game, self._by_game[client.game])
        )


def _reached(limit: int | None, count: int) -> bool:
    return limit is not None and count >= limit


def _decrement(counts: Counter[str], key: str) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]


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


class Format(Protocol):
    """The format of a stream."""

    preamble: bytes
    keepalive: bytes

    def line(self, value: object, cursor: int | str | None) -> bytes:
        """Return one event, with the cursor after it."""

    def start(self, cursor: str) -> bytes:
        """Return the preamble of a stream that begins after this cursor; it sends the cursor to the client."""


class _SseFormat(Format):
    """``text/event-stream`` (WHATWG HTML 9.2), without event names, so that one ``onmessage`` gets all events."""

    preamble = b"retry: %d\n" % RETRY_MS
    keepalive = b":\n"

    def line(self, value: object, cursor: int | str | None) -> bytes:
        name = "" if cursor is None else f"id: {cursor}\n"
        return b"%bdata: %b\n\n" % (name.encode(), orjson.dumps(value))

    def start(self, cursor: str) -> bytes:
        # A client stores the cursor only at an empty line.
        return b"%bid: %b\n\n" % (self.preamble, cursor.encode())


class _NdjsonFormat(Format):
    """``application/x-ndjson``: one event per line, and empty lines as keep-alives."""

    preamble = b"\n"
    keepalive = b"\n"

    def line(self, value: object, cursor: int | str | None) -> bytes:  # noqa: ARG002 # the value contains it
        return orjson.dumps(value) + b"\n"

    def start(self, cursor: str) -> bytes:  # noqa: ARG002 # only an item can contain it
        return self.preamble


FORMATS: Final[dict[str, Format]] = {SSE: _SseFormat(), NDJSON: _NdjsonFormat()}
