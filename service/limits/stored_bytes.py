"""The shares of tenants in Redis or Valkey: bytes counted by the day, and how full the servers are.

Owns how many games of computer players a tenant has, and how much a tenant may write: a twentieth of the memory of all
servers in a day for the network of an address, a fifth for an application, unless the settings say something else, or
the operator of this one. Moves may take as much again; and in the reserve a twentieth of it in a day, whatever was
written before. Days are those of UTC. Does not depend on what is written, or what it weighs.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple, Protocol

from service.bounded_cache import BoundedCache
from service.limits.memory import RESERVE_PERCENT, Memory
from service.redis import keys
from service.redis.calls import RedisCalls, evalsha
from service.redis.connection import NotSent
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.redis.topology import Topology

REFRESH_SECONDS: Final = 1.0
"""Seconds between two looks at the memory of the servers."""
HALF_PERCENT: Final = 50
"""Percentage of its memory from which a server has little left: moves need room in ``MOVES`` shares."""
MOVES: Final = 2
"""The shares that a tenant has for all that it writes; new things take one of them at most."""
KNOWN_MS: Final = 10_000
"""Milliseconds for which a process uses a count that it has read, so that all processes soon answer alike."""
PART_OF_NETWORK: Final = 20
"""The network of an address gets this part (1/20) of the memory in a day."""
PART_OF_APPLICATION: Final = 5
PART_OF_RESERVE: Final = 20

_MIB: Final = 1024 * 1024
_DAY_SECONDS: Final = 86_400
_MAX_KNOWN: Final = 10_000
"""Tenants whose counts a process knows."""

_log = logging.getLogger(__name__)


class Tenant(NamedTuple):
    """Whose share something counts in: an application by its id, or the network of an address by a digest."""

    id: str
    is_app: bool = False


class ShareUsed(Exception):
    """The tenant has used its share up; after ``retry_after`` seconds it has one again."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("share used")
        self.retry_after = retry_after


class Shares(Protocol):
    """The shares of all tenants. A fault of the storage admits what cannot be counted.

    ``counts_writes``: whether writes to games that exist have to be admitted, because there is little memory left; it
    is looked at before each of them, and costs nothing. ``is_reserved``: whether only the reserve is left.
    """

    counts_writes: bool
    is_reserved: bool

    def take(self, tenant: Tenant, size: int) -> None:
        """Count so many bytes of something new in the share of its tenant. Raises ``ShareUsed``, and counts nothing."""

    def limit(self, tenant: Tenant) -> int | None:
        """Return the bytes that a tenant may store in a day; ``None`` for any number."""

    def give_back(self, tenant: Tenant, size: int) -> None:
        """Count so many bytes less: what they were taken for was not stored."""

    def admit(self, tenant: Tenant, size: int) -> None:
        """Admit a write of so many bytes to a game that exists. Raises ``ShareUsed``."""

    def count(self, tenant: Tenant, size: int) -> None:
        """Count what was written to games that exist."""


class Unlimited(Shares):
    """Everybody may write everything."""

    counts_writes = False
    is_reserved = False

    def take(self, tenant: Tenant, size: int) -> None:
        """Admit it."""

    def limit(self, tenant: Tenant) -> int | None:  # noqa: ARG002 # as the port has it
        """Any number."""
        return None

    def give_back(self, tenant: Tenant, size: int) -> None:
        """Do nothing."""

    def admit(self, tenant: Tenant, size: int) -> None:
        """Admit it."""

    def count(self, tenant: Tenant, size: int) -> None:
        """Do nothing."""


UNLIMITED: Final = Unlimited()


class Budgets(NamedTuple):
    """MiB that a network and an application may store in a day: 0 for no limit, ``None`` for a part of the memory."""

    network: int | None = None
    app: int | None = None


