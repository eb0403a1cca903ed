"""The data folder of the embedded server.

Owns its lock, the permissions of its files, and the path of the socket. Light to import.

The folder holds:

    lock            locked by the process that owns the folder, and by its server, which inherits the lock; contains
                    the process id of the owner
    redis.pid       the process id of the server
    redis.sock      where the server listens; a symbolic link to a private folder elsewhere when this path is too long
                    for a socket
    server.log      the output of the server since it was started
    appendonlydir/  the data: an append-only file in plain commands, which Redis 7 and every Valkey read alike

The data contain every hand and the seeds of later deals, so all of them are accessible to this user only, also in a
folder that existed before with other permissions.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

SOCKET_NAME = "redis.sock"
SOCKET_PATH_BYTES = 100  # a socket's address takes 108 bytes on Linux, 104 on macOS, its last one a NUL
LOCK_SECONDS = 1.0
ORPHAN_SECONDS = 10.0
PAUSE_SECONDS = 0.02

PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600


def make_private(folder: Path, report: Callable[[str], None]) -> None:
    """Leave this user alone access to the folder, and to what an earlier run has left in it; ``report`` what was so."""
    found = folder.stat()
    mode = stat.S_IMODE(found.st_mode)
    if mode != PRIVATE_FOLDER:
        shared = mode & stat.S_ISVTX or found.st_uid != os.geteuid()  # such as /tmp, which others need
        if not shared and _made_private(folder):
            report(f"the data folder {folder} had permissions {mode:03o}; they are 700 now")
        else:
            report(
                f"the data folder {folder} has permissions {mode:03o}, which the service does not change; "
                "other users can read no file in it, but a folder of your own with permissions 700 is safer"
            )
    data = folder / "appendonlydir"
    files = (folder / name for name in ("lock", "redis.pid", "secret", "server.log"))
    for path in (data, *data.glob("*"), *files):
        _made_private(path)


def lock(path: Path) -> int | None:
    """Return a descriptor that holds the lock on a file while it, or a child's copy of it, is open.

    ``None``: already locked.

    The server of an owner that was killed holds the lock until it has ended. So where the last owner does not run any
    more, this waits up to ``ORPHAN_SECONDS`` for the lock, else ``LOCK_SECONDS``.
    """
    descriptor = open_private(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    began = time.monotonic()
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() - began > (LOCK_SECONDS if _owner_runs(path) else ORPHAN_SECONDS):
                    os.close(descriptor)
                    return None
                time.sleep(PAUSE_SECONDS)
            else:
                path.write_text(str(os.getpid()))
                return descriptor
    except OSError:
        os.close(descriptor)
        raise


def choose_socket_path(folder: Path) -> Path:
    """Return a path short enough for a socket, in a folder that only this user can access."""
    path = folder / SOCKET_NAME
    if len(os.fsencode(path)) <= SOCKET_PATH_BYTES:
        return path
    parent = tempfile.gettempdir()
    short = len(os.fsencode(parent)) <= SOCKET_PATH_BYTES - len("/domino-12345678/redis.sock")
    return Path(tempfile.mkdtemp(prefix="domino-", dir=parent if short else "/tmp")) / SOCKET_NAME  # noqa: S108 # created with mode 0700


def open_private(path: str | Path, flags: int) -> int:
    """Open a file that only this user can access, if it is new; the ``opener`` of ``open``."""
    return os.open(path, flags, PRIVATE_FILE)


def _made_private(path: Path) -> bool:
    """Give this user alone access; returns whether that was possible."""
    try:
        path.chmod(PRIVATE_FOLDER if path.is_dir() else PRIVATE_FILE)
    except OSError:
        return False
    return True


def _owner_runs(lock: Path) -> bool:
    """Return whether the process that locked the folder last still runs, as far as can be seen from here."""
    try:
        os.kill(int(lock.read_text()), 0)
    except PermissionError:
        return True  # it is another user's
    except (ProcessLookupError, ValueError):
        return False
    return True
