"""Where the Redis servers are, and which of them a command is sent to.

Owns which topology a URL stands for. Does not depend on what commands mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import redis
from redis.exceptions import RedisError

from service.redis.background_refresh import FIRST_WAIT, POLL_SECONDS, BackgroundRefresh
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
    """The servers that keep the games: one, or a primary that Sentinel names, or a Cluster."""

    def call(self, key: bytes, *commands: Command) -> list[Any]:
        """Send the commands on one connection, in one round trip, to the primary that owns ``key``.

        Returns their answers in order, an error answer as its exception. Nothing is sent twice, unless the server
        answered that it did not execute it. Raises ``NotSent`` or ``MaybeSent``.
        """

    def call_each(self, calls: Sequence[tuple[bytes, Command]]) -> list[Any]:
        """Send each command to the primary that owns its key, in one round trip to each primary.

        Returns their answers in order, an error answer as its exception. So is ``NotSent`` or ``MaybeSent``: a primary
        that is away does not keep the others from answering.
        """

    @property
    def scripts_span_slots(self) -> bool:
        """Whether one script may use keys of different slots."""

    def node(self, key: bytes) -> str:
        """Return the name of the primary that owns ``key``, as far as is known. Raises ``NotSent``."""

    def require_primary(self, key: bytes) -> None:
        """Raise ``NotSent`` while the primary of ``key`` may have been replaced, so that a write could be lost."""

    def replicas(self, key: bytes) -> int:
        """Return how many replicas have to confirm a write about ``key``: 1 or more.

        Those that may be promoted, as far as is known, or the number that was set. Raises ``NotSent``.
        """

    def one_for_each_primary(self, keys: Sequence[bytes]) -> list[bytes]:
        """Return one of these keys for each known primary that owns any. Raises ``NotSent`` if no primary is known."""

    def open_subscriber(self, key: bytes) -> DedicatedConnection:
        """Return a new connection to the primary that owns ``key``, for a reader of what is published there.

        The caller closes it (``connection.disconnect()``). It has TCP keep-alive and no read timeout. Raises
        ``NotSent``.
        """

    def report_failure(self, key: bytes, error: Exception) -> None:
        """Have the owner of ``key`` looked up again, after a broken connection or an error answer.

        Returns at once. ``call`` does this by itself.
        """

    def durability_warnings(self) -> list[str]:
        """Return a sentence for each setting of the servers that may lose games.

        A server that does not show its settings has none.
        """


class SingleNodeTopology(Topology):
    """One server."""

    scripts_span_slots = True

    def __init__(self, client: redis.Redis, replicas: int | None = None) -> None:
        self._pool = client.connection_pool
        self._replicas = replicas
        self._connected = 1
        self._counted = False
        self._refresh = BackgroundRefresh(self._count_replicas)

    def call(self, key: bytes, *commands: Command) -> list[Any]:  # noqa: ARG002 # one server owns all keys
        """Send the commands to the server."""
        return round_trip(self._pool, commands)

    def call_each(self, calls: Sequence[tuple[bytes, Command]]) -> list[Any]:
        """Send the commands to the server."""
        try:
            return round_trip(self._pool, tuple([command for _, command in calls])) if calls else []
        except (NotSent, MaybeSent) as error:
            return [error] * len(calls)

    def node(self, key: bytes) -> str:  # noqa: ARG002
        """Return the name of the server."""
        return node_name(self._pool)

    def one_for_each_primary(self, keys: Sequence[bytes]) -> list[bytes]:
        """Return the first key."""
        return [keys[0]]

    def require_primary(self, key: bytes) -> None:
        """Do nothing: no other server takes its place unnoticed."""

    def replicas(self, key: bytes) -> int:  # noqa: ARG002
        """Return how many replicas are connected, at least 1, or the number that was set."""
        if self._replicas is not None:
            return self._replicas
        self._refresh.request_after(POLL_SECONDS)
        if not self._counted:
            self._counted = True
            self._refresh.wait(FIRST_WAIT)
        return self._connected

    def open_subscriber(self, key: bytes) -> DedicatedConnection:  # noqa: ARG002
        """Return a new connection to the server."""
        return dedicated_connection(self._pool)

    def report_failure(self, key: bytes, error: Exception) -> None:
        """Do nothing: the server cannot have moved."""

    def durability_warnings(self) -> list[str]:
        """Return the settings of the server that may lose games."""
        return durability_warnings(self._pool)

    def _count_replicas(self) -> None:
        """Adopt the number of replicas that are connected, unless the server does not show it."""
        try:
            (answer,) = execute_unpooled(self._pool, (b"INFO", b"replication"))
        except (RedisError, OSError):
            return
        if isinstance(answer, bytes):
            self._connected = max(1, int(info_fields(answer).get(b"connected_slaves", 1)))


def open_topology(url: str, replicas: int | None = None) -> Topology:
    """Return the topology that ``url`` names (see ``service.redis.url``). Connects to nothing yet.

    ``replicas`` have to confirm a write, if that is set. Raises ``ValueError`` for an invalid URL.
    """
    parsed = read_redis_url(url)
    match parsed.kind:
        case "sentinel":
            return SentinelTopology(parsed, replicas)
        case "cluster":
            return ClusterTopology(parsed, replicas)
        case _:
            return SingleNodeTopology(connect(url), replicas)
