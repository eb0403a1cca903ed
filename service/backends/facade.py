"""One object with all services for applications."""

from __future__ import annotations

from typing import NamedTuple

from service.backends.index.feed import Feeds
from service.backends.index.listing import Listing, People
from service.backends.keys import Backends, StoredBytes
from service.backends.webhooks.endpoints import Webhooks


class BackendsFacade(NamedTuple):
    """The services for the applications of a store.

    ``keys``: applications and their keys.
    ``webhooks``: their endpoints.
    ``listing``: the lists of their games.
    ``feed``: the events of their games.
    ``people``: the players of their games.
    ``needed_for_games``: whether only applications can create games.
    ``stored``: counts the bytes that applications store in addition to games.
    """

    keys: Backends
    webhooks: Webhooks
    listing: Listing
    feed: Feeds
    people: People
    needed_for_games: bool
    stored: StoredBytes

    def delete(self, app: str) -> None:
        """Delete an application and its endpoints. Its games go on without an owner.

        The index entries of the games expire with the games. Raises ``NotFound``. Can be called again after an error.
        """
        self.webhooks.delete_all(app)
        self.keys.delete(app)
