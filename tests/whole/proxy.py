"""A proxy in front of Redis that loses replies, cuts connections and is slow on demand.

Owns the bytes between a service and its server. Only scripts (EVALSHA) fail, as they are the writes.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections import Counter
from enum import Enum
from itertools import count
from pathlib import Path
from typing import Any

import hiredis

from tests.storage.servers import Loopback

SLOW_SECONDS = 0.3


class Mishap(Enum):
    """What happens to a script and its reply."""

    REPLY_LOST = "replies lost"
    """The server has executed it; the connection stays open and idle."""
    CUT_BEFORE = "cut before"
    """The server never receives it."""
    CUT_AFTER = "cut after"
    """The server has executed it, and the connection breaks."""
    SLOW = "slow replies"


class Proxy(Loopback):
    """Listens on loopback and passes on to the server's socket; every ``every``-th script has the next mishap.

    With ``every = 0`` nothing fails.
    """

    def __init__(self, server: Path) -> None:
        super().__init__()
        self._server = server
        self._connections: dict[socket.socket, _Connection] = {}
        self._scripts = count(1)
        self._mishaps = count()
        self.every = 0
        self.injected: Counter[str] = Counter()

    def serve(self) -> None:
        try:
            while True:
                now = time.monotonic()
                held = [connection.due for connection in self._connections.values() if connection.due]
                wait = max(0.0, min(held) - now) if held else None
                ready, _, _ = select.select([self.wake, self.listening, *self._connections], [], [], wait)
                if self.wake in ready:
                    return
                for end in ready:
                    if end is self.listening:
                        self._accept()
                    elif end in self._connections:  # not cut a moment ago
                        self._pass_on(end, self._connections[end])
                for connection in set(self._connections.values()):
                    if connection.due and connection.due <= time.monotonic():
                        self._flush(connection)
        finally:
            for end in self._connections:
                end.close()

    def _accept(self) -> None:
        client, _ = self.listening.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(str(self._server))
        except OSError:
            client.close()
            server.close()
            return
        self._connections[client] = self._connections[server] = _Connection(client, server)

    def _pass_on(self, end: socket.socket, connection: _Connection) -> None:
        try:
            data = end.recv(65536)
            if not data:
                self._cut(connection)
            elif end is connection.client:
                self._ask(connection, data)
            else:
                self._answer(connection, data)
        except OSError:
            self._cut(connection)

    def _ask(self, connection: _Connection, data: bytes) -> None:
        connection.heard.feed(data)
        while (command := connection.heard.gets()) is not False:
            if self.every and command[0] == b"EVALSHA" and next(self._scripts) % self.every == 0:
                mishaps = list(Mishap)
                connection.mishap = mishaps[next(self._mishaps) % len(mishaps)]
                self.injected[connection.mishap.value] += 1
        if connection.mishap is Mishap.CUT_BEFORE:
            self._cut(connection)
        else:
            connection.server.sendall(data)

    def _answer(self, connection: _Connection, data: bytes) -> None:
        match connection.mishap:
            case Mishap.REPLY_LOST:
                pass  # the client closes the connection, so no other reply is expected
            case Mishap.CUT_AFTER:
                self._cut(connection)
            case Mishap.SLOW:
                connection.held += data
                connection.due = connection.due or time.monotonic() + SLOW_SECONDS
            case _:
                connection.client.sendall(data)

    def _flush(self, connection: _Connection) -> None:
        held, connection.held, connection.due, connection.mishap = connection.held, b"", 0.0, None
        with contextlib.suppress(OSError):
            connection.client.sendall(held)

    def _cut(self, connection: _Connection) -> None:
        connection.due = 0.0
        for end in (connection.client, connection.server):
            self._connections.pop(end, None)
            end.close()


class _Connection:
    """A connection of the service and the one to the server that goes with it."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client = client
        self.server = server
        self.heard: Any = hiredis.Reader()
        self.mishap: Mishap | None = None
        self.held = b""
        self.due = 0.0
