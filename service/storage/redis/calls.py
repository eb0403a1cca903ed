"""Calls to the servers: one command or script that reads or writes, and what an answer, an error or none means.

Owns the sources of the scripts, how a server is told which one to run, and what is repeated. A write is sent once. A
read is repeated once if its connection breaks at once, so that a connection that died unnoticed fails no request. Does
not depend on what is stored, nor on where the servers are (``service.storage.redis.topology``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha1
from pathlib import Path
from time import monotonic
from typing import Any, Final, TypeVar

from redis.exceptions import ConnectionError as ConnectionBroken
from redis.exceptions import NoScriptError

from service.games.ports import OutcomeUnknown, StorageUnavailable
from service.storage.redis.connection import Command, MaybeSent, NotSent
from service.storage.redis.errors import as_unavailable, unanswered
from service.storage.redis.topology import Topology

_SCRIPTS: Final = {path.stem: path.read_bytes() for path in (Path(__file__).parent.parent / "scripts").glob("*.lua")}
"""The source of each script by its name, which is also that of the operation it runs for."""

_HASHES: Final = {name: sha1(source, usedforsecurity=False).hexdigest().encode() for name, source in _SCRIPTS.items()}
"""The hash by which a server knows a script, by its name."""

NO_RETRY_AFTER: Final = 0.3
"""Seconds: a read that broke later than this is not repeated, so that a repeated one still answers in time.

Shorter than the wait for a free connection, because an exhausted pool is no broken connection."""

REPLICA_WAIT: Final = 500
"""Milliseconds that a replica gets to confirm a write."""

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


def _with_source(script: str, command: Command) -> Command:
    """Return the same command with the source of the script instead of its hash."""
    return (b"EVAL", _SCRIPTS[script], *command[2:])


class RedisCalls:
    """Calls to the servers of a topology; with ``replicated``, a write succeeds only when a replica has confirmed it.

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
        self._confirm: tuple[Command, ...] = ((b"WAIT", 1, REPLICA_WAIT),) if replicated else ()
        self._observe = observe
        self._observe_failure = observe_failure

    def write(self, operation: str, key: bytes, command: Command) -> Any:
        """Run a command that writes, and wait for a replica if one has to confirm it; returns the answer.

        Raises ``StorageUnavailable`` if it was not executed, ``OutcomeUnknown`` if it may have been or no replica
        confirmed it, and errors of the program as they are.
        """
        began = monotonic()
        try:
            answer, *replicas = self._topology.call(key, command, *self._confirm)
            if isinstance(answer, NoScriptError):
                answer, *replicas = self._topology.call(key, _with_source(operation, command), *self._confirm)
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
            for count in replicas:
                if isinstance(count, Exception) or count < 1:
                    raise self._failed(OutcomeUnknown("no replica"))
        return answer

    def _failed(self, error: E) -> E:
        """Return the error of a write, which is observed."""
        self._observe_failure(error.reason)
        return error

    def read(self, operation: str, key: bytes, command: Command) -> Any:
        """Return the answer to a command that only reads; it is repeated once if its connection breaks at once.

        Raises ``StorageUnavailable``, and errors of the program as they are.
        """
        began = monotonic()
        try:
            for repeated in (False, True):
                try:
                    (answer,) = self._topology.call(key, command)
                    break
                except (NotSent, MaybeSent) as error:
                    # A timeout is not repeated: the server would be as slow again.
                    broken = type(error.__cause__) is ConnectionBroken and monotonic() - began <= NO_RETRY_AFTER
                    if repeated or not broken:
                        raise unanswered(error) from error
        finally:
            self._observe(operation, monotonic() - began)
        if isinstance(answer, NoScriptError) and command[0] == b"EVALSHA":
            return self.read(operation, key, _with_source(operation, command))
        if isinstance(answer, Exception):
            raise as_unavailable(answer) or answer from None
        return answer


def call_scripts(topology: Topology, script: str, calls: Sequence[tuple[bytes, Command]]) -> list[Any]:
    """Return the answers to commands that run this script, each on the owner of the key beside it.

    A ``StorageUnavailable`` stands for one that failed; errors of the program are raised as they are.
    """
    answers = topology.call_each(calls)
    unknown = [at for at, answer in enumerate(answers) if isinstance(answer, NoScriptError)]
    if unknown:
        again = [(calls[at][0], _with_source(script, calls[at][1])) for at in unknown]
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
