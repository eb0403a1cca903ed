"""The processes of the load run: a Redis Cluster of three primaries, three services, and the background processes.

Each service is a gunicorn of its own with one worker, as on three machines. Owns what each process uses, by its name.
"""

from __future__ import annotations

import re
import sys
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from bench.driver import Address
from bench.processes import DidNotStart, free_port, processor_seconds, resident_bytes
from bench.stand import Candidate, Stand
from service.redis.topology import open_topology
from tests.storage.clusters import PrimariesOnly

SERVICES: Final = 3
BACKGROUND: Final = ("bots", "scheduler", "messenger")
START_SECONDS: Final = 30.0
_MAX_STREAMS: Final = "8000"
_SETTINGS: Final = {
    "SECRET_KEY": "the same key for all services of the run",
    "WORKERS": "1",
    "WEBHOOK_NETWORKS": "127.0.0.0/8",
    "APP_GAMES_PER_MINUTE": "0",
    "APP_REQUESTS_PER_MINUTE": "0",
    "MAX_STREAMS": _MAX_STREAMS,
    "MAX_STREAMS_PER_ADDRESS": "0",
    "WORKER_CONNECTIONS": "16000",
}
_DECISIONS: Final = r'^domino_bot_decision_seconds_{what}{{level="(\w+)"}} (.*)$'
_MIB: Final = 1 << 20


class Used(NamedTuple):
    """What the processes have used so far, by name: processor time in seconds, resident memory in MiB."""

    seconds: Mapping[str, float]
    mib: Mapping[str, float]


class Decisions(NamedTuple):
    """What computer players of a level have decided so far, and the seconds that it took."""

    number: float
    seconds: float


class Stage(NamedTuple):
    """What runs."""

    cluster: PrimariesOnly
    services: list[Candidate]
    background: dict[str, Candidate]
    metrics_port: int
    """Of the bot worker."""

    @property
    def addresses(self) -> list[Address]:
        """Where the services listen."""
        return [service.address for service in self.services]

    def used(self) -> Used:
        """Return what each process has used."""
        pids = self._pids()
        return Used(
            {name: processor_seconds(pid) for name, pid in pids.items()},
            {name: resident_bytes(pid) / _MIB for name, pid in pids.items()},
        )

    def stored_bytes(self) -> int:
        """Return the memory that the primaries use for what is stored, and for their clients."""
        return sum([int(server.admin.info("memory")["used_memory"]) for server in self.cluster.servers])

    def bytes_of(self, keys: Sequence[bytes]) -> int:
        """Return the memory that these keys take, those that exist."""
        answers = open_topology(self.cluster.url).call_each(
            [(key, (b"MEMORY", b"USAGE", key, b"SAMPLES", b"0")) for key in keys]
        )
        return sum([answer for answer in answers if isinstance(answer, int)])

    def decisions(self) -> dict[str, Decisions]:
        """Return what computer players have decided, by level."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics") as answer:
            text: str = answer.read().decode()
        found: dict[str, list[float]] = defaultdict(list)
        for what in ("count", "sum"):
            for level, figure in re.findall(_DECISIONS.format(what=what), text, re.MULTILINE):
                found[level].append(float(figure))
        return {level: Decisions(*figures) for level, figures in found.items()}

    def _pids(self) -> dict[str, int]:
        services = {f"web {number + 1}": each.workers()[0] for number, each in enumerate(self.services)}
        background = {name: each.workers()[0] for name, each in self.background.items()}
        primaries = {f"primary {number + 1}": each.pid for number, each in enumerate(self.cluster.servers)}
        return {**services, **background, **primaries}


@contextmanager
def staged(stand: Stand) -> Iterator[Stage]:
    """Start everything; it is stopped by the stand, and the Cluster at the end of the context."""
    folder = Path(stand.folder) / "cluster"
    with PrimariesOnly(folder, appendfsync="everysec") as cluster:
        environ = {**_SETTINGS, "REDIS_URL": cluster.url}
        services = [stand.start([sys.executable, "-m", "service"], environ) for _ in range(SERVICES)]
        ports = {name: free_port() for name in BACKGROUND}
        background = {
            name: stand.start([sys.executable, "-m", "service", name], {**environ, "METRICS_PORT": str(port)})
            for name, port in ports.items()
        }
        for service in services:
            service.wait()
        for port in ports.values():
            _await(port)
        try:
            yield Stage(cluster, services, background, ports["bots"])
        finally:
            for each in (*background.values(), *services):
                each.stop()


def _await(port: int) -> None:
    """Wait until the process with this port of metrics works."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz"):
            return
        time.sleep(0.05)
    raise DidNotStart(f"no answer on the port {port}")
