"""Following a game: what happens in it, one event after the other, as one bearer may know it.

Owns the cursor: every event after it is told once, in order, however the news arrives. News are only a hint; where they
leave a gap, the store is asked. Must not know how the events are sent, nor what is hidden (``service.games.views``).
"""

from __future__ import annotations

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore
from time import monotonic
from typing import Final, NamedTuple

from service.engine.events import Finished
from service.games.codec import NewerFormat, decode_event
from service.games.game import TokenChanged
from service.games.ports import EventNotification, Feed, StorageUnavailable
from service.games.views import EventPage, Reset, view_event

PAGE_SIZE: Final = 100
"""The most events told at a time."""
MAX_PENDING: Final = 64
"""News that wait for a slow client; more are dropped, for the store has them all."""
WAIT_SLICE_SECONDS: Final = 0.5
"""After how long who waits for a turn sees whether the service is about to stop."""
RETRY_SECONDS: Final = 3.0
"""After how long a store that could not answer is asked again, if the feed says nothing before."""


class Subscriber(NamedTuple):
    """Who follows which game: only what telling it needs, for it is held as long as a stream lasts."""

    game: str
    created_at: int
    seat: int | None
    token_hash: bytes | None
    """Of the token that was shown."""
    version: int
    """Of the game when it was."""
    finished: bool


class EventSubscription:
    """What happens in a game after a version, for one bearer.

    ``read`` gives a page of the store from a cursor on, as that bearer may know it; ``turns`` bound how many read at
    the same time, for after a fault all want to. A game that is silent for ``ttl_seconds`` may be gone, and is looked
    for. Close it in the end.
    """

    __slots__ = (
        "__weakref__",
        "_follower",
        "_look_again",
        "_needs_catch_up",
        "_news",
        "_read",
        "_stop",
        "_ttl",
        "_turns",
        "closing",
        "cursor",
        "finished",
    )

    def __init__(
        self,
        follower: Subscriber,
        after: int,
        feed: Feed,
        read: Callable[[Subscriber, int, int], EventPage],
        *,
        turns: BoundedSemaphore,
        ttl_seconds: float,
    ) -> None:
        self.cursor = after
        self.closing = False
        """Whether the service is about to stop."""
        self.finished = False
        """Whether nothing more will be told: the match is finished, or the seat has a new token."""
        self._follower = follower
        self._read = read
        self._turns = turns
        self._ttl = ttl_seconds
        self._look_again = monotonic() + ttl_seconds
        self._news: SimpleQueue[EventNotification | None] = SimpleQueue()
        self._needs_catch_up = True
        self._stop = feed.watch(follower.game, self._on_notification)

    def wait(self, seconds: float) -> EventPage | None:
        """The next events, at most ``PAGE`` of them; ``None`` if there are none in that time, or it is closing.

        Raises ``NotFound`` when the game is gone, ``Unauthorized`` when the token of the seat is another by now. While
        the store cannot be asked it waits.
        """
        deadline = monotonic() + seconds
        while not self.closing:
            page = self._catch_up(deadline - monotonic()) if self._needs_catch_up else None
            if page is None:
                left = max(deadline - monotonic(), 0)
                try:
                    page = self._accept(
                        self._news.get(timeout=min(left, RETRY_SECONDS) if self._needs_catch_up else left)
                    )
                except Empty:
                    now = monotonic()
                    if now > self._look_again:
                        self._needs_catch_up = True
                    if now >= deadline:
                        return None
            if page is not None:
                self._advance(page)
                return page
        return None

    def poll(self) -> EventPage | None:
        """The next events that the store has now; ``None`` if there are none. Raises also ``StorageUnavailable``."""
        page = self._next_page()
        if page is not None:
            self._advance(page)
        return page

    def close(self) -> None:
        """Hear nothing any more."""
        # It knows this object, and would keep it and its news until somebody looks for circles.
        stop, self._stop = self._stop, _nothing
        stop()

    def shutdown(self) -> None:
        """Let whoever waits wait no longer: the service is about to stop."""
        self.closing = True
        self._news.put(None)

    def _on_notification(self, news: EventNotification | None) -> None:
        if self._news.qsize() < MAX_PENDING:
            self._news.put(news)
        else:
            self._needs_catch_up = True

    def _accept(self, news: EventNotification | None) -> EventPage | None:
        """What the news add to what was told."""
        if news is None or news.after > self.cursor:
            self._needs_catch_up = True
            return None
        fresh = news.events[self.cursor - news.after :]
        if not fresh:
            return None
        _, created_at, seat, *_ = self._follower
        try:
            happened = [decode_event(number, created_at, data) for number, data in enumerate(fresh, self.cursor + 1)]
        except NewerFormat:
            self._needs_catch_up = True  # the store says what is to be said of that
            return None
        told = tuple([view_event(each, seat) for each in happened])
        return EventPage(told, self.cursor + len(told), more=False)

    def _catch_up(self, seconds: float) -> EventPage | None:
        """What the store has, if it can be asked within this time."""
        ends = monotonic() + seconds
        while not self._turns.acquire(timeout=min(max(ends - monotonic(), 0), WAIT_SLICE_SECONDS)):
            if self.closing or monotonic() >= ends:
                return None
        try:
            return self._next_page()
        except StorageUnavailable:
            self._needs_catch_up = True
            return None
        finally:
            self._turns.release()

    def _next_page(self) -> EventPage | None:
        self._needs_catch_up = False
        self._look_again = monotonic() + self._ttl
        page = self._read(self._follower, self.cursor, PAGE_SIZE)
        if page.more:  # else what was heard meanwhile has the say
            self._needs_catch_up = True
        if not page.events:
            return None
        return page

    def _advance(self, page: EventPage) -> None:
        self.cursor = page.version
        self._look_again = monotonic() + self._ttl
        _, _, seat, _, entered, finished = self._follower
        if finished and not page.more:
            self.finished = True
        for told in page.events:
            match told.event:
                case Finished():
                    self.finished = True
                case Reset(look):
                    self.finished = look.status == "finished"
                    # Its token was looked at then; what came before is told to nobody any more.
                    self._follower = self._follower._replace(version=look.version)
                case TokenChanged(changed) if changed == seat and told.version > entered:
                    self.finished = True


def _nothing() -> None:
    """Stop what has been stopped already."""
