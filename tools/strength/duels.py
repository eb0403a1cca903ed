"""The page ``reports/duels.md``: whole matches, public programs, and levels that are only compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tools.strength.programs import left_out
from tools.strength.report import deals_of_fixed, markdown, shown_lead
from tools.strength.results import Measured
from tools.strength.rows import AGAINST_PROGRAMS, AGAINST_RANDOM, CEILING, EDITIONS_ELSEWHERE, MATCHES, Row, Setup

PAGE: Final = Path("reports/duels.md")

_TEXT: Final = """# Matches, and other programs

Written by `make strength`, as [the page on single rounds](strength.md), where *win*, *lead* and intervals are
explained: every deal is played in each seating, and 50 % are equal players. The numbers of deals were fixed beforehand.
{unfinished}A win in parentheses has an interval that includes 50 %. Times are CPU time of a decision with an
alternative, on average, with the compiled engine; of a program with what sets up its position.
"""
_UNFINISHED: Final = "*Of* so many: fewer are played so far, too few to judge the row. "
_MATCHES: Final = """\
With the options that a game has by default, except those named, each match in both seatings. A win is a match that a
seat of the level has won; a shared one counts for each of its winners in part. FIDO is played by four, as of three
seats equal players would win a third. In a match the luck of its rounds levels out, so these are wider apart than the
wins of rounds."""
_CEILING: Final = """\
It sees all hands and the stock, plays each of its moves on once, by the formula that all follow in the playouts of the
`expert`, and takes the best one. So at least as much is to be gained by knowing what is hidden; one who searched
further with open hands would win more."""
_PROGRAMS: Final = """\
The players of the package `dominoes` of PyPI, which plays Latin Dominoes, and two agents of OpenSpiel, in its block
games for two and for two teams. Each is asked in a game of its own library; the service's engine plays and counts.
`omniscient` and `MCTSBot` see all hands, so they are no fair opponents. `omniscient` and `probabilistic_alphabeta` (20
sampled deals) search from the 14th move on, and play as `bota_gorda` before; `MCTSBot` has 200 random playouts. In
OpenSpiel's team game the team with fewer pips wins even if a player of the other one went out, so `MCTSBot` aims at a
slightly different result there."""
_EDITIONS: Final = """\
In the games that [the other page](strength.md) does not compare, the present edition need only not be worse: no
interval lies below 50 %. Played before ends of more than 14 tiles were solved, as all rows of `expert` on this page but
those of OpenSpiel's team game."""
_RANDOM: Final = """\
Who expects that others play well could do worse against one who does not: both editions against `random`."""


def write(project: Path, figures: Mapping[Row, Measured]) -> None:
    """Write the page to its place in the project."""
    (project / PAGE).parent.mkdir(parents=True, exist_ok=True)
    (project / PAGE).write_text(page(figures), "utf-8")


def page(figures: Mapping[Row, Measured]) -> str:
    """Return the page, of what is known of each row."""

    def table(rows: Sequence[Row]) -> str:
        head = ("the one", "the other", "game", "win of the one", "lead in a round", "deals", "its time", "the other's")
        return markdown(head, [_cells(figures[row]) for row in rows])

    return "\n".join(
        [
            _TEXT.format(unfinished=_UNFINISHED if any([_is_unfinished(each) for each in figures.values()]) else ""),
            f"## Matches\n\n{_MATCHES}\n\n{_matches(figures)}\n",
            f"## One that sees all hands\n\n{_CEILING}\n\n{table(CEILING)}\n",
            "\n\n".join(["## Public programs", _PROGRAMS, *left_out(), f"{table(AGAINST_PROGRAMS)}\n"]),
            f"## The editions of the expert in the other games\n\n{_EDITIONS}\n\n{table(EDITIONS_ELSEWHERE)}\n",
            f"## Against random\n\n{_RANDOM}\n\n{table(AGAINST_RANDOM)}\n",
        ]
    )


def _matches(figures: Mapping[Row, Measured]) -> str:
    """Return a row for each game, and two columns for each pair of levels."""
    pairs = list(dict.fromkeys([(row.stronger, row.weaker) for row in MATCHES]))
    found: dict[Setup, dict[tuple[str, str], Measured]] = {}
    for row in MATCHES:
        found.setdefault(row.setup, {})[row.stronger, row.weaker] = figures[row]
    head = ["game"]
    for stronger, weaker in pairs:
        head += [f"{stronger} over {weaker}", "matches"]
    lines = []
    for setup, known in found.items():
        line = [setup.name]
        for pair in pairs:
            line += [_win(known[pair]), _deals(known[pair])]
        lines.append(tuple(line))
    return markdown(tuple(head), lines)


def _cells(measured: Measured) -> tuple[str, ...]:
    row = measured.row
    if measured.deals < 2:
        return (row.stronger, row.weaker, row.setup.name, "not measured", "", _deals(measured), "", "")
    return (
        row.stronger,
        row.weaker,
        row.setup.name,
        _win(measured),
        shown_lead(measured),
        _deals(measured),
        _duration(measured.mean),
        _duration(measured.mean_of_program),
    )


def _win(measured: Measured) -> str:
    if measured.deals < 2:
        return "not measured"
    win = f"{100 * measured.win:.1f} ± {100 * measured.win_error:.1f} %"
    return f"({win})" if abs(measured.win - 0.5) <= measured.win_error else win


def _deals(measured: Measured) -> str:
    return deals_of_fixed(measured.deals, measured.row.deals)


def _is_unfinished(measured: Measured) -> bool:
    return measured.deals < measured.row.deals


def _duration(milliseconds: float | None) -> str:
    if milliseconds is None:
        return ""
    return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.2g} ms"
