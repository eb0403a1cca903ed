"""A subscription to a game: every event after a cursor, once and in order, as one viewer can see it.

Events come from notifications; the store is read only if these leave a gap.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import BoundedSemaphore
from time import time
from typing import Final, NamedTuple

from service.engine.events import Finished
from service.engine.view import DealtView
from service.games.model.errors import Gone
from service.games.model.game_events import Freed, Started, TokenChanged, seat_after
from service.games.model.views import WITH_NAME, Deleted, EventPage, EventView, Reset, view_event
from service.games.ports import EventFeed, EventNotification, WrittenByNewer
from service.games.queries.follower import Follower
from service.games.store.codec import decode_event

PAGE_SIZE: Final = 100
"""The maximum number of events in a page."""
MAX_PENDING: Final = 64


class Subscriber(NamedTuple):
    """The game and the viewer of a subscription. It is small, because it stays in memory while a stream is open."""

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
    """The application that owns the game, if it is the viewer."""
    waits: bool = False
    """Whether the game waits for players; then ``EventSubscription`` calls ``on_wait``."""


class EventSubscription(Follower[EventPage]):
    """The events of a game after a version, for one viewer.

    ``read``: returns a page after a cursor from the store, as the viewer can see it.
    ``on_wait``: called with the game and the seat at each ``wait`` while the game waits for players.
    ``ttl_seconds``: after this time without events the store is read, because the game may have expired.

    It is ``finished`` after the end of the match, the deletion of the game, or the revocation of the token.
    """

    __slots__ = ("_on_wait", "_read", "cursor", "subscriber", "write_id")

    def __init__(
        self,
        subscriber: Subscriber,
        after: int,
        feed: EventFeed,
        read: Callable[[Subscriber, int, int], EventPage],
        *,
        slots: BoundedSemaphore,
        ttl_seconds: float,
        on_wait: Callable[[str, int | None], None],
    ) -> None:
        self.subscriber = subscriber
        self.cursor = after
        self.write_id = subscriber.write_id if after == subscriber.version else ""
        """The id of the write that led to the cursor; empty if unknown."""
        self._read = read
        self._on_wait = on_wait
        watch = partial(feed.watch, subscriber.game)
        super().__init__(watch, slots=slots, poll_seconds=ttl_seconds, max_pending=MAX_PENDING)

    def wait(self, seconds: float) -> EventPage | None:
        """Return the next events, at most ``PAGE_SIZE``.

        Raises ``NotFound`` if the game has expired, ``Unauthorized`` if the token of the seat was revoked.
        """
        if self.subscriber.waits:
            self._on_wait(self.subscriber.game, self.subscriber.seat)
        return super().wait(seconds)

    def _content_of(self, notification: EventNotification | None) -> EventPage | None:
        """Return the events of a notification after the cursor; ``None`` if there are none, or if some are missing."""
        if notification is None or notification.after > self.cursor:
            self._must_read = True
            return None
        encoded = notification.events[self.cursor - notification.after :]
        if not encoded:
            return None
        first, created_at, seat = self.cursor + 1, self.subscriber.created_at, self.subscriber.seat
        try:
            envelopes = [decode_event(version, created_at, data) for version, data in enumerate(encoded, first)]
        except WrittenByNewer:
            self._must_read = True  # a read of the store waits for ``retry_after`` then
            return None
        if any([isinstance(envelope.event, (*WITH_NAME, Started)) for envelope in envelopes]):
            self._must_read = True  # events are stored without names, and ``Started`` can change the seat's number
            return None
        events = tuple([view_event(envelope, seat) for envelope in envelopes])
        return EventPage(events, self.cursor + len(events), more=False, write_id=notification.write_id.decode())

    def _read_page(self) -> tuple[EventPage | None, bool]:
        try:
            page = self._read(self.subscriber, self.cursor, PAGE_SIZE)
        except Gone as gone:
            deleted = EventView(gone.version, int(time() * 1000), Deleted(), ())
            return EventPage((deleted,), gone.version, more=False), False
        return page if page.events else None, page.more

    def _advance(self, page: EventPage) -> None:
        self.cursor = page.version
        self.write_id = page.write_id
        subscriber = self.subscriber
        if subscriber.finished and not page.more:
            self.finished = True
        for envelope in page.events:
            match envelope.event:
                case Finished() | Deleted():
                    self.finished = True
                case DealtView():
                    self.subscriber = self.subscriber._replace(waits=False)
                case Reset(view):
                    self.finished = view.status == "finished"
                    # The token was valid at this version, and events before it are not returned.
                    own = None if view.view.you is None else view.view.you.seat
                    self.subscriber = self.subscriber._replace(version=view.version, seat=own)
                case Started() if subscriber.seat is not None and envelope.version > subscriber.version:
                    seat = seat_after(envelope.event, subscriber.seat)
                    self.subscriber = self.subscriber._replace(seat=seat, version=envelope.version, write_id="")
                case TokenChanged(seat) | Freed(seat) if (
                    seat == subscriber.seat and envelope.version > subscriber.version
                ):
                    self.finished = True
