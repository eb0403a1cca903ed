"""Bounds on the duration of calls, by counting expired timeouts instead of reading a clock.

A busy machine slows a call down, but not the timeouts that expire during it. Each thread (under gevent, each greenlet)
sums up its own: those of sockets, of bounded waits for locks (the pool's queue, a refresh), and sleeps.
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
    """Assert that the timeouts that expire in this thread sum up to less than so many seconds. Needs ``counted``."""
    assert threading.Condition.wait.__name__ == "counted_wait", "waits are not counted"
    began = waited()
    yield
    assert waited() - began < seconds


def waited() -> float:
    """The seconds of expired timeouts of this thread so far."""
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
