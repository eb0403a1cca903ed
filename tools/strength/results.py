"""The outcomes of deals, kept so that several runs add up, and what they say."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from typing import Final, NamedTuple

from service.bots.choice import EDITIONS
from tools.strength.kept import KeptOutcomes
from tools.strength.rounds import Outcome
from tools.strength.rows import Row

FEWEST: Final = 100
"""Deals by which a row is judged."""


class Measured(NamedTuple):
    """What the deals of a row say so far."""

    row: Row
    deals: int
    win: float
    win_error: float
    """Half of the 95 % interval."""
    lead: float
    lead_error: float
    milliseconds: list[float]
    of_program: list[float]
    """Of the other one, if that is a public program."""

    @property
    def reached(self) -> bool:
        """Whether the whole interval is above the bound; of a few deals, it would say too little."""
        return self.deals >= FEWEST and self.win - self.win_error > self.row.bound


class Results:
    """The outcomes of a label, kept by row and by the editions of its levels."""

    def __init__(self, folder: Path, label: str) -> None:
        self._kept = KeptOutcomes(folder / label, Outcome)

    def of(self, row: Row) -> list[Outcome]:
        """What was played of a row, in any run."""
        return self._kept.named(_name(row))

    def add(self, row: Row, outcomes: Sequence[Outcome]) -> None:
        """Keep these too."""
        self._kept.keep(_name(row), outcomes)


def _name(row: Row) -> str:
    editions = [f"{name} {EDITIONS[name]}" for name in (row.stronger, row.weaker) if name in EDITIONS]
    return f"{' and '.join(editions)}/{row.name}"


def measured(row: Row, outcomes: Sequence[Outcome]) -> Measured:
    """Means and intervals over deals."""
    win, win_error = _mean([outcome.win for outcome in outcomes])
    lead, lead_error = _mean([outcome.lead for outcome in outcomes])
    milliseconds = sorted([each for outcome in outcomes for each in outcome.milliseconds])
    of_program = sorted([each for outcome in outcomes for each in outcome.of_program])
    return Measured(row, len(outcomes), win, win_error, lead, lead_error, milliseconds, of_program)


def _mean(values: Sequence[float]) -> tuple[float, float]:
    """The mean and half of its 95 % interval."""
    n = len(values)
    if n < 2:
        return (values[0] if values else 0.0), float("inf")
    mean = sum(values) / n
    return mean, 1.96 * sqrt(sum([(value - mean) ** 2 for value in values]) / (n - 1) / n)
