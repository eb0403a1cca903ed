"""Turns of tenants: of what waits, each tenant gets as much as the others."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Final, Generic, NamedTuple, TypeVar

from service.bounded_cache import BoundedCache

T = TypeVar("T")

MAX_TENANTS: Final = 10_000
"""Tenants of whom is known when they were served."""


class Due(NamedTuple):
    """The number of games of a tenant that are due in one shard; ``since`` is a time that orders the shards."""

    place: int
    tenant: str
    games: int
    since: float


class Turns:
    """The turns of tenants in this process."""

    def __init__(self) -> None:
        self._served = BoundedCache[str, int](MAX_TENANTS)
        self._turn = 0

    def share(self, due: Iterable[Due], limit: int, most_of: Callable[[str], int] | None) -> Counter[tuple[int, str]]:
        """Return how many games to take at each place of each tenant, at most ``limit`` together."""
        places: defaultdict[str, list[Due]] = defaultdict(list)
        for entry in sorted(due, key=attrgetter("since")):
            places[entry.tenant].append(entry)
        # The sort is stable: of those who were served at the same time, or never, who waits the longest comes first.
        order = sorted(places, key={tenant: self._served.get(tenant) or 0 for tenant in places}.__getitem__)
        waiting = deque(
            [
                (tenant, iter([entry.place for entry in places[tenant] for _ in range(min(entry.games, limit))][:most]))
                for tenant in order
                for most in [limit if most_of is None else max(most_of(tenant), 0)]
            ]
        )
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


class FairQueue(Generic[T]):
    """Of each tenant, the first that came is the first that is taken; who was served is behind all others."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[T]] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def put(self, tenant: str, item: T) -> None:
        """Add one of this tenant."""
        self._waiting.setdefault(tenant, deque()).append(item)

    def take(self) -> T:
        """Return the next one, which waits no longer. Raises ``StopIteration`` if there is none."""
        tenant = next(iter(self._waiting))
        items = self._waiting.pop(tenant)
        item = items.popleft()
        if items:
            self._waiting[tenant] = items
        return item

    def keep(self, is_kept: Callable[[T], bool]) -> None:
        """Drop all others."""
        remaining = {tenant: deque(filter(is_kept, items)) for tenant, items in self._waiting.items()}
        self._waiting = {tenant: items for tenant, items in remaining.items() if items}
