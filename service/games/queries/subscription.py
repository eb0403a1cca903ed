"""A subscription to a game: its events, one after the other, as one viewer may know them.

Owns the cursor: every event after it is returned once and in order, however notifications arrive. A notification is
only a hint; where there is a gap, the subscription catches up from the store. Does not depend on how events are sent to
clients, nor on what is hidden from a viewer (``service.games.model.views``).
"""

from __future__ import annotations

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore
from time import monotonic, time
from typing import Final, NamedTuple

from service.engine.events import Finished
from service.engine.view import DealtView
from service.games.model.errors import Gone, NewerFormat
from service.games.model.game_events import Freed, Started, TokenChanged, seat_after
from service.games.model.views import WITH_NAME, Deleted, EventPage, EventView, Reset, view_event
from service.games.ports import EventFeed, EventNotification
from service.games.store.codec import decode_event
from service.redis.errors import StorageUnavailable

PAGE_SIZE: Final = 100
"""The most events in a page."""
MAX_PENDING: Final = 64
"""Notifications queued for a slow client; further ones are dropped, as their events are in the store."""
WAIT_SLICE_SECONDS: Final = 0.5
"""How often a subscription that waits for a slot to read the store checks whether the service is shutting down."""
RETRY_SECONDS: Final = 3.0
"""Seconds after which a store that was unavailable is read again, unless a notification comes first."""


class Subscriber(NamedTuple):
    """The game and the viewer of a subscription: only what it needs, as it is held as long as a stream is open."""

    game: str
    created_at: int
    seat: int | None
    token_hash: bytes | None
    """The hash of the presented token."""
    version: int
    """The version of the game at which the token was valid."""
    write_id: str
    """The id of the write that led to that version."""
    finished: bool
    app: str | None = None
    """The application that owns the game, if that follows it."""
    waits: bool = False
    """Whether the game waits for players, who look at it by this."""


