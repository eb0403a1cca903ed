"""A Redis or Valkey server as a child process: the store of a run without REDIS_URL, and of the tests.

Owns starting and stopping it. Does not depend on what is stored: it sends no command but PING. Light to import.

No network port is opened. On Linux the server also ends when its owner is killed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from service.devserver import data_folder
from service.devserver.child_process import die_with_parent
from service.devserver.errors import DidNotStart, FolderInUse
from service.devserver.server_program import find_server

START_SECONDS = 10.0
LOADING_SECONDS = 600.0
STOP_SECONDS = 10.0
PAUSE_SECONDS = 0.02


class EmbeddedServer:
    """One server on one data folder. Start it, use its ``url``, stop it; or use it as a context manager.

    ``options`` are settings of the server (``{"maxmemory": "5mb"}``) that override the defaults of this module.
    ``report`` is called with each message about the permissions of the folder, one line for the person who starts the
    service. After it was stopped or has ended by itself, it can be started again, with the same data and address.
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
            self._launch(program)
            self._wait_for_answer(keep_waiting)
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
            self.folder.mkdir(mode=data_folder.PRIVATE_FOLDER, parents=True, exist_ok=True)
            self._lock = data_folder.lock(self.folder / "lock")
        except OSError as error:
            raise FolderInUse(f"cannot use the data folder {self.folder}: {error.strerror or error}") from error
        if self._lock is None:
            raise FolderInUse(
                f"the data folder {self.folder} is in use by another running service (its server is process "
                f"{self._pid_of_other_server()}); stop that, or set DATA_DIR"
            )
        data_folder.make_private(self.folder, self._report)
        if self._socket is None or not self._socket.parent.is_dir():
            self._socket = data_folder.choose_socket_path(self.folder)
            if self._socket.parent != self.folder:
                link = self.folder / data_folder.SOCKET_NAME
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
        with open(self.folder / "server.log", "ab" if restarted else "wb", opener=data_folder.open_private) as log:
            self._process = subprocess.Popen(
                die_with_parent(command, signal.SIGTERM),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=(self._lock,),
                umask=0o777 & ~data_folder.PRIVATE_FOLDER,
                start_new_session=True,  # so that Ctrl-C in the terminal reaches the owner only
            )

    def _wait_for_answer(self, keep_waiting: Callable[[], bool]) -> None:
        started = time.monotonic()
        loading = False
        while True:
            if self.pid is None:
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
        try:
            log = (self.folder / "server.log").read_text(errors="replace").splitlines()
        except OSError:
            log = []
        return "\n".join(log[-lines:]) or "(its log is empty)"


def running_url(folder: Path) -> str | None:
    """Return the URL for a client of the server that another process runs on this data folder.

    ``None`` if none answers.
    """
    path = Path(os.path.realpath(folder / data_folder.SOCKET_NAME))
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
