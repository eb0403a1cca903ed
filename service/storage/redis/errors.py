"""The classification of redis-py's errors: the store is unavailable, or the program is wrong.

Owns the only table of these errors.

A server that is down, starting, full, read-only, unreachable or refuses access makes the store unavailable, which may
pass. A wrong type, a failing script and keys of two slots are errors of the program: they are raised as they are.

redis-py has classes for some error prefixes of the server and raises a plain ``ResponseError`` for others (MISCONF,
BUSY, NOREPLICAS), so the prefix decides first. Not all errors of its Cluster client are ``RedisError``.
"""

from __future__ import annotations

from typing import Final

from redis import exceptions

from service.games.ports import StorageUnavailable
from service.storage.redis.connection import MaybeSent, NotSent

RETRY_SOON_SECONDS = 1  # it passes by itself
RETRY_LATER_SECONDS = 5  # an operator has to act

ERROR_PREFIXES: dict[str, int] = {
    "ASK": RETRY_SOON_SECONDS,  # the slot is being migrated
    "BUSY": RETRY_SOON_SECONDS,  # another script is running for too long
    "CLUSTERDOWN": RETRY_SOON_SECONDS,
    "DENIED": RETRY_LATER_SECONDS,  # protected mode: no connections from other hosts
    "LOADING": RETRY_SOON_SECONDS,  # it is loading its data after a start
    "MASTERDOWN": RETRY_SOON_SECONDS,  # a replica that has lost its primary
    "MISCONF": RETRY_LATER_SECONDS,  # it cannot save its data, and refuses writes
    "MOVED": RETRY_SOON_SECONDS,  # another server owns the slot now
    "NOAUTH": RETRY_LATER_SECONDS,
    "NOPERM": RETRY_LATER_SECONDS,
    "NOREPLICAS": RETRY_SOON_SECONDS,  # fewer than min-replicas-to-write
    "OOM": RETRY_LATER_SECONDS,  # out of memory
    "READONLY": RETRY_SOON_SECONDS,  # a replica: the failover has not ended
    "TRYAGAIN": RETRY_SOON_SECONDS,  # the keys of the slot are being migrated
    "WRONGPASS": RETRY_LATER_SECONDS,
}
"""The prefixes of error answers that may pass, and the seconds after which to try again."""


WRITE_FAILURES: Final = (
    *ERROR_PREFIXES,
    "timeout",
    "connection",
    "pool",
    "auth",
    "protocol",
    "cluster",
    "no replica",
    "memory reserve",
)
"""The reasons for which a write fails, as they are counted."""


def as_unavailable(error: Exception) -> StorageUnavailable | None:
    """Return the error of the port for ``error``; ``None`` if the program is wrong."""
    prefix = _prefix(error)
    if prefix in ERROR_PREFIXES:
        return StorageUnavailable(prefix, ERROR_PREFIXES[prefix])
    match error:
        case exceptions.TimeoutError() | TimeoutError():
            return StorageUnavailable("timeout", RETRY_SOON_SECONDS)
        case (
            exceptions.AuthenticationError() | exceptions.AuthorizationError() | exceptions.ExternalAuthProviderError()
        ):
            return StorageUnavailable("auth", RETRY_LATER_SECONDS)
        case exceptions.ResponseError() if str(error).startswith("Protocol error: unauthenticated"):
            # A command that is too long for a client that has not authenticated.
            return StorageUnavailable("NOAUTH", RETRY_LATER_SECONDS)
        case exceptions.AuthenticationWrongNumberOfArgsError():
            return StorageUnavailable("auth", RETRY_LATER_SECONDS)
        case exceptions.MaxConnectionsError():
            return StorageUnavailable("pool", RETRY_SOON_SECONDS)
        case exceptions.ConnectionError() if str(error).startswith("No connection available"):
            return StorageUnavailable("pool", RETRY_SOON_SECONDS)
        case exceptions.ConnectionError() | OSError():
            return StorageUnavailable("connection", RETRY_SOON_SECONDS)
        case exceptions.InvalidResponse():
            return StorageUnavailable("protocol", RETRY_LATER_SECONDS)
        case exceptions.CrossSlotTransactionError() | exceptions.InvalidPipelineStack():
            return None
        case exceptions.ClusterError() | exceptions.RedisClusterException():
            return StorageUnavailable("cluster", RETRY_SOON_SECONDS)
        case _:
            return None


def unanswered(error: NotSent | MaybeSent) -> StorageUnavailable:
    """Return the error of the port for a call without an answer. Raises ``error`` itself if the program is wrong."""
    cause = error.__cause__
    unavailable = as_unavailable(cause) if isinstance(cause, Exception) else None
    if unavailable is None:
        raise error
    return unavailable


def _prefix(error: Exception) -> str:
    """Return the first word of an error answer; empty for other errors."""
    if not isinstance(error, exceptions.RedisError):
        return ""
    return error.status_code or str(error).partition(" ")[0]
