"""The erasure worker: takes applications with people who are to be erased, and goes on with each of them for a while.

Owns that applications take turns.
"""

from __future__ import annotations

from typing import Final

from service.backends.erasures import Erasures
from service.games.reminders import TakenReminder
from service.workers.consumer import Consumer, ConsumerSettings, Next, Queue

SETTINGS: Final = ConsumerSettings(
    kind="erasures",
    lease_ms=30_000,
    batch=4,
    look_seconds=(0.0, 0.5),
    failure="people of an application could not be erased",
)


class ErasureWorker(Consumer):
    """Erases people of applications."""

    def __init__(self, erasures: Erasures, queue: Queue) -> None:
        super().__init__(SETTINGS, queue, spawn=None)
        self._erasures = erasures

    def handle(self, taken: TakenReminder) -> Next:
        """Do a part for one application; it is due again behind those that are due already."""
        return self._clock() if self._erasures.go_on(taken.game) else "never"
