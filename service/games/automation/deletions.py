"""Removes deleted games from caches, streams and queues of this process, and games from which a player was erased.

Every process polls by itself, so that no message can be lost. After a gap that is too long for the store to remember,
it drops every game. It drops a deleted game repeatedly for a while, because a request that read the game just before
the deletion can cache it afterwards.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Container
from typing import Final

from service.games.ports import DELETIONS_KEPT_MS, Deletions
from service.redis.errors import StorageUnavailable

POLL_SECONDS: Final = 1.0
"""Seconds between two polls."""
AGAIN_SECONDS: Final = 30.0
"""Seconds for which a deleted game is dropped repeatedly: longer than any request holds a game, or clocks jump."""

Drop = Callable[[Container[str]], None]
"""Drops everything about the games with these ids. Must neither block nor raise."""

_log = logging.getLogger(__name__)


class _EveryGame(Container[str]):
    """Contains the id of every game."""

    def __contains__(self, game: object) -> bool:
        return True


EVERY_GAME: Final = _EveryGame()


class DeletedGames:
    """Polls a store for deletions and calls the registered functions; ``elapsed`` is a monotonic clock in seconds."""

    def __init__(self, deletions: Deletions, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._deletions = deletions
        self._elapsed = elapsed
        self._drops: list[Drop] = []
        self._drops_of_erasures: list[Drop] = []
        self._polled_at = elapsed()
        """When the last poll began that got complete results; at first, when this process had no games yet."""
        self._next = self._polled_at

    def on_deletion(self, drop: Drop) -> None:
        """Register ``drop`` to be called with deleted games."""
        self._drops.append(drop)

    def on_erasure(self, drop: Drop) -> None:
        """Register ``drop`` to be called, repeatedly, with games from which a player was erased."""
        self._drops_of_erasures.append(drop)

    def record_erasure(self, game: str) -> None:
        """Record an erasure in this game. Raises ``StorageUnavailable``, ``OutcomeUnknown``."""
        self._deletions.record_erasure(game)

    def poll(self) -> None:
        """Drop the games that were deleted since the last poll. If the store is unavailable, the next poll does it."""
        began = self._elapsed()
        self._next = began + POLL_SECONDS
        within = round((began - self._polled_at + AGAIN_SECONDS) * 1000)
        try:
            games, erased, complete = self._deletions.deleted(min(within, DELETIONS_KEPT_MS))
        except StorageUnavailable:
            return
        if complete:
            self._polled_at = began
        has_gap = complete and within > DELETIONS_KEPT_MS  # the store has forgotten some deletions
        for drops, ids in ((self._drops, games), (self._drops_of_erasures, erased)):
            if ids or has_gap:
                for drop in drops:
                    drop(EVERY_GAME if has_gap else frozenset(ids))

    def poll_if_due(self) -> None:
        """Poll if the last poll was at least ``POLL_SECONDS`` ago."""
        if self._elapsed() >= self._next:
            self.poll()

    def keep_polling(self) -> None:
        """Poll for ever, in a thread of its own."""
        while True:
            try:
                self.poll()
            except Exception:
                _log.exception("deleted games could not be dropped")
            time.sleep(POLL_SECONDS)
