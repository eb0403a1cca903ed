"""The outbox worker: takes the reminders of games that are to be published to their application, and publishes.

Owns what becomes of a reminder then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from service.backends.index.outbox import Outbox
from service.games.reminders import TakenReminder
from service.workers.consumer import Consumer, ConsumerSettings, Next, Queue, Spawn

SETTINGS: Final = ConsumerSettings(
    kind="outbox",
    lease_ms=30_000,
    batch=128,
    look_seconds=(0.05, 0.25),
    look_growth=1.1,
    failure="an application could not be notified of a game",
)


class OutboxWorker(Consumer):
    """Publishes games to their applications; ``wake`` is called when an endpoint was made due.

    ``spawn`` waits while as many are under way as may be.
    """

    def __init__(self, outbox: Outbox, queue: Queue, spawn: Spawn, wake: Callable[[], None]) -> None:
        super().__init__(SETTINGS, queue, spawn)
        self._outbox = outbox
        self._wake = wake

    def handle(self, taken: TakenReminder) -> Next:
        """Publish one game."""
        published = self._outbox.publish(taken.game)
        if published.published_at is not None:
            self._metrics.count_publication(self._clock() - published.published_at)
        if published.due:
            self._wake()
        return "never" if published.again is None else published.again
