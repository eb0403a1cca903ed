"""``python -m tools.faults``: let everything fail under clients, and print what became of their writes."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from typing import Final

from tests.support.serving import ROOT
from tools.attack.tables import Row, line, markdown
from tools.faults.run import FAULTS, Fault, Outcomes, Size, run
from tools.faults.simulated import Simulated, simulated

PAGE: Final = ROOT / "reports" / "under-faults.md"
BEGIN: Final = "<!-- history table begins -->"
END: Final = "<!-- history table ends -->"
"""Between these two lines the page has the table."""
SIMULATED: Final = "simulated"
"""The name of the part without processes and servers."""
WRITES: Final = 12_000
"""Acknowledged by default, of all faults together."""
MOST_SECONDS: Final = 600.0
_MOST_COMPLAINTS: Final = 10
_HEAD: Final = (
    "fault",
    "how often",
    "s",
    "games",
    "acknowledged",
    "moves",
    "lost",
    "doubled",
    "stuck",
    "messages",
    "missing",
    "other",
)
_WIDTHS: Final = (32, 44, 5, 6, 12, 8, 4, 7, 5, 8, 7, 5)


def main(argv: Sequence[str]) -> int:
    """Run the faults that are asked for; returns 1 if anything went wrong."""
    arguments = _arguments(argv)
    if arguments.list:
        print("\n".join(_names()))
        return 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that nothing that was started is left behind
    chosen = [fault for fault in FAULTS if not arguments.only or fault.name in arguments.only]
    rows: list[Row] = []
    print(line(_HEAD, _WIDTHS), flush=True)
    complaints = 0
    for fault in chosen:
        outcomes = run(fault, Size(arguments.writes // len(chosen), arguments.most_seconds))
        complaints += len(outcomes.complaints)
        rows.append(_row(fault, outcomes))
        _print(rows[-1], outcomes.complaints)
    if arguments.simulated and (not arguments.only or SIMULATED in arguments.only):
        found = simulated(arguments.simulated)
        rows.append(_simulated_row(found))
        complaints += len(found.lost) + len(found.doubled) + len(found.wrong)
        _print(rows[-1], [*found.lost, *found.doubled, *found.wrong])
    if arguments.write:
        _write(rows)
    return 1 if complaints else 0


def _names() -> list[str]:
    return [*[fault.name for fault in FAULTS], SIMULATED]


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.faults", description=__doc__)
    parser.add_argument(
        "--writes", type=int, default=WRITES, help=f"of clients, acknowledged, of all faults together ({WRITES:,})"
    )
    parser.add_argument(
        "--most-seconds", type=float, default=MOST_SECONDS, help=f"that clients play under a fault ({MOST_SECONDS:.0f})"
    )
    parser.add_argument("--simulated", type=int, default=0, help="writes in simulated histories (0: none)")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="only these faults")
    parser.add_argument("--list", action="store_true", help="print the names of the faults")
    parser.add_argument("--write", action="store_true", help="write the table into reports")
    arguments = parser.parse_args(argv)
    unknown = set(arguments.only) - set(_names())
    if unknown:
        parser.error(f"no such fault: {', '.join(sorted(unknown))} (see --list)")
    return arguments


def _row(fault: Fault, outcomes: Outcomes) -> Row:
    figures = [outcomes.games, outcomes.acknowledged, outcomes.moves]
    wrong = [len(each) for each in (outcomes.lost, outcomes.doubled, outcomes.stuck)]
    told = [outcomes.messages, len(outcomes.missing), len(outcomes.wrong)]
    often = ", ".join([f"{many:,} {name}" for name, many in outcomes.broken.items()]) or "–"
    return (fault.name, often, f"{outcomes.seconds:.0f}", *[f"{number:,}" for number in (*figures, *wrong, *told)])


def _simulated_row(found: Simulated) -> Row:
    often = f"{found.injected.total():,} faults in {found.histories:,} histories"
    wrong = [str(len(each)) for each in (found.lost, found.doubled)]
    return (
        SIMULATED,
        often,
        f"{found.seconds:.0f}",
        "–",
        f"{found.acknowledged:,}",
        "–",
        *wrong,
        "–",
        "–",
        "–",
        str(len(found.wrong)),
    )


def _print(row: Row, complaints: Sequence[str]) -> None:
    print(line(row, _WIDTHS), flush=True)
    for complaint in complaints[:_MOST_COMPLAINTS]:
        print(f"    {complaint}", flush=True)


def _write(rows: Sequence[Row]) -> None:
    before, found, rest = PAGE.read_text().partition(BEGIN)
    _, found_too, after = rest.partition(END)
    if not found or not found_too:
        raise SystemExit(f"{PAGE} has no place for the table: {BEGIN} … {END}")
    title = f"Writes of clients under faults, on a machine with {os.cpu_count()} processor cores:"
    PAGE.write_text(f"{before}{BEGIN}\n\n{title}\n\n{markdown(_HEAD, rows)}\n\n{END}{after}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
