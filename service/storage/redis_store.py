"""Games kept in Redis or Valkey: one typed method a script, and one command to read a game.

Owns what is sent and how the answer is read. Must not know: what a state or an event means, nor where the servers
are (``service.storage.topology``).

A write is sent once; who sends it again gives the same id, by which the script knows it. A read is sent a second time
if its connection breaks at once, for a read does no harm: so a connection that died unnoticed (the other machine lost
its power) fails nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha1
from pathlib import Path
from time import monotonic
from typing import Any, Final

from redis.exceptions import ConnectionError as ConnectionBroken
from redis.exceptions import NoScriptError

from service.games.ports import (
    IDEMPOTENCY_TTL,
    EventRange,
    GameExists,
    OutcomeUnknown,
    PriorWrite,
    StorageUnavailable,
    Store,
    StoredGame,
    WriteRequest,
)
from service.storage import keys
from service.storage.event_frames import block_of, event_of, events_of, frame, last_write
from service.storage.redis_errors import as_unavailable
from service.storage.topology import Command, MaybeSent, NotSent, Topology

NO_RETRY_AFTER: Final = 0.3
"""Seconds: a broken read that took longer is not sent again, so that the second one still answers in time.

Shorter than the wait for a free connection, for a full pool is no broken connection."""

_IDEMPOTENCY_TTL: Final = b"%d" % IDEMPOTENCY_TTL

REPLICA_WAIT: Final = 500
"""Milliseconds that a replica gets to confirm a write."""

Observer = Callable[[str, float], None]
"""Told the name of an operation and the seconds it took."""


def _nobody(_operation: str, _seconds: float) -> None:
    """Watch nothing."""


class RedisStore(Store):
    """Keeps games in Redis or Valkey (7.0 or newer); the port ``Store`` says what each method promises.

    A game lives for ``ttl_seconds`` after its last write. With ``replicated``, a write is made only when a replica
    has it, too; with too few of them its outcome is unknown.
    """

    def __init__(
        self, nodes: Topology, ttl_seconds: int, *, replicated: bool = False, observe: Observer = _nobody
    ) -> None:
        if ttl_seconds < 1:
            raise ValueError("a game must live for a second at least")
        self._nodes = nodes
        self._ttl = b"%d" % ttl_seconds
        self._confirm: tuple[Command, ...] = ((b"WAIT", 1, REPLICA_WAIT),) if replicated else ()
        self._observe = observe

    def create(self, game: str, state: bytes, events: Sequence[bytes], write: WriteRequest) -> PriorWrite | None:
        """Keep a new game; raises ``GameExists``."""
        value = b"%d %b" % (len(events), state)
        head = (value, self._ttl, *_write_args(write, len(events)))
        answer = self._write(_CREATE, game, write, *head, *frame(write.id, events))
        if answer == 0:
            raise GameExists(game)
        return None if answer == 1 else _parse_prior(answer[0])

    def read(self, game: str) -> StoredGame | None:
        """The game as it is now, or ``None``."""
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
    ) -> StoredGame | PriorWrite | None:
        """Move a game on from version ``expected``; ``None`` when done."""
        version = expected + len(events)
        value = b"%d %b" % (version, state)
        head = (b"%d %b" % (expected, after), value, self._ttl, *_write_args(write, version), b"%d" % again)
        answer = self._write(_COMMIT, game, write, *head, *frame(write.id, events))
        if answer == 1:
            return None
        if answer == 0:
            raise OutcomeUnknown("compacted")
        if answer is None:
            raise KeyError(game)
        return _parse_prior(answer[0]) if isinstance(answer, list) else _parse_stored(answer)

    def find_write(self, game: str, name: str) -> PriorWrite | None:
        """What was made under that name."""
        names = (keys.state(game), keys.events(game), keys.idempotency(game, name))
        answer = self._run(_KEPT, names, self._ttl)
        return None if answer is None else _parse_prior(answer[0])

    def reserve(self, name: str, value: str) -> str:
        """The first value under this name."""
        key = keys.reservation(name)
        command = (b"SET", key, value, b"NX", b"GET", b"EX", _IDEMPOTENCY_TTL)
        first = self._timed("reserve", lambda: self._call(key, command))
        return value if first is None else bytes(first).decode()

    def events(self, game: str, versions: Sequence[int]) -> list[bytes]:
        """The kept ones among the events of these versions."""
        if not versions:
            return []
        found = self._read_script(_EVENTS, game, *versions)
        if not found or not isinstance(found[0], int):
            return [event_of(entry) for entry in found if entry is not None]
        newest, *entries = found
        kept = dict(zip(range(newest, 0, -1), reversed(events_of(entries)), strict=False))
        return [kept[version] for version in versions if version in kept]

    def event_range(self, game: str, after: int, limit: int) -> EventRange | None:
        """At most so many events after that version."""
        found = self._read_script(_PASSAGE, game, after, limit)
        if found is None:
            return None
        version, first, *entries = found
        events = events_of(entries)
        if first is None:  # all that is kept, for it begins with a block
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
            self._run(_COMPACT, (key,), b"%d" % len(entries), b"%d" % (len(entries) - last), entries[last], block)

    def check(self) -> None:
        """Read as a game would be read."""
        self._read("check", keys.CHECK, (b"GET", keys.CHECK))

    def _write(self, script: _Script, game: str, write: WriteRequest, *arguments: bytes) -> Any:
        names = [keys.state(game), keys.events(game)]
        if write.idempotency is not None:
            names.append(keys.idempotency(game, write.idempotency.name))
        return self._run(script, names, *arguments)

    def _run(self, script: _Script, names: Sequence[bytes], *arguments: bytes) -> Any:
        """Run a script that writes, wait for a replica if one must have it, and give the script's answer."""

        def once(command: Command) -> Any:
            return self._call(names[0], command, *self._confirm)

        def run() -> Any:
            try:
                return once(script.evalsha_command(names, arguments))
            except NoScriptError:
                return once(script.eval_command(names, arguments))

        return self._timed(script.name, run)

    def _call(self, key: bytes, command: Command, *confirm: Command) -> Any:
        """The answer to a write. Raises ``StorageUnavailable`` if it is surely not made."""
        try:
            answer, *replicas = self._nodes.call(key, command, *confirm)
        except NotSent as error:
            raise _translate_error(error) from error
        except MaybeSent as error:
            raise OutcomeUnknown(_translate_error(error).reason) from error
        if isinstance(answer, Exception):
            raise _as_port_error(answer) from None
        if answer == 1 or isinstance(answer, list):  # made, now or before: the scripts say nothing else in these words
            for count in replicas:
                if isinstance(count, Exception) or count < 1:
                    raise OutcomeUnknown("no replica")
        return answer

    def _read_script(self, script: _Script, game: str, *arguments: int) -> Any:
        names = (keys.state(game), keys.events(game))
        try:
            return self._read(script.name, names[0], script.evalsha_command(names, arguments))
        except NoScriptError:
            return self._read(script.name, names[0], script.eval_command(names, arguments))

    def _read(self, operation: str, key: bytes, command: Command) -> Any:
        """The answer to a read, sent once more if its connection broke at once (a time-out is an answer)."""

        def once() -> Any:
            (answer,) = self._nodes.call(key, command)
            return answer

        def read() -> Any:
            try:
                try:
                    return once()
                except (NotSent, MaybeSent) as error:
                    if type(error.__cause__) is not ConnectionBroken or monotonic() - began > NO_RETRY_AFTER:
                        raise
                return once()
            except (NotSent, MaybeSent) as error:
                raise _translate_error(error) from error

        began = monotonic()
        answer = self._timed(operation, read)
        if isinstance(answer, Exception):
            raise _as_port_error(answer) from None
        return answer

    def _timed(self, operation: str, work: Callable[[], Any]) -> Any:
        began = monotonic()
        try:
            return work()
        finally:
            self._observe(operation, monotonic() - began)


