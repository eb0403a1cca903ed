"""The messenger: publishes games, delivers messages, and erases people.

Only the process with the lease of an endpoint delivers to it, many messages at a time. Owns the number and the rate of
attempts, and when a lease is renewed and released. Does not depend on the content of messages
(``service.backends.webhooks.deliveries``), nor on how a failure changes an endpoint
(``service.backends.webhooks.endpoint_states``). Works in threads and, where the standard library is patched, with
gevent.
"""

from __future__ import annotations

import logging
import queue
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from threading import Event
from time import monotonic
from typing import Final, NamedTuple

from service.backends.erasures import Erasures
from service.backends.outbox import Outbox
from service.backends.values import DueGame, Webhook
from service.backends.webhooks import endpoint_states
from service.backends.webhooks.deliveries import Deliveries, Outcome
from service.backends.webhooks.store import RedisWebhooks
from service.games.ports import TimeSource, Unreadable
from service.games.reminders import LeasedReminder
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.workers.consumer import Consumer, ConsumerSettings, Next, Queue, Spawn
from service.workers.metrics import WorkerMetrics, lag_seconds

LEASE_MS: Final = 30_000
RENEW_SECONDS: Final = 5.0
"""Seconds between two renewals of a lease."""
SAFE_SECONDS: Final = 19.0
"""Seconds after a renewal during which attempts can begin. A later one could last longer than the lease."""
REREAD_SECONDS: Final = 1.0
"""Seconds after which an endpoint is read again while messages are delivered to it, as it may have been changed."""
POLL_SECONDS: Final = 0.1
"""Seconds between two polls for due games while attempts are in flight."""
MAX_PER_ENDPOINT: Final = 16
"""Attempts to an endpoint that run at a time."""
PER_SECOND: Final = 50
"""Attempts to an endpoint that begin in a second."""
READ_AHEAD: Final = 64
"""Games of an endpoint that are read at a time."""
ALL_GAMES: Final = 1 << 53
"""A time at which every game is due: the largest that Redis, which stores times as doubles, stores exactly."""
RETRY_MS: Final = 1000
"""Milliseconds until an endpoint is due again after a fault of the store."""

_log = logging.getLogger(__name__)


class LeaseContext(NamedTuple):
    """The dependencies of all leases.

    ``clock``: the clock of the store.
    ``jitter``: returns numbers from 0 to 1.
    ``game_ttl``: milliseconds without a write after which a game expires.
    ``begin_attempt``: runs an attempt concurrently; it waits while the maximum of attempts runs.
    """

    store: RedisWebhooks
    deliveries: Deliveries
    metrics: WorkerMetrics
    clock: TimeSource
    jitter: Callable[[], float]
    game_ttl: int
    begin_attempt: Spawn


