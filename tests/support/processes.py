"""Helpers of tests for processes."""

from __future__ import annotations

import os
import socket
from contextlib import ExitStack
from pathlib import Path


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
