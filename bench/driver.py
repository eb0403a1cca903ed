"""Many clients in one process: prepared requests over plain sockets, kept alive, one request at a time on each.

Owns the connections and the clock. It parses only the status and the length of a response, so that it uses little of
the processors that it shares with the measured processes. Does not depend on the requests, nor on the candidates.
"""

from __future__ import annotations

import selectors
import socket
from collections.abc import Sequence
from time import perf_counter, process_time
from typing import Final, NamedTuple

PATIENCE: Final = 30.0
"""Seconds without any response after which a burst fails."""
_PIECE: Final = 1 << 18

Address = tuple[str, int]


class Refused(Exception):
    """An unexpected response; the message contains it. ``status`` is 0 if none came."""

    def __init__(self, said: str, status: int = 0) -> None:
        super().__init__(said)
        self.status = status


class Answer(NamedTuple):
    """A response."""

    status: int
    body: bytes
    head: bytes = b""
    """The status line and the headers."""


class Burst(NamedTuple):
    """The times of a burst, in seconds."""

    seconds: float
    latencies: list[float]
    own: float
    """Processor time of the clients."""

    @property
    def rate(self) -> float:
        """Requests per second."""
        return len(self.latencies) / self.seconds


class Connection:
    """One connection."""

    def __init__(self, address: Address) -> None:
        self.socket = socket.create_connection(address, PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Connection:
        """Return the connection itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self.socket.close()

    def send(self, request: bytes) -> Answer:
        """Send one request and return the response. Raises ``Refused``."""
        self.socket.sendall(request)
        data = b""
        while True:
            data += self._receive()
            end = end_of(data)
            if end is not None:
                break
        head = data.index(b"\r\n\r\n") + 4
        if data[9:10] != b"2":
            raise _refused(data)
        return Answer(int(data[9:12]), data[head:end], data[:head])

    def _receive(self) -> bytes:
        piece = self.socket.recv(_PIECE)
        if not piece:
            raise Refused("the connection was closed before the answer")
        return piece


def request(
    method: str, path: str, *, body: bytes = b"", token: str | None = None, accept: str = "*/*", extra: str = ""
) -> bytes:
    """Return the bytes of a request; ``extra`` are complete header lines."""
    headers = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Accept: {accept}"]
    if token is not None:
        headers.append(f"Authorization: Bearer {token}")
    if body or method == "POST":
        headers += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return ("\r\n".join(headers) + f"\r\n{extra}\r\n").encode() + body


def burst(address: Address, scripts: Sequence[Sequence[bytes]], status: int) -> Burst:
    """Play the scripts at the same time, each on its own connection.

    Raises ``Refused`` for an answer with another status than this.
    """
    connections = [Connection(address) for _ in scripts]
    try:
        return _play(connections, scripts, b"%d" % status)
    finally:
        for connection in connections:
            connection.socket.close()


def _play(connections: Sequence[Connection], scripts: Sequence[Sequence[bytes]], status: bytes) -> Burst:
    latencies: list[float] = []
    places = [0] * len(connections)
    sent = [0.0] * len(connections)
    pieces = [b""] * len(connections)
    with selectors.DefaultSelector() as selector:
        for client, connection in enumerate(connections):
            selector.register(connection.socket, selectors.EVENT_READ, client)
        own = process_time()
        began = perf_counter()
        for client, connection in enumerate(connections):
            sent[client] = perf_counter()
            connection.socket.sendall(scripts[client][0])
        running = len(connections)
        while running:
            ready = selector.select(PATIENCE)
            if not ready:
                raise Refused(f"no answer within {PATIENCE:.0f} s")
            for key, _ in ready:
                client = key.data
                connection = connections[client]
                data = pieces[client] + connection.socket.recv(_PIECE)
                if data == pieces[client]:
                    raise Refused("the connection was closed before the answer")
                if end_of(data) is None:
                    pieces[client] = data
                    continue
                latencies.append(perf_counter() - sent[client])
                pieces[client] = b""
                if data[9:12] != status:
                    raise _refused(data)
                places[client] += 1
                if places[client] < len(scripts[client]):
                    sent[client] = perf_counter()
                    connection.socket.sendall(scripts[client][places[client]])
                else:
                    selector.unregister(connection.socket)
                    running -= 1
        return Burst(perf_counter() - began, latencies, process_time() - own)


def end_of(data: bytes) -> int | None:
    """Return the end of the response, if it is complete. Raises ``Refused`` if its length is unknown."""
    head = data.find(b"\r\n\r\n")
    if head < 0:
        return None
    if data[9:12] == b"304":
        return head + 4
    lower = data[:head].lower()
    place = lower.find(b"\r\ncontent-length:")
    if place < 0:
        raise Refused(f"an answer without a length: {data[:200]!r}")
    stop = lower.find(b"\r\n", place + 2)
    length = int(lower[place + 17 : stop if stop > 0 else None])
    end = head + 4 + length
    return end if len(data) >= end else None


def _refused(data: bytes) -> Refused:
    return Refused(data[:600].decode(errors="replace"), int(data[9:12]))
