"""Routing to the servers of a Redis Cluster.

Owns the map of slots to servers, and when it is reloaded. Does not depend on what is sent, except that WAIT has no key.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import redis
from redis.crc import key_slot
from redis.exceptions import (
    AskError,
    BusyLoadingError,
    ClusterDownError,
    MasterDownError,
    MovedError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    SlotNotCoveredError,
)

from service.redis.background_refresh import BackgroundRefresh
from service.redis.connection import (
    Command,
    DedicatedConnection,
    MaybeSent,
    NotSent,
    call_together,
    dedicated_connection,
    durability_warnings,
    execute_unpooled,
    make_pool,
    node_name,
    round_trip,
)
from service.redis.shards import SLOTS
from service.redis.url import Address, RedisUrl

REDIRECTIONS = 2
"""Redirections that a call follows: one because of an outdated map, one because a slot is being migrated."""

PROBE_TIMEOUT = 0.4
"""Seconds for which a discovery waits for the map of a server before it tries the next one."""

_OUTDATED_MAP = (ClusterDownError, ReadOnlyError, BusyLoadingError, MasterDownError)

_UNKNOWN_HOST = (None, b"", b"?")
"""The hosts in an answer to CLUSTER SLOTS that stand for the host which has answered."""

_log = logging.getLogger(__name__)


@lru_cache(maxsize=16)
def _slots(keys: tuple[bytes, ...]) -> tuple[int, ...]:
    """Return the slots of keys. Cached, because the same keys are grouped again and again."""
    return tuple(map(key_slot, keys))


class ClusterTopology:
    """The servers of a Cluster; a ``Topology``.

    The map is loaded on first use, and after every sign that it is outdated. If replicas confirm writes, it is loaded
    every second, too, because nothing else shows a change of their number.
    """

    scripts_span_slots = False
    """A server refuses such a script even if it owns all these slots."""

    def __init__(self, url: RedisUrl, replicas: int | None = None) -> None:
        self._url = url
        self._configured_replicas = replicas
        self._replica_counts: dict[redis.ConnectionPool, int] = {}
        self._lock = threading.Lock()
        self._pools: dict[Address, redis.ConnectionPool] = {}
        self._owners: list[redis.ConnectionPool | None] = [None] * SLOTS
        self._addresses: tuple[Address, ...] = ()
        self._unreachable: set[str] = set()
        self._refresh = BackgroundRefresh(self._discover)

    def call(self, key: bytes, *commands: Command) -> list[Any]:
        slot = key_slot(key)
        pool = self._owners[slot] or self._owner(slot)
        answers = self._call(pool, commands)
        for answer in answers:
            if isinstance(answer, Exception):
                return self._follow_redirects(slot, pool, commands, answers)
        return answers

    def call_each(self, calls: Sequence[tuple[bytes, Command]]) -> list[Any]:
        answers: list[Any] = [None] * len(calls)
        indexes_of: dict[redis.ConnectionPool, list[int]] = {}
        no_owner: NotSent | None = None
        for index, (key, _) in enumerate(calls):
            slot = key_slot(key)
            try:
                if no_owner is not None and self._owners[slot] is None:
                    raise no_owner  # without waiting for the map once more
                indexes_of.setdefault(self._owners[slot] or self._owner(slot), []).append(index)
            except NotSent as error:
                answers[index] = no_owner = error

        def send(pool: redis.ConnectionPool, indexes: list[int]) -> None:
            try:
                received = self._call(pool, [calls[index][1] for index in indexes])
            except (NotSent, MaybeSent) as error:
                received = [error] * len(indexes)
            for index, answer in zip(indexes, received, strict=True):
                answers[index] = answer

        if len(indexes_of) == 1:
            send(*indexes_of.popitem())
        elif indexes_of:
            with ThreadPoolExecutor(len(indexes_of)) as threads:  # so that a slow server does not delay the others
                list(threads.map(send, *zip(*indexes_of.items(), strict=True)))
        for index, answer in enumerate(answers):
            if isinstance(answer, AskError):
                answers[index] = call_together(self.call, [calls[index]])[0]
            elif isinstance(answer, _OUTDATED_MAP):
                self._refresh.request()
        return answers

    def node(self, key: bytes) -> str:
        slot = key_slot(key)
        return node_name(self._owners[slot] or self._owner(slot))

    def by_primary(self, keys: Sequence[bytes]) -> list[Sequence[bytes]]:
        slots = _slots(tuple(keys))
        if not any(self._owners):
            self._owner(slots[0])
        owned: dict[redis.ConnectionPool | None, list[bytes]] = {}
        for key, slot in zip(keys, slots, strict=True):
            owned.setdefault(self._owners[slot], []).append(key)
        owned.pop(None, None)
        return list(owned.values())

    def require_primary(self, key: bytes) -> None:
        """Do nothing: a primary that cannot reach the majority refuses writes by itself."""

    def replicas(self, key: bytes) -> int:
        """Return how many replicas of the owner of a key work, at least 1, or the configured number.

        A replica counts as failed when the majority of primaries says so. A minority that is cut off together with the
        owner cannot say that.
        """
        if self._configured_replicas is not None:
            return self._configured_replicas
        self._refresh.poll()
        slot = key_slot(key)
        owner = self._owners[slot] or self._owner(slot)
        counts = self._replica_counts
        return counts.get(owner) or max(counts.values(), default=1)

    def open_subscriber(self, key: bytes) -> DedicatedConnection:
        slot = key_slot(key)
        pool = self._owners[slot] or self._owner(slot)
        try:
            return dedicated_connection(pool)
        except NotSent:
            self._mark_unreachable(pool)
            raise

    def report_failure(self, key: bytes) -> None:
        """Request a reload of the map, from the server that failed last."""
        pool = self._owners[key_slot(key)]
        if pool is None:
            self._refresh.request()
        else:
            self._mark_unreachable(pool)

    def durability_warnings(self) -> list[str]:
        try:
            self.node(b"")
        except NotSent:
            return []
        pools = {node_name(pool): pool for pool in self._owners if pool is not None}
        return [warning for _, pool in sorted(pools.items()) for warning in durability_warnings(pool)]

    def _call(self, pool: redis.ConnectionPool, commands: Sequence[Command]) -> list[Any]:
        try:
            return round_trip(pool, tuple(commands))
        except (NotSent, MaybeSent):
            self._mark_unreachable(pool)
            raise

    def _follow_redirects(
        self, slot: int, pool: redis.ConnectionPool, commands: Sequence[Command], answers: list[Any]
    ) -> list[Any]:
        """Send redirected commands to their new servers, and request a new map if the current one seems outdated."""
        for _ in range(REDIRECTIONS):
            redirection = next((answer for answer in answers if isinstance(answer, AskError)), None)
            if redirection is None:
                break
            indexes = [
                index
                for index, answer in enumerate(answers)
                if isinstance(answer, AskError) or commands[index][0] == b"WAIT"
            ]
            redirected = [commands[index] for index in indexes]
            try:
                pool = self._pool(_address(redirection, pool))
                if isinstance(redirection, MovedError):
                    self._owners[slot] = pool
                    self._refresh.request()
                    new_answers = self._call(pool, redirected)
                else:
                    asking = [part for command in redirected for part in ((b"ASKING",), command)]
                    new_answers = self._call(pool, asking)[1::2]
            except NotSent as error:
                if len(redirected) == len(commands):
                    raise
                raise MaybeSent from error.__cause__
            for index, answer in zip(indexes, new_answers, strict=True):
                answers[index] = answer
        if any(isinstance(answer, (*_OUTDATED_MAP, AskError)) for answer in answers):
            self._refresh.request()
        return answers

    def _mark_unreachable(self, pool: redis.ConnectionPool) -> None:
        self._unreachable.add(node_name(pool))
        self._refresh.request()

    def _pool(self, address: Address) -> redis.ConnectionPool:
        with self._lock:
            if address not in self._pools:
                self._pools[address] = make_pool(self._url.server(address))
            return self._pools[address]

    def _owner(self, slot: int) -> redis.ConnectionPool:
        """Wait for the map, and return the owner of a slot. Raises ``NotSent``."""
        self._refresh.wait()
        owner = self._owners[slot]
        if owner is None:
            has_map = any(self._owners)
            cause = (
                SlotNotCoveredError(f"slot {slot}") if has_map else RedisClusterException("no server returned a map")
            )
            raise NotSent from cause
        return owner

    def _discover(self) -> None:
        """Adopt the map of the first server that reports the state ``ok``. Unreachable servers are tried last.

        While no map is known, a map of a Cluster that is down is adopted, too.
        """
        last_resort: tuple[list[Any], Address] | None = None
        addresses = dict.fromkeys((*self._addresses, *self._url.addresses))
        for address in sorted(addresses, key=lambda address: _name(address) in self._unreachable):
            try:
                pool = make_pool(self._url.server(address))
                state, slots = execute_unpooled(pool, (b"CLUSTER", b"INFO"), (b"CLUSTER", b"SLOTS"), wait=PROBE_TIMEOUT)
            except (RedisError, OSError):
                self._unreachable.add(_name(address))
                continue
            if not isinstance(state, bytes) or not isinstance(slots, list):
                continue
            self._unreachable.discard(_name(address))
            if b"cluster_state:ok" in state:
                self._adopt(slots, address)
                return
            last_resort = slots, address
        if last_resort is not None and not any(self._owners):
            self._adopt(*last_resort)

    def _adopt(self, slots: list[Any], source: Address) -> None:
        owners: list[redis.ConnectionPool | None] = [None] * SLOTS
        primaries, all_addresses, replicas = set(), list[Address](), dict[redis.ConnectionPool, int]()
        for first, last, *servers in slots:
            addresses = [
                Address(source.host if host in _UNKNOWN_HOST else host.decode(), port) for host, port, *_ in servers
            ]
            primaries.add(addresses[0])
            all_addresses += addresses
            owner = self._pool(addresses[0])
            owners[first : last + 1] = [owner] * (last + 1 - first)
            replicas[owner] = max(1, len(addresses) - 1)
        self._replica_counts, self._owners, self._addresses = replicas, owners, tuple(all_addresses)
        with self._lock:
            removed = {address: self._pools.pop(address) for address in self._pools.keys() - primaries}
        for address, pool in removed.items():
            _log.info("%s no longer owns a slot", _name(address))
            pool.disconnect(inuse_connections=False)


def _address(error: AskError, pool: redis.ConnectionPool) -> Address:
    """Return the target of a redirection. Without a host, it is a port of the same host."""
    return Address(error.host or pool.connection_kwargs["host"], error.port)


def _name(address: Address) -> str:
    return f"{address.host}:{address.port}"
