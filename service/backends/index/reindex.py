"""Rebuilds the indexes of applications from their games, for when one was lost or damaged, or is thought to be.

Owns which games are put into an index here, and which are left to the outbox: whatever was not published yet is
published by the messenger, so nothing is published twice or left out, and all may go on while this runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, Protocol

from service.backends.index.summaries import index_entry, owner_view
from service.backends.ports import GameIndex
from service.games.model.errors import Gone, NotFound
from service.games.ports import TimeSource
from service.games.reminders import ReminderQueue
from service.games.store.repository import GameRepository

MAX_ATTEMPTS: Final = 5
"""How often a game is tried again that has changed meanwhile; after that the messenger publishes it anyway."""


class Scan(Protocol):
    """All that is stored, in no order. What is there from the beginning to the end is given at least once."""

    def games(self) -> Iterator[str]:
        """Return the ids of all games, also of those without an application. Raises ``StorageUnavailable``."""

    def applications(self) -> Iterator[str]:
        """Return the ids of all applications with an index. Raises ``StorageUnavailable``."""


class Progress(NamedTuple):
    """Counts of the games that were read, indexed, and removed from an index."""

    seen: int = 0
    indexed: int = 0
    removed: int = 0


class Reindexer:
    """Rebuilds indexes; ``report`` is called after each game. Every method may raise ``StorageUnavailable``."""

    def __init__(
        self,
        repository: GameRepository,
        index: GameIndex,
        reminders: ReminderQueue,
        clock: TimeSource,
        *,
        report: Callable[[Progress], None],
    ) -> None:
        self._repository = repository
        self._index = index
        self._reminders = reminders
        self._clock = clock
        self._report = report
        self._progress = Progress()

    def run(self, scan: Scan, app: str | None = None) -> Progress:
        """Rebuild the index of this application, or of all of them. Raises ``OutcomeUnknown``; it may be run again."""
        for game in scan.games():
            indexed = self.rebuild(game, app)
            self._set_progress(self._progress._replace(indexed=self._progress.indexed + indexed))
        apps: Iterable[str] = scan.applications() if app is None else [app]
        for owner in apps:
            self._remove_lost(owner)
        return self._progress

    def rebuild(self, game_id: str, only: str | None = None) -> bool:
        """Put a game into the index of its application, if that is the wanted one; returns whether that was done.

        Before, it is put into the index of all games.
        """
        for _ in range(MAX_ATTEMPTS):
            try:
                game = self._repository.reader.load(game_id)
            except (Gone, NotFound):
                return False
            app = None if game is None or game.ownership is None else game.ownership.app
            if game is None or only not in (None, app):
                return False
            self._repository.store.register(game.id, game.tenant)
            if app is None:
                return False
            # In this order: the messenger publishes any later write from the version that is put here.
            waits = self._reminders.is_set("outbox", game_id, app)
            position = self._index.position(app, game_id)
            if not position.version and waits:
                return False
            if position.version and (position.version, position.write_id) != (game.version, game.write_id):
                self._reminders.restore("outbox", game_id, app, self._clock())
                return False
            entry = index_entry(
                game, owner_view(game), self._repository.lifetimes, self._repository.store.size(game_id)
            )
            if self._index.put(app, entry, (), (), position=position):
                return True
        return False

    def _remove_lost(self, app: str) -> None:
        """Remove the games from an index that do not exist, or belong to another application."""
        cursor: str | None = None
        while True:
            games, cursor = self._index.games(app, cursor)
            for game in games:
                removed = not self._belongs(game, app) and self._remove(game, app)
                self._set_progress(self._progress._replace(removed=self._progress.removed + removed))
            if cursor is None:
                return

    def _belongs(self, game_id: str, app: str) -> bool:
        try:
            game = self._repository.reader.load(game_id)
        except Gone as deleted:
            position = self._index.position(app, game_id)
            if (position.version, position.write_id) != (deleted.version, ""):
                self._reminders.restore("outbox", game_id, app, self._clock())
            return True  # the index notes that it was deleted, or will
        return game is not None and game.ownership is not None and game.ownership.app == app

    def _remove(self, game_id: str, app: str) -> bool:
        return self._index.remove(app, game_id, position=self._index.position(app, game_id))

    def _set_progress(self, progress: Progress) -> None:
        self._progress = progress._replace(seen=progress.seen + 1)
        self._report(self._progress)
