"""The people of applications who are to be erased, in Redis or Valkey: a sorted set for each application.

Owns what is sent. The set lies in the slot of its application, together with the reminder that is written with it.
"""

from __future__ import annotations

from service.backends.ports import MOST_ERASURES, Erasure, ErasureStore
from service.games.model.shards import shard_of
from service.storage import keys
from service.storage.redis.calls import RedisCalls, evalsha


class RedisErasures(ErasureStore):
    """The erasures that are under way."""

    def __init__(self, calls: RedisCalls) -> None:
        self._calls = calls

    def request(self, app: str, ref: str) -> bool:
        shard = shard_of(app)
        if shard is None:
            raise ValueError("no id of an application")
        names = keys.erasures(app), keys.REMINDERS["erasures"][shard]
        command = evalsha("erase", names, app.encode(), ref.encode(), MOST_ERASURES)
        return bool(self._calls.write("erase", names[0], command) == 1)

    def pending(self, app: str) -> list[Erasure]:
        """Return who is to be erased, those who were asked for first before the others."""
        key = keys.erasures(app)
        flat = self._calls.read("erasures", key, (b"ZRANGE", key, 0, -1, b"WITHSCORES"))
        return [Erasure(ref.decode(), int(at)) for ref, at in zip(flat[::2], flat[1::2], strict=True)]

    def is_pending(self, app: str, ref: str) -> bool:
        key = keys.erasures(app)
        command = (b"ZSCORE", key, ref.encode("utf-8", "surrogatepass"))
        return self._calls.read("erasures", key, command) is not None

    def done(self, app: str, erasure: Erasure) -> None:
        key = keys.erasures(app)
        self._calls.write("erased", key, evalsha("erased", (key,), erasure.ref.encode(), erasure.at))
