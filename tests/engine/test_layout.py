"""The layout: the proof on paper of its docstring, step by step, and the laws behind it.

Ends are written as there: host/side=number after their name, gated in (), closed in [], and what an end
counts, where it counts, as ``+n``.
"""

from __future__ import annotations

from random import Random

import pytest

from service.engine.layout import (
    BOTH_LONG_SIDES,
    FIRST_LONG_SIDE,
    GATED,
    IMMEDIATELY,
    LEAD_COVERED,
    LEFT,
    NEVER,
    RIGHT,
    Branching,
    End,
    EndValue,
    Gates,
    Layout,
    LayoutForm,
    Placement,
    Wants,
    empty_layout,
    gains,
    outer_halves,
)
from service.engine.referee import advance, legal_moves
from service.engine.rules.opening import seven_or_a_matador
from service.engine.rules.scoring import all_but_long_sides, double_both_halves
from service.engine.state import PLAYING
from service.engine.tiles import double_set, parse_tile
from service.engine.variants import variants
from tests.engine.table import EngineTable

FORMS = {"open": "{}", "gated": "({})", "closed": "[{}]"}


class Paper:
    """A layout that tiles are written on, one after the other."""

    def __init__(
        self,
        *,
        line: bool = False,
        line_ends: tuple[str, ...] = (),
        end_value: EndValue | None = None,
        gates: Gates = FIRST_LONG_SIDE,
        wants: Wants | None = None,
    ) -> None:
        names = (LEFT, RIGHT) if line else line_ends
        self.layout = empty_layout(LayoutForm(names, end_value, gates, wants, doubles_across=wants is None))

    def lead(self, tile: str, branching: Branching = NEVER) -> list[str]:
        self.layout = self.layout.lead(parse_tile(tile), 0, branching)
        return self.ends()

    def join(self, end: str, tile: str, branching: Branching = NEVER, *, face_down: bool = False) -> list[str]:
        """Lay a tile at an end; the sum of the ends is what was foreseen."""
        at = self.layout.end(end)
        assert at is not None
        before = self.layout
        by_low, by_high = gains(parse_tile(tile), branching, before.form.end_value)
        foreseen = dict(before.covered_sums())[at] + (by_low if at.number == parse_tile(tile).low else by_high)
        copy = Layout(*before)
        self.layout = before.join(at, parse_tile(tile), 1, face_down=face_down, branching=branching)
        assert before == copy
        assert face_down or self.layout.ends_sum == foreseen
        return self.ends()

    def build(self, lead: str, branching: Branching, *joined: str) -> list[str]:
        """Lay a lead, and then tiles, each as ``3-5@e1``."""
        self.lead(lead, branching)
        for tile, _, end in (each.partition("@") for each in joined):
            self.join(end, tile)
        return self.ends()

    def turn(self, end: str, tile: str, outer: int) -> list[str]:
        """Lay a tile at an end with this half outside."""
        at = self.layout.end(end)
        assert at is not None
        assert self.layout.admits(at, parse_tile(tile), outer)
        self.layout = self.layout.join(at, parse_tile(tile), 1, face_down=False, branching=NEVER, outer=outer)
        return self.ends()

    def ends(self) -> list[str]:
        return [self._written(end) for end in self.layout.ends]

    def open_numbers(self) -> set[int]:
        return {number for number in range(19) if self.layout.open_mask >> number & 1}

    def _written(self, end: End) -> str:
        host = self.layout.placements[end.host].tile.name
        text = FORMS[end.gate].format(f"{host}/{end.side}={end.number}")
        return f"{end.name} {text}" + (f" +{end.counts}" if end.counts else "")


def test_an_empty_table_has_no_ends() -> None:
    for line in (False, True):
        for end_value in (None, all_but_long_sides):
            layout = empty_layout(LayoutForm((LEFT, RIGHT) if line else (), end_value))
            assert (layout.placements, layout.ends, layout.open_mask, layout.ends_sum) == ((), (), 0, 0)


# Proof 1: two-ended lines


