"""The supervisor of a run without REDIS_URL: starts the processes in order, monitors them, stops them in reverse order.

    supervisor ─┬─ embedded server              (restarted if it ends by itself)
                ├─ bot workers, schedulers,     (restarted, too)
                │  messengers
                └─ gunicorn ─── workers         (restarted, too, once it has answered)

Owns the listening sockets, which stay open while gunicorn does not run, and the messages on the terminal. The children
have separate sessions, so that Ctrl-C in the terminal reaches only this process, which then stops them. On Linux they
also end when this process is killed.

SIGINT, SIGTERM and SIGHUP stop all processes; a second signal stops them at once. SIGHUP is ignored if it was ignored
at the start, as under nohup.

Does not depend on the application, whose name is passed to gunicorn. Light to import.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import queue
import signal
import socket
import subprocess
import sys
import time
from collections import ChainMap
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType

from service import metrics_folder
from service.config import Settings
from service.devserver.embedded import EmbeddedServer, EmbeddedServerError
from service.devserver.terminal import claim_standard_streams, die_with_parent, print_line, warn

APP = "service.server.wsgi:create()"
GUNICORN_CONF = Path(__file__).parent.parent / "server" / "gunicorn_conf.py"

READY_SECONDS = 60.0
PROBE_SECONDS = 2.0
RESTART_PAUSE_SECONDS = 2.0  # limits the restarts of a process that always fails
STOP_SECONDS = 5.0
FORCED_STOP_SECONDS = 3.0
DRAIN_SECONDS = 5.0  # beyond GRACEFUL_TIMEOUT, for gunicorn's own cleanup

_OUTSIDE_ADDRESS = "192.0.2.1", 9
"""A reserved address outside of this machine, to find the route that leads out of it. Nothing is sent to it."""


class CannotServe(Exception):
    """The service cannot start or continue; the message is for the person who started it."""


class Signals:
    """Counts the stop signals. SIGINT counts even if it was ignored at the start, as in a shell's background job."""

    def __init__(self) -> None:
        self.stops = 0
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._stop = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
        if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
            self._stop.remove(signal.SIGHUP)
        for sign in (*self._stop, signal.SIGCHLD):
            signal.signal(sign, self._on_signal)

    def _on_signal(self, sign: int, _frame: FrameType | None) -> None:
        self.stops += sign in self._stop
        self._wake.put(None)

    def wait(self, seconds: float) -> None:
        """Wait for a signal, at most ``seconds``."""
        with contextlib.suppress(queue.Empty):
            self._wake.get(timeout=seconds)


