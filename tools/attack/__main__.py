"""``python -m tools.attack``: attack the service on the loopback interface, and print how honest players fare."""

from __future__ import annotations

import argparse
import resource
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from bench.figures import percentile
from tools.attack.attackers import ATTACKERS
from tools.attack.attacks import Attack, attacks
from tools.attack.cost import costs
from tools.attack.faults import SCENARIOS, play
from tools.attack.measure import WATCHDOG_SECONDS, attacked, held
from tools.attack.pace import PACE_MS, TABLES, compare
from tools.attack.race import AROUND_MS, race
from tools.attack.shares import Holding, holdings
from tools.attack.tables import (
    COST_HEAD,
    FAULT_HEAD,
    HEAD,
    HELD_HEAD,
    HELD_SENTENCE,
    SENTENCE,
    Row,
    attack_figures,
    cost_row,
    fault_figures,
    held_figures,
    line,
    markdown,
)
from tools.attack.target import ROOT, Target

PAGE: Final = ROOT / "reports" / "under-attack.md"
BEGIN: Final = "<!-- attack table begins -->"
END: Final = "<!-- attack table ends -->"
"""Between these two lines the page has the tables of the attacks."""
FAULTS_PAGE: Final = ROOT / "reports" / "under-faults.md"
FAULTS_BEGIN: Final = "<!-- fault tables begin -->"
FAULTS_END: Final = "<!-- fault tables end -->"
"""Between these two lines this page has the tables of computer players and clocks."""
COST: Final = "cost"
"""The name of the part that measures single requests."""
FAULTS: Final = "faults"
"""The name of the part that lets processes and servers fail under computer players and clocks."""
SECONDS: Final = 4.0
RACE: Final = "race"
"""The name of the part in which people move at their deadlines."""
PACE: Final = "pace"
"""The name of the part that compares the times of forced and free answers of computer players."""
PARTS: Final = (COST, FAULTS, RACE, PACE)
_COST_SECONDS: Final = 90.0
_FAULT_SECONDS: Final = 25.0
_RACE_SECONDS: Final = 60.0
_PACE_SECONDS: Final = 90.0
_TOP: Final = 25
_MAX_COMPLAINTS: Final = 10


def main(argv: Sequence[str]) -> int:
    """Run the attacks that are asked for, all of them and the costs by default."""
    arguments = _arguments(argv)
    if arguments.list:
        print("\n".join(_names()))
        return 0
    chosen = [attack for attack in attacks() if not arguments.only or attack.name in arguments.only]
    taken = [holding for holding in holdings() if not arguments.only or holding.name in arguments.only]
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that nothing that was started is left behind
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    tables = []
    if chosen:
        tables.append(f"{SENTENCE}\n\n{_attack_table(chosen, arguments)}")
    if taken:
        tables.append(f"{HELD_SENTENCE}\n\n{_held_table(taken, arguments)}")
    if not arguments.only or COST in arguments.only:
        tables += [_cost_table(checkout, arguments.seconds) for checkout in arguments.service]
    parts = (
        (FAULTS, _fault_table, _FAULT_SECONDS),
        (RACE, _race_table, _RACE_SECONDS),
        (PACE, _pace_table, _PACE_SECONDS),
    )
    others = [
        table(arguments.seconds / SECONDS * seconds)
        for name, table, seconds in parts
        if not arguments.only or name in arguments.only
    ]
    if arguments.write and tables:
        _write(PAGE, BEGIN, "\n\n".join(tables), END)
    if arguments.write and others:
        _write(FAULTS_PAGE, FAULTS_BEGIN, "\n\n".join(others), FAULTS_END)
    return 0


def _names() -> list[str]:
    """Of all attacks and parts."""
    return [*[attack.name for attack in attacks()], *[holding.name for holding in holdings()], *PARTS]


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.attack", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"of each attack ({SECONDS:.0f})")
    parser.add_argument("--attackers", type=int, default=ATTACKERS, help=f"processes that attack ({ATTACKERS})")
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", default=[], help=f"only these attacks, or {' or '.join(PARTS)}"
    )
    parser.add_argument("--list", action="store_true", help="print the names of the attacks")
    parser.add_argument("--write", action="store_true", help="write the tables into reports")
    parser.add_argument(
        "--service",
        type=Path,
        action="append",
        metavar="PATH",
        help="attack the service of this checkout, with the environment .venv in it (this one); may be repeated, then "
        "each attack is made on all of them in turn",
    )
    arguments = parser.parse_args(argv)
    unknown = set(arguments.only) - set(_names())
    if unknown:
        parser.error(f"no such attack: {', '.join(sorted(unknown))} (see --list)")
    arguments.service = [checkout.resolve() for checkout in arguments.service or [ROOT]]
    if len({checkout.name for checkout in arguments.service}) < len(arguments.service):
        parser.error("the folders of the services have the same name")
    return arguments


