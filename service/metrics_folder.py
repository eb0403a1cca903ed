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

_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_PREFIX = "domino-service-metrics-"


def prepare() -> list[int]:
    """Name a new folder in the environment, unless it names one; return the inheritable descriptors that lock it."""
    if os.environ.get(_VARIABLE):
        return []
    _remove_abandoned()
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(folder, os.O_RDONLY)
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            os.set_inheritable(descriptor, True)  # noqa: FBT003 # for the new master after SIGUSR2
            if folder.exists():
                os.environ[_VARIABLE] = str(folder)
                return [descriptor]
            os.close(descriptor)  # another process has removed the folder before it was locked


def remove() -> None:
    """Remove the folder if this process created it."""
    if folder := _own_folder():
        shutil.rmtree(folder, ignore_errors=True)


def remove_gauges(groups: Collection[int]) -> None:
    """Remove the gauges of processes outside of these process groups, if this process created the folder.

    Those processes have ended, and their values are no longer true.
    """
    folder = _own_folder()
    for file in folder.glob("gauge_live*_*.db") if folder else ():
        with contextlib.suppress(ProcessLookupError):
            if os.getpgid(int(file.stem.rpartition("_")[2])) in groups:
                continue
        file.unlink(missing_ok=True)


def _own_folder() -> Path | None:
    folder = Path(os.environ.get(_VARIABLE, ""))
    return folder if folder.name.startswith(f"{_PREFIX}{os.getpid()}-") else None


def _remove_abandoned() -> None:
    """Remove the folders of runs that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # the folder is in use, or belongs to another user
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
            finally:
                os.close(descriptor)
