"""What SCAN and HSCAN find, page by page, from one server.

Owns how a cursor is followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from service.games.ports import StorageUnavailable
from service.storage.redis.calls import RedisCalls
from service.storage.redis.connection import Command, NotSent
from service.storage.redis.errors import unanswered
from service.storage.redis.topology import Topology


def scan_pages(
    topology: Topology, calls: RedisCalls, operation: str, key: bytes, *, command: Callable[[bytes], Command]
) -> Iterator[list[bytes]]:
    """Yield the pages that the owner of ``key`` gives for a command, which is made for each cursor.

    Raises ``StorageUnavailable``, also when another server has become the owner: a cursor means nothing to it.
    """
    node = _node(topology, key)
    cursor = b"0"
    while True:
        cursor, found = calls.read(operation, key, command(cursor))
        yield found
        if cursor == b"0":
            return
        if _node(topology, key) != node:
            raise StorageUnavailable("failover")


def _node(topology: Topology, key: bytes) -> str:
    try:
        return topology.node(key)
    except NotSent as error:
        raise unanswered(error) from error
