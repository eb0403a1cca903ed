"""Streams: what happens in a game sent as it happens, as server-sent events or as lines of JSON.

Owns the two formats, the signs of life between events, and how many streams a worker holds. Must not know what an
event says, nor where events come from.
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
"""After so long without an event a stream sends a sign of life: less than the 15 s of the contract."""
RETRY_MILLISECONDS: Final = 1000
"""How long a client of server-sent events waits before it connects again."""


class Streams:
    """The open streams of this worker, ``most`` at a time if that is given; a long poll is one while it waits.

    One that has nothing to tell sends a sign of life every ``alive_seconds``.
    """

    def __init__(
        self, most: int | None = None, gauge: Gauge | None = None, alive_seconds: float = KEEPALIVE_SECONDS
    ) -> None:
        self.alive_seconds = alive_seconds
        self._most = most
        self._gauge = gauge or Gauge("open_streams", "Open streams.", registry=None)
        self._open: set[EventSubscription] = set()
        self._draining = False
        self._lock = Lock()

    def add(self, follow: Callable[[], EventSubscription]) -> EventSubscription:
        """Open one more. Raises ``TooManyStreams``."""
        with self._lock:
            if self._draining or (self._most is not None and len(self._open) >= self._most):
                raise TooManyStreams
            following = follow()
            self._open.add(following)
        self._gauge.inc()
        return following

    def remove(self, following: EventSubscription) -> None:
        """Close one; once more does no harm."""
        with self._lock:
            if following not in self._open:
                return
            self._open.remove(following)
        following.close()
        self._gauge.dec()

    def drain(self) -> None:
        """Let every stream say that it closes, and end; and open no more."""
        with self._lock:
            self._draining = True
            for following in self._open:
                following.shutdown()


class Stream:
    """One stream as the body of an answer; a WSGI server closes it in the end, also when the client hangs up.

    Only that lets go of what it follows: a generator that tidied up behind itself would do so whenever it is collected
    as garbage, perhaps in the middle of what it waits for.
    """

    def __init__(
        self, streams: Streams, following: EventSubscription, media_type: str, first: EventPage | None
    ) -> None:
        self._streams = streams
        self._following = following
        self._chunks = self._run(_FORMATS[media_type], first)

    def __iter__(self) -> Iterator[bytes]:
        """The chunks of the body, each whole."""
        return self._chunks

    def close(self) -> None:
        """Follow no more."""
        self._chunks.close()
        self._streams.remove(self._following)

    def _run(self, form: _Format, first: EventPage | None) -> Generator[bytes, None, None]:
        following = self._following
        try:
            yield form.preamble
            if first is not None:
                yield form.page(first)
            while not following.finished:
                page = following.wait(self._streams.alive_seconds)
                if page is not None:
                    yield form.page(page)
                elif following.closing:
                    closing = {"version": following.cursor, "type": "closing", "at": format_rfc3339(_now()), "data": {}}
                    yield form.line(closing, None)
                    return
                else:
                    yield form.keepalive
        except (NotFound, Unauthorized):
            return  # the game has expired, or the token is another by now


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
    """``text/event-stream`` (WHATWG HTML 9.2): no names of events, so that one ``onmessage`` gets them all."""

    preamble = b"retry: %d\n\n" % RETRY_MILLISECONDS
    keepalive = b":\n\n"

    def line(self, value: object, cursor: int | None) -> bytes:
        name = b"" if cursor is None else b"id: %d\n" % cursor
        return b"%bdata: %b\n\n" % (name, orjson.dumps(value))


class _NdjsonFormat(_Format):
    """``application/x-ndjson``: an event a line, and empty lines as signs of life."""

    preamble = b"\n"
    keepalive = b"\n"

    def line(self, value: object, cursor: int | None) -> bytes:  # noqa: ARG002 # the value has it
        return orjson.dumps(value) + b"\n"


_FORMATS: Final[dict[str, _Format]] = {SSE: _SseFormat(), NDJSON: _NdjsonFormat()}