def test_proof_1_two_ended_lines() -> None:
    assert Paper(line=True).lead("2-5") == ["left 2-5/end=2", "right 2-5/end=5"]  # its lower half on the left
    paper = Paper(line=True)
    assert paper.lead("1-1") == ["left 1-1/long=1", "right 1-1/long=1"]
    assert paper.join("right", "1-2") == ["left 1-1/long=1", "right 1-2/end=2"]
    assert paper.join("right", "2-5") == ["left 1-1/long=1", "right 2-5/end=5"]
    assert paper.join("right", "4-5") == ["left 1-1/long=1", "right 4-5/end=4"]
    before = paper.layout
    assert paper.join("right", "4-6") == ["left 1-1/long=1", "right 4-6/end=6"]
    paper.layout = before
    assert paper.join("left", "1-3") == ["left 1-3/end=3", "right 4-5/end=4"]
    placed = [(laid.host, laid.side) for laid in paper.layout.placements]
    assert placed == [(-1, "end"), (0, "long"), (1, "end"), (2, "end"), (0, "long")]
    assert paper.join("left", "3-3") == ["left 3-3/long=3", "right 4-5/end=4"]  # it goes on with its far long side
    assert paper.join("left", "2-3") == ["left 2-3/end=2", "right 4-5/end=4"]


# Proof 2: lupus's four arms


def test_proof_2_lupus_four_arms() -> None:
    paper = Paper()
    assert paper.lead("0-0", IMMEDIATELY) == ["e1 0-0/long=0", "e2 0-0/long=0", "e3 0-0/short=0", "e4 0-0/short=0"]
    assert paper.join("e1", "0-1") == ["e5 0-1/end=1", "e2 0-0/long=0", "e3 0-0/short=0", "e4 0-0/short=0"]
    assert paper.join("e5", "1-1", face_down=True) == [
        "e6 [1-1/long=1]",
        "e2 0-0/long=0",
        "e3 0-0/short=0",
        "e4 0-0/short=0",
    ]
    assert paper.open_numbers() == {0}
    paper.join("e2", "0-2")
    paper.join("e3", "0-3")
    assert paper.join("e4", "0-4") == ["e6 [1-1/long=1]", "e7 0-2/end=2", "e8 0-3/end=3", "e9 0-4/end=4"]
    assert paper.open_numbers() == {2, 3, 4}
    paper.join("e7", "2-2", face_down=True)
    paper.join("e8", "3-3", face_down=True)
    assert paper.open_numbers() == {4}
    assert paper.join("e9", "4-4", face_down=True) == [
        "e6 [1-1/long=1]",
        "e10 [2-2/long=2]",
        "e11 [3-3/long=3]",
        "e12 [4-4/long=4]",
    ]
    assert paper.open_numbers() == set()


def test_proof_2_a_later_face_up_double_has_one_end() -> None:
    ends = Paper().build("0-0", IMMEDIATELY, "0-1@e4", "1-1@e5")
    assert ends == ["e1 0-0/long=0", "e2 0-0/long=0", "e3 0-0/short=0", "e6 1-1/long=1"]


# Proof 3: the wolf's mother


@pytest.mark.parametrize(("end", "other"), [("e1", "e2"), ("e2", "e1")])
def test_proof_3_the_mother_as_the_lead(end: str, other: str) -> None:
    paper = Paper()
    assert paper.lead("3-3", GATED) == ["e1 3-3/long=3", "e2 3-3/long=3", "e3 (3-3/short=3)", "e4 (3-3/short=3)"]
    assert paper.open_numbers() == {3}
    assert sorted(paper.join(end, "3-5")) == [f"{other} 3-3/long=3", "e3 3-3/short=3", "e4 3-3/short=3", "e5 3-5/end=5"]
    assert paper.open_numbers() == {3, 5}


def test_proof_3_the_mother_in_mid_chain() -> None:
    paper = Paper()
    assert paper.lead("1-2") == ["e1 1-2/end=1", "e2 1-2/end=2"]
    assert paper.join("e2", "2-4") == ["e1 1-2/end=1", "e3 2-4/end=4"]
    assert not paper.layout.has_face_up_double()
    assert paper.join("e3", "4-4", GATED) == ["e1 1-2/end=1", "e4 4-4/long=4", "e5 (4-4/short=4)", "e6 (4-4/short=4)"]
    assert paper.layout.has_face_up_double()
    assert paper.join("e4", "4-6") == ["e1 1-2/end=1", "e7 4-6/end=6", "e5 4-4/short=4", "e6 4-4/short=4"]
    assert paper.join("e7", "6-6") == ["e1 1-2/end=1", "e8 6-6/long=6", "e5 4-4/short=4", "e6 4-4/short=4"]


