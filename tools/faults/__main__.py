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
from tools.faults.network import is_possible
from tools.faults.partition import CUT_SECONDS, PARTITIONS
from tools.faults.partition import run as run_partition
from tools.faults.run import FAULTS, Fault, Outcomes, Size, run
from tools.faults.simulated import Simulated, simulated

PAGE: Final = ROOT / "reports" / "under-faults.md"
BEGIN: Final = "<!-- history table begins -->"
END: Final = "<!-- history table ends -->"
"""Between these two lines the page has the table."""
PARTITIONS_BEGIN: Final = "<!-- partition table begins -->"
PARTITIONS_END: Final = "<!-- partition table ends -->"
"""The same of the partitions."""
SIMULATED: Final = "simulated"
"""The name of the part without processes and servers."""
WRITES: Final = 12_000
"""Acknowledged by default, of all faults together."""
MAX_SECONDS: Final = 600.0
PARTITION: Final = "partition: "
"""How the names of partitions begin."""
_MAX_COMPLAINTS: Final = 10
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
_PARTITION_HEAD: Final = (
    "partition",
    "acknowledged",
    "lost in the cut",
    "after the heal",
    "last lost, s after the cut",
    "tokens back",
    "games gone",
    "longest pause, s",
    "converged after, s",
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
    if chosen:
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
    if arguments.write and rows:
        _write(rows)
    return 1 if complaints + _partitions(arguments.only, write=arguments.write) else 0


def _partitions(only: Sequence[str], *, write: bool) -> int:
    """Run the partitions that are asked for; returns how many of them did what must not be."""
    chosen = [each for each in PARTITIONS if not only or f"{PARTITION}{each.name}" in only]
    if not chosen or not is_possible():
        print("no partitions: this machine lets nobody have networks of his own" if chosen else "")
        return 0
    rows: list[Row] = []
    wrong = 0
    widths = [max(len(name), 12) for name in _PARTITION_HEAD]
    widths[0] = max(len(each.name) for each in PARTITIONS)
    print(line(_PARTITION_HEAD, widths), flush=True)
    for partition in chosen:
        figures = run_partition(partition)
        rows.append((partition.name, *[f"{number:,}" for number in figures]))
        complaints = figures.complaints(partition)
        wrong += len(complaints)
        print(line(rows[-1], widths), *complaints, flush=True)
    if write:
        title = f"Writes of two services while links are cut for {CUT_SECONDS:.0f} s:"
        _replace(PARTITIONS_BEGIN, PARTITIONS_END, f"{title}\n\n{markdown(_PARTITION_HEAD, rows)}")
    return wrong


def _names() -> list[str]:
    return [*[fault.name for fault in FAULTS], SIMULATED, *[f"{PARTITION}{each.name}" for each in PARTITIONS]]


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.faults", description=__doc__)
    parser.add_argument(
        "--writes", type=int, default=WRITES, help=f"of clients, acknowledged, of all faults together ({WRITES:,})"
    )
    parser.add_argument(
        "--most-seconds", type=float, default=MAX_SECONDS, help=f"that clients play under a fault ({MAX_SECONDS:.0f})"
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
    for complaint in complaints[:_MAX_COMPLAINTS]:
        print(f"    {complaint}", flush=True)


def _write(rows: Sequence[Row]) -> None:
    title = f"Writes of clients under faults, on a machine with {os.cpu_count()} processor cores:"
    _replace(BEGIN, END, f"{title}\n\n{markdown(_HEAD, rows)}")


def _replace(begin: str, end: str, table: str) -> None:
    before, found, rest = PAGE.read_text().partition(begin)
    _, found_too, after = rest.partition(end)
    if not found or not found_too:
        raise SystemExit(f"{PAGE} has no place for the table: {begin} … {end}")
    PAGE.write_text(f"{before}{begin}\n\n{table}\n\n{end}{after}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
