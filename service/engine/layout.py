"""The layout: the tiles on the table, and the ends where a tile may join.

This module owns the geometry that all games share. It must not know whose turn it is, what a hand
holds, or which game is played.

**One tree says it all.** Every tile but the first hangs on one *host* by one *side* of that host. A
place where a tile may join is an *end*: it has a name, the number to match, its host and the side, and
a gate. Ends are never merged, even when two of them are alike. When a tile joins, its end is covered
and gone; what the tile opens depends on the tile alone:

============================  ======================================================================
laid                          opens
============================  ======================================================================
non-double, joining           its outer half (side ``end``)
non-double, leading           both halves (side ``end``)
double, joining, face up      the far ``long`` side, and both ``short`` sides if it *branches*
double, leading               both ``long`` sides, and both ``short`` sides if it branches
double, joining, face down    nothing: a closed end on its ``long`` side remains, to be seen
============================  ======================================================================

A game only answers, for each face-up double, how it branches: ``NEVER``; ``IMMEDIATELY``: its short sides
are open from the start; or ``GATED``: they are there, and open when the first tile after it joins one
of its long sides.

**Proof on paper**, five cases, ends written host/side=number, gated in (), closed in []:

1. *Two-ended lines* (rules 4.3, 5.4): no double branches. Lead 1-1: 1-1/long=1, 1-1/long=1, named
   ``left`` and ``right``; since an end is replaced by exactly one end, there are two for ever, and the
   new end inherits the name. 1-2 on the right: 1-1/long=1, 1-2/end=2. 2-5, 5-4, 4-6 on the right →
   1, 6: the chain 1/1 1/2 2/5 5/4 4/6. 1-3 on the left → 3, 4 instead: 3/1 1/1 1/2 2/5 5/4.
2. *Lupus's four arms* (rules 1.3): the lead branches AT_ONCE, all others NEVER. Lead 0-0: long=0,
   long=0, short=0, short=0: four ends. Each is replaced by exactly one: four arms for ever. 0-1, then
   1-1 face down: [1-1/long=1]; when all four are closed, no end is open (1.7 b).
3. *The wolf's mother* (rules 2.4): the first face-up double == GATED, the others NEVER. As the lead
   3-3: long=3, long=3, (short=3), (short=3). 3-5 on one long side: 5, 3, 3, 3, all open. In mid-chain
   1-2, 2-4, 4-4: 1-2/end=1, 4-4/long=4, (short=4), (short=4); 4-6 there → 1, 6, 4, 4; a later 6-6:
   1, 6-6/long=6, 4, 4: no more ends. A face-down 4-4 would only close its end; the next face-up double
   is the mother. The long side has an open gate as long as it is not served, so the layout is not
   closed before it.
4. *FIDO's doubles* (rules 3.4, 3.5): the lead == GATED, the others AT_ONCE. What an end counts is its
   number, but for a long side, which counts nothing, gated or not. Lead 12-12: long, long, (short),
   (short): counts 0+0+12+12 = 24. 10-12 on a long side: 10 + 0 + 12 + 12 = 34. 10-11 on the 10: 35.
   0-12 on the other long side: +0 → 35. 5-12 on a short side: −12+5 = 28. 11-11 on the 11: −11+22 =
   39. 1-11 on its short side: −11+1 = 29. 6-11 on its far long side: −0+6 = 35. As the rules have it.
5. *Face-down doubles* (rules 1.5, 2.5): they fit like any tile, so the parent's end is covered; the
   closed end keeps the number and names the double, so a picture can show what closed it.

A lead that is turned over (rules 2.8) closes every end.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from service.engine.tiles import Tile

Side = Literal["end", "long", "short"]
Gate = Literal["open", "gated", "closed"]
Branching = Literal["never", "at once", "gated"]

END: Final = "end"
LONG: Final = "long"
SHORT: Final = "short"
OPEN: Final = "open"
CLOSED: Final = "closed"
NEVER: Final = "never"
IMMEDIATELY: Final = "at once"
GATED: Final = "gated"

LEFT: Final = "left"
RIGHT: Final = "right"

_new: Final = tuple.__new__
"""Makes a named tuple without the detour through its own constructor, where that counts: on the way of every move."""


class End(NamedTuple):
    """A place where a tile may join, now or later.

    ``host`` is the index of the placement it belongs to; ``counts`` is what it adds to the sum of the
    ends, 0 where a game does not count them.
    """

    name: str
    number: int
    host: int
    side: Side
    gate: Gate
    counts: int


class Placement(NamedTuple):
    """A tile on the table. ``host`` and ``side`` tell what it joined; the lead joined nothing (-1)."""

    tile: Tile
    host: int
    side: Side
    seat: int
    face_down: bool


class Layout(NamedTuple):
    """The tiles in the order of play, and the ends.

    ``line``: the layout has two ends, ``left`` and ``right``; else ends are named e1, e2, … as they
    arise, ``named`` of them so far. ``counted``: ends add to a sum. ``open_mask`` has the bit of every
    open end's number, ``ends_sum`` is the sum of ``counts``; both follow from ``ends``.
    """

    placements: tuple[Placement, ...]
    ends: tuple[End, ...]
    two_ended: bool
    scores_ends: bool
    last_end_number: int = 0
    open_mask: int = 0
    ends_sum: int = 0

    def lead(self, tile: Tile, seat: int, branching: Branching) -> Layout:
        """The layout with its first tile, face up."""
        line, counted = self.two_ended, self.scores_ends
        one, other = (LEFT, RIGHT) if line else ("e1", "e2")
        if tile.double:
            ends: tuple[End, ...] = (
                End(one, tile.low, 0, LONG, OPEN, 0),
                End(other, tile.low, 0, LONG, OPEN, 0),
            )
            if branching != NEVER and not line:
                ends += _short_ends(tile.low, 0, branching, 3, counted=counted)
        else:
            ends = (
                End(one, tile.low, 0, END, OPEN, tile.low if counted else 0),
                End(other, tile.high, 0, END, OPEN, tile.high if counted else 0),
            )
        named = 0 if line else len(ends)
        ends_sum = sum([end.counts for end in ends])
        lead = Placement(tile, -1, END, seat, face_down=False)
        return Layout((lead,), ends, line, counted, named, tile.mask, ends_sum)

    def join(self, at: End, tile: Tile, seat: int, face_down: bool, branching: Branching) -> Layout:
        """The layout with ``tile`` joined at the open end ``at``; its half equal to the end's number touches."""
        placements, ends, line, counted, named, open_mask, ends_sum = self
        name, number, at_host, at_side, _, at_counts = at
        host, outer = len(placements), tile.pips - number
        if not line:
            named += 1
            name = f"e{named}"
        short: tuple[End, ...] = ()
        if tile.double:
            end = _new(End, (name, outer, host, LONG, CLOSED if face_down else OPEN, 0))
            if branching != NEVER and not (face_down or line):
                short = _short_ends(outer, host, branching, named + 1, counted=counted)
                named += 2
                ends_sum += 2 * outer if counted else 0
        else:
            counts = outer if counted else 0
            end = _new(End, (name, outer, host, END, OPEN, counts))
            open_mask |= 1 << outer
            ends_sum += counts
        if line:  # for ever two ends
            ends = (end, ends[1]) if name == LEFT else (ends[0], end)
        else:
            if at_side == LONG:
                ends = tuple([e._replace(gate=OPEN) if e.gate == GATED and e.host == at_host else e for e in ends])
            place = ends.index(at)
            ends = (*ends[:place], end, *short, *ends[place + 1 :])
        if not tile.double or face_down:  # else the number is open still, on the far side
            for end in ends:
                if end.number == number and end.gate == OPEN:
                    break
            else:
                open_mask ^= 1 << number
        placements += (_new(Placement, (tile, at_host, at_side, seat, face_down)),)
        return _new(Layout, (placements, ends, line, counted, named, open_mask, ends_sum - at_counts))

    def flip_lead(self) -> Layout:
        """The layout whose lead, the only tile on it, is turned over: no end is open any more (rules 2.8)."""
        lead = self.placements[0]._replace(face_down=True)
        ends = tuple([end._replace(gate=CLOSED) for end in self.ends])
        return self._replace(placements=(lead,), ends=ends, open_mask=0)

    def sum_after(self, at: End | None, tile: Tile, branching: Branching) -> int:
        """The sum of the ends if ``tile`` joined face up at ``at`` (or led), without laying it (rules 3.5)."""
        if not self.scores_ends:
            return 0
        if tile.double:
            gain = 0 if branching == NEVER else tile.pips
        else:
            gain = tile.pips if at is None else tile.pips - at.number
        return self.ends_sum + gain - (0 if at is None else at.counts)

    def end(self, name: str) -> End | None:
        """The end of that name, whatever its gate."""
        for end in self.ends:
            if end.name == name:
                return end
        return None

    def fits_any(self, tiles: tuple[Tile, ...]) -> bool:
        """Whether one of these tiles fits an open end."""
        mask = self.open_mask
        for tile in tiles:
            if tile.mask & mask:
                return True
        return False

    def has_face_up_double(self) -> bool:
        """Whether a double lies face up: where only the first one branches, it has (rules 2.4)."""
        return any(placement.tile.double and not placement.face_down for placement in self.placements)


def _short_ends(number: int, host: int, branching: Branching, first: int, *, counted: bool) -> tuple[End, ...]:
    """The two short sides of a double that branches; the number in their names begins with ``first``."""
    gate: Gate = OPEN if branching == IMMEDIATELY else GATED
    counts = number if counted else 0
    return tuple([End(f"e{each}", number, host, SHORT, gate, counts) for each in (first, first + 1)])


def empty_layout(*, line: bool, counted: bool) -> Layout:
    """A table without tiles; it has no ends."""
    return Layout((), (), line, counted)
