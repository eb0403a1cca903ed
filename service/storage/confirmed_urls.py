"""The URLs of remote players that have answered a challenge, in Redis or Valkey: a sorted set for each application.

Owns what is sent. The set has digests in place of the URLs, and lies in the slot of its application.
"""

from __future__ import annotations

from service.backends.ports import CONFIRMED_MS, MOST_CONFIRMED, ConfirmedUrls
from service.storage import keys
from service.storage.redis.calls import RedisCalls, evalsha


class RedisConfirmedUrls(ConfirmedUrls):
    """The URLs that have answered."""

    def __init__(self, calls: RedisCalls) -> None:
        self._calls = calls

    def is_confirmed(self, app: str, url: str, now: int) -> bool:
        key = keys.confirmed_urls(app)
        at = self._calls.read("confirmed_urls", key, (b"ZSCORE", key, keys.digest(url)))
        return at is not None and now < float(at) + CONFIRMED_MS

    def confirm(self, app: str, url: str, now: int) -> None:
        key = keys.confirmed_urls(app)
        command = evalsha("confirm_url", (key,), keys.digest(url), now, MOST_CONFIRMED, CONFIRMED_MS)
        self._calls.write("confirm_url", key, command)
