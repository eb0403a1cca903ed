"""A subscription to a game: its events, one after the other, as one viewer may know them.

Owns the cursor: every event after it is returned once and in order, however notifications arrive. What a notification
tells is not read from the store, but where it leaves a gap. Does not depend on how events are sent to clients, nor on
what is hidden from a viewer (``service.games.model.views``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import BoundedSemaphore
from time import time
from typing import Final, NamedTuple

from service.engine.events import Finished
from service.engine.view import DealtView
from service.games.model.errors import Gone, NewerFormat
from service.games.model.game_events import Freed, Started, TokenChanged, seat_after
from service.games.model.views import WITH_NAME, Deleted, EventPage, EventView, Reset, view_event
from service.games.ports import EventFeed, EventNotification
from service.games.queries.follower import Follower
from service.games.store.codec import decode_event

PAGE_SIZE: Final = 100
"""The most events in a page."""
MAX_PENDING: Final = 64
"""Notifications queued for a slow client; further ones are dropped, as their events are in the store."""


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


class EventSubscription(Follower[EventPage]):
    """The events of a game after a version, for one viewer.

    ``read`` returns a page from the store after a cursor, as the viewer may know it; ``look`` is called whenever who
    follows a game that waits for players waits here. A game without events for ``ttl_seconds`` may have expired, and is
    read again. The events of a game that is deleted end with ``Deleted``. ``finished`` are those of a match that is
    over, of a game that was deleted, and of a token that was changed.
    """

    __slots__ = ("_look", "_read", "cursor", "subscriber", "write_id")

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
        self._read = read
        self._look = look
        super().__init__(
            partial(feed.watch, subscriber.game), slots=slots, poll_seconds=ttl_seconds, max_pending=MAX_PENDING
        )

    def wait(self, seconds: float) -> EventPage | None:
        """Return the next events, at most ``PAGE_SIZE``.

        Raises ``NotFound`` when the game has expired, ``Unauthorized`` when the token of the seat was changed.
        """
        if self.subscriber.waits:
            self._look(self.subscriber)
        return super().wait(seconds)

    def _content_of(self, notification: EventNotification | None) -> EventPage | None:
        """Return the events of a notification after the cursor; ``None`` if it has none, or leaves a gap."""
        if notification is None or notification.after > self.cursor:
            self._must_read = True
            return None
        encoded = notification.events[self.cursor - notification.after :]
        if not encoded:
            return None
        first, created_at, seat = self.cursor + 1, self.subscriber.created_at, self.subscriber.seat
        try:
            envelopes = [decode_event(version, created_at, data) for version, data in enumerate(encoded, first)]
        except NewerFormat:
            self._must_read = True  # reading the store raises the error that belongs to this
            return None
        if any([isinstance(envelope.event, (*WITH_NAME, Started)) for envelope in envelopes]):
            self._must_read = True  # names are not with the events; and with a beginning the seat may be another
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
                    # The token was valid at this version; no event before it will be returned.
                    you = view.view.you
                    self.subscriber = self.subscriber._replace(
                        version=view.version, seat=None if you is None else you.seat
                    )
                case Started() if subscriber.seat is not None and envelope.version > subscriber.version:
                    seat = seat_after(envelope.event, subscriber.seat)
                    self.subscriber = self.subscriber._replace(seat=seat, version=envelope.version, write_id="")
                case TokenChanged(seat) | Freed(seat) if (
                    seat == subscriber.seat and envelope.version > subscriber.version
                ):
                    self.finished = True
