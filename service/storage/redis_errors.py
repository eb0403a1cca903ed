"""What an error of redis-py means: the store cannot answer now, or the program is wrong.

Owns the only table of these errors. Must not know: games, keys, scripts, or how a fault is shown.

A store that is away, starting, full, read-only, out of reach or not ours to ask is unavailable, and that may
pass. A wrong type, a script that fails, keys of two slots are faults of the program: they are raised as they are.

redis-py knows some words of the server as classes and gives the others as a plain ``ResponseError`` (MISCONF,
BUSY, NOREPLICAS), so the word decides first; and the errors of its Cluster client are not all ``RedisError``.
"""

from __future__ import annotations

from redis import exceptions

from service.games.ports import StorageUnavailable

RETRY_SOON_SECONDS = 1  # seconds: passes by itself, or with the next attempt
RETRY_LATER_SECONDS = 5  # seconds: somebody has to act

ERROR_PREFIXES: dict[str, int] = {
    "ASK": RETRY_SOON_SECONDS,  # the slot is on the move
    "BUSY": RETRY_SOON_SECONDS,  # another script runs too long
    "CLUSTERDOWN": RETRY_SOON_SECONDS,
    "DENIED": RETRY_LATER_SECONDS,  # protected mode: the server takes no strangers
    "LOADING": RETRY_SOON_SECONDS,  # it reads its data after a start
    "MASTERDOWN": RETRY_SOON_SECONDS,  # a replica without its master
    "MISCONF": RETRY_LATER_SECONDS,  # it cannot save, and refuses writes
    "MOVED": RETRY_SOON_SECONDS,  # the slot is elsewhere now
    "NOAUTH": RETRY_LATER_SECONDS,
    "NOPERM": RETRY_LATER_SECONDS,
    "NOREPLICAS": RETRY_SOON_SECONDS,  # fewer replicas than it was told to insist on
    "OOM": RETRY_LATER_SECONDS,  # full
    "READONLY": RETRY_SOON_SECONDS,  # a replica: the failover is not over
    "TRYAGAIN": RETRY_SOON_SECONDS,  # the keys of the slot are on the move
    "WRONGPASS": RETRY_LATER_SECONDS,
}
"""The server's own words for "not now", and after how many seconds to try again."""


def as_unavailable(error: Exception) -> StorageUnavailable | None:
    """What ``error`` means if the store cannot answer; ``None`` if the program is wrong."""
    word = _reason(error)
    if word in ERROR_PREFIXES:
        return StorageUnavailable(word, ERROR_PREFIXES[word])
    match error:
        case exceptions.TimeoutError() | TimeoutError():
            return StorageUnavailable("timeout", RETRY_SOON_SECONDS)
        case (
            exceptions.AuthenticationError() | exceptions.AuthorizationError() | exceptions.ExternalAuthProviderError()
        ):
            return StorageUnavailable("auth", RETRY_LATER_SECONDS)
        case exceptions.ResponseError() if str(error).startswith("Protocol error: unauthenticated"):
            return StorageUnavailable(
                "NOAUTH", RETRY_LATER_SECONDS
            )  # a stranger's command that is longer than it may be
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


def _reason(error: Exception) -> str:
    """The word with which the server began its answer, or an empty one."""
    if not isinstance(error, exceptions.RedisError):
        return ""
    return error.status_code or str(error).partition(" ")[0]