class EndpointLease:
    """The lease of an endpoint, kept while messages are due, unless ``stop`` is set.

    ``leased``: the score of the reminder during the lease.
    ``due``: the games that are due, as they were read with the endpoint.
    """

    def __init__(
        self, context: LeaseContext, stop: Event, webhook: Webhook, leased: float, *, due: Sequence[DueGame]
    ) -> None:
        self._context = context
        self._stop = stop
        self._webhook: Webhook | None = webhook
        self._leased: float | None = leased
        self._renewed_at = monotonic()
        self._read_at = self._renewed_at + REREAD_SECONDS
        self._is_over = False
        self._storage_failed = False
        self._ready: deque[DueGame] = deque()
        self._poll_at = 0.0
        self._send_at = 0.0
        self._in_flight: set[str] = set()
        self._ended: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        """Functions that process the results of attempts which have ended."""
        if webhook.status != "failing":  # a failing one may be probed with a deferred game, which is not in ``due``
            self._add_due(due, READ_AHEAD)

    def deliver(self) -> None:
        """Deliver messages until none is due or the lease is lost."""
        try:
            while (webhook := self._renew()) is not None:
                self._deliver_next(webhook)
        except (StorageUnavailable, OutcomeUnknown):
            self._storage_failed = True
        finally:
            self._is_over = True
            while self._in_flight:
                with suppress(StorageUnavailable, OutcomeUnknown):
                    self._ended.get()()
        if self._storage_failed and self._webhook is not None and self._leased is not None:
            with suppress(StorageUnavailable, OutcomeUnknown):
                at = self._context.clock() + RETRY_MS
                self._context.store.release(self._webhook, self._leased, at, games=True)

    def _may_send(self) -> bool:
        """Return whether another message may be sent: the process is not stopping, and the lease has not ended."""
        return not self._is_over and not self._stop.is_set() and monotonic() < self._renewed_at + SAFE_SECONDS

    def _renew(self) -> Webhook | None:
        """Renew the lease and read the endpoint again, if it is time. Return the endpoint; ``None`` if one is gone."""
        webhook, leased = self._webhook, self._leased
        if webhook is None or leased is None or self._storage_failed:
            return None
        now = monotonic()
        if now >= self._renewed_at + RENEW_SECONDS:
            self._leased = self._context.store.renew(webhook, leased, LEASE_MS)
            self._renewed_at = now
        if now >= self._read_at:
            self._reread(webhook)
        return None if self._leased is None else self._webhook

    def _release(self, webhook: Webhook, at: int | None, *, games: bool = False) -> None:
        """Release the lease as ``RedisWebhooks.release`` does. While attempts are in flight, wait for one instead."""
        assert self._leased is not None
        if self._in_flight:
            self._wait()
        else:
            self._context.store.release(webhook, self._leased, at, games=games)
            self._leased = None

    def _deliver_next(self, webhook: Webhook) -> None:
        """Do the next step for the endpoint, depending on its state."""
        context, now = self._context, self._context.clock()
        if self._stop.is_set():
            self._release(webhook, now)
        elif webhook.is_verified and webhook.requested:
            self._send_requested(webhook)
        elif webhook.status == "unverified":
            self._challenge(webhook, now)
        elif webhook.status == "disabled":
            context.store.forget(webhook, now - context.game_ttl)
            self._release(webhook, None)
        elif now < webhook.paused_until:
            # A failing endpoint is probed at the end of its pause, even if no game is due then.
            self._release(webhook, webhook.paused_until, games=webhook.status != "failing")
        else:
            limit = 1 if webhook.status == "failing" else MAX_PER_ENDPOINT
            self._begin_attempts(webhook, now, limit)
            if self._in_flight or self._ready:
                self._wait(limit)
            else:
                self._release(webhook, webhook.paused_until, games=True)

    def _send_requested(self, webhook: Webhook) -> None:
        """Send the first requested message, and remove it from the requested ones."""
        requested = webhook.requested[0]
        self._context.deliveries.send_requested(webhook, requested)
        self._change(
            lambda stored: stored._replace(requested=tuple([other for other in stored.requested if other != requested]))
        )

    def _challenge(self, webhook: Webhook, now: int) -> None:
        context = self._context
        if webhook.failures >= endpoint_states.MAX_CHALLENGES:
            self._release(webhook, None)
        elif now < webhook.paused_until:
            self._release(webhook, webhook.paused_until)
        else:
            answered = context.deliveries.challenge(webhook)
            challenged = webhook.url, webhook.status
            self._change(
                lambda stored: (
                    endpoint_states.challenged(stored, context.clock(), context.jitter(), answered=answered)
                    if (stored.url, stored.status) == challenged
                    else stored
                )
            )

    def _begin_attempts(self, webhook: Webhook, now: int, limit: int) -> None:
        """Begin attempts until ``limit`` run, as fast as allowed.

        A failing endpoint is also probed with a deferred game. Otherwise its recovery could go unnoticed for hours.
        """
        probe = webhook.status == "failing"
        if len(self._in_flight) >= limit:
            return
        if not self._ready and monotonic() >= self._poll_at:
            ahead = READ_AHEAD + len(self._in_flight)
            self._add_due(self._context.store.due(webhook, ALL_GAMES if probe else now, ahead), ahead)
        while self._ready and len(self._in_flight) < limit and monotonic() >= self._send_at:
            self._send_at = max(self._send_at + 1 / PER_SECOND, monotonic())
            due = self._ready.popleft()
            self._in_flight.add(due.game)
            self._context.begin_attempt(partial(self._attempt, webhook, due, probe=probe))
        if probe:
            self._ready.clear()

    def _add_due(self, due: Sequence[DueGame], limit: int) -> None:
        self._ready.extend(reminder for reminder in due if reminder.game not in self._in_flight)
        # A full page may not be all: read the next one without a pause.
        self._poll_at = 0.0 if len(due) == limit else monotonic() + POLL_SECONDS

    def _attempt(self, webhook: Webhook, due: DueGame, *, probe: bool) -> None:
        """Notify the endpoint of a game. Runs in its own thread or greenlet."""
        context = self._context
        outcome: Outcome | Exception
        try:
            context.metrics.delivery_lags.observe(lag_seconds(context.clock() - due.at))
            outcome = context.deliveries.deliver(webhook, due, probe=probe, may_send=self._may_send)
        except Exception as error:
            outcome = error
        self._ended.put(partial(self._end_attempt, due, outcome, probe=probe))

    def _wait(self, limit: int = 0) -> None:
        """Wait for an attempt to end, and process the results of all that have ended.

        If fewer than ``limit`` attempts run, wait only until the next one may begin.
        """
        pause = POLL_SECONDS
        if self._ready and len(self._in_flight) < limit:
            pause = min(pause, max(self._send_at - monotonic(), 0.0))
        with suppress(queue.Empty):
            end = self._ended.get(timeout=pause) if pause else self._ended.get_nowait()
            while True:
                end()
                end = self._ended.get_nowait()

    def _end_attempt(self, due: DueGame, outcome: Outcome | Exception, *, probe: bool) -> None:
        context = self._context
        self._in_flight.discard(due.game)
        if isinstance(outcome, Outcome):
            if outcome.delivered:
                self._change(endpoint_states.succeeded)
            if outcome.failed:
                now, jitter = context.clock(), context.jitter()
                self._change(
                    lambda stored: endpoint_states.failed(
                        stored, now, jitter, probe=probe, retry_after=outcome.retry_after, gone=outcome.gone
                    )
                )
        elif isinstance(outcome, StorageUnavailable | OutcomeUnknown) and not isinstance(outcome, Unreadable):
            self._storage_failed = True
        else:
            context.metrics.failures.labels("webhooks").inc()
            _log.error("the messages of a game could not be made", exc_info=outcome)
            if self._webhook is not None:
                context.deliveries.defer(self._webhook, due)

    def _change(self, change: Callable[[Webhook], Webhook]) -> None:
        """Change the endpoint in the store. If it was changed there, read it and try again."""
        while self._webhook is not None:
            before, after = self._webhook, change(self._webhook)
            if before == after or self._context.store.replace(before, after):
                self._webhook = after
                if before.status != after.status:
                    self._context.metrics.endpoints.labels(after.status).inc()
                    _log.info("endpoint %s is %s now", after.id, after.status)
                return
            self._reread(before)

    def _reread(self, webhook: Webhook) -> None:
        self._webhook = self._context.store.read(webhook.app, webhook.id)
        self._read_at = monotonic() + REREAD_SECONDS


