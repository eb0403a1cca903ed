"""How many requests are under way to each host, and when there is room for another.

Owns the limit. A host that answers slowly, or not at all, delays what is sent to itself alone. Does not depend on what
is sent.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Final
from urllib.parse import urlsplit

MOST_PER_HOST: Final = 16
"""The most requests that are under way to one host."""
LEAST_DELAY_SECONDS: Final = 0.05
_FIRST_GUESS_SECONDS: Final = 1.0
_WEIGHT: Final = 0.2
"""The weight of the last duration in the mean."""


class _Host:
    __slots__ = ("busy", "free_at", "seconds")

    def __init__(self) -> None:
        self.busy = 0
        self.seconds = _FIRST_GUESS_SECONDS
        """The mean duration."""
        self.free_at = 0.0
        """When there is room for the next request, if all before take as long as usual."""


class Hosts:
    """The hosts of a process. When another is added, those to which nothing is under way or put off are forgotten."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._hosts: dict[str, _Host] = {}
        self._lock = Lock()

    def enter(self, url: str) -> float | None:
        """Begin something with the host of this URL; or else in how many seconds there may be room for it.

        Each caller gets a later time than the one before, so that ten thousand who wait do not come all at once.
        """
        now, name = self._now(), _name(url)
        with self._lock:
            if name not in self._hosts:
                self._hosts = {other: host for other, host in self._hosts.items() if host.busy or host.free_at > now}
            host = self._hosts.setdefault(name, _Host())
            if host.busy < MOST_PER_HOST:
                host.busy += 1
                return None
            host.free_at = max(host.free_at, now) + host.seconds / MOST_PER_HOST
            return max(host.free_at - now, LEAST_DELAY_SECONDS)

    def leave(self, url: str, seconds: float) -> None:
        """End what was begun with the host of this URL, after so many seconds."""
        with self._lock:
            host = self._hosts[_name(url)]
            host.busy -= 1
            host.seconds += _WEIGHT * (seconds - host.seconds)


def _name(url: str) -> str:
    return urlsplit(url).netloc.lower()
