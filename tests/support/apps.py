"""Keys of applications, made as an operator makes them with ``domino-service apps create``."""

from __future__ import annotations

from service.redis.errors import StorageUnavailable
from service.redis.topology import open_topology
from tests.support.application import build_backends
from tests.support.waiting import until


def create_key(url: str, name: str = "Club") -> str:
    """The key of a new application in the store at this URL, as soon as all its servers answer."""
    return until(lambda: build_backends(open_topology(url)).keys.create(name).key, despite=(StorageUnavailable,))
