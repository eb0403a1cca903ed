"""Fair scheduling: tenants take turns, so that all get the same share of the work."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Final, NamedTuple, TypeVar

from service.bounded_cache import BoundedCache

T = TypeVar("T")

MAX_TENANTS: Final = 10_000
"""Tenants whose last turn is stored."""


class Due(NamedTuple):
    """The due games of a tenant in one shard.

    ``place``: identifies the shard.
    ``games``: their number.
    ``since``: a time that orders the shards of a tenant, the earliest first.
    """

    place: int
    tenant: str
    games: int
    since: float


class Turns:
    """Distributes due games among tenants, and remembers their turns in this process."""

    def __init__(self) -> None:
        self._served = BoundedCache[str, int](MAX_TENANTS)
        self._turn = 0

    def share(self, due: Iterable[Due], limit: int, limit_of: Callable[[str], int] | None) -> Counter[tuple[int, str]]:
        """Return the number of games to lease for each pair of place and tenant, ``limit`` games together at most.

        ``limit_of`` returns the limit of a tenant.
        """
        places: defaultdict[str, list[Due]] = defaultdict(list)
        for entry in sorted(due, key=attrgetter("since")):
            places[entry.tenant].append(entry)
        # The sort is stable: among tenants that never had a turn, the one that waits longest comes first.
        order = sorted(places, key={tenant: self._served.get(tenant) or 0 for tenant in places}.__getitem__)
        waiting: deque[tuple[str, Iterator[int]]] = deque()
        for tenant in order:
            due_places = [entry.place for entry in places[tenant] for _ in range(min(entry.games, limit))]
            tenant_limit = limit if limit_of is None else max(limit_of(tenant), 0)
            waiting.append((tenant, iter(due_places[:tenant_limit])))
        shares: Counter[tuple[int, str]] = Counter()
        while waiting and shares.total() < limit:
            tenant, left = waiting.popleft()
            place = next(left, None)
            if place is not None:
                shares[place, tenant] += 1
                self._turn += 1
                self._served.put(tenant, self._turn)
                waiting.append((tenant, left))
        return shares


class FairQueue(dict[str, deque[T]]):
    """A queue for each tenant, first in, first out. After each item of a tenant, all other tenants have their turn."""

    def put(self, tenant: str, item: T) -> None:
        self.setdefault(tenant, deque()).append(item)

    def take(self) -> T:
        """Remove and return the next item. Raises ``StopIteration`` if the queue is empty."""
        tenant = next(iter(self))
        items = self.pop(tenant)
        item = items.popleft()
        if items:
            self[tenant] = items
        return item

    def keep(self, is_kept: Callable[[T], bool]) -> None:
        """Drop all items for which ``is_kept`` returns false."""
        for tenant, items in tuple(self.items()):
            self[tenant] = deque(filter(is_kept, items))
            if not self[tenant]:
                del self[tenant]


def free_slots(own: int, total: int, limit: int) -> int:
    """Return the number of operations that an owner may begin if ``own`` of the ``total`` in flight are its own.

    An owner may use at most as many of the ``limit`` slots as remain free. So there is always a slot for an owner that
    uses none.
    """
    return max((limit - total - own + 1) // 2, 0)
