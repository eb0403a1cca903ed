"""The outage allowance: the time for which no deadline counts after nobody could move for a while.

While nobody could move, nobody is late. So those who serve requests send heartbeats; after an outage, in which none
came, deadlines of turns that began before its end are postponed by as long as the outage was.

For example, the last heartbeat is of 12:00:00 and the next one of 12:10:00. That is an outage of ten minutes: until
12:20:00 nothing follows from the deadline of a turn that began before 12:10:00. Of a turn that began later, the
deadline counts as always.

Owns how long the allowance is (``scripts/heartbeat.lua`` computes the same on the server).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from service.games.reminders import JudgedTime, OutageAllowance

OUTAGE_MS: Final = 5_000
"""The longest time between two heartbeats that is no outage: milliseconds, as all times here."""

LONGEST_ALLOWANCE_MS: Final = 3_600_000

HEARTBEAT_MS: Final = 1_000
"""The age from which a heartbeat is written again: not each time, as each is a write on the disks of the servers."""


class Heartbeat(NamedTuple):
    """When players could last move, when they could again after the last outage, and until when its allowance lasts."""

    last: int
    since: int = 0
    until: int = 0

    def allowance_at(self, now: int) -> OutageAllowance:
        """Return the allowance if players can move ``now``: what is left of an earlier one, and the new outage."""
        gap = now - self.last
        if gap <= OUTAGE_MS:
            return OutageAllowance(self.since, self.until)
        return OutageAllowance(now, now + min(max(self.until - self.last, 0) + gap, LONGEST_ALLOWANCE_MS))


def judge(now: int, stored: bytes | None) -> JudgedTime:
    """Return the time by which deadlines are judged ``now``, if this heartbeat is stored.

    ``None`` if none ever came.
    """
    if stored is None:
        return JudgedTime(now)
    allowance = Heartbeat(*map(int, stored.split())).allowance_at(now)
    return JudgedTime(now, allowance) if allowance.until > now else JudgedTime(now)
