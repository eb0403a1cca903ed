"""Games kept in Redis or Valkey: one script for each kind of write, one command to read a game.

Owns what is sent and how answers are read. Does not depend on what a state or an event means, nor on where the servers
are (``service.storage.topology``).

A write is sent once; a caller that repeats it sends the same id, by which the script recognises it. A read is repeated
once if its connection breaks at once, so that a connection that died unnoticed fails no request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any, Final

from redis.exceptions import ConnectionError as ConnectionBroken
from redis.exceptions import NoScriptError

from service.games.ports import (
    IDEMPOTENCY_TTL,
    NO_REMINDERS,
    EventRange,
    GameExists,
    OutcomeUnknown,
    PriorWrite,
    Reminders,
    StorageUnavailable,
    Store,
    StoredGame,
    WriteRequest,
)
from service.games.shards import shard_of
from service.storage import keys
from service.storage.connection import Command, MaybeSent, NotSent
from service.storage.event_frames import block_of, event_of, events_of, frame, last_write
from service.storage.memory_reserve import MemoryReserve
from service.storage.redis_errors import as_unavailable, unanswered
from service.storage.script_commands import evalsha, with_source
from service.storage.topology import Topology

NO_RETRY_AFTER: Final = 0.3
"""Seconds: a read that broke later than this is not repeated, so that a repeated one still answers in time.

