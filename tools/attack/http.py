"""A connection that accepts every answer, and the bytes of requests.

Does not depend on what is requested. Attackers share the processors with the service, so an answer is parsed only as
far as necessary to find its end.
"""

from __future__ import annotations

import socket
import sys
from typing import Final, NamedTuple

PATIENCE: Final = 10.0
"""Seconds to wait for a part of an answer."""
_PIECE: Final = 1 << 18

Address = tuple[str, int]


class Closed(Exception):
    """The connection was refused, closed or silent before the answer was complete."""


class Answer(NamedTuple):
    """An answer; ``status`` is 1xx to 5xx."""

    status: int
    head: bytes
    body: bytes


class Connection:
    """One connection to ``address``, opened at the first request and after it was closed.

    ``source`` is the address of this client. Only Linux accepts any address in 127.0.0.0/8 there; elsewhere it is not
    used, and all clients share one address.
    """

    def __init__(self, address: Address, source: str, patience: float = PATIENCE) -> None:
        self._address = address
        self._source = (source, 0) if sys.platform == "linux" else None
        self._patience = patience
        self._socket: socket.socket | None = None

    def open(self) -> socket.socket:
        """Return the socket, connected. Raises ``Closed``."""
        if self._socket is None:
            try:
                self._socket = socket.create_connection(self._address, self._patience, self._source)
            except OSError as error:
                raise Closed(str(error)) from None
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._socket

    def close(self) -> None:
        """Close the socket."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def send(self, request: bytes) -> Answer:
        """Send one request and return its answer of any status. Raises ``Closed``."""
        connection = self.open()
        failure = "no answer"
        try:
            connection.sendall(request)
        except OSError as error:
            failure = str(error)  # there may be an answer nevertheless
        try:
            answer = _read(connection, without_body=request.startswith(b"HEAD "))
        except (OSError, ValueError) as error:
            self.close()
            raise Closed(f"{failure}; {error}") from None
        if b"\r\nconnection: close" in answer.head.lower():
            self.close()
        return answer


def _read(connection: socket.socket, *, without_body: bool) -> Answer:
    """One answer. Raises ``OSError`` or ``ValueError``."""
    data = bytearray()
    while (end := data.find(b"\r\n\r\n")) < 0:
        data += _receive(connection)
    head = bytes(data[:end])
    status = int(head[9:12])
    del data[: end + 4]
    lower = head.lower()
    if without_body or status in (204, 304):
        return Answer(status, head, b"")
    if b"\r\ntransfer-encoding: chunked" in lower:
        while not data.endswith(b"0\r\n\r\n"):
            data += _receive(connection)
    else:
        place = lower.index(b"\r\ncontent-length:") + len(b"\r\ncontent-length:")
        length = int(lower[place:].split(b"\r\n", 1)[0])
        while len(data) < length:
            data += _receive(connection)
    return Answer(status, head, bytes(data))


def _receive(connection: socket.socket) -> bytes:
    piece = connection.recv(_PIECE)
    if not piece:
        raise ConnectionError("closed before the answer")
    return piece


def request(
    method: str,
    path: str,
    body: bytes | None = None,
    *,
    token: str | None = None,
    headers: tuple[tuple[str, str], ...] = (),
    content_type: str = "application/json",
) -> bytes:
    """Return the bytes of a request; a POST without a body has an empty one."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    if token is not None:
        lines.append(f"Authorization: Bearer {token}")
    if body is not None or method == "POST":
        lines += [f"Content-Type: {content_type}", f"Content-Length: {len(body or b'')}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + (body or b"")
