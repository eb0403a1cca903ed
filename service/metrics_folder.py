"""The folder for the metrics of all processes of a run, and the removal of abandoned ones.

Owns the names of these folders, and the test whether a folder is in use: its processes hold a lock on it, which the
system releases when the last of them has ended.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Collection
from pathlib import Path

_PREFIX = "domino-service-metrics-"


def create() -> Path:
    """Create a folder that is locked by this process and its child processes."""
    return create_locked()[0]


def create_locked() -> tuple[Path, int]:
    """Create a folder; return it and the inheritable descriptor that holds its lock."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(folder, os.O_RDONLY)
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            os.set_inheritable(descriptor, True)  # noqa: FBT003 # for the new master after SIGUSR2
            if folder.exists():
                return folder, descriptor
            os.close(descriptor)  # another process has removed the folder before it was locked


def remove_own(folder: Path) -> None:
    """Remove the folder if this process created it."""
    if folder.name.startswith(f"{_PREFIX}{os.getpid()}-"):
        shutil.rmtree(folder, ignore_errors=True)


def remove_gauges(folder: Path, pid: int) -> None:
    """Remove the gauges of a process that has ended: their values are no longer true."""
    for file in folder.glob(f"gauge_live*_{pid}.db"):
        file.unlink(missing_ok=True)


def remove_other_gauges(folder: Path, pids: Collection[int]) -> None:
    """Remove the gauges of all processes except these."""
    for file in folder.glob("gauge_live*_*.db"):
        if file.stem.rpartition("_")[2] not in {str(pid) for pid in pids}:
            file.unlink(missing_ok=True)


def remove_abandoned() -> None:
    """Remove the folders of runs that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # the folder is in use, or belongs to another user
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
            finally:
                os.close(descriptor)
