"""The cache of a process: games as they were last read or written, and values derived from them.

A cached game may be stale: a decision on it is valid only if the store accepts the write, and a refusal only if it
follows from the stored game, too.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from concurrent.futures import Future
from threading import Lock
from typing import Final, NamedTuple

from service.bounded_cache import BoundedCache
from service.games.model.errors import Gone, NotFound
from service.games.model.game import Game
from service.games.model.game_events import EventEnvelope
from service.games.model.views import forget_seat_views
from service.games.ports import Store, StoredGame
from service.games.reminders import OutageAllowance
from service.games.store.codec import decode_game

CACHE_SIZE: Final = 1000
_PUBLISHED: Final = 500
_EARLIER_CACHE_SIZE: Final = 32
_SHARED_READS: Final = 256


class CachedGame(NamedTuple):
    """A game, and its stored state."""

    game: Game
    state: bytes


class PublishedGame(NamedTuple):
    """A game that was published at the time ``at`` in seconds, and its last events without a gap."""

    game: Game
    events: tuple[EventEnvelope, ...]
    at: float


class GameCache:
    """The games that a process caches.

    ``games``: as they were last read or written, by id.
    ``earlier``: at earlier versions, by id, write id of the newer game that they were rebuilt from, and version.
    ``shared_reads``: reads after a write, by id, version and write id.
    ``published``: as they were last published, for the messages about them, by id.

    ``allowance`` returns the outage allowance of a game; when it changes, the caller must ``forget`` games.
    """

    def __init__(self, allowance: Callable[[str], OutageAllowance]) -> None:
        self._allowance = allowance
        self.games = BoundedCache[str, CachedGame](CACHE_SIZE)
        self.earlier = BoundedCache[tuple[str, str, int], Game](_EARLIER_CACHE_SIZE)
        self.shared_reads = BoundedCache[tuple[str, int, str], Future[Game]](_SHARED_READS)
        self.published = BoundedCache[str, PublishedGame](_PUBLISHED)

    def decode(self, game_id: str, stored: StoredGame) -> Game:
        """Decode and cache a stored game; return the cached one if its state is the same. Raises as ``decode_game``."""
        known = self.games.get(game_id)
        try:
            if known is not None and known.game.version == stored.version and known.state == stored.state:
                game = known.game
            else:
                game = decode_game(game_id, stored.version, stored.state)
        except Gone:
            if known is not None:
                self.forget((game_id,))
            raise
        if game.clock is not None and game.allowance != (allowance := self._allowance(game_id)):
            game = game._replace(allowance=allowance)
        if known is None or known.game is not game:
            self.games.put(game_id, CachedGame(game, stored.state))
        return game

    def forget(self, games: Container[str]) -> None:
        """Drop these games, and all values derived from them."""
        self.games.drop(lambda game, _: game in games)
        self.earlier.drop(lambda key, _: key[0] in games)
        self.shared_reads.drop(lambda key, _: key[0] in games)
        self.published.drop(lambda game, _: game in games)
        forget_seat_views()


class GameReader:
    """Reads games from the store. Every method raises ``StorageUnavailable``, and ``Gone`` for a deleted game."""

    def __init__(self, store: Store, cache: GameCache) -> None:
        self._store = store
        self._cache = cache
        self._lock = Lock()

    def load(self, game_id: str) -> Game | None:
        """Return the stored game; ``None`` if it does not exist or has expired."""
        stored = self._store.read(game_id)
        return None if stored is None else self._cache.decode(game_id, stored)

    def reload(self, game_id: str) -> Game:
        """Return the stored game. Raises ``NotFound`` if it does not exist or has expired."""
        game = self.load(game_id)
        if game is None:
            raise expired()
        return game

    def after_write(self, game_id: str, version: int, write_id: str) -> Game:
        """Return the game as it was just after the write with this id and ``version``, or a newer version of it.

        All callers for a write share one read of the store, because thousands of streams can follow one game; without a
        ``write_id`` only while it runs, because after a failover another write can have the same version. Raises
        ``NotFound``.
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
    """Return the error for an expired game."""
    return NotFound("game_expired")