def test_proof_3_a_tile_elsewhere_even_on_the_long_side_of_another_double_leaves_the_short_sides_gated() -> None:
    paper = Paper()
    paper.lead("1-2")
    paper.join("e2", "2-2", GATED)
    assert paper.join("e1", "1-1") == ["e6 1-1/long=1", "e3 2-2/long=2", "e4 (2-2/short=2)", "e5 (2-2/short=2)"]
    assert paper.join("e6", "1-3") == ["e7 1-3/end=3", "e3 2-2/long=2", "e4 (2-2/short=2)", "e5 (2-2/short=2)"]
    assert paper.join("e3", "2-6") == ["e7 1-3/end=3", "e8 2-6/end=6", "e4 2-2/short=2", "e5 2-2/short=2"]


def test_proof_3_a_face_down_double_only_closes_its_end_and_is_not_the_mother() -> None:
    paper = Paper()
    paper.lead("1-2")
    paper.join("e2", "2-4")
    assert paper.join("e3", "4-4", face_down=True) == ["e1 1-2/end=1", "e4 [4-4/long=4]"]
    assert not paper.layout.has_face_up_double()
    assert paper.join("e1", "1-1", GATED) == [
        "e5 1-1/long=1",
        "e6 (1-1/short=1)",
        "e7 (1-1/short=1)",
        "e4 [4-4/long=4]",
    ]
    assert paper.layout.has_face_up_double()
    assert paper.open_numbers() == {1}


# Proof 4: FIDO's doubles


def test_proof_4_fido_counting() -> None:
    """Sums 24, 34, 35, 35, 28, 39, 29, 35, as the rules have them."""
    paper = Paper(end_value=all_but_long_sides)
    short = [f"e{number} 12-12/short=12 +12" for number in (3, 4)]
    gated = ["e3 (12-12/short=12) +12", "e4 (12-12/short=12) +12"]
    eleven = ["e10 11-11/short=11 +11", "e11 11-11/short=11 +11"]
    five = ["e8 5-12/end=5 +5", short[1]]
    assert paper.lead("12-12", GATED) == ["e1 12-12/long=12", "e2 12-12/long=12", *gated]
    assert paper.layout.ends_sum == 24
    steps: list[tuple[str, str, Branching, list[str], int]] = [
        ("e1", "10-12", NEVER, ["e5 10-12/end=10 +10", "e2 12-12/long=12", *short], 34),
        ("e5", "10-11", NEVER, ["e6 10-11/end=11 +11", "e2 12-12/long=12", *short], 35),
        ("e2", "0-12", NEVER, ["e6 10-11/end=11 +11", "e7 0-12/end=0", *short], 35),
        ("e3", "5-12", NEVER, ["e6 10-11/end=11 +11", "e7 0-12/end=0", *five], 28),
        ("e6", "11-11", IMMEDIATELY, ["e9 11-11/long=11", *eleven, "e7 0-12/end=0", *five], 39),
        ("e11", "1-11", NEVER, ["e9 11-11/long=11", eleven[0], "e12 1-11/end=1 +1", "e7 0-12/end=0", *five], 29),
        ("e9", "6-11", NEVER, ["e13 6-11/end=6 +6", eleven[0], "e12 1-11/end=1 +1", "e7 0-12/end=0", *five], 35),
    ]
    for end, tile, branching, ends, ends_sum in steps:
        assert (paper.join(end, tile, branching), paper.layout.ends_sum) == (ends, ends_sum)


def test_proof_4_the_sum_of_a_lead() -> None:
    empty = empty_layout(LayoutForm((), all_but_long_sides))
    assert empty.lead(parse_tile("12-12"), 0, GATED).ends_sum == 24
    assert empty.lead(parse_tile("12-12"), 0, NEVER).ends_sum == 0
    assert empty.lead(parse_tile("3-5"), 0, NEVER).ends_sum == 8
    assert Paper(end_value=all_but_long_sides).lead("3-5") == ["e1 3-5/end=3 +3", "e2 3-5/end=5 +5"]


def test_proof_4_nothing_counts_where_ends_are_not_counted() -> None:
    paper = Paper()
    paper.lead("6-6", GATED)
    paper.join("e1", "5-6")
    paper.join("e5", "5-5", IMMEDIATELY)
    assert ([end.counts for end in paper.layout.ends], paper.layout.ends_sum) == ([0] * 6, 0)


