"""How long decisions have taken lately at tables of one sort, so that every move can be made as late as the longest.

A forced move takes no thought. Where a computer player begins too late to be ready when its move is due, it would come
sooner than another one, and tell so that the seat had no choice. So both are made when the longest of the last
decisions at such tables would have been: what is then told is how busy the service is.

Owns for how many decisions that is, and what is a sort of tables.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from service.bounded_cache import BoundedCache
from service.games.model.schedule import BotTurn

KEPT: Final = 32
"""The last decisions of which the longest counts."""
FIRST_MS: Final = 200
"""What the first decision at tables of a sort is supposed to take."""
MOST_MS: Final = 1000
"""No move waits longer for that: a machine that is so busy tells by itself."""
MOST_SORTS: Final = 256


class DecisionTimes:
    """The times of decisions in this process."""

    def __init__(self) -> None:
        self._times = BoundedCache[object, deque[int]](MOST_SORTS)

    def longest(self, turn: BotTurn, milliseconds: int) -> int:
        """Return the longest of the last decisions at such tables, after this one, which took so long."""
        game = turn.game
        sort = turn.level, game.variant.key, len(game.seats), *game.options.items()
        times = self._times.use(sort) or deque([FIRST_MS], KEPT)
        times.append(milliseconds)
        self._times.put(sort, times)
        return min(max(times), MOST_MS)
