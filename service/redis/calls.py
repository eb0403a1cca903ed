"""Calls to the servers: one command or script that reads or writes, and what an answer, an error or none means.

Owns the sources of the scripts, how a server is told which one to run, what is repeated, and what an error means. A
write is sent once. A read is repeated once if its connection breaks at once, so that a connection that died unnoticed
fails no request. Does not depend on what is stored, nor on where the servers are (``service.redis.topology``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha1
from pathlib import Path
from threading import BoundedSemaphore
from time import monotonic
from typing import Any, Final, TypeVar

from redis import exceptions
from redis.exceptions import ConnectionError as ConnectionBroken
from redis.exceptions import NoScriptError

from service.redis.connection import Command, DedicatedConnection, MaybeSent, NoMajority, NotSent
from service.redis.errors import OVERLOADED, OutcomeUnknown, StorageUnavailable
from service.redis.topology import Topology

# The classification of redis-py's errors: the store is unavailable, or the program is wrong.


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
    OVERLOADED,
    "auth",
    "protocol",
    "cluster",
    "no replica",
    "no majority",
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
        case NoMajority():
            return StorageUnavailable("no majority", RETRY_SOON_SECONDS)
        case exceptions.MaxConnectionsError():
            return StorageUnavailable(OVERLOADED, RETRY_SOON_SECONDS)
        case exceptions.ConnectionError() if str(error).startswith("No connection available"):
            return StorageUnavailable(OVERLOADED, RETRY_SOON_SECONDS)
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


_SCRIPTS: Final = {path.stem: path.read_bytes() for path in (Path(__file__).parent / "scripts").glob("*.lua")}
"""The source of each script by its name, which is also that of the operation it runs for."""

_HASHES: Final = {name: sha1(source, usedforsecurity=False).hexdigest().encode() for name, source in _SCRIPTS.items()}
"""The hash by which a server knows a script, by its name."""

_SOURCES: Final[dict[bytes | int | str, bytes]] = {_HASHES[name]: source for name, source in _SCRIPTS.items()}

NO_RETRY_AFTER: Final = 0.3
"""Seconds: a read that broke later than this is not repeated, so that a repeated one still answers in time.

Shorter than the wait for a free connection, because an exhausted pool is no broken connection."""

REPLICA_WAIT: Final = 500
"""Milliseconds that replicas get to confirm a write."""

SHORT_REPLICA_WAIT: Final = 50
"""The same after a write that was not confirmed, so that waiting for a replica that is away costs little."""

FULL_WAIT_SECONDS: Final = 1.0
"""Seconds after which one more write waits in full, as a replica may be far away rather than away."""

E = TypeVar("E", StorageUnavailable, OutcomeUnknown)

Observer = Callable[[str, float], None]
"""Called with the name of an operation and the seconds that it took, whether it failed or not."""

FailureObserver = Callable[[str], None]
"""Called with the reason for which a write failed, or for which its outcome is unknown."""


def observe_nothing(*_: object) -> None:
    """Observe nothing: for calls whose time or failure is of no interest, or is observed by the caller."""


def evalsha(script: str, names: Sequence[bytes], *arguments: bytes | int) -> Command:
    """Return the command that runs a script by its hash, so that its source is only sent to a server that lacks it."""
    return (b"EVALSHA", _HASHES[script], len(names), *names, *arguments)


def _with_source(command: Command) -> Command:
    """Return the same command with the source of its script instead of the hash, if it runs one."""
    return (b"EVAL", _SOURCES[command[1]], *command[2:]) if command[0] == b"EVALSHA" else command


class RedisCalls:
    """Calls to the servers of a topology; with ``replicated``, a write succeeds only when replicas have confirmed it.

    ``observe`` is called for each call, ``observe_failure`` for each write that failed.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        replicated: bool = False,
        observe: Observer,
        observe_failure: FailureObserver,
    ) -> None:
        self._topology = topology
        self._replicated = replicated
        self._wait_in_full_at: dict[str, float] = {}
        """When a write to a server is to wait in full again, of servers whose last write was not confirmed."""
        self._observe = observe
        self._observe_failure = observe_failure

    def write(self, operation: str, key: bytes, command: Command) -> Any:
        """Run a command that writes, and wait for replicas if they have to confirm it; returns the answer.

        Raises ``StorageUnavailable`` if it was not executed, ``OutcomeUnknown`` if it may have been or too few replicas
        confirmed it, and errors of the program as they are.
        """
        began = monotonic()
        try:
            self._topology.require_primary(key)
            confirm = self._wait(key) if self._replicated else ()
            answer, *replicas = self._topology.call(key, command, *confirm)
            if isinstance(answer, NoScriptError):
                answer, *replicas = self._topology.call(key, _with_source(command), *confirm)
        except NotSent as error:
            raise self._failed(unanswered(error)) from error
        except MaybeSent as error:
            raise self._failed(OutcomeUnknown(unanswered(error).reason)) from error
        finally:
            self._observe(operation, monotonic() - began)
        if isinstance(answer, Exception):
            unavailable = as_unavailable(answer)
            raise answer if unavailable is None else self._failed(unavailable) from None
        # How scripts report a write that was made, now or earlier, and how SET does.
        if answer == 1 or isinstance(answer, list) or answer == b"OK":
            for count, (_, required, _) in zip(replicas, confirm, strict=True):
                if isinstance(count, Exception) or count < required:
                    self._wait_in_full_at.setdefault(self._topology.node(key), monotonic() + FULL_WAIT_SECONDS)
                    raise self._failed(OutcomeUnknown("no replica"))
                self._wait_in_full_at.pop(self._topology.node(key), None)
        return answer

    def _wait(self, key: bytes) -> tuple[Command]:
        """Return the command that waits for the replicas of the owner of a key. Raises ``NotSent``."""
        node, now, milliseconds = self._topology.node(key), monotonic(), REPLICA_WAIT
        in_full_at = self._wait_in_full_at.get(node)
        if in_full_at is not None:
            if now < in_full_at:
                milliseconds = SHORT_REPLICA_WAIT
            else:
                self._wait_in_full_at[node] = now + FULL_WAIT_SECONDS  # one at a time
        return ((b"WAIT", self._topology.replicas(key), milliseconds),)

    def _failed(self, error: E) -> E:
        """Return the error of a write, which is observed."""
        self._observe_failure(error.reason)
        return error

    def read(self, operation: str, key: bytes, command: Command) -> Any:
        """Return the answer to a command that only reads, as ``read_all`` does."""
        return self.read_all(operation, key, command)[0]

    def read_all(self, operation: str, key: bytes, *commands: Command) -> list[Any]:
        """Return the answers to commands that only read, which are sent in one round trip.

        They are repeated once if their connection breaks at once. Raises ``StorageUnavailable``, and errors of the
        program as they are.
        """
        began = monotonic()
        try:
            for repeated in (False, True):
                try:
                    answers = self._topology.call(key, *commands)
                    break
                except (NotSent, MaybeSent) as error:
                    # A timeout is not repeated: the server would be as slow again.
                    broken = type(error.__cause__) is ConnectionBroken and monotonic() - began <= NO_RETRY_AFTER
                    if repeated or not broken:
                        raise unanswered(error) from error
        finally:
            self._observe(operation, monotonic() - began)
        if any([isinstance(answer, NoScriptError) for answer in answers]):
            return self.read_all(operation, key, *map(_with_source, commands))
        for answer in answers:
            if isinstance(answer, Exception):
                raise as_unavailable(answer) or answer from None
        return answers


