"""Finds the ids of all games and indexes in Redis or Valkey, by SCAN on each primary.

While the slots of a Cluster are being moved, it can miss some.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from service.redis import keys
from service.redis.calls import RedisCalls, failure_of, observe_nothing
from service.redis.connection import Command, NotSent
from service.redis.errors import StorageUnavailable
from service.redis.topology import Topology

# Pages of SCAN and HSCAN from one server.


def scan_pages(
    calls: RedisCalls, operation: str, key: bytes, *, before: Command, after: Command
) -> Iterator[list[bytes]]:
    """Yield the pages of a scan on the owner of ``key``: a command with a cursor between ``before`` and ``after``.

    Raises ``StorageUnavailable``, even if only the owner has changed, because a new owner does not know the cursor.
    """
    node = _node(calls, key)
    cursor = b"0"
    while True:
        ((cursor, page),) = calls.read_all(operation, key, (*before, cursor, *after))
        yield page
        if cursor == b"0":
            return
        if _node(calls, key) != node:
            raise StorageUnavailable("failover")


def _node(calls: RedisCalls, key: bytes) -> str:
    try:
        return calls.topology.node(key)
    except NotSent as error:
        raise failure_of(error) from error


_AT_A_TIME: Final = 1000
_ID: Final = rb"domino:\{([A-Za-z0-9_-]{22,24})\}"
_GAME: Final = re.compile(_ID)
_INDEX: Final = re.compile(_ID + rb":index")


class RedisScan:
    """Scans the servers of a topology, in no order. What exists during the whole scan is returned at least once."""

    def __init__(self, topology: Topology) -> None:
        self._calls = RedisCalls(topology, observe=observe_nothing, observe_failure=observe_nothing)

    def games(self) -> Iterator[str]:
        return self._ids(b"domino:{*}", _GAME)

    def applications(self) -> Iterator[str]:
        return self._ids(b"domino:{*}:index", _INDEX)

    def _ids(self, pattern: bytes, name: re.Pattern[bytes]) -> Iterator[str]:
        for key in self._calls.one_for_each_primary(keys.CHECKS):
            after = b"MATCH", pattern, b"COUNT", _AT_A_TIME
            for page in scan_pages(self._calls, "scan", key, before=(b"SCAN",), after=after):
                matches = [name.fullmatch(entry) for entry in page]
                yield from [match[1].decode() for match in matches if match is not None]
