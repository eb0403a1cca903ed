"""Records in the background who looks at a waiting game, and keeps it in the lists of tables for strangers.

Owns how often that happens. Each look lists the table again. So a table that a list has lost comes back, and a table at
which nobody looks disappears. Does not depend on which requests count as looks.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Final

from service.bounded_cache import BoundedCache
from service.games.model.errors import Gone
from service.games.model.game import Game
from service.games.model.seeking import listings_of, table_of
from service.games.ports import Runtime
from service.games.store.cache import GameReader
from service.games.store.transactions import Committed
from service.games.tables import OpenTables
from service.redis.errors import OutcomeUnknown, StorageUnavailable

EVERY_MS: Final = 20_000
"""Milliseconds after which the next look of a seat is recorded."""
_MAX_KNOWN: Final = 10_000
"""The maximum number of seats whose last look a process remembers."""

_log = logging.getLogger(__name__)


class Looks:
    """Records looks at games in ``tables``."""

    def __init__(self, tables: OpenTables, runtime: Runtime) -> None:
        self._tables = tables
        self._clock, self._run_later = runtime.clock, runtime.run_later
        self._known = BoundedCache[tuple[str, int | None], int](_MAX_KNOWN)

    def record(self, game: Game, seat: int | None) -> None:
        """Record that a player looked at a game; ``None``: its application, which counts as a look of every seat."""
        if game.seats.are_open and self._is_due(game.id, seat) and listings_of(game):
            self._later(partial(self._record, game, seat))

    def waits(self, game_id: str, seat: int | None, reader: GameReader) -> None:
        """Read the game, and record a look of a player who waits for its next event."""
        if self._is_due(game_id, seat):
            self._later(partial(self._read, game_id, seat, reader))

    def follow(self, committed: Committed) -> None:
        """Update the lists of tables after a write to a game that waits for players, or did before the write."""
        self._later(partial(self._list, committed))

    def _is_due(self, game_id: str, seat: int | None) -> bool:
        now, last = self._clock(), self._known.get((game_id, seat))
        if last is not None and now - last < EVERY_MS:
            return False
        self._known.put((game_id, seat), now)
        return True

    def _read(self, game_id: str, seat: int | None, reader: GameReader) -> None:
        game = reader.load(game_id)
        if game is not None and game.seats.are_open and listings_of(game):
            self._record(game, seat)

    def _record(self, game: Game, seat: int | None) -> None:
        now = self._clock()
        if game.room is not None and game.room.sought:
            self._tables.look(game.id, range(len(game.seats)) if seat is None else (seat,), now)
        for listing in listings_of(game):
            self._tables.put(listing, table_of(game), looked_at=now)

    def _list(self, committed: Committed) -> None:
        game = committed.after
        looked_at = self._clock() if committed.status_before is None else None
        for listing in listings_of(game):
            self._tables.put(listing, table_of(game), looked_at=looked_at)

    def _later(self, work: Callable[[], None]) -> None:
        self._run_later(partial(_quietly, work))


def _quietly(work: Callable[[], None]) -> None:
    try:
        work()
    except (StorageUnavailable, OutcomeUnknown, Gone):
        pass  # the next look tries again
    except Exception:
        _log.exception("a look at a table could not be noted")
