"""The messenger: several loops in one process, each of which sends messages about games.

Owns that they run side by side, end together, and count as alive together. Loops run in threads, which are greenlets in
the process (``service.workers.processes``): they wait for Redis and for the network, and compute little.
"""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from time import monotonic
from typing import Final

from service.workers.loop import STUCK_SECONDS, Stop, run

END_SECONDS: Final = 5.0
"""Seconds that all loops together get to end what they have begun."""

_log = logging.getLogger(__name__)


class Loop:
    """One loop: ``step`` as for ``service.workers.loop.run``, and ``close``, which is called when it has ended."""

    def __init__(self, name: str, step: Callable[[], float], close: Callable[[], None]) -> None:
        self.name = name
        self.step = step
        self.close = close
        self._stop = False
        self._stepped_at = monotonic()
        self._wakes: queue.SimpleQueue[None] = queue.SimpleQueue()

    @property
    def requested(self) -> bool:
        """Whether the loop is to end."""
        return self._stop

    def request(self) -> None:
        """Have the loop end soon."""
        self._stop = True
        self.wake()

    def wake(self) -> None:
        """Have the next step follow at once."""
        if self._wakes.empty():
            self._wakes.put(None)

    def note_step(self) -> None:
        self._stepped_at = monotonic()

    def is_alive(self) -> bool:
        """Return whether a step has ended lately, also a failed one."""
        return monotonic() - self._stepped_at < STUCK_SECONDS

    def wait(self, seconds: float) -> None:
        with suppress(queue.Empty):
            self._wakes.get(timeout=max(seconds, 0.0))


class Messenger:
    """Runs loops until a stop is requested; a fault of one of them ends all, with the exit status 1."""

    def __init__(self, loops: list[Loop], stop: Stop) -> None:
        self._loops = loops
        self._stop = stop
        self._failed = False

    def run(self) -> int:
        """Run the loops; returns the exit status."""
        threads = [Thread(target=self._run, args=(loop,), name=loop.name, daemon=True) for loop in self._loops]
        for thread in threads:
            thread.start()
        while not self._stop.requested:
            if all([loop.is_alive() for loop in self._loops]):
                self._stop.note_step()
            self._stop.wait(1.0)
        for loop in self._loops:
            loop.request()
        until = monotonic() + END_SECONDS
        for thread in threads:
            thread.join(max(until - monotonic(), 0.0))
        return 1 if self._failed else 0

    def _run(self, loop: Loop) -> None:
        try:
            run(loop.step, loop)
            loop.close()
        except Exception:
            _log.exception("the loop %s has failed", loop.name)
            self._failed = True
            self._stop.request()
