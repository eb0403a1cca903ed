"""The layout: the tiles on the table, and the ends where a tile can join.

Owns which tile touches which, and which ends are open. Does not depend on turns, hands, or which game is played.

**The layout is a tree.** Every tile but the first joins one *side* of another tile, its *host*. A
place where a tile can join is an *end*: it has a name, the number to match, its host, the side of the
host, and a gate. Two ends are never merged, even if they are equal. When a tile joins an end, the end
is covered and removed, and the tile opens ends of its own:

============================  ======================================================================
laid                          opens
============================  ======================================================================
non-double, joining           its outer half (side ``end``)
non-double, leading           both halves (side ``end``)
double, joining, face up      the far ``long`` side, and both ``short`` sides if it *branches*
double, leading               both ``long`` sides, and both ``short`` sides if it branches
double, joining, face down    none; a closed end on its ``long`` side remains visible
============================  ======================================================================

A game decides for each face-up double how it branches: ``NEVER``; ``IMMEDIATELY``, so that its short
sides are open from the start; or ``GATED``, so that its short sides open later. What a game decides for
the whole layout is in ``LayoutForm``. A double that lies lengthwise opens the same ends as any other tile.

**Worked examples**, ends written host/side=number, gated in (), closed in []:

1. *Two-ended lines* (rules 4.3, 5.4): no double branches. Lead 1-1: 1-1/long=1, 1-1/long=1, named
   ``left`` and ``right``. Each tile replaces one end by one end with the same name, so there are always
   two. 1-2 on the right: 1-1/long=1, 1-2/end=2. 2-5, 5-4, 4-6 on the right →
   1, 6: the chain 1/1 1/2 2/5 5/4 4/6. 1-3 on the left → 3, 4 instead: 3/1 1/1 1/2 2/5 5/4.
2. *Lupus's four arms* (rules 1.3): the lead branches IMMEDIATELY, all others NEVER. Lead 0-0: long=0,
   long=0, short=0, short=0: four ends. Each tile replaces one end by one end: always four arms. 0-1, then
   1-1 face down: [1-1/long=1]; when all four are closed, no end is open (1.7 b).
3. *The wolf's mother* (rules 2.4): the first face-up double is GATED, the others NEVER. As the lead
   3-3: long=3, long=3, (short=3), (short=3). 3-5 on one long side: 5, 3, 3, 3, all open. In mid-chain
   1-2, 2-4, 4-4: 1-2/end=1, 4-4/long=4, (short=4), (short=4); 4-6 there → 1, 6, 4, 4; a later 6-6:
   1, 6-6/long=6, 4, 4: no more ends. A face-down 4-4 only closes its end; the next face-up double is the
   mother. Until a tile joins the long side, that side is open, so the layout is not closed.
4. *FIDO's doubles* (rules 3.4, 3.5): the lead is GATED, the others IMMEDIATELY. An end counts its
   number, open or gated, but a long side counts nothing. Lead 12-12: long, long, (short),
   (short): counts 0+0+12+12 = 24. 10-12 on a long side: 10 + 0 + 12 + 12 = 34. 10-11 on the 10: 35.
   0-12 on the other long side: +0 → 35. 5-12 on a short side: −12+5 = 28. 11-11 on the 11: −11+22 =
   39. 1-11 on its short side: −11+1 = 29. 6-11 on its far long side: −0+6 = 35. These are the sums
   of the rules' example.
5. *One end* (rules 13.3): the line has only a ``right`` end. A leading double offers one long side.
6. *Both long sides first* (rules 8.5): like 3, but the short sides of a leading double open when both of its long sides
   are covered. Lead 3-3, 3-5: 5, long=3, (3), (3); 3-4 on the other long side: 5, 4, 3, 3.
7. *The lead first* (rules 12.3): the lead branches IMMEDIATELY, and every other end is gated until the four sides of
   the lead are covered. Lead 6-6, 3-6, 0-6, 2-6: (3), (0), (2), 6; 1-6 on the last side: 3, 0, 2, 1.
8. *Halves that add up to 7* (rules 14.4, 14.7): an end wants 7 minus its number, or a matador, and a move names the
   half that stays outside. Lead 6-6: 6-6/end=6, 6-6/end=6. 1-4 on the right with 4 outside: 6, 4. 2-5 there with 2
   outside: 6, 2. 5-5 there: 6, 5.
9. *Face-down doubles* (rules 1.5, 2.5): a double fits like any other tile and covers an end. It opens one closed end
   with the same number, whose host is the double, so that a picture can show which tile closed it.

A lead that is turned over (rules 2.8) closes every end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
"""When gated ends open.

