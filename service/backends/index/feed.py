"""The feed of an application: what has happened in all its games, in pages and as it happens.

Owns the cursor of a reader, and when a reader looks for more: at once after a hint, and every few seconds without one,
as a hint may be lost.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import BoundedSemaphore, Event
from time import monotonic, sleep
from typing import Final, NamedTuple

from service.backends.index.summaries import reset_item, shown_item
from service.backends.ports import FeedStore
from service.games.ports import EventFeed, EventNotification, TimeSource
from service.redis.errors import StorageUnavailable

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
        kept = found.items[:limit]
        items = [(each.cursor, shown_item(each.cursor, each.json, found.summaries.get(each.game))) for each in kept]
        return FeedItems(tuple(items), kept[-1].cursor if kept else found.cursor, more=len(found.items) > limit)

    def follow(self, app: str, after: str, limit: int = PAGE_SIZE) -> FeedReader:
        """Return a reader of what comes after a cursor, in pages of ``limit`` items; it must be closed."""

        def read(cursor: str) -> FeedItems:
            with self._slots:
                return self.page(app, cursor, limit)

        return FeedReader(after, read, partial(self._notifications.watch, app))


class FeedReader:
    """The items of a feed after a cursor, each once and in order.

    ``read`` returns a page after a cursor, ``watch`` has a function called with every hint, until the function that it
    returns is called.
    """

    def __init__(
        self,
        after: str,
        read: Callable[[str], FeedItems],
        watch: Callable[[Callable[[EventNotification | None], None]], Callable[[], None]],
    ) -> None:
        self.cursor = after
        self.closing = False
        """Whether the service is shutting down."""
        self._read = read
        self._hinted = Event()
        self._hinted.set()
        self._earliest = self._latest = monotonic()
        """When the feed is read again: after a hint, and without one."""
        self._unwatch = watch(lambda _: self._hinted.set())

    def wait(self, seconds: float) -> FeedItems | None:
        """Return the next items; ``None`` if none come in time, or the service is shutting down.

        While the store is unavailable it goes on waiting.
        """
        deadline = monotonic() + seconds
        while not self.closing:
            now, hinted = monotonic(), self._hinted.is_set()
            due = self._earliest if hinted else self._latest
            if now >= due:
                page = self._look()
                if page is not None:
                    return page
            elif now >= deadline:
                return None
            elif hinted:
                sleep(min(due, deadline) - now)
            else:
                self._hinted.wait(min(due, deadline) - now)
        return None

    def shutdown(self) -> None:
        """End ``wait``, in whichever thread it runs: the service is shutting down."""
        self.closing = True
        self._hinted.set()

    def recheck(self) -> None:
        """Look for more, hint or not."""
        self._hinted.set()

    def close(self) -> None:
        unwatch, self._unwatch = self._unwatch, _do_nothing
        unwatch()

    def _look(self) -> FeedItems | None:
        """Return what has come since the last look; ``None`` if nothing has, or the store is unavailable."""
        self._hinted.clear()  # before reading: a hint during it is about something that it may not have seen
        try:
            page = self._read(self.cursor)
        except StorageUnavailable:
            self._earliest = self._latest = monotonic() + POLL_SECONDS
            return None
        now = monotonic()
        self._earliest, self._latest = now + PAUSE_SECONDS, now + POLL_SECONDS
        self.cursor = page.cursor
        if page.more:
            self._earliest = now
            self._hinted.set()
        return page if page.items else None


def _do_nothing() -> None:
    """Take the place of a function that has been called."""
