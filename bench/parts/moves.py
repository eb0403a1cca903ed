"""Part 1: requests over HTTP against the floor, for every game and set.

Each client of a burst plays whole real matches on games created just before it. Both builds of the service are
measured beside two floors: the plain one, to which the targets refer, and the same on the service's worker.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from random import Random
from typing import Final

from bench.bursts import KINDS, Kind, Scripts, Work, prepared
from bench.candidates import COMPILED, LABELS, OWN_WORKER, PURE, Name, label, missing, services
from bench.costs import cost
from bench.figures import Spread, percentile, ratios, spread, take_turns
from bench.hosted import measure
from bench.report import Goal, Section, Table
from bench.scale import Scale
from bench.setups import SETUPS, USUAL, Setup, matches
from bench.stand import Stand

WANTED: Final[dict[Kind, float]] = {
    "POST move": 1.0,
    "GET view": 1.1,
    "GET view, 304": 1.1,
    "GET moves": 0.85,
    "POST game": 0.65,
}
MAX_SLOWER: Final = 1.3
"""The maximum ratio of the 99th percentile of moves to that of the floor."""


def run(stand: Stand, scale: Scale) -> Section:
    """Measure every kind of request for every setup, and the slowest moves of many clients."""
    rng = Random("moves")  # noqa: S311 # only the order of turns
    builds = services(compiled=scale.compiled)
    floors: tuple[Name, ...] = ("floor", OWN_WORKER)
    names = (*builds, *floors)
    works = {setup: _work(stand, scale, setup) for setup in SETUPS[: scale.setups]}
    tables = []
    found: dict[Kind, dict[Name, list[Spread]]] = {kind: {name: [] for name in builds} for kind in KINDS}
    own: list[float] = []
    for kind in KINDS:
        rows = []
        for setup, work in works.items():
            asked = {name: Asked(stand, kind, work, name) for name in names}
            seconds = take_turns(names, scale.turns, partial(_seconds, asked), rng)
            plain = {name: ratios(seconds, "floor", name) for name in builds}
            for name in builds:
                found[kind][name].append(plain[name])
            own += [each.own for each in asked.values()]
            shown = [plain[name].show() for name in builds]
            own_worker = ratios(seconds, OWN_WORKER, builds[-1]).show()
            rows.append((setup.name, *shown, own_worker, *[asked[name].show(seconds[name]) for name in names]))
        labels = [LABELS[name] for name in builds]
        head = (
            "game",
            *[f"{label}, of the floor" for label in labels],
            f"{labels[-1]}, of the floor on the own worker",
            *labels,
        )
        tables.append(Table(f"{kind}: ratios of processor time; requests a second, µs of each", (*head, *floors), rows))
    slowest, crowd = _crowd(stand, scale, names, rng)
    return Section(
        title="Requests over HTTP",
        text=f"{scale.clients} clients, {scale.workers} gevent workers, append-only file with fsync every second. "
        "Ratios are of the processor time of all processes of a candidate and of Redis for a request, the floor's "
        "over the service's: more is faster. The floor is a bare Flask route under gunicorn's gevent worker as it "
        "comes: one read and one script on a value of the same size, and as many bytes; and for POST game it validates "
        "a body, deals, makes tokens, and stores and answers JSON. The floor on the own worker is the same on the "
        f"worker of the service, which costs less. The clients take {spread(own).median * 1e6:.0f} µs of a core for "
        "each request, from all alike.",
        tables=[*tables, crowd],
        goals=[*_goals(found), *_crowd_goals(scale, slowest)],
        left_out=[reason for reason in [missing(COMPILED)] if reason is not None and scale.compiled],
    )


def _goals(found: Mapping[Kind, Mapping[Name, list[Spread]]]) -> list[Goal]:
    return [
        Goal(
            f"{kind}, {LABELS[name]}, of the floor",
            f"≥ {wanted}",
            _worst_and_median(ratios_of),
            spread([each.median for each in ratios_of]).median >= wanted,
        )
        for kind, wanted in WANTED.items()
        for name, ratios_of in found[kind].items()
    ]


def _crowd_goals(scale: Scale, slowest: Mapping[Name, Spread]) -> list[Goal]:
    what = f"slowest 1 % of moves under {scale.crowd} clients, times the floor's"
    return [
        Goal(f"{what}, {LABELS[name]}", f"≤ {MAX_SLOWER}", ratio.show(), ratio.median <= MAX_SLOWER)
        for name, ratio in slowest.items()
    ]


def _work(stand: Stand, scale: Scale, setup: Setup) -> Work:
    played = matches(setup, scale.matches, scale.longest)
    measures = measure(stand[PURE].address, stand.redis, played[0])
    return Work(played, measures, scale.clients, scale.reads)


class Asked:
    """One kind of request to one candidate: bursts of it, and the processor time that they took."""

    def __init__(self, stand: Stand, kind: Kind, work: Work, name: Name) -> None:
        self._prepare = partial(prepared, stand, kind, work, name)
        self._kind = kind
        self._stand = stand
        self._candidate = stand[name]
        self._reads: Scripts = []
        self._rates: list[float] = []
        self._own: list[float] = []

    @property
    def own(self) -> float:
        """Processor seconds of the clients per request."""
        return spread(self._own).median

    def seconds(self) -> float:
        """Processor seconds per request in one burst. Bursts of reads are prepared once."""
        scripts = self._reads or self._prepare()
        if self._kind.startswith("GET"):
            self._reads = scripts
        done = cost(self._candidate, self._stand.redis, self._kind, scripts)
        self._rates.append(done.burst.rate)
        self._own.append(done.burst.own / len(done.burst.latencies))
        return done.seconds

    def show(self, seconds: list[float]) -> str:
        """``1250, 790 µs``: the medians of the rates, and of the processor time per request."""
        return f"{spread(self._rates).median:.0f}, {spread(seconds).median * 1e6:.0f} µs"


def _seconds(asked: Mapping[Name, Asked], name: Name) -> float:
    return asked[name].seconds()


def _crowd(stand: Stand, scale: Scale, names: tuple[Name, ...], rng: Random) -> tuple[dict[Name, Spread], Table]:
    """Return the times of the slowest moves when many clients play."""
    work = _work(stand, scale, USUAL)._replace(clients=scale.crowd)
    latencies: dict[Name, list[float]] = {name: [] for name in names}

    def slowest(name: Name) -> float:
        scripts = prepared(stand, "POST move", work, name)
        taken = cost(stand[name], stand.redis, "POST move", scripts).burst.latencies
        latencies[name] += taken
        return percentile(taken, 99)

    found = take_turns(names, scale.turns, slowest, rng)
    rows = [
        (
            label(name),
            ratios(found, name, "floor").show(),
            *[f"{percentile(latencies[name], percent) * 1e3:.1f}" for percent in (50, 90, 99)],
        )
        for name in names
    ]
    head = ("candidate", "p99, times the floor's", "p50 ms", "p90 ms", "p99 ms")
    return (
        {name: ratios(found, name, "floor") for name in names if name in LABELS},
        Table(f"A move under {scale.crowd} clients, {USUAL.name}", head, rows),
    )


def _worst_and_median(found: list[Spread]) -> str:
    medians = [each.median for each in found]
    return f"{spread(medians).median:.2f} (of all games; {min(medians):.2f} the least)"
