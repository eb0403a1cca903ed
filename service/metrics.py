"""The Prometheus metrics.

Owns the names of the metrics and their labels, which never contain data of a client. If ``PROMETHEUS_MULTIPROC_DIR`` is
set when a process starts, all processes of a service write their metrics to this folder, and each exposes the sums; a
process must then have at most one ``Metrics``. Does not depend on the callers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.metadata import version
from typing import Final, get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest, values
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from service.engine.presence import Returned
from service.engine.variants import variants
from service.games.model.game import GameStatus
from service.games.model.game_events import HostingEvent
from service.games.ports import StoreStats
from service.games.store.transactions import Committed
from service.reasons import REASONS
from service.redis.errors import OutcomeUnknown, StorageUnavailable

# Metrics of the store, computed when the metrics are requested. Every process exposes the same values.


class StoreGauges(Collector):
    """The gauges of a store. ``check`` raises ``StorageUnavailable`` or ``OutcomeUnknown`` if the store is unusable."""

    def __init__(self, read: Callable[[], StoreStats], check: Callable[[], None]) -> None:
        self._read = read
        self._check = check

    def describe(self) -> Iterable[Metric]:
        """Return nothing, so that a registration does not read the store."""
        return ()

    def collect(self) -> Iterator[Metric]:
        ready = True
        try:
            stats = self._read()
            self._check()
        except (StorageUnavailable, OutcomeUnknown):
            ready = False
        description = "1 if the process can do its work, 0 if its Redis cannot be used."
        yield GaugeMetricFamily("domino_ready", description, value=float(ready))
        if ready:
            yield from _store_metrics(stats)


def _store_metrics(stats: StoreStats) -> Iterator[Metric]:
    waiting = GaugeMetricFamily("domino_backlog", "Reminders that are due and not taken.", labels=["kind"])
    oldest = GaugeMetricFamily(
        "domino_backlog_age_seconds", "For how long the oldest reminder is due and not taken.", labels=["kind"]
    )
    for kind, backlog in stats.backlogs.items():
        waiting.add_metric([kind], backlog.waiting)
        oldest.add_metric([kind], backlog.oldest)
    yield waiting
    yield oldest
    used, limit = stats.memory
    yield GaugeMetricFamily("domino_store_memory_bytes", "What the fullest server of Redis uses.", value=used)
    yield GaugeMetricFamily("domino_store_memory_limit_bytes", "The most that it may use, 0: no limit.", value=limit)


PROMETHEUS_TEXT: Final = CONTENT_TYPE_PLAIN_0_0_4

_REQUEST_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 3.0)
MOVE_ROUTE: Final = "/v1/games/<game>/moves"
LIMITS: Final = ("create", "read", "failure", "seat", "token", "presence", "app", "app_games")
"""The names of the rate limits (``service.web.rate_limits``)."""
_REDIS_SECONDS: Final = (0.00025, 0.0005, 0.001, 0.0025, 0.01, 0.1, 1.0)


class Metrics:
    """The metrics of one process.

    ``streams`` and ``streams_limit`` are the gauges of open streams and of their maximum.
    """

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self._registry = CollectorRegistry() if registry is None else registry
        counter = partial(Counter, registry=self._registry)
        histogram = partial(Histogram, registry=self._registry)
        gauge = partial(Gauge, registry=self._registry, multiprocess_mode="livemostrecent")
        self._requests = counter("domino_http_requests_total", "HTTP requests.", ["method", "route", "status"])
        self._durations = histogram(
            "domino_http_request_duration_seconds",
            "Seconds until the response; for a stream, until its end.",
            ["method", "route"],
            buckets=_REQUEST_SECONDS,
        )
        self._moves = counter("domino_moves_total", "Moves made.", ["variant"])
        self._transitions = counter(
            "domino_game_status_transitions_total", "Changes of the status of games, by the new status.", ["status"]
        )
        self._redis = histogram(
            "domino_redis_command_duration_seconds",
            "Seconds until the reply of Redis.",
            ["operation"],
            buckets=_REDIS_SECONDS,
        )
        self._failed_writes = counter(
            "domino_store_write_errors_total",
            "Writes that the store refused or did not confirm, checks for readiness included.",
            ["reason"],
        )
        ahead = "By how much the clock of Redis is ahead of that of this machine."
        self.clock_offset = gauge("domino_clock_offset_seconds", ahead)
        postponed = "For how long deadlines are postponed yet after an outage."
        self.outage_allowance = gauge("domino_outage_allowance_seconds", postponed)
        refused = "Refused requests, by the code and the reason of the problem."
        self._problems = counter("domino_problems_total", refused, ["code", "reason"])
        self._build = gauge("domino_build_info", "The version that runs; always 1.", ["version"])
        self.limited = counter("domino_rate_limited_total", "Requests that a rate limit refused.", ["limit"])
        self.streams = gauge("domino_open_streams", "Open streams.", multiprocess_mode="livesum")
        most = "The most streams that may be open."
        self.streams_limit = gauge("domino_open_streams_limit", most, multiprocess_mode="livesum")
        self._store_gauges: Collector | None = None
        # The labelled metrics by their labels: the library's lookup takes longer than counting.
        self._by_request: dict[tuple[str, str, int], tuple[Callable[[], None], Callable[[float], None]]] = {}
        self._operations: dict[str, Callable[[float], None]] = {}
        self._variants: dict[str, Callable[[], None]] = {}
        self._show_zeros()

    def _show_zeros(self) -> None:
        """Expose counters that are still 0: Prometheus sees no increase if a series begins with its first event."""
        self._build.labels(version("domino-service")).set(1)
        for reason, code in REASONS.items():
            self._problems.labels(code, reason)
        for variant in variants():
            self._moves.labels(variant)
        for status in get_args(GameStatus):
            self._transitions.labels(status)
        for limit in LIMITS:
            self.limited.labels(limit)
        # Only the requests that alerts and the dashboard use.
        self._requests.labels("POST", MOVE_ROUTE, "201")
        self._durations.labels("POST", MOVE_ROUTE)
        for operation in ("read", "commit"):
            self._redis.labels(operation)

    def failed_writes(self, reasons: Iterable[str]) -> Callable[[str], None]:
        """Return a function that counts a failed write by its reason, after exposing the counters of these as 0."""
        for reason in reasons:
            self._failed_writes.labels(reason)
        return lambda reason: self._failed_writes.labels(reason).inc()

    def problem(self, reason: str) -> None:
        """Count a request that was refused for this reason."""
        self._problems.labels(REASONS[reason], reason).inc()

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that has ended; ``route`` is the template of its route."""
        metrics = self._by_request.get((method, route, status))
        if metrics is None:
            count = self._requests.labels(method, route, str(status)).inc
            metrics = self._by_request[method, route, status] = count, self._durations.labels(method, route).observe
        add, observe = metrics
        add()
        observe(seconds)

    def redis(self, operation: str, seconds: float) -> None:
        """Observe the duration of a Redis command, including failed ones."""
        observe = self._operations.get(operation)
        if observe is None:
            observe = self._operations[operation] = self._redis.labels(operation).observe
        observe(seconds)

    def write_committed(self, committed: Committed) -> None:
        """Count the change of status and the move of a committed write, if it has them.

        A write is a move if its first event belongs to the match; an event that its player came back can precede it.
        """
        game = committed.after
        if game.status != committed.status_before:
            self._transitions.labels(game.status).inc()
        events = committed.events
        if isinstance(events[1 if type(events[0]) is Returned and len(events) > 1 else 0], HostingEvent):
            return
        variant = game.variant.key
        add = self._variants.get(variant)
        if add is None:
            add = self._variants[variant] = self._moves.labels(variant).inc
        add()

    def show_store(self, gauges: StoreGauges) -> None:
        self._store_gauges = gauges
        self._registry.register(gauges)

    def text(self) -> bytes:
        """Return all metrics in the format of Prometheus; the media type is ``PROMETHEUS_TEXT``."""
        if not values.ValueClass._multiprocess:  # noqa: SLF001 # the library has no public attribute for it
            return generate_latest(self._registry)
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        if self._store_gauges is not None:
            registry.register(self._store_gauges)
        return generate_latest(registry)
