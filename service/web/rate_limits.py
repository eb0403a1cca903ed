"""How often somebody may ask: so many a minute from one address, and so many for one seat.

    create     every request to create a game or to check a record, by address; a long record weighs more
    failure    every answer 401, 403 or 404 below /v1/games/, by address; nothing but such an answer becomes a refusal
    seat       every request with the token of a seat, by game and seat

Owns the counting and what is refused. Windows are the minutes of the clock, so that a count needs one round trip, and
all machines agree on when one ends. A seat is counted in the worker's memory first, so that an ordinary move asks
nobody; only a busy one is counted in Redis, where all workers count together. If Redis fails, the worker counts alone
for some seconds. Must not know where the games are kept, nor how a refusal looks.
"""

from __future__ import annotations

import ipaddress
import logging
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from limits.storage import MemoryStorage, Storage

WINDOW_SECONDS: Final = 60
FALLBACK_SECONDS: Final = 5.0
"""How long a worker counts alone when Redis has failed."""

_BUSY: Final = 4
"""A seat is counted in Redis when one worker alone has had this part of what it may ask."""

_log = logging.getLogger(__name__)


class Quota(NamedTuple):
    """What is left of a limit, and when all of it is there again, in seconds."""

    name: str
    limit: int
    remaining: int
    reset: int

    def headers(self) -> list[tuple[str, str]]:
        """As draft-ietf-httpapi-ratelimit-headers says it."""
        return [
            ("RateLimit-Policy", f'"{self.name}";q={self.limit};w={WINDOW_SECONDS}'),
            ("RateLimit", f'"{self.name}";r={self.remaining};t={self.reset}'),
        ]


class RateLimited(Exception):
    """Too many requests; the quota says which limit it is and when to come again."""

    def __init__(self, quota: Quota) -> None:
        super().__init__("rate limited")
        self.quota = quota


class RateLimits:
    """The limits of one application, each a number a minute, 0 for none.

    ``connect`` gives the storage in which all workers count; it is called when it is first needed.
    """

    def __init__(
        self,
        connect: Callable[[], Storage] = MemoryStorage,
        clock: Callable[[], float] = time.time,
        *,
        create: int = 0,
        failure: int = 0,
        seat: int = 0,
    ) -> None:
        self._shared = _SharedCounter(connect)
        self._clock = clock
        self._create = create
        self._failure = failure
        self._seat = seat
        self._minute = 0
        self._seats: dict[tuple[str, int], int] = {}

    def limit_create(self, address: str, weight: int = 1) -> Quota | None:
        """Count a request to create a game or to check a record, or what it weighs; ``None`` without a limit.

        Raises ``RateLimited``.
        """
        return _checked(self._by_address("create", self._create, address, weight))

    def count_failure(self, address: str) -> Quota | None:
        """Count an answer that refused a token, a code or an address; the quota if there were too many."""
        quota = self._by_address("failure", self._failure, address)
        return None if quota is None or quota.remaining >= 0 else quota._replace(remaining=0)

    def limit_seat(self, game: str, seat: int | None) -> Quota | None:
        """Count a request of a seat; ``None`` for a spectator or without a limit. Raises ``RateLimited``."""
        limit = self._seat
        if not limit or seat is None:
            return None
        now = self._clock()
        minute = int(now) // WINDOW_SECONDS
        if minute != self._minute:
            # A plain dictionary: limits' MemoryStorage looks through all its keys every 10 ms, by a thread of its own.
            self._minute = minute
            self._seats = {}
        key = (game, seat)
        count = self._seats[key] = self._seats.get(key, 0) + 1
        calm = limit // _BUSY
        if count > calm:
            # What was not counted in Redis before is made up for at once.
            count = self._shared.count(f"seat/{game}/{seat}/{minute}", count if count == calm + 1 else 1)
        quota = Quota("seat", limit, limit - count, WINDOW_SECONDS - int(now) % WINDOW_SECONDS)
        if count > limit:
            raise RateLimited(quota._replace(remaining=0))
        return quota

    def _by_address(self, name: str, limit: int, address: str, weight: int = 1) -> Quota | None:
        if not limit:
            return None
        now = int(self._clock())
        count = self._shared.count(f"{name}/{client_network(address)}/{now // WINDOW_SECONDS}", weight)
        return Quota(name, limit, limit - count, WINDOW_SECONDS - now % WINDOW_SECONDS)


class _SharedCounter:
    """Counts in Redis, or in the memory of this process while Redis fails."""

    def __init__(self, connect: Callable[[], Storage]) -> None:
        self._connect = connect
        self._storage: Storage | None = None
        self._own: MemoryStorage | None = None
        self._alone_until = 0.0

    def count(self, key: str, amount: int) -> int:
        """How often that was in its minute, this ``amount`` included."""
        now = time.monotonic()
        if now >= self._alone_until:
            was_alone = self._alone_until > 0
            if was_alone:
                self._alone_until = now + FALLBACK_SECONDS  # the others need not find out, too
            try:
                if self._storage is None:
                    self._storage = self._connect()
                count = self._storage.incr(key, WINDOW_SECONDS, amount)
            except Exception as error:  # whatever it is: nobody is refused for it
                _log.warning("rate limits are counted by each worker alone: %s", type(error).__name__)
                self._alone_until = time.monotonic() + FALLBACK_SECONDS
            else:
                self._alone_until = 0.0
                return count
        if self._own is None:
            self._own = MemoryStorage()
        return self._own.incr(key, WINDOW_SECONDS, amount)


def client_network(address: str) -> str:
    """Whose address that is: itself, of IPv6 the first 64 bits."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.IPv6Address(int(found) >> 64 << 64))


def _checked(quota: Quota | None) -> Quota | None:
    if quota is not None and quota.remaining < 0:
        raise RateLimited(quota._replace(remaining=0))
    return quota
