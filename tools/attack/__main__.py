"""``python -m tools.attack``: attack the service on the loopback interface, and print how honest players fare."""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

from bench.figures import percentile
from tools.attack.attackers import ATTACKERS, Attackers, Done
from tools.attack.attacks import Attack, attacks
from tools.attack.cost import Cost, costs
from tools.attack.faults import SCENARIOS, Outcome, play
from tools.attack.honest import PLAYERS, THINKING_SECONDS, Fared, HonestPlayers, Victim
from tools.attack.pace import PACE_MS, TABLES, compare
from tools.attack.race import AROUND_MS, race
from tools.attack.target import ROOT, Refused, Target

PAGE: Final = ROOT / "docs" / "operations" / "under-attack.md"
BEGIN: Final = "<!-- attack table begins -->"
END: Final = "<!-- attack table ends -->"
"""Between these two lines the page has the tables of the attacks."""
FAULTS_PAGE: Final = ROOT / "docs" / "operations" / "under-faults.md"
FAULTS_BEGIN: Final = "<!-- fault tables begin -->"
FAULTS_END: Final = "<!-- fault tables end -->"
"""Between these two lines this page has the tables of computer players and clocks."""
COST: Final = "cost"
"""The name of the part that measures single requests."""
FAULTS: Final = "faults"
"""The name of the part that lets processes and servers fail under computer players and clocks."""
SECONDS: Final = 4.0
WATCHDOG_SECONDS: Final = 3
"""gunicorn ends a worker that has been blocked for so long; by default 30 s, which is longer than an attack."""
RACE: Final = "race"
"""The name of the part in which people move at their deadlines."""
PACE: Final = "pace"
"""The name of the part that compares the times of forced and free answers of computer players."""
PARTS: Final = (COST, FAULTS, RACE, PACE)
_CALM_SECONDS: Final = 1.5
_WARM_UP_SECONDS: Final = 0.5
_RECOVERY_SECONDS: Final = 5.0
_COST_SECONDS: Final = 90.0
_FAULT_SECONDS: Final = 40.0
_RACE_SECONDS: Final = 60.0
_PACE_SECONDS: Final = 120.0
_TOP: Final = 25
_MOST_COMPLAINTS: Final = 10
_HEAD: Final = (
    "attack",
    "service",
    "honest moves",
    "p50 ms",
    "p99 ms",
    "5xx",
    "refused",
    "workers killed",
    "attack requests",
)
_COST_HEAD: Final = ("route", "large input", "CPU ms", "answer", "answer bytes")
_FAULT_HEAD: Final = ("fault", "how often", "games", "bot moves", "deadlines", "lost", "doubled", "early", "other")
_SENTENCE: Final = (
    f"Measured by `make attack` on one machine with {os.cpu_count()} processor cores: a service with two workers and "
    f"default settings but for gunicorn's watchdog, which is at {WATCHDOG_SECONDS} s, {PLAYERS} honest players with "
    f"{1000 * THINKING_SECONDS:.0f} ms between two moves, and {ATTACKERS} attackers in processes of their own. Each "
    "honest player has an address of its own, the attackers share one. *Honest moves* are a fraction of those just "
    "before and after the attack; *refused* counts closed connections and answers 4xx of honest players."
)

Row = tuple[str, ...]


class Result(NamedTuple):
    """What an attack did."""

    calm_rate: float
    """Moves of honest players per second, before and after the attack."""
    attacked: Fared
    killed: int
    done: Done
    notes: list[str]


def main(argv: Sequence[str]) -> int:
    """Run the attacks that are asked for, all of them and the costs by default."""
    known = attacks()
    arguments = _arguments(argv, known)
    if arguments.list:
        print("\n".join([*[attack.name for attack in known], *PARTS]))
        return 0
    chosen = [attack for attack in known if not arguments.only or attack.name in arguments.only]
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that nothing that was started is left behind
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    tables = []
    if chosen:
        tables.append(_attack_table(chosen, arguments))
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
        _write(PAGE, BEGIN, "\n\n".join([_SENTENCE, *tables]), END)
    if arguments.write and others:
        _write(FAULTS_PAGE, FAULTS_BEGIN, "\n\n".join(others), FAULTS_END)
    return 0


def _arguments(argv: Sequence[str], known: Sequence[Attack]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.attack", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"of each attack ({SECONDS:.0f})")
    parser.add_argument("--attackers", type=int, default=ATTACKERS, help=f"processes that attack ({ATTACKERS})")
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", default=[], help=f"only these attacks, or {' or '.join(PARTS)}"
    )
    parser.add_argument("--list", action="store_true", help="print the names of the attacks")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/operations")
    parser.add_argument(
        "--service",
        type=Path,
        action="append",
        metavar="PATH",
        help="attack the service of this checkout, with the environment .venv in it (this one); may be repeated, then "
        "each attack is made on all of them in turn",
    )
    arguments = parser.parse_args(argv)
    unknown = set(arguments.only) - {attack.name for attack in known} - set(PARTS)
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
    widths = [len(word) for word in _HEAD]
    widths[0] = max(widths[0], *[len(attack.name) for attack in chosen])
    widths[1] = max(widths[1], *[len(checkout.name) for checkout in checkouts])
    print(_line(_HEAD, widths), flush=True)
    with ExitStack() as stack:
        targets = [stack.enter_context(Target(checkout, WATCHDOG_SECONDS)) for checkout in checkouts]
        for number, attack in enumerate(chosen):
            for checkout, target in zip(checkouts, targets, strict=True):
                source = f"127.0.3.{number + 1}"  # so that no limit by address is used up by another attack
                result = _attacked(target, attack, [source] * arguments.attackers, arguments.seconds)
                rows.append((attack.name, checkout.name, *_figures(result)))
                print(_line(rows[-1], widths), flush=True)
    return _markdown(_HEAD, rows)


