"""The real processes around an application of one's choice, for tests: by the supervisor, or by gunicorn alone."""

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

PATIENCE = 30.0
ROOT = Path(__file__).parent.parent.parent
STANDIN = "tests.support.stub_app:create()"
SERVE = """
import os, sys
from service import config
from service.devserver import supervisor
{}
sys.exit(supervisor.serve(config.Settings.from_environ(os.environ), app={!r}))
"""

GUNICORN = [sys.executable, "-m", "gunicorn", "-c", str(ROOT / "service" / "gunicorn_conf.py")]
NO_REDIS = "redis://127.0.0.1:9/0"
"""For an application that asks its Redis nothing: nobody listens there."""

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can do this")


class Run:
    """One run; what it prints goes to files, so that it never waits for a reader.

    With a ``REDIS_URL`` among the settings gunicorn runs alone, else the supervisor with its embedded server. The code
    ``before`` runs in the supervisor.
    """

    def __init__(self, folder: Path, *, app: str = STANDIN, before: str = "pass", **settings: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.out, self.err = folder / "out", folder / "err"
        environ = {name: text for name, text in os.environ.items() if name not in {"REDIS_URL", "HOST"}}
        if "REDIS_URL" in settings:
            command = [*GUNICORN, app]
            self._listens = re.compile(r"Listening at: http://127\.0\.0\.1:([0-9]+) ")
        else:
            command = [sys.executable, "-c", SERVE.format(before, app)]
            self._listens = re.compile(r"curl -s http://127\.0\.0\.1:([0-9]+)/v1/variants\nCtrl-C")
        environ |= {"PORT": "0", "DATA_DIR": str(folder / "data"), "WORKERS": "1", "GRACEFUL_TIMEOUT": "10"} | settings
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
        """Where it listens, once it says so."""
        self.until(lambda: self._listens.search(self.said()) is not None)
        found = self._listens.search(self.said())
        assert found
        return int(found[1])

    def until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert self.process.poll() is None, f"it ended: {self.said()}"
            assert time.monotonic() < deadline, f"it did not come true in time: {self.said()}"
            time.sleep(0.02)

    def said(self) -> str:
        return self.out.read_text() + self.err.read_text()

    def ask(self, path: str) -> tuple[int, dict[str, Any]]:
        line = http.client.HTTPConnection("127.0.0.1", self.port(), timeout=PATIENCE)
        with contextlib.closing(line):
            line.request("GET", path)
            response = line.getresponse()
            return response.status, json.loads(response.read())

    def line(self) -> socket.socket:
        """A connection to it, whose every wait ends."""
        return socket.create_connection(("127.0.0.1", self.port()), timeout=PATIENCE)

    def children(self) -> dict[str, int]:
        """The process ids of gunicorn, a worker and the embedded server."""
        return {
            **self.ask("/healthz")[1],
            "server": self.ask("/count")[1]["server"],
        }

    def end(self, sign: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(sign)
        return self.process.wait(PATIENCE)


@contextlib.contextmanager
def run(folder: Path, *, app: str = STANDIN, before: str = "pass", **settings: str) -> Iterator[Run]:
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
