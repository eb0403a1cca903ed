"""The ids of all games and indexes in Redis or Valkey, by SCAN on each primary.

Owns how they are found. While the slots of a Cluster are being moved, some may be missed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from service.backends.index.reindex import Scan
from service.storage import keys
from service.storage.redis.calls import RedisCalls, observe_nothing
from service.storage.redis.connection import NotSent
from service.storage.redis.errors import unanswered
from service.storage.redis.topology import Topology
from service.storage.scan_pages import scan_pages

_AT_A_TIME: Final = 1000
_ID: Final = rb"domino:\{([A-Za-z0-9_-]{22,24})\}"
_GAME: Final = re.compile(_ID)
_INDEX: Final = re.compile(_ID + rb":index")


class RedisScan(Scan):
    """What is stored on the servers of a topology."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._calls = RedisCalls(topology, observe=observe_nothing, observe_failure=observe_nothing)

    def games(self) -> Iterator[str]:
        return self._ids(b"domino:{*}", _GAME)

    def applications(self) -> Iterator[str]:
        return self._ids(b"domino:{*}:index", _INDEX)

    def _ids(self, pattern: bytes, name: re.Pattern[bytes]) -> Iterator[str]:
        try:
            primaries = self._topology.one_for_each_primary(keys.CHECKS)
        except NotSent as error:
            raise unanswered(error) from error
        for key in primaries:
            pages = scan_pages(
                self._topology,
                self._calls,
                "scan",
                key,
                command=lambda cursor: (b"SCAN", cursor, b"MATCH", pattern, b"COUNT", _AT_A_TIME),
            )
            for found in pages:
                matches = [name.fullmatch(each) for each in found]
                yield from [match[1].decode() for match in matches if match is not None]
