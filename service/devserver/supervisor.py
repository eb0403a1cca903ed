"""The processes of a run without REDIS_URL: starts them in order, monitors them, stops them in reverse order.

    supervisor ─┬─ embedded server              (restarted if it ends by itself)
                ├─ bot workers, schedulers,     (as well)
                │  messengers
                └─ gunicorn ─── workers       (as well, once it has answered)

Owns the listening socket and the messages on the terminal. The children have sessions of their own, so that Ctrl-C in
the terminal reaches this process only, which then stops them; on Linux they also end when it is killed.

SIGINT, SIGTERM   stop all; a second one stops at once
SIGHUP, SIGUSR1,  passed on to gunicorn once it answers, where they have gunicorn's meaning; but a SIGHUP stops a run
SIGTTIN, SIGTTOU  whose standard input is a terminal, as that is what a closed terminal sends; not if SIGHUP was ignored
                  at the start, as under nohup

Does not depend on the application, which is only a name passed to gunicorn. Light to import.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import os
import queue
import signal
import socket
import sys
import time
from pathlib import Path
from types import FrameType

from service import metrics_folder
from service.config import Settings
from service.devserver.embedded import EmbeddedServer, EmbeddedServerError
from service.devserver.terminal import claim_standard_streams, print_line, warn
from service.devserver.web_server import BackgroundProcess, WebServer, reachable

# The addresses at which other devices of a home network reach this machine.


_ELSEWHERE = "192.0.2.1", 9
"""An address that is nobody's, to which nothing is sent: a route to it leads out of the machine."""


