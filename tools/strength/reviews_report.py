"""The figures of reviewed rounds, for people: as text, and as the page ``reports/reviews.md``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from service.learning.analysis import replays_of
from tools.strength.report import deals_of_fixed, markdown
from tools.strength.reviews import LEVELS, Figures, deals_of

PAGE: Final = Path("reports/reviews.md")

_TEXT: Final = """# What a review tells

Written by `make strength ARGS=review`. Each deal was played by `random`, by `greedy` and by `expert`, the same level at
all seats, first rounds only. Every decision was judged, and the luck of deals was found, as in any
[review](../docs/guide/learning.md#reviews).

## Whether it tells good play from bad

Points that a decision gave away on average, with 95 % intervals over deals, and how much more the weaker level gave
away in the same deals. The numbers of deals were fixed beforehand (`--label fixed`); in Kozel and Menschenwolf 60 and
100 others (`--label second`), after 20 had not shown the order. The order of the levels is shown where both intervals
(Student's t) are wholly above 0 and all deals were played. The best play, too, seems to give away a little, as
estimates stray.
"""
_WORLDS_TEXT: Final = """
## How many worlds it needs

A review plays each move on in up to 250 worlds, in fewer where there are many moves, 1,000 playouts at most in all.
*Needed* are the worlds in which a mistake as large as what `random` gives away on average is clear of its error, two
standard errors: with fewer, single mistakes of that size stay unnamed, but the mean over a match still tells players
apart. *CPU* is that of a decision on average, and what it would be with the worlds needed; with the compiled engine
(`make wheel-compiled`) on a busy machine, without it two to three times as much.
"""
_LUCK_TEXT: Final = """
## How much is luck

The result of a seat in a round is by how many points its side scored better than the others; its skill is what is left
of it without the luck of the deal. *Spread* is the standard deviation of the result where all play as `expert`. *Left*
is which share of the spread the skill has among equal players of each level. As they are equal, that is chance, too: of
how the round went, not of the deal. It is near 1 where the deal decides little, and above 1 where it decides less than
among players of the level `casual`, by whom the luck is found. So the skill of a single round says little; that of many
rounds says more, as its error tells.
"""
_HEAD: Final = ("game", *LEVELS, "random less greedy", "greedy less expert", "deals", "order")
_WORLDS_HEAD: Final = ("game", "worlds", "CPU", "needed", "CPU with those")
_LUCK_HEAD: Final = ("game", "replays of a deal", "spread", *[f"left: {level}" for level in LEVELS], "deals")


def page(figures: Sequence[Figures]) -> str:
    """Return the page: what is given away, what it costs to judge, and what is luck."""
    return "\n".join(
        [
            _TEXT,
            _lines(_HEAD, [_cells(each) for each in figures]) + _WORLDS_TEXT,
            _lines(_WORLDS_HEAD, [_costs(each) for each in figures if each.deals]) + _LUCK_TEXT,
            _lines(_LUCK_HEAD, [_luck(each) for each in figures if each.shared]),
        ]
    )


def write(project: Path, figures: Sequence[Figures]) -> None:
    """Write the page to its place in the project."""
    (project / PAGE).parent.mkdir(parents=True, exist_ok=True)
    (project / PAGE).write_text(page(figures))


def _lines(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return f"{markdown(head, rows)}\n"


def _cells(each: Figures) -> tuple[str, ...]:
    if each.deals < 2:
        return (each.setup.name, *[""] * (len(_HEAD) - 3), _deals(each), "not measured")
    given = [_number(mean, error) for mean, error in zip(each.given_away, each.errors, strict=True)]
    leads = [_number(lead.lead, lead.error) for lead in each.comparisons]
    return (each.setup.name, *given, *leads, _deals(each), "shown" if each.shown else "not shown")


def _deals(each: Figures) -> str:
    return deals_of_fixed(each.deals, deals_of(each.setup))


def _costs(each: Figures) -> tuple[str, ...]:
    if not each.worlds:
        return (each.setup.name, "all is known", f"{each.milliseconds:.0f} ms", "", "")
    wanted = max(2.0, each.worlds_wanted)
    costs = each.milliseconds * wanted / max(1.0, each.worlds)
    return (
        each.setup.name,
        f"{each.worlds:.0f}",
        f"{each.milliseconds:.0f} ms",
        f"{wanted:.0f}",
        f"{costs:.0f} ms" if costs >= 1 else "< 1 ms",
    )


def _luck(each: Figures) -> tuple[str, ...]:
    left = [f"{share:.2f}" for share in each.left]
    return (each.setup.name, str(replays_of(each.setup.rules)), f"{each.spread:.1f}", *left, str(each.shared))


def _number(mean: float, error: float) -> str:
    digits = 1 if abs(mean) >= 10 else 2
    return f"{mean:.{digits}f} ± {error:.{digits}f}"