def _attack_table(chosen: Sequence[Attack], arguments: argparse.Namespace) -> str:
    """Attack the services in turn; prints a table, and returns it in Markdown."""
    checkouts: list[Path] = arguments.service
    rows = []
    widths = [len(word) for word in HEAD]
    widths[0] = max(widths[0], *[len(attack.name) for attack in chosen])
    widths[1] = max(widths[1], *[len(checkout.name) for checkout in checkouts])
    print(line(HEAD, widths), flush=True)
    with ExitStack() as stack:
        targets = [stack.enter_context(Target(checkout, WATCHDOG_SECONDS)) for checkout in checkouts]
        for number, attack in enumerate(chosen):
            for checkout, target in zip(checkouts, targets, strict=True):
                source = f"127.0.3.{number + 1}"  # so that no limit by address is used up by another attack
                result = attacked(target, attack, [source] * arguments.attackers, arguments.seconds)
                rows.append((attack.name, checkout.name, *attack_figures(result)))
                print(line(rows[-1], widths), flush=True)
    return markdown(HEAD, rows)


def _held_table(taken: Sequence[Holding], arguments: argparse.Namespace) -> str:
    """Let attackers take what stays taken; prints a table, and returns it in Markdown."""
    rows = []
    widths = [max(len(word), width) for word, width in zip(HELD_HEAD, (30, 7, 0, 0, 0, 0, 46, 34, 6, 0), strict=True)]
    print(f"\n{line(HELD_HEAD, widths)}", flush=True)
    for number, holding in enumerate(taken):
        for checkout in arguments.service:
            found = held(checkout, holding, f"127.0.7.{number + 1}", arguments.seconds / SECONDS)
            rows.append((holding.name, checkout.name, *held_figures(found)))
            print(line(rows[-1], widths), flush=True)
    return markdown(HELD_HEAD, rows)


def _cost_table(checkout: Path, seconds: float) -> str:
    """Measure single requests to the service of a checkout; prints a table, and returns it in Markdown."""
    with Target(checkout) as target:
        found, left = costs(target, _COST_SECONDS * min(1.0, seconds / SECONDS))
    title = f"Processor time of one request to {checkout.name}: the {_TOP} highest of {len(found)}"
    title += f" ({left} more did not fit into the time)" if left else ""
    rows = [cost_row(cost) for cost in found[:_TOP]]
    print(f"\n{title}")
    for row in (COST_HEAD, *rows):
        print(line(row, [42, 44, 8, 8, 12]), flush=True)
    return f"{title}:\n\n{markdown(COST_HEAD, rows)}"


def _fault_table(seconds: float) -> str:
    """Let everything fail under games that the service plays; prints a table, and returns it in Markdown."""
    title = f"Computer players and deadlines under faults, {seconds:.0f} s of each"
    widths = [48, 30, *[max(len(word), 6) for word in FAULT_HEAD[2:]]]
    rows = []
    print(f"\n{title}\n{line(FAULT_HEAD, widths)}", flush=True)
    for scenario in SCENARIOS:
        outcome = play(scenario, seconds)
        rows.append((scenario.name, *fault_figures(outcome)))
        print(line(rows[-1], widths), flush=True)
        for complaint in outcome.complaints[:_MAX_COMPLAINTS]:
            print(f"    {complaint}", flush=True)
    return f"{title}:\n\n{markdown(FAULT_HEAD, rows)}"


def _race_table(seconds: float) -> str:
    """Let people move at their deadlines; prints a table, and returns it in Markdown."""
    title = f"Moves within {AROUND_MS} ms of their deadline and of the end of the turn, {seconds:.0f} s"
    raced = race(seconds)
    rows = [(name, f"{many:,}") for name, many in sorted(raced.counted.items())]
    rows += [
        ("turns with another number of outcomes than one, or moves lost", str(len(raced.verdict.complaints))),
        ("turns that ended before the deadline", str(len(raced.early))),
        ("refusals that do not tell the new version", str(len(raced.untold))),
    ]
    return _printed(title, ("what", "how many"), rows, [70, 10])


def _pace_table(seconds: float) -> str:
    """Compare the times of answers; prints a table, and returns it in Markdown."""
    title = f"Forced and free answers of computer players at a pace of {PACE_MS} ms, {seconds:.0f} s of each level"
    rows = []
    for level in TABLES:
        compared = compare(level, seconds)
        shown = [", ".join([f"{percentile(each, percent):.0f}" for percent in (50, 90, 99)]) for each in compared]
        rows.append((level, str(len(compared.forced)), str(len(compared.free)), *shown, f"{compared.p:.2f}"))
    head = ("level", "forced", "free", "forced ms: p50, p90, p99", "free ms: p50, p90, p99", "p (Kolmogorov-Smirnov)")
    return _printed(title, head, rows, [8, 6, 6, 26, 26, 22])


def _printed(title: str, head: Row, rows: Sequence[Row], widths: Sequence[int]) -> str:
    """Print a table, and return it in Markdown."""
    print("\n".join(["", title, *[line(row, widths) for row in (head, *rows)]]), flush=True)
    return f"{title}:\n\n{markdown(head, rows)}"


def _write(page: Path, begin: str, text: str, end: str) -> None:
    """Write the tables into the page, between these two marks."""
    before, found, rest = page.read_text().partition(begin)
    _, found_too, after = rest.partition(end)
    if not found or not found_too:
        raise SystemExit(f"{page} has no place for the tables: {begin} … {end}")
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
