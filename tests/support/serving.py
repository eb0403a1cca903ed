"""A complete service for tests: the real command, real gunicorn workers, a real Redis server."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self, TypedDict

from service.devserver.embedded import running_url
from tests.support.apps import create_key
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).parent.parent.parent
COMMAND = (sys.executable, "-m", "service", "serve")


class Alone(TypedDict):
    """The settings of ``ALONE``."""

    BOT_WORKERS: str
    SCHEDULERS: str
    MESSENGERS: str


ALONE: Final[Alone] = {"BOT_WORKERS": "0", "SCHEDULERS": "0", "MESSENGERS": "0"}
"""Settings without the processes beside the web: to start each takes as long as to start a worker."""
START_SECONDS = PATIENCE
STOP_SECONDS = PATIENCE


LIMITS = (
    "CREATES_PER_MINUTE",
    "READS_PER_MINUTE",
    "TOKEN_FAILURES_PER_MINUTE",
    "SEAT_REQUESTS_PER_MINUTE",
    "TOKEN_CHANGES_PER_HOUR",
    "APP_GAMES_PER_MINUTE",
    "APP_REQUESTS_PER_MINUTE",
    "MAX_STREAMS_PER_ADDRESS",
    "MAX_STREAMS_PER_GAME",
)


class Service:
    """``domino-service serve`` on a free port, its data in ``folder``; stopped by its process id.

    With a ``REDIS_URL`` it is gunicorn, without one the supervisor with its embedded server.
    """

    def __init__(self, folder: Path, *, command: Sequence[str] = COMMAND, cwd: Path = ROOT, **environ: str) -> None:
        own = {name: value for name, value in os.environ.items() if name not in ("HOST", "REDIS_URL")}
        no_limits = dict.fromkeys(LIMITS, "0")
        self._environ = {**own, "PORT": "0", "WORKERS": "2", "DATA_DIR": str(folder), **no_limits, **environ}
        self._announced = "Listening at:" if "REDIS_URL" in environ else "Serving dominoes at"
        self._command = command
        self._cwd = cwd
        self.folder = folder
        self.metrics_url = f"http://127.0.0.1:{environ.get('METRICS_PORT')}"
        self.url = ""
        self.lines: list[str] = []
        self._listening = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def new_key(self, name: str = "Club") -> str:
        """The key of a new application of this service."""
        url = self._environ.get("REDIS_URL") or running_url(self.folder)
        assert url is not None
        return create_key(url, name)

    def start(self) -> None:
        self._listening.clear()
        self.url = ""
        self.process = subprocess.Popen(
            self._command,
            cwd=self._cwd,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._listening.wait(START_SECONDS) or not self.url:
            self.stop()
            raise AssertionError("the service did not start:\n" + "\n".join(self.lines))

    def stop(self) -> int:
        """Stop it and return its exit status; killed if it does not end in time."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self._reader.join(STOP_SECONDS)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code

    def workers(self) -> list[int]:
        """The process ids of all workers started so far."""
        return [int(found[1]) for line in self.lines if (found := re.search(r"Booting worker with pid: (\d+)", line))]

    def embedded_server(self) -> int:
        """The process id of the embedded server, from its pid file."""
        return int((self.folder / "redis.pid").read_text())

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            found = re.search(rf"{self._announced} (http://[\w.:\[\]]+\d)", line)
            if found:
                self.url = found[1]
                self._listening.set()
        self._listening.set()
