"""The applications of a store, behind one value: who they are, and what each may know of its games.

Owns which parts there are.
"""

from __future__ import annotations

from service.backends.index.feed import Feeds
from service.backends.index.listing import Listing, People
from service.backends.keys import Backends, StoredBytes
from service.backends.webhooks.endpoints import Webhooks


class BackendsFacade:
    """The applications of a store: ``keys`` are who they are by which key, ``webhooks`` their endpoints.

    ``listing`` are the lists of their games, ``feed`` what has happened in them, ``people`` who sits there. With
    ``needed_for_games``, only applications create games; ``stored`` counts what applications store beside games.
    """

    def __init__(
        self,
        keys: Backends,
        webhooks: Webhooks,
        listing: Listing,
        feed: Feeds,
        *,
        people: People,
        needed_for_games: bool,
        stored: StoredBytes,
    ) -> None:
        self.keys = keys
        self.webhooks = webhooks
        self.listing = listing
        self.feed = feed
        self.people = people
        self.needed_for_games = needed_for_games
        self.stored = stored

    def delete(self, app: str) -> None:
        """Delete an application and its endpoints: its games go on, but belong to nobody who could show them.

        What the index knows of them expires with them. Raises ``NotFound``; if it fails, it can be called again.
        """
        self.webhooks.delete_all(app)
        self.keys.delete(app)
