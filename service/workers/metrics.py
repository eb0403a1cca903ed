"""The metrics of background processes, and the HTTP server that exposes them and the health of a process.

Owns their names; ``service.metrics`` has those that the web server also has. No label contains a game, a seat or hidden
tiles. If the environment has ``PROMETHEUS_MULTIPROC_DIR``, they are stored in that folder, and the web server of the
same run exposes them. Does not depend on what counts them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final, get_args

from prometheus_client import CollectorRegistry, Counter, Histogram

from service.games.model.seats import LEVELS
from service.games.reminders import ReminderKind
from service.metrics import PROMETHEUS_TEXT
from service.outgoing.sender import REASONS as FAILURES_TO_SEND

_DECISION_SECONDS: Final = (0.00025, 0.001, 0.0025, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
_LAG_SECONDS: Final = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 30.0)

_FALLBACKS: Final = ("greedy", "first")
_TIME_OUTS: Final = ("bot", "move", "forfeit", "deal", "fill", "free", "remind")
_DELIVERIES: Final = ("ok", "status", "challenge", "gone", *FAILURES_TO_SEND)
_ENDPOINTS: Final = ("active", "failing", "disabled")
"""The values of labels. Each series exists from the start, with the value 0."""


class WorkerMetrics:
    """The metrics of one process, and their labels.

    ``decisions``, ``moves``: by the level of the computer player.
    ``fallbacks``: failed decisions, by what chose the move instead.
    ``time_outs``: by what followed from the deadline.
    ``deliveries``: by the error, or ``ok``.
    ``endpoints``: by the new status.
    ``lags``, ``failures``: by the kind of the reminder.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        counter = partial(Counter, registry=registry)
        histogram = partial(Histogram, registry=registry)
        chosen = "Seconds in which a computer player chose a move."
        self.decisions = histogram("domino_bot_decision_seconds", chosen, ["level"], buckets=_DECISION_SECONDS)
        self.moves = counter("domino_bot_moves_total", "Moves and deals made for computer players.", ["level"])
        failed = "Decisions that failed repeatedly, by what chose instead."
        self.fallbacks = counter("domino_bot_fallbacks_total", failed, ["by"])
        self.time_outs = counter("domino_time_outs_total", "Deadlines from which something followed.", ["then"])
        held = "Deadlines that had passed by the clock of their game, and were put off after an outage."
        self.deferred = counter("domino_held_deadlines_total", held)
        late = "Seconds by which a reminder was taken later than it was due."
        self.lags = histogram("domino_reminder_lag_seconds", late, ["kind"], buckets=_LAG_SECONDS)
        told = "Seconds from a write to a game until its application was told: its index and its feed."
        self.outbox_lags = histogram("domino_outbox_lag_seconds", told, buckets=_LAG_SECONDS)
        tried = "Attempts to deliver a message to an endpoint, by what became of them."
        self.deliveries = counter("domino_webhook_deliveries_total", tried, ["outcome"])
        waited = "Seconds from when a game was due to an endpoint to the attempt to tell it."
        self.delivery_lags = histogram("domino_webhook_lag_seconds", waited, buckets=_LAG_SECONDS)
        changed = "Endpoints that became active, failing or disabled."
        self.endpoints = counter("domino_webhook_endpoint_changes_total", changed, ["status"])
        put_off = "Reminders put off because of an error."
        self.failures = counter("domino_reminder_failures_total", put_off, ["kind"])
        self._show_zeros()

    def _show_zeros(self) -> None:
        """Create all series with 0: Prometheus sees no increase where a series begins with its first failure."""
        for metric, labels in (
            (self.moves, LEVELS),
            (self.decisions, LEVELS),
            (self.lags, get_args(ReminderKind)),
            (self.fallbacks, _FALLBACKS),
            (self.time_outs, _TIME_OUTS),
            (self.deliveries, _DELIVERIES),
            (self.endpoints, _ENDPOINTS),
            (self.failures, get_args(ReminderKind)),
        ):
            for label in labels:
                metric.labels(label)


def lag_seconds(milliseconds: int) -> float:
    """Return a lag in seconds: at least 0, although the clocks of two machines can differ."""
    return max(milliseconds, 0) / 1000


# The HTTP server of background processes: ``/metrics`` for Prometheus, ``/healthz`` for liveness checks.


READ_SECONDS: Final = 5.0


def serve_metrics(host: str, port: int, text: Callable[[], bytes], is_alive: Callable[[], bool]) -> None:
    """Serve metrics and liveness in a thread until the process ends. Raises ``OSError`` if the address is not free."""
    server = ThreadingHTTPServer((host, port), partial(_Handler, text, is_alive))
    Thread(target=server.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    """Answers a request on each connection."""

    timeout = READ_SECONDS

    def __init__(self, text: Callable[[], bytes], is_alive: Callable[[], bool], *arguments: Any) -> None:
        self._text = text
        self._is_alive = is_alive
        super().__init__(*arguments)

    def do_GET(self) -> None:  # the name that the library expects
        """Answer with the metrics or the liveness of the process."""
        if self.path == "/metrics":
            self._answer(200, PROMETHEUS_TEXT, self._text())
        elif self.path == "/healthz":
            status, word = (200, b"ok") if self._is_alive() else (503, b"stuck")
            self._answer(status, "application/json", b'{"status":"%b"}' % word)
        else:
            self._answer(404, "text/plain", b"")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 # the name that the library gives it
        """Log nothing: these requests are regular."""

    def _answer(self, status: int, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
