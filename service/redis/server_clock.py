"""The clock of a process, corrected if it differs from the clock of the store.

Many processes compute deadlines, and the clock of the store decides when they have passed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic, time_ns
from typing import Final

from service.redis.background_refresh import BackgroundRefresh
from service.redis.errors import StorageUnavailable

TOLERATED_MS: Final = 250
"""The largest difference that is not corrected, in milliseconds."""

MEASURE_SECONDS: Final = 60
"""Seconds after which the difference is measured again."""
REPEAT_SECONDS: Final = 1
"""Seconds from a measurement that took too long to the next one."""

_log = logging.getLogger(__name__)


def system_clock() -> int:
    """Return the milliseconds since 1970 by the clock of the operating system."""
    return time_ns() // 1_000_000


class ServerClock:
    """Returns the milliseconds since 1970 by the ``local`` clock, corrected if it differs from ``server_time``.

    ``local`` returns nanoseconds, ``server_time`` milliseconds.

    The difference is measured in the background: on first use, then every minute while the clock is used, and at once
    when the local clock was set. That is detected by the monotonic clock (``elapsed``); until the measurement, the time
    continues as if the local clock had not been set. A measurement that fails or takes too long changes nothing; one
    that took too long is repeated after a second.

    ``observe``: is called with each difference in seconds, positive if the server is ahead.
    """

    def __init__(
        self,
        server_time: Callable[[], int],
        *,
        local: Callable[[], int] = time_ns,
        observe: Callable[[float], None],
        elapsed: Callable[[], float] = monotonic,
    ) -> None:
        self._server_time = server_time
        self._local = local
        self._observe = observe
        self._elapsed = elapsed
        self._correction = 0
        self._offset = local() // 1_000_000 - round(elapsed() * 1000)
        """The difference between the local and the monotonic clock, which changes when the local clock is set."""
        self._logged = 0
        self._next = 0.0
        """When to begin the next measurement, by ``elapsed``."""
        self._refresh = BackgroundRefresh(self.measure)

    def __call__(self) -> int:
        now, local = self._elapsed(), self._local() // 1_000_000
        if now >= self._next:
            self.start_measurement()
        offset = local - round(now * 1000)
        step, self._offset = offset - self._offset, offset
        if abs(step) > TOLERATED_MS:
            self._correction -= step
            self.start_measurement()
        return local + self._correction

    def start_measurement(self) -> None:
        """Start a measurement of the difference in the background."""
        self._next = self._elapsed() + MEASURE_SECONDS
        self._refresh.request()

    def measure(self) -> None:
        """Measure the difference, and set the correction."""
        began, sent = self._elapsed(), self._local() // 1_000_000
        self._next = began + MEASURE_SECONDS
        try:
            server = self._server_time()
        except StorageUnavailable:
            return
        took = (self._elapsed() - began) * 1000
        if took > TOLERATED_MS:
            self._next = self._elapsed() + REPEAT_SECONDS
            return
        # Assume that the server has answered in the middle of the call; the error is at most half of its duration.
        difference = server - sent - round(took / 2)
        self._observe(difference / 1000)
        self._offset = sent - round(began * 1000)
        self._correction = difference if abs(difference) > TOLERATED_MS else 0
        self._log_change()

    def _log_change(self) -> None:
        """Log the correction if it has changed by more than ``TOLERATED_MS`` since it was logged last."""
        logged, correction = self._logged, self._correction
        if abs(correction - logged) <= TOLERATED_MS and bool(correction) == bool(logged):
            return
        self._logged = correction
        if correction:
            seconds = abs(correction) / 1000
            order = "behind" if correction > 0 else "ahead of"
            _log.warning("the clock of this machine is %.3f s %s that of Redis, and is corrected", seconds, order)
        else:
            _log.info("the clock of this machine agrees with that of Redis again")
