"""Numbers from measurements: medians with their spread, percentiles, and alternating candidates.

Does not depend on what is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from statistics import median, quantiles
from typing import NamedTuple, TypeVar

Name = TypeVar("Name", bound=str)


class Spread(NamedTuple):
    """A median and the quarter of the values below and above it."""

    median: float
    low: float
    high: float

    def show(self, digits: int = 2) -> str:
        """``0.93 (0.91 – 0.95)``."""
        return f"{self.median:.{digits}f} ({self.low:.{digits}f} – {self.high:.{digits}f})"


def spread(values: Sequence[float]) -> Spread:
    """Return the median and the quartiles of one value or more."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    low, _, high = quantiles(values, n=4, method="inclusive")
    return Spread(median(values), low, high)


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the value that ``percent`` of a hundred do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def ratios(values: Mapping[str, Sequence[float]], name: str, base: str) -> Spread:
    """Return how ``name`` compares with ``base``, turn by turn."""
    return spread([mine / its for mine, its in zip(values[name], values[base], strict=True)])


def take_turns(
    names: Sequence[Name], turns: int, measure: Callable[[Name], float], rng: Random
) -> dict[str, list[float]]:
    """Return what ``measure`` gives for each name, turn by turn.

    In each turn all come once, in an order of their own.
    """
    values: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(turns):
        for name in rng.sample(names, len(names)):
            values[name].append(measure(name))
    return values