def call_scripts(topology: Topology, calls: Sequence[tuple[bytes, Command]]) -> list[Any]:
    """Return the answers to commands that run scripts, each on the owner of the key beside it.

    A ``StorageUnavailable`` stands for one that failed; errors of the program are raised as they are.
    """
    answers = topology.call_each(calls)
    unknown = [at for at, answer in enumerate(answers) if isinstance(answer, NoScriptError)]
    if unknown:
        again = [(calls[at][0], _with_source(calls[at][1])) for at in unknown]
        for at, answer in zip(unknown, topology.call_each(again), strict=True):
            answers[at] = answer
    return [failure_of(answer) if isinstance(answer, Exception) else answer for answer in answers]


def failure_of(error: Exception) -> StorageUnavailable:
    """Return the error of the port for an answer that failed. Raises ``error`` itself if the program is wrong."""
    if isinstance(error, NotSent | MaybeSent):
        return unanswered(error)
    unavailable = as_unavailable(error)
    if unavailable is None:
        raise error
    return unavailable


# Servers that are asked only so many things at a time, for a process that works on hundreds of games at once.


class LimitedTopology(Topology):
    """The servers of another topology, with a limit of calls under way."""

    def __init__(self, topology: Topology, most_calls: int) -> None:
        self._topology = topology
        self._calls = BoundedSemaphore(most_calls)

    def call(self, key: bytes, *commands: Command) -> list[Any]:
        """Send the commands, as soon as a call may begin."""
        with self._calls:
            return self._topology.call(key, *commands)

    def call_each(self, calls: Sequence[tuple[bytes, Command]]) -> list[Any]:
        """Send each command, as soon as a call may begin; with one connection to each primary it is one."""
        with self._calls:
            return self._topology.call_each(calls)

    @property
    def scripts_span_slots(self) -> bool:
        """Return whether one script may use keys of different slots."""
        return self._topology.scripts_span_slots

    def node(self, key: bytes) -> str:
        return self._topology.node(key)

    def one_for_each_primary(self, keys: Sequence[bytes]) -> list[bytes]:
        return self._topology.one_for_each_primary(keys)

    def require_primary(self, key: bytes) -> None:
        self._topology.require_primary(key)

    def replicas(self, key: bytes) -> int:
        return self._topology.replicas(key)

    def open_subscriber(self, key: bytes) -> DedicatedConnection:
        """Return a new connection, which is none of those for calls."""
        return self._topology.open_subscriber(key)

    def report_failure(self, key: bytes, error: Exception) -> None:
        self._topology.report_failure(key, error)

    def durability_warnings(self) -> list[str]:
        return self._topology.durability_warnings()
