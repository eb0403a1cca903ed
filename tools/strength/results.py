"""The outcomes of deals, kept so that several runs add up, and what they say.

The project keeps only the figures, in ``FIGURES``, from which its pages are written; a run replaces those of the rows
for which it has as many deals or more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NamedTuple

from service.bots.choice import EDITIONS
from tools.strength.kept import DIGITS, KeptOutcomes, read_lines, write_lines
from tools.strength.rounds import Outcome
from tools.strength.rows import Row

FEWEST: Final = 100
"""Deals by which a row is judged."""
FIGURES: Final = Path("tools/strength/figures.jsonl")


class Measured(NamedTuple):
    """What the deals of a row say so far; None is not known.

    Times are CPU milliseconds of a decision of the stronger level.
    """

    row: Row
    deals: int
    win: float
    win_error: float
    """Half of the 95 % interval."""
    lead: float | None
    lead_error: float | None
    median: float | None
    p99: float | None
    mean: float | None
    mean_of_program: float | None
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
        """Return what was played of a row, in any run."""
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
    times = sorted([each for outcome in outcomes for each in outcome.milliseconds])
    of_program = [each for outcome in outcomes for each in outcome.of_program]
    return Measured(
        row=row,
        deals=len(outcomes),
        win=win,
        win_error=win_error,
        lead=lead,
        lead_error=lead_error,
        median=_quantile(times, 0.5),
        p99=_quantile(times, 0.99),
        mean=round(fmean(times), DIGITS) if times else None,
        mean_of_program=round(fmean(of_program), DIGITS) if of_program else None,
    )


def known(project: Path, rows: Iterable[Row], results: Results) -> dict[Row, Measured]:
    """Return what is known of each by the deals kept here, or by the project's figures where those have more."""
    lines = _read(project)
    return {row: _known(row, measured(row, results.of(row)), lines.get(_name(row))) for row in rows}


def _known(row: Row, kept: Measured, line: Mapping[str, Any] | None) -> Measured:
    return kept if line is None or kept.deals >= line["deals"] else Measured(**{**line, "row": row})


def write(project: Path, figures: Iterable[Measured]) -> None:
    """Write the figures of the project: a row on each line, those that have an interval."""
    lines = [{**each._asdict(), "row": _name(each.row)} for each in figures if each.deals > 1]
    write_lines(project / FIGURES, lines)


def _read(project: Path) -> dict[str, dict[str, Any]]:
    """Return the figures of the project by the names of their rows, which have the editions of the levels."""
    return {line["row"]: line for line in read_lines(project / FIGURES)}


def _mean(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and half of its 95 % interval."""
    n = len(values)
    if n < 2:
        return (values[0] if values else 0.0), float("inf")
    mean = sum(values) / n
    error = 1.96 * sqrt(sum([(value - mean) ** 2 for value in values]) / (n - 1) / n)
    return round(mean, DIGITS), round(error, DIGITS)


def _quantile(values: Sequence[float], share: float) -> float | None:
    """Of sorted values."""
    return round(values[min(len(values) - 1, int(share * len(values)))], DIGITS) if values else None
