"""Endpoints on loopback that answer as a test says, and a network on which they have public addresses."""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_address
from threading import Thread

from service.outgoing.addresses import Address
from service.outgoing.connection import connect_socket

PUBLIC = "93.184.215.14"
HOST = "hooks.example.com"
LOOPBACK = ip_address("127.0.0.1")

Behaviour = Callable[[socket.socket], object]
"""Answers a request that was read; the connection is closed if it returns ``False``."""


def answer(status: str = "200 OK", body: bytes = b"", *fields: str) -> Behaviour:
    """Answers with this status, body and header lines."""
    head = "".join(f"{line}\r\n" for line in (f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *fields))
    return raw(f"{head}\r\n".encode() + body)


def raw(data: bytes, *, close: bool = False) -> Behaviour:
    """Sends these bytes, and closes the connection if wished."""

    def behave(sock: socket.socket) -> bool:
        sock.sendall(data)
        return not close

    return behave


def endless(begin: bytes, more: bytes) -> Behaviour:
    """Sends a beginning, and then more until the other side has had enough."""

    def behave(sock: socket.socket) -> bool:
        with contextlib.suppress(OSError):
            sock.sendall(begin)
            while True:
                sock.sendall(more)
        return False

    return behave


class Endpoint:
    """Accepts connections on a port of loopback; behaves on the n-th request of all as the n-th behaviour says.

    The last behaviour is for all requests after it.
    """

    def __init__(self, *behaviours: Behaviour, tls: ssl.SSLContext | None = None) -> None:
        self._behaviours = behaviours
        self._tls = tls
        self._server = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.port = int(self._server.getsockname()[1])
        self.accepted = 0
        self.requests: list[bytes] = []
        Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        """Close all connections, and accept none any more."""
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self.close_connections()

    def close_connections(self) -> None:
        """End those that are open; each is closed by its thread, which may be reading it just now."""
        while self._open:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(self._open.pop(), socket.SHUT_RDWR)

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self._server.accept()
                self.accepted += 1
                Thread(target=self._attend, args=(sock,), daemon=True).start()

    def _attend(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError):
            if self._tls is not None:
                sock = self._tls.wrap_socket(sock, server_side=True)
            self._open.append(sock)
            while request := read_request(sock):
                self.requests.append(request)
                if self.respond(request, sock) is False:
                    break
        sock.close()

    def respond(self, request: bytes, sock: socket.socket) -> object:
        """Behave on a request that was read; the connection is closed if this returns ``False``."""
        return self._behaviours[min(len(self.requests), len(self._behaviours)) - 1](sock)


def read_request(sock: socket.socket) -> bytes:
    """A whole request, or what there is of it."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = sock.recv(65536)
        if not part:
            return data
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
    while len(body) < length:
        part = sock.recv(65536)
        if not part:
            break
        body += part
    return head + b"\r\n\r\n" + body


class Network:
    """Stands for the internet: every connection, whatever its address, leads to one endpoint, and is recorded."""

    def __init__(self, endpoint: Endpoint | None = None, names: Mapping[str, Sequence[str]] | None = None) -> None:
        self._endpoint = endpoint
        self._names = {HOST: (PUBLIC,)} if names is None else names
        self.connected: list[tuple[str, int]] = []
        self.looked_up: list[str] = []

    def lookup(self, host: str) -> Sequence[str]:
        """The addresses of a name; numbers in any form are read as systems read them."""
        self.looked_up.append(host)
        if host in self._names:
            return self._names[host]
        try:
            return [socket.inet_ntoa(socket.inet_aton(host))]
        except OSError:
            raise socket.gaierror(socket.EAI_NONAME, "no such host") from None

    def connect(self, address: Address, port: int, seconds: float) -> socket.socket:
        """A connection to the endpoint."""
        self.connected.append((str(address), port))
        if self._endpoint is None:
            raise ConnectionRefusedError
        return connect_socket(LOOPBACK, self._endpoint.port, seconds)