# Other answers to what an end counts


def test_a_double_can_count_both_halves_once_on_a_line() -> None:
    paper = Paper(line=True, end_value=double_both_halves)
    assert paper.lead("5-5") == ["left 5-5/long=5 +5", "right 5-5/long=5 +5"]
    assert paper.join("right", "2-5") == ["left 5-5/long=5 +10", "right 2-5/end=2 +2"]
    assert paper.join("left", "3-5") == ["left 3-5/end=3 +3", "right 2-5/end=2 +2"]
    assert paper.join("left", "3-3") == ["left 3-3/long=3 +6", "right 2-5/end=2 +2"]
    assert paper.layout.ends_sum == 8


@pytest.mark.parametrize("end_value", [None, all_but_long_sides, double_both_halves])
def test_what_ends_count_follows_from_what_is_kept_of_them(end_value: EndValue | None) -> None:
    paper = Paper(end_value=end_value)
    paper.lead("5-5", GATED)
    for end, tile in (("e1", "2-5"), ("e2", "5-6"), ("e6", "6-6")):
        layout = paper.layout
        kept = [(end.name, end.number, end.host, end.side, end.gate) for end in layout.ends]
        empty = empty_layout(LayoutForm((), end_value))
        assert empty.restored(layout.placements, kept, layout.last_end_number) == layout
        paper.join(end, tile)


# Proof 5: one end


def test_proof_5_a_line_with_one_end() -> None:
    assert Paper(line_ends=(RIGHT,)).lead("2-6") == ["right 2-6/end=6"]  # its higher half
    paper = Paper(line_ends=(RIGHT,))
    assert paper.lead("5-5") == ["right 5-5/long=5"]
    assert paper.join("right", "1-5") == ["right 1-5/end=1"]
    assert paper.open_numbers() == {1}
    assert paper.join("right", "1-1") == ["right 1-1/long=1"]
    assert paper.join("right", "1-4") == ["right 1-4/end=4"]
    placed = [(laid.host, laid.side) for laid in paper.layout.placements]
    assert placed == [(-1, "end"), (0, "long"), (1, "end"), (2, "long")]
    assert paper.layout.covered_ends() == (None, "right", "right", "right")
    assert paper.layout.end("left") is None


def test_proof_5_a_leading_double_with_one_end_counts_both_its_halves() -> None:
    paper = Paper(line_ends=(RIGHT,), end_value=double_both_halves)
    paper.lead("5-5")
    lead = paper.layout
    assert lead.ends_sum == 10
    ((name, number, host, side, gate, _, _),) = lead.ends
    empty = empty_layout(LayoutForm((RIGHT,), double_both_halves))
    assert empty.restored(lead.placements, [(name, number, host, side, gate)], 0) == lead
    paper.join("right", "1-5")
    assert paper.layout.ends_sum == 1


# Proof 6: both long sides first


@pytest.mark.parametrize(("first", "second"), [("e1", "e2"), ("e2", "e1")])
def test_proof_6_the_short_sides_of_the_lead_open_when_both_long_sides_are_covered(first: str, second: str) -> None:
    paper = Paper(gates=BOTH_LONG_SIDES)
    assert paper.lead("3-3", GATED) == ["e1 3-3/long=3", "e2 3-3/long=3", "e3 (3-3/short=3)", "e4 (3-3/short=3)"]
    assert sorted(paper.join(first, "3-5")) == [
        f"{second} 3-3/long=3",
        "e3 (3-3/short=3)",
        "e4 (3-3/short=3)",
        "e5 3-5/end=5",
    ]
    assert paper.open_numbers() == {3, 5}
    assert sorted(paper.join(second, "3-4")) == ["e3 3-3/short=3", "e4 3-3/short=3", "e5 3-5/end=5", "e6 3-4/end=4"]
    assert paper.open_numbers() == {3, 4, 5}


def test_proof_6_a_tile_elsewhere_opens_nothing() -> None:
    ends = Paper(gates=BOTH_LONG_SIDES).build("3-3", GATED, "3-5@e1", "5-5@e5", "4-5@e6")
    assert ends == ["e7 4-5/end=4", "e2 3-3/long=3", "e3 (3-3/short=3)", "e4 (3-3/short=3)"]


