"""The processes of a running service: starts them in order, watches them, stops them in reverse.

    supervisor ─┬─ embedded server   (unless REDIS_URL names one; restarted if it ends by itself)
                └─ gunicorn ─── workers

Owns the listening socket, the signals and the lines a person sees. The children are in sessions of their own, so a
Ctrl-C in the terminal reaches this process alone, which then stops them; on Linux they also end when it is killed.
SIGUSR1 replaces the workers one generation by the next, without a refused request. It also owns the folder in which
the workers count together. Must not know what is served: the web application is only a name that gunicorn is given.
It is light to import.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from types import FrameType, TracebackType
from typing import Self

from service.config import Settings
from service.storage.embedded import EmbeddedServer, EmbeddedServerError, die_with_parent

APP = "service.wsgi:create()"
WORKER = "service.gunicorn_worker.Worker"
HOOKS = "python:service.gunicorn_conf"
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"

READY_SECONDS = 60.0
FORCED_STOP_SECONDS = 3.0
DRAIN_SECONDS = 5.0  # beyond GRACEFUL_TIMEOUT, for gunicorn's own tidying up
REMIND_SECONDS = 1.0
PROBE_SECONDS = 2.0
BACK_OFF_SECONDS = 0.1  # doubled with each restart of the embedded server …
MOST_BACK_OFF_SECONDS = 10.0
STEADY_SECONDS = 60.0  # … until it has run for so long

BACKLOG = 2048
KEEP_ALIVE_SECONDS = 5  # also how long a client may take to send its headers
SILENT_PEER_SECONDS = 30
REQUEST_LINE_BYTES = 4094
HEADER_FIELDS = 64
HEADER_BYTES = 8190


class CannotServe(Exception):
    """The service cannot go on; the message is for the person who started it."""


class Signals:
    """The wishes of a person, and news of children, while this is the context.

    ``stops`` counts the wishes to stop, ``restarts`` those for new workers.
    """

    STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self) -> None:
        self.stops = 0
        self.restarts = 0
        self._reader, self._writer = socket.socketpair()

    def __enter__(self) -> Self:
        """Take the signals over; only the main thread can."""
        self._reader.settimeout(0.0)
        self._writer.settimeout(0.0)
        self._wakeup = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN  # as nohup asks for
        wishes = [sign for sign in self.STOP_SIGNALS if not (ignored and sign is signal.SIGHUP)]
        self._before = {sign: signal.signal(sign, self._on_stop) for sign in wishes}
        self._before[signal.SIGUSR1] = signal.signal(signal.SIGUSR1, self._on_restart)
        self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda _sign, _frame: None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the signals back."""
        for sign, handler in self._before.items():
            signal.signal(sign, handler)
        signal.set_wakeup_fd(self._wakeup)
        self._reader.close()
        self._writer.close()

    def _on_stop(self, _sign: int, _frame: FrameType | None) -> None:
        self.stops += 1

    def _on_restart(self, _sign: int, _frame: FrameType | None) -> None:
        self.restarts += 1

    def wait(self, seconds: float) -> None:
        """Sleep until a signal comes, but no longer than ``seconds``."""
        if select.select([self._reader], [], [], max(seconds, 0.0))[0]:
            with contextlib.suppress(BlockingIOError):
                self._reader.recv(4096)


