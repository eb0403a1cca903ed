"""Calls to the servers: one command or script that reads or writes, and what an answer, an error or none means.

Owns what is repeated. A write is sent once. A read is repeated once if its connection breaks at once, so that a
connection that died unnoticed fails no request. Does not depend on what is stored, nor on where the servers are
(``service.storage.redis.topology``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, Final

from redis.exceptions import ConnectionError as ConnectionBroken
from redis.exceptions import NoScriptError

from service.games.ports import OutcomeUnknown, StorageUnavailable
from service.storage.redis.connection import Command, MaybeSent, NotSent
from service.storage.redis.errors import as_unavailable, unanswered
from service.storage.redis.script_commands import with_source
from service.storage.redis.topology import Topology

NO_RETRY_AFTER: Final = 0.3
"""Seconds: a read that broke later than this is not repeated, so that a repeated one still answers in time.

Shorter than the wait for a free connection, because an exhausted pool is no broken connection."""

REPLICA_WAIT: Final = 500
"""Milliseconds that a replica gets to confirm a write."""

Observer = Callable[[str, float], None]
"""Called with the name of an operation and the seconds that it took, whether it failed or not."""

FailureObserver = Callable[[str], None]
"""Called with the reason for which a write failed, or for which its outcome is unknown."""


def observe_nothing(*_: object) -> None:
    """Observe nothing."""


class RedisCalls:
    """Calls to the servers of a topology; with ``replicated``, a write succeeds only when a replica has confirmed it.

    ``observe`` is called for each call.
    """

    def __init__(self, topology: Topology, *, replicated: bool = False, observe: Observer = observe_nothing) -> None:
        self._topology = topology
        self._confirm: tuple[Command, ...] = ((b"WAIT", 1, REPLICA_WAIT),) if replicated else ()
        self._observe = observe

    def write(self, operation: str, key: bytes, command: Command) -> Any:
        """Run a command that writes, and wait for a replica if one has to confirm it; returns the answer.

        Raises ``StorageUnavailable`` if it was not executed, ``OutcomeUnknown`` if it may have been or no replica
        confirmed it, and errors of the program as they are.
        """
        began = monotonic()
        try:
            answer, *replicas = self._topology.call(key, command, *self._confirm)
            if isinstance(answer, NoScriptError):
                answer, *replicas = self._topology.call(key, with_source(operation, command), *self._confirm)
        except NotSent as error:
            raise unanswered(error) from error
        except MaybeSent as error:
            raise OutcomeUnknown(unanswered(error).reason) from error
        finally:
            self._observe(operation, monotonic() - began)
        if isinstance(answer, Exception):
            raise as_unavailable(answer) or answer from None
        # How scripts report a write that was made, now or earlier, and how SET does.
        if answer == 1 or isinstance(answer, list) or answer == b"OK":
            for count in replicas:
                if isinstance(count, Exception) or count < 1:
                    raise OutcomeUnknown("no replica")
        return answer

    def read(self, operation: str, key: bytes, command: Command) -> Any:
        """The answer to a command that only reads; it is repeated once if its connection breaks at once.

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
            return self.read(operation, key, with_source(operation, command))
        if isinstance(answer, Exception):
            raise as_unavailable(answer) or answer from None
        return answer


def call_scripts(topology: Topology, script: str, calls: Sequence[tuple[bytes, Command]]) -> list[Any]:
    """The answers to commands that run this script, each on the owner of the key beside it.

    A ``StorageUnavailable`` stands for one that failed; errors of the program are raised as they are.
    """
    answers = topology.call_each(calls)
    unknown = [at for at, answer in enumerate(answers) if isinstance(answer, NoScriptError)]
    if unknown:
        again = [(calls[at][0], with_source(script, calls[at][1])) for at in unknown]
        for at, answer in zip(unknown, topology.call_each(again), strict=True):
            answers[at] = answer
    return [_failure(answer) if isinstance(answer, Exception) else answer for answer in answers]


def _failure(error: Exception) -> StorageUnavailable:
    """The error of the port for an answer that failed. Raises ``error`` itself if the program is wrong."""
    if isinstance(error, NotSent | MaybeSent):
        return unanswered(error)
    unavailable = as_unavailable(error)
    if unavailable is None:
        raise error
    return unavailable
