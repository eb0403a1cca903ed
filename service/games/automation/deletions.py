"""Deleted games leave the memory of this process: its caches, its streams, and whatever it was about to do for them.

So do games from which a player was erased: what is kept of them may have the name of that player, and is read anew.

Owns when the store is asked which games were deleted, and how far back. Every process asks by itself, so no message can
be lost: one that was away asks for all that was deleted meanwhile, or drops everything if the store no longer tells so
much. A game is dropped again for a while, as a request that read it just before its deletion may cache it after.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Container, Iterable
from typing import Final

from service.games.ports import DELETIONS_KEPT_MS, Deletions
from service.redis.errors import StorageUnavailable

POLL_SECONDS: Final = 1.0
"""Seconds between two questions."""
AGAIN_SECONDS: Final = 30.0
"""Seconds for which a deleted game is dropped again: longer than any request reads a game, and than clocks may jump."""

Drop = Callable[[Container[str]], None]
"""Drops everything that is about the games with these ids. Must neither wait nor raise."""

_log = logging.getLogger(__name__)


class _EveryGame(Container[str]):
    """Contains the id of every game."""

    def __contains__(self, game: object) -> bool:
        return True


EVERY_GAME: Final = _EveryGame()


class DeletedGames:
    """Has what was deleted dropped; ``elapsed`` is a clock in seconds that never jumps."""

    def __init__(self, deletions: Deletions, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._deletions = deletions
        self._elapsed = elapsed
        self._drops: list[Drop] = []
        self._drops_of_erasures: list[Drop] = []
        self._asked_at = elapsed()
        """When the store was last asked, and told everything; before that this process has no games."""
        self._next = self._asked_at

    def on_deletion(self, drop: Drop) -> None:
        """Have ``drop`` called with the games that were deleted."""
        self._drops.append(drop)

    def on_erasure(self, drop: Drop) -> None:
        """Have ``drop`` called with the games from which a player was erased, several times while they are played."""
        self._drops_of_erasures.append(drop)

    def record_erasure(self, game: str) -> None:
        """Have every process drop this game. Raises ``StorageUnavailable``, ``OutcomeUnknown``."""
        self._deletions.record_erasure(game)

    def poll(self) -> None:
        """Drop what was deleted since the last time. If the storage is away, the next time does it."""
        began = self._elapsed()
        self._next = began + POLL_SECONDS
        within = round((began - self._asked_at + AGAIN_SECONDS) * 1000)
        try:
            games, erased, complete = self._deletions.deleted(min(within, DELETIONS_KEPT_MS))
        except StorageUnavailable:
            return
        if complete:
            self._asked_at = began
        if complete and within > DELETIONS_KEPT_MS:
            _drop(self._drops, EVERY_GAME)
            _drop(self._drops_of_erasures, EVERY_GAME)
            return
        if games:
            _drop(self._drops, frozenset(games))
        if erased:
            _drop(self._drops_of_erasures, frozenset(erased))

    def poll_if_due(self) -> None:
        """As ``poll``, if the last time is long enough ago."""
        if self._elapsed() >= self._next:
            self.poll()

    def keep_polling(self) -> None:
        """Poll for ever; for a thread of its own."""
        while True:
            try:
                self.poll()
            except Exception:
                _log.exception("deleted games could not be dropped")
            time.sleep(POLL_SECONDS)


def _drop(drops: Iterable[Drop], games: Container[str]) -> None:
    for drop in drops:
        drop(games)
