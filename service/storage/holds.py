"""Time limits after an interruption: for how long none of them counts.

While nobody could move, nobody is late. So what takes the games whose time has ended notes when it last did so; after
a gap, it takes none for as long as the gap was. Owns how long that is (``scripts/take.lua`` computes the same on the
server). Does not depend on where the note is stored.
"""

from __future__ import annotations

from typing import Final, NamedTuple

GAP_MS: Final = 5_000
"""The longest time between two sweeps that counts as none: milliseconds, as all times here."""

LONGEST_HOLD_MS: Final = 3_600_000

NOTE_MS: Final = 1_000
"""The age from which a note is written again: not at every sweep, as each is a write on the disks of the servers."""


class SweepNote(NamedTuple):
    """When a scheduler last looked for deadlines, and until when nothing follows from one."""

    last: int
    hold: int = 0

    def hold_from(self, now: int) -> int:
        """Until when none counts, if somebody looks at ``now``: what is left of an earlier hold, and the new gap."""
        gap = now - self.last
        if gap <= GAP_MS:
            return self.hold
        return now + min(max(self.hold - self.last, 0) + gap, LONGEST_HOLD_MS)