def _cost_table(checkout: Path, seconds: float) -> str:
    """Measure single requests to the service of a checkout; prints a table, and returns it in Markdown."""
    with Target(checkout) as target:
        found, left = costs(target, _COST_SECONDS * min(1.0, seconds / SECONDS))
    title = f"Processor time of one request to {checkout.name}: the {_TOP} highest of {len(found)}"
    title += f" ({left} more did not fit into the time)" if left else ""
    rows = [_cost_row(cost) for cost in found[:_TOP]]
    print(f"\n{title}")
    for row in (_COST_HEAD, *rows):
        print(_line(row, [42, 44, 8, 8, 12]), flush=True)
    return f"{title}:\n\n{_markdown(_COST_HEAD, rows)}"


def _fault_table(seconds: float) -> str:
    """Let everything fail under games that the service plays; prints a table, and returns it in Markdown."""
    title = f"Computer players and deadlines under faults, {seconds:.0f} s of each"
    widths = [48, 30, *[max(len(word), 6) for word in _FAULT_HEAD[2:]]]
    rows = []
    print(f"\n{title}\n{_line(_FAULT_HEAD, widths)}", flush=True)
    for scenario in SCENARIOS:
        outcome = play(scenario, seconds)
        rows.append((scenario.name, *_fault_figures(outcome)))
        print(_line(rows[-1], widths), flush=True)
        for complaint in outcome.complaints[:_MOST_COMPLAINTS]:
            print(f"    {complaint}", flush=True)
    return f"{title}:\n\n{_markdown(_FAULT_HEAD, rows)}"


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
    print("\n".join(["", title, *[_line(row, widths) for row in (head, *rows)]]), flush=True)
    return f"{title}:\n\n{_markdown(head, rows)}"


def _attacked(target: Target, attack: Attack, sources: Sequence[str], seconds: float) -> Result | str:
    """The result of one attack by attackers with these addresses, or why it was not possible."""
    try:
        order = attack.prepare(target)
    except Refused as refusal:
        return f"could not be prepared: {refusal}"
    attackers = Attackers(target.address, order, sources)
    players = HonestPlayers(target.address)
    attacked_seats = order.facts[: len(sources)] if attack.has_victims else ()
    victims = [Victim(target.address, fact["path"], fact["victim"]) for fact in attacked_seats]
    killed = target.killed_workers
    calm_seconds = min(_CALM_SECONDS, seconds)
    try:
        players.start()
        time.sleep(min(_WARM_UP_SECONDS, seconds))
        calm = [players.observe(calm_seconds)]
        attackers.go(seconds)
        for victim in victims:
            victim.start()
        attacked = players.observe(seconds)
        for victim in victims:
            victim.stopping.set()
        done = attackers.stop()
        is_ready = target.is_ready(_RECOVERY_SECONDS)
        if is_ready:
            calm.append(players.observe(calm_seconds))
    finally:
        attackers.stop()
        players.stop()
    killed = target.killed_workers - killed
    notes = []
    if victims:
        for victim in victims:
            victim.join()
        made, stale = sum(victim.made for victim in victims), sum(victim.stale for victim in victims)
        notes.append(f"victims: {made} moves made, {stale} stale (412)")
    if not is_ready:
        target.restart()
        notes.append(f"not ready {_RECOVERY_SECONDS:.0f} s later")
    return Result(fmean(each.rate for each in calm), attacked, killed, done, notes)


def _figures(result: Result | str) -> Row:
    if isinstance(result, str):
        return (*["–"] * (len(_HEAD) - 3), result)
    attacked = result.attacked
    fraction = attacked.rate / result.calm_rate if result.calm_rate else 0.0
    times = attacked.latencies or [attacked.seconds]
    outcomes = ", ".join([f"{name} × {many}" for name, many in result.done.most_common(4)])
    return (
        f"{fraction:.2f}",
        f"{1000 * percentile(times, 50):.0f}",
        f"{1000 * percentile(times, 99):.0f}",
        str(attacked.server_errors),
        str(attacked.refusals),
        str(result.killed),
        "; ".join([*([outcomes] if outcomes else ()), *result.notes]) or "none",
    )


def _fault_figures(outcome: Outcome) -> Row:
    counted = outcome.counted
    faults = ", ".join([f"{many:,} {name}" for name, many in outcome.faults.items()])
    figures = [counted["games"], counted["moves"], counted["deadlines"]]
    wrong = [outcome.lost, outcome.doubled, outcome.early, outcome.wrong]
    return (faults or "–", *[f"{number:,}" for number in figures], *[str(len(each)) for each in wrong])


def _cost_row(cost: Cost) -> Row:
    return (cost.route, cost.what, f"{1000 * cost.seconds:.1f}", cost.outcome, f"{cost.answer_bytes:,}")


def _line(row: Row, widths: Sequence[int]) -> str:
    return "  ".join([text.ljust(width) for text, width in zip(row, widths, strict=True)]).rstrip()


def _markdown(head: Row, rows: Sequence[Row]) -> str:
    lines = [head, tuple(["---"] * len(head)), *rows]
    return "\n".join(["| " + " | ".join([text.replace("|", "\\|") for text in line]) + " |" for line in lines])


def _write(page: Path, begin: str, text: str, end: str) -> None:
    """Write the tables into the page, between these two marks."""
    before, found, rest = page.read_text().partition(begin)
    _, found_too, after = rest.partition(end)
    if not found or not found_too:
        raise SystemExit(f"{page} has no place for the tables: {begin} … {end}")
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
