"""Routing to the primary that Redis Sentinel names.

Owns which server that is, and when the Sentinels are asked again. Does not depend on what is sent to it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import redis
from redis.exceptions import BusyLoadingError, MasterDownError, ReadOnlyError, RedisError
from redis.sentinel import MasterNotFoundError

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
from service.redis.url import Address, RedisUrl

FIRST_WAIT = 0.8
"""Seconds that a call waits for the primary while none is known."""

PROBE_TIMEOUT = 0.3
"""Seconds that a Sentinel gets to answer before the next one is asked."""

POLL_SECONDS = 1.0
"""Seconds after which the Sentinels are asked again although the primary answers: it may be one that was replaced."""

_NO_PRIMARY = (ReadOnlyError, BusyLoadingError, MasterDownError)

_DOWN = {b"s_down", b"o_down"}

_log = logging.getLogger(__name__)


class SentinelTopology:
    """A primary that may change; a ``Topology``.

    It is looked up on first use, after every sign of a failover, and every second in which it is used: a primary that
    is cut off from its Sentinels goes on answering, and what it accepts is lost.
    """

    def __init__(self, url: RedisUrl) -> None:
        self._url = url
        self._sentinels = [make_pool(url.sentinel(address)) for address in url.addresses]
        self._address: Address | None = None
        self._primary: redis.ConnectionPool | None = None
        self._refresh = BackgroundRefresh(self._discover)
        self._poll_at = 0.0

    def call(self, key: bytes, *commands: Command) -> list[Any]:  # noqa: ARG002 # one server owns all keys
        """Send the commands to the primary."""
        now = time.monotonic()
        if now >= self._poll_at:
            self._poll_at = now + POLL_SECONDS
            self._refresh.request()
        pool = self._primary or self._require_primary()
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
        """Send the commands to the primary."""
        return call_together(self, calls)

    @property
    def scripts_span_slots(self) -> bool:
        """True: one server owns all slots."""
        return True

    def node(self, key: bytes) -> str:  # noqa: ARG002
        """Return the name of the primary."""
        return node_name(self._primary or self._require_primary())

    def one_for_each_primary(self, keys: Sequence[bytes]) -> list[bytes]:
        """Return the first key."""
        return [keys[0]]

    def open_subscriber(self, key: bytes) -> DedicatedConnection:  # noqa: ARG002
        """Return a new connection to the primary."""
        try:
            return dedicated_connection(self._primary or self._require_primary())
        except NotSent:
            self._refresh.request()
            raise

    def report_failure(self, key: bytes, error: Exception) -> None:  # noqa: ARG002
        """Ask the Sentinels again."""
        self._refresh.request()

    def durability_warnings(self) -> list[str]:
        """Return the settings of the primary that may lose games."""
        try:
            return durability_warnings(self._primary or self._require_primary())
        except NotSent:
            return []

    def _require_primary(self) -> redis.ConnectionPool:
        """Return the primary, which was not known; waits for the Sentinels. Raises ``NotSent``."""
        self._refresh.wait(FIRST_WAIT)
        if self._primary is None:
            raise NotSent from MasterNotFoundError("no Sentinel names a primary")
        return self._primary

    def _discover(self) -> None:
        """Adopt the primary of the newest configuration that a Sentinel has and does not consider down.

        A Sentinel that is cut off with the old primary goes on naming that. While no primary is known, the first answer
        counts.
        """
        named: list[tuple[int, Address]] = []
        for sentinel in tuple(self._sentinels):
            found = self._ask(sentinel)
            if found is None:
                self._sentinels.remove(sentinel)
                self._sentinels.append(sentinel)  # asked last from now on
                continue
            named.append(found)
            if self._primary is None:
                self._adopt(found[1])
        if named:
            self._adopt(max(named, key=itemgetter(0))[1])

    def _ask(self, sentinel: redis.ConnectionPool) -> tuple[int, Address] | None:
        """Return the epoch of a Sentinel's configuration and its primary; ``None`` without one that is up."""
        try:
            (answer,) = execute_unpooled(sentinel, (b"SENTINEL", b"MASTER", self._url.service), wait=PROBE_TIMEOUT)
        except (RedisError, OSError):
            return None
        if not isinstance(answer, list):
            return None
        facts = dict(zip(answer[::2], answer[1::2], strict=True))
        if not _DOWN.isdisjoint(facts[b"flags"].split(b",")):
            return None
        return int(facts[b"config-epoch"]), Address(facts[b"ip"].decode(), int(facts[b"port"]))

    def _adopt(self, address: Address) -> None:
        if address == self._address:
            return
        previous, self._primary, self._address = self._primary, make_pool(self._url.server(address)), address
        _log.info("the primary is %s:%d", *address)
        if previous is not None:
            previous.disconnect(inuse_connections=False)
