"""Processes that play: ``bench.plays`` on each Python and each build of the engine.

Owns these processes. Does not depend on what they play.
"""

from __future__ import annotations

import os
import subprocess
from types import TracebackType
from typing import NamedTuple, Self

from bench.builds import ROOT, Python, compiled_service, no_compiled_service, pythons
from bench.scale import Scale


class Engine(NamedTuple):
    """A build of the engine on a Python."""

    python: Python
    build: str
    """``pure`` or ``compiled``."""

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.build}, {self.python.name}"


def engines(scale: Scale) -> list[Engine]:
    """Those that can be measured here: of this Python first, pure first."""
    own, *others = pythons()
    builds = ["pure", "compiled"] if scale.compiled and not no_compiled_service() else ["pure"]
    return [
        Engine(python, build)
        for python in (own, *others)
        for build in builds
        if build == "pure" or python.tag == own.tag  # it is compiled for this one
    ]


class Player:
    """One process that plays."""

    def __init__(self, engine: Engine, scale: Scale) -> None:
        self._scale = scale
        folder = compiled_service() if engine.build == "compiled" else ROOT
        self._process = subprocess.Popen(
            [engine.python.path, "-m", "bench.plays"],
            cwd=folder,  # where Python looks first
            env={**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        build = self._read()
        assert build == engine.build, f"{engine.name} is {build}"

    def __enter__(self) -> Self:
        """Return the player itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def rate(self, name: str) -> float:
        """Return how many of these a second of its processor time."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{name}\t{self._scale.engine_seconds}\t{self._scale.decisions}\n")
        self._process.stdin.flush()
        return float(self._read())

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        assert line, "a process that plays has ended"
        return line
