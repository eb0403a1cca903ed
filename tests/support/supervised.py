"""Runs a chosen application in the real processes, for tests: by the supervisor, or by gunicorn alone."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import runs
from tests.support.serving import ALONE
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).parent.parent.parent
STUB_APP = "tests.support.stub_app:create()"
SERVE = """
import os, sys
from service import config
from service.devserver import supervisor
{}
sys.exit(supervisor.serve(config.Settings.from_environ(os.environ), app={!r}))
"""

GUNICORN = [sys.executable, "-m", "gunicorn", "-c", str(ROOT / "service" / "server" / "gunicorn_conf.py")]
NO_REDIS = "redis://127.0.0.1:9/0"
"""For an application that sends no command to Redis: no server listens there."""

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only supported on Linux")


class Run:
    """One run; its output goes to files, so that it never blocks.

    With a ``REDIS_URL`` among the settings gunicorn runs alone, else the supervisor with its embedded server. The code
    ``before`` runs in the supervisor. Beside gunicorn run only processes that the settings name.
    """

    def __init__(self, folder: Path, *, app: str = STUB_APP, before: str = "pass", **settings: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.out, self.err = folder / "out", folder / "err"
        environ = {name: text for name, text in os.environ.items() if name not in {"REDIS_URL", "HOST"}}
        if "REDIS_URL" in settings:
            command = [*GUNICORN, app]
            self._listens = re.compile(r"Listening at: http://127\.0\.0\.1:([0-9]+)[ ,]")
        else:
            command = [sys.executable, "-c", SERVE.format(before, app)]
            self._listens = re.compile(r"curl -s http://127\.0\.0\.1:([0-9]+)/v1/variants\nCtrl-C")
        environ |= {"PORT": "0", "DATA_DIR": str(folder / "data"), "WORKERS": "1", "GRACEFUL_TIMEOUT": "10"}
        environ |= dict.fromkeys(ALONE, "0") | settings
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    def port(self) -> int:
        """Wait for the port to be printed, and return it."""
        self.until(lambda: self._listens.search(self.output()) is not None)
        match = self._listens.search(self.output())
        assert match
        return int(match[1])

    def until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert self.process.poll() is None, f"the process ended: {self.output()}"
            assert time.monotonic() < deadline, f"timeout: {self.output()}"
            time.sleep(0.02)

    def output(self) -> str:
        return self.out.read_text() + self.err.read_text()

    def get(self, path: str) -> tuple[int, dict[str, Any]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port(), timeout=PATIENCE)
        with contextlib.closing(connection):
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, json.loads(response.read())

    def connect(self) -> socket.socket:
        """A connection to it, with a timeout."""
        return socket.create_connection(("127.0.0.1", self.port()), timeout=PATIENCE)

    def children(self) -> dict[str, int]:
        """The process ids of gunicorn, a worker and the embedded server."""
        return {
            **self.get("/healthz")[1],
            "server": self.get("/count")[1]["server"],
        }

    def stop(self, sign: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(sign)
        return self.process.wait(PATIENCE)


@contextlib.contextmanager
def run(folder: Path, *, app: str = STUB_APP, before: str = "pass", **settings: str) -> Iterator[Run]:
    it = Run(folder, app=app, before=before, **settings)
    try:
        yield it
    finally:
        if it.process.poll() is None:
            it.process.terminate()
            try:
                it.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                it.process.kill()
                it.process.wait()


def all_gone(pids: dict[str, int], seconds: float = 0.0) -> bool:
    deadline = time.monotonic() + seconds
    while left := {name for name, pid in pids.items() if runs(pid)}:
        if time.monotonic() >= deadline:
            print("still running:", left)
            return False
        time.sleep(0.02)
    return True
