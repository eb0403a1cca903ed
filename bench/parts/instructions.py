"""Part 9: the instructions that a worker executes for a request, counted by valgrind.

The counts do not depend on what else the machine does, and come out the same again to about one per cent, where times
differ by ten. They are those of the worker alone: neither of the operating system nor of the Redis server, and an
instruction that waits for memory counts as one that does not.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from typing import Any, Final

import orjson

from bench.bursts import KINDS, STATUS, Kind, Scripts, Work, prepared
from bench.driver import burst
from bench.figures import Spread, ratios, spread
from bench.hosted import measure
from bench.report import Section, Table
from bench.scale import Scale
from bench.setups import USUAL, Match, matches
from bench.stand import Candidate, Name, Stand

CANDIDATES: Final[tuple[Name, ...]] = ("service", "floor", "floor, tuned client")
_CALLGRIND: Final = (
    "valgrind",
    "--tool=callgrind",
    "--instr-atstart=no",  # so that the start is not counted, and takes a fifth of the time
    "--trace-children=yes",
    "--callgrind-out-file={folder}/counted.%p",
    "--log-file={folder}/valgrind.%p",
    "--vgdb-prefix={folder}/vgdb",
)
_CLOCKED: Final = {"clock": {"turn": 3600}}
_MOST_TURNS: Final = 3
_MOST_CLIENTS: Final = 4
_MOST_MOVES: Final = 80
"""Of a match: valgrind takes fifty times as long."""


def run(stand: Stand, scale: Scale) -> Section:  # noqa: ARG001 # it needs servers of its own
    """Count the instructions of each kind of request, and of a move in a game with a clock."""
    text = (
        f"One worker, {USUAL.name}, by valgrind's callgrind; {_build()}. Thousands of instructions for a request, and "
        "the ratio to the floor (more is faster); in parentheses the quartiles of the turns."
    )
    if shutil.which("valgrind") is None or shutil.which("vgdb") is None:
        return Section(
            title="Instructions",
            text=text,
            tables=[],
            left_out=["valgrind is not installed: Debian has it as a package"],
        )
    with Stand(1, under=_CALLGRIND) as counted:
        played = matches(USUAL, scale.matches, min(scale.longest, _MOST_MOVES))
        turns, clients = min(scale.turns, _MOST_TURNS), min(scale.clients, _MOST_CLIENTS)
        counts = {name: Counts(counted, name) for name in CANDIDATES}
        work = Work(played, measure(counted["service"].address, counted.redis, played[0]), clients, scale.reads)
        rows = [_row(kind, {name: counts[name].of(kind, work, turns) for name in CANDIDATES}) for kind in KINDS]
        clocked = work._replace(matches=[_asking(each, _CLOCKED) for each in played])
        moves = {
            "without a clock": counts["service"].of("POST move", work, turns),
            "with a clock": counts["service"].of("POST move", clocked, turns),
        }
    head = ("request", "of the floor", "of the tuned floor", *CANDIDATES)
    beside = [(name, ratios(moves, "without a clock", name).show(3), _thousands(each)) for name, each in moves.items()]
    return Section(
        title="Instructions",
        text=text,
        tables=[
            Table("Instructions of a worker for a request", head, rows),
            Table("A move beside one without a clock", ("game", "of the one without", "service"), beside),
        ],
    )


class Counts:
    """The instructions of the worker of a candidate."""

    def __init__(self, stand: Stand, name: Name) -> None:
        self._stand = stand
        self._name = name
        self._candidate: Candidate = stand[name]
        (self._worker,) = self._candidate.workers()
        self._order("instrumentation on")

    def of(self, kind: Kind, work: Work, turns: int) -> list[float]:
        """Those for one request of this kind, in each of so many turns."""
        return [self._turn(kind, prepared(self._stand, kind, work, self._name)) for _ in range(turns)]

    def _turn(self, kind: Kind, scripts: Scripts) -> float:
        self._take()
        done = burst(self._candidate.address, scripts, STATUS[kind])
        return self._take() / len(done.latencies)

    def _take(self) -> int:
        """What the worker has executed since this was called before."""
        self._order("dump")
        (newest,) = self._stand.folder.glob(f"counted.{self._worker}.*")
        found = re.search(rb"^(?:summary|totals): (\d+)", newest.read_bytes(), re.MULTILINE)
        newest.unlink()
        assert found is not None
        return int(found[1])

    def _order(self, words: str) -> None:
        command = ["vgdb", f"--vgdb-prefix={self._stand.folder}/vgdb", f"--pid={self._worker}", *words.split()]
        # The names of its pipes contain the variable HOST, which is also a setting of the candidates.
        environ = {**os.environ, "HOST": self._candidate.address[0]}
        subprocess.run(command, env=environ, capture_output=True, check=True, timeout=60)


def _row(kind: Kind, counts: dict[Name, list[float]]) -> tuple[str, ...]:
    # How many times as many the floor needs: as for requests a second, more is faster.
    inverse: dict[str, list[float]] = {name: [1 / each for each in values] for name, values in counts.items()}
    plain, tuned = [ratios(inverse, "service", base).show(3) for base in CANDIDATES[1:]]
    return (kind, plain, tuned, *[_thousands(counts[name]) for name in CANDIDATES])


def _thousands(counts: list[float]) -> str:
    return Spread(*[each / 1000 for each in spread(counts)]).show(0)


def _asking(match: Match, more: dict[str, Any]) -> Match:
    """The match in a game that is asked for with more than that."""
    return match._replace(request=orjson.dumps({**orjson.loads(match.request), **more}))


def _build() -> str:
    """How Python was built."""
    options = sysconfig.get_config_var("CONFIG_ARGS") or ""
    optimised = "--enable-optimizations" in options
    return f"Python was built {'with' if optimised else 'without'} profile-guided optimisation"
