"""The parts of the benchmark by name, in the order in which they run; each is one module with a function ``run``.

``LOAD`` runs only where it is asked for, alone, and has a page of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Final

from bench.report import Section
from bench.scale import Scale
from bench.stand import Stand

Part = Callable[[Stand, Scale], Section]

PARTS: Final = (
    *("moves", "additions", "engine", "pythons", "peers", "growth"),
    *("streams", "start", "stages", "automatic", "instructions"),
)

LOAD: Final = "load"


def part(name: str) -> Part:
    """Return the part of that name."""
    run: Part = import_module(f"{__name__}.{name}").run
    return run
