"""The table drawn with characters: every tile as a box where it lies, with its numbers in their places."""

from __future__ import annotations

import pytest

from service.engine.layout import (
    BOTH_LONG_SIDES,
    GATED,
    IMMEDIATELY,
    LEAD_COVERED,
    NEVER,
    RIGHT,
    Layout,
    LayoutForm,
    empty_layout,
)
from service.engine.tiles import double, parse_tile
from service.engine.variants import variants
from service.render.geometry import Geometry, PlacedTile, geometry
from service.render.layout_text import render_layout
from service.render.text_picture import draw
from tests.render.tables import Shown, longest_table

LINE = empty_layout(LayoutForm())
TREE = empty_layout(LayoutForm(()))
TABLES = {key: longest_table(key, max(3, variant.players.low)) for key, variant in variants().items()}
TABLES["large"] = longest_table("fido", 6, 18)


def joined(layout: Layout, end: str, tile: str, *, face_down: bool = False) -> Layout:
    at = layout.end(end)
    assert at is not None
    return layout.join(at, parse_tile(tile), 0, face_down=face_down, branching=NEVER)


def test_a_line_is_drawn_with_shared_borders() -> None:
    layout = joined(joined(LINE.lead(double(4), 0, NEVER), "left", "1-4"), "right", "4-6")
    assert draw(geometry(layout, 28, "line", 16)) == [
        "",
        "          ┌───┐",
        "  ┌───────┤ 4 ├───────┐",
        " ○│ 1 : 4 │ : │ 4 : 6*│○",
        "  └───────┤ 4 ├───────┘",
        "          └───┘",
        "",
    ]


def test_closed_and_gated_ends_are_told_apart() -> None:
    layout = joined(TREE.lead(double(10), 0, GATED), "e2", "3-10")
    layout = joined(layout, "e5", "3-3", face_down=True)
    assert draw(geometry(layout._replace(ends=layout.ends), 91, "cross", 16)) == [
        "    ○",
        "  ┌───┐       ┌───┐",
        "  │10 ├───────┤▒▒▒│",
        " ○│ : │ 10: 3 │▒▒▒│",
        "  │10 ├───────┤▒▒▒│",
        "  └───┘       └───┘",
        "    ○",
    ]
    gated = draw(geometry(TREE.lead(double(10), 0, GATED), 91, "cross", 16))
    assert gated == ["    ◌", "  ┌───┐", "  │10 │", " ○│ :*│○", "  │10 │", "  └───┘", "    ◌"]


def test_the_short_sides_of_a_double_stay_gated_until_both_long_sides_are_covered() -> None:
    form = LayoutForm((), gates=BOTH_LONG_SIDES)
    layout = joined(empty_layout(form).lead(double(5), 0, GATED), "e1", "2-5")
    assert draw(geometry(layout, 28, "cross", 16)) == [
        "            ◌",
        "          ┌───┐",
        "  ┌───────┤ 5 │",
        " ○│ 2 : 5*│ : │○",
        "  └───────┤ 5 │",
        "          └───┘",
        "            ◌",
    ]
    assert draw(geometry(joined(layout, "e2", "3-5"), 28, "cross", 16)) == [
        "            ○",
        "          ┌───┐",
        "  ┌───────┤ 5 ├───────┐",
        " ○│ 2 : 5 │ : │ 5 : 3*│○",
        "  └───────┤ 5 ├───────┘",
        "          └───┘",
        "            ○",
    ]


def test_arms_that_open_later_are_told_apart() -> None:
    layout = empty_layout(LayoutForm((), gates=LEAD_COVERED)).lead(double(6), 0, IMMEDIATELY)
    layout = joined(joined(layout, "e2", "3-6"), "e1", "0-6")
    assert draw(geometry(layout, 28, "cross", 16)) == [
        "            ○",
        "          ┌───┐",
        "  ┌───────┤ 6 ├───────┐",
        " ◌│ 0 : 6*│ : │ 6 : 3 │◌",
        "  └───────┤ 6 ├───────┘",
        "          └───┘",
        "            ○",
    ]