Shorter than the wait for a free connection, because an exhausted pool is no broken connection."""

REPLICA_WAIT: Final = 500
"""Milliseconds that a replica gets to confirm a write."""

CHECK_TTL: Final = 1000
"""Milliseconds that a key written by ``check`` lives."""

_IDEMPOTENCY_TTL: Final = b"%d" % IDEMPOTENCY_TTL

Observer = Callable[[str, float], None]
"""Called with the name of an operation and the seconds that it took, whether it failed or not."""

FailureObserver = Callable[[str], None]
"""Called with the reason for which a write failed, or for which its outcome is unknown."""


def _ignore(*_: object) -> None:
    """Observe nothing."""


class RedisStore(Store):
    """Keeps games in Redis or Valkey (7.0 or newer), as the port ``Store`` promises.

    A game lives for ``ttl_seconds`` after its last write. With ``replicated``, a write succeeds only when a replica
    has confirmed it; otherwise its outcome is unknown. New games are refused while the ``reserve`` is touched.
    """

    def __init__(
        self,
        topology: Topology,
        ttl_seconds: int,
        *,
        replicated: bool = False,
        reserve: MemoryReserve | None = None,
        observe: Observer = _ignore,
        observe_failure: FailureObserver = _ignore,
    ) -> None:
        if ttl_seconds < 1:
            raise ValueError("a game must live for at least one second")
        self._topology = topology
        self._ttl = b"%d" % ttl_seconds
        self._confirm: tuple[Command, ...] = ((b"WAIT", 1, REPLICA_WAIT),) if replicated else ()
        self._reserve = reserve
        self._observe = observe
        self._observe_failure = observe_failure

    def create(
        self,
        game: str,
        state: bytes,
        events: Sequence[bytes],
        write: WriteRequest,
        *,
        reminders: Reminders = NO_REMINDERS,
    ) -> PriorWrite | None:
        """Store a new game; raises ``GameExists``."""
        names = keys.of_game(game, write.idempotency and write.idempotency.name)
        value = b"%d %b" % (len(events), state)
        sets, tail = _reminder_args(game, reminders)
        head = (value, self._ttl, *_write_args(write, len(events)))
        command = evalsha("create", names + sets, *head, len(sets), *frame(write.id, events), *tail)
        answer = self._write("create", names[0], command, *self._confirm, for_new_game=True)
        if answer == 0:
            raise GameExists(game)
        return None if answer == 1 else _parse_prior(answer[0])

    def read(self, game: str) -> StoredGame | None:
        """The current game, or ``None``."""
        key = keys.state(game)
        value = self._read("read", key, (b"GET", key))
        return None if value is None else _parse_stored(value)

    def commit(
        self,
        game: str,
        expected: int,
        state: bytes,
        events: Sequence[bytes],
        write: WriteRequest,
        *,
        after: bytes = b"",
        again: bool = False,
        reminders: Reminders = NO_REMINDERS,
    ) -> StoredGame | PriorWrite | None:
        """Replace the state of a game at version ``expected``; ``None`` when done."""
        names = keys.of_game(game, write.idempotency and write.idempotency.name)
        version = expected + len(events)
        value = b"%d %b" % (version, state)
        sets, tail = _reminder_args(game, reminders)
        head = (b"%d %b" % (expected, after), value, self._ttl, *_write_args(write, version), b"%d" % again)
        command = evalsha("commit", names + sets, *head, len(sets), *frame(write.id, events), *tail)
        answer = self._write("commit", names[0], command, *self._confirm)
        if answer == 1:
            return None
        if answer == 0:
            raise OutcomeUnknown("compacted")
        if answer is None:
            raise KeyError(game)
        return _parse_prior(answer[0]) if isinstance(answer, list) else _parse_stored(answer)

    def find_write(self, game: str, name: str) -> PriorWrite | None:
        """The write under that idempotency key."""
        names = keys.of_game(game, name)
        answer = self._write("find_write", names[0], evalsha("find_write", names, self._ttl), *self._confirm)
        return None if answer is None else _parse_prior(answer[0])

    def reserve(self, name: str, value: str) -> str:
        """The first value under this name."""
        key = keys.reservation(name)
        first = self._write(
            "reserve", key, (b"SET", key, value, b"NX", b"GET", b"EX", _IDEMPOTENCY_TTL), for_new_game=True
        )
        return value if first is None else bytes(first).decode()

    def events(self, game: str, versions: Sequence[int]) -> list[bytes]:
        """The events of these versions that are kept."""
        if not versions:
            return []
        names = keys.of_game(game)
        answer = self._read("events", names[0], evalsha("events", names, *versions))
        if not answer or not isinstance(answer[0], int):
            return [event_of(entry) for entry in answer if entry is not None]
        newest, *entries = answer
        by_version = dict(zip(range(newest, 0, -1), reversed(events_of(entries)), strict=False))
        return [by_version[version] for version in versions if version in by_version]

    def event_range(self, game: str, after: int, limit: int) -> EventRange | None:
        """At most ``limit`` events after that version."""
        names = keys.of_game(game)
        answer = self._read("event_range", names[0], evalsha("event_range", names, after, limit))
        if answer is None:
            return None
        version, first, *entries = answer
        events = events_of(entries)
        if first is None:  # these are all events that are kept, since the list begins with a block
            oldest = version - len(events) + 1
            first = max(after + 1, oldest)
            events = events[first - oldest :]
        return EventRange(first, tuple(events[:limit]), version)

    def compact(self, game: str) -> None:
        """Compress all events but those of the last write."""
        key = keys.events(game)
        entries = self._read("compact", key, (b"LRANGE", key, 0, -1))
        last = last_write(entries)
        block = block_of(entries[:last])
        if block is not None:
            head = (b"%d" % len(entries), b"%d" % (len(entries) - last), entries[last], block)
            self._write("compact", key, evalsha("compact", (key,), *head), *self._confirm)

    def check(self) -> None:
        """Write a key that soon expires on every primary; raises if none of them takes it."""
        try:
            checks = self._topology.one_for_each_primary(keys.CHECKS)
        except NotSent as error:
            raise unanswered(error) from error
        if len(checks) == 1:
            errors = [self._write_check(checks[0])]
        else:
            with ThreadPoolExecutor(len(checks)) as threads:  # so that the waits for servers that are away overlap
                errors = list(threads.map(self._write_check, checks))
        failed = [error for error in errors if error is not None]
        if len(failed) == len(errors):
            raise failed[0]

    def _write_check(self, key: bytes) -> StorageUnavailable | None:
        """Write one key for ``check``; returns the error."""
        try:
            self._write("check", key, (b"SET", key, 1, b"PX", CHECK_TTL), *self._confirm)
        except StorageUnavailable as error:
            return error
        except OutcomeUnknown as error:
            return StorageUnavailable(error.reason, error.retry_after)
        return None

    def _write(
        self, operation: str, key: bytes, command: Command, *confirm: Command, for_new_game: bool = False
    ) -> Any:
        """As ``_send_write``, with its failure observed; for a new game only where the server still takes new games."""
        try:
            if for_new_game and self._reserve is not None:
                try:
                    self._reserve.require(key)
                except (NotSent, MaybeSent) as error:
                    raise unanswered(error) from error
            return self._send_write(operation, key, command, *confirm)
        except (StorageUnavailable, OutcomeUnknown) as error:
            self._observe_failure(error.reason)
            raise

    def _send_write(self, operation: str, key: bytes, command: Command, *confirm: Command) -> Any:
        """Run a command that writes, and ``confirm`` (a WAIT) after it; returns the command's answer.

        Raises ``StorageUnavailable`` if it was not executed, ``OutcomeUnknown`` if it may have been or no replica
        confirmed it, and errors of the program as they are.
        """
        began = monotonic()
        try:
            answer, *replicas = self._topology.call(key, command, *confirm)
            if isinstance(answer, NoScriptError):
                answer, *replicas = self._topology.call(key, with_source(operation, command), *confirm)
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

    def _read(self, operation: str, key: bytes, command: Command) -> Any:
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
            return self._read(operation, key, with_source(operation, command))
        if isinstance(answer, Exception):
            raise as_unavailable(answer) or answer from None
        return answer


def _write_args(write: WriteRequest, version: int) -> list[bytes]:
    """The id of the write as it precedes its first event, its idempotency record, and how long that lives."""
    if write.idempotency is None:
        return [write.id + b" ", b"", b""]
    return [write.id + b" ", b"%b %d %b" % (write.id, version, write.idempotency.fingerprint), _IDEMPOTENCY_TTL]


def _reminder_args(game: str, reminders: Reminders) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """The sets of the reminders of a game, and the last arguments of a script that writes them; none without any."""
    shard = shard_of(game) if reminders else None
    if shard is None:
        return (), ()
    due = [b"" if at is None else b"%d" % at for at in reminders.values()]
    return tuple([keys.REMINDERS[kind][shard] for kind in reminders]), (game.encode(), *due)


def _parse_stored(value: bytes) -> StoredGame:
    version, _, state = value.partition(b" ")
    return StoredGame(int(version), state)


def _parse_prior(value: bytes) -> PriorWrite:
    write_id, version, fingerprint = value.split(b" ", 2)
    return PriorWrite(int(version), fingerprint, write_id)
