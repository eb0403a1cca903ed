"""Heartbeats in Redis or Valkey: they show when players could last move. An outage allowance follows from a gap.

Each process that serves requests sends a heartbeat every second. So deadlines are postponed if the store was
unavailable or no process served requests, but not if a scheduler stopped. With several servers, each shard has its own
heartbeat, so that the outage of a server postpones only the deadlines of its games.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from time import sleep
from typing import Final, NamedTuple

from service.games.reminders import NO_ALLOWANCE, ClockReading, OutageAllowance
from service.redis import keys
from service.redis.calls import Observer, RedisCalls, evalsha, observe_nothing
from service.redis.connection import Command
from service.redis.errors import StorageUnavailable
from service.redis.shards import shard_of
from service.redis.topology import Topology

OUTAGE_MS: Final = 5_000
"""The longest gap between two heartbeats that is no outage, in milliseconds, as all times in this module."""

LONGEST_ALLOWANCE_MS: Final = 3_600_000

HEARTBEAT_MS: Final = 1_000
"""The age after which a heartbeat is written again. Fewer writes save work for the disks of the servers."""


class Heartbeat(NamedTuple):
    """The stored heartbeat. Times are game time: the clock of the server, corrected so that it never goes back.

    ``last``: when players could last move.
    ``since``: when the last outage ended.
    ``until``: when the allowance for that outage ends.
    ``ahead``: how far game time is ahead of the clock, if somebody has set the clock back.
    """

    last: int
    since: int = 0
    until: int = 0
    ahead: int = 0

    @classmethod
    def parse(cls, value: bytes) -> Heartbeat:
        """Parse a stored heartbeat."""
        return cls(*map(int, value.split()))

    def time_at(self, clock: int) -> int:
        """Return game time for a time of the server's clock. The Lua scripts compute the same."""
        return max(clock + self.ahead, self.last)

    def allowance_at(self, now: int) -> OutageAllowance:
        """Return the allowance if players can move ``now``: the rest of an earlier one, plus the new outage."""
        gap = now - self.last
        if gap <= OUTAGE_MS:
            return OutageAllowance(self.since, self.until)
        return OutageAllowance(now, now + min(max(self.until - self.last, 0) + gap, LONGEST_ALLOWANCE_MS))


def reading_of(now: int, stored: bytes | None) -> ClockReading:
    """Return game time ``now`` with the allowance of the stored heartbeat; ``None``: no heartbeat was ever stored."""
    if stored is None:
        return ClockReading(now)
    allowance = Heartbeat.parse(stored).allowance_at(now)
    return ClockReading(now, allowance) if allowance.until > now else ClockReading(now)


BEAT_SECONDS: Final = 1.0
"""Seconds between two heartbeats of a process, or between two reads in a process that sends none."""

_NO_OUTAGE: Final = Heartbeat(0)

_log = logging.getLogger(__name__)


class RedisHeartbeats:
    """The heartbeats for the games of the ``RedisStore`` on the same servers."""

    def __init__(self, topology: Topology, *, observe: Observer) -> None:
        self._calls = RedisCalls(topology, observe=observe, observe_failure=observe_nothing)
        self._known: dict[int, Heartbeat] = {}
        self._outage_ended: list[Callable[[], None]] = []

    def on_outage(self, act: Callable[[], None]) -> None:
        """Call ``act``, which must neither block nor raise, whenever this process first reads that an outage ended."""
        self._outage_ended.append(act)

    def beat(self) -> None:
        """Send a heartbeat, and read the allowances. Raises ``StorageUnavailable`` if no server answers."""
        arguments = OUTAGE_MS, LONGEST_ALLOWANCE_MS, HEARTBEAT_MS
        self._remember([(key, evalsha("heartbeat", (key,), *arguments)) for key in self._keys()])

    def refresh(self) -> None:
        """Read the allowances without sending a heartbeat. Raises ``StorageUnavailable`` if no server answers."""
        self._remember([(key, (b"GET", key)) for key in self._keys()])

    def keep_beating(self, observe_allowance: Callable[[float], None]) -> None:
        """Send heartbeats for ever, in a thread of its own; pass ``longest_allowance()`` on after each one."""
        while True:
            try:
                self.beat()
                observe_allowance(self.longest_allowance())
            except StorageUnavailable:
                pass  # nobody can move now; other calls log this
            except Exception:
                _log.exception("a heartbeat could not be sent")
            sleep(BEAT_SECONDS)

    def allowance(self, game: str) -> OutageAllowance:
        heartbeat = self._known.get(0 if self._calls.topology.scripts_span_slots else shard_of(game) or 0)
        return NO_ALLOWANCE if heartbeat is None else OutageAllowance(heartbeat.since, heartbeat.until)

    def longest_allowance(self) -> float:
        """Return for how many more seconds the deadlines of any game are postponed; 0 if there is no allowance."""
        return max([0, *[heartbeat.until - heartbeat.last for heartbeat in self._known.values()]]) / 1000

    def server_time(self) -> int:
        """Return game time on the server that owns the first shard."""
        return self._read_clock(keys.HEARTBEATS[0]).now

    def read_clock(self, game: str) -> ClockReading:
        """Return game time on the server of this game, and the allowance of its deadlines."""
        return self._read_clock(keys.heartbeat(shard_of(game) or 0, is_one=self._calls.topology.scripts_span_slots))

    def _keys(self) -> Sequence[bytes]:
        """Return the keys of the heartbeats: one for all games, or with several servers one for each shard."""
        return keys.HEARTBEATS[:1] if self._calls.topology.scripts_span_slots else keys.HEARTBEATS

    def _remember(self, calls: Sequence[tuple[bytes, Command]]) -> None:
        """Remember the answers, and report ended outages. Raises ``StorageUnavailable`` if no server answered."""
        answers = enumerate(self._calls.run_each("heartbeat", calls))
        known = {place: Heartbeat.parse(answer) for place, answer in answers if isinstance(answer, bytes)}
        is_new = any([beat.since != self._known.get(place, _NO_OUTAGE).since for place, beat in known.items()])
        self._known |= known
        for act in self._outage_ended if is_new else ():
            act()

    def _read_clock(self, key: bytes) -> ClockReading:
        """Return game time on the server that owns the key of a heartbeat, and the allowance."""
        (seconds, micros), heartbeat = self._calls.read_all("time", key, (b"TIME",), (b"GET", key))
        now = int(seconds) * 1000 + int(micros) // 1000
        return reading_of(now if heartbeat is None else Heartbeat.parse(heartbeat).time_at(now), heartbeat)
