"""The loop of every background process: it leases reminders of one kind and handles each.

Owns how a process starts and stops, how often it polls, how many reminders it handles at a time, and when a reminder is
due again: after a fault of the store at the time that the store suggests, after any other error with growing delays.
Does not depend on what handling a reminder means.
"""

from __future__ import annotations

import logging
import queue
import signal
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable
from contextlib import suppress
from functools import partial
from threading import Condition
from time import monotonic
from typing import Final, Literal, NamedTuple

from service.bounded_cache import BoundedCache
from service.games.model.errors import Gone, NotFound
from service.games.ports import TimeSource
from service.games.reminders import NOT_OF_GAMES, LeasedReminder, ReminderKind, ReminderQueue, Rescheduled
from service.limits.fair_queue import free_slots
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.workers.metrics import WorkerMetrics, lag_seconds

LONGEST_DELAY_MS: Final = 60_000
"""The longest delay of a game after consecutive errors: 1 s, 2 s, 4 s … 60 s."""
MAX_FAILING: Final = 1000
"""Games whose errors are counted. Beyond that, the game whose last error is the oldest is dropped."""

Next = int | Literal["never", "written", "leased"]
"""When a handled reminder is due again.

A number: at this time, in milliseconds since 1970.
``never``: the reminder is removed.
``written``: a write has replaced the reminder.
``leased``: the reminder stays leased, because there is more to do.
"""

Spawn = Callable[[Callable[[], None]], object]
"""Runs a function that raises nothing in a greenlet or a thread."""

_log = logging.getLogger(__name__)


class ConsumerSettings(NamedTuple):
    """The settings of a consumer.

    ``kind``: the kind of its reminders.
    ``lease_ms``: the length of a lease.
    ``batch``: reminders that it leases at once.
    ``poll_seconds``: the pause after a poll that found a reminder, and the longest pause.
    ``failure``: the log line for a reminder that could not be handled.
    ``poll_growth``: the factor by which the pause grows with each empty poll. A pause of 0 s becomes the longest one.
    ``max_in_flight``: reminders that it handles at a time.
    ``fresh_ms``: the age of a lease after which a reminder is put back, as its reading of the clock may be outdated.
    """

    kind: ReminderKind
    lease_ms: int
    batch: int
    poll_seconds: tuple[float, float]
    failure: str
    poll_growth: float = 1.0
    max_in_flight: int = 1_000_000
    fresh_ms: int | None = None


class Queue(NamedTuple):
    """The queue of reminders, with the clock of the store and the metrics for them."""

    reminders: ReminderQueue
    clock: TimeSource
    metrics: WorkerMetrics


class Consumer(ABC):
    """Handles the reminders of one kind: concurrently with ``spawn``, one after the other without it."""

    def __init__(self, settings: ConsumerSettings, queue: Queue, spawn: Spawn | None) -> None:
        self._settings = settings
        self._reminders, self._clock, self._metrics = queue
        self._spawn = spawn
        self._pause = settings.poll_seconds[0]
        self.failures = BoundedCache[str, int](MAX_FAILING)
        """Consecutive errors, by game."""
        self._leased: dict[str, LeasedReminder] = {}
        self._changed = Condition()
        self._handled: deque[Rescheduled] = deque()
        """Reminders that were handled, until the time at which each is due again is stored."""

    @abstractmethod
    def handle(self, reminder: LeasedReminder) -> Next:
        """Do what a reminder is for, and return when it is due again.

        Can raise any error. After ``NotFound`` and ``Gone`` the reminder is removed. After ``StorageUnavailable`` and
        ``OutcomeUnknown`` it is due again after their ``retry_after``, after any other error with growing delays.
        """

    def step(self) -> float:
        """Poll once for reminders, and handle them or spawn their handling. Return the seconds until the next poll.

        Also store when those are due again whose concurrent handling has ended. Raises ``StorageUnavailable`` if no
        reminder can be leased.
        """
        kind, lease, batch, (shortest, longest), *_ = self._settings
        in_flight = Counter([reminder.tenant for reminder in self._in_flight()] if self._leased else ())
        total, max_in_flight = in_flight.total(), self._settings.max_in_flight
        limit = min(batch, max_in_flight - total)
        # Unless even a tenant to which all in flight belong may lease a whole batch.
        is_limited = kind not in NOT_OF_GAMES and free_slots(total, total, max_in_flight) < limit
        limit_of = (lambda tenant: free_slots(in_flight[tenant], total, max_in_flight)) if is_limited else None
        reminders = self._reminders.take(kind, limit, lease, limit_of) if limit > 0 else []
        longer = min(self._pause * self._settings.poll_growth or longest, longest)
        self._pause = shortest if reminders else longer
        now, fresh = self._clock(), self._settings.fresh_ms
        for reminder in reminders:
            self._metrics.lags.labels(kind).observe(lag_seconds(now - reminder.due))
            if self._spawn is None:
                if fresh is None or reminder is reminders[0] or self._clock() - now <= fresh:
                    self.finish(reminder, partial(self.handle, reminder))
                else:
                    self._reschedule(reminder, reminder.due)
            else:
                with self._changed:
                    self._leased[reminder.game] = reminder
                self._spawn(partial(self._handle_spawned, reminder))
        if self._handled:
            self._reschedule_handled()
        return 0.0 if reminders and len(reminders) == limit else self._pause

    def close(self) -> None:
        """Release all leases, if the store is available, so that other processes handle these reminders."""
        with self._changed:
            reminders = list(self._leased.values())
        self._handled += [(reminder, self._clock()) for reminder in reminders]
        self._reschedule_handled()

    def forget(self, games: Container[str]) -> None:
        """Drop the reminders in flight of these games."""
        self._leased = {game: reminder for game, reminder in self._leased.items() if game not in games}

    def renew(self, reminder: LeasedReminder, safe_ms: int) -> LeasedReminder | None:
        """Return the reminder with at least ``safe_ms`` left of its lease, renewed if necessary.

        Returns ``None`` if the lease was lost: another process has it, or a write has replaced the reminder. Raises
        ``StorageUnavailable``; then the reminder can be leased again when its lease has ended.
        """
        if reminder.leased - self._clock() >= safe_ms:
            return reminder
        self._leased.pop(reminder.game, None)
        return self._reminders.renew(self._settings.kind, reminder, self._settings.lease_ms)

    def _handle_spawned(self, reminder: LeasedReminder) -> None:
        try:
            self.finish(reminder, partial(self.handle, reminder))
        finally:
            with self._changed:
                if self._leased.get(reminder.game) is reminder:
                    del self._leased[reminder.game]
                    self._changed.notify_all()

    def finish(self, reminder: LeasedReminder, handle: Callable[[], Next]) -> None:
        """Handle a reminder, and store when it is due again.

        If the store is unavailable, the reminder is due again at the end of its lease.
        """
        game = reminder.game
        if self._spawn is None:
            self._leased.pop(game, None)
        after: Next
        try:
            after = handle()
        except (NotFound, Gone):
            after = "never"
        except (StorageUnavailable, OutcomeUnknown) as error:
            self._reschedule(reminder, self._clock() + 1000 * error.retry_after)
            return
        except Exception:
            self._metrics.failures.labels(self._settings.kind).inc()
            _log.exception(self._settings.failure, extra=self._log_fields())
            failures = (self.failures.get(game) or 0) + 1
            self.failures.put(game, failures)
            self._reschedule(reminder, self._clock() + min(1000 << min(failures - 1, 6), LONGEST_DELAY_MS))
            return
        if after == "leased":
            self._leased[game] = reminder
            return
        if self.failures.get(game):
            self.failures.pop(game)
        if after != "written":
            self._reschedule(reminder, None if after == "never" else after)

    def _in_flight(self) -> Iterable[LeasedReminder]:
        """Return the reminders that count towards ``max_in_flight``: all that are in flight."""
        return list(self._leased.values())

    def _log_fields(self) -> dict[str, object] | None:
        """Return further fields for the log line of an error."""
        return None

    def _reschedule(self, reminder: LeasedReminder, at: int | None) -> None:
        """Store when a reminder is due again: at once, or after concurrent handling together with others."""
        self._handled.append((reminder, at))
        if self._spawn is None:
            self._reschedule_handled()

    def _reschedule_handled(self) -> None:
        """Store when the handled reminders are due again. Those on an unavailable server are due after their leases."""
        handled = [self._handled.popleft() for _ in range(len(self._handled))]
        with suppress(StorageUnavailable, OutcomeUnknown):
            self._reminders.reschedule(self._settings.kind, handled)