def test_a_line_with_one_end_goes_to_the_right() -> None:
    layout = empty_layout(LayoutForm((RIGHT,))).lead(double(5), 0, NEVER)
    layout = joined(joined(layout, "right", "1-5"), "right", "1-1")
    assert draw(geometry(layout, 28, "line", 16)) == [
        "",
        "  ┌───┐       ┌───┐",
        "  │ 5 ├───────┤ 1 │",
        "  │ : │ 5 : 1 │ :*│○",
        "  │ 5 ├───────┤ 1 │",
        "  └───┘       └───┘",
        "",
    ]
    assert list(render_layout(layout, 70)) == ["[5-5] 5-1 [1-1]* › 1"]


def test_an_empty_table_has_no_lines() -> None:
    assert draw(geometry(LINE, 28, "line", 16)) == []


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_every_tile_is_where_it_lies_with_its_numbers_in_their_halves(table: Shown) -> None:
    lines = draw(table.geometry)
    left, top = corner_of(table.geometry)

    def at(x: float, y: float, width: int) -> str:
        """The characters around a point."""
        column = round((x - left) * 2) - width // 2
        return lines[y - top].ljust(column + width)[column : column + width]  # type: ignore[call-overload,no-any-return]  # y is whole

    for placed in table.geometry.tiles:
        (x, y), (half_x, half_y) = (placed.x, placed.y), size_of(placed)
        for side_x, side_y in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
            assert at(x + side_x * half_x, y + side_y * half_y, 1) in "┌┐└┘├┤┬┴┼"
        if placed.face_down:
            assert at(x, y, 3) == "▒▒▒"
            continue
        assert at(x, y, 1) == ":"
        step_x, step_y = {0: (1, 0), 90: (0, 1), 180: (-1, 0), 270: (0, -1)}[placed.rotation]
        for number, side in ((placed.tile.low, -1), (placed.tile.high, 1)):
            assert at(x + side * step_x, y + side * step_y, 3).strip(" *") == str(number)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_drawing_is_as_large_as_its_tiles_with_a_margin(table: Shown) -> None:
    lines = draw(table.geometry)
    assert len(lines) <= table.geometry.bounds.height + 3
    assert max(map(len, lines)) <= 2 * (table.geometry.bounds.width + 2) + 1
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_only_the_tile_laid_last_has_a_star(table: Shown) -> None:
    last = table.geometry.tiles[-1]
    assert sum(line.count("*") for line in draw(table.geometry)) == (not last.face_down)


def test_a_tile_that_lies_apart_is_joined_by_a_line_of_dots() -> None:
    layout = joined(LINE.lead(double(4), 0, NEVER), "right", "4-6")
    placed = geometry(layout, 28, "line", 16)
    lead, other = placed.tiles
    apart = other._replace(x=other.x + 2, y=3, link=((1, 0), (2, 0), (2, 3), (3, 3)))
    assert draw(placed._replace(tiles=(lead, apart), ends=())) == [
        "",
        "  ┌───┐",
        "  │ 4 │",
        "  │ : │··",
        "  │ 4 │ ·",
        "  └───┘ · ┌───────┐",
        "        ··│ 4 : 6*│",
        "          └───────┘",
        "",
    ]


def size_of(placed: PlacedTile) -> tuple[int, int]:
    """Half the width and half the height of a tile."""
    return (2, 1) if placed.rotation in (0, 180) else (1, 2)


def corner_of(found: Geometry) -> tuple[int, int]:
    """The point at the upper left of the drawing."""
    lefts = [placed.x - size_of(placed)[0] for placed in found.tiles]
    tops = [placed.y - size_of(placed)[1] for placed in found.tiles]
    points = [point for placed in found.tiles for point in placed.link or ()]
    return (
        min([*lefts, *[int(x) for x, _ in points]]) - 1,
        min([*tops, *[int(y) for _, y in points]]) - 1,
    )