class Child:
    """A child process with its own children, in a separate session; ``name`` is for messages.

    It inherits the descriptors, and gets ``sign`` when this process is killed. ``environ`` is read at each start.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environ: Mapping[str, str],
        descriptors: Sequence[int],
        *,
        sign: signal.Signals = signal.SIGTERM,
    ) -> None:
        self.name = name
        self.pid: int | None = None
        self._command = [sys.executable, "-m", *command]
        self._environ = environ
        self._descriptors = descriptors
        self._sign = sign
        self._process: subprocess.Popen[bytes] | None = None
        self._start_at = 0.0

    def start(self) -> None:
        """Start the process if it does not run and ``RESTART_PAUSE_SECONDS`` have passed since its last start."""
        now = time.monotonic()
        if self._process is None and now >= self._start_at:
            self._start_at = now + RESTART_PAUSE_SECONDS
            self._process = subprocess.Popen(
                die_with_parent(self._command, self._sign),
                stdin=subprocess.DEVNULL,
                env=self._environ,
                pass_fds=self._descriptors,
                start_new_session=True,
            )
            self.pid = self._process.pid

    @property
    def status(self) -> int | None:
        """The exit status if the process ended by itself, else ``None``."""
        return None if self._process is None else self._process.poll()

    def end_message(self) -> str:
        """Return a message that the process ended by itself, and how."""
        status = self.status or 0
        cause = f"exit status {status}" if status >= 0 else f"killed by {signal.Signals(-status).name}"
        return f"{self.name} ended by itself ({cause})"

    def send_signal(self, sign: int) -> None:
        """Send the process a signal, if it runs."""
        if self._process is not None:
            self._process.send_signal(sign)

    def wait(self, seconds: float) -> None:
        """Wait for the end of the process, at most ``seconds``; then kill it and its children."""
        if self._process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        group = self._process.pid
        with contextlib.suppress(ProcessLookupError, PermissionError):  # the latter: on macOS, for ended processes
            os.killpg(group, signal.SIGKILL)
        self._process.wait()
        with contextlib.suppress(ChildProcessError):
            while True:  # in a container, orphans become children of the first process, which can be this one
                os.waitpid(-group, 0)
        self._process = self.pid = None


class ProcessGroup:
    """The processes of one run. ``app`` names the application in gunicorn's notation."""

    def __init__(self, settings: Settings, signals: Signals, app: str) -> None:
        self.settings = settings
        self.signals = signals
        self.listeners = [_listen(settings.host, settings.port)]  # the sockets on which gunicorn accepts connections
        if settings.metrics_port:
            self.listeners.append(_listen(settings.metrics_host, settings.metrics_port, "METRICS_"))
        host, port = self.listeners[0].getsockname()[:2]
        self.addresses = settings.public_url or tuple(_url((reachable, port)) for reachable in reachable_hosts(host))
        self.store = EmbeddedServer(
            settings.data_dir, options={"maxmemory": f"{settings.max_memory_mb}mb"}, report=warn
        )
        inherited = metrics_folder.prepare()
        self.environ = dict(os.environ)
        numbers = [listener.fileno() for listener in self.listeners]
        gunicorn = ["gunicorn", "-c", str(GUNICORN_CONF), *(f"--bind=fd://{number}" for number in numbers), app]
        self.web = Child("the web server", gunicorn, self.environ, [*numbers, *inherited], sign=signal.SIGQUIT)
        commands = ["bots"] * settings.bot_workers
        commands += ["scheduler"] * settings.schedulers + ["messenger"] * settings.messengers
        without_port = ChainMap({"METRICS_PORT": "0"}, self.environ)  # gunicorn serves the metrics of all processes
        self.background = [
            Child(f"the process `{command}`", ["service", command], without_port, inherited) for command in commands
        ]

    def run(self) -> None:
        """Start all processes, print the address, and serve until a stop signal; then stop all processes.

        Raises:
            CannotServe: a process did not start, or gunicorn cannot load the application. All processes are stopped.
        """
        try:
            url = self.store.start(lambda: not self.signals.stops)
            self.environ |= {"REDIS_URL": url, "DOMINO_DEVSERVER": "1", "PUBLIC_URL": ",".join(self.addresses)}
            self.web.start()
            self._announce()
            while not self.signals.stops:
                self._restart_ended()
                self.signals.wait(RESTART_PAUSE_SECONDS / 2)
        except EmbeddedServerError as error:
            if not self.signals.stops:
                raise CannotServe(str(error)) from error
        finally:
            self._stop()

    def _announce(self) -> None:
        """Print the address once the service answers. Raises ``CannotServe`` if it does not."""
        deadline = time.monotonic() + READY_SECONDS
        while not self.signals.stops and not _answers(self.listeners[0]):
            if self.web.status is not None:
                raise CannotServe(f"{self.web.end_message()}; see the messages above")
            if time.monotonic() > deadline:
                raise CannotServe(f"the service did not answer /healthz within {READY_SECONDS:.0f} s")
            self.signals.wait(0.05)
        if self.signals.stops:
            return
        address = _url(self.listeners[0].getsockname())
        print_line(f"Serving dominoes at {address}; the games are stored in {self.store.folder}")
        for other in self.addresses:
            print_line(f"Others in your network open {other}")
        print_line(f"Try it:  curl -s {_url(_reachable(self.listeners[0]))}/v1/variants")
        print_line("Ctrl-C stops it.")

    def _restart_ended(self) -> None:
        """Restart the processes that have ended by themselves."""
        if self.store.pid is None:
            warn("the embedded server ended by itself; restarting it")
            try:
                self.store.start(lambda: not self.signals.stops and self.web.status is None)
            except EmbeddedServerError as error:
                warn(f"{error}\nuntil it is back, requests for games are answered with 503")
            else:
                warn("the embedded server is back")
        for child in (self.web, *self.background):
            if child.status is not None:
                warn(f"{child.end_message()}; restarting it")
                child.wait(0)  # kills its own children
                metrics_folder.remove_gauges([each.pid for each in (self.web, *self.background) if each.pid])
            child.start()

    def _stop(self) -> None:
        """Stop all running processes, in the reverse order of their start.

        gunicorn gets GRACEFUL_TIMEOUT + DRAIN_SECONDS, and less after another signal.
        """
        stops = self.signals.stops  # read before the message that invites a second signal
        for listener in self.listeners:
            listener.close()
        for child in self.background:
            child.send_signal(signal.SIGTERM)
        if self.web.pid is not None and self.web.status is None:
            print_line("Stopping when the running requests have finished. Press Ctrl-C again to stop now.")
            self.web.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + self.settings.graceful_timeout + DRAIN_SECONDS
        while self.web.pid is not None and self.web.status is None and time.monotonic() < deadline:
            if self.signals.stops > stops:
                self.web.send_signal(signal.SIGQUIT)
                self.web.wait(FORCED_STOP_SECONDS)
            self.signals.wait(0.2)
        self.web.wait(0)
        for child in self.background:
            child.wait(STOP_SECONDS)
        self.store.stop()
        metrics_folder.remove()


