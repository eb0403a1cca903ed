"""The cache of a process: games as they were read or written last, and what was made from them.

Owns what is kept, and how it is forgotten. Does not depend on how games are stored. A cached game may be stale: a
decision on it counts only if the store accepts the write, and a refusal only if the stored game leads to it too.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from concurrent.futures import Future
from threading import Lock
from typing import Final, NamedTuple

from service.bounded_cache import BoundedCache
from service.games.model.errors import Corrupted, Gone, NewerFormat, NotFound
from service.games.model.game import Game
from service.games.model.game_events import EventEnvelope
from service.games.model.views import forget_seat_views
from service.games.ports import Store, StoredGame, WrittenByNewer
from service.games.reminders import OutageAllowance
from service.games.store.checksums import damaged
from service.games.store.codec import decode_game

CACHE_SIZE: Final = 1000
"""Games in the cache of a process."""
UPGRADE_SECONDS: Final = 30
"""Seconds after which to try again what only a newer service can read: an upgrade is under way."""
_PUBLISHED: Final = 500
"""Games whose last publication is kept in a process."""
_EARLIER_CACHE_SIZE: Final = 32
"""Games at earlier versions in the cache of a process."""
_SHARED_READS: Final = 256
"""Reads of the store, each for one write, whose results are kept for others that ask for the game after that write."""


class CachedGame(NamedTuple):
    """A game, and its state as it is stored."""

    game: Game
    state: bytes


class PublishedGame(NamedTuple):
    """A game that was published at ``at`` (seconds), and its last events, without a gap up to its version."""

    game: Game
    events: tuple[EventEnvelope, ...]
    at: float


class GameCache:
    """The games that a process remembers.

    ``games`` has those it read or wrote last, by their ids; ``earlier`` has games at earlier versions, by id, the write
    id of the newer game they were made from, and version; ``shared_reads`` has reads for those that ask for the game
    after a write, by id, version and write id; ``published`` has games as they were published last, for the messages
    about them. ``allowance`` returns the outage allowance of a game; when it changes, games have to be forgotten.
    """

    def __init__(self, allowance: Callable[[str], OutageAllowance]) -> None:
        self._allowance = allowance
        self.games = BoundedCache[str, CachedGame](CACHE_SIZE)
        self.earlier = BoundedCache[tuple[str, str, int], Game](_EARLIER_CACHE_SIZE)
        self.shared_reads = BoundedCache[tuple[str, int, str], Future[Game]](_SHARED_READS)
        self.published = BoundedCache[str, PublishedGame](_PUBLISHED)

    def decode(self, game_id: str, stored: StoredGame) -> Game:
        """Return the game that was just read from the store, which is decoded unless it is the cached one.

        Raises ``Gone``, ``WrittenByNewer`` for one of a newer service, and ``Damaged``.
        """
        known = self.games.get(game_id)
        try:
            if known is not None and known.game.version == stored.version and known.state == stored.state:
                game = known.game
            else:
                game = decode_game(game_id, stored.version, stored.state)
        except NewerFormat:
            raise WrittenByNewer("newer format", retry_after=UPGRADE_SECONDS) from None
        except Corrupted:
            raise damaged() from None
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
        """Drop these games, and what was made from them."""
        self.games.drop(lambda game, _: game in games)
        self.earlier.drop(lambda key, _: key[0] in games)
        self.shared_reads.drop(lambda key, _: key[0] in games)
        self.published.drop(lambda game, _: game in games)
        forget_seat_views()


# Games as they are in the store now, or were just after a write.


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
        """Read a game as ``load`` does that existed a moment ago. Raises ``NotFound``."""
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
