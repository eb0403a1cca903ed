"""The layout is its tree of placements: all that is kept beside it, a slow reader of the tree finds too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import pytest

from service.engine.events import Dealt, Flipped, Played
from service.engine.layout import Branching, EndValue, Layout, Placement
from service.engine.rules.scoring import all_but_long_sides, double_both_halves
from tests.laws.fits import is_matador, ways
from tests.laws.matches import Match, law

pytestmark = pytest.mark.quick


class Slot(NamedTuple):
    """A side of a tile on the table where another one lies, or may lie."""

    number: int
    host: int
    side: str
    gate: str


def layouts(match: Match) -> Iterator[tuple[Layout, list[Branching], Layout, Played]]:
    """Before each tile laid: the layout; after it: how each of its tiles branches, and the layout."""
    branchings: list[Branching] = []
    for before, event, after in match.happenings:
        if isinstance(event, Dealt):
            branchings = []
        elif isinstance(event, Played):
            branchings.append(match.rules.branching(before.layout, event.tile))
            yield before.layout, branchings, after.layout, event


def too_slow(match: Match, layout: Layout) -> bool:
    """A large tree takes long to read, so only some are."""
    return len(layout.placements) > 30 and match.rng.random() < 0.8


def slots(layout: Layout, branchings: list[Branching]) -> list[Slot]:
    """Every side that the tiles have opened, those included on which a tile lies by now."""
    placements, form = layout.placements, layout.form
    if form.line_ends:
        branchings = ["never"] * len(placements)
    found: list[Slot] = []
    lead_sides = sum(child.host == 0 for child in placements)
    shut = form.gates == "lead" and lead_sides < (4 if placements[0].tile.double else 2)
    for index, placement in enumerate(placements):
        tile, lead = placement.tile, index == 0
        if tile.double and placement.face_down:
            found.append(Slot(tile.low, index, "long", "closed"))
        elif tile.double and form.doubles_across:
            found += [Slot(tile.low, index, "long", "open")] * (2 if lead else 1)
            served = sum((child.host, child.side) == (index, "long") for child in placements)
            needed = 2 if lead and form.gates == "both long sides" else 1
            gate = "gated" if branchings[index] == "gated" and served < needed else "open"
            found += [Slot(tile.low, index, "short", gate)] * (0 if branchings[index] == "never" else 2)
        elif lead:
            found += [Slot(tile.low, 0, "end", "open"), Slot(tile.high, 0, "end", "open")]
        else:
            outer = tile.pips - touching(placements, index) if placement.outer is None else placement.outer
            found.append(Slot(outer, index, "end", "open"))
        if lead and len(form.line_ends) == 1:
            del found[0]
    return [slot._replace(gate="gated") if shut and slot.host else slot for slot in found]


def count_of(slot: Slot, free: list[Slot], end_value: EndValue | None) -> int:
    """What a free side counts."""
    if end_value is None or slot.gate == "closed":
        return 0
    if end_value is all_but_long_sides:
        return 0 if slot.side == "long" else slot.number
    assert end_value is double_both_halves
    if slot.side == "long":
        return 2 * slot.number // free.count(slot)
    return slot.number if slot.side == "end" else 0


def touching(placements: Sequence[Placement], index: int) -> int:
    """The number that a tile and its host share where they touch."""
    tile, host = placements[index].tile, placements[placements[index].host]
    numbers = {tile.low, tile.high} & {host.tile.low, host.tile.high}
    if not host.tile.double and host.host >= 0:
        numbers &= {host.tile.pips - touching(placements, placements[index].host)}
    (number,) = numbers
    return number


def covered_number(layout: Layout, index: int) -> int:
    """The number of the end that a tile has covered; where it may be another than that which touches, of a line."""
    placements = layout.placements
    if not layout.names_outer:
        return touching(placements, index)
    host = placements[placements[index].host]
    if host.outer is not None:
        return host.outer
    return host.tile.low if layout.covered_ends()[index] == "left" else host.tile.high


def covered(layout: Layout) -> list[tuple[int, int, str]]:
    return [
        (covered_number(layout, index), placement.host, placement.side)
        for index, placement in enumerate(layout.placements)
        if index
    ]


@law()
def test_the_ends_are_the_sides_of_the_tree_on_which_no_tile_lies(match: Match) -> None:
    for _, branchings, layout, _ in layouts(match):
        if too_slow(match, layout):
            continue
        ends = Counter(slots(layout, branchings))
        for number, host, side in covered(layout):
            ends[Slot(number, host, side, "open")] -= 1
        assert all(count >= 0 for count in ends.values())
        assert Counter([Slot(*end[1:5]) for end in layout.ends]) == +ends


@law()
def test_the_numbers_kept_beside_the_ends_are_what_the_tree_says(match: Match) -> None:
    """The mask of the open numbers, the sum of what counts (rules 3.5), and how many ends have had a name."""
    for _, branchings, layout, event in layouts(match):
        if too_slow(match, layout):
            continue
        sides = slots(layout, branchings)
        lying = Counter(covered(layout))
        free = []
        for slot in sides:
            if lying[slot[:3]]:
                lying[slot[:3]] -= 1
            else:
                free.append(slot)
        wanted = 0
        for slot in free:
            if slot.gate == "open":
                wanted |= match.rules.form.wants(slot.number) if match.rules.form.wants else 1 << slot.number
        assert layout.open_mask == wanted
        end_value = match.rules.form.end_value
        assert layout.ends_sum == sum(count_of(slot, free, end_value) for slot in free)
        assert event.ends_sum == (layout.ends_sum if layout.counts_ends and not event.face_down else None)
        assert (event.points is None) == (match.rules.points is None)
        assert layout.last_end_number == (0 if layout.is_line else len(sides))
        for end in layout.ends:
            assert end.counts == count_of(Slot(*end[1:5]), free, end_value)


@law()
def test_a_tile_joins_the_end_that_was_named(match: Match) -> None:
    for before, _, after, event in layouts(match):
        *others, placement = after.placements
        assert tuple(others) == before.placements
        assert (placement.tile, placement.seat, placement.face_down) == (event.tile, event.seat, event.face_down)
        if event.end is None:
            assert (before.placements, placement.host, placement.side, placement.face_down) == ((), -1, "end", False)
        else:
            (end,) = [end for end in before.ends if end.name == event.end]
            assert end.gate == "open"
            assert (placement.host, placement.side) == (end.host, end.side)
            assert placement.outer == event.outer
            assert event.outer in ways(match.rules, event.tile, end.number)
            assert not event.face_down or (event.tile.double and match.rules.face_down)


@law()
def test_the_ends_that_the_tiles_have_covered_are_those_that_were_named(match: Match) -> None:
    named: list[str | None] = []
    for before, _, after, event in layouts(match):
        named = [*(named if event.end else []), event.end]
        assert after.covered_ends() == tuple(named)
        if event.end:
            assert covered_number(after, len(named) - 1) == before.end(event.end).number  # type: ignore[union-attr]


@law()
def test_an_end_keeps_its_name_and_its_place_while_it_lasts(match: Match) -> None:
    """What joins an end puts its own ends in its place; a gate may open, and the other long side of the lead may count
    more (rules 8.7, 9.5); nothing else changes."""
    for before, _, after, event in layouts(match):
        names = [end.name for end in after.ends]
        assert len(set(names)) == len(names)
        if event.end is None:
            numbered = [f"e{index + 1}" for index in range(len(names))]
            assert names == (list(match.rules.form.line_ends) or numbered)
            continue
        place = [end.name for end in before.ends].index(event.end)
        behind = len(before.ends) - place - 1
        kept = after.ends[:place] + after.ends[len(after.ends) - behind :]
        for old, new in zip(before.ends[:place] + before.ends[place + 1 :], kept, strict=True):
            assert new == old._replace(gate=new.gate, counts=new.counts)
            assert old.gate == new.gate or (old.gate, new.gate) == ("gated", "open")
            assert old.counts == new.counts or (old.side == "long" and not old.host)
        arisen = names[place : len(names) - behind]
        assert arisen == (
            [event.end] if after.is_line else [f"e{before.last_end_number + 1 + index}" for index in range(len(arisen))]
        )


@law()
def test_a_line_is_a_chain_of_equal_halves_between_left_and_right(match: Match) -> None:
    if not match.rules.form.line_ends:
        pytest.skip("the layout of this game is no line")
    if match.rules.form.wants:
        pytest.skip("in this game other halves touch than equal ones")
    chain: list[tuple[int, int]] = []
    for _, _, layout, event in layouts(match):
        low, high = event.tile.low, event.tile.high
        if event.end is None:
            chain = [(low, high)]
        elif event.end == "left":
            chain.insert(0, (low, high) if high == chain[0][0] else (high, low))
        else:
            chain.append((low, high) if low == chain[-1][1] else (high, low))
        assert all(left[1] == right[0] for left, right in pairwise(chain))
        numbers = {"left": chain[0][0], "right": chain[-1][1]}
        assert [(end.name, end.number) for end in layout.ends] == [
            (name, numbers[name]) for name in match.rules.form.line_ends
        ]


@law()
def test_in_matador_touching_halves_add_up_to_seven_or_the_tile_is_a_matador(match: Match) -> None:
    if not match.rules.form.wants:
        pytest.skip("in this game equal halves touch")
    ends: dict[str, int] = {}
    for _, _, layout, event in layouts(match):
        tile = event.tile
        if event.end is None:
            ends = {"left": tile.low, "right": tile.high}
        else:
            assert event.outer in (tile.low, tile.high)
            assert is_matador(tile) or ends[event.end] + tile.pips - event.outer == 7
            ends[event.end] = event.outer
        assert {end.name: end.number for end in layout.ends} == ends
        assert {end.side for end in layout.ends} == {"end"}


@law()
def test_a_lead_that_is_turned_over_closes_every_end(match: Match) -> None:
    for before, event, after in match.happenings:
        if isinstance(event, Flipped):
            assert [placement.face_down for placement in after.layout.placements] == [True]
            assert [end._replace(gate="closed") for end in before.layout.ends] == list(after.layout.ends)
            assert not after.layout.open_mask
