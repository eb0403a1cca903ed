"""The body of a stream of a game or feed: items as they arrive, and keep-alives between them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from time import monotonic, time
from typing import Generic, NamedTuple, TypeVar

from service.games.model.errors import Gone, NotFound, Unauthorized
from service.games.model.views import format_rfc3339
from service.games.queries.follower import RETRY_SECONDS, Follower
from service.redis.errors import StorageUnavailable
from service.web.fields.strict import JsonObject
from service.web.http.streams import CHECK_SECONDS, FORMATS, Streams

Page = TypeVar("Page")


class StreamContent(NamedTuple, Generic[Page]):
    """The content of a stream.

    ``first``: the page to send at once, if there is one already.
    ``items``: returns the items of a page as JSON, each with the cursor after it; called once for each page, in order.
    ``closing``: returns the last item, at a shutdown of the service; its argument is the time.
    ``start``: the cursor to send if there is no ``first``.
    ``show``: returns the item with the view at the cursor, and the cursor; ``None`` if newer events will follow.
        Called after events if no more follow at once.
    ``show_first``: whether to call ``show`` before the first event, too.
    """

    first: Page | None
    items: Callable[[Page], Iterable[tuple[object, int | str]]]
    closing: Callable[[str], JsonObject]
    start: str | None = None
    show: Callable[[], tuple[JsonObject, int] | None] | None = None
    show_first: bool = False


class Stream(Generic[Page]):
    """A stream as the body of a response; the WSGI server always closes it, also when the client disconnects.

    Only ``close`` closes the subscription: cleanup in the generator would also run when the generator is collected as
    garbage, possibly in the middle of a wait.

    ``check``: raises ``Unauthorized`` once the key of the client is no longer valid, which ends the stream.
    Called every ``CHECK_SECONDS``, and before an item is sent. If the key cannot be checked when there is an item to
    send, the stream ends, too: the client reconnects and continues from its cursor.
    """

    def __init__(
        self,
        streams: Streams,
        subscription: Follower[Page],
        media_type: str,
        content: StreamContent[Page],
        *,
        check: Callable[[], object] | None = None,
    ) -> None:
        self._streams = streams
        self._subscription = subscription
        self._format = FORMATS[media_type]
        self._content = content
        self._check = check
        self._view_due = content.show_first and content.show is not None
        self._pause = 0.0
        self._sent_at = monotonic()
        self._ended = False
        self._chunks = self._run()

    def __iter__(self) -> Iterator[bytes]:
        """Return the chunks of the body, each of complete events."""
        return self._chunks

    def close(self) -> None:
        """Close the subscription."""
        self._chunks.close()
        self._streams.remove(self._subscription)

    def _run(self) -> Generator[bytes, None, None]:
        try:
            first = self._content.first
            if first is None:
                yield self._format.start(self._content.start)
            else:
                yield self._format.start(None) + self._lines(first)
            while (chunk := self._next()) is not None:
                if chunk:
                    yield chunk
                    self._sent_at = monotonic()
        except (NotFound, Gone, Unauthorized, StorageUnavailable):
            return  # the game expired or was deleted, the token was changed, the key was revoked or cannot be checked

    def _next(self) -> bytes | None:
        """Wait for the next chunk and return it; empty if there is none yet, ``None`` at the end of the stream."""
        subscription, check = self._subscription, self._check
        if self._ended:
            return None
        page = None if subscription.finished else subscription.wait(self._seconds_to_wait())
        if check is not None:
            try:
                check()
            except StorageUnavailable:
                if page is not None:
                    return None
        if page is not None:
            self._view_due, self._pause = self._content.show is not None, 0.0
            return self._lines(page)
        if self._view_due and self._content.show is not None:
            return self._view(self._content.show)
        if subscription.finished:
            return None
        if subscription.closing:
            self._ended = True
            return self._format.line(self._content.closing(format_rfc3339(int(time() * 1000))), None)
        return b"" if monotonic() < self._keepalive_at() else self._format.keepalive

    def _seconds_to_wait(self) -> float:
        wait = self._pause if self._view_due else max(self._keepalive_at() - monotonic(), 0.0)
        return wait if self._check is None else min(wait, CHECK_SECONDS)

    def _keepalive_at(self) -> float:
        return self._sent_at + self._streams.keepalive_seconds

    def _lines(self, page: Page) -> bytes:
        line = self._format.line
        return b"".join([line(item, cursor) for item, cursor in self._content.items(page)])

    def _view(self, show: Callable[[], tuple[JsonObject, int] | None]) -> bytes:
        """Return the item with the view at the cursor; empty without one, a keep-alive if the store is unavailable."""
        subscription = self._subscription
        try:
            if self._check is not None:
                self._check()
            item = show()
        except StorageUnavailable:
            self._view_due, self._pause = not subscription.closing, RETRY_SECONDS
            return self._format.keepalive
        except Gone:
            self._view_due = False
            subscription.recheck()  # makes it return the deletion as an event
            return b""
        self._view_due = False
        return b"" if item is None else self._format.line(*item)
