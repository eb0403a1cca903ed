"""Rate limits: requests per minute, by address, seat or application; token changes per hour.

    create     requests to create or join a game or to verify or replay a record, by address
    read       reads, by address. One read is 100 events of a game's history, 20 events with sentences, 4 tiles or ends
               whose places are computed, or a page of the lobby (the first one of usual size is free)
    failure    responses 401, and 403 or 404 below /v1/games/ or of /v1/seats, by address. After too many, further
               failures become 429, and join codes are not looked up, as they are short; all else is answered
    seat       requests with the token of a seat, by game and seat
    token      changes of the token of a seat, by game and seat
    presence   requests of a seat to leave or come back, by game and seat; this limit has no setting
    app        requests with the key of an application, and its reads, by application; without this limit, its reads
               count by address
    app_games  requests with such a key to create or join a game, by application

The operator can give an application limits of its own (``app``, ``app_games``). A request with a large body counts as
several requests.

Owns the counters and the limits. The windows are the minutes and hours of the clock, so that counting takes one round
trip, and all machines agree on when a window ends. Requests of a seat or an application are counted in the memory of
the worker first, so that an ordinary move needs no round trip; beyond a part of the limit they are counted for all
workers together (``service.limits.windows``). Does not depend on the form of a response.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, NamedTuple

from service.backends.values import Backend
from service.limits.windows import Count

WINDOW_SECONDS: Final = 60
TOKEN_WINDOW_SECONDS: Final = 3600
PRESENCE_CHANGES: Final = 20
"""Maximum number of requests to leave or come back that a seat may send per minute.

Each makes an event, after which a computer player on turn decides anew. Without the limit, a player could keep a slow
computer player from ever moving.
"""
_LOCAL_PART: Final = 10
"""The workers share a tenth (1/10) of the limit of a seat or an application; each counts its part in memory.

So a seat can exceed its limit by a tenth at most. The requests of an ordinary seat stay within these parts, and need no
round trip.
"""


class Quota(NamedTuple):
    """The state of a limit in the current window.

    ``remaining``: the requests that are left; negative if there were too many.
    ``reset``: the seconds until the window ends.
    ``window``: the length of the window in seconds.
    """

    name: str
    limit: int
    remaining: int
    reset: int
    window: int = WINDOW_SECONDS


class RateLimited(Exception):
    """Too many requests; ``quota`` has the limit, and the seconds after which to retry."""

    def __init__(self, quota: Quota) -> None:
        super().__init__("rate limited")
        self.quota = quota


class Limits(NamedTuple):
    """The limits per minute (``token``: per hour), 0 for no limit; the docstring of this module explains them."""

    create: int = 0
    read: int = 0
    failure: int = 0
    seat: int = 0
    token: int = 0
    app: int = 0
    app_games: int = 0
    presence: int = PRESENCE_CHANGES


class RateLimits:
    """The counters of one Flask application.

    ``count``: the counter that all workers share.
    ``workers``: the number of workers.
    """

    def __init__(self, count: Count, limits: Limits, *, workers: int, clock: Callable[[], float] = time.time) -> None:
        self._shared = count
        self._clock = clock
        self._limits = limits
        self._local_part = _LOCAL_PART * workers
        self._minute = 0
        self._counts: dict[tuple[str | int, ...], int] = {}
        self._in_redis: set[tuple[str | int, ...]] = set()

    def app_requests(self, app: Backend) -> int | None:
        """Return the requests that this application may send per minute; ``None`` without a limit."""
        return (self._limits.app if app.limits.requests is None else app.limits.requests) or None

    def app_games(self, app: Backend) -> int | None:
        """Return the games that this application may create or join per minute; ``None`` without a limit."""
        return (self._limits.app_games if app.limits.games is None else app.limits.games) or None

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
        local_limit = limit // self._local_part
        now = self._clock()
        minute = int(now) // WINDOW_SECONDS
        if minute != self._minute:
            self._minute = minute
            self._counts, self._in_redis = {}, set()
        count = self._counts[key] = self._counts.get(key, 0) + weight
        if count > local_limit or key in self._in_redis:
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

    def count(self, name: str, owner: str, weight: int = 1, *, limit: int | None = None) -> Quota | None:
        """Count a request as ``weight`` requests of a network, of a seat of a game, or of an application.

        ``name``: the name of the limit; ``limit`` replaces the one of ``Limits``.
        Returns ``None`` without a limit. Raises ``RateLimited``.
        """
        if limit is None:
            limit = getattr(self._limits, name)
        if not limit:
            return None
        window = TOKEN_WINDOW_SECONDS if name == "token" else WINDOW_SECONDS
        now = int(self._clock())
        count = self._shared(f"{name}/{owner}/{now // window}", weight, window)
        quota = Quota(name, limit, max(limit - count, 0), window - now % window, window)
        if count > limit:
            raise RateLimited(quota)
        return quota
