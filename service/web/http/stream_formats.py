"""The two formats of streams: server-sent events, and lines of JSON.

Owns how an item, a cursor and a keep-alive are written. Of server-sent events only an item ends its block with an empty
line: some clients take a block without data for an event with none.
"""

from __future__ import annotations

from typing import Final, Protocol

import orjson

SSE: Final = "text/event-stream"
NDJSON: Final = "application/x-ndjson"
RETRY_MS: Final = 1000
"""How long a client of server-sent events waits before it reconnects."""


class Format(Protocol):
    """How a stream is written."""

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