def test_worked_8a_a_spinner_that_leads() -> None:
    paper = Paper(end_value=double_both_halves, gates=BOTH_LONG_SIDES)
    gated, short = ["e3 (5-5/short=5)", "e4 (5-5/short=5)"], ["e3 5-5/short=5", "e4 5-5/short=5"]
    assert paper.lead("5-5", GATED) == ["e1 5-5/long=5 +5", "e2 5-5/long=5 +5", *gated]
    assert paper.layout.ends_sum == 10
    for end, tile, ends, ends_sum in (
        ("e1", "2-5", ["e5 2-5/end=2 +2", "e2 5-5/long=5 +10", *gated], 12),
        ("e2", "3-5", ["e5 2-5/end=2 +2", "e6 3-5/end=3 +3", *short], 5),
        ("e3", "0-5", ["e5 2-5/end=2 +2", "e6 3-5/end=3 +3", "e7 0-5/end=0", short[1]], 5),
        ("e4", "5-6", ["e5 2-5/end=2 +2", "e6 3-5/end=3 +3", "e7 0-5/end=0", "e8 5-6/end=6 +6"], 11),
        ("e8", "6-6", ["e5 2-5/end=2 +2", "e6 3-5/end=3 +3", "e7 0-5/end=0", "e9 6-6/long=6 +12"], 17),
        ("e6", "3-3", ["e5 2-5/end=2 +2", "e10 3-3/long=3 +6", "e7 0-5/end=0", "e9 6-6/long=6 +12"], 20),
        ("e7", "0-0", ["e5 2-5/end=2 +2", "e10 3-3/long=3 +6", "e11 0-0/long=0", "e9 6-6/long=6 +12"], 20),
    ):
        assert (paper.join(end, tile), paper.layout.ends_sum) == (ends, ends_sum)


def test_worked_8b_a_spinner_inside_a_line() -> None:
    paper = Paper(end_value=double_both_halves, gates=BOTH_LONG_SIDES)
    assert paper.lead("2-3") == ["e1 2-3/end=2 +2", "e2 2-3/end=3 +3"]
    assert paper.layout.ends_sum == 5
    steps: list[tuple[str, str, Branching, list[str], int]] = [
        ("e2", "3-3", GATED, ["e3 3-3/long=3 +6", "e4 (3-3/short=3)", "e5 (3-3/short=3)"], 8),
        ("e3", "3-4", NEVER, ["e6 3-4/end=4 +4", "e4 3-3/short=3", "e5 3-3/short=3"], 6),
        ("e4", "1-3", NEVER, ["e6 3-4/end=4 +4", "e7 1-3/end=1 +1", "e5 3-3/short=3"], 7),
        ("e5", "3-6", NEVER, ["e6 3-4/end=4 +4", "e7 1-3/end=1 +1", "e8 3-6/end=6 +6"], 13),
    ]
    for end, tile, branching, ends, ends_sum in steps:
        assert paper.join(end, tile, branching) == ["e1 2-3/end=2 +2", *ends]
        assert paper.layout.ends_sum == ends_sum


# Proof 7: the lead first


def test_proof_7_all_other_ends_open_when_every_side_of_the_lead_is_covered() -> None:
    paper = Paper(gates=LEAD_COVERED)
    assert paper.lead("6-6", IMMEDIATELY) == ["e1 6-6/long=6", "e2 6-6/long=6", "e3 6-6/short=6", "e4 6-6/short=6"]
    assert paper.join("e1", "3-6") == ["e5 (3-6/end=3)", "e2 6-6/long=6", "e3 6-6/short=6", "e4 6-6/short=6"]
    assert paper.open_numbers() == {6}
    assert paper.join("e3", "0-6") == ["e5 (3-6/end=3)", "e2 6-6/long=6", "e6 (0-6/end=0)", "e4 6-6/short=6"]
    assert paper.join("e4", "2-6") == ["e5 (3-6/end=3)", "e2 6-6/long=6", "e6 (0-6/end=0)", "e7 (2-6/end=2)"]
    assert paper.open_numbers() == {6}
    assert paper.join("e2", "1-6") == ["e5 3-6/end=3", "e8 1-6/end=1", "e6 0-6/end=0", "e7 2-6/end=2"]
    assert paper.open_numbers() == {0, 1, 2, 3}


