"""Time limits after an interruption: for how long none of them counts.

While nobody could move, nobody is late. So what takes the games whose time has ended notes when it last did so; after
a gap, deadlines of turns that began before its end are held back for as long as the gap was. Owns how long that is
(``scripts/take.lua`` computes the same on the server). Does not depend on where the note is stored.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from service.games.ports import OutageAllowance

GAP_MS: Final = 5_000
"""The longest time between two sweeps that counts as none: milliseconds, as all times here."""

LONGEST_ALLOWANCE_MS: Final = 3_600_000

HEARTBEAT_MS: Final = 1_000
"""The age from which a note is written again: not at every sweep, as each is a write on the disks of the servers."""


class Heartbeat(NamedTuple):
    """When a scheduler last looked for deadlines, when one looked again after the last gap, and the allowance after it."""

    last: int
    since: int = 0
    until: int = 0

    def allowance_at(self, now: int) -> OutageAllowance:
        """The allowance if somebody looks at ``now``: what is left of an earlier one, and the new gap."""
        gap = now - self.last
        if gap <= GAP_MS:
            return OutageAllowance(self.since, self.until)
        return OutageAllowance(now, now + min(max(self.until - self.last, 0) + gap, LONGEST_ALLOWANCE_MS))
