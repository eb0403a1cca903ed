"""Calls to the servers: runs commands and scripts that read or write, and interprets answers and errors.

Owns the sources of the scripts and how they are run, what is repeated, and the meaning of errors. A write is sent once.
A read is repeated once if its connection breaks immediately, so that a stale connection of the pool fails no request.
Does not depend on what is stored, nor on where the servers are (``service.redis.topology``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from hashlib import sha1
from pathlib import Path
from time import monotonic
from typing import Any, Final, TypeVar

from redis import exceptions
from redis.exceptions import ConnectionError as ConnectionBroken
from redis.exceptions import NoScriptError

from service.redis.connection import Command, MaybeSent, NoMajority, NotSent
from service.redis.errors import OVERLOADED, OutcomeUnknown, StorageUnavailable
from service.redis.topology import Topology

# The classification of redis-py's errors: the store is unavailable, or there is an error in the program.


RETRY_SOON_SECONDS = 1  # the fault is temporary
RETRY_LATER_SECONDS = 5  # an operator has to act

ERROR_PREFIXES: dict[str, int] = {
    "ASK": RETRY_SOON_SECONDS,  # the slot is being migrated
    "BUSY": RETRY_SOON_SECONDS,  # another script runs for too long
    "CLUSTERDOWN": RETRY_SOON_SECONDS,
    "DENIED": RETRY_LATER_SECONDS,  # protected mode: no connections from other hosts
    "LOADING": RETRY_SOON_SECONDS,  # the server loads its data after a start
    "MASTERDOWN": RETRY_SOON_SECONDS,  # a replica that has lost its primary
    "MISCONF": RETRY_LATER_SECONDS,  # the server cannot save its data, and refuses writes
    "MOVED": RETRY_SOON_SECONDS,  # another server owns the slot now
    "NOAUTH": RETRY_LATER_SECONDS,
    "NOPERM": RETRY_LATER_SECONDS,
    "NOREPLICAS": RETRY_SOON_SECONDS,  # fewer than min-replicas-to-write
    "OOM": RETRY_LATER_SECONDS,  # out of memory
    "READONLY": RETRY_SOON_SECONDS,  # the server is a replica: a failover is in progress
    "TRYAGAIN": RETRY_SOON_SECONDS,  # the keys of the slot are being migrated
    "WRONGPASS": RETRY_LATER_SECONDS,
}
"""The prefixes of error answers for which the store is unavailable, and the seconds after which to try again."""


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
"""The reasons for which a write can fail, as metrics name them."""


def as_unavailable(error: Exception) -> StorageUnavailable | None:
    """Return the ``StorageUnavailable`` for an error of redis-py; ``None`` for an error in the program."""
    if isinstance(error, exceptions.RedisError):
        prefix = error.status_code or str(error).partition(" ")[0]
        if prefix in ERROR_PREFIXES:
            return StorageUnavailable(prefix, ERROR_PREFIXES[prefix])
    match error:
        case exceptions.TimeoutError() | TimeoutError():
            return StorageUnavailable("timeout", RETRY_SOON_SECONDS)
        case (
            exceptions.AuthenticationError()
            | exceptions.AuthenticationWrongNumberOfArgsError()
            | exceptions.AuthorizationError()
            | exceptions.ExternalAuthProviderError()
        ):
            return StorageUnavailable("auth", RETRY_LATER_SECONDS)
        case exceptions.ResponseError() if str(error).startswith("Protocol error: unauthenticated"):
            # The server refuses long commands of a client that has not authenticated.
            return StorageUnavailable("NOAUTH", RETRY_LATER_SECONDS)
        case NoMajority():
            return StorageUnavailable("no majority", RETRY_SOON_SECONDS)
        case exceptions.MaxConnectionsError():
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


def failure_of(error: Exception) -> StorageUnavailable:
    """Return the ``StorageUnavailable`` for an error instead of an answer; raise ``error`` if the program caused it."""
    cause = error.__cause__ if isinstance(error, NotSent | MaybeSent) else error
    unavailable = as_unavailable(cause) if isinstance(cause, Exception) else None
    if unavailable is None:
        raise error
    return unavailable


_SCRIPTS: Final = {path.stem: path.read_bytes() for path in (Path(__file__).parent / "scripts").glob("*.lua")}
"""The source of each script, by its name."""

_HASHES: Final = {name: sha1(source, usedforsecurity=False).hexdigest().encode() for name, source in _SCRIPTS.items()}
"""The hash of each script, as EVALSHA expects it, by its name."""

_SOURCES: Final[dict[bytes | int | str, bytes]] = {_HASHES[name]: source for name, source in _SCRIPTS.items()}

NO_RETRY_AFTER: Final = 0.3
"""Seconds after which a failed read is not repeated, because the caller would wait for too long."""

REPLICA_WAIT: Final = 500
"""Milliseconds for which a write waits for the confirmation of replicas."""

SHORT_REPLICA_WAIT: Final = 50
"""The same wait after a write was not confirmed, so that an unreachable replica does not slow down every write."""

FULL_WAIT_SECONDS: Final = 1.0
"""Seconds after which one write waits for ``REPLICA_WAIT`` again, as the replica may only be slow."""

NO_LIMIT: Final = nullcontext()
"""Any number of concurrent calls."""

E = TypeVar("E", StorageUnavailable, OutcomeUnknown)

Observer = Callable[[str, float], None]
"""Is called with the name of an operation and its duration in seconds, even if it failed."""

FailureObserver = Callable[[str], None]
"""Is called with the reason for which a write failed or has an unknown outcome."""


def observe_nothing(*_: object) -> None:
    """Do nothing: an observer for calls without metrics, or with metrics of the caller."""


def evalsha(script: str, names: Sequence[bytes], *arguments: bytes | int) -> Command:
    """Return the command that runs a script by its hash. Its source is sent only to a server that does not have it."""
    return (b"EVALSHA", _HASHES[script], len(names), *names, *arguments)


def _with_source(command: Command) -> Command:
    """Return an EVAL with the source of the script for an EVALSHA; any other command unchanged."""
    return (b"EVAL", _SOURCES[command[1]], *command[2:]) if command[0] == b"EVALSHA" else command


class RedisCalls:
    """Calls the servers of a topology.

    ``replicated``: whether a write succeeds only after replicas have confirmed it.
    ``observe``: is called for each call.
    ``observe_failure``: is called for each write that failed, and once for the failures of ``run_each``.
    ``slots``: is held during each call, to limit the concurrent calls.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        replicated: bool = False,
        observe: Observer,
        observe_failure: FailureObserver,
        slots: AbstractContextManager[object] = NO_LIMIT,
    ) -> None:
        self.topology = topology
        self._slots = slots
        self._replicated = replicated
        self._wait_in_full_at: dict[str, float] = {}
        """For each server whose last write was not confirmed: when a write waits for ``REPLICA_WAIT`` again."""
        self._observe = observe
        self._observe_failure = observe_failure

    def write(
        self, operation: str, names: Sequence[bytes], *arguments: bytes | int, command: bytes | None = None
    ) -> Any:
        """Run the script ``operation``, or ``command`` in its place, and return the answer.

        ``names``: the keys; the owner of the first one runs it. Waits for replicas if they have to confirm a write.
        Raises ``StorageUnavailable`` if it was not executed, ``OutcomeUnknown`` if it may have been executed or too few
        replicas have confirmed it, and errors in the program as they are.
        """
        key = names[0]
        head = (b"EVALSHA", _HASHES[operation], len(names)) if command is None else (command,)
        whole = (*head, *names, *arguments)
        began = monotonic()
        try:
            self.topology.require_primary(key)
            confirm = self._wait(key) if self._replicated else ()
            with self._slots:
                answer, *replicas = self.topology.call(key, whole, *confirm)
                if isinstance(answer, NoScriptError):
                    answer, *replicas = self.topology.call(key, _with_source(whole), *confirm)
        except NotSent as error:
            raise self._failed(failure_of(error)) from error
        except MaybeSent as error:
            raise self._failed(OutcomeUnknown(failure_of(error).reason)) from error
        finally:
            self._observe(operation, monotonic() - began)
        if isinstance(answer, Exception):
            raise self._failed(failure_of(answer)) from None
        # A script returns 1 or a list if this attempt or an earlier one has written; SET returns OK.
        if confirm and (answer == 1 or isinstance(answer, list) or answer == b"OK"):
            for count, (_, required, _) in zip(replicas, confirm, strict=True):
                if isinstance(count, Exception) or count < required:
                    self._wait_in_full_at.setdefault(self.topology.node(key), monotonic() + FULL_WAIT_SECONDS)
                    raise self._failed(OutcomeUnknown("no replica"))
                self._wait_in_full_at.pop(self.topology.node(key), None)
        return answer

    def _wait(self, key: bytes) -> tuple[Command]:
        """Return the WAIT command for the replicas of the owner of a key. Raises ``NotSent``."""
        node, now, milliseconds = self.topology.node(key), monotonic(), REPLICA_WAIT
        in_full_at = self._wait_in_full_at.get(node)
        if in_full_at is not None:
            if now < in_full_at:
                milliseconds = SHORT_REPLICA_WAIT
            else:
                self._wait_in_full_at[node] = now + FULL_WAIT_SECONDS  # so only this write waits in full
        return ((b"WAIT", self.topology.replicas(key), milliseconds),)

    def _failed(self, error: E) -> E:
        self._observe_failure(error.reason)
        return error

    def read(self, script: str, names: Sequence[bytes], *arguments: bytes | int) -> Any:
        """Run a script that only reads on the owner of the first key, and return the answer as ``read_all`` does."""
        command = (b"EVALSHA", _HASHES[script], len(names), *names, *arguments)
        return self.read_all(script, names[0], command)[0]

    def read_all(self, operation: str, key: bytes, *commands: Command) -> list[Any]:
        """Run commands that only read, in one round trip, and return the answers.

        They are repeated once if their connection breaks immediately. Raises ``StorageUnavailable``, and errors in the
        program as they are.
        """
        began = monotonic()
        try:
            for repeated in (False, True):
                try:
                    with self._slots:
                        answers = self.topology.call(key, *commands)
                    break
                except (NotSent, MaybeSent) as error:
                    # Not after a timeout: the server would probably be as slow again.
                    broken = type(error.__cause__) is ConnectionBroken and monotonic() - began <= NO_RETRY_AFTER
                    if repeated or not broken:
                        raise failure_of(error) from error
        finally:
            self._observe(operation, monotonic() - began)
        errors = [answer for answer in answers if isinstance(answer, Exception)]
        if any(isinstance(error, NoScriptError) for error in errors):
            return self.read_all(operation, key, *map(_with_source, commands))
        if errors:
            raise failure_of(errors[0]) from None
        return answers

    def one_for_each_primary(self, keys: Sequence[bytes]) -> list[bytes]:
        """Return one of these keys for each known primary that owns any. Raises ``StorageUnavailable``."""
        return [group[0] for group in self.by_primary(keys)]

    def by_primary(self, keys: Sequence[bytes]) -> list[Sequence[bytes]]:
        """Return keys as ``Topology.by_primary`` does. Raises ``StorageUnavailable`` if no primary is known."""
        try:
            return self.topology.by_primary(keys)
        except NotSent as error:
            raise failure_of(error) from error

    def run_each(self, operation: str, calls: Sequence[tuple[bytes, Command]], *, complete: bool = False) -> list[Any]:
        """Run each command on the owner of the key in its pair. Return the answers, ``None`` for a failure.

        ``complete``: for commands that only read, of which no answer may be missing.
        Raises ``StorageUnavailable`` if all of them failed, or any if ``complete``, and errors in the program as they
        are.
        """
        if not calls:
            return []
        began = monotonic()
        try:
            with self._slots:
                answers = self.topology.call_each(calls)
                unknown = [at for at, answer in enumerate(answers) if isinstance(answer, NoScriptError)]
                if unknown:
                    again = [(calls[at][0], _with_source(calls[at][1])) for at in unknown]
                    for at, answer in zip(unknown, self.topology.call_each(again), strict=True):
                        answers[at] = answer
        finally:
            self._observe(operation, monotonic() - began)
        answers = [failure_of(answer) if isinstance(answer, Exception) else answer for answer in answers]
        failures = [answer for answer in answers if isinstance(answer, StorageUnavailable)]
        if failures and complete:
            raise failures[0]
        if failures:
            self._failed(failures[0])
            if len(failures) == len(answers):
                raise failures[0]
        return [None if isinstance(answer, StorageUnavailable) else answer for answer in answers]
