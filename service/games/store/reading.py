"""Games as they are in the store now, or were just after a write.

Owns that many who wait for one write share one read.
"""

from __future__ import annotations

from concurrent.futures import Future
from threading import Lock

from service.games.model.errors import NotFound
from service.games.model.game import Game
from service.games.ports import Store
from service.games.store.cache import GameCache


class GameReader:
    """Reads games. Every method raises ``StorageUnavailable``, and ``Gone`` for a game that was deleted."""

    def __init__(self, store: Store, cache: GameCache) -> None:
        self._store = store
        self._cache = cache
        self._lock = Lock()

    def load(self, game_id: str) -> Game | None:
        """Return the stored game; ``None`` if it does not exist or has expired."""
        stored = self._store.read(game_id)
        return None if stored is None else self._cache.decode(game_id, stored)

    def reload(self, game_id: str) -> Game:
        """As ``load``, for a game that existed a moment ago. Raises ``NotFound``."""
        game = self.load(game_id)
        if game is None:
            raise expired()
        return game

    def after_write(self, game_id: str, version: int, write_id: str) -> Game:
        """Return the game as it was just after the write of that id, which led to ``version``; or as it is now.

        All that ask for the same write share one read of the store: thousands of streams may follow a game. Without a
        ``write_id``, the result is only for those that wait for it: after a failover, another write may have led to
        the same version. Raises ``NotFound``.
        """
        known = self._cache.games.get(game_id)
        if known is not None and (known.game.version, known.game.write_id) == (version, write_id):
            return known.game
        key = game_id, version, write_id
        shared = self._cache.shared_reads
        with self._lock:
            read = shared.get(key)
            is_first = read is None
            if read is None:
                read = Future()
                shared.put(key, read)
        if is_first:
            try:
                read.set_result(self.reload(game_id))
            except BaseException as error:
                read.set_exception(error)
            if not write_id or read.exception() is not None:
                shared.pop(key)
        return read.result()


def expired() -> NotFound:
    """Return what is raised for a game that has expired."""
    return NotFound("game_expired")
