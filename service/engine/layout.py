"""The layout: the tiles on the table, and the ends where a tile may join.

Owns the geometry that all games share. Does not depend on turns, hands, or which game is played.

**The layout is a tree.** Every tile but the first hangs on one *host* by one *side* of that host. A
place where a tile may join is an *end*: it has a name, the number to match, its host and the side, and
a gate. Ends are never merged, even if two of them are alike. When a tile joins, its end is covered
and removed; which ends the tile opens depends on the tile alone:

============================  ======================================================================
laid                          opens
============================  ======================================================================
non-double, joining           its outer half (side ``end``)
non-double, leading           both halves (side ``end``)
double, joining, face up      the far ``long`` side, and both ``short`` sides if it *branches*
double, leading               both ``long`` sides, and both ``short`` sides if it branches
double, joining, face down    none; a closed end on its ``long`` side remains visible
============================  ======================================================================

A game decides for each face-up double how it branches: ``NEVER``; ``IMMEDIATELY``: its short sides are
open from the start; or ``GATED``: its short sides open later. For the whole layout it decides its ``LayoutForm``: the
names of the ends of a line, what an end counts (``EndValue``), when gated ends open (``Gates``), what an end wants
(``Wants``), and how doubles lie: where they lie lengthwise, they open what any other tile does.

**Worked examples**, ends written host/side=number, gated in (), closed in []:

1. *Two-ended lines* (rules 4.3, 5.4): no double branches. Lead 1-1: 1-1/long=1, 1-1/long=1, named
   ``left`` and ``right``; since an end is replaced by exactly one end, there are always two, and the
   new end inherits the name. 1-2 on the right: 1-1/long=1, 1-2/end=2. 2-5, 5-4, 4-6 on the right →
   1, 6: the chain 1/1 1/2 2/5 5/4 4/6. 1-3 on the left → 3, 4 instead: 3/1 1/1 1/2 2/5 5/4.
2. *Lupus's four arms* (rules 1.3): the lead branches IMMEDIATELY, all others NEVER. Lead 0-0: long=0,
   long=0, short=0, short=0: four ends. Each is replaced by exactly one: always four arms. 0-1, then
   1-1 face down: [1-1/long=1]; when all four are closed, no end is open (1.7 b).
3. *The wolf's mother* (rules 2.4): the first face-up double == GATED, the others NEVER. As the lead
   3-3: long=3, long=3, (short=3), (short=3). 3-5 on one long side: 5, 3, 3, 3, all open. In mid-chain
   1-2, 2-4, 4-4: 1-2/end=1, 4-4/long=4, (short=4), (short=4); 4-6 there → 1, 6, 4, 4; a later 6-6:
   1, 6-6/long=6, 4, 4: no more ends. A face-down 4-4 would only close its end; the next face-up double
   is the mother. The long side has an open gate as long as it is not served, so the layout is not
   closed before it.
4. *FIDO's doubles* (rules 3.4, 3.5): the lead == GATED, the others IMMEDIATELY. What an end counts is its
   number, but for a long side, which counts nothing, gated or not. Lead 12-12: long, long, (short),
   (short): counts 0+0+12+12 = 24. 10-12 on a long side: 10 + 0 + 12 + 12 = 34. 10-11 on the 10: 35.
   0-12 on the other long side: +0 → 35. 5-12 on a short side: −12+5 = 28. 11-11 on the 11: −11+22 =
   39. 1-11 on its short side: −11+1 = 29. 6-11 on its far long side: −0+6 = 35. These are the sums
   of the rules' example.
5. *One end* (rules 13.3): the line has only a ``right`` end. A leading double offers one long side.
6. *Both long sides first* (rules 8.5): as 3, but the short sides of a leading double open when both of its long sides
   are covered. Lead 3-3, 3-5: 5, long=3, (3), (3); 3-4 on the other long side: 5, 4, 3, 3.
7. *The lead first* (rules 12.3): the lead branches IMMEDIATELY, and every other end is gated until the four sides of
   the lead are covered. Lead 6-6, 3-6, 0-6, 2-6: (3), (0), (2), 6; 1-6 on the last side: 3, 0, 2, 1.
8. *Halves that add up to 7* (rules 14.4, 14.7): an end wants 7 less its number, or a matador, and the half that stays
   outside is named. Lead 6-6: 6-6/end=6, 6-6/end=6. 1-4 on the right with 4 outside: 6, 4. 2-5 there with 2
   outside: 6, 2. 5-5 there: 6, 5.
9. *Face-down doubles* (rules 1.5, 2.5): they fit like any tile, so the parent's end is covered; the
   closed end keeps the number and refers to the double, so a rendering can show what closed it.

A lead that is turned over (rules 2.8) closes every end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Final, Literal, NamedTuple

from service.engine.tiles import MATADOR, Tile

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

Gates = Literal["first long side", "both long sides", "lead"]
"""When gated ends open: the short sides of a double once the first tile has joined one of its long sides, or once both
long sides are covered; or the ends of all other tiles once every side of the lead is covered."""

FIRST_LONG_SIDE: Final = "first long side"
BOTH_LONG_SIDES: Final = "both long sides"
LEAD_COVERED: Final = "lead"

EndValue = Callable[[int, Side, bool], int]
"""What an end that is not closed counts, by its number, its side, and whether it is *paired*.

