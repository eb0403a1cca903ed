"""Helpers of tests for processes."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

from tests.support.background import ROOT
from tests.support.waiting import PATIENCE


def free_ports(number: int) -> list[int]:
    """Ports of 127.0.0.1 on which nothing listens now."""
    with ExitStack() as held:
        return [held.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(number)]


def runs(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    if Path("/proc/self").exists():
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except (FileNotFoundError, ProcessLookupError):
            return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


class Process:
    """A process with its output in a file; it is stopped at the end, or when it is killed."""

    def __init__(self, command: Sequence[str], log: Path, **environ: str) -> None:
        self.log = log
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env={**os.environ, **environ},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """As by kill -9."""
        self.process.kill()
        self.process.wait(PATIENCE)


def await_port(port: int) -> None:
    """Wait until something listens on this port."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError("nothing listens")
