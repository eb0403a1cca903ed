"""The applications of a store: who they are, and what each may know of its games."""

from __future__ import annotations

from service.backends.index.feed import Feeds
from service.backends.index.listing import Listing
from service.backends.index.people import People
from service.backends.keys import Applications
from service.backends.ports import ApplicationStore
from service.backends.webhooks.endpoints import CheckUrl, Webhooks
from service.backends.webhooks.ports import WebhookStore
from service.games.ports import Clock, RandomBytes, StorageUnavailable
from service.games.store.idempotency import Idempotency


class ApplicationService:
    """The applications of a store.

    With ``open_to_all``, anybody may register an application over HTTP; ``needed_for_games``: only applications create
    games. ``check_player_url`` refuses URLs at which no player is asked, without looking up a host. ``listing`` are the
    lists of their games, ``feed`` what has happened in them, ``people`` who sits there; empty ones if left out.
    ``webhooks`` are their endpoints, and ``check_endpoint_url`` refuses URLs to which nothing is sent.
    """

    def __init__(
        self,
        store: ApplicationStore,
        *,
        clock: Clock,
        random_bytes: RandomBytes,
        idempotency: Idempotency,
        open_to_all: bool = False,
        needed_for_games: bool = False,
        check_player_url: CheckUrl = lambda _: None,
        listing: Listing | None = None,
        webhooks: WebhookStore | None = None,
        check_endpoint_url: CheckUrl = lambda _: None,
        feed: Feeds | None = None,
        people: People | None = None,
    ) -> None:
        self.applications = Applications(store, clock=clock, random_bytes=random_bytes, idempotency=idempotency)
        self.open_to_all = open_to_all
        self.needed_for_games = needed_for_games
        self.check_player_url = check_player_url
        self.listing = listing or Listing()
        self.feed = feed or Feeds(None, None, clock)
        self.people = people or People()
        self._webhooks = (
            None
            if webhooks is None
            else Webhooks(
                webhooks,
                check_url=check_endpoint_url,
                clock=clock,
                random_bytes=random_bytes,
                idempotency=idempotency,
            )
        )

    def delete(self, app: str) -> None:
        """Delete an application and its endpoints: its games go on, but belong to nobody who could show them.

        What the index knows of them expires with them. Raises ``NotFound``; if it fails, it can be called again.
        """
        if self._webhooks is not None:
            self._webhooks.delete_all(app)
        self.applications.delete(app)

    @property
    def webhooks(self) -> Webhooks:
        """The endpoints of the applications. Raises ``StorageUnavailable`` where none are kept."""
        if self._webhooks is None:
            raise StorageUnavailable("no webhooks")
        return self._webhooks
