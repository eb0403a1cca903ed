"""The faults of a store that its callers may meet."""

from __future__ import annotations

from typing import Final


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
