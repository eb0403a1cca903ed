"""The open streams of a worker, of games and of feeds, and long polls, which count as one.

Owns their limits, their two formats, and how often the key of somebody who waits is checked again. Does not depend on
what they follow.
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
from service.web.http.errors import TooManyStreams

KEEPALIVE_SECONDS: Final = 10.0
"""Seconds without an event after which a stream sends a keep-alive: less than the 15 s of the contract."""
CHECK_SECONDS: Final = REVOKED_SECONDS - CACHE_SECONDS
"""Seconds after which the key of an application that waits is checked again."""
WatchDisconnect = Callable[[Any, Callable[[], None]], Callable[[], None]]
"""Calls a function when the client of a connection disconnects, until the returned function is called."""


class Subscription(Protocol):
    """The game or application that an open stream follows."""

    def shutdown(self) -> None:
        """End the wait for more: the service is shutting down, or the client has gone."""

    def recheck(self) -> None:
        """Look for more without a notification."""

    def close(self) -> None:
        """Stop receiving notifications; may be called twice."""


T_co = TypeVar("T_co", covariant=True)


class Source(Protocol[T_co]):
    """A source of items to wait for."""

    closing: bool

    def wait(self, seconds: float) -> T_co | None:
        """Return what comes next within so many seconds."""


S = TypeVar("S", bound=Subscription)


class StreamLimits(NamedTuple):
    """The most open streams of a worker: in total, from one address, and of one game or feed; ``None``: no limit."""

    total: int | None = None
    by_address: int | None = None
    by_game: int | None = None


class StreamClient(NamedTuple):
    """The client of a stream: the network of its address, and the server's object for its connection, if any.

    ``game`` is what is followed: a game, or the feed of the application with this id.
    """

    network: str
    game: str
    connection: object | None = None


def stream_client(environ: Mapping[str, Any], game: str) -> StreamClient:
    """Return who opens a stream of this game or application with a request of this WSGI environment."""
    return StreamClient(client_network(environ.get("REMOTE_ADDR", "")), game, environ.get("gunicorn.socket"))


class Streams:
    """The open streams of this worker, within ``limits``; a waiting long poll counts as one.

    A stream without events sends a keep-alive every ``keepalive_seconds``. The stream of a client that disconnects is
    ended by ``watch_disconnect``; otherwise only the next write would show that it has gone.
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
        self._open: dict[Subscription, tuple[StreamClient, Callable[[], None]]] = {}
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

    def remove(self, subscription: Subscription) -> None:
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
        """Have the streams of games that were deleted end, should no notification have told them."""
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


def wait_while_valid(subscription: Source[T_co], seconds: float, check: Callable[[], object] | None) -> T_co | None:
    """Return what comes next within so many seconds; ``None`` if nothing does, or the service is shutting down.

    With ``check``, raises what it raises, before anything is returned and every ``CHECK_SECONDS``: ``Unauthorized``
    once the key by which somebody waits is no longer valid.
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
"""How long a client of server-sent events waits before it reconnects."""


class Format(Protocol):
    """The format of a stream."""

    preamble: bytes
    keepalive: bytes

    def line(self, value: object, cursor: int | str | None) -> bytes:
        """One event, and the cursor after it."""

    def start(self, cursor: str) -> bytes:
        """Return the preamble of a stream that begins after this cursor, so that the client knows where to go on."""


class _SseFormat(Format):
    """``text/event-stream`` (WHATWG HTML 9.2), without event names, so that one ``onmessage`` gets all events."""

    preamble = b"retry: %d\n" % RETRY_MS
    keepalive = b":\n"

    def line(self, value: object, cursor: int | str | None) -> bytes:
        name = "" if cursor is None else f"id: {cursor}\n"
        return b"%bdata: %b\n\n" % (name.encode(), orjson.dumps(value))

    def start(self, cursor: str) -> bytes:
        # The empty line, without an item, as a client takes the cursor only then.
        return b"%bid: %b\n\n" % (self.preamble, cursor.encode())


class _NdjsonFormat(Format):
    """``application/x-ndjson``: one event per line, and empty lines as keep-alives."""

    preamble = b"\n"
    keepalive = b"\n"

    def line(self, value: object, cursor: int | str | None) -> bytes:  # noqa: ARG002 # the value contains it
        return orjson.dumps(value) + b"\n"

    def start(self, cursor: str) -> bytes:  # noqa: ARG002 # nothing but an item can tell it
        return self.preamble


FORMATS: Final[dict[str, Format]] = {SSE: _SseFormat(), NDJSON: _NdjsonFormat()}
