"""The remote players of ``examples/bot`` as real processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support.background import ROOT
from tests.support.waiting import PATIENCE

EXAMPLES = ROOT / "examples" / "bot"


def flask_bot(port: int) -> list[str]:
    """The command for the remote player in Flask."""
    return [sys.executable, "-m", "flask", "--app", str(EXAMPLES / "bot.py"), "run", "--port", str(port)]


def node_bot(node: str) -> list[str]:
    """The command for the one for Node, whose port is in the environment."""
    return [node, str(EXAMPLES / "bot.mjs")]


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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
