"""Servers that are asked only so many things at a time, for a process that works on hundreds of games at once.

Owns the limit: who waits, waits here, and not for a free connection, which is an error after a while.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import BoundedSemaphore
from typing import Any

from service.storage.redis.connection import Command, DedicatedConnection
from service.storage.redis.topology import Topology


class LimitedTopology(Topology):
    """The servers of another topology, with at most so many calls under way."""

    def __init__(self, topology: Topology, most_calls: int) -> None:
        self._topology = topology
        self._calls = BoundedSemaphore(most_calls)

    def call(self, key: bytes, *commands: Command) -> list[Any]:
        """Send the commands, as soon as a call may begin."""
        with self._calls:
            return self._topology.call(key, *commands)

    def call_each(self, calls: Sequence[tuple[bytes, Command]]) -> list[Any]:
        """Send each command, as soon as a call may begin; with one connection to each primary it is one."""
        with self._calls:
            return self._topology.call_each(calls)

    @property
    def scripts_span_slots(self) -> bool:
        """Whether one script may use keys of different slots."""
        return self._topology.scripts_span_slots

    def node(self, key: bytes) -> str:
        return self._topology.node(key)

    def one_for_each_primary(self, keys: Sequence[bytes]) -> list[bytes]:
        return self._topology.one_for_each_primary(keys)

    def open_subscriber(self, key: bytes) -> DedicatedConnection:
        """Return a new connection, which is none of those for calls."""
        return self._topology.open_subscriber(key)

    def report_failure(self, key: bytes, error: Exception) -> None:
        self._topology.report_failure(key, error)

    def durability_warnings(self) -> list[str]:
        return self._topology.durability_warnings()