# The main loop of a process: it ends on a signal, and continues through outages of the store.


FIRST_PAUSE_SECONDS: Final = 0.1
"""The pause after the first failed attempt. It doubles with each further one."""
LONGEST_PAUSE_SECONDS: Final = 2.0
"""The longest pause between two attempts while the store is unavailable."""
WARN_SECONDS: Final = 60.0
"""Seconds between two warnings while the store is unavailable."""
STUCK_SECONDS: Final = 60.0
"""Seconds without the end of a step after which a loop counts as stuck."""


class Control:
    """Controls a loop: stops it, wakes it, and tells whether it is alive."""

    def __init__(self) -> None:
        self.requested = False
        """Whether the loop was requested to end."""
        self._stepped_at = monotonic()
        self._wakes: queue.SimpleQueue[None] = queue.SimpleQueue()  # safe in a signal handler, unlike a lock

    def request(self) -> None:
        """Request the end of the loop."""
        self.requested = True
        self.wake()

    def wake(self) -> None:
        """End the current or the next wait."""
        if self._wakes.empty():
            self._wakes.put(None)

    def record_step(self) -> None:
        """Store that a step has ended now."""
        self._stepped_at = monotonic()

    def is_alive(self) -> bool:
        """Return whether a step, even a failed one, has ended in the last ``STUCK_SECONDS``."""
        return monotonic() - self._stepped_at < STUCK_SECONDS

    def install(self) -> None:
        """Make SIGTERM and SIGINT end the loop. Must be called in the main thread."""
        for sign in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sign, lambda _sign, _frame: self.request())

    def wait(self, seconds: float) -> None:
        """Wait for these seconds, or until ``wake`` or ``request`` is called."""
        if not self.requested:
            with suppress(queue.Empty):
                self._wakes.get(timeout=max(seconds, 0.0))


def run(step: Callable[[], float], stop: Control) -> None:
    """Call ``step`` until a stop is requested, and wait in between for the seconds that it returns.

    After a ``StorageUnavailable``, wait for growing pauses instead. Log when an outage begins, each minute, and when it
    ends.
    """
    next_pause = FIRST_PAUSE_SECONDS
    warned_at: float | None = None  # during an outage
    while not stop.requested:
        try:
            pause = step()
        except StorageUnavailable as error:
            now = monotonic()
            if warned_at is None or now - warned_at >= WARN_SECONDS:
                warned_at = now
                _log.warning("storage unavailable: %s", error.reason)
            pause, next_pause = next_pause, min(2 * next_pause, LONGEST_PAUSE_SECONDS)
        else:
            if warned_at is not None:
                _log.info("storage available again")
                warned_at, next_pause = None, FIRST_PAUSE_SECONDS
        stop.record_step()
        stop.wait(pause)
