"""The scheduler: leases the reminders of games with a deadline, and commits what is due.

A deadline is read from the game and compared with the clock of the store, never with that of this machine.
"""

from __future__ import annotations

import logging
from typing import Final

from service.games.automation.due import Automation
from service.games.model.errors import StaleVersion
from service.games.model.game_events import Freed, Reminded
from service.games.ports import TRACE
from service.games.reminders import LeasedReminder
from service.games.store.transactions import Committed
from service.workers.consumer import Consumer, ConsumerSettings, Next, Queue

_log = logging.getLogger(__name__)

_FRESH_MS: Final = 1000  # an older reading of the clock may miss an outage, which defers deadlines
SETTINGS: Final = ConsumerSettings(
    "clock", 10_000, 32, (0.25, 0.25), "a deadline could not be handled", fresh_ms=_FRESH_MS
)


class Scheduler(Consumer):
    """Handles deadlines that have passed."""

    def __init__(self, automation: Automation, queue: Queue) -> None:
        super().__init__(SETTINGS, queue, spawn=None)
        self._automation = automation

    def handle(self, reminder: LeasedReminder) -> Next:
        """Apply what is due in a game. If nothing is, return when the reminder is due again."""
        TRACE.set("")
        try:
            result = self._automation.time_out(reminder.game, reminder.reading)
        except StaleVersion:
            return "written"  # another write came first, and has set the next reminder
        if result is None:
            return "never"
        if not isinstance(result, Committed):
            self._metrics.deferred.inc()  # the deadline would have passed, but an outage has deferred it
            return result
        then = consequence_of(result)
        self._metrics.time_outs.labels(then).inc()
        if result.after.trace:
            TRACE.set(result.after.trace)
            _log.info("deadline", extra={"fields": {"then": then, "version": result.after.version}})
        return "written"


def consequence_of(committed: Committed) -> str:
    """Return what followed from a deadline, as metrics and log lines name it."""
    first, clock = committed.events[0], committed.after.clock
    if isinstance(first, Freed):
        return "free"
    if committed.status_before == "waiting":
        return "fill"
    if isinstance(first, Reminded):
        return "remind"
    return "deal" if clock is None or committed.status_before == "round_over" else clock.absence
