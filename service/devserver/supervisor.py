"""The processes of a run without REDIS_URL: starts them in order, watches them, stops them in reverse.

    supervisor ─┬─ embedded server   (restarted if it ends by itself)
                └─ gunicorn ─── workers

Owns the listening socket and the messages on the terminal. The children are in sessions of their own, so a Ctrl-C in
the terminal reaches this process alone, which then stops them; on Linux they also end when it is killed.

SIGINT, SIGTERM   stop both; a second one stops at once
SIGHUP, SIGUSR1,  passed on to gunicorn, where they have gunicorn's meaning
SIGTTIN, SIGTTOU

Does not depend on what is served: the web application is only a name that gunicorn is given. Light to import.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import os
import queue
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

from service.config import Settings
from service.devserver.embedded import EmbeddedServer, EmbeddedServerError, die_with_parent

APP = "service.wsgi:create()"
GUNICORN_CONF = Path(__file__).parent.with_name("gunicorn_conf.py")

READY_SECONDS = 60.0
FORCED_STOP_SECONDS = 3.0
DRAIN_SECONDS = 5.0  # beyond GRACEFUL_TIMEOUT, for gunicorn's own tidying up
PROBE_SECONDS = 2.0
RESTART_PAUSE_SECONDS = 1.0  # between two attempts to start the embedded server again


class CannotServe(Exception):
    """The service cannot go on; the message is for the person who started it."""


class Signals:
    """Counts the signals to stop and collects those to pass on, from when it is made."""

    STOP = (signal.SIGINT, signal.SIGTERM)
    FORWARDED = (signal.SIGHUP, signal.SIGUSR1, signal.SIGTTIN, signal.SIGTTOU)

    def __init__(self) -> None:
        self.stops = 0
        self.forward: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()
        for sign in (*self.STOP, *self.FORWARDED, signal.SIGCHLD):
            signal.signal(sign, self._on_signal)

    def _on_signal(self, sign: int, _frame: FrameType | None) -> None:
        self.stops += sign in self.STOP
        if sign in self.FORWARDED:
            self.forward.put(sign)
        self._wake.put(None)

    def wait(self, seconds: float) -> None:
        """Sleep until a signal comes, but no longer than ``seconds``."""
        with contextlib.suppress(queue.Empty):
            self._wake.get(timeout=seconds)


class ProcessGroup:
    """One run of the service. ``app`` is what gunicorn serves, in its notation."""

    def __init__(self, settings: Settings, signals: Signals, app: str) -> None:
        self.settings = settings
        self.signals = signals
        self.app = app
        self.listener = _listen(settings.host, settings.port)
        self.store = EmbeddedServer(settings.data_dir)
        self.web: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        """Start everything, print where it listens, and go on until a signal stops it; then stop everything.

        Raises:
            CannotServe: something did not start, or gunicorn ended by itself. Nothing is left running.
        """
        try:
            self.store.start(lambda: not self.signals.stops)
            self.web = self._start_gunicorn()
            ready = False
            deadline = time.monotonic() + READY_SECONDS
            while not self.signals.stops:
                self._watch(self.web)
                if not ready:
                    ready = _answers(self.listener)
                    if ready:
                        self._announce()
                    elif time.monotonic() > deadline:
                        raise CannotServe(f"the service did not answer /healthz within {READY_SECONDS:.0f} s")
                self.signals.wait(RESTART_PAUSE_SECONDS if ready else 0.05)
        except EmbeddedServerError as error:
            if not self.signals.stops:
                raise CannotServe(str(error)) from error
        finally:
            self.listener.close()
            if self.web is not None:
                self._stop_gunicorn(self.web)
            self.store.stop()

    def _start_gunicorn(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "gunicorn", "-c", str(GUNICORN_CONF), f"--bind=fd://{self.listener.fileno()}"]
        return subprocess.Popen(
            die_with_parent([*command, self.app], signal.SIGQUIT),
            stdin=subprocess.DEVNULL,
            env={**os.environ, "REDIS_URL": self.store.url, "DOMINO_DEVSERVER": "1"},
            pass_fds=(self.listener.fileno(),),
            start_new_session=True,
        )

    def _announce(self) -> None:
        print_line(
            f"Serving dominoes at {_url(self.listener.getsockname())}; the games are kept in {self.store.folder}"
        )
        print_line(f"Try it:  curl -s {_url(_reachable(self.listener))}/v1/variants")
        print_line("Ctrl-C stops it.")

    def _watch(self, web: subprocess.Popen[bytes]) -> None:
        """Pass on signals, and look after the children: without gunicorn the run ends, the embedded server restarts."""
        if (status := web.poll()) is not None:
            raise CannotServe(f"the web server ended by itself ({describe_exit(status)}); see above for why")
        with contextlib.suppress(queue.Empty):
            while True:
                web.send_signal(self.signals.forward.get_nowait())
        if self.store.pid is None:
            warn("the embedded server ended by itself; starting it again")
            try:
                self.store.start(lambda: not self.signals.stops and web.poll() is None)
            except EmbeddedServerError as error:
                warn(f"{error}\nuntil it answers the service answers 503")
            else:
                warn("the embedded server answers again")

    def _stop_gunicorn(self, web: subprocess.Popen[bytes]) -> None:
        """Stop gunicorn within GRACEFUL_TIMEOUT and a little, at once after another signal; then kill what is left."""
        if web.poll() is None:
            print_line("Stopping; running requests may end. Ctrl-C again stops at once.")
            web.terminate()
        stops = self.signals.stops
        deadline = time.monotonic() + self.settings.graceful_timeout + DRAIN_SECONDS
        while web.poll() is None and time.monotonic() < deadline:
            if self.signals.stops > stops:
                stops = sys.maxsize
                deadline = time.monotonic() + FORCED_STOP_SECONDS
                web.send_signal(signal.SIGQUIT)
            self.signals.wait(0.2)
        with contextlib.suppress(ProcessLookupError, PermissionError):  # the latter: macOS, of processes that ended
            os.killpg(web.pid, signal.SIGKILL)
        web.wait()


def serve(settings: Settings, *, app: str = APP) -> int:
    """Serve until a signal stops it (0), or until it cannot go on (1, with a line on standard error)."""
    _claim_standard_streams()
    try:
        ProcessGroup(settings, Signals(), app).run()
    except CannotServe as error:
        warn(str(error))
        return 1
    return 0


def print_line(line: str) -> None:
    """Print for the person at the terminal; a closed standard output is ignored."""
    with contextlib.suppress(OSError):
        print(line, flush=True)


def warn(line: str) -> None:
    """Print to standard error what went wrong; a closed one is ignored."""
    with contextlib.suppress(OSError):
        print(f"domino-service: {line}", file=sys.stderr, flush=True)


def _claim_standard_streams() -> None:
    """Fill closed places among the first three descriptors, or a socket would take one and be mistaken for it."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CannotServe(f"port {port} of {host} is in use; set PORT to another (0 takes any free one)") from error
        why = str(error.strerror).partition(" (while")[0]
        raise CannotServe(f"cannot listen on port {port} of {host}; set HOST or PORT: {why}") from error


def _answers(listener: socket.socket) -> bool:
    """Whether /healthz is answered with 200 now."""
    try:
        with socket.create_connection(_reachable(listener)[:2], timeout=PROBE_SECONDS) as line:
            line.sendall(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")
            return line.recv(64).split(b" ")[1:2] == [b"200"]
    except OSError:
        return False


def _reachable(listener: socket.socket) -> tuple[str, int]:
    """An address at which a process of this machine finds the listener."""
    host, port = listener.getsockname()[:2]
    address = ipaddress.ip_address(host)
    if address.is_unspecified:
        host = "127.0.0.1" if address.version == 4 else "::1"
    return host, port


def _url(address: tuple[str, int]) -> str:
    host, port = address[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def describe_exit(status: int) -> str:
    """How a process ended, for people."""
    return f"exit status {status}" if status >= 0 else f"killed by {signal.Signals(-status).name}"
