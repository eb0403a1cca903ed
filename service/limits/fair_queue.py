"""Turns of holders: of what waits, each holder gets as much as the others."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Final, Generic, NamedTuple, TypeVar

from service.bounded_cache import BoundedCache

T = TypeVar("T")

MAX_HOLDERS: Final = 10_000
"""Holders of whom is known when they were served."""


class Due(NamedTuple):
    """The number of games of a holder that are due in one shard; ``since`` is a time that orders the shards."""

    place: int
    holder: str
    games: int
    since: float


class Turns:
    """The turns of holders in this process."""

    def __init__(self) -> None:
        self._served = BoundedCache[str, int](MAX_HOLDERS)
        self._turn = 0

    def share(self, due: Iterable[Due], limit: int, most_of: Callable[[str], int] | None) -> Counter[tuple[int, str]]:
        """Return how many games to take at each place of each holder, at most ``limit`` together."""
        places: defaultdict[str, list[Due]] = defaultdict(list)
        for entry in sorted(due, key=attrgetter("since")):
            places[entry.holder].append(entry)
        # The sort is stable: of those who were served at the same time, or never, who waits the longest comes first.
        order = sorted(places, key={holder: self._served.get(holder) or 0 for holder in places}.__getitem__)
        waiting = deque(
            [
                (holder, iter([entry.place for entry in places[holder] for _ in range(min(entry.games, limit))][:most]))
                for holder in order
                for most in [limit if most_of is None else max(most_of(holder), 0)]
            ]
        )
        shares: Counter[tuple[int, str]] = Counter()
        while waiting and shares.total() < limit:
            holder, left = waiting.popleft()
            place = next(left, None)
            if place is not None:
                shares[place, holder] += 1
                self._turn += 1
                self._served.put(holder, self._turn)
                waiting.append((holder, left))
        return shares


class FairQueue(Generic[T]):
    """Of each holder, the first that came is the first that is taken; who was served is behind all others."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[T]] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def put(self, holder: str, item: T) -> None:
        """Add one of this holder."""
        self._waiting.setdefault(holder, deque()).append(item)

    def take(self) -> T:
        """Return the next one, which waits no longer. Raises ``StopIteration`` if there is none."""
        holder = next(iter(self._waiting))
        items = self._waiting.pop(holder)
        item = items.popleft()
        if items:
            self._waiting[holder] = items
        return item

    def keep(self, wanted: Callable[[T], bool]) -> None:
        """Drop all others."""
        kept = {holder: deque(filter(wanted, items)) for holder, items in self._waiting.items()}
        self._waiting = {holder: items for holder, items in kept.items() if items}
