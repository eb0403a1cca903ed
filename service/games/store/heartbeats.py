"""The heartbeats: when players could last move, as Redis or Valkey tells; from them the outage allowance follows.

Each process that serves requests sends a heartbeat every second, in the background: as long as one does, players can
move. So neither a scheduler that was away nor one that is killed again and again postpones a deadline, and a time in
which the store could not be reached, or in which no request was served, does. Where several servers share the games,
each shard has a heartbeat of its own, so that a server that was away counts for its games alone.

Owns how heartbeats are sent and read, what this process knows of them, and the allowance that follows. Does not depend
on what is late.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from time import monotonic, sleep
from typing import Any, Final, NamedTuple

from service.games.reminders import NO_ALLOWANCE, ClockReading, OutageAllowance
from service.redis import keys
from service.redis.calls import Observer, call_scripts, evalsha, failure_of, unanswered
from service.redis.connection import Command, MaybeSent, NotSent
from service.redis.errors import StorageUnavailable
from service.redis.shards import shard_of
from service.redis.topology import Topology

# The outage allowance: the time for which no deadline counts after nobody could move for a while.


OUTAGE_MS: Final = 5_000
"""The longest time between two heartbeats that is no outage: milliseconds, as all times here."""

LONGEST_ALLOWANCE_MS: Final = 3_600_000

HEARTBEAT_MS: Final = 1_000
"""The age from which a heartbeat is written again: not each time, as each is a write on the disks of the servers."""


class Heartbeat(NamedTuple):
    """The last time players could move, when they could again after an outage, and when its allowance ends.

    All are of the time of games, which is ``ahead`` of the clock of the server after somebody has set that back.
    """

    last: int
    since: int = 0
    until: int = 0
    ahead: int = 0

    @classmethod
    def stored(cls, value: bytes) -> Heartbeat:
        """Return the heartbeat that is stored as this value."""
        return cls(*map(int, value.split()))

    def time_at(self, clock: int) -> int:
        """Return the time of games by the clock of the server, as its scripts do: it never goes back."""
        return max(clock + self.ahead, self.last)

    def allowance_at(self, now: int) -> OutageAllowance:
        """Return the allowance if players can move ``now``: what is left of an earlier one, and the new outage."""
        gap = now - self.last
        if gap <= OUTAGE_MS:
            return OutageAllowance(self.since, self.until)
        return OutageAllowance(now, now + min(max(self.until - self.last, 0) + gap, LONGEST_ALLOWANCE_MS))


def reading_of(now: int, stored: bytes | None) -> ClockReading:
    """Return the time by which deadlines are judged ``now``, by the time of games, if this heartbeat is stored.

    ``None`` if none ever came.
    """
    if stored is None:
        return ClockReading(now)
    allowance = Heartbeat.stored(stored).allowance_at(now)
    return ClockReading(now, allowance) if allowance.until > now else ClockReading(now)


BEAT_SECONDS: Final = 1.0
"""Seconds between two heartbeats of a process, and between two looks at those of others."""

_NO_OUTAGE: Final = Heartbeat(0)

_log = logging.getLogger(__name__)


class RedisHeartbeats:
    """The heartbeats of the games that a ``RedisStore`` keeps on the same servers."""

    def __init__(self, topology: Topology, *, observe: Observer) -> None:
        self._topology = topology
        self._observe = observe
        self._known: dict[int, Heartbeat] = {}
        self._outage_ended: list[Callable[[], None]] = []

    def on_outage(self, act: Callable[[], None]) -> None:
        """Have ``act`` called when this process has learned of an outage that is over; it must neither wait nor raise.

        It is called at the first heartbeat, too, if there ever was one.
        """
        self._outage_ended.append(act)

    def beat(self) -> None:
        """Note that players can move, and learn the allowances. Raises ``StorageUnavailable`` if no server answers."""
        arguments = OUTAGE_MS, LONGEST_ALLOWANCE_MS, HEARTBEAT_MS
        calls = [(key, evalsha("heartbeat", (key,), *arguments)) for key in self._keys()]
        began = monotonic()
        try:
            answers = call_scripts(self._topology, calls)
        finally:
            self._observe("heartbeat", monotonic() - began)
        self._learn(answers)

    def refresh(self) -> None:
        """Learn the allowances, without a heartbeat. Raises ``StorageUnavailable`` if no server answers."""
        calls: list[tuple[bytes, Command]] = [(key, (b"GET", key)) for key in self._keys()]
        began = monotonic()
        try:
            answers = self._topology.call_each(calls)
        finally:
            self._observe("heartbeat", monotonic() - began)
        self._learn([failure_of(answer) if isinstance(answer, Exception) else answer for answer in answers])

    def keep_beating(self, observe_allowance: Callable[[float], None]) -> None:
        """Send heartbeats for ever; for a thread of its own.

        ``observe_allowance`` is called after each with the seconds for which deadlines are postponed yet.
        """
        while True:
            try:
                self.beat()
                observe_allowance(self.longest_allowance())
            except StorageUnavailable:
                pass  # nobody can move; another call logs that
            except Exception:
                _log.exception("a heartbeat could not be sent")
            sleep(BEAT_SECONDS)

    def allowance(self, game: str) -> OutageAllowance:
        heartbeat = self._known.get(0 if self._topology.scripts_span_slots else shard_of(game) or 0)
        return NO_ALLOWANCE if heartbeat is None else OutageAllowance(heartbeat.since, heartbeat.until)

    def longest_allowance(self) -> float:
        """Return the seconds for which deadlines are postponed yet, of any game; 0 if none is."""
        return max([0, *[outage.until - outage.last for outage in self._known.values()]]) / 1000

    def server_time(self) -> int:
        """Return the time of games on the server that owns the first shard."""
        return self._read_clock(keys.HEARTBEATS[0]).now

    def read_clock(self, game: str) -> ClockReading:
        """Return the time of the server of this game, and the outage allowance of its deadlines."""
        return self._read_clock(keys.heartbeat(shard_of(game) or 0, is_one=self._topology.scripts_span_slots))

    def _keys(self) -> Sequence[bytes]:
        """Return the keys of the heartbeats: one for all games, or one for each shard where servers share them."""
        return keys.HEARTBEATS[:1] if self._topology.scripts_span_slots else keys.HEARTBEATS

    def _learn(self, answers: Sequence[Any]) -> None:
        """Keep what the servers answered. Raises ``StorageUnavailable`` if none did, and errors of the program."""
        failures = [answer for answer in answers if isinstance(answer, StorageUnavailable)]
        stored = {place: answer for place, answer in enumerate(answers) if isinstance(answer, bytes)}
        known = {place: Heartbeat.stored(answer) for place, answer in stored.items()}
        is_new = any([outage.since != self._known.get(place, _NO_OUTAGE).since for place, outage in known.items()])
        self._known |= known
        for act in self._outage_ended if is_new else ():
            act()
        if len(failures) == len(answers):
            raise failures[0]

    def _read_clock(self, key: bytes) -> ClockReading:
        """Return the time of games on the server that owns the key of a heartbeat, and the outage allowance."""
        began = monotonic()
        try:
            answers = self._topology.call(key, (b"TIME",), (b"GET", key))
        except (NotSent, MaybeSent) as error:
            raise unanswered(error) from error
        finally:
            self._observe("time", monotonic() - began)
        for answer in answers:
            if isinstance(answer, Exception):
                raise failure_of(answer) from None
        (seconds, micros), heartbeat = answers
        now = int(seconds) * 1000 + int(micros) // 1000
        return reading_of(now if heartbeat is None else Heartbeat.stored(heartbeat).time_at(now), heartbeat)
