"""Rebuilds the indexes of applications from their games, after an index was lost or damaged.

Owns which games it puts into an index. Leaves writes that were not published yet to the messenger, so that nothing is
published twice or omitted, and the service can run at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from service.backends.index.store import RedisIndex
from service.backends.index.summaries import index_entry
from service.games.model.errors import Gone, NotFound
from service.games.ports import TimeSource
from service.games.reminders import ReminderQueue
from service.games.store.repository import GameRepository
from service.redis.scan import RedisScan

MAX_ATTEMPTS: Final = 5
"""Attempts to index a game that is written at the same time. After that the messenger publishes its writes anyway."""


class Progress(NamedTuple):
    """Counts of the games that were read, put into an index, and removed from an index."""

    seen: int = 0
    indexed: int = 0
    removed: int = 0


@dataclass(eq=False, repr=False)
class Reindexer:
    """Rebuilds indexes; ``report`` is called after each game. Every method can raise ``StorageUnavailable``."""

    repository: GameRepository
    index: RedisIndex
    reminders: ReminderQueue
    clock: TimeSource
    report: Callable[[Progress], None]
    _progress: Progress = field(default_factory=Progress, init=False)

    def run(self, scan: RedisScan, app: str | None = None) -> Progress:
        """Rebuild the index of one application, or of all. Raises ``OutcomeUnknown``. Can be run again."""
        for game in scan.games():
            self._count(indexed=self.rebuild(game, app))
        apps: Iterable[str] = scan.applications() if app is None else [app]
        for owner in apps:
            self._remove_lost(owner)
        return self._progress

    def rebuild(self, game_id: str, only: str | None = None) -> bool:
        """Put a game into the index of its application. Return whether that was done.

        With ``only``, games of other applications are skipped. The game is also registered in the index of all games.
        """
        for _ in range(MAX_ATTEMPTS):
            try:
                game = self.repository.reader.load(game_id)
            except (Gone, NotFound):
                return False
            app = None if game is None or game.ownership is None else game.ownership.app
            if game is None or only not in (None, app):
                return False
            self.repository.store.register(game.id, game.tenant)
            if app is None:
                return False
            # Read the reminder before the index: the messenger publishes every later write, beginning at the version
            # that is put into the index here.
            waits = self.reminders.is_set("outbox", game_id, app)
            position = self.index.position(app, game_id)
            if not position.version and waits:
                return False
            if position.version and (position.version, position.write_id) != (game.version, game.write_id):
                self.reminders.restore("outbox", game_id, app, self.clock())
                return False
            entry = index_entry(game, self.repository.lifetimes, self.repository.store.size(game_id))
            if self.index.put(app, entry, (), (), position=position) is not None:
                return True
        return False

    def _remove_lost(self, app: str) -> None:
        """Remove games from an index that do not exist or belong to another application."""
        cursor: str | None = None
        while True:
            games, cursor = self.index.games(app, cursor)
            for game in games:
                is_lost = not self._belongs(game, app)
                removed = is_lost and self.index.remove(app, game, position=self.index.position(app, game))
                self._count(removed=removed)
            if cursor is None:
                return

    def _belongs(self, game_id: str, app: str) -> bool:
        try:
            game = self.repository.reader.load(game_id)
        except Gone as deleted:
            position = self.index.position(app, game_id)
            if (position.version, position.write_id) != (deleted.version, ""):
                self.reminders.restore("outbox", game_id, app, self.clock())
            return True  # the index has its deletion, or the messenger will publish it
        return game is not None and game.ownership is not None and game.ownership.app == app

    def _count(self, *, indexed: bool = False, removed: bool = False) -> None:
        before = self._progress
        self._progress = Progress(before.seen + 1, before.indexed + indexed, before.removed + removed)
        self.report(self._progress)
