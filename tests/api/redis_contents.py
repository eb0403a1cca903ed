"""All that a Redis server holds, for tests that look for what must not be there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import redis

from service.games.store.redis_store import events_of


def contents(server: redis.Redis) -> Iterator[tuple[bytes, Any]]:
    """Every key of the server with all that is in it; the events of a game as they are, also of a compacted one."""
    for key in server.scan_iter(count=1000):
        match server.type(key):
            case b"string":
                yield key, server.get(key)
            case b"list":
                entries: Any = server.lrange(key, 0, -1)
                blocks = [entry for entry in entries if entry.startswith(b"*") and key.endswith(b":events")]
                yield key, [*entries, *events_of(blocks)]  # not of all entries: a test has damaged some
            case b"hash":
                yield key, server.hgetall(key)
            case b"set":
                yield key, server.smembers(key)
            case b"zset":
                yield key, server.zrange(key, 0, -1, withscores=True)
            case b"stream":
                yield key, server.xrange(key)
            case other:
                assert other == b"none", other


def flat(value: Any) -> bytes:
    """A value of Redis as one text."""
    if isinstance(value, bytes):
        return value
    parts = [*value, *value.values()] if isinstance(value, dict) else value
    return b"\n".join([flat(each) if isinstance(each, bytes | list | tuple | dict) else b"" for each in parts])


def keys_with(server: redis.Redis, text: bytes) -> list[bytes]:
    """The keys in which this is, or in whose names."""
    return [key for key, value in contents(server) if text in key + flat(value)]


def clear(server: redis.Redis) -> None:
    """Remove everything but the applications."""
    for key in server.scan_iter(count=1000):
        if b":app" not in key:
            server.delete(key)
