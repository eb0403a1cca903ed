"""The main loop of a process that takes reminders: until a signal stops it, and through times without storage.

Owns the signals, the pauses and what is logged about the storage.
"""

from __future__ import annotations

import logging
import queue
import signal
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from types import FrameType
from typing import Final, Protocol

from service.games.ports import StorageUnavailable

FIRST_PAUSE_SECONDS: Final = 0.1
LONGEST_PAUSE_SECONDS: Final = 2.0
"""The longest pause between two attempts while the storage is away."""
WARN_SECONDS: Final = 60.0
"""While the storage is away, that is logged again after so long."""

_log = logging.getLogger(__name__)


STUCK_SECONDS: Final = 60.0
"""A step that takes longer does not end any more."""


class Control(Protocol):
    """What a loop asks whether it is to go on, and waits with."""

    @property
    def requested(self) -> bool:
        """Whether the loop is to end."""

    def note_step(self) -> None:
        """Note that a step has ended."""

    def wait(self, seconds: float) -> None:
        """Wait for so long, or until something ends the wait."""


class Stop:
    """Whether the process is to end, which SIGTERM and SIGINT request; and whether it still does its work."""

    def __init__(self) -> None:
        self.requested = False
        self._stepped_at = monotonic()
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()  # may be used in a handler, as a lock may not

    def install(self) -> None:
        """Install the signal handlers; only in the main thread."""
        for sign in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sign, self._on_signal)

    def request(self) -> None:
        """Have the process end soon."""
        self.requested = True
        self._wake.put(None)

    def note_step(self) -> None:
        self._stepped_at = monotonic()

    def is_alive(self) -> bool:
        """Return whether a step has ended lately, also a failed one."""
        return monotonic() - self._stepped_at < STUCK_SECONDS

    def wait(self, seconds: float) -> None:
        if seconds > 0 and not self.requested:
            with suppress(queue.Empty):
                self._wake.get(timeout=seconds)

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
            pause = outage.note(error)
        else:
            outage.end()
        stop.note_step()
        stop.wait(pause)


class _Outage:
    """A time without storage: its pauses, and a line in the log when it begins, each minute, and when it is over."""

    def __init__(self) -> None:
        self._pause = FIRST_PAUSE_SECONDS
        self._warned_at: float | None = None

    def note(self, error: StorageUnavailable) -> float:
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