* ``first long side``: the short sides of a double, when a tile joins one of its long sides;
* ``both long sides``: the short sides of a double, when both of its long sides are covered;
* ``lead``: the ends of all tiles but the lead, when every side of the lead is covered.
"""

FIRST_LONG_SIDE: Final = "first long side"
BOTH_LONG_SIDES: Final = "both long sides"
LEAD_COVERED: Final = "lead"

EndValue = Callable[[int, Side, bool], int]
"""Returns the value of an end that is not closed, from its number, its side, and whether it is *paired*.

The two long sides of a leading double are paired while both are uncovered. On a line with one end no side is paired,
because only one long side can be joined. Examples:

* FIDO: an end counts its number, a long side nothing (rules 3.5);
* All Fives, Fives and Threes: a double counts both halves once. A paired long side counts its number, another long side
  twice its number, a short side nothing;
* Bergen: there is no ``EndValue``, because its points do not depend on the sum of the ends.
"""
Wants = Callable[[int], int]
"""Returns the bits of ``Tile.offers`` that an end with this number wants. A tile fits if it offers one of them.

A tile that fits by the bit of a number touches with that half; a tile that fits by ``MATADOR`` with either half."""
StoredEnd = tuple[str, int, int, Side, Gate]
"""The name, number, host, side and gate of an end; its other fields can be computed."""

_new: Final = tuple.__new__
"""Creates a named tuple faster than its constructor does, for objects that every move creates."""


class End(NamedTuple):
    """A place where a tile can join, now or later."""

    name: str
    number: int
    host: int
    """The index of the placement that it belongs to."""
    side: Side
    gate: Gate
    counts: int
    """Its value in the sum of the ends; 0 in games that do not count ends."""
    wants: int
    """A tile fits if its ``offers`` has one of these bits."""


class Placement(NamedTuple):
    """A tile on the table."""

    tile: Tile
    host: int
    """The host of the end that it joined, as an index; -1 for the lead."""
    side: Side
    """The side of the host that it joined."""
    seat: int
    face_down: bool
    outer: int | None = None
    """The half that stayed outside; ``None`` for the lead, and in games in which equal halves touch."""


class LayoutForm(NamedTuple):
    """The decisions of a game for its whole layout."""

    line_ends: tuple[str, ...] = (LEFT, RIGHT)
    """The names of the ends of a line, ``left`` and ``right`` or only ``right``; if empty, ends are named e1, e2, …"""
    end_value: EndValue | None = None
    """``None``: ends are not counted."""
    gates: Gates = FIRST_LONG_SIDE
    wants: Wants | None = None
    """``None``: an end wants its own number, so that equal halves touch. If it is set, every play but the lead names
    its outer half; such a game neither scores plays nor lays doubles face down."""
    doubles_across: bool = True
    """Whether doubles lie across; otherwise they lie lengthwise and open one end, like any other tile."""


LINE: Final = LayoutForm()
"""The form of a line with two ends, which are not counted."""


class Layout(NamedTuple):
    """The tiles in the order of play, and the ends. ``open_mask`` and ``ends_sum`` are derived from ``ends``."""

    placements: tuple[Placement, ...]
    ends: tuple[End, ...]
    form: LayoutForm
    last_end_number: int = 0
    """The number of the newest end; 0 if ends are not numbered."""
    open_mask: int = 0
    """All bits that the open ends want."""
    ends_sum: int = 0

    @property
    def counts_ends(self) -> bool:
        return self.form.end_value is not None

    @property
    def names_outer(self) -> bool:
        """Return whether a play names its outer half, because the half does not follow from the end."""
        return self.form.wants is not None

    @property
    def is_line(self) -> bool:
        """Return whether the layout is a line; otherwise its ends are numbered."""
        return bool(self.form.line_ends)

    def lead(self, tile: Tile, seat: int, branching: Branching) -> Layout:
        """Return the layout with its first tile, face up."""
        names, end_value, _, wants, across = self.form
        # On a line with one end, the lead opens the same end as a tile that joins by its lower half.
        touching = tile.low if len(names) == 1 else None
        sides, _, _ = _opened(tile, touching, branching, end_value, wants=wants, across=across)
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

        ``outer``: the half that stays outside; ``None``: the half with the end's number touches.
        """
        placements, ends, form, last_number, open_mask, ends_sum = self
        line_ends, end_value, gates, _, across = form
        name, touching, at_host, at_side, _, at_counts, at_wants = at
        host = len(placements)
        if face_down:
            sides, mask, total = _closed(tile, form.wants)
        elif outer is None and across:
            sides, mask, total = _opened(tile, touching, branching, end_value)
        else:
            inner = touching if outer is None else tile.other_half(outer)
            sides, mask, total = _opened(tile, inner, branching, end_value, wants=form.wants, across=across)
        ends_sum += total - at_counts
        # A tile at a long side of a double can open its short sides, and change the value of its other long side.
        if at_side == LONG and not (line_ends and end_value is None):
            if not at_host:
                ends_sum += self._gain_beside(at)
            ends = _beside(ends, at, end_value, gates)
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
            # The bits of the covered end stay in the mask only if another open end wants them.
            if not mask & at_wants:
                for end in ends:
                    if end.wants == at_wants and end.gate == OPEN:
                        break
                else:
                    open_mask ^= at_wants
        return _new(Layout, (placements, ends, form, last_number, open_mask, ends_sum))

    def flip_lead(self) -> Layout:
        """Return the layout with its only tile, the lead, turned over; all ends are closed (rules 2.8)."""
        lead = self.placements[0]._replace(face_down=True)
        ends = tuple([end._replace(gate=CLOSED, counts=0) for end in self.ends])
        return self._replace(placements=(lead,), ends=ends, open_mask=0, ends_sum=0)

    def covered_sums(self) -> list[tuple[End, int]]:
        """Return each open end with the sum of the ends after a tile covers it, without those that the tile opens."""
        sums = []
        for end in self.ends:
            if end.gate == OPEN:
                gain = self._gain_beside(end) if end.side == LONG and not end.host else 0
                sums.append((end, self.ends_sum - end.counts + gain))
        return sums

    def _gain_beside(self, long_side: End) -> int:
        """Return by how much the other long side of a leading double gains value when this one is covered.

        Both have the same value while they are paired; 0 if they are not.
        """
        return _counts(self.form.end_value, long_side.number, LONG, OPEN, paired=False) - long_side.counts

    def restored(
        self, placements: tuple[Placement, ...], stored_ends: Sequence[StoredEnd], last_end_number: int
    ) -> Layout:
        """Return this empty layout with these tiles and ends.

        The other fields of the ends and of the layout are computed.
        """
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

    def end(self, name: str | None) -> End | None:
        """Return the end with this name, open or not; ``None`` if there is none, and for the lead, which names none."""
        for end in self.ends:
            if end.name == name:
                return end
        return None

    def covered_ends(self) -> tuple[str | None, ...]:
        """Return the name of the end that each tile covered; ``None`` for the lead.

        Two sides of a double can be equal, so the name follows from positions in ``ends``: the ends that a tile opens
        take the position of the end that it covers, and every tile opens at least one. So at or behind each side that a
        tile opened there is still an end, and the sides are in the order of these ends.
        """
        placements, ends = self.placements, self.ends
        names: list[str | None] = [None] * len(placements)
        if self.form.line_ends:
            for end in ends:
                host = end.host
                while host:
                    names[host] = end.name
                    host = placements[host].host
            return tuple(names)
        opened: list[list[tuple[int, int]]] = [[] for _ in placements]
        """The sides of each tile: the position of the first end at or behind the side, and the tile there (0: none)."""
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

    def admits(self, end: End, tile: Tile, outer: int | None) -> bool:
        """Return whether this tile can join this end; ``outer``: as in ``join``."""
        if end.gate != OPEN or not tile.offers & end.wants:
            return False
        return outer in outer_halves(tile, end.wants) if self.names_outer else outer is None

    def outer_half(self, index: int) -> int:
        """Return the half of this tile that does not touch its host; for the lead the higher half."""
        tile, host, _, _, _, outer = self.placements[index]
        if outer is not None:
            return outer
        return tile.high if host < 0 else tile.other_half(tile.shared_number(self.placements[host].tile))

    def inner_half(self, index: int) -> int:
        """Return the half of this tile that touches its host; for the lead the lower half."""
        return self.placements[index].tile.other_half(self.outer_half(index))

    def has_face_up_double(self) -> bool:
        """Return whether a double lies face up (rules 2.4)."""
        return any(placement.tile.double and not placement.face_down for placement in self.placements)


