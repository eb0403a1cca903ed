"""The gunicorn worker: gevent's, with bounds for slow clients, a quick end, and problems for its own errors.

Owns what happens to a connection around the application:

    head of a request    ``keepalive`` of gunicorn_conf in all, from the last answer on; then the line is closed
    body of a request    BODY_SECONDS in all, from the first read on; then the application is told by a TimeoutError
    answer               SEND_SECONDS for each piece; then the line is closed and the application's iterable too
    a stop               what runs is answered, `drain()` of the application is called, silent lines are hung up on

gunicorn would answer a request that is no HTTP with a page of HTML that repeats part of it, and write that part
into the log. Here it is a problem like any other, and says nothing of what was sent. It is imported
before gevent patches the standard library, so it must not import the application.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import time
from functools import partial
from types import FrameType
from typing import Any, ClassVar, Final, NamedTuple
from weakref import ref

import gevent
from gevent.event import Event
from gevent.pool import Pool
from gevent.server import StreamServer
from gunicorn.http.errors import ParseException
from gunicorn.workers.ggevent import GeventWorker

BODY_SECONDS: Final = 10.0
SEND_SECONDS: Final = 30.0
LAST_REQUEST_SECONDS: Final = 0.5  # a busy client sends its next request within it, and is told to go elsewhere
HEARTBEAT_SECONDS: Final = 1.0
YIELD_SECONDS: Final = 1e-9
"""Seconds that are over before they have begun, but for which gevent looks at all lines, to clients and to Redis, once.

