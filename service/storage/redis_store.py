"""Games kept in Redis or Valkey: one typed method a script, and one command to read a game.

Owns what is sent and how the answer is read. Must not know: what a state or an event means.

Writes are sent once. A read is sent a second time if its connection breaks at once, for a read does no harm: so a
connection that died unnoticed (the other machine lost its power) fails nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha1
from pathlib import Path
from time import monotonic
from typing import Any, ParamSpec, TypeVar, cast

import redis
from redis.exceptions import ConnectionError as ConnectionBroken
from redis.exceptions import NoScriptError

from service.games.ports import GameExists, Stored
from service.storage import keys
from service.storage.faults import raises_unavailable

P = ParamSpec("P")
T = TypeVar("T")

AT_ONCE = 0.3
"""Seconds: a broken read that took longer is not sent again, so that the second one still answers in time.

Shorter than the wait for a free connection, for a full pool is no broken connection."""


class RedisStore:
    """Keeps games in Redis or Valkey (7.0 or newer); the port ``Store`` says what each method promises.

    ``client`` must not decode responses nor send anything twice (``service.storage.connection`` makes such a one);
    a game lives for ``ttl_seconds`` after its last write.
    """

    def __init__(self, client: redis.Redis, ttl_seconds: int) -> None:
        if ttl_seconds < 1:
            raise ValueError("a game must live for a second at least")
        self._client = client
        self._ttl = b"%d" % ttl_seconds
        self._create = _Script("create")
        self._commit = _Script("commit")
        self._events = _Script("events")

    @raises_unavailable
    def create(self, game: str, state: bytes, events: Sequence[bytes]) -> None:
        """Keep a new game; raises ``GameExists``."""
        value = b"%d %b" % (len(events), state)
        if self._run(self._create, game, value, self._ttl, *events) != 1:
            raise GameExists(game)

    @raises_unavailable
    def read(self, game: str) -> Stored | None:
        """The game as it is now, or ``None``."""
        value = _at_most_twice(self._client.get, keys.state(game))
        return None if value is None else _stored(cast(bytes, value))

    @raises_unavailable
    def commit(self, game: str, expected: int, state: bytes, events: Sequence[bytes]) -> Stored | None:
        """Move a game on from version ``expected``; ``None`` when done, else the game as it really is."""
        value = b"%d %b" % (expected + len(events), state)
        answer = self._run(self._commit, game, b"%d " % expected, value, self._ttl, *events)
        if answer == 1:
            return None
        if answer is None:
            raise KeyError(game)
        return _stored(answer)

    @raises_unavailable
    def events(self, game: str, versions: Sequence[int]) -> list[bytes]:
        """The kept ones among the events of these versions."""
        if not versions:
            return []
        found = _at_most_twice(self._run, self._events, game, *versions)
        return [event for event in found if event is not None]

    @raises_unavailable
    def check(self) -> None:
        """Read as a game would be read."""
        _at_most_twice(self._client.get, keys.CHECK)

    def _run(self, script: _Script, game: str, *arguments: bytes | int) -> Any:
        """Run a script over the keys of a game, by its hash; the server is told the source only if it asks."""
        state, events = keys.state(game), keys.events(game)
        try:
            return self._client.evalsha(script.sha, 2, state, events, *arguments)
        except NoScriptError:
            return self._client.eval(script.source, 2, state, events, *arguments)


class _Script:
    """A script of the folder ``scripts``, and the hash under which a server knows it."""

    def __init__(self, name: str) -> None:
        source = (Path(__file__).parent / "scripts" / f"{name}.lua").read_bytes()
        self.source = source.decode()
        self.sha = sha1(source, usedforsecurity=False).hexdigest()


def _stored(value: bytes) -> Stored:
    version, _, state = value.partition(b" ")
    return Stored(int(version), state)


def _at_most_twice(read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call ``read``, and once more if its connection broke at once (a refusal or a time-out is an answer)."""
    began = monotonic()
    try:
        return read(*args, **kwargs)
    except ConnectionBroken as error:
        if type(error) is not ConnectionBroken or monotonic() - began > AT_ONCE:
            raise
    return read(*args, **kwargs)