@cache
def outer_halves(tile: Tile, wants: int) -> tuple[int, ...]:
    """Return the halves that can stay outside, the lower half first, if the tile joins an end that wants these bits.

    Empty if the tile does not fit; a double has one.
    """
    either = tile.offers & wants & MATADOR
    halves = (tile.low,) if tile.double else (tile.low, tile.high)
    return tuple([half for half in halves if either or wants >> tile.other_half(half) & 1])


_Opened = tuple[tuple[tuple[int, Side, Gate, int, int], ...], int, int]
"""The ends that a tile opens, each as number, side, gate, ``counts`` and ``wants``; the union of ``wants``, 0 if they
are closed; and the sum of ``counts``."""


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
    opened = tuple([(*side, count, want) for side, count, want in zip(sides, counts, wanted, strict=True)])
    return opened, mask, sum(counts)


@cache
def gains(tile: Tile, branching: Branching, end_value: EndValue | None) -> tuple[int, int]:
    """Return the value of the ends that ``tile`` opens face up if it joins by its lower, and by its higher half."""
    _, _, by_low = _opened(tile, tile.low, branching, end_value)
    _, _, by_high = _opened(tile, tile.high, branching, end_value)
    return by_low, by_high


@cache
def _closed(double: Tile, wants: Wants | None) -> _Opened:
    """Return the one closed end that a face-down double opens (rules 1.5, 2.5)."""
    return ((double.low, LONG, CLOSED, 0, _wanted(wants, double.low)),), 0, 0


