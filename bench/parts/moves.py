"""Part 1: requests over HTTP against the floor, for every game and set.

Each client of a burst plays whole real matches on games opened just before it. The floor is measured twice: over
redis-py as it comes, which is what the figures to reach are about, and over the service's own connection.
"""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Final

from bench.bursts import KINDS, STATUS, Kind, Scripts, Work, prepared
from bench.driver import Burst, burst
from bench.figures import Spread, percentile, ratios, spread, take_turns
from bench.hosted import measure
from bench.report import Goal, Section, Table
from bench.scale import Scale
from bench.setups import SETUPS, USUAL, Setup, matches
from bench.stand import Name, Stand

CANDIDATES: Final[tuple[Name, ...]] = ("service", "floor", "floor, tuned client")
WANTED: Final[dict[Kind, float]] = {"POST move": 0.9, "GET view": 0.9, "GET view, 304": 0.95, "GET moves": 0.85}
MOST_SLOWER: Final = 1.5
"""How many times as long as the floor's the slowest moves in a hundred may take."""


def run(stand: Stand, scale: Scale) -> Section:
    """Measure every kind of request for every setup, and the slowest moves of a crowd."""
    luck = Random("moves")  # noqa: S311 # an order of turns
    setups = SETUPS[: scale.setups]
    tables = []
    found: dict[Kind, list[Spread]] = {kind: [] for kind in KINDS}
    own = []
    works = {setup: _work(stand, scale, setup) for setup in setups}
    for kind in KINDS:
        rows = []
        for setup in setups:
            bursts: list[Burst] = []
            measure_one = partial(_rate, stand, kind, works[setup], reads={}, bursts=bursts)
            rates = take_turns(CANDIDATES, scale.turns, measure_one, luck)
            plain, tuned = [ratios(rates, "service", base) for base in CANDIDATES[1:]]
            found[kind].append(plain)
            own += [each.own / len(each.latencies) for each in bursts]
            shown = [f"{spread(rates[name]).median:.0f}" for name in CANDIDATES]
            rows.append((setup.name, plain.show(), tuned.show(), *shown))
        head = ("game", "of the floor", "of the tuned floor", "service", "floor", "tuned floor")
        tables.append(Table(f"{kind}: ratio of requests a second, then requests a second", head, rows))
    slowest, crowd = _crowd(stand, scale, luck)
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
        text=f"{scale.clients} clients, two gevent workers, append-only file with fsync every second. The floor is the "
        "same gunicorn with a bare Flask route: one read and one script on a value of the same size, and as many "
        f"bytes. The clients take {spread(own).median * 1e6:.0f} µs of a core for each request, from every "
        "candidate alike.",
        tables=tables,
        goals=goals,
    )


def _work(stand: Stand, scale: Scale, setup: Setup) -> Work:
    played = matches(setup, scale.matches, scale.longest)
    measures = measure(stand["service"].address, stand.redis, played[0])
    return Work(played, measures, scale.clients, scale.reads)


def _rate(
    stand: Stand, kind: Kind, work: Work, name: Name, *, reads: dict[Name, Scripts], bursts: list[Burst]
) -> float:
    """Requests a second. What only reads is made ready once, and kept in ``reads``."""
    scripts = reads.get(name) or prepared(stand, kind, work, name)
    if kind.startswith("GET"):
        reads[name] = scripts
    done = burst(stand[name].address, scripts, STATUS[kind])
    bursts.append(done)
    return done.rate


def _crowd(stand: Stand, scale: Scale, luck: Random) -> tuple[Spread, Table]:
    """How long the slowest moves take when many clients play."""
    work = _work(stand, scale, USUAL)._replace(clients=scale.crowd)
    latencies: dict[Name, list[float]] = {name: [] for name in CANDIDATES}

    def slowest(name: Name) -> float:
        taken = burst(stand[name].address, prepared(stand, "POST move", work, name), STATUS["POST move"]).latencies
        latencies[name] += taken
        return percentile(taken, 99)

    found = take_turns(CANDIDATES, scale.turns, slowest, luck)
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
