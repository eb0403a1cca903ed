"""Streams: the events of a game as they happen, as server-sent events or as lines of JSON.

Owns the two formats, the keep-alives between events, and the limits of open streams, also of those of feeds
(``service.web.feed_stream``). Does not depend on the contents of an event, nor on where events come from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Generator, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from time import monotonic, time
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import orjson
from prometheus_client import Gauge

from service.backends.keys import CACHE_SECONDS, REVOKED_SECONDS
from service.games.model.errors import Gone, NotFound, Unauthorized
from service.games.model.timestamps import format_rfc3339
from service.games.model.views import EventPage, EventView
from service.games.ports import StorageUnavailable
from service.games.queries.subscription import RETRY_SECONDS, EventSubscription
from service.web.problems import TooManyStreams
from service.web.rate_limits import client_network
from service.web.serializers.events import event_json
from service.web.serializers.values import JsonObject

SSE: Final = "text/event-stream"
NDJSON: Final = "application/x-ndjson"

KEEPALIVE_SECONDS: Final = 10.0
"""Seconds without an event after which a stream sends a keep-alive: less than the 15 s of the contract."""
CHECK_SECONDS: Final = REVOKED_SECONDS - CACHE_SECONDS
"""Seconds after which whoever waits with the key of an application has it checked again."""
RETRY_MS: Final = 1000
"""How long a client of server-sent events waits before it reconnects."""


WatchDisconnect = Callable[[Any, Callable[[], None]], Callable[[], None]]
"""Calls a function when the client of a connection disconnects, until the returned function is called."""


class Subscription(Protocol):
    """What an open stream follows."""

    def shutdown(self) -> None:
        """End the wait for more: the service is shutting down, or the client has gone."""

    def recheck(self) -> None:
        """Look for more without a notification."""

    def close(self) -> None:
        """Stop receiving notifications; may be called twice."""


T_co = TypeVar("T_co", covariant=True)


class Source(Protocol[T_co]):
    """What is waited for."""

    closing: bool

    def wait(self, seconds: float) -> T_co | None:
        """What comes next within so many seconds."""


S = TypeVar("S", bound=Subscription)


class StreamLimits(NamedTuple):
    """The most open streams of a worker: in total, from one address, and of one game or feed; ``None``: no limit."""

    total: int | None = None
    by_address: int | None = None
    by_game: int | None = None


class StreamClient(NamedTuple):
    """Who opens a stream: the network of its address, and the server's object for its connection, if any.

    ``game`` is what is followed: a game, or the feed of the application with this id.
    """

    network: str
    game: str
    connection: object | None = None


def stream_client(environ: Mapping[str, Any], game: str) -> StreamClient:
    """Who opens a stream of this game or application with a request of this WSGI environment."""
    return StreamClient(client_network(environ.get("REMOTE_ADDR", "")), game, environ.get("gunicorn.socket"))


class Streams:
    """The open streams of this worker, within ``limits``; a waiting long poll counts as one.

    A stream without events sends a keep-alive every ``keepalive_seconds``. The stream of a client that disconnects is
    ended by ``watch_disconnect``; otherwise only the next write would show that it has gone.
    """

    def __init__(
        self,
        limits: StreamLimits = StreamLimits(),  # noqa: B008 # it is immutable
        gauge: Gauge | None = None,
        keepalive_seconds: float = KEEPALIVE_SECONDS,
        watch_disconnect: WatchDisconnect = lambda _connection, _notify: _do_nothing,
    ) -> None:
        self.keepalive_seconds = keepalive_seconds
        self._limits = limits
        self._gauge = gauge or Gauge("open_streams", "Open streams.", registry=None)
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
        """A stream that is open during a ``with`` block. Raises ``TooManyStreams``."""
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


def _do_nothing() -> None:
    """End no watch."""


class Stream:
    """One stream as the body of a response; the WSGI server closes it in any case, also when the client disconnects.

    The subscription is closed only there: cleanup in the generator would also run when it is collected as garbage,
    possibly in the middle of a wait.

    ``serialize`` makes the JSON of an event; it is called for each once and in their order. ``show`` returns the item
    with the view at the cursor, or ``None`` if newer events are on their way. It is called when no more events follow
    for the moment: after events, and before any if a view is ``due``.

    ``check`` raises ``Unauthorized`` once the key by which the stream was opened is no longer valid, and ends it then.
    It is called before anything is sent, and every ``CHECK_SECONDS``. Where the key cannot be checked, a stream that
    would send something ends: its client comes back, and goes on from what it was sent.
    """

    def __init__(
        self,
        streams: Streams,
        subscription: EventSubscription,
        media_type: str,
        first: EventPage | None,
        show: Callable[[EventSubscription], JsonObject | None] | None = None,
        *,
        serialize: Callable[[EventView], JsonObject] = event_json,
        due: bool = True,
        check: Callable[[], object] | None = None,
    ) -> None:
        self._streams = streams
        self._subscription = subscription
        self._serialize = serialize
        self._show = show
        self._check = check
        self._chunks = self._run(FORMATS[media_type], first, due=due and show is not None)

    def __iter__(self) -> Iterator[bytes]:
        """The chunks of the body, each of complete events."""
        return self._chunks

    def close(self) -> None:
        """Close the subscription."""
        self._chunks.close()
        self._streams.remove(self._subscription)

    def _run(self, encoding: Format, first: EventPage | None, *, due: bool) -> Generator[bytes, None, None]:
        subscription, serialize, show, check = self._subscription, self._serialize, self._show, self._check
        pause = 0.0
        alive, sent_at = self._streams.keepalive_seconds, monotonic()
        try:
            yield encoding.preamble
            if first is not None:
                yield encoding.page(first, serialize)
            while True:
                wait = pause if due else max(sent_at + alive - monotonic(), 0.0)
                if check is not None:
                    wait = min(wait, CHECK_SECONDS)
                page = None if subscription.finished else subscription.wait(wait)
                if check is not None and not _is_checked(check) and page is not None:
                    return
                if page is not None:
                    yield encoding.page(page, serialize)
                    due, pause = show is not None, 0.0
                elif due and show is not None:
                    try:
                        if check is not None:
                            check()
                        item, due = show(subscription), False
                        if item is not None:
                            yield encoding.line(item, subscription.cursor)
                    except StorageUnavailable:
                        due, pause = not subscription.closing, RETRY_SECONDS
                        yield encoding.keepalive
                    except Gone:
                        due = False
                        subscription.recheck()  # which tells of the deletion
                elif subscription.finished:
                    return
                elif subscription.closing:
                    closing = {
                        "version": subscription.cursor,
                        "type": "closing",
                        "at": format_rfc3339(_now()),
                        "data": {},
                    }
                    yield encoding.line(closing, None)
                    return
                elif monotonic() < sent_at + alive:
                    continue
                else:
                    yield encoding.keepalive
                sent_at = monotonic()
        except (NotFound, Gone, Unauthorized, StorageUnavailable):
            return  # the game expired or was deleted, the token was changed, the key was revoked or cannot be checked


def _is_checked(check: Callable[[], object]) -> bool:
    """Whether the key could be checked. Raises ``Unauthorized`` if it is no longer valid."""
    try:
        check()
    except StorageUnavailable:
        return False
    return True


def wait_while_valid(subscription: Source[T_co], seconds: float, check: Callable[[], object] | None) -> T_co | None:
    """What comes next within so many seconds; ``None`` if nothing does, or the service is shutting down.

    With ``check``, raises what it raises, before anything is returned and every ``CHECK_SECONDS``: ``Unauthorized``
    once the key by which somebody waits is no longer valid.
    """
    deadline = monotonic() + seconds
    while True:
        left = max(deadline - monotonic(), 0.0)
        part = left if check is None else min(left, CHECK_SECONDS)
        found = subscription.wait(part)
        if check is not None:
            check()
        if found is not None or subscription.closing or part == left:
            return found


def _now() -> int:
    return int(time() * 1000)


class Format(Protocol):
    """How a stream is written."""

    preamble: bytes
    keepalive: bytes

    def line(self, value: object, cursor: int | str | None) -> bytes:
        """One event, and the cursor after it."""

    def start(self, cursor: str) -> bytes:
        """The preamble of a stream that begins after this cursor, so that the client knows where to go on."""

    def page(self, page: EventPage, serialize: Callable[[EventView], JsonObject]) -> bytes:
        """All events of a page."""
        return b"".join([self.line(serialize(each), each.version) for each in page.events])


class _SseFormat(Format):
    """``text/event-stream`` (WHATWG HTML 9.2), without event names, so that one ``onmessage`` gets all events."""

    preamble = b"retry: %d\n\n" % RETRY_MS
    keepalive = b":\n\n"

    def line(self, value: object, cursor: int | str | None) -> bytes:
        name = "" if cursor is None else f"id: {cursor}\n"
        return b"%bdata: %b\n\n" % (name.encode(), orjson.dumps(value))

    def start(self, cursor: str) -> bytes:
        return b"retry: %d\nid: %b\n\n" % (RETRY_MS, cursor.encode())


class _NdjsonFormat(Format):
    """``application/x-ndjson``: one event per line, and empty lines as keep-alives."""

    preamble = b"\n"
    keepalive = b"\n"

    def line(self, value: object, cursor: int | str | None) -> bytes:  # noqa: ARG002 # the value contains it
        return orjson.dumps(value) + b"\n"

    def start(self, cursor: str) -> bytes:  # noqa: ARG002 # nothing but an item can tell it
        return self.preamble


FORMATS: Final[dict[str, Format]] = {SSE: _SseFormat(), NDJSON: _NdjsonFormat()}
