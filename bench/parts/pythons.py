"""Part 4: the same requests on every Python that is here, each with its own floor."""

from __future__ import annotations

from contextlib import ExitStack
from random import Random
from typing import Final

from bench.builds import Python, pythons
from bench.bursts import KINDS, Kind, Work, prepared
from bench.candidates import LABELS, PURE, Name, services
from bench.costs import cost
from bench.figures import ratios, spread
from bench.hosted import measure
from bench.report import Section, Table
from bench.scale import Scale
from bench.setups import USUAL, matches
from bench.stand import Stand

Taken = dict[tuple[Python, Name], list[float]]
"""Processor seconds of a request, turn by turn."""

_NO_OTHER: Final = "another Python: make bench finds none at /usr/bin/python3 (SYSTEM_PYTHON names another)"


def run(_stand: Stand, scale: Scale) -> Section:
    """Measure every kind of request; the engine on these Pythons is in the part on the engine."""
    rng = Random("pythons")  # noqa: S311 # only the order of turns
    with ExitStack() as stack:
        stands = {python: stack.enter_context(Stand(scale.workers, python=python.path)) for python in pythons()}
        who = [(python, name) for python in stands for name in _names(python, scale)]
        works = {python: _work(stand, scale) for python, stand in stands.items()}
        taken = {kind: Taken() for kind in KINDS}
        for kind in KINDS:
            for _ in range(scale.turns):
                for python, name in rng.sample(who, len(who)):
                    stand = stands[python]
                    done = cost(stand[name], stand.redis, kind, prepared(stand, kind, works[python], name))
                    taken[kind].setdefault((python, name), []).append(done.seconds)
    return Section(
        title="The same on every Python",
        text=f"{USUAL.name}: processor time of all processes and of Redis. All Pythons and builds in turns; the floor "
        "runs on the Python of its row.",
        tables=[
            Table(
                "Processor time of a request",
                (
                    "request, Python",
                    "pure, of the floor",
                    "compiled, of the floor",
                    "pure µs",
                    "compiled µs",
                    "floor µs",
                ),
                [_row(kind, python, taken[kind]) for kind in KINDS for python in stands],
            ),
            Table("The Pythons", ("Python", "built"), [(python.name, python.built) for python in stands]),
        ],
        left_out=[_NO_OTHER] if len(stands) == 1 else [],
    )


def _names(python: Python, scale: Scale) -> tuple[Name, ...]:
    own, *_ = pythons()
    return (*services(compiled=scale.compiled and python.tag == own.tag), "floor")


def _work(stand: Stand, scale: Scale) -> Work:
    played = matches(USUAL, scale.matches, scale.longest)
    return Work(played, measure(stand[PURE].address, stand.redis, played[0]), scale.clients, scale.reads)


def _row(kind: Kind, python: Python, taken: Taken) -> tuple[str, ...]:
    mine: dict[str, list[float]] = {name: values for (each, name), values in taken.items() if each == python}
    floors = [ratios(mine, "floor", name).show() if name in mine else "" for name in LABELS]
    costs = [f"{spread(mine[name]).median * 1e6:.0f}" if name in mine else "" for name in (*LABELS, "floor")]
    return (f"{kind}, {python.name}", *floors, *costs)
