"""The bodies of requests: how long a worker waits for one, and what it does with one that nobody has read.

Owns these limits. Imported before gevent patches the standard library.
"""

from __future__ import annotations

import time
from typing import Any, Final
from weakref import ref

import gevent
from gunicorn.http.errors import NoMoreData, ParseException

MAX_DISCARDED_BYTES: Final = 1024 * 1024
"""Enough for a client that sends a body which is somewhat too large, and reads the response only afterwards."""
DISCARD_STEP_BYTES: Final = 64 * 1024
"""After so many discarded bytes other requests run."""
YIELD_SECONDS: Final = 1e-9
"""The shortest sleep for which gevent polls all sockets, those of clients and of Redis, once.

``sleep(0)`` polls none and only switches to greenlets that are ready. A few busy clients with pipelined requests could
then keep the worker for fifty requests, while what others have sent is not read.
"""


def is_unread(reader: Any) -> bool:
    """Return whether anything of the body may still be to be received; of one in chunks that is not known."""
    return getattr(reader, "length", None) != 0


def has_come(request: Any) -> bool:
    """Return whether the whole body came with the head, so that reading it takes no time; never for chunks."""
    length = getattr(request.body.reader, "length", None)
    return length is not None and bool(request.unreader.buf.getbuffer().nbytes >= length)


def discard_body(request: Any) -> None:
    """Discard what the application has not read of the body, so that the next request of the connection can follow.

    If that is too much, or if it is incomplete or malformed, the connection is closed instead. gunicorn would discard a
    body of any length, and let no other request run while data is available. Raises ``TimeoutError`` for a slow one.
    """
    try:
        for _ in range(MAX_DISCARDED_BYTES // DISCARD_STEP_BYTES):
            if not request.body.read(DISCARD_STEP_BYTES):
                return
            gevent.sleep(YIELD_SECONDS)
    except (ParseException, NoMoreData):
        pass
    raise StopIteration


class DeadlineReader:
    """The body of a request, with a deadline for all of it, ``seconds`` after the first read."""

    def __init__(self, request: Any, seconds: float) -> None:
        self._request = ref(request)  # weak, as the request holds this reader: a reference cycle otherwise
        self._reader = request.body.reader
        self._seconds = seconds
        self._deadline: float | None = None

    @property
    def length(self) -> int | None:
        """How many bytes are to be received yet, if that is known."""
        length: int | None = getattr(self._reader, "length", None)
        return length

    def read(self, size: int) -> bytes:
        """Read up to ``size`` bytes. After any error the connection is not used for another request.

        Raises:
            TimeoutError: the deadline has passed.
        """
        if not is_unread(self._reader):
            return b""
        now = time.monotonic()
        if self._deadline is None:
            self._deadline = now + self._seconds
        try:
            # Not zero, so that data that has already been received can be read.
            with gevent.Timeout(max(self._deadline - now, 0.001), TimeoutError("the request body was sent too slowly")):
                data: bytes = self._reader.read(size)
        except Exception:
            request = self._request()
            if request is not None:
                request.force_close()
            raise
        return data