class RedisShares(Shares):
    """Counts what the tenants of games write; ``clock`` in milliseconds since 1970.

    ``own_budget`` returns the MiB that the operator has given an application, or raises ``StorageUnavailable``.

    How full the servers are is found by ``refresh``, which ``keep_refreshing`` does again and again.
    """

    def __init__(
        self,
        topology: Topology,
        calls: RedisCalls,
        budgets: Budgets,
        *,
        clock: Callable[[], int],
        own_budget: Callable[[str], int | None],
    ) -> None:
        self._topology = topology
        self._calls = calls
        self._budgets = budgets
        self._clock = clock
        self._read_own_budget = own_budget
        self._bytes: int | None = None
        self._known = BoundedCache[bytes, tuple[int, int]](_MAX_KNOWN)
        self._own = BoundedCache[str, tuple[int | None, int]](_MAX_KNOWN)
        self.counts_writes = False
        self.is_reserved = False

    def refresh(self) -> None:
        """Look how full the servers are; one that does not answer counts as before. Raises no fault of the storage."""
        try:
            primaries = self._topology.one_for_each_primary(keys.CHECKS)
        except NotSent:
            return
        answers = self._topology.call_each([(key, (b"INFO", b"memory")) for key in primaries])
        if any([isinstance(answer, Exception) for answer in answers]):
            return
        memories = [Memory.shown(answer) for answer in answers]
        self._bytes = sum([memory.limit for memory in memories])
        self.counts_writes = any([memory.used * 100 > memory.limit * HALF_PERCENT for memory in memories])
        self.is_reserved = any([memory.is_reserved for memory in memories])

    def keep_refreshing(self) -> None:
        """Look for ever; for a thread of its own."""
        while True:
            try:
                self.refresh()
            except Exception:
                _log.exception("the memory of the store could not be looked at")
            time.sleep(REFRESH_SECONDS)

    def limit(self, tenant: Tenant) -> int | None:
        budget = self._budgets.app if tenant.is_app else self._budgets.network
        own = self._own_budget(tenant.id) if tenant.is_app else None
        if own is not None:
            budget = own
        if budget is not None:
            return budget * _MIB or None
        if self._bytes is None:
            self.refresh()
        return (self._bytes or 0) // (PART_OF_APPLICATION if tenant.is_app else PART_OF_NETWORK) or None

    def take(self, tenant: Tenant, size: int) -> None:
        limit = self.limit(tenant)
        if limit is not None:
            self._take(keys.share(tenant.id, self._day()), size, limit)

    def give_back(self, tenant: Tenant, size: int) -> None:
        if self.limit(tenant) is not None:
            self._count(keys.share(tenant.id, self._day()), -size, None)

    def admit(self, tenant: Tenant, size: int) -> None:
        """Admit a write to a game that exists: in the reserve as long as the part of the tenant in that lasts."""
        day = self._day()
        if self.is_reserved and self._bytes:
            reserve = self._bytes * RESERVE_PERCENT // 100
            if self._count(keys.reserve_share(tenant.id, day), size, reserve // PART_OF_RESERVE):
                return
            self.refresh()  # the memory may have been freed since the last look
            if self.is_reserved:
                raise ShareUsed(self._until_tomorrow())
        limit = self.limit(tenant)
        if limit is not None and self._counted(keys.share(tenant.id, day)) >= MOVES * limit:
            raise ShareUsed(self._until_tomorrow())

    def count(self, tenant: Tenant, size: int) -> None:
        if self.limit(tenant) is not None:
            self._count(keys.share(tenant.id, self._day()), size, None)

    def _own_budget(self, app: str) -> int | None:
        """Return the MiB that the operator has given this application, as read in the last ``KNOWN_MS``."""
        now = self._clock()
        budget, read_at = self._own.get(app) or (None, -KNOWN_MS)
        if now - read_at >= KNOWN_MS:
            with suppress(StorageUnavailable):
                budget = self._read_own_budget(app)
            self._own.put(app, (budget, now))
        return budget

    def _take(self, key: bytes, size: int, most: int) -> None:
        if not self._count(key, size, most):
            raise ShareUsed(self._until_tomorrow())

    def _counted(self, key: bytes) -> int:
        """Return the count as this process has read it in the last ``KNOWN_MS``; 0 after a fault of the storage."""
        now = self._clock()
        count, read_at = self._known.get(key) or (0, -KNOWN_MS)
        if now - read_at >= KNOWN_MS:
            with suppress(StorageUnavailable):
                count = int(self._calls.read("share", key, (b"GET", key)) or 0)
            self._known.put(key, (count, now))
        return count

    def _count(self, key: bytes, size: int, most: int | None) -> bool:
        """Return whether so many bytes were counted; a fault of the storage counts nothing, and admits them."""
        command = evalsha("take_share", (key,), size, b"" if most is None else most, _DAY_SECONDS)
        with suppress(StorageUnavailable, OutcomeUnknown):
            return bool(self._calls.write("take_share", key, command))
        return True

    def _day(self) -> int:
        return self._clock() // 1000 // _DAY_SECONDS

    def _until_tomorrow(self) -> int:
        return _DAY_SECONDS - self._clock() // 1000 % _DAY_SECONDS
