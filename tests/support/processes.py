"""Helpers of tests for processes."""

from __future__ import annotations

import os
from pathlib import Path


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
