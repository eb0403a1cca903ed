"""Part 1: requests over HTTP against the floor, for every game and set.

Each client of a burst plays whole real matches on games created just before it. The floor is measured twice: over
plain redis-py, to which the targets refer, and over the service's own connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from random import Random
from typing import Final

from bench.bursts import KINDS, STATUS, Kind, Scripts, Work, prepared
from bench.driver import burst
from bench.figures import Spread, percentile, ratios, spread, take_turns
from bench.hosted import measure
from bench.report import Goal, Section, Table
from bench.scale import Scale
from bench.setups import SETUPS, USUAL, Setup, matches
from bench.stand import Name, Stand

CANDIDATES: Final[tuple[Name, ...]] = ("service", "floor", "floor, tuned client")
WANTED: Final[dict[Kind, float]] = {"POST move": 0.9, "GET view": 0.9, "GET view, 304": 0.95, "GET moves": 0.85}
MOST_SLOWER: Final = 1.5
"""The maximum ratio of the 99th percentile of moves to that of the floor."""


def run(stand: Stand, scale: Scale) -> Section:
    """Measure every kind of request for every setup, and the slowest moves of many clients."""
    rng = Random("moves")  # noqa: S311 # only the order of turns
    setups = SETUPS[: scale.setups]
    tables = []
    found: dict[Kind, list[Spread]] = {kind: [] for kind in KINDS}
    own: list[float] = []
    works = {setup: _work(stand, scale, setup) for setup in setups}
    for kind in KINDS:
        rows = []
        for setup in setups:
            asked = {name: Asked(stand, kind, works[setup], name) for name in CANDIDATES}
            rates = take_turns(CANDIDATES, scale.turns, partial(_rate, asked), rng)
            plain, tuned = [ratios(rates, "service", base) for base in CANDIDATES[1:]]
            found[kind].append(plain)
            own += [each.own for each in asked.values()]
            rows.append(
                (setup.name, plain.show(), tuned.show(), *[asked[name].show(rates[name]) for name in CANDIDATES])
            )
        head = ("game", "of the floor", "of the tuned floor", *CANDIDATES)
        title = f"{kind}: ratios of requests a second; requests a second, and µs of a worker for each"
        tables.append(Table(title, head, rows))
    slowest, crowd = _crowd(stand, scale, rng)
    tables.append(crowd)
    goals = [
        Goal(
            f"{kind}, fraction of the floor",
            f"≥ {wanted}",
            _worst_and_median(found[kind]),
            spread([each.median for each in found[kind]]).median >= wanted,
        )
        for kind, wanted in WANTED.items()
    ]
    goals.append(
        Goal(
            f"slowest 1 % of moves under {scale.crowd} clients, times the floor's",
            f"≤ {MOST_SLOWER}",
            slowest.show(),
            slowest.median <= MOST_SLOWER,
        )
    )
    return Section(
        title="Moves over HTTP",
        text=f"{scale.clients} clients, {scale.workers} gevent workers, append-only file with fsync every second. "
        "The floor is the same gunicorn with a bare Flask route: one read and one script on a value of the same size, "
        f"and as many bytes. The clients take {spread(own).median * 1e6:.0f} µs of a core for each request, from every "
        "candidate alike.",
        tables=tables,
        goals=goals,
    )


def _work(stand: Stand, scale: Scale, setup: Setup) -> Work:
    played = matches(setup, scale.matches, scale.longest)
    measures = measure(stand["service"].address, stand.redis, played[0])
    return Work(played, measures, scale.clients, scale.reads)


class Asked:
    """One kind of request to one candidate: bursts of it, and the processor time that they took."""

    def __init__(self, stand: Stand, kind: Kind, work: Work, name: Name) -> None:
        self._prepare = partial(prepared, stand, kind, work, name)
        self._kind = kind
        self._candidate = stand[name]
        self._reads: Scripts = []
        self._requests = 0
        self._own_seconds = 0.0
        self._worker_seconds = 0.0

    @property
    def own(self) -> float:
        """Processor seconds of the clients per request."""
        return self._own_seconds / self._requests

    def rate(self) -> float:
        """Requests per second of one burst. Bursts of reads are prepared once."""
        scripts = self._reads or self._prepare()
        if self._kind.startswith("GET"):
            self._reads = scripts
        before = self._candidate.worker_seconds()
        done = burst(self._candidate.address, scripts, STATUS[self._kind])
        self._worker_seconds += self._candidate.worker_seconds() - before
        self._own_seconds += done.own
        self._requests += len(done.latencies)
        return done.rate

    def show(self, rates: list[float]) -> str:
        """``1250, 790 µs``: the median of the rates, and the worker's processor time per request."""
        return f"{spread(rates).median:.0f}, {self._worker_seconds / self._requests * 1e6:.0f} µs"


def _rate(asked: Mapping[Name, Asked], name: Name) -> float:
    return asked[name].rate()


def _crowd(stand: Stand, scale: Scale, rng: Random) -> tuple[Spread, Table]:
    """The times of the slowest moves when many clients play."""
    work = _work(stand, scale, USUAL)._replace(clients=scale.crowd)
    latencies: dict[Name, list[float]] = {name: [] for name in CANDIDATES}

    def slowest(name: Name) -> float:
        taken = burst(stand[name].address, prepared(stand, "POST move", work, name), STATUS["POST move"]).latencies
        latencies[name] += taken
        return percentile(taken, 99)

    found = take_turns(CANDIDATES, scale.turns, slowest, rng)
    rows = [
        (
            name,
            ratios(found, name, "floor").show(),
            *[f"{percentile(latencies[name], percent) * 1e3:.1f}" for percent in (50, 90, 99)],
        )
        for name in CANDIDATES
    ]
    head = ("candidate", "p99, times the floor's", "p50 ms", "p90 ms", "p99 ms")
    return ratios(found, "service", "floor"), Table(f"A move under {scale.crowd} clients, {USUAL.name}", head, rows)


def _worst_and_median(found: list[Spread]) -> str:
    medians = [each.median for each in found]
    return f"{spread(medians).median:.2f} (of all games; {min(medians):.2f} the least)"
