"""The supervisor of a run without REDIS_URL: starts the processes in order, restarts those that end, stops all.

    supervisor ─┬─ embedded server
                ├─ bot workers, schedulers, messengers
                └─ gunicorn ─── workers          (restarted once it has answered; before, its end is an error)

Owns the listening sockets, which stay open while gunicorn does not run, and the messages on the terminal. SIGINT,
SIGTERM and SIGHUP stop all processes; a second signal stops them at once. Does not depend on the application, whose
name is passed to gunicorn. Light to import.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import queue
import signal
import socket
import sys
from collections import Counter
from pathlib import Path

from service import metrics_folder
from service.config import Settings
from service.devserver.embedded import CannotServe, EmbeddedServer
from service.devserver.terminal import ChildProcess, claim_standard_streams, print_line, warn

APP = "service.bootstrap.web:create()"
GUNICORN_CONF = Path(__file__).parent.parent / "server" / "gunicorn_conf.py"

RESTART_PAUSE_SECONDS = 1.0  # limits the restarts of a process that always fails
STOP_SECONDS = 5.0

_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 # nothing is bound here
"""The address of this machine to connect to, by the one to listen on all."""


class ProcessGroup:
    """The processes of one run. ``app`` names the application in gunicorn's notation."""

    def __init__(self, settings: Settings, app: str) -> None:
        self.app = app
        self.stop_signals: queue.SimpleQueue[int] = queue.SimpleQueue()
        for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # SIGHUP stays ignored if it was at the start (nohup), SIGINT does not (a background job).
            if sign != signal.SIGHUP or signal.getsignal(sign) != signal.SIG_IGN:
                signal.signal(sign, lambda received, _frame: self.stop_signals.put(received))
        self.listeners = [_listen(settings.host, settings.port)]  # the sockets on which gunicorn accepts connections
        if settings.metrics_port:
            self.listeners.append(_listen(settings.metrics_host, settings.metrics_port, "METRICS_HOST or METRICS_PORT"))
        host, port = self.listeners[0].getsockname()[:2]
        self.local_address = _LOOPBACK.get(host, host), port
        self.addresses = settings.public_url or tuple(_url((reachable, port)) for reachable in reachable_hosts(host))
        self.store = EmbeddedServer(settings.data_dir, options={"maxmemory": f"{settings.max_memory_mb}mb"})
        # The number of background processes, by the command that runs one.
        self.counts = Counter(bots=settings.bot_workers, scheduler=settings.schedulers, messenger=settings.messengers)
        self.children: list[ChildProcess] = []  # the first is gunicorn

    def run(self) -> None:
        """Start all processes, print the address, and serve until a stop signal; then stop all processes.

        Raises ``CannotServe`` if the embedded server did not start, or gunicorn cannot load the application.
        """
        try:
            with contextlib.suppress(KeyboardInterrupt):
                self._start()
                while True:
                    self._pause(RESTART_PAUSE_SECONDS)
                    self._restart_ended()
        finally:
            self._stop()

    def _pause(self, seconds: float) -> None:
        """Wait. Raises ``KeyboardInterrupt`` once for each stop signal, at once."""
        with contextlib.suppress(queue.Empty):
            self.stop_signals.get(timeout=seconds)
            raise KeyboardInterrupt

    def _start(self) -> None:
        os.environ["REDIS_URL"] = self.store.start(self._pause)
        os.environ |= {"DOMINO_DEVSERVER": "1", "PUBLIC_URL": ",".join(self.addresses)}
        locks = metrics_folder.prepare()
        numbers = [listener.fileno() for listener in self.listeners]
        command = [sys.executable, "-m", "gunicorn", "-c", str(GUNICORN_CONF), self.app]
        command += [f"--bind=fd://{number}" for number in numbers]
        web = ChildProcess("the web server", command, signal.SIGQUIT, pass_fds=[*numbers, *locks])
        self.children.append(web)
        self._announce(web)
        environ = {**os.environ, "METRICS_PORT": "0"}  # gunicorn serves the metrics of all processes
        for name in self.counts.elements():
            command = [sys.executable, "-m", "service", name]
            background = ChildProcess(f"the process `{name}`", command, signal.SIGTERM, env=environ, pass_fds=locks)
            self.children.append(background)

    def _announce(self, web: ChildProcess) -> None:
        """Print the address once the service answers. Raises ``CannotServe`` if gunicorn ends before."""
        while not _answers(self.local_address):
            if web.poll() is not None:
                raise CannotServe(f"{web.end_message()}; see the messages above")
            self._pause(0.05)
        address = _url(self.listeners[0].getsockname())
        print_line(f"Serving dominoes at {address}; the games are stored in {self.store.folder}")
        for other in self.addresses:
            print_line(f"Others in your network open {other}")
        print_line(f"Try it:  curl -s {_url(self.local_address)}/v1/variants")
        print_line("Ctrl-C stops it.")

    def _restart_ended(self) -> None:
        """Restart the processes that have ended by themselves, and remove the gauges of those that ended."""
        if self.store.pid is None:
            warn("the embedded server ended by itself; restarting it")
            try:
                self.store.start(self._pause)
                warn("the embedded server is back")
            except CannotServe as error:
                warn(f"{error}\nuntil it is back, requests for games are answered with 503")
        for number, child in enumerate(self.children):
            if child.poll() is not None:
                warn(f"{child.end_message()}; restarting it")
                child.end(0)  # kills its own children
                self.children[number] = child.start_again()
                metrics_folder.remove_gauges([child.pid for child in self.children])

    def _stop(self) -> None:
        """Stop all processes, the embedded server last: gunicorn in GRACEFUL_TIMEOUT, or at once at another signal."""
        for listener in self.listeners:
            listener.close()
        for child in self.children:
            child.terminate()
        if self.children and self.children[0].poll() is None:
            print_line("Stopping when the running requests have finished. Press Ctrl-C again to stop now.")
        with contextlib.suppress(KeyboardInterrupt):
            while self.children and self.children[0].poll() is None:
                self._pause(0.1)
        for child in self.children:
            child.end(STOP_SECONDS)
        self.store.stop()
        metrics_folder.remove()


