"""The games that computer players may go on with alone, in Redis or Valkey: a sorted set for each holder.

Owns what is sent.
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

    def add(self, holder: str, game: str, at: int) -> bool:
        key = keys.games_of_bots(holder)
        added = self._calls.write("games_of_bots", key, (b"ZADD", key, b"NX", at, game.encode()))
        self._calls.write("games_of_bots", key, (b"EXPIRE", key, self._ttl))
        return bool(added)

    def all(self, holder: str) -> dict[str, int]:
        key = keys.games_of_bots(holder)
        flat = self._calls.read("games_of_bots", key, (b"ZRANGE", key, 0, -1, b"WITHSCORES"))
        return {game.decode(): int(at) for game, at in zip(flat[::2], flat[1::2], strict=True)}

    def remove(self, holder: str, games: list[str]) -> None:
        key = keys.games_of_bots(holder)
        self._calls.write("games_of_bots", key, (b"ZREM", key, *[game.encode() for game in games]))
