"""How often something has failed for a game, and for how long the game is put off then.

Owns the count, which this process alone knows. Does not depend on what failed.
"""

from __future__ import annotations

from typing import Final

from service.bounded_cache import BoundedCache

LONGEST_DELAY_MS: Final = 60_000
SIZE: Final = 1000
"""Games whose failures are counted; beyond that the count of the one that failed longest ago is forgotten."""


class Failures:
    """Failures in a row, by game."""

    def __init__(self) -> None:
        self._counts = BoundedCache[str, int](SIZE)

    def add(self, game: str) -> int:
        """Count one more; returns for how many milliseconds the game is put off: 1 s, 2 s, 4 s … 60 s."""
        count = self.count(game) + 1
        self._counts.put(game, count)
        return int(min(1000 << min(count - 1, 6), LONGEST_DELAY_MS))

    def count(self, game: str) -> int:
        """How often it has failed in a row."""
        return self._counts.get(game) or 0

    def clear(self, game: str) -> None:
        """Forget the failures of a game, as something has succeeded."""
        self._counts.pop(game)
