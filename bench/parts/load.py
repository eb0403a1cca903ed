"""The load run: streams, computer players, clocks and webhooks on three services and a Redis Cluster.

Not among the parts that run by default, as it takes fifteen minutes: ``python -m bench load`` writes LOAD.md.
"""

from __future__ import annotations

from typing import Final

from bench.figures import percentile
from bench.load.kinds import KINDS, OWNED_EVERY, ROUND
from bench.load.measures import CLIENTS, Step, two
from bench.load.run import APPLICATIONS, Outcome
from bench.load.run import run as play
from bench.load.stage import SERVICES, staged
from bench.plot import Panel, can_plot, panels
from bench.report import Goal, Section, Table
from bench.scale import Scale
from bench.stand import Stand

PLOT: Final = "load.svg"
VERDICT: Final = "What became of it"
"""The title of the table with what was lost or doubled."""
_EXPERT: Final = "expert"
_MAX_COMPLAINTS: Final = 20
_KIB: Final = 1024


def run(stand: Stand, scale: Scale) -> Section:
    """Run it, and show what came of it."""
    with staged(stand) as stage:
        outcome = play(stage, scale.load_tables, scale.load_seconds, scale.load_think)
    load, steps = outcome.load, outcome.steps
    wrong = [*load.wrong, *outcome.missing, *outcome.doubled, *load.failed]
    return Section(
        title="Load",
        text=_text(scale),
        tables=[_speeds(steps), _waits(steps), _cores(steps), _memory(steps), _units(outcome), _verdict(outcome)],
        goals=[
            Goal(
                "acknowledged moves, and events on streams, lost or doubled", "0", f"{len(load.wrong)}", not load.wrong
            ),
            Goal("webhooks missing", "0", f"{len(outcome.missing)}", not outcome.missing),
            Goal("webhooks doubled without the same id", "0", f"{len(outcome.doubled)}", not outcome.doubled),
        ],
        plots={PLOT: _plot(steps)} if can_plot() else {},
        left_out=[*wrong[:_MAX_COMPLAINTS], *([] if can_plot() else ["the plot: matplotlib is not installed"])],
    )


def _text(scale: Scale) -> str:
    kinds = ", ".join([f"{kind.often} {kind.name}" for kind in KINDS])
    return (
        f"{SERVICES} services of one worker each, a bot worker, a scheduler, a messenger, and a Redis Cluster of three "
        "primaries, all on the cores of this machine, beside the clients. Whole matches of domino with double-six for "
        f"two, to 50 points; of {ROUND} tables {kinds}. Every person follows the match by a stream with views at "
        f"another service than the other one, thinks for {scale.load_think:g} s on average, and moves. One in "
        f"{OWNED_EVERY} games belongs to one of {APPLICATIONS} applications, each with a webhook for the ends of "
        f"rounds and matches. Each row is a step of {scale.load_seconds:g} s, of which the last four "
        "fifths are measured."
    )


def _speeds(steps: list[Step]) -> Table:
    head = ("tables", "streams", "moves a second", "of computer players", "messages a second", "cores in use")
    rows = [
        (
            f"{each.tables:,}",
            f"{each.streams:,}",
            f"{each.rate:.0f}",
            f"{sum([len(times) for times in each.times.bots.values()]) / each.seconds:.0f}",
            f"{len(each.times.messages) / each.seconds:.1f}",
            f"{each.in_use:.2f}",
        )
        for each in steps
    ]
    return Table("What was done", head, rows)


def _waits(steps: list[Step]) -> Table:
    head = ("tables", "a move", "on a stream", "by webhook", "answer of greedy, casual", "of expert", "time-out, late")
    rows = [
        (
            f"{each.tables:,}",
            two(each.times.moves),
            two(each.times.deliveries),
            two(each.times.messages),
            two(_answers(each)),
            two(each.times.bots[_EXPERT]),
            two(each.times.time_outs),
        )
        for each in steps
    ]
    return Table("How long it took, p50 and p99 in ms", head, rows)


def _answers(each: Step) -> list[float]:
    return [time for level, times in each.times.bots.items() if level != _EXPERT for time in times]


def _cores(steps: list[Step]) -> Table:
    names = list(steps[0].cores)
    rows = [(f"{each.tables:,}", *[f"{100 * each.cores[name]:.0f}" for name in names]) for each in steps]
    return Table("Processor time of each process, % of a core", ("tables", *names), rows)


def _memory(steps: list[Step]) -> Table:
    names = list(steps[0].mib)
    rows = [
        (f"{each.tables:,}", *[f"{each.mib[name]:.0f}" for name in names], f"{each.stored_mib:.0f}") for each in steps
    ]
    return Table("Memory of each process, and what the primaries store, MiB", ("tables", *names, "stored"), rows)


