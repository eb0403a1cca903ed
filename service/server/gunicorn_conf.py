"""gunicorn's configuration file: ``gunicorn -c <path of this file>`` serves, with the settings of the environment.

Owns gunicorn's settings, its hooks and its log format. gunicorn executes this file at the start and again at SIGHUP.
Does not depend on the application, or import it: the workers are forked from the master and would keep what it has
imported. Command line options and ``GUNICORN_CMD_ARGS`` take precedence over what is set here.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any, Final

from gunicorn.glogging import Logger

from service import metrics_folder
from service.bootstrap.secret_file import InvalidSecretFile, server_secrets
from service.config import InvalidSettings, Settings
from service.json_logging import make_formatter, without_waiting

METRICS_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
SILENT_PEER_SECONDS: Final = 30
"""Seconds without an acknowledgement from its peer after which a connection is closed."""

_STOPS: Final = (signal.SIGTERM, signal.SIGQUIT)


class FormattedLogger(Logger):  # type: ignore[misc]  # gunicorn has no type information
    """gunicorn's logger, in the format of ``LOG_FORMAT``."""

    def setup(self, cfg: Any) -> None:
        """Configure the handlers as gunicorn does, but for their format, and so that nobody waits for their reader."""
        super().setup(cfg)
        self.error_log.handlers = [without_waiting(handler) for handler in self.error_log.handlers]
        for handler in self.error_log.handlers:
            vars(handler)["_gunicorn"] = True  # by which gunicorn finds what it has to configure again
            handler.setFormatter(make_formatter(settings.log_format, getattr(handler, "stream", None)))


try:
    settings = Settings.from_environ(os.environ)
except InvalidSettings as error:
    raise SystemExit(f"domino-service: {error}") from None


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


wsgi_app = "service.server.wsgi:create()"
bind = [_address(settings.host, settings.port)]
if settings.metrics_port:
    bind.append(_address(settings.metrics_host, settings.metrics_port))
backlog = 2048
workers = settings.workers
worker_class = "service.server.gunicorn_worker.Worker"
worker_connections = settings.worker_connections
graceful_timeout = settings.graceful_timeout
keepalive = 5  # seconds; also how long a client may take to send its headers
limit_request_line = 4094  # bytes
limit_request_fields = 64
limit_request_field_size = 8190  # bytes
loglevel = "info" if settings.log_level == "debug" else settings.log_level  # at debug it logs paths: ids of games
forwarded_allow_ips = ""  # what a proxy says is read by the application, by TRUSTED_PROXIES
forwarder_headers = ""  # no header, such as Script-Name with an underscore, changes the path
secure_scheme_headers: dict[str, str] = {}
logger_class = FormattedLogger
control_socket_disable = True
if os.access("/dev/shm", os.W_OK):  # noqa: S108 # unnamed files: the heartbeat of the workers does not touch the disk
    worker_tmp_dir = "/dev/shm"  # noqa: S108


def on_starting(server: Any) -> None:
    """Require a Redis and a secret, and block stop signals across each fork.

    gunicorn sends a worker one stop signal. A worker that has not installed its handlers would run those inherited from
    the master, which only queue the signal, and would not stop. So every worker starts with these signals blocked until
    ``service.server.gunicorn_worker`` has installed its handlers.
    """
    for handler in server.log.error_log.handlers:
        handler.flush()  # so that no line of the log is mixed with the sentence of an exit
    if settings.redis_url is None:
        raise SystemExit("domino-service: REDIS_URL is not set; `domino-service serve` starts an embedded server")
    _require_secret()
    if not settings.secret_key and "DOMINO_DEVSERVER" not in os.environ:
        server.log.warning(
            "SECRET_KEY is not set, so the one in %s is used; set the same one on every machine that serves this "
            "Redis, or a request to create or join a game fails if it is repeated on another machine",
            settings.data_dir,
        )
    os.register_at_fork(before=_block_stops, after_in_parent=_unblock_stops)


def when_ready(server: Any) -> None:
    """Create the folder of the metrics, now that the ports were free, and have the listeners detect dead peers."""
    if not os.environ.get(METRICS_FOLDER):
        metrics_folder.remove_abandoned()
        os.environ[METRICS_FOLDER] = str(metrics_folder.create())
    _detect_dead_peers(server)


def _detect_dead_peers(server: Any) -> None:
    """Set a timeout for unacknowledged data on the listeners, which connections inherit."""
    if sys.platform == "linux":
        for listener in server.LISTENERS:
            if listener.sock.family in (socket.AF_INET, socket.AF_INET6):
                listener.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SILENT_PEER_SECONDS * 1000)


def post_fork(server: Any, worker: Any) -> None:  # noqa: ARG001 # gunicorn's signature
    """Give a new worker the number of workers, and have it load the current code.

    The number is that of gunicorn's options and signals, which may differ from the setting. The modules that the master
    has imported are unloaded, so that a worker started after SIGHUP runs the code that is installed then.
    """
    os.environ["WORKERS"] = str(min(server.num_workers, 256))
    for name in [name for name in sys.modules if name == "service" or name.startswith("service.")]:
        del sys.modules[name]


def child_exit(server: Any, worker: Any) -> None:  # noqa: ARG001 # gunicorn's signature
    """Remove the gauges of an ended worker, such as its open streams, from the metrics."""
    if os.environ.get(METRICS_FOLDER):
        from prometheus_client import multiprocess  # noqa: PLC0415 # rarely needed, and only with the folder

        multiprocess.mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def on_exit(server: Any) -> None:
    """Remove the folder of the metrics if this master created it, unless a new master uses it after SIGUSR2."""
    if not server.reexec_pid:
        metrics_folder.remove_own(Path(os.environ.get(METRICS_FOLDER, "")))


def _require_secret() -> None:
    """Stop the start without a secret, and with a file of one that is none, also beside a ``SECRET_KEY``."""
    try:
        server_secrets(settings.secret_key, settings.data_dir)
    except InvalidSecretFile as error:
        raise SystemExit(f"domino-service: {error}") from None
    except OSError as error:
        raise SystemExit(
            f"domino-service: cannot keep a secret in {settings.data_dir}, set SECRET_KEY or another DATA_DIR: "
            f"{error.strerror}"
        ) from None


def _block_stops() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)


def _unblock_stops() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
