"""Whose turn it is: of what is due, how much is taken of each holder.

Owns the order: the holders take turns, and who was served longest ago is first. Each process counts for itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from operator import attrgetter
from typing import Final, NamedTuple

from service.bounded_cache import BoundedCache
from service.games.reminders import MostOf

MOST_HOLDERS: Final = 10_000
"""Holders of whom is known when they were served."""


class Due(NamedTuple):
    """So many games of a holder are due at one place, a shard; ``since`` is a time that orders the places."""

    place: int
    holder: str
    games: int
    since: float


class Turns:
    """The turns of holders in this process."""

    def __init__(self) -> None:
        self._served = BoundedCache[str, int](MOST_HOLDERS)
        self._turn = 0

    def share(self, due: Iterable[Due], limit: int, most_of: MostOf | None) -> Counter[tuple[int, str]]:
        """Return how many games to take at each place of each holder, at most ``limit`` together."""
        places: defaultdict[str, list[Due]] = defaultdict(list)
        for each in sorted(due, key=attrgetter("since")):
            places[each.holder].append(each)
        # The sort is stable: of those who were served at the same time, or never, who waits the longest comes first.
        order = sorted(places, key={holder: self._served.get(holder) or 0 for holder in places}.__getitem__)
        waiting = deque(
            [
                (holder, iter([each.place for each in places[holder] for _ in range(min(each.games, limit))][:most]))
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