def _with_ends(form: LayoutForm, placements: tuple[Placement, ...], ends: tuple[End, ...], last_number: int) -> Layout:
    """Return the layout with these tiles and ends; ``open_mask`` and ``ends_sum`` are computed."""
    open_mask = ends_sum = 0
    for end in ends:
        ends_sum += end.counts
        if end.gate == OPEN:
            open_mask |= end.wants
    return Layout(placements, ends, form, last_number, open_mask, ends_sum)


def _gated_by_lead(ends: tuple[End, ...]) -> tuple[End, ...]:
    """Return the ends with new gates: at tiles other than the lead, they open once no side of the lead is free."""
    gate: Gate = GATED if any(not end.host for end in ends) else OPEN
    return tuple([end._replace(gate=gate) if end.host and end.gate != CLOSED else end for end in ends])


def _beside(ends: tuple[End, ...], covered: End, end_value: EndValue | None, gates: Gates) -> tuple[End, ...]:
    """Return the ends after a tile has joined this long side of a double.

    Its gated short sides can open now, and the other long side of a leading double is no longer paired.
    """
    host, counts = covered.host, _counts(end_value, covered.number, LONG, OPEN, paired=False)
    opens = gates != BOTH_LONG_SIDES or LONG not in [end.side for end in ends if end.host == host and end != covered]
    after = []
    for end in ends:
        if end.host != host:
            after.append(end)
        elif end.gate == GATED:
            after.append(end._replace(gate=OPEN) if opens else end)
        else:
            after.append(end._replace(counts=counts) if end.side == LONG else end)
    return tuple(after)


@cache
def _counts(end_value: EndValue | None, number: int, side: Side, gate: Gate, *, paired: bool) -> int:
    """Return the value of an end; 0 if it is closed or ends are not counted."""
    return 0 if end_value is None or gate == CLOSED else end_value(number, side, paired)


@cache
def _wanted(wants: Wants | None, number: int) -> int:
    return 1 << number if wants is None else wants(number)


@cache
def empty_layout(form: LayoutForm) -> Layout:
    """Return a layout without tiles and ends."""
    return Layout((), (), form)
