"""The errors that a store raises, and the log of connection troubles."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from time import monotonic
from typing import Final

AGAIN_SECONDS: Final = 60.0
"""Seconds before the same trouble is logged again."""

_log = logging.getLogger(__name__)


class StoreFault(Exception):
    """A fault of the store.

    ``reason``: a word for logs and metrics, which no client receives.
    ``retry_after``: whole seconds after which to try again.
    """

    def __init__(self, reason: str, retry_after: int = 1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after


OVERLOADED: Final = "pool"
"""The reason if all connections of the process are in use."""


class StorageUnavailable(StoreFault):
    """The store cannot execute a command now (unreachable, loading, full, read-only), or the command was not sent.

    Nothing has changed.
    """


class OutcomeUnknown(StoreFault):
    """A write has no answer, or reached too few replicas: it may or may not be committed, now or later."""


@dataclass
class _Trouble:
    reason: str
    logged_at: float
    is_over: bool = False


class Troubles:
    """Logs each trouble with a server when it begins, when its reason changes, and when it ends."""

    def __init__(self) -> None:
        self._troubles: dict[str, _Trouble] = {}

    def begin(self, trouble: str, reason: object) -> None:
        """Record a trouble, and log it if it is new. No client receives the reason."""
        text, now, record = " ".join(str(reason).split())[:300], monotonic(), self._troubles.get(trouble)
        if record and record.reason == text and (not record.is_over or now - record.logged_at < AGAIN_SECONDS):
            return
        self._troubles[trouble] = _Trouble(text, now)
        _log.warning("%s: %s", trouble, text)

    def end(self, trouble: str) -> None:
        """Record that a trouble has ended, if there was one."""
        record = self._troubles.get(trouble)
        if record is not None and not record.is_over:
            record.is_over = True
            _log.info("this is over: %s", trouble)


TROUBLES: Final = Troubles()
"""The troubles of this process."""