``sleep(0)`` looks at none: it only lets run what sleeps like that. So a few busy clients, each of whose next requests
is there already, take turns among themselves while the others' requests and answers lie unread, for fifty turns.
"""

_MALFORMED: Final = {
    "type": "/docs#malformed",
    "title": "Malformed request",
    "status": 400,
    "detail": "This is not an HTTP request as this service reads it.",
    "code": "malformed",
}
_INTERNAL: Final = {
    "type": "/docs#internal",
    "title": "Internal error",
    "status": 500,
    "detail": "The service made a mistake; look at the game before you try again.",
    "code": "internal",
}


class Worker(GeventWorker):  # type: ignore[misc]  # gunicorn has no type information
    """A gevent worker that waits for no client for ever. Its bounds are attributes, in seconds."""

    alive: bool
    body_seconds: ClassVar[float] = BODY_SECONDS
    send_seconds: ClassVar[float] = SEND_SECONDS
    last_request_seconds: ClassVar[float] = LAST_REQUEST_SECONDS

    def init_process(self) -> None:
        """Begin the life of the process; gunicorn calls this after the fork, and it returns at the end."""
        self._told_to_stop = Event()
        self._lines: set[socket.socket] = set()
        self._in_flight: dict[socket.socket, Any] = {}
        super().init_process()

    def init_signals(self) -> None:
        """Take the signals; one to stop that came since the fork has been held back, and is heard now."""
        super().init_signals()
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if not self.alive:
            sys.exit(0)  # before the application is loaded, which takes its time

    def run(self) -> None:
        """Serve until told to stop; then finish what runs, for at most the graceful timeout."""
        servers = [self._serve(each) for each in self.sockets]
        while self.alive:
            self.notify()
            self._told_to_stop.wait(HEARTBEAT_SECONDS)
        self._drain(servers)

    def notify(self) -> None:
        """Tell gunicorn's master that this process is well; without a master it stops as if told to."""
        self.tmp.notify()
        if self.alive and self.ppid != os.getppid():
            self.log.info("the master is gone, stopping: %s", self)
            self.alive = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take the signal to stop; what is to be done about it is done by ``run``, which may wait and switch."""
        super().handle_exit(sig, frame)
        self._told_to_stop.set()

    def _serve(self, listener: Any) -> StreamServer:
        listener.setblocking(1)
        handle = partial(self.handle, _Listener(listener.getsockname()))
        server = StreamServer(listener, handle=handle, spawn=Pool(self.worker_connections))
        if self.cfg.workers > 1:
            server.max_accept = 1  # leave the next one to the other workers
        server.start()
        return server

    def _drain(self, servers: list[StreamServer]) -> None:
        ends = time.monotonic() + self.cfg.graceful_timeout
        for server in servers:
            server.close()
        for request in self._in_flight.values():
            request.force_close()  # says so in the answer, if that has not begun; those to come do it by themselves
        self._notify_application()
        if self._finish(servers, min(ends, time.monotonic() + self.last_request_seconds)):
            return
        for line in self._lines - self._in_flight.keys():
            with contextlib.suppress(OSError):
                _shutdown_read(line)
        if self._finish(servers, ends):
            return
        self.log.warning("the time to stop is over, %d clients are cut off", len(self._lines))
        for server in servers:
            server.stop(timeout=0)

    def _notify_application(self) -> None:
        drain = getattr(self.wsgi, "drain", None)
        if drain is None:
            return
        try:
            drain()
        except Exception:
            self.log.exception("the application could not be told to stop")

    def _finish(self, servers: list[StreamServer], ends: float) -> bool:
        """Wait for the connections to end; whether they did before ``ends``."""
        for server in servers:
            while server.pool:
                left = ends - time.monotonic()
                if left <= 0:
                    return False
                self.notify()
                server.pool.join(timeout=min(left, HEARTBEAT_SECONDS))
        return True

    def handle(self, listener: Any, client: Any, addr: Any) -> None:
        """Serve one connection to its end."""
        self._lines.add(client)
        try:
            super().handle(listener, client, addr)
        finally:
            self._lines.discard(client)

    def handle_request(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> None:
        """Have one request answered by the application. Raises ``StopIteration`` to end the connection."""
        if getattr(req.body.reader, "length", None) != 0:
            req.body.reader = _DeadlineReader(req, self.body_seconds)
        self._in_flight[sock] = req
        sock.settimeout(self.send_seconds)
        try:
            super().handle_request(listener_name, req, sock, addr)
        except TimeoutError as error:
            self.log.info("a client was too slow")
            raise StopIteration from error
        finally:
            sock.settimeout(None)  # reading the next head has a deadline of its own; two timers would be one too many
            del self._in_flight[sock]
        # A client whose next request is there already would be answered again at once; others are waiting.
        gevent.sleep(YIELD_SECONDS)

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: Exception) -> None:  # noqa: ARG002 # gunicorn's signature
        """Answer a request that could not be read, or that broke outside the application."""
        if isinstance(exc, ParseException):
            self.log.info("malformed request: %s", type(exc).__name__)
            shown, reason = _MALFORMED, "Bad Request"
        else:
            self.log.error("error outside the application", exc_info=exc)
            shown, reason = _INTERNAL, "Internal Server Error"
        body = json.dumps(shown).encode()
        head = (
            f"HTTP/1.1 {shown['status']} {reason}\r\n"
            "Content-Type: application/problem+json\r\n"
            "Access-Control-Allow-Origin: *\r\n"
            "Cache-Control: no-store\r\n"
            "X-Content-Type-Options: nosniff\r\n"
            "Connection: close\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        with contextlib.suppress(OSError):
            client.settimeout(self.send_seconds)
            client.sendall(head.encode() + body)


def _shutdown_read(line: socket.socket) -> None:
    """Let the reader of a connection find its end, after what has come already, which is still answered.

    Said to a twin of the socket: gevent would take it as an error of the one that is being read.
    """
    with socket.socket(fileno=os.dup(line.fileno())) as twin:
        twin.shutdown(socket.SHUT_RD)


class _Listener(NamedTuple):
    """What a connection needs of the listening socket, which may be closed by the time that it looks."""

    name: Any

    def getsockname(self) -> Any:
        """The address that is listened on."""
        return self.name


class _DeadlineReader:
    """The body of a request, to be read within ``seconds`` in all, from the first read on, however it drips in."""

    def __init__(self, request: Any, seconds: float) -> None:
        self._request = ref(request)  # which holds this reader: else each request were a circle for the collector
        self._reader = request.body.reader
        self._seconds = seconds
        self._ends: float | None = None

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes. After any error the connection is not used for another request.

        Raises:
            TimeoutError: the time is over.
        """
        if getattr(self._reader, "length", None) == 0:
            return b""
        now = time.monotonic()
        if self._ends is None:
            self._ends = now + self._seconds
        try:
            # At least a little, as what has already come may still be taken.
            with gevent.Timeout(max(self._ends - now, 0.001), TimeoutError("the body came too slowly")):
                data: bytes = self._reader.read(size)
        except Exception:
            request = self._request()
            if request is not None:
                request.force_close()
            raise
        return data
