"""A line to Redis that fails: a proxy that loses replies, cuts connections and is slow, as it is told.

Owns the bytes between a service and its server. It fails only scripts (EVALSHA), which are what writes.
"""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
from collections import Counter
from enum import Enum
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import hiredis

SLOW_SECONDS = 0.3


class Mishap(Enum):
    """What happens to a script and its reply."""

    REPLY_LOST = "replies lost"
    """The server has executed it; the line stays open and silent."""
    CUT_BEFORE = "cut before"
    """The server never hears of it."""
    CUT_AFTER = "cut after"
    """The server has executed it, and the line breaks."""
    SLOW = "slow replies"


class Proxy:
    """Listens on loopback and passes on to the server's socket; every ``every``-th script has the next mishap.

    With ``every = 0`` all is well.
    """

    def __init__(self, server: Path) -> None:
        self._server = server
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._wake, self._waker = socket.socketpair()
        self._thread = threading.Thread(target=self._serve)
        self._lines: dict[socket.socket, _Line] = {}
        self._scripts = count(1)
        self._mishaps = count()
        self.every = 0
        self.injected: Counter[str] = Counter()
        self.url = f"redis://127.0.0.1:{self._listening.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._waker.close()
        self._thread.join(10)
        self._listening.close()
        self._wake.close()

    def _serve(self) -> None:
        try:
            while True:
                now = time.monotonic()
                held = [line.due for line in self._lines.values() if line.due]
                wait = max(0.0, min(held) - now) if held else None
                ready, _, _ = select.select([self._wake, self._listening, *self._lines], [], [], wait)
                if self._wake in ready:
                    return
                for end in ready:
                    if end is self._listening:
                        self._accept()
                    elif end in self._lines:  # not cut a moment ago
                        self._pass_on(end, self._lines[end])
                for line in set(self._lines.values()):
                    if line.due and line.due <= time.monotonic():
                        self._flush(line)
        finally:
            for end in self._lines:
                end.close()

    def _accept(self) -> None:
        client, _ = self._listening.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(str(self._server))
        except OSError:
            client.close()
            server.close()
            return
        self._lines[client] = self._lines[server] = _Line(client, server)

    def _pass_on(self, end: socket.socket, line: _Line) -> None:
        try:
            data = end.recv(65536)
            if not data:
                self._cut(line)
            elif end is line.client:
                self._ask(line, data)
            else:
                self._answer(line, data)
        except OSError:
            self._cut(line)

    def _ask(self, line: _Line, data: bytes) -> None:
        line.heard.feed(data)
        while (command := line.heard.gets()) is not False:
            if self.every and command[0] == b"EVALSHA" and next(self._scripts) % self.every == 0:
                mishaps = list(Mishap)
                line.mishap = mishaps[next(self._mishaps) % len(mishaps)]
                self.injected[line.mishap.value] += 1
        if line.mishap is Mishap.CUT_BEFORE:
            self._cut(line)
        else:
            line.server.sendall(data)

    def _answer(self, line: _Line, data: bytes) -> None:
        match line.mishap:
            case Mishap.REPLY_LOST:
                pass  # nor will any other be heard here: the client hangs up
            case Mishap.CUT_AFTER:
                self._cut(line)
            case Mishap.SLOW:
                line.held += data
                line.due = line.due or time.monotonic() + SLOW_SECONDS
            case _:
                line.client.sendall(data)

    def _flush(self, line: _Line) -> None:
        held, line.held, line.due, line.mishap = line.held, b"", 0.0, None
        with contextlib.suppress(OSError):
            line.client.sendall(held)

    def _cut(self, line: _Line) -> None:
        line.due = 0.0
        for end in (line.client, line.server):
            self._lines.pop(end, None)
            end.close()


class _Line:
    """A connection of the service and the one to the server that goes with it."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client = client
        self.server = server
        self.heard: Any = hiredis.Reader()
        self.mishap: Mishap | None = None
        self.held = b""
        self.due = 0.0
