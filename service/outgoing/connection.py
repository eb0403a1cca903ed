"""Connections on which every wait ends by a deadline, however slowly the other side sends.

Owns the socket, how it is connected, its TLS, the pool of idle connections, and the limit of bytes that are read. Does
not depend on HTTP.

The timeout of a socket is not such a deadline: it restarts with each byte that arrives, with gevent even within one
record of TLS. So TLS runs on buffers in memory here, and every wait for the socket has the remaining time as its
timeout.
"""

from __future__ import annotations

import io
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Lock
from time import monotonic
from typing import Any, Final, TypeVar

from service.outgoing.addresses import Address

# The deadline of several steps together.


class Deadline:
    """A point in time, ``seconds`` from now."""

    def __init__(self, seconds: float) -> None:
        self._begin = monotonic()
        self._end = self._begin + seconds

    def left(self) -> float:
        """Return the remaining seconds, more than 0. Raises ``TimeoutError`` if the deadline has passed."""
        left = self._end - monotonic()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        return left

    def elapsed_ms(self) -> int:
        return int((monotonic() - self._begin) * 1000)


_T = TypeVar("_T")
CONNECT_SECONDS: Final = 3.0
_RECEIVE_BYTES: Final = 65536
_MAX_ADDRESSES: Final = 4

Connect = Callable[[Address, int, float], socket.socket]
"""Returns a socket connected to an address and a port, with a timeout in seconds. Raises ``OSError``."""


class ResponseTooLarge(Exception):
    """The other side has sent more bytes than allowed."""


class Connection:
    """A connected socket. Only one thread at a time may use it.

    ``opened``: when, in seconds of ``time.monotonic``.
    ``has_received``: whether bytes were received since ``begin``.
    """

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._socket = sock
        self._tls: ssl.SSLObject | None = None
        self._from_network = ssl.MemoryBIO()
        self._to_network = ssl.MemoryBIO()
        self._deadline = deadline
        self._bytes_left = 0
        self.has_received = False
        self.opened = monotonic()

    def begin(self, deadline: Deadline, max_bytes: int) -> None:
        """Begin a request, which ends by ``deadline`` and whose response may have ``max_bytes``."""
        self._deadline = deadline
        self._bytes_left = max_bytes
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
            self._drive(partial(self._tls.write, data))  # writes all data, because the buffer in memory has no limit

    def receive(self, size: int) -> bytes:
        """Return up to ``size`` bytes, none at the end. Raises ``OSError``, ``TimeoutError``, ``ResponseTooLarge``."""
        if self._bytes_left <= 0:
            raise ResponseTooLarge
        size = min(size, self._bytes_left)
        data = self._receive(size) if self._tls is None else self._drive(partial(_read, self._tls, size))
        self._bytes_left -= len(data)
        self.has_received = self.has_received or bool(data)
        return data

    def makefile(self, _mode: str = "rb") -> io.BufferedReader:
        """Return a file to read from, for ``http.client``. Closing it does not close the connection."""
        return io.BufferedReader(_Reader(self))

    def is_silent(self) -> bool:
        """Return whether the connection is open and has nothing to read, as expected between two requests."""
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
        """Close the connection without waiting for the other side."""
        self._socket.close()

    def _drive(self, step: Callable[[], _T]) -> _T:
        """Run a step of TLS: send the bytes that it produces, and receive bytes as long as it needs more."""
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
    """Read decrypted bytes, none at the end, even if the other side did not announce the end."""
    try:
        return tls.read(size)
    except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
        return b""


class _Reader(io.RawIOBase):
    """The bytes of a response as a raw stream."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._connection.receive(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def connect_one(addresses: tuple[Address, ...], port: int, deadline: Deadline, connect: Connect) -> socket.socket:
    """Return a socket connected to the first address that accepts. Trying all takes at most ``CONNECT_SECONDS``."""
    limit = Deadline(min(CONNECT_SECONDS, deadline.left()))
    *others, last = addresses[:_MAX_ADDRESSES]
    for tried, address in enumerate(others):
        with suppress(OSError):
            return connect(address, port, limit.left() / (len(others) + 1 - tried))
    return connect(last, port, limit.left())


def connect_socket(address: Address, port: int, seconds: float) -> socket.socket:
    """Return a socket connected to this address. Raises ``OSError``."""
    sock = socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6, socket.SOCK_STREAM)
    try:
        sock.settimeout(seconds)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.connect((str(address), port))
    except BaseException:
        sock.close()
        raise
    return sock


# The pool of idle connections, which are used again for the next request to the same host.


MAX_PER_HOST: Final = 16
MAX_IDLE: Final = 512
"""Idle connections to all hosts."""
IDLE_SECONDS: Final = 15.0
"""Seconds after which an idle connection is closed."""
AGE_SECONDS: Final = 300.0
"""Seconds since its opening after which a connection is not used again."""

Key = tuple[str, str, int]
"""Scheme, host and port."""


class Pool:
    """Idle connections for all threads of a process: at most ``MAX_PER_HOST`` to a host, and ``max_idle`` in all."""

    def __init__(self, max_idle: int = MAX_IDLE, clock: Callable[[], float] = monotonic) -> None:
        self._max_idle = max_idle
        self._clock = clock
        self._lock = Lock()
        self._idle: list[tuple[Key, float, Connection]] = []
        """Host, since when it is idle, and connection; the one that is idle longest first."""

    def take(self, key: Key) -> Connection | None:
        """Remove and return the connection to a host that was idle for the shortest time, if there is one."""
        while True:
            with self._lock:
                places = self._places(key)
                if not places:
                    return None
                _, _, connection = self._idle.pop(places[-1])
            if connection.is_silent():
                return connection
            connection.close()

    def put(self, key: Key, connection: Connection) -> None:
        """Add an idle connection, or close it if it is too old. A full pool closes the one that was idle longest."""
        now = self._clock()
        if now - connection.opened > AGE_SECONDS:
            connection.close()
            return
        with self._lock:
            places = self._places(key)
            if len(places) >= MAX_PER_HOST:
                self._close(places[0])
            elif len(self._idle) >= self._max_idle:
                self._close(0)
            self._idle.append((key, now, connection))

    def close(self) -> None:
        with self._lock:
            while self._idle:
                self._close(0)

    def _places(self, key: Key) -> list[int]:
        """Close all expired connections, and return the indexes of those to a host, in order."""
        oldest = self._clock() - IDLE_SECONDS
        while self._idle and self._idle[0][1] <= oldest:
            self._close(0)
        return [place for place, (other, _, _) in enumerate(self._idle) if other == key]

    def _close(self, place: int) -> None:
        self._idle.pop(place)[2].close()
