"""A bot worker, a scheduler or a messenger as a real process, on a given Redis."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

import orjson

from tests.support.waiting import PATIENCE

ROOT = Path(__file__).parent.parent.parent


class Background:
    """``python -m service`` with this command; its output goes to a file, so that it never blocks."""

    cwd = ROOT
    """The folder with the service."""

    def __init__(self, command: str, redis_url: str, folder: Path, **settings: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.command, self.settings = command, settings
        self.log = folder / f"{command}-{time.monotonic_ns()}.log"
        environ = {**os.environ, "REDIS_URL": redis_url, "DATA_DIR": str(folder), "LOG_FORMAT": "json", **settings}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "service", command],
                cwd=self.cwd,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def kill(self) -> None:
        """As by kill -9."""
        self.process.kill()
        self.process.wait(PATIENCE)

    def stop(self, sign: signal.Signals = signal.SIGTERM) -> int:
        """Stop it and return its exit status; killed if it does not end in time."""
        if self.process.poll() is None:
            self.process.send_signal(sign)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def lines(self) -> list[dict[str, Any]]:
        """What it has logged."""
        return [orjson.loads(line) for line in self.log.read_bytes().splitlines()]
