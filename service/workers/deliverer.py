"""The deliverer: takes endpoints that are due, and delivers to each what there is, many messages at a time.

Owns the lease of an endpoint, so that one process at a time delivers to it, how many attempts run at a time, and how
fast they follow each other. Does not depend on what is delivered (``service.backends.webhooks.deliveries``), nor on
what a failure makes of an endpoint (``service.backends.webhooks.endpoint_states``). Works in threads and, where the
standard library is patched, with gevent.
"""

from __future__ import annotations

import logging
import queue
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Final, NamedTuple

from service.backends.ports import DueGame, Webhook, WebhookStore
from service.backends.webhooks import endpoint_states
from service.backends.webhooks.deliveries import Deliveries, Outcome
from service.games.ports import Clock, OutcomeUnknown, ReminderQueue, StorageUnavailable, TakenReminder, WrittenByNewer
from service.workers.look_pause import LookPause
from service.workers.metrics import WorkerMetrics

LEASE_MS: Final = 30_000
RENEW_SECONDS: Final = 5.0
"""A lease is renewed so often."""
SAFE_SECONDS: Final = 19.0
"""So long after a lease was renewed, no attempt begins that could last longer than the lease."""
LOOK_SECONDS: Final = (0.05, 0.25)
"""Seconds between two looks for reminders: just after one was found, and a while after."""
LOOK_GROWTH: Final = 1.1
"""By this factor the pause grows with each look."""
REREAD_SECONDS: Final = 1.0
"""For so long a change of an endpoint may go unnoticed while messages are delivered to it."""
POLL_SECONDS: Final = 0.1
"""Seconds after which games are looked for again while attempts are under way."""
MOST_ENDPOINTS: Final = 500
MOST_IN_FLIGHT: Final = 500
MOST_PER_ENDPOINT: Final = 16
"""Attempts that run at a time: in all, and to one endpoint."""
PER_SECOND: Final = 50
"""Attempts to one endpoint in a second."""
READ_AHEAD: Final = 64
"""Games of an endpoint that are read at a time."""
ALL_GAMES: Final = 1 << 53
"""A time at which every game is due. Redis keeps times as doubles, which are exact up to it."""
RETRY_MS: Final = 1000
"""Milliseconds until an endpoint is looked at again for which the storage was away."""

Spawn = Callable[[Callable[[], None]], object]
"""Begins work that must not raise, and returns while it runs: in a thread, or in a greenlet."""

_log = logging.getLogger(__name__)


class Deliverer:
    """Delivers to the endpoints of a store; ``clock`` is that of the store, ``luck`` returns numbers from 0 to 1.

    ``game_ttl`` in milliseconds: after so long without a write a game has expired. ``spawn`` begins the work for an
    endpoint, ``attempt`` one attempt: it waits while ``MOST_IN_FLIGHT`` run.
    """

    def __init__(
        self,
        store: WebhookStore,
        deliveries: Deliveries,
        reminders: ReminderQueue,
        metrics: WorkerMetrics,
        *,
        clock: Clock,
        luck: Callable[[], float],
        game_ttl: int,
        spawn: Spawn,
        attempt: Spawn,
    ) -> None:
        self.store = store
        self.deliveries = deliveries
        self.reminders = reminders
        self.metrics = metrics
        self.clock = clock
        self.luck = luck
        self.game_ttl = game_ttl
        self.attempt = attempt
        self.stopping = False
        self._spawn = spawn
        self._free = MOST_ENDPOINTS
        self._look_pause = LookPause(LOOK_SECONDS, LOOK_GROWTH)
        self._done: queue.SimpleQueue[None] = queue.SimpleQueue()

    def step(self) -> float:
        """Look once for endpoints that are due; returns the seconds until the next look.

        Raises ``StorageUnavailable`` if no reminder can be taken.
        """
        with suppress(queue.Empty):
            while True:
                self._done.get_nowait()
                self._free += 1
        if not self._free:
            return LOOK_SECONDS[0]
        taken = self.reminders.take("webhooks", self._free, LEASE_MS)
        now = self.clock()
        for each in taken:
            self.metrics.taken("webhooks", now - each.due)
            self._free -= 1
            self._spawn(partial(self._work, each))
        return self._look_pause.found() if taken else self._look_pause.nothing()

    def close(self) -> None:
        """Begin no more attempts, wait for those under way, and give the endpoints back."""
        self.stopping = True
        while self._free < MOST_ENDPOINTS:
            self._done.get()
            self._free += 1

    def _work(self, taken: TakenReminder) -> None:
        """Deliver to one endpoint what is due."""
        app, _, name = taken.game.partition(".")
        try:
            with self.deliveries.slots:
                webhook = self.store.read(app, name)
            if webhook is None:
                with self.deliveries.slots:
                    self.reminders.reschedule("webhooks", taken.game, taken.leased, None)
            else:
                Turn(self, webhook, taken.leased).run()
        except (StorageUnavailable, OutcomeUnknown):
            with suppress(StorageUnavailable), self.deliveries.slots:
                self.reminders.reschedule("webhooks", taken.game, taken.leased, self.clock() + RETRY_MS)
        except Exception:
            self.metrics.failed("webhooks")
            _log.exception("messages could not be delivered to endpoint %s", name)
        finally:
            self._done.put(None)


