"""Followers: read the items after a cursor, each once and in order.

Owns when the store is read: at the start, after a gap between notifications, and after a while without one, because one
can be lost. Does not depend on the items, nor on how they are sent to clients.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore
from time import monotonic, sleep
from typing import Final, Generic, TypeVar

from service.games.ports import EventNotification
from service.redis.errors import StorageUnavailable

WAIT_SLICE_SECONDS: Final = 0.5
"""How often a follower that waits for a slot checks whether the service is shutting down."""
RETRY_SECONDS: Final = 3.0
"""Seconds after which a store that was unavailable is read again, unless a notification comes first."""

Page = TypeVar("Page")
Watch = Callable[[Callable[[EventNotification | None], None]], Callable[[], None]]
"""Registers a function that is called with every notification; returns a function that ends that."""


class Follower(ABC, Generic[Page]):
    """Follows a sequence of items for one client. Must be closed.

    ``slots``: limits how many followers read the store at the same time, because after a fault all of them do.
    ``poll_seconds``: how often the store is read without a notification.
    ``pause_seconds``: the minimum time between two reads that notifications cause.
    ``max_pending``: notifications queued for a slow client; further ones are dropped, and the store is read instead.
    """

    __slots__ = (
        "__weakref__",
        "_earliest",
        "_max_pending",
        "_must_read",
        "_pause",
        "_pending",
        "_poll",
        "_read_at",
        "_slots",
        "_unwatch",
        "closing",
        "finished",
    )

    def __init__(
        self,
        watch: Watch,
        *,
        slots: BoundedSemaphore,
        poll_seconds: float,
        pause_seconds: float = 0.0,
        max_pending: int = 1,
    ) -> None:
        self.closing = False
        """Set when the service shuts down."""
        self.finished = False
        """Set when no more items will come."""
        self._slots = slots
        self._poll = poll_seconds
        self._pause = pause_seconds
        self._max_pending = max_pending
        self._must_read = True
        self._earliest = 0.0
        """Before this time the store is not read again."""
        self._read_at = monotonic() + poll_seconds
        """When the store is read next without a notification."""
        self._pending: SimpleQueue[EventNotification | None] = SimpleQueue()
        self._unwatch = watch(self._on_notification)

    @abstractmethod
    def _read_page(self) -> tuple[Page | None, bool]:
        """Return the items after the cursor (``None`` if there are none), and whether the store has more."""

    @abstractmethod
    def _advance(self, page: Page) -> None:
        """Move the cursor behind the items of this page."""

    def _content_of(self, notification: EventNotification | None) -> Page | None:  # noqa: ARG002 # subclasses use it
        """Return the new items of a notification; ``None`` if there are none, or if the store must be read."""
        self._must_read = True
        return None

    def wait(self, seconds: float) -> Page | None:
        """Wait for the next items; return ``None`` if none come in this time, or if the service is shutting down.

        Keeps waiting while the store is unavailable. Raises the other errors of reading.
        """
        deadline = monotonic() + seconds
        while not self.closing:
            page = self._catch_up(deadline) if self._must_read else None
            if page is None:
                timeout = max(min(deadline, self._read_at) - monotonic(), 0.0)
                try:
                    page = self._content_of(self._pending.get(timeout=timeout))
                except Empty:
                    now = monotonic()
                    if now >= self._read_at:
                        self._must_read = True
                    if now >= deadline:
                        return None
            if page is not None:
                self._record_delivery(page)
                return page
        return None

    def poll(self) -> Page | None:
        """Return the items after the cursor without waiting, if any. Raises as ``wait``, and ``StorageUnavailable``."""
        page = self._next_page()
        if page is not None:
            self._record_delivery(page)
        return page

    def recheck(self) -> None:
        """Request a read of the store after a deletion, whose notification may have been lost."""
        while True:
            try:
                self._pending.get_nowait()  # notifications that the client has not received yet
            except Empty:
                break
        self._on_notification(None)

    def close(self) -> None:
        # If this object kept the function, both would form a cycle that only the garbage collector frees.
        unwatch, self._unwatch = self._unwatch, lambda: None
        unwatch()

    def shutdown(self) -> None:
        """End ``wait`` in any thread, because the service is shutting down."""
        self.closing = True
        self._pending.put(None)

    def _on_notification(self, notification: EventNotification | None) -> None:
        if self._pending.qsize() < self._max_pending:
            self._pending.put(notification)
        else:
            self._must_read = True

    def _catch_up(self, deadline: float) -> Page | None:
        """Read the store; return ``None`` without new items, or if it could not be read before the deadline."""
        pause = self._earliest - monotonic()
        if pause > 0:
            sleep(max(min(pause, deadline - monotonic()), 0.0))
            if self._earliest > deadline:
                return None
        while not self._slots.acquire(timeout=min(max(deadline - monotonic(), 0), WAIT_SLICE_SECONDS)):
            if self.closing or monotonic() >= deadline:
                return None
        try:
            return self._next_page()
        except StorageUnavailable as error:  # ``retry_after`` is long for damaged games and newer formats
            self._read_at = monotonic() + max(RETRY_SECONDS, error.retry_after)
            return None
        finally:
            self._slots.release()

    def _next_page(self) -> Page | None:
        self._must_read = False  # cleared before reading, so that a notification during the read is not lost
        page, more = self._read_page()
        now = monotonic()
        self._read_at, self._earliest = now + self._poll, 0.0 if more else now + self._pause
        if more:
            self._must_read = True
        return page

    def _record_delivery(self, page: Page) -> None:
        self._read_at = monotonic() + self._poll
        self._advance(page)
