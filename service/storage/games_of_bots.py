"""The games that computer players alone go on with, in Redis or Valkey: a set for each holder.

Owns what is sent. Does not depend on which of them are still under way.
"""

from __future__ import annotations

from service.games.shares import GamesOfBots
from service.storage import keys
from service.storage.redis.calls import RedisCalls


class RedisGamesOfBots(GamesOfBots):
    """The games of holders; what is kept of a holder who creates none lives for ``ttl_seconds``, as games do."""

    def __init__(self, calls: RedisCalls, ttl_seconds: int) -> None:
        self._calls = calls
        self._ttl = ttl_seconds

    def add(self, holder: str, game: str) -> bool:
        """Note a game."""
        key = keys.games_of_bots(holder)
        added = self._calls.write("games_of_bots", key, (b"SADD", key, game.encode()))
        self._calls.write("games_of_bots", key, (b"EXPIRE", key, self._ttl))
        return bool(added)

    def all(self, holder: str) -> list[str]:
        """The games that were noted."""
        key = keys.games_of_bots(holder)
        return [game.decode() for game in self._calls.read("games_of_bots", key, (b"SMEMBERS", key))]

    def remove(self, holder: str, games: list[str]) -> None:
        """Forget games."""
        key = keys.games_of_bots(holder)
        self._calls.write("games_of_bots", key, (b"SREM", key, *[game.encode() for game in games]))
