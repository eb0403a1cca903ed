"""The figures: for people as text, as ``reports/strength.md`` and its plot; for the service as ``strength.json``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

import orjson

from service.bots.choice import LEVELS
from service.games.queries.catalogue import Strength
from tools.strength.levels import EARLIER
from tools.strength.results import FEWEST, Measured

PAGE: Final = Path("reports/strength.md")
PLOT: Final = Path("reports/strength.svg")
DATA: Final = Path("service/games/queries/strength.json")

_BETWEEN: Final = tuple(
    [(stronger, weaker) for weaker, stronger in pairwise(("random", "beginner", "casual", "greedy"))]
)
"""The pairs of levels whose table has only the wins, which the service does not tell."""
_WINS: Final = """\
`beginner` and `casual` follow the formula of `greedy`, but make small mistakes. The wins of each level over the one
below must exceed 50 %; those in parentheses are not shown to. 4,000 deals of each were fixed beforehand
(`--label fixed`)."""
_NOTES: Final = {
    ("greedy", "random"): "1,000 deals of each were fixed beforehand (`--label fixed`).",
    ("expert", "greedy"): "The numbers of deals were fixed beforehand.",
    ("expert", EARLIER): """\
1,500 deals of each were fixed beforehand, and of *Block* in teams 6,000 others, after 1,500 had given 50.9 ± 1.3 %
(`make strength ARGS="edition block teams=2 --label second --deals 6000"`).""",
}
"""What is to be said of a table, by its pair of levels."""
_HEAD: Final = ("game", "win", "must exceed", "lead in a round", "deals", "CPU of a decision: median", "p99")
_TEXT: Final = """# How strong the computer players are

Written by `make strength`. Each row is one game with two levels at its table: first rounds only, every deal played once
in each seating (the stronger level on the even seats, then on the odd ones; on each seat alone where their number is
odd), so that the luck of the deal falls out.

*Win* is the share of comparisons of a seat of the stronger level with an opponent of the weaker one in which its round
score is better, a tie counting half: 50 % are equal players. *Lead* is the difference of the scores. Intervals are
95 %, over deals. Times are CPU time of decisions of the stronger level that have an alternative, of `expert` with the
compiled engine.

*Expert over expert of edition 1* compares it with the first one, which did not weigh what the others have chosen, at
about equal time. Edition 5 weighs only the last choices in sets larger than double-six, and solves longer ends; the
rows with double-six are by edition 2, which decides the same but for those ends. In `menschenwolf` one loser writes
everything, so that with many players most comparisons are ties, and the lead says more than the win. A row needs 100
deals to be judged, and to be told by `GET /v1/variants/{id}`. *Not shown*: the interval is not wholly above the bound,
or deals are too few.

See also [reviews](reviews.md), and [whole matches and other programs](duels.md).

![the intervals of all rows](strength.svg)

## Ends in which nothing is hidden

Where the unseen tiles are those of one hand, or nobody else holds tiles and the stock has at most one, the `expert`
tries all that may follow and makes no mistake, if two sides play for the round or the seat alone still plays. It does
so with at most 17 tiles left in all, 15 where plays score, 14 where a turn may be several tiles, and 20,000 positions
to try; else moves are sampled, and so they are with more than two sides: what is best for one is not what is worst for
another.
"""


def deals_of_fixed(deals: int, fixed: int) -> str:
    """Return how many deals were played, and of how many if that is not all."""
    return str(deals) if deals >= fixed else f"{deals} of {fixed}"


def table(figures: Sequence[Measured]) -> str:
    """Return the figures as Markdown, one table for each pair of levels."""
    return "\n\n".join([f"{title}\n\n{_rows(part)}" for title, part in _parts(figures)])


def write(project: Path, figures: Sequence[Measured]) -> None:
    """Write the page, its plot, and the data of the service, each to its place in the project."""
    between = [each for each in figures if (each.row.stronger, each.row.weaker) in _BETWEEN]
    parts = [
        "\n\n".join([f"## {title}", *_notes(part), f"{_rows(part)}\n"])
        for title, part in _parts([each for each in figures if each not in between])
    ]
    parts.append(f"## The levels in between\n\n{_WINS}\n\n{_wins(between)}\n")
    for path, content in (
        (PAGE, "\n".join([_TEXT, *parts]).encode()),
        (PLOT, plot(figures).encode()),
        (DATA, data(figures)),
    ):
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_bytes(content)


def data(figures: Sequence[Measured]) -> bytes:
    """Return the lines for ``service.games.queries.catalogue``, one for each row of levels with enough deals."""
    pairs = [(each.row.stronger, each.row.weaker) for each in figures]
    told = [
        each for each, pair in zip(figures, pairs, strict=True) if LEVELS.keys() >= set(pair) and pair not in _BETWEEN
    ]
    rows = [_strength(each)._asdict() for each in told if each.deals >= FEWEST]
    return b"[\n" + b",\n".join([orjson.dumps(row) for row in rows]) + b"\n]\n"


def _strength(measured: Measured) -> Strength:
    setup = measured.row.setup
    return Strength(
        variant=setup.variant,
        players=setup.seats,
        options=dict(setup.options),
        stronger=measured.row.stronger,
        weaker=measured.row.weaker,
        share=round(measured.win, 3),
        interval=round(measured.win_error, 3),
        deals=measured.deals,
    )


def _parts(figures: Sequence[Measured]) -> list[tuple[str, list[Measured]]]:
    """Return the figures by pair of levels, each with a title."""
    pairs = dict.fromkeys([(each.row.stronger, each.row.weaker) for each in figures])
    return [
        (
            f"{stronger.capitalize()} over {weaker}",
            [each for each in figures if (each.row.stronger, each.row.weaker) == (stronger, weaker)],
        )
        for stronger, weaker in pairs
    ]


def _notes(figures: Sequence[Measured]) -> list[str]:
    """Return what is to be said of the table of these figures."""
    pair = figures[0].row.stronger, figures[0].row.weaker
    return [_NOTES[pair]] if pair in _NOTES else []


def _rows(figures: Sequence[Measured]) -> str:
    return markdown(_HEAD, [_cells(each) for each in figures])


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table."""
    return "\n".join([f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *lines)])


