"""Rate limits: requests per minute, by address and by seat; changes of a token per hour.

    create     every request to create or join a game or to verify or replay a record, by address
    read       every hundred events of the history of a game that are read for a request, every twenty that are told
               in sentences, every four tiles or ends whose places are computed, and every page of the lobby but the
               first one of usual size, by address
    failure    every response 401, and every 403 or 404 below /v1/games/ or of /v1/seats, by address; only such
               responses are replaced by 429, and a join code, which is short, is not looked at any more
    seat       every request with the token of a seat, by game and seat
    token      every change of the token of a seat, by game and seat
    presence   every request of a seat to leave or come back, by game and seat; its limit has no setting
    app        every request with the key of an application, by application; what counts as ``read`` without a key too,
               unless applications have no limit
    app_games  every request with such a key to create or join a game, by application

The operator may give an application other limits (``app``, ``app_games``).

A request with a large body counts more. Owns the counters and the limits. The windows are the minutes and hours of the
clock, so that counting takes one round trip, and all machines agree on when a window ends. A seat or an application is
counted in the memory of the worker first, so that an ordinary move needs no round trip; only a busy one is counted with
all workers (``service.limits.windows``). Does not depend on the form of a response.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, NamedTuple

from service.backends.ports import Backend
from service.client_address import client_network
from service.limits.windows import Count, FallbackCounts

WINDOW_SECONDS: Final = 60
TOKEN_WINDOW_SECONDS: Final = 3600
PRESENCE_CHANGES: Final = 20
"""Requests to leave or come back that a seat may send per minute.

Each is an event, and a computer player whose turn it is has to decide again after it: without this limit, a player
could keep one that takes its time from ever moving.
"""
_UNSHARED: Final = 10
"""All workers together count up to this fraction (1/10) of the limit of a seat or an application without Redis.

