"""From the URL of the settings to the servers behind it."""

from __future__ import annotations

from service.redis_url import read_redis_url
from service.storage.cluster import ClusterNodes
from service.storage.connection import connect
from service.storage.nodes import Nodes, SingleNode
from service.storage.sentinel import SentinelNodes


def open_nodes(url: str) -> Nodes:
    """The servers that ``url`` names, as ``service.redis_url`` has it; nothing is sent to them yet.

    Raises ``ValueError`` for a URL that cannot be taken.
    """
    found = read_redis_url(url)
    match found.kind:
        case "sentinel":
            return SentinelNodes(found)
        case "cluster":
            return ClusterNodes(found)
        case _:
            return SingleNode(connect(url))
