"""How work gives way to other work, and how a disconnect is noticed: under gunicorn's worker these are greenlets.

Owns these calls of gevent.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from threading import Thread
from typing import Any, Final

YIELD_SECONDS = 1e-9
"""The shortest sleep for which gevent polls its sockets. The same as in ``service.server.request_bodies``, which must
not be imported here."""
_READABLE: Final = 1  # the event mask of libev


def run_in_background(work: Callable[[], None]) -> None:
    """Run background work in a thread, under gevent a greenlet, after the current request.

    A process does not wait for it when it stops.
    """
    Thread(target=work, daemon=True).start()


def yield_control() -> None:
    """Let the other requests of this worker run: under gevent, a sleep yields to the event loop.

    A sleep of zero seconds would run greenlets that are ready, but not poll the sockets.
    """
    time.sleep(YIELD_SECONDS)


def watch_disconnect(connection: Any, notify: Callable[[], None]) -> Callable[[], None]:
    """Call ``notify`` when the client of a connection of gunicorn's worker disconnects, or ends what it sends.

    Returns a function that stops the watch, to be called before the connection is closed. Nothing is read from the
    connection: a client that has sent more, such as its next request, is no longer watched.
    """
    if connection is None:  # another server
        return lambda: None
    from gevent import get_hub, spawn  # noqa: PLC0415 # the worker's event loop; nothing else needs gevent

    watcher = get_hub().loop.io(connection.fileno(), _READABLE)

    def on_readable() -> None:
        watcher.stop()
        spawn(check)

    def check() -> None:
        try:
            disconnected = not connection.recv(1, socket.MSG_PEEK)
        except OSError:
            disconnected = True
        if disconnected:
            notify()

    def stop() -> None:
        watcher.stop()
        watcher.close()

    watcher.start(on_readable)
    return stop
