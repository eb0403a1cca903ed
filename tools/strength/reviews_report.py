"""The figures of reviewed rounds as a section of ``docs/strength.md``, which only this module writes."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf
from pathlib import Path
from typing import Final

from tools.strength.reviews import LEVELS, Figures

_TITLE: Final = "## What reviews say"
_TEXT: Final = f"""{_TITLE}

Written by `make strength ARGS="review --write"`. Each deal is played once by each level at all seats, first rounds
only, and every decision is judged as in any [review](guide/learning.md#reviews). The figures are the points that a
decision gave away on average, with 95 % intervals over deals, and how much more the weaker level gives away in the same
deals. *Not shown*: an interval is not wholly above 0, or there are fewer than 10 deals; then follows how many deals
would show it, if the means stayed as they are.

"""
_HEAD: Final = (
    "game",
    *LEVELS,
    "random - greedy",
    "greedy - expert",
    "deals",
    "order",
)
_WORLDS_TEXT: Final = """
A review plays each move on in up to 250 worlds, in fewer where there are many moves. *Wanted* are the worlds in which a
mistake as large as what `random` gives away on average would be clear of its error: two standard errors. *CPU* is what
a decision takes on average, and what it would take with as many worlds.

"""
_WORLDS_HEAD: Final = ("game", "worlds", "CPU", "wanted", "CPU with those")


def table(figures: Sequence[Figures]) -> str:
    """The figures as Markdown: what is given away, and what it costs to judge."""
    return f"{_lines(_HEAD, [_cells(each) for each in figures])}\n{_WORLDS_TEXT}" + _lines(
        _WORLDS_HEAD, [_costs(each) for each in figures if each.deals]
    )


def write(page: Path, figures: Sequence[Figures]) -> None:
    """Replace the section, the last one of the page."""
    page.write_text(page.read_text().partition(_TITLE)[0] + _TEXT + table(figures))


def section(page: Path) -> str:
    """The section as it stands on the page; empty if there is no such page."""
    return "".join(page.read_text().partition(_TITLE)[1:]) if page.exists() else ""


def _lines(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "".join([f"| {' | '.join(line)} |\n" for line in (head, ["---"] * len(head), *rows)])


def _cells(each: Figures) -> tuple[str, ...]:
    if each.deals < 2:
        return (each.setup.name, *[""] * (len(_HEAD) - 3), str(each.deals), "not measured")
    given = [_number(mean, error) for mean, error in zip(each.given_away, each.errors, strict=True)]
    leads = [_number(lead.lead, lead.error) for lead in each.comparisons]
    return (each.setup.name, *given, *leads, str(each.deals), "shown" if each.shown else _not_shown(each))


def _not_shown(each: Figures) -> str:
    wanted = each.deals_wanted
    return "not shown" if isinf(wanted) else f"not shown: {wanted:.0f} deals"


def _costs(each: Figures) -> tuple[str, ...]:
    wanted = max(2.0, each.worlds_wanted)
    costs = each.milliseconds * wanted / max(1.0, each.worlds)
    return (
        each.setup.name,
        f"{each.worlds:.0f}",
        f"{each.milliseconds:.0f} ms",
        f"{wanted:.0f}",
        f"{costs:.0f} ms" if costs < 1000 else f"{costs / 1000:.1f} s",
    )


def _number(mean: float, error: float) -> str:
    digits = 1 if abs(mean) >= 10 else 2
    return f"{mean:.{digits}f} ± {error:.{digits}f}"
