"""One object with all services for applications; it counts the bytes that they store in addition to games."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar

from service.backends.index.feed import Feeds
from service.backends.index.listing import Listing, People
from service.backends.keys import Backends
from service.backends.webhooks.endpoints import Webhooks
from service.games.model.views import CommandResult
from service.limits.stored_bytes import Shares, ShareUsedUp, Tenant
from service.redis.errors import OutcomeUnknown

ENDPOINT_BYTES: Final = 1_200
"""Bytes of an endpoint without its URL, with its reminder and the idempotency record of its creation."""
REQUEST_BYTES: Final = 500
"""Bytes of a further key, or of a requested message, with the idempotency record."""

T = TypeVar("T")


class BackendsFacade(NamedTuple):
    """The services for the applications of a store.

    ``keys``: applications and their keys.
    ``webhooks``: their endpoints.
    ``listing``: the lists of their games.
    ``feed``: the events of their games.
    ``people``: the players of their games.
    ``needed_for_games``: whether only applications can create games.
    ``shares``: what each of them may store.
    """

    keys: Backends
    webhooks: Webhooks
    listing: Listing
    feed: Feeds
    people: People
    needed_for_games: bool
    shares: Shares

    def delete(self, app: str) -> None:
        """Delete an application and its endpoints. Its games go on without an owner.

        The index entries of the games expire with the games. Raises ``NotFound``. Can be called again after an error.
        """
        self.webhooks.delete_all(app)
        self.keys.delete(app)

    def store(
        self, app: str, size: int, store: Callable[[], CommandResult[T]], is_repeated: Callable[[], bool]
    ) -> CommandResult[T]:
        """Call ``store`` and count its ``size`` bytes for the application, unless it fails or replays an answer.

        ``is_repeated`` returns whether the request is a repetition, which is allowed when the share is used up. It is
        called only then. Raises ``ShareUsedUp``, and what ``store`` and ``is_repeated`` raise.
        """
        tenant = Tenant(app, is_app=True)
        try:
            self.shares.charge(tenant, size)
        except ShareUsedUp:
            if not is_repeated():
                raise
            return store()
        try:
            result = store()
        except OutcomeUnknown:  # it may be stored, so it stays counted
            raise
        except Exception:
            self.shares.count(tenant, -size)
            raise
        if result.replayed:
            self.shares.count(tenant, -size)
        return result
