"""The gunicorn worker: the gevent worker with timeouts for slow clients, a fast shutdown, and errors as problem+json.

Owns the lifetime of connections and of bodies (``wsgi_exchange`` has the interface to the application):

    idle             after ``keepalive`` of gunicorn_conf since the last response, the connection is closed
    request head     after ``keepalive`` since its first byte, or MAX_HEAD_BYTES, the connection is closed
    request body     after ``body_seconds`` since the first read, the application gets a TimeoutError
    unread body      after the response, the rest of the body is discarded; if it is longer than MAX_DISCARDED_BYTES,
                     the connection is closed
    response         after ``send_seconds`` for one chunk, the connection and the application's iterable are closed
    shutdown         running requests finish, `drain()` of the application is called, idle connections are closed

For a malformed HTTP request, gunicorn would send and log a part of the request. Here the response is a problem that
repeats nothing. This module is imported before gevent patches the standard library, and does not depend on the
application.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import sys
import time
from functools import partial
from types import FrameType, SimpleNamespace
from typing import Any, ClassVar, Final
from weakref import ref

import gevent
from gevent.event import Event
from gevent.pool import Pool
from gevent.server import StreamServer
from gevent.socket import wait_read
from gunicorn.http.errors import InvalidHeader, LimitRequestLine, NoMoreData, ParseException
from gunicorn.http.message import Request
from gunicorn.http.parser import RequestParser
from gunicorn.workers.ggevent import GeventWorker

from service.server.wsgi_exchange import FrozenConfig, Response, base_environ, environ_of

# Checks of the head of a request that RFC 9112 requires and gunicorn does not make.


_HOST: Final = re.compile(r"(?:[\w.~!$&'()*+,;=%-]+|\[[\w.~:%-]+\])(?::[0-9]{0,5})?", re.ASCII)
"""A host name or an address, and an optional port; only their characters are checked."""
_HTTP_1_1: Final = (1, 1)
_CODINGS: Final = ("chunked", "identity")


def check_head(request: Any) -> None:
    """Raise gunicorn's ``InvalidHeader`` if the service does not accept a head; lower a version above 1.1 to 1.1.

    ``Host`` must be valid; only HTTP/1.0 can omit it (RFC 9112, 3.2). gunicorn itself refuses a second ``Host``.
    ``Transfer-Encoding`` must not name a compression, because nothing here decompresses the body (RFC 9112, 6.1).
    """
    host = None
    for name, value in request.headers:
        if name == "HOST":
            host = value
        elif name == "TRANSFER-ENCODING" and not all(
            coding.strip(" \t").lower() in _CODINGS for coding in value.split(",")
        ):
            raise InvalidHeader(name)
    if (host is None and request.version >= _HTTP_1_1) or (host is not None and not _HOST.fullmatch(host)):
        raise InvalidHeader("HOST")
    # The response has the newest version that the service knows (RFC 9110, 2.5).
    request.version = min(request.version, _HTTP_1_1)


# Request bodies: the deadline for reading, and the disposal of unread bodies.


MAX_DISCARDED_BYTES: Final = 1024 * 1024
"""Enough for a client that sends a slightly too large body, and reads the response only afterwards."""
DISCARD_STEP_BYTES: Final = 64 * 1024
"""The number of discarded bytes between two switches to other requests."""
YIELD_SECONDS: Final = 1e-9
"""The shortest sleep for which gevent polls all sockets once.

