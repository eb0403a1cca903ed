"""What is counted for Prometheus.

Owns the names of the metrics and their labels: words of the service, never anything that a client sent. Must not know
who scrapes. With ``PROMETHEUS_MULTIPROC_DIR`` in the environment when the process starts, the processes of one service
count together in that folder, and each answers for all; a process then has one ``Metrics`` at most.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, values
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.multiprocess import MultiProcessCollector

from service.games.game import Created, Joined, TokenChanged
from service.games.repository import Committed

PROMETHEUS_TEXT: Final = CONTENT_TYPE_PLAIN_0_0_4

_REQUEST_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 3.0)
_REDIS_SECONDS: Final = (0.00025, 0.0005, 0.001, 0.0025, 0.01, 0.1, 1.0)


class _Kind(NamedTuple):
    add: Callable[[], None]
    observe: Callable[[float], None]


class Metrics:
    """The counts of one application; ``streams`` is for whoever opens and closes them."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "domino_http_requests_total", "HTTP requests.", ["method", "route", "status"], registry=self._registry
        )
        self._durations = Histogram(
            "domino_http_request_duration_seconds",
            "Seconds to an answer; of a stream, to its end.",
            ["method", "route"],
            buckets=_REQUEST_SECONDS,
            registry=self._registry,
        )
        self._moves = Counter("domino_moves_total", "Moves made.", ["variant"], registry=self._registry)
        self._transitions = Counter(
            "domino_game_status_transitions_total",
            "Changes of the status of games, by the new status.",
            ["status"],
            registry=self._registry,
        )
        self._redis = Histogram(
            "domino_redis_command_duration_seconds",
            "Seconds to an answer of Redis.",
            ["operation"],
            buckets=_REDIS_SECONDS,
            registry=self._registry,
        )
        self.streams = Gauge(
            "domino_open_streams", "Open streams.", multiprocess_mode="livesum", registry=self._registry
        )
        # The children by their labels, as looking one up in its metric costs more than to count.
        self._kinds: dict[tuple[str, str, int], _Kind] = {}
        self._operations: dict[str, Callable[[float], None]] = {}
        self._variants: dict[str, Callable[[], None]] = {}

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request has ended; ``route`` is a template."""
        kind = self._kinds.get((method, route, status))
        if kind is None:
            kind = _Kind(
                self._requests.labels(method, route, str(status)).inc, self._durations.labels(method, route).observe
            )
            self._kinds[method, route, status] = kind
        kind.add()
        kind.observe(seconds)

    def redis(self, operation: str, seconds: float) -> None:
        """Redis has answered, or failed to."""
        observe = self._operations.get(operation)
        if observe is None:
            observe = self._operations[operation] = self._redis.labels(operation).observe
        observe(seconds)

    def write_committed(self, committed: Committed) -> None:
        """A write to a game was committed: a move, if its first event is one of the match."""
        game = committed.after
        if game.status != committed.status_before:
            self._transitions.labels(game.status).inc()
        if isinstance(committed.events[0], Created | Joined | TokenChanged):
            return
        variant = game.variant.key
        add = self._variants.get(variant)
        if add is None:
            add = self._variants[variant] = self._moves.labels(variant).inc
        add()

    def text(self) -> bytes:
        """All of it as Prometheus reads it, of type ``PROMETHEUS_TEXT``."""
        if not values.ValueClass._multiprocess:  # noqa: SLF001 # the library has no better question
            return generate_latest(self._registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)
