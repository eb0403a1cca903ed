"""The index, the lobbies and the feed of applications on real servers, and what lies behind them."""

from __future__ import annotations

import json
from typing import Any

from service.backends.index.store import RedisFeed, RedisIndex, RedisLobby
from service.backends.webhooks.messages import MESSAGE_TYPES
from service.redis import keys
from service.redis.topology import Topology
from tests.support.stores.redis_stores import redis_calls


class StoredIndex:
    """The stores of the index, the lobbies and the feed on the servers of a topology."""

    def __init__(self, topology: Topology, ttl_seconds: int, *, replicated: bool = False) -> None:
        calls = redis_calls(topology, replicated=replicated)
        self.topology = topology
        self.index = RedisIndex(calls, ttl_seconds)
        self.lobby = RedisLobby(calls)
        self.feed = RedisFeed(calls)

    def items(self, app: str) -> list[bytes]:
        """The items of the feed of an application."""
        key = keys.part(b"feed", app)
        return [fields[1] for _, fields in self.call(key, b"XRANGE", key, b"-", b"+")]

    def keep(self, app: str, items: int) -> None:
        """Drop the oldest items of a feed."""
        self.call(keys.part(b"feed", app), b"XTRIM", keys.part(b"feed", app), b"MAXLEN", items)

    def activate(self, app: str, endpoint: str, *types: str) -> None:
        """Have an endpoint notified of the games of an application by messages of these types, or of all."""
        names = keys.part(b"endpoints", app), keys.part(b"webhooks", app)
        self.call(names[0], b"SADD", names[0], endpoint.encode())
        self.call(names[1], b"HSET", names[1], endpoint.encode(), json.dumps({"events": types or MESSAGE_TYPES}))

    def due(self, app: str, endpoint: str) -> dict[str, int]:
        """When an endpoint is to be notified of which games."""
        (key,) = keys.webhook(app, endpoint, "due")
        pairs = self.call(key, b"ZRANGE", key, 0, -1, b"WITHSCORES")
        return {game.decode(): int(at) for game, at in zip(pairs[::2], pairs[1::2], strict=True)}

    def notified(self, app: str, endpoint: str) -> dict[str, int]:
        """Up to which version an endpoint was notified of which games."""
        (key,) = keys.webhook(app, endpoint, "notified")
        pairs = self.call(key, b"HGETALL", key)
        return {game.decode(): int(version) for game, version in zip(pairs[::2], pairs[1::2], strict=True)}

    def call(self, key: bytes, *command: Any) -> Any:
        (answer,) = self.topology.call(key, command)
        assert not isinstance(answer, Exception), answer
        return answer
