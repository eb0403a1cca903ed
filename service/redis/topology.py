"""The Redis servers, and the routing of commands to them.

Owns which topology a URL stands for. Does not depend on what commands mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import redis
from redis.exceptions import RedisError

from service.redis.background_refresh import BackgroundRefresh
from service.redis.cluster import ClusterTopology
from service.redis.connection import (
    Command,
    DedicatedConnection,
    MaybeSent,
    NotSent,
    connect,
    dedicated_connection,
    durability_warnings,
    execute_unpooled,
    info_fields,
    node_name,
    round_trip,
)
from service.redis.sentinel import SentinelTopology
from service.redis.url import read_redis_url


class Topology(Protocol):
    """The servers that store the games: one server, a primary that Sentinel names, or a Cluster."""

    def call(self, key: bytes, *commands: Command) -> list[Any]:
        """Send commands in one round trip to the primary that owns ``key``.

        Returns their answers in order, an error answer as an exception. A command is sent again only if the server has
        answered that it did not execute it. Raises ``NotSent`` or ``MaybeSent``.
        """

    def call_each(self, calls: Sequence[tuple[bytes, Command]]) -> list[Any]:
        """Send each command to the primary that owns its key, in one round trip to each primary.

        Returns their answers in order, an error answer as an exception. The answer of a primary that does not respond
        is ``NotSent`` or ``MaybeSent``; the other primaries still answer.
        """

    @property
    def scripts_span_slots(self) -> bool:
        """Return whether a script may use keys of different slots."""

    def node(self, key: bytes) -> str:
        """Return the name of the primary that owns ``key``, according to the current map. Raises ``NotSent``."""

    def require_primary(self, key: bytes) -> None:
        """Raise ``NotSent`` if the primary of ``key`` may have been replaced, so that a write could be lost."""

    def replicas(self, key: bytes) -> int:
        """Return the number of replicas that have to confirm a write to ``key``, at least 1. Raises ``NotSent``.

        It is the configured number, else the number of replicas that can be promoted.
        """

    def by_primary(self, keys: Sequence[bytes]) -> list[Sequence[bytes]]:
        """Return these keys in groups, one for each known primary that owns any, in their order.

        Keys without a known primary are left out. Raises ``NotSent`` if no primary is known.
        """

    def open_subscriber(self, key: bytes) -> DedicatedConnection:
        """Return a new connection to the primary that owns ``key``, for a subscription.

        The caller has to close it (``connection.disconnect()``). It has TCP keep-alive and no read timeout. Raises
        ``NotSent``.
        """

    def report_failure(self, key: bytes) -> None:
        """Request a new look-up of the owner of ``key`` after a subscription has failed.

        Returns at once. ``call`` does this by itself.
        """

    def durability_warnings(self) -> list[str]:
        """Return a sentence for each setting of the servers by which games can be lost.

        Servers that do not show their settings are left out.
        """


class SingleNodeTopology(Topology):
    """A single server."""

    scripts_span_slots = True

    def __init__(self, client: redis.Redis, replicas: int | None = None) -> None:
        self._pool = client.connection_pool
        self._name = node_name(self._pool)
        self._configured_replicas = replicas
        self._connected = 1
        self._counted = False
        self._refresh = BackgroundRefresh(self._count_replicas)

    def call(self, key: bytes, *commands: Command) -> list[Any]:  # noqa: ARG002 # one server owns all keys
        return round_trip(self._pool, commands)

    def call_each(self, calls: Sequence[tuple[bytes, Command]]) -> list[Any]:
        try:
            return round_trip(self._pool, tuple([command for _, command in calls])) if calls else []
        except (NotSent, MaybeSent) as error:
            return [error] * len(calls)

    def node(self, key: bytes) -> str:  # noqa: ARG002
        return self._name

    def by_primary(self, keys: Sequence[bytes]) -> list[Sequence[bytes]]:
        return [keys]

    def require_primary(self, key: bytes) -> None:
        """Do nothing: no failover can replace the server."""

    def replicas(self, key: bytes) -> int:  # noqa: ARG002
        """Return the number of connected replicas, at least 1, or the configured number."""
        if self._configured_replicas is not None:
            return self._configured_replicas
        self._refresh.poll()
        if not self._counted:
            self._counted = True
            self._refresh.wait()
        return self._connected

    def open_subscriber(self, key: bytes) -> DedicatedConnection:  # noqa: ARG002
        return dedicated_connection(self._pool)

    def report_failure(self, key: bytes) -> None:
        """Do nothing: the server has a fixed address."""

    def durability_warnings(self) -> list[str]:
        return durability_warnings(self._pool)

    def _count_replicas(self) -> None:
        """Read the number of connected replicas, if the server shows it."""
        try:
            (answer,) = execute_unpooled(self._pool, (b"INFO", b"replication"))
        except (RedisError, OSError):
            return
        if isinstance(answer, bytes):
            self._connected = max(1, int(info_fields(answer).get(b"connected_slaves", 1)))


def open_topology(url: str, replicas: int | None = None) -> Topology:
    """Return the topology of a URL (see ``service.redis.url``). Does not connect yet.

    ``replicas``: the configured number of replicas that have to confirm a write. Raises ``ValueError`` for an invalid
    URL.
    """
    parsed = read_redis_url(url)
    match parsed.kind:
        case "sentinel":
            return SentinelTopology(parsed, replicas)
        case "cluster":
            return ClusterTopology(parsed, replicas)
        case _:
            return SingleNodeTopology(connect(url), replicas)