def serve(settings: Settings, *, app: str = APP) -> int:
    """Serve until a signal; return the exit status: 0, or 1 after a failure, with a message on standard error."""
    claim_standard_streams()
    try:
        ProcessGroup(settings, Signals(), app).run()
    except CannotServe as error:
        warn(str(error))
        return 1
    return 0


def reachable_hosts(host: str) -> list[str]:
    """Return the addresses at which other devices reach a socket bound to ``host``; empty for loopback."""
    address = ipaddress.ip_address(host)
    if not address.is_unspecified:
        return [] if address.is_loopback else [host]
    hosts: list[str] = []  # the IPv4 addresses of this machine, first the one of the default route
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(_OUTSIDE_ADDRESS)
        hosts.append(probe.getsockname()[0])
    with contextlib.suppress(OSError):
        hosts += [str(entry[4][0]) for entry in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    own = [ipaddress.ip_address(text) for text in dict.fromkeys(hosts)]
    return [str(ip) for ip in own if not (ip.is_unspecified or ip.is_loopback or ip.is_link_local)]


def _listen(host: str, port: int, prefix: str = "") -> socket.socket:
    """Listen on a port. ``prefix``: the prefix of the settings HOST and PORT that gave the address, for messages."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # `::` also accepts IPv4, as with gunicorn.
        dual_stack = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        return socket.create_server((host, port), family=family, backlog=2048, dualstack_ipv6=dual_stack)
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]
        raise CannotServe(
            f"cannot listen on port {port} of {host}; set {prefix}HOST or {prefix}PORT: {reason}"
        ) from error


def _reachable(listener: socket.socket) -> tuple[str, int]:
    """Return the address at which a process on this machine can connect to the listener."""
    host, port = listener.getsockname()[:2]
    loopback = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 # nothing is bound here
    return loopback.get(host, host), port


def _answers(listener: socket.socket) -> bool:
    """Return whether /healthz responds with 200 now."""
    try:
        with socket.create_connection(_reachable(listener), timeout=PROBE_SECONDS) as connection:
            connection.sendall(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")
            return connection.recv(64).split(b" ")[1:2] == [b"200"]
    except OSError:
        return False


def _url(address: tuple[str, int]) -> str:
    host, port = address[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