``sleep(0)`` only switches to greenlets that are ready and does not poll. A few clients with pipelined requests could
then occupy the worker for fifty requests while the data of other clients is not read.
"""


def is_unread(reader: Any) -> bool:
    """Return whether a part of the body may not have been received; for a chunked body the result is always true."""
    return getattr(reader, "length", None) != 0


def has_arrived(request: Any) -> bool:
    """Return whether the whole body has arrived with the head, so that reading never waits; false if it is chunked."""
    length = getattr(request.body.reader, "length", None)
    return length is not None and bool(request.unreader.buf.getbuffer().nbytes >= length)


def discard_body(request: Any) -> None:
    """Discard the unread rest of a body, so that the connection can be used for the next request.

    Raises ``StopIteration``, which closes the connection, if the rest is too long, incomplete or malformed, and
    ``TimeoutError`` if it is too slow. gunicorn would discard any length, and run no other request while data arrives.
    """
    try:
        for _ in range(MAX_DISCARDED_BYTES // DISCARD_STEP_BYTES):
            if not request.body.read(DISCARD_STEP_BYTES):
                return
            gevent.sleep(YIELD_SECONDS)
    except (ParseException, NoMoreData):
        pass
    raise StopIteration


class DeadlineReader:
    """The body of a request, with a deadline for the whole body: ``seconds`` after the first read."""

    def __init__(self, request: Any, seconds: float) -> None:
        self._request = ref(request)  # weak, to avoid a reference cycle: the request refers to this reader
        self._reader = request.body.reader
        self._seconds = seconds
        self._deadline: float | None = None

    @property
    def length(self) -> int | None:
        """The number of bytes that have not been received; ``None`` if it is unknown."""
        length: int | None = getattr(self._reader, "length", None)
        return length

    def read(self, size: int) -> bytes:
        """Read up to ``size`` bytes. Raises ``TimeoutError`` after the deadline; any error ends the connection."""
        if not is_unread(self._reader):
            return b""
        now = time.monotonic()
        if self._deadline is None:
            self._deadline = now + self._seconds
        try:
            # Never zero, so that data that has already arrived can be read.
            with gevent.Timeout(max(self._deadline - now, 0.001), TimeoutError("the request body was sent too slowly")):
                data: bytes = self._reader.read(size)
        except Exception:
            request = self._request()
            if request is not None:
                request.force_close()
            raise
        return data


MAX_HEAD_BYTES: Final = 32 * 1024
HEARTBEAT_SECONDS: Final = 1.0


def _problem(status: str, code: str, title: str, detail: str) -> bytes:
    """Return a response that ends the connection; ``status`` is the number with its phrase."""
    number = int(status.partition(" ")[0])
    kind = f"/problems#{code}"
    problem = {"type": kind, "title": title, "status": number, "detail": detail, "code": code, "reason": code}
    body = json.dumps(problem).encode()
    head = (
        f"HTTP/1.1 {status}\r\n"
        "Content-Type: application/problem+json\r\n"
        "Access-Control-Allow-Origin: *\r\n"
        "Cache-Control: no-store\r\n"
        "Content-Language: en\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        "Connection: close\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


_MALFORMED: Final = _problem(
    "400 Bad Request", "malformed", "Malformed request", "This is not a well-formed HTTP request."
)
_URI_TOO_LONG: Final = _problem(
    "414 URI Too Long",
    "uri_too_long",
    "Address too long",
    "The address, with its query, is longer than 4,000 characters.",
)
_INTERNAL: Final = _problem(
    "500 Internal Server Error",
    "internal",
    "Internal error",
    "An unexpected error occurred. Get the game before you retry.",
)


class _BoundedRequest(Request):  # type: ignore[misc]  # gunicorn has no type information
    """A request with a size limit for its whole head: gunicorn limits only each line, and their number."""

    def parse(self, unreader: Any) -> Any:
        """Parse the head. Raises ``LimitRequestHeaders`` if it is too long."""
        self.max_buffer_headers = MAX_HEAD_BYTES
        return super().parse(unreader)

    def should_close(self) -> bool:
        """Return whether the connection is closed after the response (RFC 9112, 9.3).

        Every word of every field ``Connection`` counts; gunicorn compares only the whole value of the first one.
        """
        if self.must_close or self.method == "CONNECT":
            return True
        fields = ",".join([value for name, value in self.headers if name == "CONNECTION"])
        words = [word.strip(" \t").lower() for word in fields.split(",")]
        return "close" in words or (self.version < _HTTP_1_1 and "keep-alive" not in words)

    def _peer_trusted_for_forwarded(self) -> tuple[dict[str, str], list[str]]:
        """Return nothing, which saves parsing the peer's address: the application reads the headers of proxies."""
        return {}, []


RequestParser.mesg_class = _BoundedRequest


