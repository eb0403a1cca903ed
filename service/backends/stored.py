"""What applications store beside games: their endpoints, keys and the requests that are kept of them.

Owns how many bytes that is; it counts in the share of the application. Does not depend on how much a share is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from service.backends.ports import Backend
from service.games.model.errors import ShareUsedUp
from service.games.ports import OutcomeUnknown
from service.games.shares import Holder, Shares, ShareUsed

ENDPOINT_BYTES: Final = 1_200
"""Bytes of an endpoint beside its URL: with its reminder, and what is kept of the request for it."""
REQUEST_BYTES: Final = 500
"""Bytes of another key, or of a message that is asked for, with what is kept of the request."""


class Answer(Protocol):
    """The answer to a request that stores something; ``replayed`` if an earlier one has stored it."""

    @property
    def replayed(self) -> bool:
        """Whether nothing was stored."""


A = TypeVar("A", bound=Answer)


class StoredBytes:
    """Counts what applications store in ``shares``."""

    def __init__(self, shares: Shares) -> None:
        self._shares = shares

    def store(self, backend: Backend, size: int, store: Callable[[], A], is_repeated: Callable[[], bool]) -> A:
        """Count the bytes of what ``store`` stores, unless it is refused, or an earlier request has stored it.

        ``is_repeated`` is asked only when the share is used up. Raises ``ShareUsedUp``, and what both raise.
        """
        holder = _holder(backend)
        try:
            self._shares.take(holder, size)
        except ShareUsed as error:
            if not is_repeated():
                raise ShareUsedUp(error.retry_after) from None
            return store()
        try:
            answer = store()
        except OutcomeUnknown:  # perhaps it is stored
            raise
        except Exception:
            self._shares.give_back(holder, size)
            raise
        if answer.replayed:
            self._shares.give_back(holder, size)
        return answer

    def limit(self, backend: Backend) -> int | None:
        """Return the bytes that the application may store in a day; ``None`` for any number."""
        return self._shares.limit(_holder(backend))


def _holder(backend: Backend) -> Holder:
    return Holder(backend.id, is_app=True)
