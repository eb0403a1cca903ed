"""gunicorn in a run without REDIS_URL: its start, its restart when it ended by itself, and its end.

Owns the process, and its workers when it is gone. The sockets that it accepts connections on are given, and stay open
while none of it runs, so that the port is kept and connections wait for the next one. Light to import. Does not depend
on what gunicorn serves.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from service.devserver.terminal import die_with_parent

# The background processes of a run without REDIS_URL: bot workers, schedulers and messengers.


RESTART_PAUSE_SECONDS = 2.0
"""From the end of a process to its next start: one that cannot run must not be started all the time."""
STOP_SECONDS = 5.0


class BackgroundProcess:
    """One process, ``python -m service`` with this command. Start it and check it by ``check``, then stop it.

    It inherits these ``descriptors``. ``report`` is called with a line for people when it ended by itself, ``ended``
    with its process id.
    """

    def __init__(
        self,
        command: str,
        environ: Mapping[str, str],
        descriptors: Sequence[int],
        *,
        report: Callable[[str], None],
        ended: Callable[[int], None],
    ) -> None:
        self.command = command
        self._environ = environ
        self._descriptors = descriptors
        self._report = report
        self._ended = ended
        self._process: subprocess.Popen[bytes] | None = None
        self._start_at = 0.0

    @property
    def pid(self) -> int | None:
        """The process id, or ``None`` while it does not run."""
        return None if self._process is None else self._process.pid

    def check(self) -> None:
        """Start it if it does not run, after a pause if it has just ended by itself."""
        if self._process is not None and self._process.poll() is not None:
            how = describe_exit(self._process.returncode)
            self._report(f"the process `{self.command}` ended by itself ({how}); restarting it")
            self._ended(self._process.pid)
            self._process = None
            self._start_at = time.monotonic() + RESTART_PAUSE_SECONDS
        if self._process is None and time.monotonic() >= self._start_at:
            self._process = subprocess.Popen(
                die_with_parent([sys.executable, "-m", "service", self.command], signal.SIGTERM),
                stdin=subprocess.DEVNULL,
                env=self._environ,
                pass_fds=self._descriptors,
                start_new_session=True,  # so that Ctrl-C in the terminal reaches the parent only
            )

    def request_stop(self) -> None:
        """Have it finish what it is doing, and end."""
        if self._process is not None:
            self._process.terminate()

    def wait(self) -> None:
        """Wait until it has ended after ``request_stop``; kill it after ``STOP_SECONDS``."""
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_SECONDS)
            self._process.kill()
            self._process.wait()
            self._process = None


def describe_exit(status: int) -> str:
    """Return how a process ended, for people."""
    return f"exit status {status}" if status >= 0 else f"killed by {signal.Signals(-status).name}"


GUNICORN_CONF = Path(__file__).parent.parent / "server" / "gunicorn_conf.py"
PROBE_SECONDS = 2.0
_CANNOT_LOAD = (3, 4)
"""The exit statuses of gunicorn whose workers, or which itself, cannot load the application: another start cannot."""


class WebServer:
    """gunicorn with the application ``app``, in gunicorn's notation, on these ``listeners``; the first one is probed.

    It inherits the ``descriptors``, too. Start it, ``check`` it, then stop it. ``report`` is called with a line for
    people when it ended by itself, ``ended`` then before it is started again.
    """

    def __init__(
        self,
        app: str,
        listeners: Sequence[socket.socket],
        environ: Mapping[str, str],
        descriptors: Sequence[int],
        *,
        report: Callable[[str], None],
        ended: Callable[[], None],
    ) -> None:
        self._app = app
        self._listeners = listeners
        self._environ = environ
        self._descriptors = descriptors
        self._report = report
        self._ended = ended
        self._process: subprocess.Popen[bytes] | None = None
        self._start_at = 0.0
        self.is_ready = False
        """Whether it has answered /healthz since its start."""

    def start(self) -> None:
        """Start gunicorn."""
        numbers = [listener.fileno() for listener in self._listeners]
        binds = [f"--bind=fd://{number}" for number in numbers]
        command = [sys.executable, "-m", "gunicorn", "-c", str(GUNICORN_CONF), *binds]
        self._process = subprocess.Popen(
            die_with_parent([*command, self._app], signal.SIGQUIT),
            stdin=subprocess.DEVNULL,
            env=self._environ,
            pass_fds=(*numbers, *self._descriptors),
            start_new_session=True,
        )

    @property
    def runs(self) -> bool:
        """Whether gunicorn's master runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def cannot_load(self) -> bool:
        """Whether it ended because the application, such as a new version of it, cannot be loaded."""
        return self._process is not None and self._process.poll() in _CANNOT_LOAD

    def exit_text(self) -> str | None:
        """Return how it ended, for people, or ``None`` while it runs or has not been started."""
        status = None if self._process is None else self._process.poll()
        return None if status is None else describe_exit(status)

    def probe(self) -> bool:
        """Return whether it answers, or has answered since its start."""
        self.is_ready = self.is_ready or _answers(self._listeners[0])
        return self.is_ready

    def check(self) -> None:
        """Start it again if it has ended by itself, after a pause; its workers are ended first."""
        how = self.exit_text()
        if how is not None:
            self._report(f"the web server ended by itself ({how}); restarting it")
            self.kill()
            self._ended()
            self._start_at = time.monotonic() + RESTART_PAUSE_SECONDS
        if self._process is None and time.monotonic() >= self._start_at:
            self.start()
        elif self._process is not None:
            self.probe()

    def send_signal(self, sign: int) -> None:
        """Send a signal to gunicorn's master, if it runs."""
        if self._process is not None:
            self._process.send_signal(sign)

    def kill(self) -> None:
        """End the master and all its workers at once, those of a master that has ended, too."""
        if self._process is None:
            return
        group = self._process.pid
        with contextlib.suppress(ProcessLookupError, PermissionError):  # the latter: on macOS, for ended processes
            os.killpg(group, signal.SIGKILL)
        self._process.wait()
        with contextlib.suppress(ChildProcessError):
            while True:  # they are children of this process if it is the first one of a container
                os.waitpid(-group, 0)
        self._process = None
        self.is_ready = False


def _answers(listener: socket.socket) -> bool:
    """Return whether /healthz answers 200 now."""
    try:
        with socket.create_connection(reachable(listener)[:2], timeout=PROBE_SECONDS) as connection:
            connection.sendall(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")
            return connection.recv(64).split(b" ")[1:2] == [b"200"]
    except OSError:
        return False


def reachable(listener: socket.socket) -> tuple[str, int]:
    """Return an address at which a process on this machine can connect to the listener."""
    host, port = listener.getsockname()[:2]
    address = ipaddress.ip_address(host)
    if address.is_unspecified:
        host = "127.0.0.1" if address.version == 4 else "::1"
    return host, port
