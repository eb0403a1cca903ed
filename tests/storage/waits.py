"""How long a call waits in vain, counted instead of timed.

What bounds a call is not the clock on the wall, which a busy machine slows down, but the time-outs that run out while
it is made. Each thread (under gevent, each greenlet) adds up its own: of sockets, of locks with a bound (the pool's
queue, a refresh), and of sleeps.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest


class _Waited(threading.local):
    seconds = 0.0


_waited = _Waited()

_SOCKET_METHODS = ("connect", "recv", "recv_into", "sendall")


@contextmanager
def counted() -> Iterator[None]:
    """Count the waits of all threads from now on."""
    with pytest.MonkeyPatch.context() as patch:
        for name in _SOCKET_METHODS:
            patch.setattr(socket.socket, name, _of_socket(getattr(socket.socket, name)))
        patch.setattr(threading.Condition, "wait", _of_condition(threading.Condition.wait))
        patch.setattr(time, "sleep", _of_sleep(time.sleep))
        yield


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """The time-outs that run out in this thread come to less than so many seconds. Only where waits are ``counted``."""
    assert threading.Condition.wait.__name__ == "counted_wait", "nobody counts the waits"
    began = waited()
    yield
    assert waited() - began < seconds


def waited() -> float:
    """The seconds that this thread has waited in vain by now."""
    return _waited.seconds


def _of_socket(method: Callable[..., Any]) -> Callable[..., Any]:
    def counted_call(self: socket.socket, *arguments: Any, **options: Any) -> Any:
        try:
            return method(self, *arguments, **options)
        except TimeoutError:
            _waited.seconds += self.gettimeout() or 0.0
            raise

    return counted_call


def _of_condition(wait: Callable[..., bool]) -> Callable[..., bool]:
    def counted_wait(self: threading.Condition, timeout: float | None = None) -> bool:
        notified = wait(self, timeout)
        if not notified:
            _waited.seconds += timeout or 0.0
        return notified

    return counted_wait


def _of_sleep(sleep: Callable[[float], None]) -> Callable[[float], None]:
    def counted_sleep(seconds: float) -> None:
        _waited.seconds += seconds
        sleep(seconds)

    return counted_sleep