class ProcessGroup:
    """One run of the service. ``app`` is what gunicorn serves, in its notation."""

    def __init__(self, settings: Settings, signals: Signals, app: str) -> None:
        self.settings = settings
        self.signals = signals
        self.app = app
        self.listener = _listen(settings.host, settings.port)
        self.store = EmbeddedServer(settings.data_dir) if settings.redis_url is None else None
        self.web: subprocess.Popen[bytes] | None = None
        self._metrics: str | None = None
        self._restarts = 0
        self._back_off = BACK_OFF_SECONDS
        self._revive_at = 0.0
        self._steady_at = 0.0

    def run(self) -> None:
        """Start everything, say where it listens, and go on until a stop is wished for; then stop everything.

        Raises:
            CannotServe: something did not start, or gunicorn ended by itself. Nothing is left running.
        """
        try:
            self._start()
            while not self.signals.stops:
                self._watch()
                self._renew_workers()
                self.signals.wait(1.0)
        except EmbeddedServerError as error:
            if not self.signals.stops:
                raise CannotServe(str(error)) from error
        finally:
            self._stop()

    def _start(self) -> None:
        if self.store is None:
            self._warn_of_own_secret()
        else:
            self.store.start(lambda: not self.signals.stops)
        redis_url = self.settings.redis_url if self.store is None else self.store.url
        environ = {**os.environ, "REDIS_URL": redis_url or ""}
        if not environ.get(METRICS_FOLDER):
            self._metrics = environ[METRICS_FOLDER] = tempfile.mkdtemp(prefix="domino-metrics-")
        self.web = _start_gunicorn(self.app, self.settings, self.listener, environ)
        deadline = time.monotonic() + READY_SECONDS
        while not _answers(self.listener):
            self._watch()
            if self.signals.stops:
                return
            if time.monotonic() > deadline:
                raise CannotServe(f"the service did not answer /healthz within {READY_SECONDS:.0f} s")
            self.signals.wait(0.05)
        self._announce()

    def _announce(self) -> None:
        url = _url(_reachable(self.listener))
        kept = "the Redis of REDIS_URL" if self.store is None else str(self.store.folder)
        print_line(f"Serving dominoes at {_url(self.listener.getsockname())}; the games are kept in {kept}")
        print_line(f"Try it:  curl -s {url}/v1/variants")
        print_line("Ctrl-C stops it.")

    def _warn_of_own_secret(self) -> None:
        """Say what the others who serve the same Redis need, if there are any."""
        if self.settings.secret is None:
            warn(
                f"SECRET is not set, so the one kept in {self.settings.data_dir} is used; set the same on every "
                "machine that serves this Redis, or what opens or joins a game fails when it is repeated on another"
            )

    def _watch(self) -> None:
        """Look after the children: without gunicorn all is over, without the embedded server only its games wait."""
        if self.web is not None and (status := self.web.poll()) is not None:
            raise CannotServe(f"the web server ended by itself ({describe_exit(status)}); see above for why")
        if self.store is not None and self.store.pid is None:
            self._restart_redis(self.store)

    def _renew_workers(self) -> None:
        """On a wish, have gunicorn start new workers and stop the old ones; meanwhile clients wait at the listener."""
        if self.web is not None and self._restarts != self.signals.restarts:
            self._restarts = self.signals.restarts
            print_line("Restarting the workers.")
            self.web.send_signal(signal.SIGHUP)

    def _restart_redis(self, store: EmbeddedServer) -> None:
        now = time.monotonic()
        if now < self._revive_at:
            return
        if self._steady_at and now > self._steady_at:
            self._back_off = BACK_OFF_SECONDS
        self._revive_at = now + self._back_off
        self._back_off = min(self._back_off * 2, MOST_BACK_OFF_SECONDS)
        warn("the embedded server ended by itself; starting it again")
        try:
            store.start(lambda: not self.signals.stops and self.web is not None and self.web.poll() is None)
        except EmbeddedServerError as error:
            warn(f"{error}\nnext try in {self._back_off:.1f} s; until then the service answers 503")
            self._revive_at = time.monotonic() + self._back_off
        else:
            warn("the embedded server answers again")
            self._steady_at = time.monotonic() + STEADY_SECONDS

    def _stop(self) -> None:
        self.listener.close()
        try:
            if self.web is not None:
                if self.web.poll() is None:
                    self._stop_gunicorn(self.web)
                self._end_orphans(self.web)
        finally:
            if self._metrics is not None:
                shutil.rmtree(self._metrics, ignore_errors=True)
            if self.store is not None:
                self.store.stop()

    def _stop_gunicorn(self, web: subprocess.Popen[bytes]) -> None:
        if self.signals.stops:
            print_line("Stopping; running requests may end. Ctrl-C again stops at once.")
        wishes = self.signals.stops
        deadline = time.monotonic() + self.settings.graceful_timeout + DRAIN_SECONDS
        hurried = False
        remind_at = 0.0
        while web.poll() is None:
            if not hurried and time.monotonic() >= remind_at:
                # Again and again, and to the workers too: gunicorn does not look at its own while it replaces the
                # workers, and may fork one after the first. A second one does no harm.
                remind_at = time.monotonic() + REMIND_SECONDS
                _signal_group(web, signal.SIGTERM)
            if self.signals.stops > wishes and not hurried:
                hurried = True
                deadline = time.monotonic() + FORCED_STOP_SECONDS
                web.send_signal(signal.SIGQUIT)
            if time.monotonic() > deadline:
                _signal_group(web, signal.SIGKILL)
                web.wait()
            self.signals.wait(0.2)

    def _end_orphans(self, web: subprocess.Popen[bytes]) -> None:
        """Wait for workers that gunicorn left behind when it died; they stop by themselves, but not for ever."""
        deadline = time.monotonic() + FORCED_STOP_SECONDS
        while _signal_group(web, 0):
            if time.monotonic() > deadline:
                _signal_group(web, signal.SIGKILL)
                return
            self.signals.wait(0.05)


