"""Following a game: what happens in it, one event after the other, as one bearer may know it.

Owns the cursor: every event after it is told once, in order, however the news arrives. News are only a hint; where they
leave a gap, the store is asked. Must not know how the events are sent, nor what is hidden (``service.games.look``).
"""

from __future__ import annotations

from collections.abc import Callable
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Final

from service.engine.events import Finished
from service.games.codec import decode_event
from service.games.game import Game, TokenChanged
from service.games.look import EventPage, look_at_event
from service.games.ports import Feed, News, StorageUnavailable

PAGE: Final = 100
"""The most events told at a time."""
_MOST_NEWS: Final = 64
"""News that wait for a slow client; more are dropped, for the store has them all."""

_CLOSED: Final = News(-1, ())


class Following:
    """What happens in ``game`` after a version, for the bearer of ``seat`` (``None``: a spectator).

    ``read`` gives a page of the store from a cursor on, as that bearer may know it. Close it in the end.
    """

    def __init__(
        self, game: Game, seat: int | None, after: int, feed: Feed, read: Callable[[int, int], EventPage]
    ) -> None:
        self.cursor = after
        self.closing = False
        """Whether the service is about to stop."""
        self.over = False
        """Whether nothing more will be told: the match is finished, or the seat has a new token."""
        self._game = game
        self._seat = seat
        self._read = read
        self._news: SimpleQueue[News | None] = SimpleQueue()
        self._behind = True
        self._stop = feed.watch(game.id, self._hear)

    def wait(self, seconds: float) -> EventPage | None:
        """The next events, at most ``PAGE`` of them; ``None`` if there are none in that time, or it is closing.

        Raises ``NotFound`` when the game is gone. While the store cannot be asked it waits.
        """
        deadline = monotonic() + seconds
        while not self.closing:
            page = self._catch_up() if self._behind else None
            if page is None:
                try:
                    page = self._take(self._news.get(timeout=max(deadline - monotonic(), 0)))
                except Empty:
                    return None
            if page is not None:
                self._advance(page)
                return page
        return None

    def look(self) -> EventPage | None:
        """The next events that the store has now; ``None`` if there are none. Raises ``StorageUnavailable``."""
        page = self._read(self.cursor, PAGE)
        self._behind = page.more
        if not page.events:
            return None
        self._advance(page)
        return page

    def close(self) -> None:
        """Hear nothing any more."""
        self._stop()

    def end(self) -> None:
        """Wake whoever waits, and let no one wait any more: the service is about to stop."""
        self._news.put(_CLOSED)

    def _hear(self, news: News | None) -> None:
        if self._news.qsize() < _MOST_NEWS:
            self._news.put(news)
        else:
            self._behind = True

    def _take(self, news: News | None) -> EventPage | None:
        """What the news add to what was told."""
        if news is _CLOSED:
            self.closing = True
            return None
        if news is None or news.after > self.cursor:
            self._behind = True
            return None
        fresh = news.events[self.cursor - news.after :]
        if not fresh:
            return None
        version = self.cursor + len(fresh)
        happened = [
            decode_event(number, self._game.created_at, data) for number, data in enumerate(fresh, self.cursor + 1)
        ]
        return EventPage(tuple([look_at_event(each, self._seat) for each in happened]), version, more=False)

    def _catch_up(self) -> EventPage | None:
        self._behind = False
        try:
            page = self._read(self.cursor, PAGE)
        except StorageUnavailable:
            # The feed says when the store is back; should it say nothing, the next wait asks again.
            self._behind = True
            return None
        self._behind = page.more
        return page if page.events else None

    def _advance(self, page: EventPage) -> None:
        self.cursor = page.version
        for told in page.events:
            match told.event:
                case Finished():
                    self.over = True
                case TokenChanged(seat) if seat == self._seat and told.version > self._game.version:
                    self.over = True
