"""Whether games can be written now, found out at most once a second however often it is asked.

Owns how long an answer is valid.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Final

from service.games.ports import StorageUnavailable, TimeSource

VALID_MS: Final = 1000


class Readiness:
    """The readiness of a store, which ``check`` finds out as ``Store.check`` does.

    Of several callers at the same time one asks it, and the others wait for the answer.
    """

    def __init__(self, check: Callable[[], None], clock: TimeSource) -> None:
        self._check_store = check
        self._clock = clock
        self._lock = Lock()
        self._checked_at: int | None = None
        self._failure: tuple[str, int] | None = None

    def require(self) -> None:
        """Raise ``StorageUnavailable`` if games cannot be written, or could not within the last second."""
        with self._lock:
            if self._checked_at is None or not 0 <= self._clock() - self._checked_at < VALID_MS:
                self._failure = self._check()
                self._checked_at = self._clock()
            failure = self._failure
        if failure is not None:
            raise StorageUnavailable(*failure)

    def _check(self) -> tuple[str, int] | None:
        """Ask the store; the reason of a failure, and the seconds after which to try again."""
        try:
            self._check_store()
        except StorageUnavailable as error:
            return error.reason, error.retry_after
        return None
