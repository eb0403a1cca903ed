"""Runs a discovery in the background, one run at a time for any number of callers.

It runs in a thread, or in a greenlet where gevent has patched threads.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable

PAUSE = 0.2
"""Minimum of seconds between two runs. During an outage, every call requests a run."""

POLL_SECONDS = 1.0
"""Seconds after which a discovery is repeated while the servers are in use, because some changes cause no error."""

FIRST_WAIT = 0.8
"""Seconds for which a call waits while no server is known."""

_log = logging.getLogger(__name__)


class BackgroundRefresh:
    """Runs ``discover`` on request. Errors are only logged, since the next call will request another run."""

    def __init__(self, discover: Callable[[], None]) -> None:
        self._discover = discover
        self._state = threading.Condition()
        self._requested = False
        self._running = False
        self._runs = 0
        self._requested_at = -math.inf
        self.ended_at = -math.inf
        """When the last run ended, in seconds of ``time.monotonic``."""

    def poll(self) -> None:
        """Request a run if the last request was ``POLL_SECONDS`` ago or more. Returns at once."""
        if time.monotonic() - self._requested_at >= POLL_SECONDS:
            self.request()

    def request(self) -> None:
        """Request a run that begins after this call. Returns at once."""
        self._requested_at = time.monotonic()
        with self._state:
            self._requested = True
            if self._running:
                return
            self._running = True
        threading.Thread(target=self._run, daemon=True).start()

    def wait(self) -> None:
        """Request a run, and wait until one has ended, for ``FIRST_WAIT`` at most."""
        with self._state:
            runs = self._runs
        self.request()
        with self._state:
            self._state.wait_for(lambda: self._runs != runs, FIRST_WAIT)

    def _run(self) -> None:
        while True:
            with self._state:
                if not self._requested:
                    self._running = False
                    return
                self._requested = False
            try:
                self._discover()
            except Exception:
                _log.exception("the discovery of the Redis servers failed")
            with self._state:
                self._runs += 1
                self.ended_at = time.monotonic()
                self._state.notify_all()
            time.sleep(PAUSE)
