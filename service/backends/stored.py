"""What applications store beside games: themselves, their endpoints and the requests that are kept of them.

Owns in whose share that counts: in that of the network of who registers an application, and of who uses one that
anybody could register; else in that of the application. Does not depend on how much a share is.
"""

from __future__ import annotations

from typing import Final

from service.backends.ports import Backend
from service.games.commands.create import network_digest
from service.games.model.errors import ShareUsedUp
from service.games.shares import Holder, Shares, ShareUsed
from service.games.store.idempotency import Idempotency

APPLICATION_BYTES: Final = 900
"""Bytes of an application with a key, and of what is kept of the request for it."""
ENDPOINT_BYTES: Final = 1_200
"""Bytes of an endpoint beside its URL: with its reminder, and what is kept of the request for it."""
REQUEST_BYTES: Final = 500
"""Bytes of another key, or of a message that is asked for, with what is kept of the request."""


class StoredBytes:
    """Counts what applications store in ``shares``."""

    def __init__(self, shares: Shares, idempotency: Idempotency) -> None:
        self._shares = shares
        self._idempotency = idempotency

    def take(self, backend: Backend | None, network: str, size: int) -> None:
        """Count bytes that an application stores, or somebody in this network without one. Raises ``ShareUsedUp``."""
        try:
            self._shares.take(self.holder(backend, network), size)
        except ShareUsed as error:
            raise ShareUsedUp(error.retry_after) from None

    def limit(self, backend: Backend, network: str) -> int | None:
        """The bytes that the application may store in a day; ``None`` for any number."""
        return self._shares.limit(self.holder(backend, network))

    def holder(self, backend: Backend | None, network: str) -> Holder:
        """Whose share it counts in."""
        if backend is not None and not backend.registered:
            return Holder(backend.id, is_app=True)
        return Holder(network_digest(self._idempotency, network))