def serve(settings: Settings, *, app: str = APP) -> int:
    """Serve until a signal stops it (0), or until it cannot go on (1, with a line on standard error)."""
    _claim_standard_streams()
    with Signals() as signals:
        try:
            ProcessGroup(settings, signals, app).run()
        except CannotServe as error:
            warn(str(error))
            return 1
    return 0


def print_line(line: str) -> None:
    """Tell the person at the terminal; nobody need be there."""
    with contextlib.suppress(OSError):
        print(line, flush=True)


def warn(line: str) -> None:
    """Tell the person, or the log, what went wrong."""
    with contextlib.suppress(OSError):
        print(f"domino-service: {line}", file=sys.stderr, flush=True)


def _claim_standard_streams() -> None:
    """Fill closed places among the first three descriptors, or a socket would take one and be mistaken for it."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise CannotServe(f"HOST {host} is not known here: {error.strerror}") from error
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if sys.platform == "linux":  # its connections inherit it: one whose peer is gone without a word ends too
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SILENT_PEER_SECONDS * 1000)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise CannotServe(f"port {port} of {host} is in use; set PORT to another (0 takes any free one)") from error
        raise CannotServe(f"cannot listen on port {port} of {host}: {error.strerror}") from error
    return listener


def _start_gunicorn(
    app: str, settings: Settings, listener: socket.socket, environ: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    options = {
        "config": HOOKS,  # and no gunicorn.conf.py of the current folder
        "bind": f"fd://{listener.fileno()}",
        "worker-class": WORKER,
        "workers": settings.workers,
        "worker-connections": settings.worker_connections,
        "graceful-timeout": settings.graceful_timeout,
        "keep-alive": KEEP_ALIVE_SECONDS,
        "limit-request-line": REQUEST_LINE_BYTES,
        "limit-request-fields": HEADER_FIELDS,
        "limit-request-field_size": HEADER_BYTES,
        "log-level": settings.log_level,
    }
    if os.access("/dev/shm", os.W_OK):  # noqa: S108 # gunicorn makes an unnamed file there, for its workers' heartbeat
        options["worker-tmp-dir"] = "/dev/shm"  # noqa: S108
    words = [f"--{name}={value}" for name, value in options.items()]
    command = [sys.executable, "-m", "gunicorn", *words, "--no-control-socket", app]
    return subprocess.Popen(
        die_with_parent(command, signal.SIGQUIT),
        stdin=subprocess.DEVNULL,
        env=environ,
        pass_fds=(listener.fileno(),),
        start_new_session=True,
    )


def _signal_group(web: subprocess.Popen[bytes], sign: int) -> bool:
    """Send a signal to gunicorn and its workers; whether there was anybody to get it."""
    try:
        os.killpg(web.pid, sign)
    except (ProcessLookupError, PermissionError):  # the latter is what macOS says of processes that have ended
        return False
    return True


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