def reachable_hosts(host: str) -> list[str]:
    """Return the hosts under which other devices reach a socket that is bound to this address: none for loopback."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return []
    if address.is_loopback:
        return []
    return _own_addresses() if address.is_unspecified else [host]


def _own_addresses() -> list[str]:
    """Return the IPv4 addresses of this machine in its networks, that of the usual route first."""
    found: list[str] = []
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(_ELSEWHERE)
        found.append(probe.getsockname()[0])
    with contextlib.suppress(OSError):
        found += [str(each[4][0]) for each in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    return [each for each in dict.fromkeys(found) if _leads_here(ipaddress.ip_address(each))]


def _leads_here(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return not (address.is_loopback or address.is_link_local or address.is_unspecified)


APP = "service.server.wsgi:create()"
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"

READY_SECONDS = 60.0
FORCED_STOP_SECONDS = 3.0
DRAIN_SECONDS = 5.0  # beyond GRACEFUL_TIMEOUT, for gunicorn's own cleanup
RESTART_PAUSE_SECONDS = 1.0  # between two attempts to restart the embedded server


class CannotServe(Exception):
    """The service cannot start or continue; the message is for the person who started it."""


class Signals:
    """Installs handlers that count the stop signals and queue those to forward, also where they were ignored before.

    That is what gunicorn does, too: a shell ignores SIGINT for what it runs in the background, and nohup SIGHUP.
    """

    STOP = (signal.SIGINT, signal.SIGTERM)
    FORWARDED = (signal.SIGHUP, signal.SIGUSR1, signal.SIGTTIN, signal.SIGTTOU)

    def __init__(self) -> None:
        self.stops = 0
        self.forward: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()
        in_terminal = sys.stdin is not None and sys.stdin.isatty()
        ends_with_terminal = in_terminal and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN
        self._stop = (*self.STOP, signal.SIGHUP) if ends_with_terminal else self.STOP
        for sign in (*self.STOP, *self.FORWARDED, signal.SIGCHLD):
            signal.signal(sign, self._on_signal)

    def _on_signal(self, sign: int, _frame: FrameType | None) -> None:
        if sign in self._stop:
            self.stops += 1
        elif sign in self.FORWARDED:
            self.forward.put(sign)
        self._wake.put(None)

    def wait(self, seconds: float) -> None:
        """Wait for a signal, at most ``seconds``."""
        with contextlib.suppress(queue.Empty):
            self._wake.get(timeout=seconds)


class ProcessGroup:
    """One run of the service. ``app`` is the application, in gunicorn's notation."""

    def __init__(self, settings: Settings, signals: Signals, app: str) -> None:
        self.settings = settings
        self.signals = signals
        self.app = app
        self.listener = _listen(settings.host, settings.port)
        self.listeners = [self.listener]  # what gunicorn accepts connections on
        if settings.metrics_port:
            self.listeners.append(_listen(settings.metrics_host, settings.metrics_port, "METRICS_"))
        host, port = self.listener.getsockname()[:2]
        self.addresses = settings.public_url or tuple([_url((each, port)) for each in reachable_hosts(host)])
        self.store = EmbeddedServer(
            settings.data_dir, options={"maxmemory": f"{settings.max_memory_mb}mb"}, report=warn
        )
        self.web: WebServer | None = None
        self.background: list[BackgroundProcess] = []
        self.environ = dict(os.environ)
        self.inherited: list[int] = []
        self.metrics: Path | None = None

    def run(self) -> None:
        """Start all processes, print the address, and serve until a stop signal; then stop all processes.

        Raises:
            CannotServe: a process did not start, or gunicorn cannot load the application. No process is left running.
        """
        try:
            self.store.start(lambda: not self.signals.stops)
            self._prepare_environ()
            self.web = WebServer(
                self.app, self.listeners, self.environ, self.inherited, report=warn, ended=self._remove_web_gauges
            )
            self.web.start()
            self.background = self._background_processes()
            self._watch(self.web)
        except EmbeddedServerError as error:
            if not self.signals.stops:
                raise CannotServe(str(error)) from error
        finally:
            self._stop_all()

    def _watch(self, web: WebServer) -> None:
        """Print the address once the service answers, and keep all processes running, until a stop signal."""
        self._wait_for_answer(web)
        if not self.signals.stops:
            self._announce()
        while not self.signals.stops:
            if web.cannot_load:
                raise _ended(web)
            web.check()
            self._check_store(web)
            if web.is_ready:
                self._forward_signals(web)
            for each in self.background:
                each.check()
            self.signals.wait(RESTART_PAUSE_SECONDS)

    def _wait_for_answer(self, web: WebServer) -> None:
        """Wait until the service answers, or for a stop signal. Raises ``CannotServe``."""
        deadline = time.monotonic() + READY_SECONDS
        while not self.signals.stops and not web.probe():
            if time.monotonic() > deadline:
                raise CannotServe(f"the service did not answer /healthz within {READY_SECONDS:.0f} s")
            self.signals.wait(0.05)
            if web.exit_text() is not None:
                raise _ended(web)
            self._check_store(web)

    def _stop_all(self) -> None:
        """Stop all processes that run, in the reverse order of their start."""
        for listener in self.listeners:
            listener.close()
        for each in self.background:
            each.request_stop()
        if self.web is not None:
            self._stop_gunicorn(self.web)
        for each in self.background:
            each.wait()
        self.store.stop()
        if self.metrics is not None:
            metrics_folder.remove_own(self.metrics)

    def _prepare_environ(self) -> None:
        """Set the environment of all children; they count in its folder of metrics, or in one of this run."""
        self.environ |= {"REDIS_URL": self.store.url, "DOMINO_DEVSERVER": "1", "PUBLIC_URL": ",".join(self.addresses)}
        if not self.environ.get(METRICS_FOLDER):
            metrics_folder.remove_abandoned()
            self.metrics, descriptor = metrics_folder.create_locked()
            self.environ[METRICS_FOLDER] = str(self.metrics)
            self.inherited = [descriptor]

    def _background_processes(self) -> list[BackgroundProcess]:
        """Return the bot workers, schedulers and messengers, not yet started; gunicorn serves their metrics."""
        settings = self.settings
        commands = ["bots"] * settings.bot_workers
        commands += ["scheduler"] * settings.schedulers + ["messenger"] * settings.messengers
        environ = {**self.environ, "METRICS_PORT": "0"}
        return [
            BackgroundProcess(command, environ, self.inherited, report=warn, ended=self._remove_gauges)
            for command in commands
        ]

    def _remove_gauges(self, pid: int) -> None:
        if self.metrics is not None:
            metrics_folder.remove_gauges(self.metrics, pid)

    def _remove_web_gauges(self) -> None:
        """Remove the gauges of workers that have ended without their master: of all but the background processes."""
        if self.metrics is not None:
            running = [each.pid for each in self.background if each.pid is not None]
            metrics_folder.remove_other_gauges(self.metrics, running)

    def _announce(self) -> None:
        print_line(
            f"Serving dominoes at {_url(self.listener.getsockname())}; the games are stored in {self.store.folder}"
        )
        for each in self.addresses:
            print_line(f"Others in your network open {each}")
        print_line(f"Try it:  curl -s {_url(reachable(self.listener))}/v1/variants")
        print_line("Ctrl-C stops it.")

    def _check_store(self, web: WebServer) -> None:
        """Restart the embedded server if it has ended."""
        if self.store.pid is None:
            warn("the embedded server ended by itself; restarting it")
            try:
                self.store.start(lambda: not self.signals.stops and web.runs)
            except EmbeddedServerError as error:
                warn(f"{error}\nuntil it is back, requests for games are answered with 503")
            else:
                warn("the embedded server is back")

    def _forward_signals(self, web: WebServer) -> None:
        """Forward what came in; only to a gunicorn that answers, as before that it has no handlers and would end."""
        with contextlib.suppress(queue.Empty):
            while True:
                web.send_signal(self.signals.forward.get_nowait())

    def _stop_gunicorn(self, web: WebServer) -> None:
        """Stop gunicorn within GRACEFUL_TIMEOUT + DRAIN_SECONDS, sooner after another signal; then kill the rest."""
        stops = self.signals.stops  # before the line that asks for another one
        if web.runs:
            print_line("Stopping when the running requests have finished. Press Ctrl-C again to stop now.")
            web.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + self.settings.graceful_timeout + DRAIN_SECONDS
        while web.runs and time.monotonic() < deadline:
            if self.signals.stops > stops:
                stops = sys.maxsize
                deadline = time.monotonic() + FORCED_STOP_SECONDS
                web.send_signal(signal.SIGQUIT)
            self.signals.wait(0.2)
        web.kill()


def _ended(web: WebServer) -> CannotServe:
    return CannotServe(f"the web server ended by itself ({web.exit_text()}); see the messages above")


def serve(settings: Settings, *, app: str = APP) -> int:
    """Serve until a signal; returns the exit status: 0, or 1 with a message on standard error after a failure."""
    claim_standard_streams()
    try:
        ProcessGroup(settings, Signals(), app).run()
    except CannotServe as error:
        warn(str(error))
        return 1
    return 0


def _listen(host: str, port: int, prefix: str = "") -> socket.socket:
    """Listen on a port; ``prefix`` is that of the settings HOST and PORT from which the address is."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()  # `::` takes IPv4 too, as under gunicorn
        return socket.create_server((host, port), family=family, backlog=2048, dualstack_ipv6=both)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            any_free = "" if prefix else " (0 takes any free one)"
            raise CannotServe(f"port {port} of {host} is in use; set {prefix}PORT to another{any_free}") from error
        reason = str(error.strerror).partition(" (while")[0]
        raise CannotServe(
            f"cannot listen on port {port} of {host}; set {prefix}HOST or {prefix}PORT: {reason}"
        ) from error


def _url(address: tuple[str, int]) -> str:
    host, port = address[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
