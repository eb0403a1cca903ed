"""Where the tiles of small layouts lie, worked out by hand."""

from __future__ import annotations

import pytest

from service.engine.layout import GATED, IMMEDIATELY, LEAD_COVERED, NEVER, RIGHT, Layout, LayoutForm, empty_layout
from service.engine.tiles import double, parse_tile
from service.engine.variant import Spread
from service.engine.variants import variants
from service.render.geometry import Area, Geometry, GrowingGeometry, Place, geometry

LINE = empty_layout(LayoutForm())
ONE_END = empty_layout(LayoutForm((RIGHT,)))
BRANCHING = empty_layout(LayoutForm(()))


def played(layout: Layout, *moves: str) -> Layout:
    """The layout with ``left 0-1`` and the like played on it; a tile that ends in × is face down."""
    for move in moves:
        name, text = move.split(" ")
        end = layout.end(name)
        assert end is not None
        layout = layout.join(end, parse_tile(text.rstrip("×")), 0, face_down=text.endswith("×"), branching=NEVER)
    return layout


def places(found: Geometry) -> list[tuple[int, int, int]]:
    return [(tile.x, tile.y, tile.rotation) for tile in found.tiles]


def test_an_empty_table_has_its_planned_size_and_the_place_of_the_lead() -> None:
    assert geometry(LINE, 28, "line", 16) == Geometry(Area(-17, -11, 34, 22), Area(-2, -2, 4, 4), (), ())


def test_a_leading_tile_lies_with_its_smaller_half_in_the_west() -> None:
    found = geometry(LINE.lead(parse_tile("1-2"), 0, NEVER), 28, "line", 16)
    assert places(found) == [(0, 0, 0)]
    assert [(each.end.name, each.x, each.y, each.direction) for each in found.ends] == [
        ("left", -2, 0, 180),
        ("right", 2, 0, 0),
    ]
    assert found.ends[1].place == Place(4, 0, 0)
    assert found.ends[1].place_double == Place(3, 0, 90)
    assert found.ends[0].place == Place(-4, 0, 180)


def test_the_only_end_of_a_line_is_in_the_east() -> None:
    for lead, x in (("6-6", 1), ("1-2", 2)):
        found = geometry(ONE_END.lead(parse_tile(lead), 0, NEVER), 28, "arm", 16)
        assert [(each.end.name, each.x, each.y, each.direction) for each in found.ends] == [("right", x, 0, 0)]
    layout = played(ONE_END.lead(double(6), 0, NEVER), "right 2-6", "right 2-2", "right 2-4")
    assert places(geometry(layout, 28, "arm", 16)) == [(0, 0, 90), (3, 0, 180), (6, 0, 90), (9, 0, 0)]


@pytest.mark.parametrize("aspect", [6, 10, 16, 24])
def test_a_line_of_one_end_begins_in_a_corner_of_the_planned_table_and_takes_most_of_it(aspect: int) -> None:
    """Eighteen tiles, about as many as nine players lay in a long round of Tiddly-Wink."""
    tiles = "3-6 3-3 0-3 0-2 2-5 4-5 3-4 2-3 2-6 4-6 1-4 1-5 3-5 1-3 1-1 0-1 0-5"
    layout = played(ONE_END.lead(double(6), 0, NEVER), *[f"right {tile}" for tile in tiles.split()])
    table, bounds, *_ = geometry(layout, 28, "arm", aspect)
    assert (table.x, table.y + table.height) == (-2, 2)
    assert table.x - 4 <= bounds.x
    assert bounds.x + bounds.width <= table.x + table.width + 4
    assert 0.6 * table.height < bounds.height <= table.height
    assert bounds.y >= table.y


