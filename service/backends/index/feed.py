"""The feed of an application: the events of all its games, page by page or as a stream.

Owns the cursor of a reader, and how often a reader polls: soon after a notification, and every few seconds without one,
as notifications can be lost.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import BoundedSemaphore
from typing import Final, NamedTuple

from service.backends.index.store import RedisFeed
from service.backends.index.summaries import reset_item, shown_item
from service.games.ports import EventFeed, TimeSource
from service.games.queries.follower import Follower, Watch

LATEST: Final = "latest"
"""In place of a cursor: the end of the feed."""
PAGE_SIZE: Final = 100
"""Items in a page, unless the request has another limit."""
POLL_SECONDS: Final = 3.0
"""Seconds between the polls of a reader while no notification comes."""
PAUSE_SECONDS: Final = 0.05
"""Minimum of seconds between two polls of a reader, so that it does not poll for each move of many games."""
READERS_AT_A_TIME: Final = 16
"""Readers of a process that poll at the same time. After an outage, all of them may want to."""


class FeedItems(NamedTuple):
    """A page of a feed.

    ``items``: the cursor and the JSON of each item, as the application receives it.
    ``cursor``: the position after the page.
    ``more``: whether more items follow.
    """

    items: tuple[tuple[str, bytes], ...]
    cursor: str
    more: bool


class Feeds:
    """The feeds in a store; ``notifications`` report new items."""

    def __init__(self, store: RedisFeed, notifications: EventFeed, clock: TimeSource) -> None:
        self._store = store
        self._notifications = notifications
        self._clock = clock
        self._slots = BoundedSemaphore(READERS_AT_A_TIME)

    def page(self, app: str, after: str | None, limit: int = PAGE_SIZE) -> FeedItems:
        """Return at most ``limit`` items after a cursor or ``LATEST``, or from the oldest stored item without one.

        If items after the cursor were dropped, the page has only an item that reports it, and the stored items follow
        on the next page. Raises ``ValueError`` for a text that is no cursor, ``StorageUnavailable``.
        """
        if after == LATEST:
            return FeedItems((), self._store.newest(app), more=False)
        part = self._store.read(app, after, limit + 1)
        if part.lost:
            return FeedItems(((part.cursor, reset_item(part.cursor, self._clock())),), part.cursor, more=True)
        stored = part.items[:limit]
        items = [(item.cursor, shown_item(item.cursor, item.json, part.summaries.get(item.game))) for item in stored]
        return FeedItems(tuple(items), stored[-1].cursor if stored else part.cursor, more=len(part.items) > limit)

    def follow(self, app: str, after: str, limit: int = PAGE_SIZE) -> FeedReader:
        """Return a reader of the items after a cursor, in pages of ``limit``. The caller must close it."""
        read, watch = partial(self.page, app, limit=limit), partial(self._notifications.watch, app)
        return FeedReader(after, read, watch, slots=self._slots)


class FeedReader(Follower[FeedItems]):
    """Reads the items of a feed after a cursor, each once and in order; ``read`` returns the page after a cursor."""

    __slots__ = ("_read", "cursor")

    def __init__(self, after: str, read: Callable[[str], FeedItems], watch: Watch, *, slots: BoundedSemaphore) -> None:
        self.cursor = after
        self._read = read
        super().__init__(watch, slots=slots, poll_seconds=POLL_SECONDS, pause_seconds=PAUSE_SECONDS)

    def _read_page(self) -> tuple[FeedItems | None, bool]:
        page = self._read(self.cursor)
        self._advance(page)
        return page if page.items else None, page.more

    def _advance(self, page: FeedItems) -> None:
        self.cursor = page.cursor
