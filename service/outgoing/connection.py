"""A connection on which every wait ends by a deadline, however slowly the other side sends.

Owns the socket and how it is connected, TLS on it, and the number of bytes that are read. Does not depend on HTTP.

A time limit of a socket is no such deadline: it begins anew with each byte that arrives, with gevent also within one
record of TLS. So TLS runs on buffers in memory here, and every wait is one for the socket, for the time that is left.
"""

from __future__ import annotations

import io
import socket
import ssl
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeVar

from service.outgoing.addresses import Address
from service.outgoing.deadline import Deadline

_T = TypeVar("_T")
CONNECT_SECONDS: Final = 3.0
_RECEIVE_BYTES: Final = 65536
_MOST_ADDRESSES: Final = 4

Connect = Callable[[Address, int, float], socket.socket]
"""A connection to this address and port, made within so many seconds; raises ``OSError``."""


class TooMuch(Exception):
    """The other side has sent more bytes than are read."""


class Connection:
    """A connected socket; used by one thread at a time."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._socket = sock
        self._tls: ssl.SSLObject | None = None
        self._from_network = ssl.MemoryBIO()
        self._to_network = ssl.MemoryBIO()
        self._deadline = deadline
        self._allowance = 0
        self.has_received = False
        """Whether anything was read since ``begin``."""

    def begin(self, deadline: Deadline, most_bytes: int) -> None:
        """Begin a request: it ends by ``deadline``, and no more than this number of bytes is read in answer."""
        self._deadline = deadline
        self._allowance = most_bytes
        self.has_received = False

    def start_tls(self, context: ssl.SSLContext, host: str) -> None:
        """Continue with TLS. Raises ``ssl.SSLError`` if the certificate is not one for this host."""
        self._tls = context.wrap_bio(self._from_network, self._to_network, server_hostname=host)
        self._drive(self._tls.do_handshake)

    def sendall(self, data: bytes) -> None:
        """Send the data. Raises ``OSError``, ``TimeoutError``."""
        if self._tls is None:
            self._send(data)
        else:
            self._drive(partial(self._tls.write, data))  # always all of it, as it goes to memory

    def receive(self, size: int) -> bytes:
        """Up to ``size`` bytes; none at the end. Raises ``OSError``, ``TimeoutError``, ``TooMuch``."""
        if self._allowance <= 0:
            raise TooMuch
        size = min(size, self._allowance)
        data = self._receive(size) if self._tls is None else self._drive(partial(_read, self._tls, size))
        self._allowance -= len(data)
        self.has_received = self.has_received or bool(data)
        return data

    def makefile(self, _mode: str = "rb") -> io.BufferedReader:
        """Return a file to read from, as ``http.client`` expects it of a socket.

        To close it leaves the connection open.
        """
        return io.BufferedReader(_Reader(self))

    def is_silent(self) -> bool:
        """Return whether the connection is open with nothing to read, as it should be between two requests."""
        if self._tls is not None and self._tls.pending():
            return False
        self._socket.settimeout(0)
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def close(self) -> None:
        """Close the connection, without waiting for the other side."""
        self._socket.close()

    def _drive(self, step: Callable[[], _T]) -> _T:
        """Take a step of TLS: send what it has to send, and receive as often as it needs more."""
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                self._flush()
                data = self._receive(_RECEIVE_BYTES)
                if data:
                    self._from_network.write(data)
                else:
                    self._from_network.write_eof()
            else:
                self._flush()
                return result

    def _flush(self) -> None:
        if self._to_network.pending:
            self._send(self._to_network.read())

    def _send(self, data: bytes) -> None:
        self._socket.settimeout(self._deadline.left())
        self._socket.sendall(data)

    def _receive(self, size: int) -> bytes:
        self._socket.settimeout(self._deadline.left())
        return self._socket.recv(size)


def _read(tls: ssl.SSLObject, size: int) -> bytes:
    """Read decrypted bytes; none at the end, also at one that was not announced."""
    try:
        return tls.read(size)
    except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
        return b""


class _Reader(io.RawIOBase):
    """The bytes of one answer."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._connection.receive(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def connect_one(addresses: tuple[Address, ...], port: int, deadline: Deadline, connect: Connect) -> socket.socket:
    """Return a socket connected to the first of the addresses that accepts, within ``CONNECT_SECONDS`` in all."""
    limit = Deadline(min(CONNECT_SECONDS, deadline.left()))
    addresses = addresses[:_MOST_ADDRESSES]
    for others, address in zip(range(len(addresses) - 1, 0, -1), addresses, strict=False):
        try:
            return connect(address, port, limit.left() / (others + 1))
        except OSError:
            continue
    return connect(addresses[-1], port, limit.left())


def connect_socket(address: Address, port: int, seconds: float) -> socket.socket:
    """Return a socket that is connected to this address. Raises ``OSError``."""
    sock = socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6, socket.SOCK_STREAM)
    try:
        sock.settimeout(seconds)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.connect((str(address), port))
    except BaseException:
        sock.close()
        raise
    return sock
