"""The stream of a feed: the items of an application as they come, for as long as its key is valid.

Owns when the key is checked again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from time import monotonic, time

import orjson

from service.backends.index.feed import FeedItems, FeedReader
from service.games.model.errors import Unauthorized
from service.games.model.views import format_rfc3339
from service.redis.errors import StorageUnavailable
from service.web.http.streams import CHECK_SECONDS, FORMATS, Format, Streams


class FeedStream:
    """One stream as the body of a response, which the WSGI server closes in any case.

    ``check`` raises ``Unauthorized`` once the key is no longer valid. What a client is not sent, as the key cannot be
    checked, it gets when it comes back: it knows only the cursors of what it was sent.
    """

    def __init__(
        self,
        streams: Streams,
        reader: FeedReader,
        media_type: str,
        first: FeedItems,
        *,
        check: Callable[[], object],
    ) -> None:
        self._streams = streams
        self._reader = reader
        self._check = check
        self._chunks = self._run(FORMATS[media_type], first)

    def __iter__(self) -> Iterator[bytes]:
        """Return the chunks of the body, each of complete items."""
        return self._chunks

    def close(self) -> None:
        """Close the reader."""
        self._chunks.close()
        self._streams.remove(self._reader)

    def _run(self, encoding: Format, first: FeedItems) -> Generator[bytes, None, None]:
        reader, alive = self._reader, self._streams.keepalive_seconds
        if first.items:
            yield encoding.preamble + _lines(encoding, first)
        else:
            yield encoding.start(first.cursor)
        sent_at = monotonic()
        while True:
            page = reader.wait(min(CHECK_SECONDS, max(sent_at + alive - monotonic(), 0.0)))
            try:
                self._check()
            except Unauthorized:
                return
            except StorageUnavailable:
                if page is not None:
                    return
            if page is not None:
                yield _lines(encoding, page)
            elif reader.closing:
                at = format_rfc3339(int(time() * 1000))
                closing = {"cursor": reader.cursor, "version": 0, "type": "closing", "at": at}
                yield encoding.line(closing, None)
                return
            elif monotonic() < sent_at + alive:
                continue
            else:
                yield encoding.keepalive
            sent_at = monotonic()


def _lines(encoding: Format, page: FeedItems) -> bytes:
    return b"".join([encoding.line(orjson.Fragment(item), cursor) for cursor, item in page.items])
