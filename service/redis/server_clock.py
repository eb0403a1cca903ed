"""The clock of a process, corrected by that of the store where the two differ.

Time limits are computed in many processes and judged by the clock of the store. Owns when the difference is measured,
and from which one on it counts.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic, time_ns
from typing import Final

from service.redis.background_refresh import BackgroundRefresh
from service.redis.errors import StorageUnavailable

TOLERATED_MS: Final = 250
"""The largest difference that is not corrected: milliseconds."""

MEASURE_SECONDS: Final = 60
"""The age from which a measurement is repeated."""

_log = logging.getLogger(__name__)


def system_clock() -> int:
    """Milliseconds since 1970 by the clock of the operating system."""
    return time_ns() // 1_000_000


class ServerClock:
    """Milliseconds since 1970 by the ``local`` clock, corrected where it differs from ``server_time`` by too much.

    The difference is measured at the first use, then every minute in which the clock is used, and at once when somebody
    has set the local clock, which the clock that only runs forward (``elapsed``) tells: until that is measured, the
    time goes on as if nobody had. All this is in the background: no call waits for the server. A measurement that
    fails, or that took so long that it tells nothing, leaves the correction as it is. ``observe`` is called with each
    difference in seconds, positive where the server is ahead.
    """

    def __init__(
        self,
        server_time: Callable[[], int],
        *,
        local: Callable[[], int] = system_clock,
        observe: Callable[[float], None],
        elapsed: Callable[[], float] = monotonic,
    ) -> None:
        self._server_time = server_time
        self._local = local
        self._observe = observe
        self._elapsed = elapsed
        self._correction = 0
        self._offset: int | None = None
        """By how much the local clock is ahead of the one that only runs forward: it changes when somebody sets it."""
        self._logged = 0
        self._measured_at: float | None = None
        self._refresh = BackgroundRefresh(self.measure)

    def __call__(self) -> int:
        """Return the corrected time."""
        now, local = self._elapsed(), self._local()
        if self._measured_at is None or now - self._measured_at >= MEASURE_SECONDS:
            self.start_measurement()
        offset = local - round(now * 1000)
        step = 0 if self._offset is None else offset - self._offset
        self._offset = offset
        if abs(step) > TOLERATED_MS:
            self._correction -= step
            self.start_measurement()
        return local + self._correction

    def start_measurement(self) -> None:
        """Have the difference measured in the background, as at the start of a process."""
        self._measured_at = self._elapsed()
        self._refresh.request()

    def measure(self) -> None:
        """Measure the difference, and correct it from now on."""
        began, sent = self._elapsed(), self._local()
        self._measured_at = began
        try:
            server = self._server_time()
        except StorageUnavailable:
            return
        took = (self._elapsed() - began) * 1000
        if took > TOLERATED_MS:
            return
        # The server answered at some time while the call was under way: in the middle, give or take half of it.
        difference = server - sent - round(took / 2)
        self._observe(difference / 1000)
        self._offset = sent - round(began * 1000)
        self._correction = difference if abs(difference) > TOLERATED_MS else 0
        self._log_change()

    def _log_change(self) -> None:
        """Log the correction if it has changed since it was last logged, by more than what is tolerated."""
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
