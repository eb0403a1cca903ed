"""Who runs a service: the programs at hand, and the sessions of ``docs/operations``, run as they stand there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

import httpx

from service.devserver.embedded import find_server
from tests.support.serving import ROOT, Service
from tests.support.table import Json
from tests.support.waiting import PATIENCE
from tests.whole.table import Table
from tests.whole.test_readme import sessions

PAGES: Final = sorted((ROOT / "docs" / "operations").glob("*.md"))
PLACEHOLDER: Final = re.compile(r"(?<![$\w-])(ID|SUFFIX|REF)\b")
"""What stands for a value in a command; a test gives the value in a variable of the environment."""
SECONDS: Final = 180

REDIS_CLI: Final = f"""#!{sys.executable}
# Stands in for redis-cli, which no package brings: sends one command, prints the answer as redis-cli does.
import sys
import redis
kind, address, *command = sys.argv[1:]
url = address if kind == "-u" else "unix://" + address
try:
    with redis.Redis.from_url(url, decode_responses=True, protocol=2) as client:
        client.response_callbacks.clear()
        answer = client.execute_command(*command)
        print(*answer if isinstance(answer, list) else [answer], sep="\\n")
except redis.ConnectionError:
    sys.exit(0 if command == ["SHUTDOWN"] else 1)
"""


class Operator:
    """Runs sessions in the root of the project, with the programs of its environment.

    ``folder`` gets those that are missing there; ``environ`` are variables for every session.
    """

    def __init__(self, folder: Path, **environ: str) -> None:
        folder.mkdir()
        (folder / "redis-server").symlink_to(find_server())
        (folder / "redis-cli").write_text(REDIS_CLI)
        (folder / "redis-cli").chmod(0o755)
        self._programs = folder
        self.environ = {
            "PATH": os.pathsep.join([str(folder), str(Path(sys.executable).parent), "/usr/local/bin:/usr/bin:/bin"]),
            "PYTHONPATH": str(ROOT),
            **environ,
        }

    def add_program(self, path: str) -> None:
        """Put this program at hand, too."""
        (self._programs / Path(path).name).symlink_to(path)

    def run(self, name: str, *, cwd: Path = ROOT, stop: bool = True, **environ: str) -> str:
        """Run the session of this name; returns what it has printed, also as errors.

        ``stop``: at the first command that fails, and then this fails, too.
        """
        done = subprocess.run(
            ["sh", "-eu" if stop else "-u", "-c", script(name)],
            cwd=cwd,
            env={**self.environ, **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0 or not stop, done.stdout
        return done.stdout


def script(name: str) -> str:
    """The session of this name, with variables in place of the words that stand for values."""
    return PLACEHOLDER.sub(r"$\1", sessions(*PAGES)[name])


class Application(NamedTuple):
    """An application of a site, with a client that has its key."""

    id: str
    key: str
    http: httpx.Client

    def create(self, players: list[Json]) -> Table:
        """A new game of this application."""
        return Table.create(self.http, "domino", players)


class Site(NamedTuple):
    """A running service with the embedded server, and who runs it.

    A client says by ``X-Forwarded-For`` what its address is.
    """

    service: Service
    operator: Operator
    http: httpx.Client

    def create(self, address: str) -> Table:
        """A new game of a client with this address."""
        answer = self.http.post(
            "/v1/games",
            json={"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bo"}]},
            headers={"X-Forwarded-For": address},
        )
        return Table(self.http, answer.raise_for_status().json())


def read_to_end(pieces: Iterable[bytes]) -> bytes:
    """What comes of a stream until it ends; one that goes on sends a keep-alive at least every 15 s."""
    data, deadline = b"", time.monotonic() + PATIENCE
    for piece in pieces:
        data += piece
        assert time.monotonic() < deadline, "the stream goes on"
    return data
