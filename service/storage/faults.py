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

SOON = 1  # seconds: passes by itself, or with the next attempt
LATER = 5  # seconds: somebody has to act

WORDS: dict[str, int] = {
    "ASK": SOON,  # the slot is on the move
    "BUSY": SOON,  # another script runs too long
    "CLUSTERDOWN": SOON,
    "DENIED": LATER,  # protected mode: the server takes no strangers
    "LOADING": SOON,  # it reads its data after a start
    "MASTERDOWN": SOON,  # a replica without its master
    "MISCONF": LATER,  # it cannot save, and refuses writes
    "MOVED": SOON,  # the slot is elsewhere now
    "NOAUTH": LATER,
    "NOPERM": LATER,
    "NOREPLICAS": SOON,  # fewer replicas than it was told to insist on
    "OOM": LATER,  # full
    "READONLY": SOON,  # a replica: the failover is not over
    "TRYAGAIN": SOON,  # the keys of the slot are on the move
    "WRONGPASS": LATER,
}
"""The server's own words for "not now", and after how many seconds to try again."""


def unavailable(error: Exception) -> StorageUnavailable | None:
    """What ``error`` means if the store cannot answer; ``None`` if the program is wrong."""
    word = _word(error)
    if word in WORDS:
        return StorageUnavailable(word, WORDS[word])
    match error:
        case exceptions.TimeoutError() | TimeoutError():
            return StorageUnavailable("timeout", SOON)
        case (
            exceptions.AuthenticationError() | exceptions.AuthorizationError() | exceptions.ExternalAuthProviderError()
        ):
            return StorageUnavailable("auth", LATER)
        case exceptions.ResponseError() if str(error).startswith("Protocol error: unauthenticated"):
            return StorageUnavailable("NOAUTH", LATER)  # a stranger's command that is longer than it may be
        case exceptions.AuthenticationWrongNumberOfArgsError():
            return StorageUnavailable("auth", LATER)
        case exceptions.MaxConnectionsError():
            return StorageUnavailable("pool", SOON)
        case exceptions.ConnectionError() if str(error).startswith("No connection available"):
            return StorageUnavailable("pool", SOON)
        case exceptions.ConnectionError() | OSError():
            return StorageUnavailable("connection", SOON)
        case exceptions.InvalidResponse():
            return StorageUnavailable("protocol", LATER)
        case exceptions.CrossSlotTransactionError() | exceptions.InvalidPipelineStack():
            return None
        case exceptions.ClusterError() | exceptions.RedisClusterException():
            return StorageUnavailable("cluster", SOON)
        case _:
            return None


def _word(error: Exception) -> str:
    """The word with which the server began its answer, or an empty one."""
    if not isinstance(error, exceptions.RedisError):
        return ""
    return error.status_code or str(error).partition(" ")[0]
