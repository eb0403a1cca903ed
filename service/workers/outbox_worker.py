"""The outbox worker: takes the reminders of games that their application has not been told of, and follows them.

Owns when it looks. Does not depend on what is told (``service.backends.index.outbox``), nor on how many games are
followed at a time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol

from service.backends.index.outbox import Outbox
from service.games.ports import Clock, OutcomeUnknown, ReminderQueue, StorageUnavailable, TakenReminder
from service.workers.failures import Failures
from service.workers.look_pause import LookPause
from service.workers.metrics import WorkerMetrics

LEASE_MS: Final = 30_000
BATCH: Final = 128
"""Reminders taken at a time."""
LOOK_SECONDS: Final = (0.05, 0.25)
"""Seconds between two looks for reminders while there are none: just after one was found, and a while after."""
LOOK_GROWTH: Final = 1.1
"""By this factor the pause grows with each look."""
_log = logging.getLogger(__name__)


class Crew(Protocol):
    """Does several things at a time, as ``gevent.pool.Pool`` does."""

    def spawn(self, work: Callable[[TakenReminder], None], taken: TakenReminder, /) -> object:
        """Begin one; waits while as many are under way as may be."""


class OutboxWorker:
    """Tells applications what has happened in their games; ``clock`` is that of the store.

    ``due`` is called when an endpoint was made due.
    """

    def __init__(
        self,
        outbox: Outbox,
        reminders: ReminderQueue,
        metrics: WorkerMetrics,
        clock: Clock,
        *,
        crew: Crew,
        due: Callable[[], None] = lambda: None,
    ) -> None:
        self._outbox = outbox
        self._reminders = reminders
        self._metrics = metrics
        self._clock = clock
        self._crew = crew
        self._due = due
        self._failures = Failures()
        self._look_pause = LookPause(LOOK_SECONDS, LOOK_GROWTH)

    def step(self) -> float:
        """Look once for games; returns the seconds until the next look.

        Raises ``StorageUnavailable`` if no reminder can be taken.
        """
        taken = self._reminders.take("outbox", BATCH, LEASE_MS)
        now = self._clock()
        for each in taken:
            self._metrics.taken("outbox", now - each.due)
            self._crew.spawn(self._follow, each)
        pause = self._look_pause.found() if taken else self._look_pause.nothing()
        return 0.0 if taken and len(taken) == BATCH else pause

    def _follow(self, taken: TakenReminder) -> None:
        """Follow one game."""
        game = taken.game
        try:
            followed = self._outbox.follow(game)
        except (StorageUnavailable, OutcomeUnknown) as error:
            self._finish(taken, self._clock() + 1000 * error.retry_after)
        except Exception:
            self._metrics.failed("outbox")
            _log.exception("an application could not be told of a game")
            self._finish(taken, self._clock() + self._failures.add(game))
        else:
            self._failures.clear(game)
            if followed.told is not None:
                self._metrics.followed(self._clock() - followed.told)
            if followed.due:
                self._due()
            self._finish(taken, followed.again)

    def _finish(self, taken: TakenReminder, at: int | None) -> None:
        """Have the game looked at again at that time, or never. If the storage is away, its lease ends by itself."""
        with suppress(StorageUnavailable):
            self._reminders.reschedule("outbox", taken.game, taken.leased, at)
