"""Requests and streams from greenlets, over plain sockets.

Owns the connections to one service, and how a stream of lines of JSON is read. Does not depend on what is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import Any, Final

import gevent.socket
import orjson

from bench.driver import PATIENCE, Address, Answer, Connection, Refused, request

FRESH_SECONDS: Final = 2.0
"""For so long an idle connection is used again: the service closes it after five."""
_PIECE: Final = 1 << 16


class GreenConnection(Connection):
    """A connection that other greenlets do not wait for."""

    def __init__(self, address: Address) -> None:
        self.socket: Any = gevent.socket.create_connection(address, PATIENCE)
        self.socket.setsockopt(gevent.socket.IPPROTO_TCP, gevent.socket.TCP_NODELAY, 1)


class Door:
    """The connections to one service, each used by one greenlet at a time."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._idle: list[tuple[float, GreenConnection]] = []

    def ask(self, method: str, path: str, body: object = None, token: str | None = None) -> Any:
        """Return the JSON of an answer. Raises ``Refused`` or ``OSError``."""
        sent = b"" if body is None else orjson.dumps(body)
        return orjson.loads(self.send(request(method, path, body=sent, token=token)).body)

    def send(self, asked: bytes) -> Answer:
        """Send a request and return the answer. Raises ``Refused`` or ``OSError``."""
        connection = self._take()
        answered = False
        try:
            answer = connection.send(asked)
            answered = True
        except Refused as error:
            answered = error.status != 0
            raise
        finally:
            if answered:
                self._idle.append((monotonic(), connection))
            else:
                connection.socket.close()
        return answer

    def follow(self, path: str, token: str) -> Iterator[tuple[float, dict[str, Any]]]:
        """Yield each item of a game's stream with views, and when it came, until the stream ends."""
        with GreenConnection(self._address) as connection:
            path = f"{path}/events?view=true&after=0"
            connection.socket.sendall(request("GET", path, token=token, accept="application/x-ndjson"))
            rest = b""
            while piece := connection.socket.recv(_PIECE):
                now = monotonic()
                *lines, rest = (rest + piece).split(b"\n")
                if lines and lines[0].startswith(b"HTTP/1.1 ") and lines[0][9:12] != b"200":
                    raise Refused(lines[0].decode(), int(lines[0][9:12]))
                for line in lines:
                    if line.startswith(b"{"):  # the others are headers and the lengths of pieces
                        yield now, orjson.loads(line)

    def close(self) -> None:
        """Close the connections that are not in use."""
        while self._idle:
            self._idle.pop()[1].socket.close()

    def _take(self) -> GreenConnection:
        while self._idle:
            since, connection = self._idle.pop()
            if monotonic() - since < FRESH_SECONDS:
                return connection
            connection.socket.close()
        return GreenConnection(self._address)
