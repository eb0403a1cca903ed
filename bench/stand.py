"""The processes of the benchmark: a real Redis server with an append-only file, and the candidates.

Owns every process of the benchmark: each is started when it is first needed, and all are stopped by their process ids.
Does not depend on the requests.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self

import redis

from bench.driver import Address, Connection, Refused, request
from bench.processes import DidNotStart, free_port, processor_seconds, resident_bytes, stat, stop
from service.devserver.embedded import EmbeddedServer
from service.devserver.server_program import find_server
from service.storage.games import RedisStore
from service.storage.memory_reserve import MemoryReserve
from service.storage.redis.calls import observe_nothing
from service.storage.redis.connection import connect
from service.storage.redis.topology import Topology

ROOT: Final = Path(__file__).parent.parent
NODE_PEER: Final = ROOT / "bench" / "peers" / "node"
START_SECONDS: Final = 120.0
STOP_SECONDS: Final = 40.0
_PAUSE_SECONDS: Final = 0.01
_OWN_SETTINGS: Final = frozenset({"HOST", "PORT", "REDIS_URL", "DATA_DIR", "SECRET_KEY"})

Name = Literal["service", "floor", "floor, tuned client", "FastAPI", "Node"]

WITHOUT_LIMITS: Final = dict.fromkeys(
    [
        "CREATES_PER_MINUTE",
        "MAX_GAMES_OF_BOTS",
        "READS_PER_MINUTE",
        "TOKEN_FAILURES_PER_MINUTE",
        "SEAT_REQUESTS_PER_MINUTE",
        "TOKEN_CHANGES_PER_HOUR",
    ],
    "0",
)
"""Benchmarks run without limits."""


class Candidate:
    """A server in its own processes, listening at ``address``."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str], folder: Path, workers: int) -> None:
        self._log = folder / "log"
        self._found: list[int] = []
        folder.mkdir()
        self.address: Address = ("127.0.0.1", free_port())
        inherited = {name: text for name, text in os.environ.items() if name not in _OWN_SETTINGS}
        own = {
            "HOST": self.address[0],
            "PORT": str(self.address[1]),
            "WORKERS": str(workers),
            "DATA_DIR": str(folder / "data"),
            "LOG_LEVEL": "warning",
            **WITHOUT_LIMITS,
        }
        with self._log.open("wb") as log:
            self.began = time.perf_counter()
            self._process = subprocess.Popen(
                [word.format(port=self.address[1], workers=workers) for word in command],
                cwd=ROOT,
                env={**inherited, **own, **environ},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def wait(self, path: str = "/healthz") -> float:
        """Wait until ``path`` is answered; returns the seconds since the start. Raises ``DidNotStart``."""
        while True:
            waited = time.perf_counter() - self.began
            try:
                with Connection(self.address) as connection:
                    connection.send(request("GET", path))
                return time.perf_counter() - self.began
            except (OSError, Refused):
                if self._process.poll() is not None or waited > START_SECONDS:
                    said = self._log.read_text(errors="replace")[-2000:]
                    self.stop()
                    raise DidNotStart(f"no answer after {waited:.1f} s\n{said}") from None
                time.sleep(_PAUSE_SECONDS)

    def stop(self) -> None:
        """Stop it, and wait until it has ended."""
        stop(self._process, STOP_SECONDS)

    def signal(self, number: int) -> None:
        """Send a signal to its first process."""
        self._process.send_signal(number)

    def worker_bytes(self) -> list[int]:
        """The resident memory of each worker. Empty except on Linux."""
        return [resident_bytes(pid) for pid in sorted(self.workers())]

    def worker_seconds(self) -> float:
        """The processor time of all workers so far, with a resolution of some milliseconds; 0 except on Linux."""
        return sum([processor_seconds(pid) for pid in self.workers()])

    def workers(self) -> list[int]:
        """The process ids of the descendants without children of their own. Determined once, as they do not change."""
        if not self._found:
            below = _children()
            todo = [self._process.pid]
            while todo:
                pid = todo.pop()
                todo += below.get(pid, [])
                if pid not in below and below:
                    self._found.append(pid)
        return self._found


class Stand:
    """The server and the candidates of one run of the benchmark, its files in a folder that goes away with it.

    Each candidate has so many ``workers``. Named ones are run by the program ``under``, with words of its own, in which
    ``{folder}`` stands for ``folder``.
    """

    def __init__(self, workers: int, under: Sequence[str] = ()) -> None:
        self._workers = workers
        self._under = under
        self.folder = Path(tempfile.mkdtemp(prefix="domino-bench-"))
        self._servers: list[EmbeddedServer] = []
        self._started: list[Candidate] = []
        self._named: dict[Name, Candidate] = {}
        self._client: redis.Redis | None = None

    def __enter__(self) -> Self:
        """Raise the limit of open files, for many streams."""
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop all started processes."""
        for candidate in reversed(self._started):
            candidate.stop()
        if self._client is not None:
            self._client.close()
        for server in reversed(self._servers):
            server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def server(self) -> EmbeddedServer:
        """Start another Redis server, for exclusive use."""
        server = EmbeddedServer(self.folder / f"server-{len(self._servers)}")
        server.start()
        self._servers.append(server)
        return server

    @property
    def redis_url(self) -> str:
        """The address of the server that all named candidates share."""
        if not self._servers:
            self.server()
        return self._servers[0].url

    @property
    def redis(self) -> Any:
        """A client for that server."""
        if self._client is None:
            self._client = connect(self.redis_url)
        return self._client

    def __getitem__(self, name: Name) -> Candidate:
        """The candidate of that name, started if necessary. Raises ``DidNotStart``."""
        if name not in self._named:
            command, environ = _command(name, self.redis_url)
            under = [word.replace("{folder}", str(self.folder)) for word in self._under]
            self._named[name] = self.start([*under, *command], environ)
            self._named[name].wait()
        return self._named[name]

    def service(self, redis_url: str, **environ: str) -> Candidate:
        """Start another service, on another server."""
        command, _ = _command("service", redis_url)
        candidate = self.start(command, {"REDIS_URL": redis_url, **environ})
        candidate.wait()
        return candidate

    def start(self, command: Sequence[str], environ: Mapping[str, str]) -> Candidate:
        """Start any candidate without waiting for it."""
        candidate = Candidate(command, environ, self.folder / f"candidate-{len(self._started)}", self._workers)
        self._started.append(candidate)
        return candidate


def missing(name: Name) -> str | None:
    """Why a candidate cannot be measured here, or ``None``."""
    if name == "FastAPI" and not (find_spec("fastapi") and find_spec("uvicorn")):
        return "FastAPI: fastapi and uvicorn are not installed (make bench installs them)"
    if name == "Node":
        if shutil.which("node") is None:
            return "Node: there is no node on the PATH"
        if not (NODE_PEER / "node_modules" / "ioredis").is_dir():
            return "Node: ioredis is not installed (make bench installs it where npm is)"
    return None


def open_store(topology: Topology, ttl_seconds: int) -> RedisStore:
    """The games on these servers, as a process of the service keeps them, but without its metrics."""
    return RedisStore(
        topology,
        ttl_seconds,
        memory_reserve=MemoryReserve(topology, observe_failure=observe_nothing),
        observe=observe_nothing,
        observe_failure=observe_nothing,
    )


def server_version(*, unix: bool = True) -> str:
    """The name and version of the server, and how it is used: over a unix socket, or over TCP."""
    said = subprocess.run([find_server(), "--version"], capture_output=True, text=True, check=True).stdout
    return f"{' '.join(said.split()[:3])}, append-only file, fsync everysec, {'unix socket' if unix else 'TCP'}"


def _command(name: Name, redis_url: str) -> tuple[list[str], dict[str, str]]:
    environ = {"REDIS_URL": redis_url}
    match name:
        case "service":
            return [sys.executable, "-m", "service"], environ
        case "floor":
            return [sys.executable, "-m", "bench.floor"], {**environ, "FLOOR_CLIENT": "plain"}
        case "floor, tuned client":
            return [sys.executable, "-m", "bench.floor"], {**environ, "FLOOR_CLIENT": "tuned"}
        case "FastAPI":
            words = ["--factory", "bench.peers.asgi:create", "--port", "{port}", "--workers", "{workers}"]
            return [sys.executable, "-m", "uvicorn", *words, "--log-level", "warning", "--no-access-log"], environ
        case "Node":
            path = redis_url.removeprefix("unix://")
            return [shutil.which("node") or "node", str(NODE_PEER / "server.js")], {"REDIS_SOCKET": path}


def _children() -> dict[int, list[int]]:
    """The children of each process; empty without /proc."""
    below: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            below.setdefault(int(stat(int(entry.name))[1]), []).append(int(entry.name))
    return below