class Worker(GeventWorker):  # type: ignore[misc]  # gunicorn has no type information
    """A gevent worker with timeouts for clients. The timeouts are attributes, in seconds."""

    alive: bool
    cfg: Any
    body_seconds: ClassVar[float] = 10.0
    send_seconds: ClassVar[float] = 30.0
    last_request_seconds: ClassVar[float] = 0.5  # at a shutdown, for a last request of a connection

    def init_process(self) -> None:
        """Run the worker until it ends. gunicorn calls this in the new process after the fork."""
        self._stop_requested = Event()
        self._connections: set[socket.socket] = set()
        self._in_flight: dict[socket.socket, Any] = {}
        self.cfg = FrozenConfig(self.cfg)
        self._base_environ = base_environ(self.cfg)
        super().init_process()

    def init_signals(self) -> None:
        """Install the signal handlers, then unblock the stop signals, which have been blocked since the fork."""
        super().init_signals()
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if not self.alive:
            sys.exit(0)  # do not load the application first, which takes a while

    def load_wsgi(self) -> None:
        """Load the application, and use its clock (``seconds``), if it has one, for the field ``Date``."""
        super().load_wsgi()
        self._seconds = getattr(self.wsgi, "seconds", time.time)

    def run(self) -> None:
        """Serve until a stop is requested; then finish the running requests, within the graceful timeout."""
        servers = [self._serve(socket) for socket in self.sockets]
        while self.alive:
            self.notify()
            self._stop_requested.wait(HEARTBEAT_SECONDS)
        self._drain(servers)

    def notify(self) -> None:
        """Send a heartbeat to gunicorn's master; without a master, request a stop."""
        self.tmp.notify()
        if self.alive and self.ppid != os.getppid():
            self.log.info("the master has ended, stopping: %s", self)
            self.alive = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Request a stop. ``run`` does the shutdown, because a signal handler must not block or switch greenlets."""
        super().handle_exit(sig, frame)
        self._stop_requested.set()

    def _serve(self, listener: Any) -> StreamServer:
        listener.setblocking(1)
        address = listener.getsockname()
        # gunicorn asks for the address of each connection, even after the listener is closed.
        handle = partial(self.handle, SimpleNamespace(getsockname=lambda: address))
        server = StreamServer(listener, handle=handle, spawn=Pool(self.worker_connections))
        if self.cfg.workers > 1:
            server.max_accept = 1  # leave the next connection to the other workers
        server.start()
        return server

    def _drain(self, servers: list[StreamServer]) -> None:
        deadline = time.monotonic() + self.cfg.graceful_timeout
        for server in servers:
            server.close()
        for request in self._in_flight.values():
            request.force_close()  # `Connection: close`, unless the response has begun; later responses have it, too
        try:
            getattr(self.wsgi, "drain", lambda: None)()
        except Exception:
            self.log.exception("drain() of the application failed")
        if self._finish(servers, min(deadline, time.monotonic() + self.last_request_seconds)):
            return
        for connection in self._connections - self._in_flight.keys():
            with contextlib.suppress(OSError):
                _shutdown_read(connection)
        if self._finish(servers, deadline):
            return
        self.log.warning("graceful timeout exceeded, closing %d connections", len(self._connections))
        for server in servers:
            server.stop(timeout=0)

    def _finish(self, servers: list[StreamServer], deadline: float) -> bool:
        """Wait until all connections are closed; return whether that happened before ``deadline``."""
        for server in servers:
            while server.pool:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self.notify()
                server.pool.join(timeout=min(left, HEARTBEAT_SECONDS))
        return True

    def handle(self, listener: Any, client: Any, addr: Any) -> None:
        """Serve one connection until it is closed."""
        self._connections.add(client)
        try:
            super().handle(listener, client, addr)
        finally:
            self._connections.discard(client)

    def handle_request(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> None:
        """Handle one request by the application. Raises ``StopIteration`` to close the connection."""
        check_head(req)
        has_body = is_unread(req.body.reader)
        if has_body and not has_arrived(req):
            req.body.reader = DeadlineReader(req, self.body_seconds)
        if req._expected_100_continue:  # noqa: SLF001 # gunicorn's own module reads it, too
            sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._in_flight[sock] = req
        sock.settimeout(self.send_seconds)
        try:
            try:
                environ = environ_of(self._base_environ, req, listener_name, addr)
                self._respond(Response(req, sock, self.cfg, self._seconds), environ)
            finally:
                # Also if the connection is closed next: closing it with unread data could discard the response.
                if has_body and is_unread(req.body.reader):
                    discard_body(req)
        except TimeoutError as error:
            self.log.info("client too slow")
            raise StopIteration from error
        finally:
            sock.settimeout(None)  # the next head is read with a deadline of its own
            del self._in_flight[sock]
        self._wait_for_next(req, sock)

    def _wait_for_next(self, request: Any, sock: Any) -> None:
        """Serve other connections until the next request arrives. Raises ``StopIteration`` if it does not in time.

        Without this, a client with pipelined requests would be served again before all others.
        """
        if self.cfg.is_ssl or request.unreader.buf.getbuffer().nbytes:
            gevent.sleep(YIELD_SECONDS)
        else:
            wait_read(sock.fileno(), timeout=self.cfg.keepalive, timeout_exc=StopIteration())

    def _respond(self, response: Any, environ: dict[str, Any]) -> None:
        """Call the application and send its response. Raises ``StopIteration`` to close the connection."""
        self.nr += 1
        if self.nr == self.max_requests:
            self.log.info("this worker has handled as many requests as it should, stopping: %s", self)
            self.alive = False
        if not self.alive or not self.cfg.keepalive:
            response.force_close()
        try:
            body = self.wsgi(environ, response.start_response)
            try:
                for part in body:
                    response.write(part)
                response.close()
            finally:
                close = getattr(body, "close", None)
                if close is not None:
                    close()
        except gevent.GreenletExit:  # the worker stops
            raise StopIteration from None
        except OSError:
            raise
        except Exception:
            if not response.has_begun:
                raise
            self.log.exception("error in the application after the beginning of its response")
            raise StopIteration from None
        if response.should_close():
            raise StopIteration

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: Exception) -> None:  # noqa: ARG002 # gunicorn's signature
        """Respond to a malformed request, or to an error outside the application."""
        if isinstance(exc, LimitRequestLine):
            self.log.info("request line too long")
            problem = _URI_TOO_LONG
        elif isinstance(exc, ParseException):
            self.log.info("malformed request: %s", type(exc).__name__)
            problem = _MALFORMED
        else:
            self.log.error("error outside the application", exc_info=exc)
            problem = _INTERNAL
        with contextlib.suppress(OSError):
            client.settimeout(self.send_seconds)
            client.sendall(problem)


def _shutdown_read(connection: socket.socket) -> None:
    """Make the reader of a connection reach an end of file after the data that has arrived.

    Uses a duplicate of the socket: gevent would raise an error in the greenlet that reads the original one.
    """
    with socket.socket(fileno=os.dup(connection.fileno())) as duplicate:
        duplicate.shutdown(socket.SHUT_RD)