def _cells(measured: Measured) -> tuple[str, ...]:
    row = measured.row
    if measured.deals < 2:
        return (row.setup.name, "not measured", _percent(row.bound), "", str(measured.deals), "", "")
    missed = "" if measured.reached else " (not shown)"
    return (
        row.setup.name,
        _win(measured),
        f"{_percent(row.bound)}{missed}",
        shown_lead(measured),
        str(measured.deals),
        _duration(measured.median),
        _duration(measured.p99),
    )


def _wins(figures: Sequence[Measured]) -> str:
    """Return a table with a row for each setup, and a column for each pair of levels in between."""
    lines = []
    for setup in dict.fromkeys([each.row.setup for each in figures]):
        known = {(each.row.stronger, each.row.weaker): each for each in figures if each.row.setup == setup}
        wins = [_shown_win(known[pair]) if pair in known else "" for pair in _BETWEEN]
        lines.append((setup.name, *wins, str(min([each.deals for each in known.values()]))))
    return markdown(("game", *[f"{stronger} over {weaker}" for stronger, weaker in _BETWEEN], "deals"), lines)


def _shown_win(measured: Measured) -> str:
    if measured.deals < 2:
        return "not measured"
    return _win(measured) if measured.reached else f"({_win(measured)})"


def _win(measured: Measured) -> str:
    return f"{100 * round(measured.win, 3):.1f} ± {100 * round(measured.win_error, 3):.1f} %"


def shown_lead(measured: Measured) -> str:
    """In points, with its interval."""
    return f"{measured.lead:+.2f} ± {measured.lead_error:.2f}" if measured.lead is not None else ""


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _duration(milliseconds: float | None) -> str:
    if milliseconds is None:
        return ""
    return f"{milliseconds:.2f} ms" if milliseconds < 10 else f"{milliseconds:.0f} ms"


# The plot

_LEFT: Final = 270
_WIDTH: Final = 520
_ROW: Final = 22
_LOWEST: Final = 0.4
"""The win at the left edge; the right one is 1."""


def plot(figures: Sequence[Measured]) -> str:
    """Return the intervals of all rows as SVG, each with its bound as a short line across."""
    drawn: list[str] = []
    y = 24
    for title, part in _parts(figures):
        drawn.append(f'<text x="8" y="{y}" font-weight="bold">{title}: win</text>')
        for each in part:
            y += _ROW
            drawn += _row(each, y)
        y += 2 * _ROW
    axis = [
        f'<line x1="{_x(tenth / 10):.1f}" y1="34" x2="{_x(tenth / 10):.1f}" y2="{y - 38}" stroke="#ccc"/>'
        f'<text x="{_x(tenth / 10):.1f}" y="{y - 22}" text-anchor="middle">{10 * tenth} %</text>'
        for tenth in range(4, 11)
    ]
    return "\n".join(
        [
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDTH + 40} {y - 10}" '
                'font-family="sans-serif" font-size="12">'
            ),
            '<rect width="100%" height="100%" fill="#fff"/>',
            *axis,
            *drawn,
            "</svg>\n",
        ]
    )


def _row(measured: Measured, y: int) -> list[str]:
    win, error, bound = measured.win, measured.win_error, measured.row.bound
    drawn = [
        f'<text x="8" y="{y}">{measured.row.setup.name}</text>',
        f'<line x1="{_x(bound):.1f}" y1="{y - 11}" x2="{_x(bound):.1f}" y2="{y + 3}" stroke="#c00" stroke-width="2"/>',
    ]
    if measured.deals > 1:
        drawn += [
            (
                f'<line x1="{_x(win - error):.1f}" y1="{y - 4}" x2="{_x(win + error):.1f}" y2="{y - 4}" '
                'stroke="#06c" stroke-width="3"/>'
            ),
            f'<circle cx="{_x(win):.1f}" cy="{y - 4}" r="4" fill="#06c"/>',
        ]
    return drawn


def _x(win: float) -> float:
    """Return where a win lies, in units of the drawing."""
    return _LEFT + _WIDTH * (min(1.0, max(_LOWEST, win)) - _LOWEST) / (1 - _LOWEST)
