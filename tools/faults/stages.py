"""Where games are played: the service with its processes, and the servers that store the games.

Owns which processes there are, and that one that ended is started again where nothing else does. Does not depend on
what fails.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from service.redis.connection import connect
from tests.storage.clusters import Cluster, Sentinels
from tests.storage.servers import RealServer, write_before_answering
from tests.support.background import Background
from tests.support.serving import Service
from tests.whole.proxy import Proxy

COMMANDS: Final = ("bots", "scheduler", "messenger")
SETTINGS: Final[dict[str, Any]] = {
    "WEBHOOK_NETWORKS": "127.0.0.0/8",
    "MAX_MEMORY_MB": "0",
}
_SHORT: Final = "/tmp"  # noqa: S108 # a folder with a name of its own is made there
"""A short path, as the socket of the server lies below it."""


class Stage(NamedTuple):
    """A service; ``nodes`` is the address of its games for the judge, ``servers`` are those of all servers.

    Without ``proxy``, ``sentinels`` and ``cluster`` it is a run with an embedded server, whose supervisor starts what
    ended. The ``proxy`` is between the service and its server; background processes have connections of their own.
    """

    service: Service
    nodes: str
    servers: list[str]
    background: list[Background]
    folder: Path
    proxy: Proxy | None = None
    sentinels: Sentinels | None = None
    cluster: Cluster | None = None

    def pids(self, command: str) -> list[int]:
        """Return the processes that run this command, ``web`` for the workers, ``master`` for that of gunicorn."""
        if command in COMMANDS and self.background:
            return [each.process.pid for each in self.background if each.command == command]
        children = _children()
        own = children.get(self.service.process.pid, [])
        if command in COMMANDS:
            return [pid for pid in own if _words(pid)[1:4] == ["-m", "service", command]]
        masters = [self.service.process.pid] if self.background else [pid for pid in own if "gunicorn" in _words(pid)]
        if command == "master":
            return masters
        return [pid for master in masters for pid in children.get(master, ())]

    def restore(self, number: int) -> None:
        """Start a background process in the place of one that has ended."""
        ended = self.background[number]
        ended.kill()
        self.background[number] = Background(ended.command, self.nodes, self.folder / "logs", **ended.settings)

    def games(self) -> set[str]:
        """Return the ids of all games there are."""
        found = set()
        for url in self.servers:
            with connect(url) as client:
                names = [key.decode() for key in client.scan_iter("domino:{*}", count=1000)]
            found |= {name[len("domino:{") : -1] for name in names if name.endswith("}")}
        return {game for game in found if game != "lobby"}


@contextmanager
def staged(kind: str, processes: int) -> Iterator[Stage]:
    """Make a stage (``embedded``, ``proxy``, ``sentinel`` or ``cluster``) with so many processes of each command."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="f-", dir=_SHORT, ignore_cleanup_errors=True)))
        if kind == "embedded":
            each = dict.fromkeys(("BOT_WORKERS", "SCHEDULERS", "MESSENGERS"), str(processes))
            service = stack.enter_context(Service(folder / "d", **(SETTINGS | each)))
            url = f"unix://{folder}/d/redis.sock"
            yield Stage(service, url, [url], [], folder)
            return
        proxy, sentinels, cluster = None, None, None
        durability = "replicated"
        if kind == "proxy":
            server = RealServer(folder / "servers")
            stack.callback(server.stop)
            write_before_answering(server.admin)
            proxy = stack.enter_context(Proxy(server.socket_path))
            nodes, servers, durability = server.url, [server.url], "local"
        elif kind == "sentinel":
            sentinels = stack.enter_context(Sentinels(folder / "servers"))
            nodes, servers = sentinels.url, [f"redis://{each.address}" for each in sentinels.servers[:2]]
        else:
            cluster = stack.enter_context(Cluster(folder / "servers", **{"cluster-require-full-coverage": "no"}))
            nodes, servers = cluster.url, [f"redis://{each.address}" for each in cluster.servers]
        settings = {**SETTINGS, "DURABILITY": durability, "SECRET_KEY": "s" * 40}
        url = nodes if proxy is None else proxy.url
        service = stack.enter_context(Service(folder / "d", REDIS_URL=url, **settings))
        background = [
            Background(command, nodes, folder / "logs", **settings) for command in COMMANDS for _ in range(processes)
        ]
        stack.callback(_stop_all, background)
        yield Stage(service, nodes, servers, background, folder, proxy, sentinels, cluster)


def _stop_all(background: list[Background]) -> None:
    for each in background:
        each.stop()


def _children() -> dict[int, list[int]]:
    """Return the children of every process that has some."""
    found: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if words[0] != "Z":
            found.setdefault(int(words[1]), []).append(int(entry.parent.name))
    return found


def _words(pid: int) -> list[str]:
    """Return the command line of a process; nothing of one that has ended."""
    try:
        return [word.decode() for word in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")]
    except OSError:
        return []


def signal_all(pids: list[int], sign: int) -> int:
    """Send a signal to all of these that run; returns how many."""
    sent = 0
    for pid in pids:
        try:
            os.kill(pid, sign)
        except ProcessLookupError:
            continue
        sent += 1
    return sent
