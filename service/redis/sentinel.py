"""Routing to the primary that Redis Sentinel names.

Owns which server is the primary, and when the Sentinels are queried again. Does not depend on what is sent to it.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import redis
from redis.exceptions import BusyLoadingError, MasterDownError, ReadOnlyError, RedisError
from redis.sentinel import MasterNotFoundError

from service.redis.background_refresh import BackgroundRefresh
from service.redis.connection import (
    Command,
    DedicatedConnection,
    MaybeSent,
    NoMajority,
    NotSent,
    call_together,
    dedicated_connection,
    durability_warnings,
    execute_unpooled,
    make_pool,
    node_name,
    round_trip,
)
from service.redis.errors import TROUBLES
from service.redis.url import Address, RedisUrl

PROBE_TIMEOUT = 0.3
"""Seconds for which a discovery waits for the answer of a Sentinel before it queries the next one."""

MAJORITY_SECONDS = 5.0
"""Seconds for which writes to a primary are allowed after the majority of Sentinels has named it.

Later, they may have replaced it, and a write that the old primary accepts would be lost. (In a Cluster, the old primary
refuses such writes.)
"""

_NO_PRIMARY = (ReadOnlyError, BusyLoadingError, MasterDownError)

_DOWN = {b"s_down", b"o_down"}

_log = logging.getLogger(__name__)


class SentinelTopology:
    """The primary that the Sentinels name, which can change; a ``Topology``.

    The Sentinels are queried on first use, after every sign of a failover, and every second while the primary is used:
    a primary that is cut off from them still answers, but writes that it accepts are lost.
    """

    scripts_span_slots = True

    def __init__(self, url: RedisUrl, replicas: int | None = None) -> None:
        self._url = url
        self._configured_replicas = replicas
        self._replica_count = 1
        self._named_at = -math.inf
        """When the majority of Sentinels last named the primary, in seconds of ``time.monotonic``."""
        self._sentinels = [make_pool(url.sentinel(address)) for address in url.addresses]
        self._address: Address | None = None
        self._primary: redis.ConnectionPool | None = None
        self._refresh = BackgroundRefresh(self._discover)

    def call(self, key: bytes, *commands: Command) -> list[Any]:  # noqa: ARG002 # one server owns all keys
        self._refresh.poll()
        pool = self._pool()
        try:
            answers = round_trip(pool, commands)
        except (NotSent, MaybeSent):
            self._refresh.request()
            raise
        for answer in answers:
            if isinstance(answer, _NO_PRIMARY):
                self._refresh.request()
        return answers

    def call_each(self, calls: Sequence[tuple[bytes, Command]]) -> list[Any]:
        return call_together(self.call, calls)

    def node(self, key: bytes) -> str:  # noqa: ARG002
        return node_name(self._pool())

    def by_primary(self, keys: Sequence[bytes]) -> list[Sequence[bytes]]:
        return [keys]

    def require_primary(self, key: bytes) -> None:  # noqa: ARG002
        """Raise ``NotSent`` if a majority of Sentinels last named the primary over ``MAJORITY_SECONDS`` ago."""
        if time.monotonic() - self._named_at <= MAJORITY_SECONDS:
            return
        if time.monotonic() - self._refresh.ended_at > MAJORITY_SECONDS:  # the primary was not used for some time
            self._refresh.wait()
            if time.monotonic() - self._named_at <= MAJORITY_SECONDS:
                return
        raise NotSent from NoMajority("most Sentinels do not name the primary")

    def replicas(self, key: bytes) -> int:  # noqa: ARG002
        """Return the number of replicas that the Sentinels can promote, or the configured number."""
        return self._replica_count if self._configured_replicas is None else self._configured_replicas

    def open_subscriber(self, key: bytes) -> DedicatedConnection:  # noqa: ARG002
        try:
            return dedicated_connection(self._pool())
        except NotSent:
            self._refresh.request()
            raise

    def report_failure(self, key: bytes) -> None:  # noqa: ARG002
        self._refresh.request()

    def durability_warnings(self) -> list[str]:
        try:
            return durability_warnings(self._pool())
        except NotSent:
            return []

    def _pool(self) -> redis.ConnectionPool:
        """Return the pool of the primary; wait for the Sentinels until they have named one. Raises ``NotSent``."""
        if self._primary is None:
            self._refresh.wait()
        primary = self._primary
        if primary is None:
            raise NotSent from MasterNotFoundError("no Sentinel names a primary")
        return primary

    def _discover(self) -> None:
        """Adopt the primary of the newest configuration among all Sentinels that consider their primary up.

        The newest one counts because a Sentinel that is cut off with an old primary still names that. While no primary
        is known, the first answer is adopted.
        """
        views: list[_View] = []
        for sentinel in tuple(self._sentinels):
            view = self._query(sentinel)
            if view is None:
                self._sentinels.remove(sentinel)
                self._sentinels.append(sentinel)  # queried last from now on
                continue
            views.append(view)
            if self._primary is None:
                self._adopt(view.primary)
        if views:
            newest = max(view.epoch for view in views)
            views = [view for view in views if view.epoch == newest]
            is_majority = len(views) > max(view.sentinels for view in views) / 2
            self._replica_count = _promotable(views, is_majority)
            self._adopt(views[0].primary)
            if is_majority:
                self._named_at = time.monotonic()

    def _query(self, sentinel: redis.ConnectionPool) -> _View | None:
        """Query a Sentinel, and return its view; ``None`` if it does not answer, or considers the primary down."""
        name = self._url.service
        try:
            primary, replicas = execute_unpooled(
                sentinel, (b"SENTINEL", b"MASTER", name), (b"SENTINEL", b"REPLICAS", name), wait=PROBE_TIMEOUT
            )
        except (RedisError, OSError):
            return None
        refusal = f"{node_name(sentinel)} refuses SENTINEL"
        for answer in (primary, replicas):
            if isinstance(answer, Exception):  # such as for another name of the service, or a missing right
                TROUBLES.begin(refusal, answer)
                return None
        TROUBLES.end(refusal)
        facts = _fields(primary)
        if _is_down(facts):
            return None
        replica_fields = [_fields(replica) for replica in replicas]
        return _View(
            epoch=int(facts[b"config-epoch"]),
            primary=_address(facts),
            sentinels=int(facts[b"num-other-sentinels"]) + 1,
            replicas=frozenset([_address(replica) for replica in replica_fields]),
            down=frozenset([_address(replica) for replica in replica_fields if _is_down(replica)]),
        )

    def _adopt(self, address: Address) -> None:
        if address == self._address:
            return
        previous, self._primary, self._address = self._primary, make_pool(self._url.server(address)), address
        _log.info("the primary is %s:%d", *address)
        if previous is not None:
            previous.disconnect(inuse_connections=False)


class _View(NamedTuple):
    """The view of a Sentinel.

    ``epoch``: the version of its configuration.
    ``sentinels``: the number of all Sentinels.
    ``replicas``: all replicas of the primary.
    ``down``: the replicas that it considers down.
    """

    epoch: int
    primary: Address
    sentinels: int
    replicas: frozenset[Address]
    down: frozenset[Address]


def _promotable(views: Sequence[_View], is_majority: bool) -> int:
    """Return the number of replicas that can be promoted, at least 1. All ``views`` have the same primary.

    ``is_majority``: whether the views are those of the majority of Sentinels. Then a replica does not count if all of
    them consider it down. A minority cannot decide that, as the other Sentinels could promote the replica.

    A replica with the priority 0 counts, because WAIT counts it.
    """
    all_replicas = frozenset[Address]().union(*[view.replicas for view in views])
    down = all_replicas.intersection(*[view.down for view in views]) if is_majority else frozenset[Address]()
    return max(1, len(all_replicas - down))


def _fields(answer: list[bytes]) -> dict[bytes, bytes]:
    return dict(zip(answer[::2], answer[1::2], strict=True))


def _is_down(fields: dict[bytes, bytes]) -> bool:
    return not _DOWN.isdisjoint(fields[b"flags"].split(b","))


def _address(fields: dict[bytes, bytes]) -> Address:
    return Address(fields[b"ip"].decode(), int(fields[b"port"]))
