"""Servers under a clock that a test moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha1
from typing import Any, Final

from service.redis.calls import _SOURCES
from service.redis.connection import Command
from service.redis.topology import Topology

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


def under_clock(topology: Topology, now: Callable[[], int]) -> Topology:
    """Let the time of these servers be ``now``, in milliseconds since 1970, for every script and the command TIME.

    By their own clocks they make the ids of items in a stream, and let keys expire.
    """
    call, call_each = topology.call, topology.call_each

    def timed_call(key: bytes, *commands: Command) -> list[Any]:
        return call(key, *[_at(now(), command) for command in commands])

    def timed_call_each(calls: Sequence[tuple[bytes, Command]]) -> list[Any]:
        return call_each([(key, _at(now(), command)) for key, command in calls])

    topology.call, topology.call_each = timed_call, timed_call_each  # type: ignore[method-assign]
    return topology


def _at(now: int, command: Command) -> Command:
    """The command that does the same at this time."""
    seconds, milliseconds = divmod(now, 1000)
    time = seconds, milliseconds * 1000
    if command == (b"TIME",):
        return b"EVAL", b"return ARGV", 0, *time
    if command[0] in (b"EVALSHA", b"EVAL") and command[1] in _TIMED:
        return command[0], _TIMED[command[1]], *command[2:], *time
    return command