class EventSubscription:
    """The events of a game after a version, for one viewer.

    ``read`` returns a page from the store after a cursor, as the viewer may know it. ``slots`` bounds how many
    subscriptions read at the same time, as after a fault all of them have to; ``look`` is called whenever who follows a
    game that waits for players waits here. A game without events for ``ttl_seconds``
    may have expired, and is read again. The events of a game that is deleted end with ``Deleted``. Must be closed.
    """

    __slots__ = (
        "__weakref__",
        "_look",
        "_needs_catch_up",
        "_pending",
        "_read",
        "_recheck_at",
        "_slots",
        "_ttl",
        "_unwatch",
        "closing",
        "cursor",
        "finished",
        "subscriber",
        "write_id",
    )

    def __init__(
        self,
        subscriber: Subscriber,
        after: int,
        feed: EventFeed,
        read: Callable[[Subscriber, int, int], EventPage],
        *,
        slots: BoundedSemaphore,
        ttl_seconds: float,
        look: Callable[[Subscriber], None] = lambda _: None,
    ) -> None:
        self.subscriber = subscriber
        self.cursor = after
        self.write_id = subscriber.write_id if after == subscriber.version else ""
        """The id of the write that led to the cursor; empty if it is not known."""
        self.closing = False
        """Whether the service is shutting down."""
        self.finished = False
        """Whether no more events will come: the match is finished, the game deleted, or the token changed."""
        self._read = read
        self._look = look
        self._slots = slots
        self._ttl = ttl_seconds
        self._recheck_at = monotonic() + ttl_seconds
        self._pending: SimpleQueue[EventNotification | None] = SimpleQueue()
        self._needs_catch_up = True
        self._unwatch = feed.watch(subscriber.game, self._on_notification)

    def wait(self, seconds: float) -> EventPage | None:
        """Return the next events, at most ``PAGE_SIZE``.

        ``None`` if none come in time, or the service is shutting down.

        Raises ``NotFound`` when the game has expired, ``Unauthorized`` when the token of the seat was changed. While
        the store is unavailable it goes on waiting.
        """
        deadline = monotonic() + seconds
        if self.subscriber.waits:
            self._look(self.subscriber)
        while not self.closing:
            page = self._catch_up(deadline - monotonic()) if self._needs_catch_up else None
            if page is None:
                left = max(deadline - monotonic(), 0)
                try:
                    page = self._accept(
                        self._pending.get(timeout=min(left, RETRY_SECONDS) if self._needs_catch_up else left)
                    )
                except Empty:
                    now = monotonic()
                    if now > self._recheck_at:
                        self._needs_catch_up = True
                    if now >= deadline:
                        return None
            if page is not None:
                self._advance(page)
                return page
        return None

    def poll(self) -> EventPage | None:
        """Return the next events in the store, at most ``PAGE_SIZE``; ``None`` if there are none.

        Raises as ``wait``, and ``StorageUnavailable``.
        """
        page = self._next_page()
        if page is not None:
            self._advance(page)
        return page

    def recheck(self) -> None:
        """Have the store read again: the game was deleted, whether a notification told it or not."""
        while True:
            try:
                self._pending.get_nowait()  # events of the game, which a slow client has not got yet
            except Empty:
                break
        self._on_notification(None)

    def close(self) -> None:
        # The function refers to this object: kept, the reference cycle would be freed only by the garbage collector.
        unwatch, self._unwatch = self._unwatch, _do_nothing
        unwatch()

    def shutdown(self) -> None:
        """End ``wait``, in whichever thread it runs: the service is shutting down."""
        self.closing = True
        self._pending.put(None)

    def _on_notification(self, notification: EventNotification | None) -> None:
        if self._pending.qsize() < MAX_PENDING:
            self._pending.put(notification)
        else:
            self._needs_catch_up = True

    def _accept(self, notification: EventNotification | None) -> EventPage | None:
        """Return the events of a notification after the cursor; ``None`` if it has none, or leaves a gap."""
        if notification is None or notification.after > self.cursor:
            self._needs_catch_up = True
            return None
        encoded = notification.events[self.cursor - notification.after :]
        if not encoded:
            return None
        first, created_at, seat = self.cursor + 1, self.subscriber.created_at, self.subscriber.seat
        try:
            envelopes = [decode_event(version, created_at, data) for version, data in enumerate(encoded, first)]
        except NewerFormat:
            self._needs_catch_up = True  # reading the store raises the error that belongs to this
            return None
        if any([isinstance(each.event, (*WITH_NAME, Started)) for each in envelopes]):
            self._needs_catch_up = True  # names are not with the events; and with a beginning the seat may be another
            return None
        events = tuple([view_event(envelope, seat) for envelope in envelopes])
        return EventPage(events, self.cursor + len(events), more=False, write_id=notification.write_id.decode())

    def _catch_up(self, seconds: float) -> EventPage | None:
        """Return the next events in the store; ``None`` if there are none, or it could not be read within this time."""
        deadline = monotonic() + seconds
        while not self._slots.acquire(timeout=min(max(deadline - monotonic(), 0), WAIT_SLICE_SECONDS)):
            if self.closing or monotonic() >= deadline:
                return None
        try:
            return self._next_page()
        except StorageUnavailable:
            self._needs_catch_up = True
            return None
        finally:
            self._slots.release()

    def _next_page(self) -> EventPage | None:
        self._needs_catch_up = False
        self._recheck_at = monotonic() + self._ttl
        try:
            page = self._read(self.subscriber, self.cursor, PAGE_SIZE)
        except Gone as gone:
            return EventPage((EventView(gone.version, int(time() * 1000), Deleted(), ()),), gone.version, more=False)
        if page.more:  # never set to false here: a notification may have been dropped during the read
            self._needs_catch_up = True
        if not page.events:
            return None
        return page

    def _advance(self, page: EventPage) -> None:
        self.cursor = page.version
        self.write_id = page.write_id
        self._recheck_at = monotonic() + self._ttl
        subscriber = self.subscriber
        if subscriber.finished and not page.more:
            self.finished = True
        for each in page.events:
            match each.event:
                case Finished() | Deleted():
                    self.finished = True
                case DealtView():
                    self.subscriber = self.subscriber._replace(waits=False)
                case Reset(view):
                    self.finished = view.status == "finished"
                    # The token was valid at this version; no event before it will be returned.
                    you = view.view.you
                    self.subscriber = self.subscriber._replace(
                        version=view.version, seat=None if you is None else you.seat
                    )
                case Started() if subscriber.seat is not None and each.version > subscriber.version:
                    seat = seat_after(each.event, subscriber.seat)
                    self.subscriber = self.subscriber._replace(seat=seat, version=each.version, write_id="")
                case TokenChanged(seat) | Freed(seat) if seat == subscriber.seat and each.version > subscriber.version:
                    self.finished = True


def _do_nothing() -> None:
    """Take the place of a function that has been called."""
