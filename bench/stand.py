"""The processes of the benchmark: a real Redis server with an append-only file, and the candidates.

Owns every process of the benchmark: each is started when it is first needed, and all are stopped by their process ids.
Does not depend on the requests.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import redis

from bench.builds import ROOT
from bench.candidates import Name, Start, start_of
from bench.driver import Address, Connection, Refused, request
from bench.processes import DidNotStart, exact_seconds, free_port, resident_bytes, stop, tree
from service.devserver.embedded import EmbeddedServer, find_server
from service.games.store.redis_store import RedisStore
from service.limits.memory import MemoryReserve
from service.redis.calls import RedisCalls, observe_nothing
from service.redis.connection import connect
from service.redis.topology import Topology

START_SECONDS: Final = 120.0
STOP_SECONDS: Final = 40.0
_PAUSE_SECONDS: Final = 0.01
_OWN_SETTINGS: Final = frozenset({"HOST", "PORT", "REDIS_URL", "DATA_DIR", "SECRET_KEY"})

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

    def __init__(self, start: Start, folder: Path, workers: int) -> None:
        self._log = folder / "log"
        self._found: dict[int, list[int]] = {}
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
                [word.format(port=self.address[1], workers=workers) for word in start.command],
                cwd=start.folder,
                env={**inherited, **own, **start.environ},
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
        """Return the resident memory of each worker. Empty except on Linux."""
        return [resident_bytes(pid) for pid in sorted(self.workers())]

    def seconds(self) -> float:
        """Return the processor time of all its processes so far; 0 except on Linux."""
        return sum([exact_seconds(pid) for pid in self._processes()])

    def workers(self) -> list[int]:
        """Return the process ids of the descendants without children of their own."""
        return [pid for pid, children in self._processes().items() if not children]

    def _processes(self) -> dict[int, list[int]]:
        """Return all its processes, each with its children. Determined once, as they do not change."""
        if not self._found:
            self._found = tree(self._process.pid)
        return self._found


class Stand:
    """The server and the candidates of one run of the benchmark, its files in a folder that goes away with it.

    Each candidate has so many ``workers``. Named ones are run by the program ``under``, with words of its own, in which
    ``{folder}`` stands for ``folder``. ``python`` runs all that are written in it.
    """

    def __init__(self, workers: int, under: Sequence[str] = (), python: str = sys.executable) -> None:
        self.python = python
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
        """Return the candidate of that name, started if necessary. Raises ``DidNotStart``."""
        if name not in self._named:
            start = start_of(name, self.redis_url, self.python)
            under = [word.replace("{folder}", str(self.folder)) for word in self._under]
            self._named[name] = self._start(start._replace(command=(*under, *start.command)))
            self._named[name].wait()
        return self._named[name]

    def redis_seconds(self) -> float:
        """Return the processor time of the server that all named candidates share, so far."""
        return redis_seconds(self.redis)

    def service(self, redis_url: str, **environ: str) -> Candidate:
        """Start another service, on another server."""
        start = start_of("service", redis_url, self.python)
        candidate = self._start(start._replace(environ={**start.environ, **environ}))
        candidate.wait()
        return candidate

    def start(self, command: Sequence[str], environ: Mapping[str, str]) -> Candidate:
        """Start any candidate without waiting for it."""
        return self._start(Start(tuple(command), environ, ROOT))

    def _start(self, start: Start) -> Candidate:
        candidate = Candidate(start, self.folder / f"candidate-{len(self._started)}", self._workers)
        self._started.append(candidate)
        return candidate


def redis_seconds(client: Any) -> float:
    """Return the processor time of a server so far."""
    cpu = client.info("cpu")
    return float(cpu["used_cpu_user"] + cpu["used_cpu_sys"])


def open_store(topology: Topology, ttl_seconds: int) -> RedisStore:
    """Return the games on these servers, as a process of the service keeps them, but without its metrics."""
    calls = RedisCalls(topology, observe=observe_nothing, observe_failure=observe_nothing)
    return RedisStore(calls, ttl_seconds, MemoryReserve(topology, observe_failure=observe_nothing))


def server_version(*, unix: bool = True) -> str:
    """Return the name and version of the server, and how it is used: over a unix socket, or over TCP."""
    said = subprocess.run([find_server(), "--version"], capture_output=True, text=True, check=True).stdout
    return f"{' '.join(said.split()[:3])}, append-only file, fsync everysec, {'unix socket' if unix else 'TCP'}"
