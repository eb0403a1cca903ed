"""Part 5: the same read and script on other stacks: the price of this one.

FastAPI on uvicorn workers, Node with workers of a cluster and Go on as many threads do the same work as the floor; the
service plays real games.
"""

from __future__ import annotations

from random import Random
from typing import Final

from bench.bursts import Kind, Work, prepared
from bench.candidates import Name, label, missing, services
from bench.costs import Cost, cost
from bench.figures import percentile, ratios, spread, take_turns
from bench.hosted import measure
from bench.report import Section, Table
from bench.scale import Scale
from bench.setups import USUAL, matches
from bench.stand import Stand

PEERS: Final[tuple[Name, ...]] = ("FastAPI", "Node", "Go")
PEER_KINDS: Final[tuple[Kind, ...]] = ("POST move", "GET view")
"""What peers can do."""


def run(stand: Stand, scale: Scale) -> Section:
    """Measure moves and views."""
    faults = {name: missing(name) for name in PEERS}
    names = (*services(compiled=scale.compiled), "floor", *[name for name in PEERS if faults[name] is None])
    played = matches(USUAL, scale.matches, scale.longest)
    measures = measure(stand["service"].address, stand.redis, played[0])
    work = Work(played, measures, scale.clients, scale.reads)
    return Section(
        title="Peers on the same work: the price of the stack",
        text="What other stacks do with the read and the script of the floor, "
        f"{scale.workers} worker(s) each, {scale.clients} clients. Processor time as above; where a peer outruns the "
        "clients of this process, its requests a second are theirs.",
        tables=[_table(stand, scale, work, kind, names=names) for kind in PEER_KINDS],
        left_out=[fault for fault in faults.values() if fault is not None],
    )


def _table(stand: Stand, scale: Scale, work: Work, kind: Kind, *, names: tuple[Name, ...]) -> Table:
    costs: dict[str, list[Cost]] = {name: [] for name in names}

    def seconds(name: Name) -> float:
        costs[name].append(cost(stand[name], stand.redis, kind, prepared(stand, kind, work, name)))
        return costs[name][-1].seconds

    taken = take_turns(names, scale.turns, seconds, Random("peers"))  # noqa: S311 # only the order of turns
    rows = []
    for name in names:
        latencies = [each for done in costs[name] for each in done.burst.latencies]
        rows.append(
            (
                label(name),
                ratios({"floor": taken["floor"], "its": taken[name]}, "floor", "its").show(),
                f"{spread(taken[name]).median * 1e6:.0f}",
                f"{spread([done.burst.rate for done in costs[name]]).median:.0f}",
                *[f"{percentile(latencies, percent) * 1e3:.1f}" for percent in (50, 99)],
            )
        )
    return Table(f"{kind}, {USUAL.name}", ("who", "of the floor", "µs", "a second", "p50 ms", "p99 ms"), rows)
