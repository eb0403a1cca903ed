"""What is measured in a step of the load: times, counts, and what each process used.

Does not depend on how the load is made.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic, process_time
from typing import Final, NamedTuple

from bench.figures import percentile
from bench.load.stage import Decisions, Stage, Used
from bench.processes import busy_seconds

CLIENTS: Final = "clients"
"""The name of this process among those that use the processors."""
OTHERS: Final = "others"
"""The name of all that has nothing to do with the run."""


@dataclass(slots=True)
class Times:
    """What happened since the last step began. Times in seconds."""

    moves: list[float] = field(default_factory=list)
    """From the request of a move to its answer."""
    deliveries: list[float] = field(default_factory=list)
    """From the request of a move until its event has come on the stream of the other person."""
    messages: list[float] = field(default_factory=list)
    """From an event until the message about it has come."""
    bots: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """From the request of a move until the event of the computer player has come, by level."""
    time_outs: list[float] = field(default_factory=list)
    """From a deadline to the end of the turn."""
    counted: Counter[str] = field(default_factory=Counter)


class Mark(NamedTuple):
    """The beginning of a step."""

    at: float
    used: Used
    decisions: Mapping[str, Decisions]


class Step(NamedTuple):
    """A step of the load."""

    tables: int
    streams: int
    seconds: float
    times: Times
    cores: dict[str, float]
    """The part of a core that each process used."""
    mib: dict[str, float]
    """The resident memory of each process, at the end."""
    decisions: dict[str, Decisions]
    stored_mib: float
    """What the primaries use in all, at the end."""

    @property
    def rate(self) -> float:
        """Moves of people a second."""
        return len(self.times.moves) / self.seconds

    @property
    def in_use(self) -> float:
        """The cores that all of the run used together."""
        return sum(self.cores.values()) - self.cores[OTHERS]

    def cores_of(self, begin: str) -> float:
        """Return the cores that the processes whose names begin so used together."""
        return sum([cores for name, cores in self.cores.items() if name.startswith(begin)])

    def mib_of(self, begin: str) -> float:
        """Their memory."""
        return sum([mib for name, mib in self.mib.items() if name.startswith(begin)])


def mark(stage: Stage) -> Mark:
    """Begin a step."""
    return Mark(monotonic(), _with_others(stage.used()), stage.decisions())


def step(stage: Stage, since: Mark, times: Times, tables: int, *, streams: int) -> Step:
    """End a step."""
    now = mark(stage)
    seconds = now.at - since.at
    none = Decisions(0, 0)
    return Step(
        tables=tables,
        streams=streams,
        seconds=seconds,
        times=times,
        cores={name: (used - since.used.seconds[name]) / seconds for name, used in now.used.seconds.items()},
        mib=dict(now.used.mib),
        decisions={
            level: Decisions(
                *[after - before for after, before in zip(made, since.decisions.get(level, none), strict=True)]
            )
            for level, made in now.decisions.items()
        },
        stored_mib=stage.stored_bytes() / (1 << 20),
    )


def two(values: Sequence[float]) -> str:
    """``p50, p99`` in milliseconds; a dash without values."""
    if not values:
        return "–"
    return f"{percentile(values, 50) * 1e3:.0f}, {percentile(values, 99) * 1e3:.0f}"


def _with_others(used: Used) -> Used:
    own = {**used.seconds, CLIENTS: process_time()}
    return used._replace(seconds={**own, OTHERS: busy_seconds() - sum(own.values())})
