"""How many games a holder may have that computer players alone go on with: they take time of the service by themselves.

Owns the limit, and when such a game counts no longer. Nobody has to tell when one has ended: those that have are found
when there would be too many. Does not depend on where the games are noted.
"""

from __future__ import annotations

from typing import Final

from service.bounded_cache import BoundedCache
from service.games.model.errors import Gone, TooManyGamesOfBots
from service.games.model.game import Game
from service.games.model.schedule import bot_turn
from service.games.ports import StorageUnavailable, TimeSource
from service.games.shares import GamesOfBots
from service.games.store.repository import GameRepository

RETRY_SECONDS: Final = 10
"""After a refusal, the games of the holder are not looked at again before."""
MOST_REFUSED: Final = 1000
"""Holders who were refused lately, of which a process knows."""


class BotsAlone:
    """The games of computer players alone, ``most`` of one holder; 0 for no limit."""

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
        if not self._most or not game.seats.are_bots:
            return
        holder = game.network or game.holder  # who registers applications gets no more
        if not self._games.add(holder, game.id):
            return
        others = [each for each in self._games.all(holder) if each != game.id]
        if len(others) < self._most:
            return
        ended = [] if self._was_refused(holder) else [each for each in others if not self._is_under_way(each)]
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

    def _is_under_way(self, game_id: str) -> bool:
        """Whether a game goes on by itself; one that was not created yet counts as one that does not."""
        try:
            game = self._repository.load(game_id)
        except Gone:
            return False
        except StorageUnavailable:
            return True
        return game is not None and bot_turn(game) is not None