def test_the_ends_of_arms_are_where_they_will_be_when_they_open() -> None:
    cross = empty_layout(LayoutForm((), gates=LEAD_COVERED)).lead(double(6), 0, IMMEDIATELY)
    shut = geometry(played(cross, "e4 2-6", "e2 0-6", "e3 3-6"), 28, "cross", 16)
    opened = geometry(played(cross, "e4 2-6", "e2 0-6", "e3 3-6", "e1 1-6"), 28, "cross", 16)
    assert [(each.end.name, each.end.gate, each.x, each.y, each.direction) for each in shut.ends] == [
        ("e1", "open", -1, 0, 180),
        ("e6", "gated", 5, 0, 0),
        ("e7", "gated", 0, -6, 270),
        ("e5", "gated", 0, 6, 90),
    ]
    assert [each.place for each in shut.ends[1:]] == [each.place for each in opened.ends[1:]]


def test_a_line_goes_on_straight_with_doubles_across() -> None:
    layout = played(LINE.lead(double(3), 0, NEVER), "right 2-3", "right 2-2", "left 3-5", "right 2-4")
    assert places(geometry(layout, 28, "line", 16)) == [(0, 0, 90), (3, 0, 180), (6, 0, 90), (-3, 0, 180), (9, 0, 0)]


def test_an_end_at_a_bend_is_at_the_side_where_the_next_tile_comes() -> None:
    layout = played(LINE.lead(double(5), 0, NEVER), "left 4-5", "left 0-4", "left 0-3")
    left, right = geometry(layout, 28, "line", 6).ends
    assert (left.x, left.y, left.direction) == (-12, 1, 90), "below the three in the west, and not beyond it"
    assert left.place == Place(-12, 3, 90)
    assert left.place_double == Place(-13, 2, 0)
    assert (right.x, right.y, right.direction) == (1, 0, 0)


def test_the_sides_of_a_leading_double_are_west_east_north_and_south() -> None:
    found = geometry(BRANCHING.lead(double(0), 0, IMMEDIATELY), 28, "cross", 16)
    assert [(each.end.name, each.direction) for each in found.ends] == [("e1", 180), ("e2", 0), ("e3", 270), ("e4", 90)]
    layout = played(BRANCHING.lead(double(0), 0, IMMEDIATELY), "e4 0-1", "e2 0-2", "e1 0-3", "e3 0-4")
    assert places(geometry(layout, 28, "cross", 16)) == [(0, 0, 90), (0, 4, 90), (3, 0, 0), (-3, 0, 180), (0, -4, 270)]


def test_a_closed_end_is_where_the_face_down_double_is_left() -> None:
    layout = played(BRANCHING.lead(double(0), 0, IMMEDIATELY), "e2 0-2", "e5 2-2×")
    ends = geometry(layout, 28, "cross", 16).ends
    assert [(each.end.gate, each.x, each.y, each.direction) for each in ends if each.end.name == "e6"] == [
        ("closed", 7, 0, 0)
    ]


@pytest.mark.parametrize("lead", ["1-2", "6-6"])
def test_a_lead_that_is_turned_over_stays_where_it_is(lead: str) -> None:
    """rules 2.8"""
    layout = BRANCHING.lead(parse_tile(lead), 0, GATED)
    before = GrowingGeometry(28, "cross", 16).extended(layout)
    for found in (before.extended(layout.flip_lead()).geometry, geometry(layout.flip_lead(), 28, "cross", 16)):
        assert found.tiles == (before.geometry.tiles[0]._replace(face_down=True),)
        assert [(each.x, each.y) for each in found.ends] == [(each.x, each.y) for each in before.geometry.ends]
        assert {each.end.gate for each in found.ends} == {"closed"}


def test_how_a_layout_spreads_follows_from_the_rules() -> None:
    others: dict[str, Spread] = {
        "all-fives": "cross",
        "fido": "tree",
        "homo-homini-lupus": "cross",
        "menschenwolf": "cross",
        "sebastopol": "cross",
        "tiddly-wink": "arm",
    }
    for key, variant in variants().items():
        assert variant.rules({}, variant.players.low).layout_spread() == others.get(key, "line")