# The deliverer: leases the reminders of endpoints, and delivers messages to them.


_UNDELIVERED: Final = "messages could not be delivered to an endpoint"
DELIVERY_SETTINGS: Final = ConsumerSettings("webhooks", LEASE_MS, 500, (0.25, 0.25), _UNDELIVERED, max_in_flight=500)
"""Polls are rare, because this loop is woken when an endpoint may have become due."""
MAX_ATTEMPTS: Final = 500
"""Attempts that run at a time in a process."""


class Deliverer(Consumer):
    """Delivers messages to the endpoints of a store.

    ``wake``: is called when a lease has ended, as more messages may have become due after its last look.
    """

    def __init__(self, context: LeaseContext, queue: Queue, spawn: Spawn, wake: Callable[[], None]) -> None:
        super().__init__(DELIVERY_SETTINGS, queue, spawn)
        self._context = context
        self._wake = wake
        self._stop = Event()

    def handle(self, reminder: LeasedReminder) -> Next:
        """Deliver the due messages of an endpoint. ``EndpointLease`` sets the next reminder when it ends."""
        app, _, name = reminder.game.partition(".")
        webhook, due = self._context.store.read_with_due(app, name, self._clock(), READ_AHEAD)
        if webhook is None:
            return "never"
        EndpointLease(self._context, self._stop, webhook, reminder.leased, due=due).deliver()
        self._wake()
        return "written"

    def close(self) -> None:
        """Stop: begin no more attempts, wait for those in flight, and release all leases."""
        self._stop.set()
        with self._changed:
            self._changed.wait_for(lambda: not self._leased)
        self._reschedule_handled()


# The outbox worker: leases the reminders of games with unpublished events, and publishes these.


OUTBOX_SETTINGS: Final = ConsumerSettings(
    "outbox", 30_000, 128, (0.05, 0.25), "an application could not be notified of a game", poll_growth=1.1
)


class OutboxWorker(Consumer):
    """Publishes games to their applications.

    ``spawn``: runs a publication concurrently; it waits while the maximum of publications runs.
    ``wake``: is called when an endpoint has become due.
    """

    def __init__(self, outbox: Outbox, queue: Queue, spawn: Spawn, wake: Callable[[], None]) -> None:
        super().__init__(OUTBOX_SETTINGS, queue, spawn)
        self._outbox = outbox
        self._wake = wake

    def handle(self, reminder: LeasedReminder) -> Next:
        published = self._outbox.publish(reminder.tenant, reminder.game)
        if published.published_at is not None:
            self._metrics.outbox_lags.observe(lag_seconds(self._clock() - published.published_at))
        if published.due:
            self._wake()
        return "never" if published.again is None else published.again


# The erasure worker: leases the reminders of applications with pending erasures, and carries out a part of these.


ERASURE_SETTINGS: Final = ConsumerSettings(
    "erasures", 30_000, 4, (0.0, 0.5), "people of an application could not be erased"
)


class ErasureWorker(Consumer):
    """Erases people of applications."""

    def __init__(self, erasures: Erasures, queue: Queue) -> None:
        super().__init__(ERASURE_SETTINGS, queue, spawn=None)
        self._erasures = erasures

    def handle(self, reminder: LeasedReminder) -> Next:
        """Carry out a part of the erasures of an application. If some remain, it is due again after all others."""
        return self._clock() if self._erasures.advance(reminder.game) else "never"
