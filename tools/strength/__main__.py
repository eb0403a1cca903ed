"""``python -m tools.strength``: how strong the levels of the computer players are against each other.

Plays first rounds of fresh deals and keeps them by the edition of the levels, so that several runs add up; the figures
of rows that a run does not play stay as the project has them. With the word ``review`` first, rounds are reviewed
instead, and the page on reviews is written.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Final

from tools.strength import duels, report, reviews, reviews_report
from tools.strength.programs import left_out
from tools.strength.results import FIGURES, Results, known, measured, write
from tools.strength.rows import DUELS, ROWS
from tools.strength.schedule import play

REVIEW: Final = "review"
KEPT: Final = Path(".cache/strength")
PROJECT: Final = Path()


def main(argv: Sequence[str]) -> int:
    """Measure and print, and with ``--write`` write all that is known; 1 if a measured row is not above its bound."""
    arguments = _arguments(argv)
    return _review(arguments) if arguments.words[:1] == [REVIEW] else _play(arguments)


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.strength", description="Measures the computer players.")
    parser.add_argument(
        "words",
        nargs="*",
        help=f"only rows whose names have all of these words (matches: whole ones); {REVIEW} first: reviews of rounds",
    )
    parser.add_argument("--minutes", type=float, default=60.0, help="how long deals are played (60); 0: none")
    parser.add_argument("--deals", type=int, help="deals of each row; enough for narrow intervals by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes; one a core by default")
    parser.add_argument("--label", default="reported", help="other labels have other deals, to try changes on")
    parser.add_argument("--kept", type=Path, default=KEPT, help=f"folder of the deals played ({KEPT})")
    parser.add_argument(
        "--write",
        metavar="PROJECT",
        type=Path,
        nargs="?",
        const=PROJECT,
        help=f"write {FIGURES} and the pages on strength, or {reviews.FIGURES} and {reviews_report.PAGE}",
    )
    return parser.parse_args(argv)


def _play(arguments: argparse.Namespace) -> int:
    words = arguments.words
    rows = [row for row in (*ROWS, *DUELS) if set(words) <= set(row.name.replace(",", "").split())]
    if words and "matches" not in words:
        rows = [row for row in rows if not row.whole]
    results = Results(arguments.kept, arguments.label)
    seconds = 60 * arguments.minutes
    play(rows, results, arguments.label, jobs=arguments.jobs, seconds=seconds, deals=arguments.deals)
    figures = [measured(row, results.of(row)) for row in rows]
    print("\n\n".join([report.table(figures), *left_out()]))
    if arguments.write is not None:
        all_known = known(arguments.write, (*ROWS, *DUELS), results)
        write(arguments.write, all_known.values())
        report.write(arguments.write, [all_known[row] for row in ROWS])
        duels.write(arguments.write, all_known)
    return 0 if all([each.reached for each in figures]) else 1


def _review(arguments: argparse.Namespace) -> int:
    """As ``main``, of reviewed rounds: 1 if the order of the levels is not shown in one of these games."""
    setups = [setup for setup in reviews.SETUPS if set(arguments.words[1:]) <= set(setup.name.split())]
    reviewed = reviews.Kept(arguments.kept, arguments.label, "reviews", reviews.Reviewed)
    shared = reviews.Kept(arguments.kept, arguments.label, "luck", reviews.Shared)
    end, jobs = monotonic() + 60 * arguments.minutes, arguments.jobs
    most = arguments.deals or reviews.SHARED_DEALS
    reviews.measure(shared, reviews.share_deal, dict.fromkeys(setups, most), jobs=jobs, end=end)
    deals = {setup: arguments.deals or reviews.deals_of(setup) for setup in setups}
    reviews.measure(reviewed, reviews.review_deal, deals, jobs=jobs, end=end)
    figures = [reviews.figures(setup, reviewed.of(setup), shared.of(setup)) for setup in setups]
    print(reviews_report.page(figures))
    if arguments.write is not None:
        told = [reviews.figures(setup, reviewed.of(setup), shared.of(setup)) for setup in reviews.SETUPS]
        told = reviews.known(arguments.write, told)
        reviews.write(arguments.write, told)
        reviews_report.write(arguments.write, told)
    return 0 if all([each.shown for each in figures]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
