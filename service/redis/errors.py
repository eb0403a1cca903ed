"""The faults of a store that its callers may meet, and what is logged of its troubles."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from time import monotonic
from typing import Final

AGAIN_SECONDS: Final = 60.0
"""Seconds within which the same trouble is not logged again."""

_log = logging.getLogger(__name__)


class StoreFault(Exception):
    """``reason`` is a word for the log, never for the client; ``retry_after`` is in whole seconds."""

    def __init__(self, reason: str, retry_after: int = 1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after


OVERLOADED: Final = "pool"
"""The reason where all connections of the process are in use."""


class StorageUnavailable(StoreFault):
    """The store cannot answer now (unreachable, loading, full, read-only) or was not asked; nothing has changed."""


class OutcomeUnknown(StoreFault):
    """A write was sent without an answer, or reached too few replicas: it may or may not be committed, now or later."""


@dataclass
class _Trouble:
    reason: str
    logged_at: float
    is_over: bool = False


class Troubles:
    """Logs each trouble with a server when it begins, when it has another reason, and when it is over."""

    def __init__(self) -> None:
        self._known: dict[str, _Trouble] = {}

    def begin(self, what: str, reason: object) -> None:
        """Note a trouble, for the log alone: no client learns the reason."""
        text, now, known = " ".join(str(reason).split())[:300], monotonic(), self._known.get(what)
        if known is not None and known.reason == text and (not known.is_over or now - known.logged_at < AGAIN_SECONDS):
            return
        self._known[what] = _Trouble(text, now)
        _log.warning("%s: %s", what, text)

    def end(self, what: str) -> None:
        """Note that there is no such trouble."""
        known = self._known.get(what)
        if known is not None and not known.is_over:
            known.is_over = True
            _log.info("this is over: %s", what)


TROUBLES: Final = Troubles()
"""Those of this process."""
