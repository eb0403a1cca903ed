"""gunicorn's configuration file: ``gunicorn -c <path of this file>`` serves, with the settings of the environment.

Owns gunicorn's settings, its hooks and its log format. gunicorn executes this file at the start and again at SIGHUP.
Does not depend on the application and does not import it: the workers are forked from the master, and would keep its
imported modules after SIGHUP. Command line options and ``GUNICORN_CMD_ARGS`` override the settings here.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from functools import partial
from typing import Any, Final

from gunicorn.glogging import Logger

from service import metrics_folder
from service.bootstrap.secret_file import InvalidSecretFile, server_secrets
from service.config import InvalidSettings, Settings
from service.json_logging import make_formatter, non_blocking

SILENT_PEER_SECONDS: Final = 30
"""A connection is closed if its peer has not acknowledged data for this time."""

_STOPS: Final = (signal.SIGTERM, signal.SIGQUIT)


class FormattedLogger(Logger):  # type: ignore[misc]  # gunicorn has no type information
    """gunicorn's logger with the format of ``LOG_FORMAT``."""

    def setup(self, cfg: Any) -> None:
        """Configure the handlers as gunicorn does, but with our format, and so that writing to the log never blocks."""
        super().setup(cfg)
        self.error_log.handlers = [non_blocking(handler) for handler in self.error_log.handlers]
        for handler in self.error_log.handlers:
            vars(handler)["_gunicorn"] = True  # gunicorn's mark of the handlers that it configures again
            handler.setFormatter(make_formatter(settings.log_format, getattr(handler, "stream", None)))


try:
    settings = Settings.from_environ(os.environ)
except InvalidSettings as error:
    raise SystemExit(f"domino-service: {error}") from None


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


wsgi_app = "service.bootstrap.web:create()"
bind = [_address(settings.host, settings.port)]
if settings.metrics_port:
    bind.append(_address(settings.metrics_host, settings.metrics_port))
backlog = 2048
workers = settings.workers
worker_class = "service.server.gunicorn_worker.Worker"
worker_connections = settings.worker_connections
graceful_timeout = settings.graceful_timeout
keepalive = 5  # seconds; also the time limit for receiving the headers of a request
limit_request_line = 4094  # bytes
limit_request_fields = 64
limit_request_field_size = 8190  # bytes
loglevel = "info" if settings.log_level == "debug" else settings.log_level  # at debug it logs paths, with ids of games
forwarded_allow_ips = ""  # the application reads the headers of proxies (TRUSTED_PROXIES)
forwarder_headers = ""  # no header, such as Script-Name with an underscore, changes the path
secure_scheme_headers: dict[str, str] = {}
logger_class = FormattedLogger
control_socket_disable = True
if os.access("/dev/shm", os.W_OK):  # noqa: S108 # unnamed files: heartbeats of the workers do not touch the disk
    worker_tmp_dir = "/dev/shm"  # noqa: S108


def on_starting(server: Any) -> None:
    """Require the URL of Redis and a secret, and block stop signals across each fork.

    gunicorn sends a worker one stop signal. Until the worker has installed its own handlers, the handlers inherited
    from the master would only queue the signal, and the worker would not stop. So every worker starts with these
    signals blocked until ``service.server.gunicorn_worker`` has installed its handlers.
    """
    for handler in server.log.error_log.handlers:
        handler.flush()  # so that the log does not mix with the message of an exit
    if settings.redis_url is None:
        raise SystemExit("domino-service: REDIS_URL is not set; `domino-service serve` starts an embedded server")
    _require_secret()
    if not settings.secret_key and "DOMINO_DEVSERVER" not in os.environ:
        server.log.warning(
            "SECRET_KEY is not set, so the one in %s is used; set the same one on every machine that serves this "
            "Redis, or a request to create or join a game fails if it is repeated on another machine",
            settings.data_dir,
        )
    os.register_at_fork(
        before=partial(signal.pthread_sigmask, signal.SIG_BLOCK, _STOPS),
        after_in_parent=partial(signal.pthread_sigmask, signal.SIG_UNBLOCK, _STOPS),
    )


def when_ready(server: Any) -> None:
    """Prepare the folder of the metrics, and make the listeners detect dead peers.

    gunicorn calls this after it has bound the ports, so a start that fails because of a port creates no folder.
    """
    metrics_folder.prepare()
    _detect_dead_peers(server)


def _detect_dead_peers(server: Any) -> None:
    """Set a timeout for unacknowledged data on the listeners, which connections inherit."""
    if sys.platform == "linux":
        for listener in server.LISTENERS:
            if listener.sock.family in (socket.AF_INET, socket.AF_INET6):
                listener.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SILENT_PEER_SECONDS * 1000)


def post_fork(server: Any, worker: Any) -> None:  # noqa: ARG001 # gunicorn's signature
    """Set ``WORKERS`` for a new worker, and unload the modules of the service that the master has imported.

    ``WORKERS`` becomes the real number of workers, which gunicorn's options and signals can change. Unloading makes a
    worker that starts after SIGHUP import the code that is installed at that time.
    """
    os.environ["WORKERS"] = str(min(server.num_workers, 256))
    for name in [name for name in sys.modules if name == "service" or name.startswith("service.")]:
        del sys.modules[name]


def child_exit(server: Any, worker: Any) -> None:  # noqa: ARG001 # gunicorn's signature
    """Remove the gauges of a worker that has ended, such as its open streams, from the metrics."""
    from prometheus_client import multiprocess  # noqa: PLC0415 # rarely needed

    multiprocess.mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def on_exit(server: Any) -> None:
    """Remove the folder of the metrics if this master created it, unless a new master uses it after SIGUSR2."""
    if not server.reexec_pid:
        metrics_folder.remove()


def _require_secret() -> None:
    """Exit unless there is a valid secret. An invalid secret file is an error even if ``SECRET_KEY`` is set."""
    try:
        server_secrets(settings.secret_key, settings.data_dir)
    except InvalidSecretFile as error:
        raise SystemExit(f"domino-service: {error}") from None
    except OSError as error:
        raise SystemExit(
            f"domino-service: cannot keep a secret in {settings.data_dir}, set SECRET_KEY or another DATA_DIR: "
            f"{error.strerror}"
        ) from None
