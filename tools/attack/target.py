"""The service under attack: its processes, its log, its processor time, and games to attack.

Owns the processes: all are ended by their process ids.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import orjson
import redis

from bench.processes import DidNotStart, free_port, stop
from service.config import SETTINGS
from tools.attack import bodies
from tools.attack.http import Address, Answer, Closed, Connection, request

ROOT: Final = Path(__file__).parent.parent.parent
WORKERS: Final = 2
START_SECONDS: Final = 60.0
STOP_SECONDS: Final = 20.0
_STARTS: Final = 3
_SETTINGS: Final = frozenset({setting.name for setting in SETTINGS} | {"GUNICORN_CMD_ARGS"})
_OPERATOR: Final = "127.0.0.1"


class Refused(Exception):
    """The service refused to create something that an attack needs."""


class Game(NamedTuple):
    """A game to play or to attack."""

    id: str
    tokens: tuple[str, ...]
    join_code: str

    @property
    def path(self) -> str:
        """The path of the game."""
        return f"/v1/games/{self.id}"


class Target:
    """The service of a ``checkout`` with default settings and its embedded server, in a temporary folder.

    ``watchdog``: seconds after which gunicorn ends a blocked worker; ``settings``: those that are not the default.
    """

    def __init__(self, checkout: Path = ROOT, watchdog: int = 30, settings: Mapping[str, str] | None = None) -> None:
        self._checkout = checkout
        self._python = sys.executable if checkout == ROOT else str(checkout / ".venv" / "bin" / "python")
        self._watchdog = watchdog
        self._settings = dict(settings or {})
        self._numbers = count(1)
        self._long_game: Game | None = None

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def restart(self) -> None:
        """Start again without any data."""
        self._stop()
        self._start()

    @property
    def address(self) -> Address:
        """The address it listens on."""
        return self._address

    @property
    def killed_workers(self) -> int:
        """The workers that gunicorn's watchdog has ended."""
        return self._log_text().count("WORKER TIMEOUT")

    def workers(self) -> list[int]:
        """Return the process ids of all workers started so far."""
        return [int(pid) for pid in re.findall(r"Booting worker with pid: (\d+)", self._log_text())]

    def worker_seconds(self) -> float:
        """Return the processor time of all workers that run, in seconds. Linux only."""
        total = 0.0
        for pid in self.workers():
            try:
                total += time.clock_gettime(_process_clock(pid))
            except OSError:
                continue  # it has ended
        return total

    def service_seconds(self) -> float:
        """Return the processor time of all processes of the service that run, its server included, in seconds.

        Linux only.
        """
        total = 0.0
        for pid in _family(self._process.pid):
            with suppress(OSError):
                total += time.clock_gettime(_process_clock(pid))
        return total

    def stored_bytes(self) -> int:
        """Return what the embedded server has in memory, without its buffers."""
        with redis.Redis(unix_socket_path=str(self._folder / "data" / "redis.sock"), protocol=2) as server:
            memory: Any = server.info("memory")
        return int(memory["used_memory"] - memory["mem_not_counted_for_evict"])

    def create_key(self, name: str) -> str:
        """Return the key of a new application, made by the operator. Raises ``Refused``."""
        made = subprocess.run(
            [self._python, "-m", "service", "apps", "create", name],
            cwd=self._checkout,
            env=self._environ,
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            raise Refused(made.stderr[-200:])
        return made.stdout.strip()

    def is_ready(self, seconds: float) -> bool:
        """Return whether both workers answer within that time, as far as some requests can tell."""
        deadline = time.monotonic() + seconds
        good = 0
        while good < 2 * WORKERS:
            connection = Connection(self._address, _OPERATOR, patience=1.0)
            try:
                good = good + 1 if connection.send(request("GET", "/healthz")).status == 200 else 0
            except Closed:
                good = 0
                time.sleep(0.05)
            finally:
                connection.close()
            if time.monotonic() > deadline:
                return False
        return True

    def ask(self, method: str, path: str, body: Any = None, token: str | None = None) -> Answer:
        """Return the answer to a request of the operator, sent again if its worker has ended.

        Raises ``Refused`` without.
        """
        data = None if body is None else orjson.dumps(body)
        key = (("Idempotency-Key", f"attack-setup-{next(self._numbers):08}"),) if method == "POST" else ()
        message = request(method, path, data, token=token, headers=key)
        with suppress(Closed):
            return self._send(message)
        try:
            return self._send(message)
        except Closed as error:
            raise Refused(str(error)) from None

    def _send(self, message: bytes) -> Answer:
        connection = Connection(self._address, _OPERATOR)
        try:
            return connection.send(message)
        finally:
            connection.close()

    def create(self, body: dict[str, Any], key: str | None = None) -> Game:
        """Create a game, of the application with this key if there is one. Raises ``Refused``."""
        answer = self.ask("POST", "/v1/games", body, token=key)
        if answer.status != 201:
            raise Refused(f"{answer.status} {answer.body[:200]!r}")
        opened = orjson.loads(answer.body)
        tokens = tuple([seat.get("token", "") for seat in opened["seats"]])
        return Game(opened["game"]["id"], tokens, opened.get("join_code", ""))

    def long_game(self) -> Game:
        """Return a game that continues a long record, or a shorter one if that is refused. Raises ``Refused``."""
        if self._long_game is None:
            try:
                self._long_game = self.create(orjson.loads(bodies.fork(bodies.long_record())))
            except Refused:
                self._long_game = self.create(orjson.loads(bodies.fork(bodies.shorter_record())))
        return self._long_game

    def _start(self) -> None:
        """Start it; on another port if somebody else has taken the free one meanwhile. Raises ``DidNotStart``."""
        for left in reversed(range(_STARTS)):
            try:
                self._start_on_free_port()
            except DidNotStart as error:
                if not left or "is in use" not in str(error):
                    raise
            else:
                break

    def _start_on_free_port(self) -> None:
        self._long_game = None
        self._folder = Path(tempfile.mkdtemp(prefix="domino-attack-"))
        port = free_port()
        self._address: Address = ("127.0.0.1", port)
        own = {
            "HOST": "127.0.0.1",
            "PORT": str(port),
            "WORKERS": str(WORKERS),
            "DATA_DIR": str(self._folder / "data"),
            "TMPDIR": str(self._folder),  # for its metrics
            "GUNICORN_CMD_ARGS": f"--timeout {self._watchdog}",
            **self._settings,
        }
        self._environ = {**{name: text for name, text in os.environ.items() if name not in _SETTINGS}, **own}
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [self._python, "-m", "service", "serve"],
                cwd=self._checkout,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        if not self.is_ready(START_SECONDS):
            said = self._log_text()[-5000:]
            self._stop()
            raise DidNotStart(said)

    def _stop(self) -> None:
        stop(self._process, STOP_SECONDS)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _log_text(self) -> str:
        return (self._folder / "log").read_text(errors="replace")


def _family(parent: int) -> list[int]:
    """Return a process and all processes below it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            words = entry.read_text().rpartition(")")[2].split()
            children.setdefault(int(words[1]), []).append(int(entry.parent.name))
    found = [parent]
    for pid in found:
        found += children.get(pid, ())
    return found


def _process_clock(pid: int) -> int:
    """Return Linux's number of the clock for a process's processor time (see clock_getcpuclockid(3))."""
    return (~pid << 3) | 2
