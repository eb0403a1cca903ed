"""The pause between two looks for reminders: short just after one was found, and longer with each look in vain."""

from __future__ import annotations


class LookPause:
    """The pause of one loop: in seconds the shortest and the longest, and the factor by which it grows."""

    def __init__(self, seconds: tuple[float, float], growth: float) -> None:
        self._shortest, self._longest = seconds
        self._growth = growth
        self._pause = self._shortest

    def found(self) -> float:
        """The seconds until the next look after one that found something."""
        self._pause = self._shortest
        return self._pause

    def nothing(self) -> float:
        """The seconds until the next look after one that found nothing."""
        self._pause = min(self._pause * self._growth, self._longest)
        return self._pause
