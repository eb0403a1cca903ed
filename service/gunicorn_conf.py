"""What gunicorn's master does beside its own work: its configuration file, as a module.

Owns the hold on signals until a new worker can hear them, the clearing up after a worker that has ended, and the form
of gunicorn's own log lines. Must not import the application: new workers are forked from the master, and would go on
with what it has imported.
"""

from __future__ import annotations

import os
import signal
from typing import Any, Final

from gunicorn.glogging import Logger

from service.json_logging import JsonFormatter


class JsonLogger(Logger):  # type: ignore[misc]  # gunicorn has no type information
    """gunicorn's, with one JSON object a line."""

    def setup(self, cfg: Any) -> None:
        """Take the settings of gunicorn, but for the form."""
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(JsonFormatter())


logger_class = JsonLogger

_STOPS: Final = (signal.SIGTERM, signal.SIGQUIT)


def on_starting(server: Any) -> None:  # noqa: ARG001 # gunicorn's signature
    """Have every worker begin with the signals to stop held back, until it takes them itself.

    gunicorn tells a worker once. One that has no handlers yet would answer with those of the master that it was forked
    from, which do nothing here, and serve on.
    """
    os.register_at_fork(before=_hold_stops, after_in_parent=_take_stops)


def child_exit(server: Any, worker: Any) -> None:  # noqa: ARG001 # gunicorn's signature
    """Take what a worker that has ended counted as going on, such as open streams, out of the metrics."""
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        from prometheus_client import multiprocess  # noqa: PLC0415 # seldom needed, and not without the folder

        multiprocess.mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def _hold_stops() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)


def _take_stops() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
