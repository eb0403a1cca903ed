"""The time by which several steps must be done together.

Owns how much of it is left.
"""

from __future__ import annotations

from time import monotonic


class Deadline:
    """A time that many seconds from now."""

    def __init__(self, seconds: float) -> None:
        self._begin = monotonic()
        self._end = self._begin + seconds

    def left(self) -> float:
        """Return the seconds left, more than none; raises ``TimeoutError`` once it has passed."""
        left = self._end - monotonic()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        return left

    def elapsed_ms(self) -> int:
        """Return the milliseconds since it was set."""
        return int((monotonic() - self._begin) * 1000)
