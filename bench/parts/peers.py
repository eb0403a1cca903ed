"""Part 5: the same read and script on other stacks, for orientation.

FastAPI on two uvicorn workers and Node with two workers of a cluster do the same work as the floor; the service
plays real games.
"""

from __future__ import annotations

from random import Random
from typing import Final

from bench.bursts import STATUS, Kind, Work, prepared
from bench.driver import burst
from bench.figures import percentile, ratios, spread, take_turns
from bench.hosted import measure
from bench.report import Section, Table
from bench.scale import Scale
from bench.setups import USUAL, matches
from bench.stand import Name, Stand, missing

PEERS: Final[tuple[Name, ...]] = ("FastAPI", "Node")
_KINDS: Final[tuple[Kind, ...]] = ("POST move", "GET view")


def run(stand: Stand, scale: Scale) -> Section:
    """Measure moves and views."""
    rng = Random("peers")  # noqa: S311 # only the order of turns
    faults = {name: missing(name) for name in PEERS}
    names: list[Name] = ["service", "floor", *[name for name in PEERS if faults[name] is None]]
    played = matches(USUAL, scale.matches, scale.longest)
    measures = measure(stand["service"].address, stand.redis, played[0])
    work = Work(played, measures, scale.clients, scale.reads)
    tables = []
    for kind in _KINDS:
        latencies: dict[Name, list[float]] = {name: [] for name in names}

        def rate(name: Name, kind: Kind = kind, latencies: dict[Name, list[float]] = latencies) -> float:
            done = burst(stand[name].address, prepared(stand, kind, work, name), STATUS[kind])
            latencies[name] += done.latencies
            return done.rate

        rates = take_turns(names, scale.turns, rate, rng)
        rows = [
            (
                name,
                ratios(rates, name, "floor").show(),
                f"{spread(rates[name]).median:.0f}",
                *[f"{percentile(latencies[name], percent) * 1e3:.1f}" for percent in (50, 99)],
            )
            for name in names
        ]
        tables.append(Table(f"{kind}, {USUAL.name}", ("who", "of the floor", "a second", "p50 ms", "p99 ms"), rows))
    return Section(
        title="Peers on the same work",
        text="For orientation: what other stacks do with the read and the script of the floor, "
        f"{scale.workers} worker(s) each, {scale.clients} clients. "
        "Where a peer outruns the clients of this process, it is they who are measured.",
        tables=tables,
        left_out=[fault for fault in faults.values() if fault is not None],
    )
