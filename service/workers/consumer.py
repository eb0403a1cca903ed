"""The loops of every process that does what is due: one takes reminders of one kind, and has each handled.

Owns how a process begins and ends, how often it looks, how many are handled at a time, and what becomes of a reminder:
after a fault of the store it is due again as soon as the store suggests, after any other error with growing delays.
Does not depend on what is done.
"""

from __future__ import annotations

import logging
import queue
import signal
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Container, Iterable
from contextlib import suppress
from functools import partial
from threading import Condition
from time import monotonic
from types import FrameType
from typing import Final, Literal, NamedTuple

from service.bounded_cache import BoundedCache
from service.games.model.errors import Gone, NotFound
from service.games.ports import TimeSource
from service.games.reminders import NOT_OF_GAMES, LeasedReminder, ReminderKind, ReminderQueue
from service.limits.in_flight import room_of
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.workers.metrics import WorkerMetrics

LONGEST_DELAY_MS: Final = 60_000
"""The longest time for which a game is deferred after errors in a row: 1 s, 2 s, 4 s … 60 s."""
MAX_FAILING: Final = 1000
"""Games whose errors are counted; of more, the one that failed longest ago is forgotten."""

Next = int | Literal["never", "written", "held"]
"""What becomes of a reminder that was handled: it is due again at a time (milliseconds since 1970), or never.

``written``: a write has replaced it. ``in_flight``: more is to be done while it is leased.
"""

Spawn = Callable[[Callable[[], None]], object]
"""Begins work that does not raise, beside all else: in a greenlet or a thread."""

_log = logging.getLogger(__name__)


class ConsumerSettings(NamedTuple):
    """The settings of a consumer of one ``kind`` of reminders. Durations in milliseconds, but for ``poll_seconds``.

    ``batch``: how many it leases at once; ``most``: how many it handles at a time.
    ``poll_seconds``: the shortest pause between two polls, after one that found a reminder, and the longest.
    ``poll_growth``: the factor by which the pause grows with each poll in vain; 0 s becomes the longest pause at once.
    ``failure``: the log line for a reminder that could not be handled.
    ``fresh_ms``: the age of a lease after which a reminder is put back, to be leased again with what is true then.
    """

    kind: ReminderKind
    lease_ms: int
    batch: int
    poll_seconds: tuple[float, float]
    failure: str
    poll_growth: float = 1.0
    most: int = 1_000_000
    fresh_ms: int | None = None


class Queue(NamedTuple):
    """Where reminders are taken, by the clock of the store, and counted."""

    reminders: ReminderQueue
    clock: TimeSource
    metrics: WorkerMetrics


class Consumer(ABC):
    """Handles the reminders of one kind, beside each other by ``spawn``, or one after the other without it."""

    def __init__(self, settings: ConsumerSettings, queue: Queue, spawn: Spawn | None) -> None:
        self._settings = settings
        self._reminders, self._clock, self._metrics = queue
        self._spawn = spawn
        self._pause = settings.poll_seconds[0]
        self._failures = BoundedCache[str, int](MAX_FAILING)
        self._under_way: dict[str, LeasedReminder] = {}
        self._changed = Condition()

    @abstractmethod
    def handle(self, reminder: LeasedReminder) -> Next:
        """Do what is due, and say what becomes of the reminder.

        May raise anything: after ``NotFound`` and ``Gone`` the reminder is removed, after ``StorageUnavailable`` and
        ``OutcomeUnknown`` its game is looked at again when the error says so, after any other error ever later.
        """

    def step(self) -> float:
        """Poll once for reminders, and handle them, or begin to; returns the seconds until the next poll.

        Raises ``StorageUnavailable`` if no reminder can be taken.
        """
        kind, lease, batch, (shortest, longest), *_ = self._settings
        in_flight = Counter([reminder.tenant for reminder in self._counted()] if self._under_way else ())
        total, most = in_flight.total(), self._settings.most
        limit = min(batch, most - total)
        shared = None if kind in NOT_OF_GAMES else lambda tenant: room_of(in_flight[tenant], total, most)
        reminders = self._reminders.take(kind, limit, lease, shared) if limit > 0 else []
        if not reminders:
            self._pause = min(self._pause * self._settings.poll_growth or longest, longest)
            return self._pause
        self._pause = shortest
        now, fresh = self._clock(), self._settings.fresh_ms
        for reminder in reminders:
            self._metrics.count_taken(kind, now - reminder.due)
            if self._spawn is None:
                if fresh is None or reminder is reminders[0] or self._clock() - now <= fresh:
                    self.finish(reminder, self.handle)
                else:
                    self._reschedule(reminder, reminder.due)
            else:
                with self._changed:
                    self._under_way[reminder.game] = reminder
                self._spawn(partial(self._handle_beside, reminder))
        return 0.0 if len(reminders) == limit else self._pause

    def close(self) -> None:
        """Give back what is under way, as far as the storage can be reached; another process does it once more."""
        with self._changed:
            under_way = list(self._under_way.values())
        with suppress(StorageUnavailable):
            for reminder in under_way:
                self._reminders.reschedule(self._settings.kind, reminder, self._clock())

    def forget(self, games: Container[str]) -> None:
        """Drop what is under way in these games."""
        self._under_way = {game: reminder for game, reminder in self._under_way.items() if game not in games}

    def renewed(self, reminder: LeasedReminder, safe_ms: int) -> LeasedReminder | None:
        """Return the reminder with a lease of so many milliseconds at least.

        ``None`` if it was written or taken meanwhile.

        Raises ``StorageUnavailable``; then the game is taken again when its lease has ended.
        """
        if reminder.leased - self._clock() >= safe_ms:
            return reminder
        self._under_way.pop(reminder.game, None)
        return self._reminders.renew(self._settings.kind, reminder, self._settings.lease_ms)

    def _handle_beside(self, reminder: LeasedReminder) -> None:
        try:
            self.finish(reminder, self.handle)
        finally:
            with self._changed:
                if self._under_way.get(reminder.game) is reminder:
                    del self._under_way[reminder.game]
                    self._changed.notify_all()

    def finish(self, reminder: LeasedReminder, handle: Callable[[LeasedReminder], Next]) -> None:
        """Handle a reminder, and have its game looked at again when that is due.

        If the storage is away, the lease ends by itself.
        """
        game = reminder.game
        if self._spawn is None:
            self._under_way.pop(game, None)
        after: Next
        try:
            after = handle(reminder)
        except (NotFound, Gone):
            after = "never"
        except (StorageUnavailable, OutcomeUnknown) as error:
            self._reschedule(reminder, self._clock() + 1000 * error.retry_after)
            return
        except Exception:
            self._metrics.count_failure(self._settings.kind)
            _log.exception(self._settings.failure, extra=self._log_fields())
            self._reschedule(reminder, self._clock() + self._count_failure(game))
            return
        if after == "held":
            self._under_way[game] = reminder
            return
        if self._failures.get(game):
            self._failures.pop(game)
        if after != "written":
            self._reschedule(reminder, None if after == "never" else after)

    def _counted(self) -> Iterable[LeasedReminder]:
        """Return what counts in ``most``: all that is under way."""
        return list(self._under_way.values())

    def _log_fields(self) -> dict[str, object] | None:
        """Return what the log says, beside the error, of what has just failed."""
        return None

    def _reschedule(self, reminder: LeasedReminder, at: int | None) -> None:
        with suppress(StorageUnavailable, OutcomeUnknown):
            self._reminders.reschedule(self._settings.kind, reminder, at)

    def _count_failure(self, game: str) -> int:
        """Count an error; returns for how many milliseconds the game is deferred."""
        count = (self._failures.get(game) or 0) + 1
        self._failures.put(game, count)
        return int(min(1000 << min(count - 1, 6), LONGEST_DELAY_MS))


