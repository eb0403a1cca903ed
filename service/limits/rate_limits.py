"""The counters of the rate limits in Redis, by the storages of ``limits``.

Owns their connections, which are not those of the games: few of them, short time-outs, no retries, as a worker that
cannot count in time falls back to a local count.
"""

from __future__ import annotations

from typing import Any, Final

import redis
from limits.storage import RedisClusterStorage, RedisSentinelStorage, RedisStorage, Storage
from redis.backoff import NoBackoff
from redis.connection import parse_url
from redis.retry import Retry

from service.redis.url import read_redis_url

PREFIX: Final = "domino:limit"
"""The prefix of all counters' keys."""

_CONNECTIONS: Final = 16
_POOL_WAIT: Final = 0.1
_WAIT: Final = 0.25


def counters_at(url: str) -> Storage:
    """Return the counters on the servers of ``REDIS_URL``, with short waits. May connect."""
    known = read_redis_url(url)
    waits: dict[str, Any] = {
        "socket_timeout": _WAIT,
        "socket_connect_timeout": _WAIT,
        "retry": Retry(NoBackoff(), 0),
        "protocol": 2,
    }
    if known.kind == "single":
        pool = redis.BlockingConnectionPool.from_url(url, max_connections=_CONNECTIONS, timeout=_POOL_WAIT, **waits)
        return RedisStorage(url, connection_pool=pool, key_prefix=PREFIX)
    hosts = ",".join([f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in known.addresses])
    options = _options(known.server(known.addresses[0]))
    if known.kind == "cluster":
        return RedisClusterStorage(
            f"redis+cluster://{hosts}",
            key_prefix=PREFIX,
            max_connections=_CONNECTIONS,
            **{name: value for name, value in options.items() if name != "db"},
            **waits,
        )
    # The Sentinels have a password of their own, and none of the rest.
    own: dict[str, Any] = {"username": None, "password": None} | _options(known.sentinel(known.addresses[0]))
    return RedisSentinelStorage(
        f"redis+sentinel://{hosts}/{known.service}",
        key_prefix=PREFIX,
        use_replicas=False,
        sentinel_kwargs=waits | own,
        max_connections=_CONNECTIONS,
        **options,
        **waits,
    )


def _options(url: str) -> dict[str, Any]:
    """Return what the URL of one server says of it beside its address."""
    options: dict[str, Any] = dict(parse_url(url))  # type: ignore[no-untyped-call]
    if options.pop("connection_class", None) is not None:
        options["ssl"] = True
    return {name: value for name, value in options.items() if name not in ("host", "port")}
