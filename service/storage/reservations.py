"""The first id that a request under an idempotency key got, so that every repetition gets the same one.

Owns how it is written and read. Does not depend on what has the id.
"""

from __future__ import annotations

from service.games.ports import IDEMPOTENCY_TTL
from service.storage import keys
from service.storage.redis.calls import RedisCalls, evalsha


def reserve(calls: RedisCalls, name: str, value: str) -> str:
    """Keep a value under this name; returns the one that was kept first.

    Raises ``OutcomeUnknown`` also where that is not confirmed by a replica that has to confirm writes.
    """
    key = keys.reservation(name)
    (first,) = calls.write("reserve", key, evalsha("reserve", (key,), value.encode(), IDEMPOTENCY_TTL))
    return bytes(first).decode()


def reserved(calls: RedisCalls, name: str) -> str | None:
    """Return the value that was kept first under this name."""
    key = keys.reservation(name)
    value = calls.read("reserved", key, (b"GET", key))
    return None if value is None else bytes(value).decode()