# The main loop of a process that takes reminders: until a signal stops it, and through times without storage.


FIRST_PAUSE_SECONDS: Final = 0.1
LONGEST_PAUSE_SECONDS: Final = 2.0
"""The longest pause between two attempts while the storage is away."""
WARN_SECONDS: Final = 60.0
"""Seconds after which it is logged again that the storage is away."""


STUCK_SECONDS: Final = 60.0
"""A step that takes longer does not end any more."""


class Control:
    """Says whether a loop is to go on and whether it still does its work, and lets it wait."""

    def __init__(self) -> None:
        self.requested = False
        """Whether the loop is to end."""
        self._stepped_at = monotonic()
        self._wakes: queue.SimpleQueue[None] = queue.SimpleQueue()  # may be used in a handler, as a lock may not

    def request(self) -> None:
        """Have the loop end soon."""
        self.requested = True
        self.wake()

    def wake(self) -> None:
        """Have the next step follow at once."""
        if self._wakes.empty():
            self._wakes.put(None)

    def record_step(self) -> None:
        """Note that a step has ended."""
        self._stepped_at = monotonic()

    def is_alive(self) -> bool:
        """Return whether a step has ended lately, also a failed one."""
        return monotonic() - self._stepped_at < STUCK_SECONDS

    def wait(self, seconds: float) -> None:
        """Wait these seconds, or until something ends the wait."""
        if not self.requested:
            with suppress(queue.Empty):
                self._wakes.get(timeout=max(seconds, 0.0))


class Stop(Control):
    """The control of the main loop of a process, which SIGTERM and SIGINT ask to end."""

    def install(self) -> None:
        """Install the signal handlers; only in the main thread."""
        for sign in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sign, self._on_signal)

    def _on_signal(self, _sign: int, _frame: FrameType | None) -> None:
        self.request()


def run(step: Callable[[], float], stop: Control) -> None:
    """Call ``step`` until a stop is requested; it returns after how many seconds it is to be called again.

    After a ``StorageUnavailable`` it is called again after pauses that grow.
    """
    outage = _Outage()
    while not stop.requested:
        try:
            pause = step()
        except StorageUnavailable as error:
            pause = outage.record(error)
        else:
            outage.end()
        stop.record_step()
        stop.wait(pause)


class _Outage:
    """A time without storage: its pauses, and a line in the log when it begins, each minute, and when it is over."""

    def __init__(self) -> None:
        self._pause = FIRST_PAUSE_SECONDS
        self._warned_at: float | None = None

    def record(self, error: StorageUnavailable) -> float:
        """Note another failure; returns the seconds until the next attempt."""
        now = monotonic()
        if self._warned_at is None or now - self._warned_at >= WARN_SECONDS:
            self._warned_at = now
            _log.warning("storage unavailable: %s", error.reason)
        pause = self._pause
        self._pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
        return pause

    def end(self) -> None:
        """Begin anew, as the storage has answered."""
        if self._warned_at is not None:
            _log.info("storage available again")
            self._warned_at = None
            self._pause = FIRST_PAUSE_SECONDS
