"""Part 11: the instructions that a worker executes for a request, counted by valgrind.

The counts do not depend on what else the machine does, and come out the same again to about one per cent, where times
differ by ten. They are those of the worker alone: neither of the operating system nor of the Redis server, and an
instruction that waits for memory counts as one that does not.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from typing import Final

from bench.additions import additions
from bench.builds import python_of
from bench.bursts import KINDS, STATUS, Kind, Scripts, Work, prepared
from bench.candidates import FLOORS, LABELS, OWN_WORKER, PURE, TUNED, Name, services
from bench.driver import burst
from bench.figures import Spread, ratios, spread
from bench.hosted import measure
from bench.report import Section, Table
from bench.scale import Scale
from bench.setups import USUAL, matches
from bench.stand import Candidate, Stand

_CALLGRIND: Final = (
    "valgrind",
    "--tool=callgrind",
    "--instr-atstart=no",  # so that the start is not counted, and takes a fifth of the time
    "--trace-children=yes",
    "--callgrind-out-file={folder}/counted.%p",
    "--log-file={folder}/valgrind.%p",
    "--vgdb-prefix={folder}/vgdb",
)
_MAX_TURNS: Final = 2
_MAX_CLIENTS: Final = 4
_MAX_MOVES: Final = 80
"""Of a match: valgrind takes fifty times as long."""


def run(stand: Stand, scale: Scale) -> Section:  # noqa: ARG001 # it needs servers of its own
    """Count the instructions of each kind of request, and of a move with a clock, a bot or an owner."""
    text = (
        f"One worker, {USUAL.name}, by valgrind's callgrind, on {python_of(sys.executable).name}. Thousands of "
        "instructions for a request, and the ratio to the floor (more is faster); in parentheses the quartiles of the "
        "turns. The tuned floor runs on the service's worker, too, with its connection to Redis and its JSON library."
    )
    if shutil.which("valgrind") is None or shutil.which("vgdb") is None:
        return Section(
            title="Instructions",
            text=text,
            tables=[],
            left_out=["valgrind is not installed: Debian has it as a package"],
        )
    builds = services(compiled=scale.compiled)
    names = (*builds, *FLOORS)
    with Stand(1, under=_CALLGRIND) as counted:
        played = matches(USUAL, scale.matches, min(scale.longest, _MAX_MOVES))
        turns, clients = min(scale.turns, _MAX_TURNS), min(scale.clients, _MAX_CLIENTS)
        counts = {name: Counts(counted, name) for name in names}
        work = Work(played, measure(counted[PURE].address, counted.redis, played[0]), clients, scale.reads)
        rows = [_row(kind, {name: counts[name].of(kind, work, turns) for name in names}) for kind in KINDS]
        beside = [
            _beside(addition.name, *[counts[PURE].of("POST move", each, turns) for each in addition[1:]])
            for addition in additions(counted, work)
        ]
    shown = [LABELS[name] for name in builds]
    head = (
        "request",
        *[f"{each}, of the floor" for each in shown],
        f"{shown[-1]}, of the floor on the own worker",
        f"{shown[-1]}, of the tuned floor",
        *shown,
        *FLOORS,
    )
    return Section(
        title="Instructions",
        text=text,
        tables=[
            Table("Instructions of a worker for a request", head, rows),
            Table(
                "A move beside one without, pure",
                ("game", "of one without", "service, without", "service, with"),
                beside,
            ),
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
        """Return what the worker has executed since this was called before."""
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


def _row(kind: Kind, counts: dict[str, list[float]]) -> tuple[str, ...]:
    # How many times as many the floor needs: as for processor time, more is faster.
    plain = {name: ratios(counts, "floor", name).show(3) for name in LABELS if name in counts}
    others = [ratios(counts, name, list(plain)[-1]).show(3) for name in (OWN_WORKER, TUNED)]
    return (kind, *plain.values(), *others, *[_thousands(each) for each in counts.values()])


def _beside(name: str, without: list[float], having: list[float]) -> tuple[str, ...]:
    ratio = ratios({"without": without, "having": having}, "without", "having")
    return (f"with {name}", ratio.show(3), _thousands(without), _thousands(having))


def _thousands(counts: list[float]) -> str:
    return Spread(*[each / 1000 for each in spread(counts)]).show(0)
