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

from service.storage.redis.connection import connect
from tests.storage.clusters import Cluster, Sentinels
from tests.support.background import Background
from tests.support.serving import Service

COMMANDS: Final = ("bots", "scheduler", "messenger")
SETTINGS: Final[dict[str, Any]] = {
    "APPS": "open",
    "WEBHOOK_NETWORKS": "127.0.0.0/8",
    "BOT_WORKERS": "2",
    "SCHEDULERS": "2",
    "MESSENGERS": "2",
    "MAX_MEMORY_MB": "0",
}
_PER_COMMAND: Final = 2
_SHORT: Final = "/tmp"  # noqa: S108 # a folder with a name of its own is made there
"""A short path, as the socket of the server lies below it."""


class Stage(NamedTuple):
    """A service; ``nodes`` is the address of its games for the judge, ``servers`` are those of all servers.

    Without ``sentinels`` and ``cluster`` it is a run with an embedded server, whose supervisor starts what ended.
    """

    service: Service
    nodes: str
    servers: list[str]
    background: list[Background]
    folder: Path
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
        self.background[number] = _background(ended.command, self.nodes, self.folder)

    def games(self) -> set[str]:
        """Return the ids of all games there are."""
        found = set()
        for url in self.servers:
            with connect(url) as client:
                names = [key.decode() for key in client.scan_iter("domino:{*}", count=1000)]
            found |= {name[len("domino:{") : -1] for name in names if name.endswith("}")}
        return {game for game in found if game != "lobby"}


@contextmanager
def staged(kind: str) -> Iterator[Stage]:
    """Yield a stage of this kind: ``embedded``, ``sentinel`` or ``cluster``."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="f-", dir=_SHORT, ignore_cleanup_errors=True)))
        if kind == "embedded":
            service = stack.enter_context(Service(folder / "d", **SETTINGS))
            url = f"unix://{folder}/d/redis.sock"
            yield Stage(service, url, [url], [], folder)
            return
        sentinels = cluster = None
        if kind == "sentinel":
            sentinels = stack.enter_context(Sentinels(folder / "servers"))
            url, servers = sentinels.url, sentinels.servers[:2]
        else:
            cluster = stack.enter_context(Cluster(folder / "servers", **{"cluster-require-full-coverage": "no"}))
            url, servers = cluster.url, cluster.servers
        replicated = {**SETTINGS, "DURABILITY": "replicated", "SECRET_KEY": "s" * 40}
        service = stack.enter_context(Service(folder / "d", REDIS_URL=url, **replicated))
        background = [_background(command, url, folder) for command in COMMANDS for _ in range(_PER_COMMAND)]
        stack.callback(_stop_all, background)
        addresses = [f"redis://{server.address}" for server in servers]
        yield Stage(service, url, addresses, background, folder, sentinels, cluster)


def _background(command: str, url: str, folder: Path) -> Background:
    settings = {**SETTINGS, "DURABILITY": "replicated", "SECRET_KEY": "s" * 40}
    return Background(command, url, folder / "logs", **settings)


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
