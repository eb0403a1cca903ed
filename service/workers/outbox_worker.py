"""The outbox worker: takes the reminders of games that their application has not been told of, and follows them.

Does not depend on what is told (``service.backends.index.outbox``), nor on how many games are followed at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from service.backends.index.outbox import Outbox
from service.games.reminders import TakenReminder
from service.workers.consumer import Consumer, Next, Queue, Settings, Spawn

SETTINGS: Final = Settings(
    kind="outbox",
    lease_ms=30_000,
    batch=128,
    look_seconds=(0.05, 0.25),
    look_growth=1.1,
    failure="an application could not be told of a game",
)


class OutboxWorker(Consumer):
    """Tells applications what has happened in their games; ``wake`` is called when an endpoint was made due.

    ``spawn`` waits while as many are under way as may be.
    """

    def __init__(self, outbox: Outbox, queue: Queue, spawn: Spawn, wake: Callable[[], None]) -> None:
        super().__init__(SETTINGS, queue, spawn)
        self._outbox = outbox
        self._wake = wake

    def handle(self, taken: TakenReminder) -> Next:
        """Follow one game."""
        followed = self._outbox.follow(taken.game)
        if followed.told is not None:
            self._metrics.followed(self._clock() - followed.told)
        if followed.due:
            self._wake()
        return "never" if followed.again is None else followed.again
