"""A look at where things are, in the background: one at a time, however many ask for it.

Owns when to look, not at what. Works with threads, and with greenlets where gevent has patched them.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

PAUSE = 0.2
"""Seconds between two looks: an outage makes every call ask for one."""

_log = logging.getLogger(__name__)


class BackgroundRefresh:
    """Runs ``look`` when asked to; what it raises is a line in the log, for the next call will ask again."""

    def __init__(self, look: Callable[[], None]) -> None:
        self._look = look
        self._state = threading.Condition()
        self._wanted = False
        self._running = False
        self._looks = 0

    def request(self) -> None:
        """Look once from now on; returns at once."""
        with self._state:
            self._wanted = True
            if self._running:
                return
            self._running = True
        threading.Thread(target=self._run, daemon=True).start()

    def wait(self, seconds: float) -> None:
        """Wait until a look is over, but no longer than that."""
        with self._state:
            looks = self._looks
        self.request()
        with self._state:
            self._state.wait_for(lambda: self._looks != looks, seconds)

    def _run(self) -> None:
        while True:
            with self._state:
                if not self._wanted:
                    self._running = False
                    return
                self._wanted = False
            try:
                self._look()
            except Exception:
                _log.exception("where the servers are cannot be found out")
            with self._state:
                self._looks += 1
                self._state.notify_all()
            time.sleep(PAUSE)
