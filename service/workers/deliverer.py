"""The deliverer: takes the reminders of endpoints, and delivers to each under its lease.

Owns how many endpoints have their turn at a time, and that what was begun is ended before the process is.
"""

from __future__ import annotations

from threading import Event
from typing import Final

from service.games.reminders import TakenReminder
from service.workers.consumer import Consumer, ConsumerSettings, Next, Queue, Spawn
from service.workers.endpoint_lease import LEASE_MS, EndpointLease, LeaseContext

SETTINGS: Final = ConsumerSettings(
    kind="webhooks",
    lease_ms=LEASE_MS,
    batch=500,
    most=500,
    look_seconds=(0.05, 0.25),
    look_growth=1.1,
    failure="messages could not be delivered to an endpoint",
)
MOST_ATTEMPTS: Final = 500
"""Attempts that run at a time in a process."""


class Deliverer(Consumer):
    """Delivers to the endpoints of a store."""

    def __init__(self, context: LeaseContext, queue: Queue, spawn: Spawn) -> None:
        super().__init__(SETTINGS, queue, spawn)
        self._context = context
        self._stop = Event()

    def handle(self, taken: TakenReminder) -> Next:
        """Deliver to one endpoint what is due. Who releases its lease has written the next reminder."""
        app, _, name = taken.game.partition(".")
        webhook = self._context.store.read(app, name)
        if webhook is None:
            return "never"
        EndpointLease(self._context, self._stop, webhook, taken.leased).deliver()
        return "written"

    def close(self) -> None:
        """Begin no more attempts, wait for those under way, and give the endpoints back."""
        self._stop.set()
        with self._changed:
            self._changed.wait_for(lambda: not self._under_way)
