"""The feed of an application: what has happened in all its games, in pages and as it happens.

Owns the cursor of a reader, and how often a reader looks for more: soon after a hint, and every few seconds without
one, as a hint may be lost.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import BoundedSemaphore
from typing import Final, NamedTuple

from service.backends.index.summaries import reset_item, shown_item
from service.backends.ports import FeedStore
from service.games.ports import EventFeed, TimeSource
from service.games.queries.follower import Follower, Watch

LATEST: Final = "latest"
"""In place of a cursor: after everything that has happened so far."""
PAGE_SIZE: Final = 100
"""The most items that a reader is given at a time, unless it asks for another number."""
POLL_SECONDS: Final = 3.0
"""Seconds after which a reader looks for more without a hint."""
PAUSE_SECONDS: Final = 0.05
"""The least seconds between two looks of a reader, so that many games do not make it look for each move."""
READERS_AT_A_TIME: Final = 16
"""Readers of a process that look at the same time, as after a fault all of them may have to."""


class FeedItems(NamedTuple):
    """Items as the application gets them, each with its cursor, and the cursor to go on from."""

    items: tuple[tuple[str, bytes], ...]
    cursor: str
    more: bool


class Feeds:
    """The feeds in a store; ``notifications`` say when one goes on."""

    def __init__(self, store: FeedStore, notifications: EventFeed, clock: TimeSource) -> None:
        self._store = store
        self._notifications = notifications
        self._clock = clock
        self._slots = BoundedSemaphore(READERS_AT_A_TIME)

    def page(self, app: str, after: str | None, limit: int = PAGE_SIZE) -> FeedItems:
        """At most ``limit`` items after a cursor or ``LATEST``; without one, from the oldest that is kept.

        Where items after the cursor are no longer kept, the only item says so, and those that are kept follow it.
        Raises ``ValueError`` for a text that is no cursor, ``StorageUnavailable``.
        """
        if after == LATEST:
            return FeedItems((), self._store.newest(app), more=False)
        found = self._store.read(app, after, limit + 1)
        if found.lost:
            return FeedItems(((found.cursor, reset_item(found.cursor, self._clock())),), found.cursor, more=True)
        stored = found.items[:limit]
        items = [(item.cursor, shown_item(item.cursor, item.json, found.summaries.get(item.game))) for item in stored]
        return FeedItems(tuple(items), stored[-1].cursor if stored else found.cursor, more=len(found.items) > limit)

    def follow(self, app: str, after: str, limit: int = PAGE_SIZE) -> FeedReader:
        """Return a reader of what comes after a cursor, in pages of ``limit`` items; it must be closed."""
        read, watch = partial(self.page, app, limit=limit), partial(self._notifications.watch, app)
        return FeedReader(after, read, watch, slots=self._slots)


class FeedReader(Follower[FeedItems]):
    """The items of a feed after a cursor, each once and in order; ``read`` returns a page after a cursor."""

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
