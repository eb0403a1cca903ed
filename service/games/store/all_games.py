"""The index of all games in Redis or Valkey: a hash for each shard, with the tenant of each game.

Owns how the index is read. ``service.games.store.redis_store`` writes it with each new game and each deletion, not with
each move. Expired games stay in it until a new game of the shard, or a reader of the index, removes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Final, NamedTuple

from service.games.ports import StoredGame
from service.games.store.redis_store import parse_stored
from service.redis import keys
from service.redis.calls import RedisCalls, evalsha
from service.redis.connection import Command
from service.redis.scan import scan_pages
from service.redis.shards import shard_of

PAGE: Final = 500
"""About how many games are read together."""


class SizedGame(NamedTuple):
    """A game in the store; ``bytes``: what the server uses for it."""

    id: str
    stored: StoredGame
    bytes: int


class RedisStoredGames:
    """Reads the index of the games in a ``RedisStore``. Every method raises ``StorageUnavailable``."""

    def __init__(self, calls: RedisCalls) -> None:
        self._calls = calls

    def games(self, tenants: Set[str] | None = None) -> Iterator[SizedGame]:
        """Yield the games of these tenants, or of all, in no order.

        A game that exists during the whole iteration is yielded at least once. Deleted games can be among them as
        tombstones; the caller must ``forget`` these.
        """
        page: list[str] = []
        for ids in self._ids_of(tenants):
            page += ids
            if len(page) >= PAGE:
                yield from self._read(page)
                page = []
        yield from self._read(page)

    def forget(self, games: list[str]) -> None:
        """Remove games that no longer exist from the index."""
        by_key: dict[bytes, list[bytes]] = {}
        for game in games:
            shard = shard_of(game)
            if shard is not None:
                by_key.setdefault(keys.STORED[shard], []).append(game.encode())
        for key, fields in by_key.items():
            self._calls.write("forget_games", (key,), *fields, command=b"HDEL")

    def _ids_of(self, tenants: Set[str] | None) -> Iterator[list[str]]:
        encoded = None if tenants is None else {tenant.encode() for tenant in tenants if tenant}
        for key in keys.STORED:
            for flat in scan_pages(self._calls, "stored_games", key, before=(b"HSCAN", key), after=(b"COUNT", PAGE)):
                pairs = zip(flat[::2], flat[1::2], strict=True)
                yield [game.decode() for game, tenant in pairs if encoded is None or tenant in encoded]

    def _read(self, games: list[str]) -> list[SizedGame]:
        """Return these games without the expired ones, which are removed from the index."""
        calls: list[tuple[bytes, Command]] = [(keys.state(game), (b"GET", keys.state(game))) for game in games]
        values = dict(zip(games, self._calls.run_each("read", calls, complete=True), strict=True))
        self.forget([game for game, value in values.items() if value is None])
        found = {game: parse_stored(value) for game, value in values.items() if value is not None}
        calls = [(names[0], evalsha("game_size", names)) for names in map(keys.all_of_game, found)]
        sizes = self._calls.run_each("game_size", calls, complete=True)
        return [SizedGame(game, stored, int(size)) for (game, stored), size in zip(found.items(), sizes, strict=True)]
