"""Limits the bytes that a tenant may store in a day (UTC), counted in Redis or Valkey.

Owns the share of each tenant. In a day, the network of an address may store a twentieth of the memory of all servers,
and an application a fifth, unless the settings, or the operator for one application, set another limit. When memory is
short, writes to existing games are limited, too: with them, a tenant may store two shares. Once only the memory reserve
is left, a tenant may write a twentieth of it. Does not depend on what is written, or how its size is estimated.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple

from service.bounded_cache import BoundedCache
from service.engine.errors import Refusal
from service.limits.memory import RESERVE_PERCENT, Memory
from service.redis import keys
from service.redis.calls import RedisCalls
from service.redis.connection import NotSent
from service.redis.errors import OutcomeUnknown, StorageUnavailable

REFRESH_SECONDS: Final = 1.0
"""Seconds between two readings of the memory of the servers."""
HALF_PERCENT: Final = 50
"""Percentage of used memory from which memory is short, so that writes to existing games are limited."""
WRITE_SHARES: Final = 2
"""The limit of all writes of a tenant, in shares. New things may use only one share."""
KNOWN_MS: Final = 10_000
"""Milliseconds for which a process caches a count or an own limit."""
PART_OF_NETWORK: Final = 20
"""The share of the network of an address is 1/20 of the memory."""
PART_OF_APPLICATION: Final = 5
"""The share of an application is 1/5 of the memory."""
PART_OF_RESERVE: Final = 20
"""The share of any tenant in the reserve is 1/20 of it."""

_MIB: Final = 1024 * 1024
_DAY_SECONDS: Final = 86_400
_MAX_KNOWN: Final = 20_000
"""Counts and own limits that are cached."""

_log = logging.getLogger(__name__)


class Tenant(NamedTuple):
    """An application or a network, whose share is charged.

    ``id``: the id of an application, or a digest of a network.
    """

    id: str
    is_app: bool = False


class ShareUsedUp(Refusal):
    """The tenant has used up its share, and gets a new one in ``retry_after`` seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("share_used")
        self.retry_after = retry_after


class Shares:
    """The shares of all tenants. By itself, and during a fault of the store, it admits everything.

    ``counts_writes``: whether memory is short, so that writes to existing games need ``admit``. Every write reads it.
    ``is_reserved``: whether only the reserve is left.
    """

    counts_writes = False
    is_reserved = False

    def charge(self, tenant: Tenant, size: int) -> None:
        """Charge ``size`` bytes for something new. Raises ``ShareUsedUp``, and charges nothing then."""

    def limit(self, tenant: Tenant) -> int | None:  # noqa: ARG002
        """Return the bytes that a tenant may store in a day, ``None`` without a limit."""
        return None

    def admit(self, tenant: Tenant, size: int) -> None:
        """Raise ``ShareUsedUp`` unless the tenant may write ``size`` bytes to an existing game."""

    def count(self, tenant: Tenant, size: int) -> None:
        """Charge ``size`` bytes that were written to existing games; less than 0 to refund what was not stored."""


UNLIMITED: Final = Shares()


class Budgets(NamedTuple):
    """The MiB that a network and an application may store in a day: 0 for no limit, ``None`` for a part of memory."""

    network: int | None = None
    app: int | None = None


