"""How many turns are under way for each holder and at each host of an application, and when there is room for another.

Owns the limits. A host that answers slowly, or not at all, delays what an application sends to it alone, and a holder
with many such hosts its own turns alone.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Final

from service.outgoing.shares import may_hold_more

MOST_PER_HOST: Final = 16
"""The most turns of an application that are under way at one host."""
MOST_TURNS: Final = 512
"""The most turns that are under way in a process."""
LEAST_DELAY_SECONDS: Final = 0.05
_FIRST_GUESS_SECONDS: Final = 1.0
_WEIGHT: Final = 0.2
"""The weight of the last duration in the mean."""

MayHoldMore = Callable[[int, int], bool]
"""Whether a holder of so many may hold another, where all together hold so many."""


class _Holder:
    __slots__ = ("free_at", "held", "seconds")

    def __init__(self) -> None:
        self.held = 0
        self.seconds = _FIRST_GUESS_SECONDS
        """The mean duration."""
        self.free_at = 0.0
        """When there is room for the next turn, if all before take as long as usual."""


class Holders:
    """The holders of turns in a process. When another is added, those without any, also put off, are forgotten."""

    def __init__(self, may_hold: MayHoldMore, now: Callable[[], float] = monotonic) -> None:
        self._may_hold_more = may_hold
        self._now = now
        self._holders: dict[str, _Holder] = {}
        self._held_by_all = 0
        self._lock = Lock()

    def enter(self, name: str) -> float | None:
        """Begin a turn of this holder; or else in how many seconds there may be room for it.

        Each caller gets a later time than the one before, so that ten thousand who wait do not come all at once.
        """
        now = self._now()
        with self._lock:
            if name not in self._holders:
                self._holders = {
                    other: holder for other, holder in self._holders.items() if holder.held or holder.free_at > now
                }
            holder = self._holders.setdefault(name, _Holder())
            if self._may_hold_more(holder.held, self._held_by_all):
                holder.held += 1
                self._held_by_all += 1
                return None
            holder.free_at = max(holder.free_at, now) + holder.seconds / max(holder.held, 1)
            return max(holder.free_at - now, LEAST_DELAY_SECONDS)

    def leave(self, name: str, seconds: float | None) -> None:
        """End a turn of this holder after so many seconds; ``None`` if it was put off."""
        with self._lock:
            holder = self._holders[name]
            holder.held -= 1
            self._held_by_all -= 1
            if seconds is not None:
                holder.seconds += _WEIGHT * (seconds - holder.seconds)


def by_host(now: Callable[[], float] = monotonic) -> Holders:
    """Each host holds at most ``MOST_PER_HOST``."""
    return Holders(lambda held, _: held < MOST_PER_HOST, now)


def by_holder(most: int = MOST_TURNS, now: Callable[[], float] = monotonic) -> Holders:
    """Each application holds its share of ``most``."""
    return Holders(lambda held, held_by_all: may_hold_more(held, held_by_all, most), now)