def _units(outcome: Outcome) -> Table:
    """Return what one of each costs, over all steps with load, without what the processes use when idle."""
    idle, *steps = outcome.steps
    moves = sum([len(each.times.moves) for each in steps])
    answers = sum([len(times) for each in steps for times in each.times.bots.values()])
    owned = sum([each.times.counted["owned"] for each in steps])

    def milliseconds(begin: str, number: int) -> str:
        used = sum([(each.cores_of(begin) - idle.cores_of(begin)) * each.seconds for each in steps])
        return f"{1e3 * used / max(1, number):.2f} ms"

    rows = [
        (
            "web workers, for a move of a person: its request, and what the streams bring of it",
            milliseconds("web", moves),
        ),
        ("primaries, for a move, those of computer players included", milliseconds("primary", moves + answers)),
        ("bot worker, for a move of a computer player, its decision included", milliseconds("bots", answers)),
        *_decisions(steps),
        ("messenger, for a move in a game of an application, messages included", milliseconds("messenger", owned)),
        ("clients, for a move of a person", milliseconds(CLIENTS, moves)),
        ("Redis, for a finished game", f"{outcome.stored.game / _KIB:.1f} KiB"),
        ("Redis, for a game in the index of an application", f"{outcome.stored.listed / _KIB:.1f} KiB"),
        ("Redis, for a game in the feed of an application", f"{outcome.stored.feed / _KIB:.1f} KiB"),
        ("memory of a web worker for a stream, with what it remembers of the game", _stream_memory(outcome.steps)),
    ]
    return Table(
        "What one of each cost, on average of all steps, without what is used when idle", ("what", "cost"), rows
    )


def _decisions(steps: list[Step]) -> list[tuple[str, str]]:
    rows = []
    for level in steps[-1].decisions:
        number = sum([each.decisions[level].number for each in steps])
        seconds = sum([each.decisions[level].seconds for each in steps])
        if number:
            rows.append((f"a decision of {level}", f"{1e3 * seconds / number:.2f} ms"))
    return rows


def _stream_memory(steps: list[Step]) -> str:
    first, last = steps[0], steps[-1]
    streams = last.streams - first.streams
    return f"{(last.mib_of('web') - first.mib_of('web')) * _KIB / streams:.0f} KiB" if streams > 0 else "–"


def _verdict(outcome: Outcome) -> Table:
    load = outcome.load
    rows = [
        ("games, of which finished", f"{load.games:,}, {len(load.finished):,}"),
        ("acknowledged moves of people, compared with the events", f"{load.acknowledged:,}"),
        ("lost or doubled, in the games or on the streams", f"{len(load.wrong):,}"),
        ("messages to the applications", f"{outcome.messages:,}"),
        ("missing; doubled without the same id", f"{len(outcome.missing):,}; {len(outcome.doubled):,}"),
        ("repeated with the same id", f"{outcome.repeats:,}"),
        ("moves that were asked for again, as there was no answer, or 503", f"{load.repeated:,}"),
        ("matches or streams that failed", f"{len(load.failed):,}"),
    ]
    return Table(VERDICT, ("what", "how many"), rows)


def _plot(steps: list[Step]) -> str:
    across = [float(each.tables) for each in steps]

    def both(name: str, times: list[list[float]]) -> dict[str, list[float]]:
        return {
            f"{name}, p{percent}": [1e3 * percentile(each, percent) if each else float("nan") for each in times]
            for percent in (50, 99)
        }

    return panels(
        "tables at once",
        across,
        [
            Panel("a second", {"moves of people": [each.rate for each in steps]}),
            Panel(
                "ms",
                {
                    **both("a move", [each.times.moves for each in steps]),
                    **both("on a stream", [each.times.deliveries for each in steps]),
                },
                logarithmic=True,
            ),
            Panel(
                "ms",
                {
                    **both("by webhook", [each.times.messages for each in steps]),
                    **both("answer of greedy, casual", [_answers(each) for each in steps]),
                    **both("answer of expert", [each.times.bots[_EXPERT] for each in steps]),
                },
                logarithmic=True,
            ),
            Panel(
                "cores",
                {
                    name: [each.cores_of(begin) for each in steps]
                    for name, begin in {
                        "3 web workers": "web",
                        "bot worker": "bots",
                        "messenger": "messenger",
                        "scheduler": "scheduler",
                        "3 primaries": "primary",
                        "clients": CLIENTS,
                    }.items()
                },
            ),
        ],
    )