class RedisShares(Shares):
    """Counts the bytes of tenants in Redis.

    ``clock``: in milliseconds since 1970.
    ``own_budget``: returns the MiB that the operator has set for an application; can raise ``StorageUnavailable``.

    ``refresh`` reads the memory of the servers; ``keep_refreshing`` repeats that.
    """

    def __init__(
        self, calls: RedisCalls, budgets: Budgets, *, clock: Callable[[], int], own_budget: Callable[[str], int | None]
    ) -> None:
        self._calls = calls
        self._budgets = budgets
        self._clock = clock
        self._read_own_budget = own_budget
        self._bytes: int | None = None
        self._known = BoundedCache[bytes | str, tuple[int | None, int]](_MAX_KNOWN)
        """Counts by their keys, and own limits by application, each with the time when it was read."""

    def refresh(self) -> None:
        """Read the memory of the servers, unless one of them does not answer. Raises no fault of the store."""
        try:
            primaries = [group[0] for group in self._calls.topology.by_primary(keys.CHECKS)]
        except NotSent:
            return
        answers = self._calls.topology.call_each([(key, (b"INFO", b"memory")) for key in primaries])
        if any([isinstance(answer, Exception) for answer in answers]):
            return
        memories = [Memory.from_info(answer) for answer in answers]
        self._bytes = sum([memory.limit for memory in memories])
        self.counts_writes = any([memory.used * 100 > memory.limit * HALF_PERCENT for memory in memories])
        self.is_reserved = any([memory.is_reserved for memory in memories])

    def keep_refreshing(self) -> None:
        """Refresh every second, for ever. Runs in its own thread."""
        while True:
            try:
                self.refresh()
            except Exception:
                _log.exception("the memory of the Redis servers could not be read")
            time.sleep(REFRESH_SECONDS)

    def limit(self, tenant: Tenant) -> int | None:
        budget = self._budgets.app if tenant.is_app else self._budgets.network
        if tenant.is_app:
            own = self._cached(tenant.id, lambda: self._read_own_budget(tenant.id))
            budget = budget if own is None else own
        if budget is not None:
            return budget * _MIB or None
        if self._bytes is None:
            self.refresh()
        return (self._bytes or 0) // (PART_OF_APPLICATION if tenant.is_app else PART_OF_NETWORK) or None

    def charge(self, tenant: Tenant, size: int) -> None:
        limit = self.limit(tenant)
        if limit is not None and not self._count(keys.share(tenant.id, self._day()), size, limit):
            raise ShareUsedUp(self._until_tomorrow())

    def admit(self, tenant: Tenant, size: int) -> None:
        """Charge the share in the reserve if only the reserve is left, else check that two shares are not used up."""
        day = self._day()
        if self.is_reserved and self._bytes:
            reserve = self._bytes * RESERVE_PERCENT // 100
            if self._count(keys.share(tenant.id, day, of=b"reserve"), size, reserve // PART_OF_RESERVE):
                return
            self.refresh()  # memory may have been freed since the last reading
            if self.is_reserved:
                raise ShareUsedUp(self._until_tomorrow())
        limit = self.limit(tenant)
        if limit is not None:
            key = keys.share(tenant.id, day)
            stored = self._cached(key, lambda: int(self._calls.read_all("share", key, (b"GET", key))[0] or 0))
            if (stored or 0) >= WRITE_SHARES * limit:
                raise ShareUsedUp(self._until_tomorrow())

    def count(self, tenant: Tenant, size: int) -> None:
        if self.limit(tenant) is not None:
            self._count(keys.share(tenant.id, self._day()), size, None)

    def _cached(self, key: bytes | str, read: Callable[[], int | None]) -> int | None:
        """Return what ``read`` returns, cached for ``KNOWN_MS``; ``None`` if a fault of the store has prevented it."""
        now = self._clock()
        value, read_at = self._known.get(key) or (None, -KNOWN_MS)
        if now - read_at >= KNOWN_MS:
            with suppress(StorageUnavailable):
                value = read()
            self._known.put(key, (value, now))
        return value

    def _count(self, key: bytes, size: int, limit: int | None) -> bool:
        """Add to a count, and return whether that was possible without exceeding ``limit``.

        After a fault of the store, nothing is added and the result is ``True``.
        """
        with suppress(StorageUnavailable, OutcomeUnknown):
            return bool(self._calls.write("take_share", (key,), size, b"" if limit is None else limit, _DAY_SECONDS))
        return True

    def _day(self) -> int:
        return self._clock() // 1000 // _DAY_SECONDS

    def _until_tomorrow(self) -> int:
        return _DAY_SECONDS - self._clock() // 1000 % _DAY_SECONDS
