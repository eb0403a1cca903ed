"""How many games a holder may have that computer players may go on with alone: they take time of the service.

Owns the limit, and when such a game counts no longer. Nobody has to tell when one has ended: those that have are found
when there would be too many.
"""

from __future__ import annotations

from typing import Final

from service.bounded_cache import BoundedCache
from service.games.model.errors import Gone, TooManyGamesOfBots
from service.games.model.game import Game
from service.games.model.schedule import is_under_way
from service.games.model.seats import may_go_on_alone
from service.games.ports import StorageUnavailable, TimeSource
from service.games.shares import GamesOfBots
from service.games.store.repository import GameRepository

RETRY_SECONDS: Final = 10
"""After a refusal, the games of the holder are not looked at again before."""
CREATION_MS: Final = 30_000
"""For so long after it was noted, a game that does not exist may be about to be stored, and counts."""
MOST_REFUSED: Final = 1000
"""Holders who were refused lately, of which a process knows."""


class BotsAlone:
    """The games that computer players may go on with alone, ``most`` of one holder; 0 for no limit."""

    def __init__(self, games: GamesOfBots, repository: GameRepository, clock: TimeSource, most: int) -> None:
        self._games = games
        self._repository = repository
        self._clock = clock
        self._most = most
        self._refused = BoundedCache[str, int](MOST_REFUSED)

    def admit(self, game: Game) -> None:
        """Note a game that is about to be created; one that was admitted before is again.

        Raises ``TooManyGamesOfBots`` if its holder has as many as may be under way, ``StorageUnavailable``,
        ``OutcomeUnknown``.
        """
        absence = None if game.clock is None else game.clock.absence
        if not self._most or not may_go_on_alone([seat.kind for seat in game.seats], absence):
            return
        holder = game.holder
        now = self._clock()
        if not self._games.add(holder, game.id, now):
            return
        others = {each: at for each, at in self._games.all(holder).items() if each != game.id}
        if len(others) < self._most:
            return
        counted = self._was_refused(holder)
        ended = [] if counted else [each for each, at in others.items() if not self._is_under_way(each, now - at)]
        left = len(others) - len(ended)
        if left >= self._most:
            ended.append(game.id)
            self._refused.put(holder, self._clock())
        if ended:
            self._games.remove(holder, ended)
        if left >= self._most:
            raise TooManyGamesOfBots(self._most, RETRY_SECONDS)

    def _was_refused(self, holder: str) -> bool:
        at = self._refused.get(holder)
        return at is not None and self._clock() - at < RETRY_SECONDS * 1000

    def _is_under_way(self, game_id: str, age: int) -> bool:
        """Return whether a game that was noted ``age`` milliseconds ago goes on, or may be about to be stored."""
        try:
            game = self._repository.load(game_id)
        except Gone:
            return False
        except StorageUnavailable:
            return True
        return age < CREATION_MS if game is None else is_under_way(game)