class _Ended(NamedTuple):
    """An attempt to tell an endpoint of a game, with its outcome, or the error that ended it."""

    due: DueGame
    outcome: Outcome | None
    error: Exception | None
    probe: bool


class Turn:
    """The turn of one endpoint: as long as there is something to deliver, and the lease is renewed."""

    def __init__(self, deliverer: Deliverer, webhook: Webhook, leased: float) -> None:
        self._of = deliverer
        self._webhook: Webhook | None = webhook
        self._leased: float | None = leased
        self._renewed_at = monotonic()
        self._is_over = False
        self._storage_failed = False
        self._read_at = monotonic() + REREAD_SECONDS
        self._send_at = 0.0
        self._ready: deque[DueGame] = deque()
        self._look_at = 0.0
        self._in_flight: set[str] = set()
        self._ended: queue.SimpleQueue[_Ended] = queue.SimpleQueue()

    def run(self) -> None:
        """Deliver until nothing is due, or somebody else has the lease."""
        try:
            while self._keep() and self._step():
                pass
        except (StorageUnavailable, OutcomeUnknown):
            self._storage_failed = True
        finally:
            self._is_over = True
            while self._in_flight:
                with suppress(StorageUnavailable, OutcomeUnknown):
                    self._account(self._ended.get())
        if self._storage_failed and self._webhook is not None and self._leased is not None:
            with suppress(StorageUnavailable, OutcomeUnknown), self._of.deliveries.slots:
                self._of.store.release(self._webhook, self._leased, self._of.clock() + RETRY_MS, games=True)

    def _goes_on(self) -> bool:
        """Whether another message may be sent: not after a pause of this process in which the lease may have ended."""
        return not self._is_over and not self._of.stopping and monotonic() < self._renewed_at + SAFE_SECONDS

    def _keep(self) -> bool:
        """Renew the lease and read the endpoint again, each in its time; whether this turn goes on."""
        of, webhook, now = self._of, self._webhook, monotonic()
        if webhook is None or self._leased is None or self._storage_failed:
            return False
        if now >= self._renewed_at + RENEW_SECONDS:
            with of.deliveries.slots:
                self._leased = of.store.renew(webhook, self._leased, LEASE_MS)
            self._renewed_at = now
        if now >= self._read_at:
            self._reread()
        return self._leased is not None and self._webhook is not None

    def _step(self) -> bool:
        """Do the next thing for the endpoint; whether there may be more."""
        of, webhook = self._of, self._webhook
        assert webhook is not None
        now = of.clock()
        if of.stopping:
            return self._end(now)
        if webhook.is_verified and webhook.asked:
            asked = webhook.asked[0]
            of.deliveries.send_asked(webhook, asked)
            self._change(lambda each: each._replace(asked=tuple([other for other in each.asked if other != asked])))
            return True
        match webhook.status:
            case "unverified":
                return self._challenge(webhook, now)
            case "disabled":
                with of.deliveries.slots:
                    of.store.forget(webhook, now - of.game_ttl)
                return self._end(None)
        if now < webhook.paused_until:
            # A failing endpoint is probed then, whenever the games are due that wait for it.
            return self._end(webhook.paused_until, games=webhook.status != "failing")
        self._begin_attempts(webhook, now)
        if not self._in_flight and not self._ready:
            return self._end(webhook.paused_until, games=True)
        return self._wait(_most_attempts(webhook))

    def _challenge(self, webhook: Webhook, now: int) -> bool:
        """Send a challenge if one is due; whether there is more to do."""
        of = self._of
        if webhook.failures >= endpoint_states.MOST_CHALLENGES:
            return self._end(None)
        if now < webhook.paused_until:
            return self._end(webhook.paused_until)
        answered = of.deliveries.challenge(webhook)
        asked = webhook.url, webhook.status
        self._change(
            lambda each: (
                endpoint_states.challenged(each, of.clock(), of.luck(), answered=answered)
                if (each.url, each.status) == asked
                else each
            )
        )
        return True

    def _begin_attempts(self, webhook: Webhook, now: int) -> None:
        """Begin as many attempts as may run now: to a failing endpoint one, also of a game that is not due yet.

        A game that was put off for hours is no reason not to see that its endpoint is back.
        """
        of, probe = self._of, webhook.status == "failing"
        limit = _most_attempts(webhook)
        if len(self._in_flight) >= limit:
            return
        if not self._ready and monotonic() >= self._look_at:
            limit_of_look = READ_AHEAD + len(self._in_flight)
            with of.deliveries.slots:
                due = of.store.due(webhook, ALL_GAMES if probe else now, limit_of_look)
            self._ready.extend(each for each in due if each.game not in self._in_flight)
            # If these are all, whoever releases the endpoint finds what has become due meanwhile.
            self._look_at = 0.0 if len(due) == limit_of_look else monotonic() + POLL_SECONDS
        while self._ready and len(self._in_flight) < limit and monotonic() >= self._send_at:
            self._send_at = max(self._send_at + 1 / PER_SECOND, monotonic())
            due_game = self._ready.popleft()
            self._in_flight.add(due_game.game)
            of.attempt(partial(self._attempt, webhook, due_game, probe=probe))
        if probe:
            self._ready.clear()

    def _attempt(self, webhook: Webhook, due: DueGame, *, probe: bool) -> None:
        """Tell the endpoint of one game, in a thread of its own."""
        of = self._of
        try:
            of.metrics.delivery_begun(of.clock() - due.at)
            ended = _Ended(due, of.deliveries.deliver(webhook, due, probe=probe, goes_on=self._goes_on), None, probe)
        except Exception as error:
            ended = _Ended(due, None, error, probe)
        self._ended.put(ended)

    def _wait(self, limit: int = 0) -> bool:
        """Wait for an attempt to end, and note what has become of it and of others that have ended.

        Where fewer than ``limit`` attempts run, wait no longer than until the next may begin.
        """
        pause = POLL_SECONDS
        if self._ready and len(self._in_flight) < limit:
            pause = min(pause, max(self._send_at - monotonic(), 0.0))
        with suppress(queue.Empty):
            self._account(self._ended.get(timeout=pause) if pause else self._ended.get_nowait())
            while True:
                self._account(self._ended.get_nowait())
        return True

    def _account(self, ended: _Ended) -> None:
        """Note what an attempt has shown of the endpoint."""
        of = self._of
        self._in_flight.discard(ended.due.game)
        unavailable = isinstance(ended.error, StorageUnavailable | OutcomeUnknown)
        if unavailable and not isinstance(ended.error, WrittenByNewer):
            self._storage_failed = True
            return
        if ended.error is not None:
            of.metrics.failed("webhooks")
            _log.error("the messages of a game could not be made", exc_info=ended.error)
            if self._webhook is not None:
                of.deliveries.put_off(self._webhook, ended.due)
            return
        outcome = ended.outcome
        assert outcome is not None
        if outcome.delivered:
            self._change(endpoint_states.succeeded)
        if outcome.failed:
            now, luck = of.clock(), of.luck()
            self._change(
                lambda each: endpoint_states.failed(
                    each, now, luck, probe=ended.probe, retry_after=outcome.retry_after, gone=outcome.gone
                )
            )

    def _change(self, change: Callable[[Webhook], Webhook]) -> None:
        """Change the endpoint as it is in the store."""
        while self._webhook is not None:
            before, after = self._webhook, change(self._webhook)
            if before == after or self._replace(before, after):
                self._webhook = after
                if before.status != after.status:
                    self._of.metrics.endpoint_became(after.status)
                    _log.info("endpoint %s is %s now", after.id, after.status)
                return
            self._reread()

    def _replace(self, before: Webhook, after: Webhook) -> bool:
        with self._of.deliveries.slots:
            return self._of.store.replace(before, after)

    def _reread(self) -> None:
        assert self._webhook is not None
        with self._of.deliveries.slots:
            self._webhook = self._of.store.read(self._webhook.app, self._webhook.id)
        self._read_at = monotonic() + REREAD_SECONDS

    def _end(self, at: int | None, *, games: bool = False) -> bool:
        """Give the lease back; the endpoint has its turn again at that time, or when a game is due."""
        assert self._webhook is not None
        assert self._leased is not None
        if self._in_flight:
            return self._wait()
        with self._of.deliveries.slots:
            self._of.store.release(self._webhook, self._leased, at, games=games)
        return False


def _most_attempts(webhook: Webhook) -> int:
    """How many attempts to an endpoint may run at a time: to a failing one only the probe."""
    return 1 if webhook.status == "failing" else MOST_PER_ENDPOINT
