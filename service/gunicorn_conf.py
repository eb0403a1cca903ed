"""gunicorn's configuration file: ``gunicorn -c <path of this file>`` serves, with the settings of the environment.

Owns gunicorn's settings, its hooks and the form of its log lines. gunicorn executes this file at the start and again at
SIGHUP. Does not import the application: the workers are forked from the master and would keep what it has imported.
Command line options and ``GUNICORN_CMD_ARGS`` take precedence over what is set here.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from gunicorn.glogging import Logger

from service.config import InvalidSettings, Settings
from service.json_logging import JsonFormatter

METRICS_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
SILENT_PEER_SECONDS: Final = 30
"""After so long without an acknowledgement from its peer a connection is closed."""

_STOPS: Final = (signal.SIGTERM, signal.SIGQUIT)


class JsonLogger(Logger):  # type: ignore[misc]  # gunicorn has no type information
    """gunicorn's, with one JSON object a line."""

    def setup(self, cfg: Any) -> None:
        """Take the settings of gunicorn, but for the form."""
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(JsonFormatter())


try:
    settings = Settings.from_environ(os.environ)
except InvalidSettings as error:
    raise SystemExit(f"domino-service: {error}") from None

wsgi_app = "service.wsgi:create()"
bind = f"[{settings.host}]:{settings.port}" if ":" in settings.host else f"{settings.host}:{settings.port}"
backlog = 2048
workers = settings.workers
worker_class = "service.gunicorn_worker.Worker"
worker_connections = settings.worker_connections
graceful_timeout = settings.graceful_timeout
keepalive = 5  # seconds; also how long a client may take to send its headers
limit_request_line = 4094  # bytes
limit_request_fields = 64
limit_request_field_size = 8190  # bytes
loglevel = settings.log_level
logger_class = JsonLogger
control_socket_disable = True
if os.access("/dev/shm", os.W_OK):  # noqa: S108 # for an unnamed file: the heartbeat of the workers touches no disk
    worker_tmp_dir = "/dev/shm"  # noqa: S108


def on_starting(server: Any) -> None:
    """Check that there is a Redis, make the folder of the metrics, and hold stop signals across each fork.

    gunicorn tells a worker once to stop. A worker that has no handlers yet would answer with those of the master that
    it was forked from, which only queue the signal, and serve on. So every worker begins with these signals blocked,
    until ``service.gunicorn_worker`` has installed its handlers.
    """
    if settings.redis_url is None:
        raise SystemExit("domino-service: REDIS_URL is not set; `domino-service serve` starts a server of its own")
    if settings.secret_key is None and "DOMINO_DEVSERVER" not in os.environ:
        server.log.warning(
            "SECRET_KEY is not set, so the one kept in %s is used; set the same on every machine that serves this "
            "Redis, or what opens or joins a game fails when it is repeated on another",
            settings.data_dir,
        )
    if not os.environ.get(METRICS_FOLDER):
        os.environ[METRICS_FOLDER] = tempfile.mkdtemp(prefix=_own_metrics_prefix())
    os.register_at_fork(before=_block_stops, after_in_parent=_unblock_stops)


def when_ready(server: Any) -> None:
    """Have the connections, which inherit it from the listeners, end when their peer is gone without closing them."""
    if sys.platform == "linux":
        for listener in server.LISTENERS:
            if listener.sock.family in (socket.AF_INET, socket.AF_INET6):
                listener.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SILENT_PEER_SECONDS * 1000)


def post_fork(server: Any, worker: Any) -> None:  # noqa: ARG001 # gunicorn's signature
    """Forget the modules that the master has imported, so that after SIGHUP a worker runs the code installed now."""
    for name in [name for name in sys.modules if name == "service" or name.startswith("service.")]:
        del sys.modules[name]


def child_exit(server: Any, worker: Any) -> None:  # noqa: ARG001 # gunicorn's signature
    """Remove the gauges of a worker that has ended, such as its open streams, from the metrics."""
    if os.environ.get(METRICS_FOLDER):
        from prometheus_client import multiprocess  # noqa: PLC0415 # seldom needed, and not without the folder

        multiprocess.mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def on_exit(server: Any) -> None:
    """Remove the folder of the metrics if this master made it, unless SIGUSR2 has handed it on to another one."""
    folder = Path(os.environ.get(METRICS_FOLDER, ""))
    if folder.name.startswith(_own_metrics_prefix()) and not server.reexec_pid:
        shutil.rmtree(folder, ignore_errors=True)


def _own_metrics_prefix() -> str:
    return f"domino-metrics-{os.getpid()}-"


def _block_stops() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)


def _unblock_stops() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