Each counts an equal part of it. So a seat gets at most a tenth more than its limit. An ordinary seat, of which each
worker counts less than its part, needs no round trip.
"""


class Quota(NamedTuple):
    """The rest of a limit, and the seconds until its window ends; ``window`` is its length in seconds."""

    name: str
    limit: int
    remaining: int
    reset: int
    window: int = WINDOW_SECONDS

    def headers(self) -> list[tuple[str, str]]:
        """Return the headers of draft-ietf-httpapi-ratelimit-headers."""
        return [
            ("RateLimit-Policy", f'"{self.name}";q={self.limit};w={self.window}'),
            ("RateLimit", f'"{self.name}";r={self.remaining};t={self.reset}'),
        ]


class RateLimited(Exception):
    """Too many requests; ``quota`` has the limit, and the seconds after which to retry."""

    def __init__(self, quota: Quota) -> None:
        super().__init__("rate limited")
        self.quota = quota


class Limits(NamedTuple):
    """The limits, each a number per minute (``token``: per hour), 0 for none; the head of this module explains them."""

    create: int = 0
    read: int = 0
    failure: int = 0
    seat: int = 0
    token: int = 0
    app: int = 0
    app_games: int = 0


class RateLimits:
    """The counters of one application.

    ``count`` is the one that all workers share; ``workers`` is their number.
    """

    def __init__(
        self,
        count: Count,
        limits: Limits,
        *,
        workers: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._shared = FallbackCounts(count)
        self._clock = clock
        self._limits = limits
        self._share = _UNSHARED * workers
        self._minute = 0
        self._counts: dict[tuple[str | int, ...], int] = {}
        self._in_redis: set[tuple[str | int, ...]] = set()

    def app_requests(self, app: Backend) -> int | None:
        """Return the requests that this application may send per minute; ``None`` without a limit."""
        return (self._limits.app if app.limits.requests is None else app.limits.requests) or None

    def app_games(self, app: Backend) -> int | None:
        """Games that this application may create or join per minute; ``None`` without a limit."""
        return (self._limits.app_games if app.limits.games is None else app.limits.games) or None

    def limit_create(self, address: str, weight: int = 1) -> Quota | None:
        """Count a request to create or join a game or to verify or replay a record, as ``weight`` requests.

        Returns ``None`` without a limit. Raises ``RateLimited``.
        """
        return _checked(self._by_address("create", self._limits.create, address, weight))

    def limit_read(self, address: str, weight: int) -> None:
        """Count a read of the history of a game. Raises ``RateLimited``."""
        if weight:
            _checked(self._by_address("read", self._limits.read, address, weight))

    def limit_app_games(self, app: Backend, weight: int = 1) -> Quota | None:
        """Count a request of an application to create or join a game, as so many; ``None`` without a limit.

        Raises ``RateLimited``.
        """
        return _checked(self._count("app_games", app.id, self.app_games(app) or 0, weight, window=WINDOW_SECONDS))

    def limit_token(self, game: str, seat: int) -> None:
        """Count a change of the token of a seat. Raises ``RateLimited``."""
        _checked(self._count("token", f"{game}/{seat}", self._limits.token, 1, window=TOKEN_WINDOW_SECONDS))

    def limit_presence(self, game: str, seat: int) -> None:
        """Count a request of a seat to leave or come back. Raises ``RateLimited``."""
        _checked(self._count("presence", f"{game}/{seat}", PRESENCE_CHANGES, 1, window=WINDOW_SECONDS))

    def count_failure(self, address: str) -> Quota | None:
        """Count a response that rejected a token, a code or an address; returns the quota if there were too many."""
        quota = self._by_address("failure", self._limits.failure, address)
        return None if quota is None or quota.remaining >= 0 else quota._replace(remaining=0)

    def check_failures(self, address: str) -> None:
        """Raise ``RateLimited`` if there were as many such responses as may be; counts nothing."""
        quota = self._by_address("failure", self._limits.failure, address, 0)
        if quota is not None and quota.remaining <= 0:
            raise RateLimited(quota._replace(remaining=0))

    def limit_bearer(self, game: str, seat: int | None, app: Backend | None, weight: int = 1) -> Quota | None:
        """Count a request of an application, or else of a seat of a game, as ``weight`` requests.

        Returns ``None`` for a spectator or without a limit. Raises ``RateLimited``.
        """
        key: tuple[str | int, ...]
        if app is not None:
            name, key, limit = "app", (app.id,), self.app_requests(app)
        elif seat is not None:
            name, key, limit = "seat", (game, seat), self._limits.seat
        else:
            return None
        if not limit:
            return None
        unshared = limit // self._share
        now = self._clock()
        minute = int(now) // WINDOW_SECONDS
        if minute != self._minute:
            self._minute = minute
            self._counts, self._in_redis = {}, set()
        count = self._counts[key] = self._counts.get(key, 0) + weight
        if count > unshared or key in self._in_redis:
            # The first time, all requests that were counted locally are added.
            first = key not in self._in_redis
            self._in_redis.add(key)
            count = self._shared(
                f"{name}/{'/'.join(map(str, key))}/{minute}", count if first else weight, WINDOW_SECONDS
            )
        quota = Quota(name, limit, limit - count, WINDOW_SECONDS - int(now) % WINDOW_SECONDS)
        if count > limit:
            raise RateLimited(quota._replace(remaining=0))
        return quota

    def _by_address(self, name: str, limit: int, address: str, weight: int = 1) -> Quota | None:
        return self._count(name, client_network(address), limit, weight, window=WINDOW_SECONDS)

    def _count(self, name: str, owner: str, limit: int, weight: int, *, window: int) -> Quota | None:
        if not limit:
            return None
        now = int(self._clock())
        count = self._shared(f"{name}/{owner}/{now // window}", weight, window)
        return Quota(name, limit, limit - count, window - now % window, window)


def _checked(quota: Quota | None) -> Quota | None:
    if quota is not None and quota.remaining < 0:
        raise RateLimited(quota._replace(remaining=0))
    return quota