class _Script:
    """A script of the folder ``scripts``, and the hash under which a server knows it."""

    def __init__(self, name: str) -> None:
        source = (Path(__file__).parent / "scripts" / f"{name}.lua").read_bytes()
        self.name = name
        self._source = source
        self._hash = sha1(source, usedforsecurity=False).hexdigest().encode()

    def evalsha_command(self, names: Sequence[bytes], arguments: Sequence[bytes | int]) -> Command:
        """The command that runs it by its hash: the server is told the source only if it asks."""
        return (b"EVALSHA", self._hash, len(names), *names, *arguments)

    def eval_command(self, names: Sequence[bytes], arguments: Sequence[bytes | int]) -> Command:
        """The command that brings the source along."""
        return (b"EVAL", self._source, len(names), *names, *arguments)


_CREATE, _COMMIT, _KEPT, _EVENTS, _PASSAGE, _COMPACT = [
    _Script(name) for name in ("create", "commit", "kept", "events", "passage", "compact")
]


def _write_args(write: WriteRequest, version: int) -> list[bytes]:
    """The id of the write as it stands before its first event, its wish, and how long that lives."""
    if write.idempotency is None:
        wish = [b"", b""]
    else:
        wish = [b"%b %d %b" % (write.id, version, write.idempotency.fingerprint), _IDEMPOTENCY_TTL]
    return [write.id + b" ", *wish]


def _parse_stored(value: bytes) -> StoredGame:
    version, _, state = value.partition(b" ")
    return StoredGame(int(version), state)


def _parse_prior(value: bytes) -> PriorWrite:
    _, version, fingerprint = value.split(b" ", 2)
    return PriorWrite(int(version), fingerprint)


def _translate_error(error: NotSent | MaybeSent) -> StorageUnavailable:
    """Why no answer came, as the port says it."""
    cause = error.__cause__
    fault = as_unavailable(cause) if isinstance(cause, Exception) else None
    if fault is None:
        raise error
    return fault


def _as_port_error(answer: Exception) -> Exception:
    """What to raise for an error answer of the server: the port's word for it, or itself if the program is wrong."""
    return as_unavailable(answer) or answer
