"""Streams: the events of a game as they happen, as server-sent events or as lines of JSON.

Owns the two formats, the keep-alives between events, and the limit of streams per worker. Does not depend on the
contents of an event, nor on where events come from.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from threading import Lock
from time import time
from typing import Final, Protocol

import orjson
from prometheus_client import Gauge

from service.games.errors import NotFound, Unauthorized
from service.games.subscription import EventSubscription
from service.games.timestamps import format_rfc3339
from service.games.views import EventPage
from service.web.problems import TooManyStreams
from service.web.serializers.events import event_json

SSE: Final = "text/event-stream"
NDJSON: Final = "application/x-ndjson"

KEEPALIVE_SECONDS: Final = 10.0
"""Seconds without an event after which a stream sends a keep-alive: less than the 15 s of the contract."""
RETRY_MS: Final = 1000
"""How long a client of server-sent events waits before it reconnects."""


class Streams:
    """The open streams of this worker, at most ``limit`` at a time; a waiting long poll counts as one.

    A stream without events sends a keep-alive every ``keepalive_seconds``.
    """

    def __init__(
        self, limit: int | None = None, gauge: Gauge | None = None, keepalive_seconds: float = KEEPALIVE_SECONDS
    ) -> None:
        self.keepalive_seconds = keepalive_seconds
        self._limit = limit
        self._gauge = gauge or Gauge("open_streams", "Open streams.", registry=None)
        self._open: set[EventSubscription] = set()
        self._draining = False
        self._lock = Lock()

    def add(self, subscribe: Callable[[], EventSubscription]) -> EventSubscription:
        """Open a stream. Raises ``TooManyStreams``."""
        with self._lock:
            if self._draining or (self._limit is not None and len(self._open) >= self._limit):
                raise TooManyStreams
            subscription = subscribe()
            self._open.add(subscription)
        self._gauge.inc()
        return subscription

    def remove(self, subscription: EventSubscription) -> None:
        """Close a stream; idempotent."""
        with self._lock:
            if subscription not in self._open:
                return
            self._open.remove(subscription)
        subscription.close()
        self._gauge.dec()

    def drain(self) -> None:
        """Make every stream send a closing event and end, and open no more."""
        with self._lock:
            self._draining = True
            for subscription in self._open:
                subscription.shutdown()


class Stream:
    """One stream as the body of a response; the WSGI server closes it in any case, also when the client disconnects.

    The subscription is closed only there: cleanup in the generator would also run when it is collected as garbage,
    possibly in the middle of a wait.
    """

    def __init__(
        self, streams: Streams, subscription: EventSubscription, media_type: str, first: EventPage | None
    ) -> None:
        self._streams = streams
        self._subscription = subscription
        self._chunks = self._run(_FORMATS[media_type], first)

    def __iter__(self) -> Iterator[bytes]:
        """The chunks of the body, each of complete events."""
        return self._chunks

    def close(self) -> None:
        """Close the subscription."""
        self._chunks.close()
        self._streams.remove(self._subscription)

    def _run(self, encoding: _Format, first: EventPage | None) -> Generator[bytes, None, None]:
        subscription = self._subscription
        try:
            yield encoding.preamble
            if first is not None:
                yield encoding.page(first)
            while not subscription.finished:
                page = subscription.wait(self._streams.keepalive_seconds)
                if page is not None:
                    yield encoding.page(page)
                elif subscription.closing:
                    closing = {
                        "version": subscription.cursor,
                        "type": "closing",
                        "at": format_rfc3339(_now()),
                        "data": {},
                    }
                    yield encoding.line(closing, None)
                    return
                else:
                    yield encoding.keepalive
        except (NotFound, Unauthorized):
            return  # the game has expired, or the token was changed


def _now() -> int:
    return int(time() * 1000)


class _Format(Protocol):
    preamble: bytes
    keepalive: bytes

    def line(self, value: object, cursor: int | None) -> bytes:
        """One event."""

    def page(self, page: EventPage) -> bytes:
        """All events of a page."""
        return b"".join([self.line(event_json(each), each.version) for each in page.events])


class _SseFormat(_Format):
    """``text/event-stream`` (WHATWG HTML 9.2), without event names, so that one ``onmessage`` gets all events."""

    preamble = b"retry: %d\n\n" % RETRY_MS
    keepalive = b":\n\n"

    def line(self, value: object, cursor: int | None) -> bytes:
        name = b"" if cursor is None else b"id: %d\n" % cursor
        return b"%bdata: %b\n\n" % (name, orjson.dumps(value))


class _NdjsonFormat(_Format):
    """``application/x-ndjson``: one event per line, and empty lines as keep-alives."""

    preamble = b"\n"
    keepalive = b"\n"

    def line(self, value: object, cursor: int | None) -> bytes:  # noqa: ARG002 # the value contains it
        return orjson.dumps(value) + b"\n"


_FORMATS: Final[dict[str, _Format]] = {SSE: _SseFormat(), NDJSON: _NdjsonFormat()}