@pytest.mark.parametrize("order", ["e1 e2 e3 e4", "e4 e3 e2 e1", "e2 e3 e1 e4", "e3 e1 e4 e2"])
def test_proof_7_in_any_order_of_the_sides(order: str) -> None:
    paper = Paper(gates=LEAD_COVERED)
    paper.lead("6-6", IMMEDIATELY)
    for number, end in enumerate(order.split(), 1):
        paper.join(end, f"{number}-6")
        assert paper.open_numbers() == ({6} if number < 4 else {1, 2, 3, 4})
        assert [end.gate for end in paper.layout.ends if end.host] == ["gated" if number < 4 else "open"] * number


def test_proof_7_once_open_the_arms_stay_open() -> None:
    paper = Paper(gates=LEAD_COVERED)
    paper.build("6-6", IMMEDIATELY, "3-6@e1", "1-6@e2", "0-6@e3", "2-6@e4")
    assert paper.join("e5", "3-3") == ["e9 3-3/long=3", "e6 1-6/end=1", "e7 0-6/end=0", "e8 2-6/end=2"]
    assert paper.join("e9", "3-5") == ["e10 3-5/end=5", "e6 1-6/end=1", "e7 0-6/end=0", "e8 2-6/end=2"]
    assert paper.open_numbers() == {0, 1, 2, 5}


def test_proof_7_ends_are_counted_behind_a_gate_too() -> None:
    paper = Paper(end_value=all_but_long_sides, gates=LEAD_COVERED)
    paper.lead("6-6", IMMEDIATELY)
    sums = []
    for end, tile in (("e1", "3-6"), ("e3", "0-6"), ("e4", "2-6"), ("e2", "1-6")):
        paper.join(end, tile)
        sums.append(paper.layout.ends_sum)
    assert sums == [15, 9, 5, 6]


@pytest.mark.parametrize("gates", [FIRST_LONG_SIDE, BOTH_LONG_SIDES, LEAD_COVERED])
def test_gates_follow_from_what_is_kept_of_the_ends(gates: Gates) -> None:
    paper = Paper(gates=gates)
    paper.lead("6-6", IMMEDIATELY if gates == LEAD_COVERED else GATED)
    for end, tile in (("e1", "3-6"), ("e2", "0-6"), ("e3", "2-6"), ("e4", "1-6")):
        paper.join(end, tile)
        layout = paper.layout
        kept = [(end.name, end.number, end.host, end.side, end.gate) for end in layout.ends]
        assert empty_layout(layout.form).restored(layout.placements, kept, layout.last_end_number) == layout


# Proof 8: face-down doubles


def test_proof_8_a_face_down_double_covers_the_end_and_keeps_its_number_and_name() -> None:
    paper = Paper()
    paper.lead("1-2")
    assert paper.join("e2", "2-2", face_down=True) == ["e1 1-2/end=1", "e3 [2-2/long=2]"]
    assert paper.layout.placements[1] == Placement(parse_tile("2-2"), 0, "end", 1, True)
    assert paper.layout.end("e2") is None
    assert paper.open_numbers() == {1}


# Proof 8: halves that add up to 7


def test_proof_8_halves_that_add_up_to_seven() -> None:
    paper = Paper(line=True, wants=seven_or_a_matador)
    assert paper.lead("6-6") == ["left 6-6/end=6", "right 6-6/end=6"]
    assert paper.turn("right", "1-4", 4) == ["left 6-6/end=6", "right 1-4/end=4"]
    assert paper.turn("right", "2-5", 2) == ["left 6-6/end=6", "right 2-5/end=2"]
    assert paper.turn("right", "5-5", 5) == ["left 6-6/end=6", "right 5-5/end=5"]
    layout = paper.layout
    placed = [(laid.host, laid.side, laid.outer) for laid in layout.placements]
    assert placed == [(-1, "end", None), (0, "end", 4), (1, "end", 2), (2, "end", 5)]
    halves = [(layout.inner_half(index), layout.outer_half(index)) for index in range(4)]
    assert halves == [(6, 6), (1, 4), (5, 2), (5, 5)]


