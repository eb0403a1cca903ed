"""The candidates by name: how each is started, and why one cannot be measured here.

Owns the commands. Does not depend on the requests.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal, NamedTuple

from bench.builds import ROOT, compiled_service, folder_of_this_process, no_compiled_service

NODE_PEER: Final = ROOT / "bench" / "peers" / "node"
GO_PEER: Final = ROOT / "bench" / "peers" / "go" / "server.go"

Name = Literal["service", "service, compiled", "floor", "floor, own worker", "floor, tuned", "FastAPI", "Node", "Go"]

PURE: Final[Name] = "service"
COMPILED: Final[Name] = "service, compiled"
OWN_WORKER: Final[Name] = "floor, own worker"
TUNED: Final[Name] = "floor, tuned"
FLOORS: Final[tuple[Name, ...]] = ("floor", OWN_WORKER, TUNED)
"""Flask on gunicorn's worker, on the service's worker, and there with its connection to Redis and its JSON library."""
LABELS: Final[Mapping[Name, str]] = {PURE: "pure", COMPILED: "compiled"}
"""What tables call the two builds of the service."""


class Start(NamedTuple):
    """A command, its settings, and the folder that it is started in."""

    command: tuple[str, ...]
    environ: Mapping[str, str]
    folder: Path


def label(name: Name) -> str:
    """Return what tables call a candidate."""
    return f"service, {LABELS[name]}" if name in LABELS else name


def services(*, compiled: bool) -> tuple[Name, ...]:
    """Return the builds of the service that can be measured here, without the compiled one unless it is asked for."""
    return (PURE, COMPILED) if compiled and missing(COMPILED) is None else (PURE,)


def missing(name: Name) -> str | None:
    """Why a candidate cannot be measured here, or ``None``."""
    if name == COMPILED and (reason := no_compiled_service()):
        return f"the compiled build: {reason}"
    if name == "FastAPI" and not (find_spec("fastapi") and find_spec("uvicorn")):
        return "FastAPI: fastapi and uvicorn are not installed (make bench installs them)"
    if name == "Node":
        if shutil.which("node") is None:
            return "Node: there is no node on the PATH"
        if not (NODE_PEER / "node_modules" / "ioredis").is_dir():
            return "Node: ioredis is not installed (make bench installs it where npm is)"
    if name == "Go" and _go() is None:
        return "Go: go is not installed (make bench installs it)"
    return None


def start_of(name: Name, redis_url: str, python: str) -> Start:
    """Return how a candidate is started; ``python`` runs those that are written in it."""
    environ = {"REDIS_URL": redis_url}
    socket = {"REDIS_SOCKET": redis_url.removeprefix("unix://")}
    match name:
        case "service":
            return Start((python, "-m", "service"), environ, ROOT)
        case "service, compiled":
            folder = compiled_service()
            return Start((python, "-m", "service"), {**environ, "PYTHONPATH": str(folder)}, folder)
        case "floor" | "floor, own worker" | "floor, tuned":
            _, _, which = name.partition(", ")
            return Start((python, "-m", "bench.floor"), {**environ, "FLOOR": which or "plain"}, ROOT)
        case "FastAPI":
            words = ("--factory", "bench.peers.asgi:create", "--port", "{port}", "--workers", "{workers}")
            return Start((python, "-m", "uvicorn", *words, "--log-level", "warning", "--no-access-log"), environ, ROOT)
        case "Node":
            return Start((shutil.which("node") or "node", str(NODE_PEER / "server.js")), socket, ROOT)
        case "Go":
            return Start((str(_go_program()),), socket, ROOT)


def _go() -> str | None:
    return shutil.which("go", path=str(Path(sys.executable).parent)) or shutil.which("go")


@cache
def _go_program() -> Path:
    """Return the compiled peer, built once."""
    program = folder_of_this_process("domino-bench-go-") / "server"
    subprocess.run([_go() or "go", "build", "-o", str(program), str(GO_PEER)], check=True, cwd=GO_PEER.parent)
    return program
