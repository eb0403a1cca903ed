"""Reminders that were lost: a read of a game that is overdue has them written again.

For example, a computer player was to move at 12:00:00, and the reminder was lost in a failover. Nobody takes the game
any more; but who reads it at 12:00:06 finds it overdue by more than five seconds, and restores the reminder.

Only a loss of data or a change of the store by hand loses one, so this is a comparison for every read of a game in
which something happens by itself, and rarely more. A game does not show whether it was published to its application:
where it is read and nothing happens, the messenger is asked to look again after each ``PAUSE_MS``. Owns when a game
counts as overdue.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Final

from service.bounded_cache import BoundedCache
from service.games.model.game import Game
from service.games.model.schedule import reminders
from service.games.ports import Runtime, StorageUnavailable
from service.games.reminders import ReminderQueue

OVERDUE_MS: Final = 5000
"""Milliseconds after which what is due is missed."""
PAUSE_MS: Final = 30_000
"""Milliseconds between two attempts for one game: where nobody takes reminders, every read finds it overdue."""
SIZE: Final = 1000
"""Games whose last attempt is known."""

Notice = Callable[[Game], None]
"""Called with a game that was read; raises nothing."""

_log = logging.getLogger(__name__)


class LostReminders:
    """Writes the reminders of games that are overdue, in the background; one that still exists stays as it is."""

    def __init__(self, queue: ReminderQueue, runtime: Runtime) -> None:
        self._queue = queue
        self._clock, _, _, self._run_later = runtime
        self._attempts = BoundedCache[str, int](SIZE)
        self._lock = Lock()

    def notice(self, game: Game) -> None:
        """Look at a game that was just read from the store."""
        if not game.is_automatic and game.ownership is None:
            return
        now = self._clock()
        if now - game.updated_at > OVERDUE_MS and self._is_overdue(game, now) and self._may_try(game.id, now):
            self._run_later(partial(self._restore, game))

    def _is_overdue(self, game: Game, now: int) -> bool:
        return any([at is not None and now - at > OVERDUE_MS for at in reminders(None, game).values()])

    def _may_try(self, game_id: str, now: int) -> bool:
        with self._lock:
            last = self._attempts.get(game_id)
            if last is not None and now - last < PAUSE_MS:
                return False
            self._attempts.put(game_id, now)
        return True

    def _restore(self, game: Game) -> None:
        try:
            for kind, at in reminders(None, game).items():
                if at is not None:
                    # Whether it was published is not in the game, so nothing is late as far as it shows.
                    self._queue.restore(kind, game.id, game.holder, self._clock() if kind == "outbox" else at)
        except StorageUnavailable:
            pass  # somebody will read the game again
        except Exception:
            _log.exception("reminders could not be restored")
