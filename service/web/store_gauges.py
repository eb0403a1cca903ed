"""Metrics that every process shows of the store it uses: the same ones, found when somebody asks for the metrics.

Owns their names. Where Redis does not answer they are left out, except for the one that says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from service.games.figures import Figures
from service.games.ports import OutcomeUnknown, StorageUnavailable


class StoreGauges(Collector):
    """The gauges of a store; ``check`` raises ``StorageUnavailable`` or ``OutcomeUnknown`` if it cannot be used."""

    def __init__(self, read: Callable[[], Figures], check: Callable[[], None]) -> None:
        self._read = read
        self._check = check

    def describe(self) -> Iterable[Metric]:
        """Nothing, so that the store is not asked at the start."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield the gauges now."""
        ready = True
        try:
            figures = self._read()
            self._check()
        except (StorageUnavailable, OutcomeUnknown):
            ready = False
        said = "1 if the process can do its work, 0 if its Redis cannot be used."
        yield GaugeMetricFamily("domino_ready", said, value=float(ready))
        if ready:
            yield from _shown(figures)


def _shown(figures: Figures) -> Iterator[Metric]:
    waiting = GaugeMetricFamily("domino_backlog", "Reminders that are due and not taken.", labels=["kind"])
    oldest = GaugeMetricFamily(
        "domino_backlog_age_seconds", "For how long the oldest reminder is due and not taken.", labels=["kind"]
    )
    for kind, backlog in figures.backlogs.items():
        waiting.add_metric([kind], backlog.waiting)
        oldest.add_metric([kind], backlog.oldest)
    yield waiting
    yield oldest
    used, limit = figures.memory
    yield GaugeMetricFamily("domino_store_memory_bytes", "What the fullest server of Redis uses.", value=used)
    yield GaugeMetricFamily("domino_store_memory_limit_bytes", "The most that it may use, 0: no limit.", value=limit)
