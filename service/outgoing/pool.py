"""Connections that wait for the next request to the same host.

Owns how long they wait. A connection that waits leads to an address that was checked when it was opened; after
``AGE_SECONDS`` the host is looked up again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Final, NamedTuple

from service.outgoing.connection import Connection

MOST_PER_HOST: Final = 16
MOST: Final = 512
IDLE_SECONDS: Final = 15.0
AGE_SECONDS: Final = 300.0

Key = tuple[str, str, int]
"""Scheme, host and port."""


class Open(NamedTuple):
    """An open connection, and when it was opened, in seconds of ``time.monotonic``."""

    connection: Connection
    opened: float


class Pool:
    """For all threads of a process; keeps ``MOST_PER_HOST`` connections of a host, and ``most`` in all."""

    def __init__(self, most: int = MOST, clock: Callable[[], float] = monotonic) -> None:
        self._most = most
        self._clock = clock
        self._lock = Lock()
        self._waiting: dict[Key, OrderedDict[int, Open]] = {}
        self._order: OrderedDict[int, tuple[Key, float]] = OrderedDict()  # by number: since when
        self._number = 0

    def take(self, key: Key) -> Open | None:
        """Return the connection to this host that has waited least; the caller owns it then."""
        while True:
            with self._lock:
                self._close_expired()
                waiting = self._waiting.get(key)
                if not waiting:
                    return None
                found = self._remove(key, next(reversed(waiting)))
            if found.connection.is_silent():
                return found
            found.connection.close()

    def put(self, key: Key, entry: Open) -> None:
        """Let a connection wait, or close it if it is old."""
        now = self._clock()
        if now - entry.opened > AGE_SECONDS:
            entry.connection.close()
            return
        with self._lock:
            self._close_expired()
            if len(self._waiting.get(key, ())) >= MOST_PER_HOST:
                self._remove(key, next(iter(self._waiting[key]))).connection.close()
            elif len(self._order) >= self._most:
                oldest, (other, _) = next(iter(self._order.items()))
                self._remove(other, oldest).connection.close()
            self._number += 1
            self._waiting.setdefault(key, OrderedDict())[self._number] = entry
            self._order[self._number] = (key, now)

    def close(self) -> None:
        """Close all that wait."""
        with self._lock:
            for waiting in self._waiting.values():
                for entry in waiting.values():
                    entry.connection.close()
            self._waiting.clear()
            self._order.clear()

    def _close_expired(self) -> None:
        oldest = self._clock() - IDLE_SECONDS
        while self._order:
            number, (key, since) = next(iter(self._order.items()))
            if since > oldest:
                return
            self._remove(key, number).connection.close()

    def _remove(self, key: Key, number: int) -> Open:
        del self._order[number]
        waiting = self._waiting[key]
        entry = waiting.pop(number)
        if not waiting:
            del self._waiting[key]
        return entry
