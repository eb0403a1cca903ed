"""A server under a clock that a test moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha1
from typing import Any, Final

import redis

from service.redis.calls import _SOURCES
from service.redis.connection import Command
from service.redis.topology import SingleNodeTopology

_TIME: Final = b"redis.call('TIME')"


def _timed(source: bytes) -> bytes:
    """The script, which takes seconds and microseconds as two more arguments, and asks no clock."""
    first, _, rest = source.partition(b"\n")
    time = b"local simulated = {table.remove(ARGV, #ARGV - 1), table.remove(ARGV)}"
    return b"\n".join([first, time, rest.replace(_TIME, b"simulated")])


_TIMED: Final[dict[object, bytes]] = {}
"""For each script that asks for the time, by its source and by its hash: the source and the hash of what is run."""

for _hash, _source in _SOURCES.items():
    if _TIME in _source:
        _TIMED[_source] = _timed(_source)
        _TIMED[_hash] = sha1(_timed(_source), usedforsecurity=False).hexdigest().encode()


class SimulatedClock(SingleNodeTopology):
    """A server whose time is ``now``, in milliseconds since 1970, for every script and for the command TIME.

    By its own clock it makes the ids of items in a stream, and lets keys expire.
    """

    def __init__(self, client: redis.Redis, now: Callable[[], int]) -> None:
        super().__init__(client)
        self._now = now

    def call(self, key: bytes, *commands: Command) -> list[Any]:
        return super().call(key, *map(self._at_the_time, commands))

    def call_each(self, calls: Sequence[tuple[bytes, Command]]) -> list[Any]:
        return super().call_each([(key, self._at_the_time(command)) for key, command in calls])

    def _at_the_time(self, command: Command) -> Command:
        seconds, milliseconds = divmod(self._now(), 1000)
        time = seconds, milliseconds * 1000
        if command == (b"TIME",):
            return b"EVAL", b"return ARGV", 0, *time
        if command[0] in (b"EVALSHA", b"EVAL") and command[1] in _TIMED:
            return command[0], _TIMED[command[1]], *command[2:], *time
        return command
