"""An answer on its way to the client: gunicorn's, but its head goes out together with the first piece of its body.

Owns the bytes of the head and when they are sent. Each sending is a call of the system, often a packet, and a look of
the client; most answers need one. Like the worker, it must not import the application.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

from gunicorn import util
from gunicorn.http.wsgi import Response


class Answer(Response):  # type: ignore[misc]  # gunicorn has no type information
    """gunicorn's, which decides what is sent; here is only how. Files are sent piece by piece as any body."""

    chunked: bool
    headers_sent: bool
    _head = b""

    def send_headers(self) -> None:
        """Make the head ready for the next sending; the body, or ``close``, brings it."""
        if self.headers_sent:
            return
        self.headers_sent = True
        major, minor = self.req.version
        lines = [
            f"HTTP/{major}.{minor} {self.status}\r\n",
            f"Server: {self.version}\r\nDate: {_date(int(time.time()))}\r\n",
            f"Connection: {'close' if self.should_close() else 'keep-alive'}\r\n",
        ]
        if self.chunked:
            lines.append("Transfer-Encoding: chunked\r\n")
        lines += [f"{name}: {value}\r\n" for name, value in self.headers]
        lines.append("\r\n")
        self._head = "".join(lines).encode("latin-1")

    def close(self) -> None:
        """Send what is left: the head of an answer without a body, the end of one without a length."""
        self.send_headers()
        self._send(b"0\r\n\r\n" if self.chunked else b"")

    def _emit_body(self, data: Any) -> None:
        self._send(b"%X\r\n%b\r\n" % (len(data), data) if self.chunked else data)

    def _send(self, data: bytes) -> None:
        head, self._head = self._head, b""
        if head or data:
            self.sock.sendall(head + data)


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    """The time as HTTP has it, the same for all answers of a second."""
    text: str = util.http_date(second)
    return text