def test_proof_8_a_tile_is_admitted_with_the_halves_outside_that_may_be_there() -> None:
    paper = Paper(line=True, wants=seven_or_a_matador)
    paper.lead("0-6")
    left, right = paper.layout.ends
    for tile in double_set(6):
        matador = tile.pips in (0, 7)
        wanted = [half for half in dict.fromkeys((tile.low, tile.high)) if matador or tile.other_half(half) == 1]
        assert list(outer_halves(tile, right.wants)) == wanted
        assert list(outer_halves(tile, left.wants)) == [half for half in wanted if matador]
        for outer in (None, *range(8)):
            assert paper.layout.admits(right, tile, outer) == (outer in wanted)
            assert not paper.layout.admits(right._replace(gate="closed"), tile, outer)


def test_where_equal_halves_touch_no_outer_half_is_named() -> None:
    paper = Paper(line=True)
    paper.lead("0-6")
    end = paper.layout.ends[1]
    assert [paper.layout.admits(end, parse_tile("2-6"), outer) for outer in (None, 2, 6)] == [True, False, False]
    paper.join("right", "2-6")
    assert (paper.layout.inner_half(1), paper.layout.outer_half(1)) == (6, 2)
    assert (paper.layout.inner_half(0), paper.layout.outer_half(0)) == (0, 6)


def test_in_a_layout_that_branches_other_ends_may_still_want_what_a_covered_one_wanted() -> None:
    paper = Paper(wants=seven_or_a_matador)
    paper.lead("0-6")
    paper.turn("e2", "1-1", 1)
    for name, tile, outer in (("e1", "2-5", 2), ("e3", "3-6", 3), ("e4", "0-0", 0)):
        paper.turn(name, tile, outer)
        mask = 0
        for end in paper.layout.ends:
            mask |= seven_or_a_matador(end.number)
        assert paper.layout.open_mask == mask


def test_a_lead_that_is_turned_over_closes_every_end() -> None:
    paper = Paper()
    paper.lead("1-2")
    paper.layout = paper.layout.flip_lead()
    assert paper.ends() == ["e1 [1-2/end=1]", "e2 [1-2/end=2]"]
    assert (paper.open_numbers(), paper.layout.placements[0].face_down) == (set(), True)
    paper = Paper()
    paper.lead("3-3", GATED)
    paper.layout = paper.layout.flip_lead()
    assert paper.ends() == [f"e{n} [3-3/{side}=3]" for n, side in enumerate(("long", "long", "short", "short"), 1)]
    assert paper.open_numbers() == set()


def test_an_end_is_found_by_its_name_whatever_its_gate() -> None:
    paper = Paper()
    paper.lead("3-3", GATED)
    for name, number, side, gate in (("e1", 3, "long", "open"), ("e4", 3, "short", "gated")):
        end = paper.layout.end(name)
        assert end is not None
        assert (end.name, end.number, end.side, end.gate) == (name, number, side, gate)
    for name in ("e5", "E1", "", "left"):
        assert paper.layout.end(name) is None


@pytest.mark.parametrize("key", variants())
def test_what_is_kept_follows_from_the_ends_and_names_are_never_used_again(key: str) -> None:
    low, high = variants()[key].players
    players = max(low, min(high, 4))
    for seed in range(5):
        rng = Random(f"{key} {seed}")
        table = EngineTable(key, seats=players, seed=f"layout {seed}")
        ever: dict[str, tuple[int, str, int]] = {}
        while table.state.phase == PLAYING:
            assert table.turn is not None
            move = rng.choice(legal_moves(table.rules, table.state, table.turn))
            table.state = advance(table.rules, table.deck, table.state, table.turn, move=move)[1]
            layout = table.layout
            wanted = {bit for end in layout.ends if end.gate == "open" for bit in range(20) if end.wants >> bit & 1}
            assert wanted == {bit for bit in range(20) if layout.open_mask >> bit & 1}
            wants = table.rules.form.wants or (lambda number: 1 << number)
            assert [end.wants for end in layout.ends] == [wants(end.number) for end in layout.ends]
            assert layout.ends_sum == sum(end.counts for end in layout.ends)
            assert len({end.name for end in layout.ends}) == len(layout.ends)
            for end in layout.ends:
                facts = (end.number, end.side, end.host)
                assert layout.is_line or ever.setdefault(end.name, facts) == facts
                host = layout.placements[end.host].tile
                assert end.number in (host.low, host.high)
                assert (end.side in ("long", "short")) == (host.double and table.rules.form.doubles_across)
