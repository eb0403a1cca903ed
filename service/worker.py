"""The gunicorn worker: gevent's, but for what it says to a request that is no HTTP.

gunicorn would answer such a request with a page of HTML that repeats part of it, and write that part
into the log. Here it is a problem like any other, and says nothing of what was sent. It is imported
before gevent patches the standard library, so it must not import the application.
"""

from __future__ import annotations

import contextlib
import json
import socket
from typing import Any, Final

from gunicorn.http.errors import ParseException
from gunicorn.workers.ggevent import GeventWorker

_MALFORMED: Final = {
    "type": "/docs#malformed",
    "title": "Malformed request",
    "status": 400,
    "detail": "This is not an HTTP request as this service reads it.",
    "code": "malformed",
}
_INTERNAL: Final = {
    "type": "/docs#internal",
    "title": "Internal error",
    "status": 500,
    "detail": "The service made a mistake; look at the game before you try again.",
    "code": "internal",
}


class Worker(GeventWorker):  # type: ignore[misc]  # gunicorn has no type information
    """A gevent worker whose own errors are problems."""

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: Exception) -> None:  # noqa: ARG002 # gunicorn's signature
        """Answer a request that could not be read, or that broke outside the application."""
        if isinstance(exc, ParseException):
            self.log.info("malformed request: %s", type(exc).__name__)
            shown, reason = _MALFORMED, "Bad Request"
        else:
            self.log.error("error outside the application", exc_info=exc)
            shown, reason = _INTERNAL, "Internal Server Error"
        body = json.dumps(shown).encode()
        head = (
            f"HTTP/1.1 {shown['status']} {reason}\r\n"
            "Content-Type: application/problem+json\r\n"
            "Access-Control-Allow-Origin: *\r\n"
            "Connection: close\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        with contextlib.suppress(OSError):
            client.sendall(head.encode() + body)
