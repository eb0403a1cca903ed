"""The erasure worker: takes applications with people who are to be erased, and goes on with each of them for a while.

Owns when it looks, and that applications take turns. Does not depend on what erasing is
(``service.backends.erasures``).
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Final

from service.backends.erasures import Erasures
from service.games.ports import Clock, OutcomeUnknown, ReminderQueue, StorageUnavailable, TakenReminder
from service.workers.failures import Failures
from service.workers.metrics import WorkerMetrics

LEASE_MS: Final = 30_000
BATCH: Final = 4
"""Applications taken at a time."""
LOOK_SECONDS: Final = 0.5
"""Seconds between two looks while nobody is to be erased."""

_log = logging.getLogger(__name__)


class ErasureWorker:
    """Erases people of applications; ``clock`` is that of the store."""

    def __init__(self, erasures: Erasures, reminders: ReminderQueue, metrics: WorkerMetrics, clock: Clock) -> None:
        self._erasures = erasures
        self._reminders = reminders
        self._metrics = metrics
        self._clock = clock
        self._failures = Failures()

    def step(self) -> float:
        """Do a part for some applications; returns the seconds until the next step.

        Raises ``StorageUnavailable`` if no reminder can be taken.
        """
        taken = self._reminders.take("erasures", BATCH, LEASE_MS)
        now = self._clock()
        for each in taken:
            self._metrics.taken("erasures", now - each.due)
            self._go_on(each)
        return 0.0 if taken else LOOK_SECONDS

    def _go_on(self, taken: TakenReminder) -> None:
        """Do a part for one application; it is due again behind those that are due already."""
        app = taken.game
        try:
            more = self._erasures.go_on(app)
        except (StorageUnavailable, OutcomeUnknown) as error:
            self._finish(taken, self._clock() + 1000 * error.retry_after)
        except Exception:
            self._metrics.failed("erasures")
            _log.exception("people of an application could not be erased")
            self._finish(taken, self._clock() + self._failures.add(app))
        else:
            self._failures.clear(app)
            self._finish(taken, self._clock() if more else None)

    def _finish(self, taken: TakenReminder, at: int | None) -> None:
        """Have the application looked at again at that time, or never, unless there was a request meanwhile.

        If the storage is away, its lease ends by itself.
        """
        with suppress(StorageUnavailable):
            self._reminders.reschedule("erasures", taken.game, taken.leased, at)