The two long sides of a leading double are paired as long as both are uncovered; on a line of one end, which offers only
one of them, nothing is paired. So a game can say that an end counts
its number, that a long side counts nothing (rules 3.5), or that a double counts both halves once: on a long side its
number if paired, else twice its number, and nothing on a short side (All Fives, Fives and Threes). In a game that
scores by which ends there are and not by their sum (Bergen), ends are not counted.
"""
Wants = Callable[[int], int]
"""What an end of this number wants, as bits of ``Tile.offers``: a tile fits that offers one of them.

With the bit of a number its half of that number touches, with ``MATADOR`` either half."""
StoredEnd = tuple[str, int, int, Side, Gate]
"""An end without what it counts and wants: name, number, host, side, gate."""

_new: Final = tuple.__new__
"""Creates a named tuple without its slower constructor, for objects that every move creates."""


class End(NamedTuple):
    """A place where a tile may join, now or later.

    ``host`` is the index of the placement it belongs to; ``counts`` is what it adds to the sum of the
    ends, 0 where a game does not count them; ``wants`` is what a tile must offer that fits.
    """

    name: str
    number: int
    host: int
    side: Side
    gate: Gate
    counts: int
    wants: int


class Placement(NamedTuple):
    """A tile on the table. ``host`` and ``side`` are those of the end it joined; the lead has the host -1.

    ``outer``: the half that stayed outside; ``None`` for the lead, and where equal halves touch.
    """

    tile: Tile
    host: int
    side: Side
    seat: int
    face_down: bool
    outer: int | None = None


class LayoutForm(NamedTuple):
    """The answers of a game that hold for its whole layout.

    ``line_ends``: the names of the ends of a line, ``left`` and ``right`` or only ``right``; if empty, ends are named
    e1, e2, … as they arise. ``end_value``: what an end counts, ``None`` where ends are not counted. ``gates``: when
    gated ends open. ``wants``: what an end wants, ``None`` where equal halves touch. ``doubles_across``: whether
    doubles lie across, else lengthwise.
    """

    line_ends: tuple[str, ...] = (LEFT, RIGHT)
    end_value: EndValue | None = None
    gates: Gates = FIRST_LONG_SIDE
    wants: Wants | None = None
    doubles_across: bool = True


class Layout(NamedTuple):
    """The tiles in the order of play, and the ends.

    ``last_end_number`` is that of the newest end where ends are numbered. ``open_mask`` is what the open ends want
    together, ``ends_sum`` is the sum of ``counts``; both are derived from ``ends``.
    """

    placements: tuple[Placement, ...]
    ends: tuple[End, ...]
    form: LayoutForm
    last_end_number: int = 0
    open_mask: int = 0
    ends_sum: int = 0

    @property
    def counts_ends(self) -> bool:
        """Whether ends are counted."""
        return self.form.end_value is not None

    @property
    def names_outer(self) -> bool:
        """Whether the outer half of a tile is named, as it does not follow from the end."""
        return self.form.wants is not None

    @property
    def is_line(self) -> bool:
        """Whether the layout is a line; otherwise its ends are numbered."""
        return bool(self.form.line_ends)

    def lead(self, tile: Tile, seat: int, branching: Branching) -> Layout:
        """Return the layout with its first tile, face up."""
        names, end_value, _, wants, across = self.form
        # With one end the lead opens what a tile opens that joins by its lower half.
        touching = tile.low if len(names) == 1 else None
        sides, _, _ = _opened(tile, touching, NEVER if names else branching, end_value, wants=wants, across=across)
        ends = tuple(
            [
                End(name, number, 0, side, gate, counts, wanted)
                for name, (number, side, gate, counts, wanted) in zip(
                    names or [f"e{index}" for index in range(1, len(sides) + 1)], sides, strict=True
                )
            ]
        )
        lead = Placement(tile, -1, END, seat, face_down=False)
        return _with_ends(self.form, (lead,), ends, 0 if names else len(ends))

    def join(
        self, at: End, tile: Tile, seat: int, *, face_down: bool, branching: Branching, outer: int | None = None
    ) -> Layout:
        """Return the layout with ``tile`` joined at the open end ``at``.

        ``outer``: the half that stays outside; ``None``: the half that is equal to the end's number touches.
        """
        placements, ends, form, last_number, open_mask, ends_sum = self
        line_ends, end_value, gates, _, across = form
        name, touching, at_host, at_side, _, at_counts, at_wants = at
        host = len(placements)
        if line_ends:
            branching = NEVER
        if face_down:
            sides, mask, total = _closed(tile, form.wants)
        elif outer is None and across:
            sides, mask, total = _opened(tile, touching, branching, end_value)
        else:
            inner = touching if outer is None else tile.other_half(outer)
            sides, mask, total = _opened(tile, inner, branching, end_value, wants=form.wants, across=across)
        ends_sum += total - at_counts
        if at_side == LONG and not (line_ends and end_value is None):
            if not at_host:
                ends_sum += self._gain_beside(touching, at_counts)
            opens = gates != BOTH_LONG_SIDES or not _has_other_long_side(ends, at)
            ends = tuple([_beside(end, end_value, opens=opens) if end.host == at_host else end for end in ends])
        placements += (_new(Placement, (tile, at_host, at_side, seat, face_down, outer)),)
        if line_ends:
            number, side, gate, counts, wanted = sides[0]
            end = _new(End, (name, number, host, side, gate, counts, wanted))
            if len(ends) == 1:
                ends, open_mask = (end,), mask
            else:
                left, right = ends
                other = right if name == LEFT else left
                ends = (end, right) if name == LEFT else (left, end)
                open_mask = mask | other.wants if other.gate == OPEN else mask
        else:
            place = self.ends.index(at)
            joined = []
            for number, side, gate, counts, wanted in sides:
                last_number += 1
                joined.append(_new(End, (f"e{last_number}", number, host, side, gate, counts, wanted)))
            ends = (*ends[:place], *joined, *ends[place + 1 :])
            if gates == LEAD_COVERED and not at_host:
                return _with_ends(form, placements, _gated_by_lead(ends), last_number)
            if form.wants is not None:
                return _with_ends(form, placements, ends, last_number)
            open_mask |= mask
            if not mask & at_wants:
                for end in ends:
                    if end.wants == at_wants and end.gate == OPEN:
                        break
                else:
                    open_mask ^= at_wants
        return _new(Layout, (placements, ends, form, last_number, open_mask, ends_sum))

    def flip_lead(self) -> Layout:
        """Return the layout with its lead, the only tile, turned over: all ends are closed (rules 2.8)."""
        lead = self.placements[0]._replace(face_down=True)
        ends = tuple([end._replace(gate=CLOSED, counts=0) for end in self.ends])
        return self._replace(placements=(lead,), ends=ends, open_mask=0, ends_sum=0)

    def covered_sum(self, end: End) -> int:
        """Return the sum of the ends without this open one, once it is covered."""
        counts = end.counts
        covered = self.ends_sum - counts
        return covered + self._gain_beside(end.number, counts) if end.side == LONG and not end.host else covered

    def gains(self, tile: Tile, branching: Branching) -> tuple[int, int]:
        """Return what the ends that ``tile`` opens face up count: joined by its lower half, and by its higher one."""
        return _gains(tile, NEVER if self.form.line_ends else branching, self.form.end_value)

    def _gain_beside(self, number: int, counts: int) -> int:
        """Return how much more the other long side of a leading double counts once this one, of ``counts``, is covered.

        Paired long sides count the same; if the other one is covered already, they were not paired: 0.
        """
        return _counts(self.form.end_value, number, LONG, OPEN, paired=False) - counts

    def restored(
        self, placements: tuple[Placement, ...], stored_ends: Iterable[StoredEnd], last_end_number: int
    ) -> Layout:
        """Return this empty layout with these tiles and ends.

        What the ends count and want, their sum and the mask of the open ends are computed.
        """
        stored_ends = list(stored_ends)
        end_value, wants = self.form.end_value, self.form.wants
        paired = sum([side == LONG and not host for _, _, host, side, _ in stored_ends]) == 2
        ends = [
            End(
                name,
                number,
                host,
                side,
                gate,
                _counts(end_value, number, side, gate, paired=paired and not host),
                _wanted(wants, number),
            )
            for name, number, host, side, gate in stored_ends
        ]
        return _with_ends(self.form, placements, tuple(ends), last_end_number)

    def end(self, name: str) -> End | None:
        """Return the end of that name, open or not; ``None`` if there is none."""
        for end in self.ends:
            if end.name == name:
                return end
        return None

    def covered_ends(self) -> tuple[str | None, ...]:
        """Return the name of the end that each tile covered; ``None`` for the lead.

        Sides of a double may be alike, but what a tile opens takes the place of the end that it covers, and every tile
        opens one. So the sides that a tile opened, free or covered by now, are in the order of the places of the ends
        that are left of them.
        """
        placements, ends = self.placements, self.ends
        names: list[str | None] = [None] * len(placements)
        if self.is_line:
            for end in ends:
                host = end.host
                while host:
                    names[host] = end.name
                    host = placements[host].host
            return tuple(names)
        opened: list[list[tuple[int, int]]] = [[] for _ in placements]
        """For each tile its sides: the place of the first end left of it, and the tile that covered it, 0 for none."""
        for place, end in enumerate(ends):
            opened[end.host].append((place, 0))
        for index in range(len(placements) - 1, -1, -1):
            sides = opened[index]
            if len(sides) > 1:
                sides.sort()
            if index:
                opened[placements[index].host].append((sides[0][0], index))
        number = 0
        for sides in opened:
            for _, covering in sides:
                number += 1
                if covering:
                    names[covering] = f"e{number}"
        return tuple(names)

    def fits_any(self, tiles: tuple[Tile, ...]) -> bool:
        """Return whether one of these tiles fits an open end."""
        mask = self.open_mask
        for tile in tiles:
            if tile.offers & mask:
                return True
        return False

    def admits(self, at: End, tile: Tile, outer: int | None) -> bool:
        """Return whether this tile may join this end with this half outside; ``None`` where equal halves touch."""
        if at.gate != OPEN or not tile.offers & at.wants:
            return False
        return outer in outer_halves(tile, at.wants) if self.names_outer else outer is None

    def outer_half(self, index: int) -> int:
        """Return the half of this tile that does not touch its host; of the lead the higher one."""
        tile, host, _, _, _, outer = self.placements[index]
        if outer is not None:
            return outer
        return tile.high if host < 0 else tile.other_half(tile.shared_number(self.placements[host].tile))

    def inner_half(self, index: int) -> int:
        """Return the half of this tile that touches its host; of the lead the lower one."""
        return self.placements[index].tile.other_half(self.outer_half(index))

    def has_face_up_double(self) -> bool:
        """Return whether a double lies face up (rules 2.4)."""
        return any(placement.tile.double and not placement.face_down for placement in self.placements)


@cache
def outer_halves(tile: Tile, wants: int) -> tuple[int, ...]:
    """Return the halves of this tile that may stay outside, the lower first, at an end that wants this.

    A tile that does not fit has none, a double one.
    """
    either = tile.offers & wants & MATADOR
    halves = (tile.low,) if tile.double else (tile.low, tile.high)
    return tuple([half for half in halves if either or wants >> tile.other_half(half) & 1])


_Opened = tuple[tuple[tuple[int, Side, Gate, int, int], ...], int, int]
"""The ends that a tile opens (number, side, gate, what it counts and wants), what they want together if they are open,
and the sum they count."""


@cache
def _opened(
    tile: Tile,
    touching: int | None,
    branching: Branching,
    end_value: EndValue | None,
    *,
    wants: Wants | None = None,
    across: bool = True,
) -> _Opened:
    """Return the ends that a tile opens face up; ``touching``: the half by which it joins, ``None`` if it leads.

    ``across``: whether doubles lie across.
    """
    paired = touching is None and tile.double and across
    sides: list[tuple[int, Side, Gate]]
    if tile.double and across:
        sides = [(tile.low, LONG, OPEN)] * (2 if paired else 1)
        if branching != NEVER:
            sides += [(tile.low, SHORT, OPEN if branching == IMMEDIATELY else GATED)] * 2
    elif touching is None:
        sides = [(tile.low, END, OPEN), (tile.high, END, OPEN)]
    else:
        sides = [(tile.other_half(touching), END, OPEN)]
    counts = [_counts(end_value, *side, paired=paired) for side in sides]
    wanted = [_wanted(wants, number) for number, _, _ in sides]
    mask = 0
    for wanted_mask in wanted:
        mask |= wanted_mask
    return (
        tuple([(*side, count, want) for side, count, want in zip(sides, counts, wanted, strict=True)]),
        mask,
        sum(counts),
    )


@cache
def _gains(tile: Tile, branching: Branching, end_value: EndValue | None) -> tuple[int, int]:
    """As ``Layout.gains``."""
    _, _, by_low = _opened(tile, tile.low, branching, end_value)
    _, _, by_high = _opened(tile, tile.high, branching, end_value)
    return by_low, by_high


@cache
def _closed(double: Tile, wants: Wants | None) -> _Opened:
    """Return what a double leaves that joins face down: one closed end (rules 1.5, 2.5)."""
    return ((double.low, LONG, CLOSED, 0, _wanted(wants, double.low)),), 0, 0


def _with_ends(form: LayoutForm, placements: tuple[Placement, ...], ends: tuple[End, ...], last_number: int) -> Layout:
    """Return the layout with these tiles and ends, its mask and its sum computed from the ends."""
    open_mask = ends_sum = 0
    for end in ends:
        ends_sum += end.counts
        if end.gate == OPEN:
            open_mask |= end.wants
    return Layout(placements, ends, form, last_number, open_mask, ends_sum)


def _has_other_long_side(ends: tuple[End, ...], at: End) -> bool:
    """Return whether another long side of the double to which this long side belongs is still uncovered."""
    return any(end.host == at.host and end.side == LONG and end.name != at.name for end in ends)


def _gated_by_lead(ends: tuple[End, ...]) -> tuple[End, ...]:
    """Return these ends, those of all tiles but the lead gated while a side of the lead is uncovered, else all open."""
    gate: Gate = GATED if any(not end.host for end in ends) else OPEN
    return tuple([end._replace(gate=gate) if end.host and end.gate != CLOSED else end for end in ends])


def _beside(end: End, end_value: EndValue | None, *, opens: bool) -> End:
    """Return an end of a double after a tile has joined a long side of the same double.

    A gated short side opens if it ``opens`` now; the other long side of a leading double is no longer paired.
    """
    if end.gate == GATED:
        return end._replace(gate=OPEN) if opens else end
    if end.side == LONG:
        counts = _counts(end_value, end.number, end.side, end.gate, paired=False)
        return end if counts == end.counts else end._replace(counts=counts)
    return end


def _counts(end_value: EndValue | None, number: int, side: Side, gate: Gate, *, paired: bool) -> int:
    """Return what an end counts: 0 if it is closed or ends are not counted."""
    return 0 if end_value is None or gate == CLOSED else end_value(number, side, paired)


def _wanted(wants: Wants | None, number: int) -> int:
    """Return what an end of this number wants."""
    return 1 << number if wants is None else wants(number)


@cache
def empty_layout(form: LayoutForm) -> Layout:
    """Return a layout without tiles; it has no ends."""
    return Layout((), (), form)
