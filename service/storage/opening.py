"""From the URL of the settings to the servers behind it."""

from __future__ import annotations

from service.redis_url import read_redis_url
from service.storage.cluster import ClusterTopology
from service.storage.connection import connect
from service.storage.sentinel import SentinelTopology
from service.storage.topology import SingleNodeTopology, Topology


def open_topology(url: str) -> Topology:
    """The servers that ``url`` names, as ``service.redis_url`` has it; nothing is sent to them yet.

    Raises ``ValueError`` for a URL that cannot be taken.
    """
    found = read_redis_url(url)
    match found.kind:
        case "sentinel":
            return SentinelTopology(found)
        case "cluster":
            return ClusterTopology(found)
        case _:
            return SingleNodeTopology(connect(url))
