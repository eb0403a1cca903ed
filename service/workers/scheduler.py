"""The scheduler: takes the reminders of games with a deadline, and lets follow what is due.

Owns when it looks. Whether a time is over is read from the game and judged by the clock of the store, never by that of
this machine. Does not depend on what follows from a deadline.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Final

from service.games.automation.due import Automation
from service.games.model.errors import Gone, NotFound, StaleVersion
from service.games.ports import Clock, OutcomeUnknown, ReminderQueue, StorageUnavailable, TakenReminder
from service.workers.failures import Failures
from service.workers.metrics import WorkerMetrics

LEASE_MS: Final = 10_000
BATCH: Final = 32
"""Reminders taken at a time."""
LOOK_SECONDS: Final = 0.25
"""Seconds between two looks for reminders."""
RETRY_MS: Final = 500
"""Milliseconds until a game is looked at again for which the storage was away."""

_log = logging.getLogger(__name__)


class Scheduler:
    """Lets the consequences of deadlines follow; ``clock`` is that of the store."""

    def __init__(self, automation: Automation, reminders: ReminderQueue, metrics: WorkerMetrics, clock: Clock) -> None:
        self._automation = automation
        self._reminders = reminders
        self._metrics = metrics
        self._clock = clock
        self._failures = Failures()

    def step(self) -> float:
        """Look once for what is due; returns the seconds until the next look.

        Raises ``StorageUnavailable`` if no reminder can be taken.
        """
        taken = self._reminders.take("clock", BATCH, LEASE_MS)
        now = self._clock()
        for each in taken:
            self._metrics.taken("clock", now - each.due)
            self._look(each)
        return 0.0 if len(taken) == BATCH else LOOK_SECONDS

    def _look(self, taken: TakenReminder) -> None:
        """Let what is due in a game follow; if nothing is, set its reminder to when something will be."""
        game = taken.game
        try:
            committed = self._automation.time_out(game)
            if committed is None:
                self._reminders.reschedule("clock", game, taken.leased, self._automation.next_time_out(game))
            else:
                clock = committed.after.clock
                self._metrics.timed_out(
                    "deal" if clock is None or committed.status_before == "round_over" else clock.absence
                )
        except StaleVersion:
            pass  # whoever was first has written the next reminder
        except (NotFound, Gone):
            self._finish(taken, None)
        except (StorageUnavailable, OutcomeUnknown):
            self._finish(taken, self._clock() + RETRY_MS)
        except Exception:
            self._metrics.failed("clock")
            _log.exception("a deadline could not be handled")
            self._finish(taken, self._clock() + self._failures.add(game))
        else:
            self._failures.clear(game)

    def _finish(self, taken: TakenReminder, at: int | None) -> None:
        """Have the game looked at again at that time, or never. If the storage is away, its lease ends by itself."""
        with suppress(StorageUnavailable):
            self._reminders.reschedule("clock", taken.game, taken.leased, at)