def serve(settings: Settings, *, app: str = APP) -> int:
    """Serve until a signal; return the exit status: 0, or 1 after a failure, with a message on standard error."""
    claim_standard_streams()
    try:
        ProcessGroup(settings, app).run()
    except CannotServe as error:
        warn(str(error))
        return 1
    return 0


def reachable_hosts(host: str) -> list[str]:
    """Return the addresses at which other devices reach a socket bound to ``host``; empty for loopback."""
    hosts = [host]
    if host in _LOOPBACK:
        hosts = []  # the IPv4 addresses of this machine, first the one of the default route
        with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("192.0.2.1", 9))  # a reserved address, to find the route to it; nothing is sent
            hosts.append(probe.getsockname()[0])
        with contextlib.suppress(OSError):
            hosts += socket.gethostbyname_ex(socket.gethostname())[2]
    own = [ipaddress.ip_address(text) for text in dict.fromkeys(hosts)]
    return [str(ip) for ip in own if not (ip.is_loopback or ip.is_link_local)]


def _listen(host: str, port: int, settings: str = "HOST or PORT") -> socket.socket:
    """Listen on a port. ``settings`` names the settings that gave the address, for messages."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # `::` also accepts IPv4, as with gunicorn.
        dual_stack = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        return socket.create_server((host, port), family=family, backlog=2048, dualstack_ipv6=dual_stack)
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]
        raise CannotServe(f"cannot listen on port {port} of {host}; set {settings}: {reason}") from error


def _answers(address: tuple[str, int]) -> bool:
    """Return whether /healthz responds with 200 now."""
    try:
        with socket.create_connection(address, timeout=2.0) as connection:
            connection.sendall(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")
            return connection.recv(64).split(b" ")[1:2] == [b"200"]
    except OSError:
        return False


def _url(address: tuple[str, int]) -> str:
    host, port = address[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
