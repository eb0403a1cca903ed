"""The picture of a table: valid, small, complete, and without anything that loads or runs."""

from __future__ import annotations

import gzip
import re
from xml.etree import ElementTree

import pytest

from service.engine.layout import GATED, NEVER, LayoutForm, empty_layout
from service.engine.tiles import double, parse_tile
from service.engine.variants import variants
from service.render.geometry import Geometry, geometry
from service.render.sentences.board import MAX_DESCRIPTION, board_description
from service.render.svg import Caption, Theme, render_svg
from tests.conftest import Figures
from tests.render.tables import Shown, longest_table

SVG = "{http://www.w3.org/2000/svg}"
CAPTION = Caption("Ada's table", "Three tiles & <two> ends.", "de")
TABLES = {key: longest_table(key, max(3, variant.players.low)) for key, variant in variants().items()}
LARGE = longest_table("fido", 6, 18)
EMPTY = geometry(empty_layout(LayoutForm()), 28, "line", 16)


def picture(table: Shown, theme: Theme = "auto", digits: bool | None = None) -> str:
    return render_svg(table.geometry, table.highest, CAPTION, theme, digits=digits)


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)


def groups(text: str) -> dict[str, ElementTree.Element]:
    return {each.attrib["data-tile"]: each for each in parsed(text).iter(f"{SVG}g") if "data-tile" in each.attrib}


@pytest.mark.parametrize("theme", ["auto", "light", "dark", "print"])
@pytest.mark.parametrize("digits", [None, True, False])
@pytest.mark.parametrize("table", [*TABLES.values(), LARGE], ids=[*TABLES, "large"])
def test_a_picture_is_valid_and_loads_and_runs_nothing(table: Shown, digits: bool | None, theme: str) -> None:
    text = picture(table, theme, digits)  # type: ignore[arg-type]  # a theme of the list
    names = {each.get("id") for each in parsed(text).iter()}
    for element in parsed(text).iter():
        assert element.tag.removeprefix(SVG) in {
            *("svg", "title", "desc", "style", "defs", "g", "use", "rect", "path", "circle", "text")
        }
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            if name == "href":
                assert value.startswith("#")
                assert value[1:] in names
    assert text.count("http") == 1, "the name of the namespace"
    assert "url(" not in text
    assert "@import" not in text


@pytest.mark.parametrize("table", [*TABLES.values(), LARGE], ids=[*TABLES, "large"])
def test_every_tile_is_drawn_once_where_it_lies(table: Shown) -> None:
    text = picture(table)
    drawn = groups(text)
    assert text.count("data-tile") == len(drawn) == len(table.geometry.tiles)
    for placed in table.geometry.tiles:
        group = drawn[placed.tile.name]
        turned = f"rotate({placed.rotation})" if placed.rotation else ""
        assert group.attrib["transform"] == f"translate({placed.x} {placed.y}){turned}"
        used = [each.attrib["href"] for each in group]
        assert used == (["#b"] if placed.face_down else [f"#t{placed.tile.low}", f"#n{placed.tile.high}"])


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_every_end_that_is_not_closed_has_a_ring(table: Shown) -> None:
    rings = {each.attrib["data-end"]: each for each in parsed(picture(table)).iter() if "data-end" in each.attrib}
    shown = [each for each in table.geometry.ends if each.end.gate != "closed"]
    assert list(rings) == [each.end.name for each in shown]
    for ring, end in zip(rings.values(), shown, strict=True):
        x, y = float(ring.attrib["x"]) - end.x, float(ring.attrib["y"]) - end.y
        assert {0: x, 90: y, 180: -x, 270: -y}[end.direction] == pytest.approx(abs(x) + abs(y)), "not beyond its edge"


def test_a_gated_end_has_a_ring_of_dashes() -> None:
    layout = empty_layout(LayoutForm(())).lead(double(3), 0, GATED)
    text = render_svg(geometry(layout, 28, "cross", 16), 6, CAPTION)
    rings = {each.attrib["data-end"]: each.attrib["href"] for each in parsed(text).iter() if "data-end" in each.attrib}
    assert rings == {"e1": "#e", "e2": "#e", "e3": "#g", "e4": "#g"}
    assert '<circle id="g" class="e g"' in text
    assert ".g{stroke-dasharray" in text


def test_only_the_tile_laid_last_is_marked() -> None:
    table = TABLES["domino"]
    marks = [each for each in parsed(picture(table)).iter() if each.get("class") in ("o", "v")]
    outline, dot = marks
    last = table.geometry.tiles[-1]
    centre = [
        float(outline.attrib[at]) + float(outline.attrib[size]) / 2 for at, size in (("x", "width"), ("y", "height"))
    ]
    assert centre == pytest.approx([last.x, last.y])
    assert abs(float(dot.attrib["cx"]) - last.x) < 2


def test_a_tile_that_lies_apart_has_a_line() -> None:
    linked = [each for each in LARGE.geometry.tiles if each.link]
    assert linked, "a large table of fido has some"
    paths = [each.attrib["d"] for each in parsed(picture(LARGE)).iter() if each.get("class") == "e l"]
    assert len(paths) == len(linked)
    for path, tile in zip(paths, linked, strict=True):
        assert tile.link
        points = [tuple(map(float, point.split(" "))) for point in path.removeprefix("M").split("L")]
        assert (points[0], points[-1]) == (tile.link[0], tile.link[-1])


def test_the_picture_says_what_it_shows_in_its_language() -> None:
    root = parsed(picture(TABLES["domino"]))
    assert [(each.tag, each.text) for each in root[:2]] == [
        (f"{SVG}title", CAPTION.title),
        (f"{SVG}desc", CAPTION.description),
    ]
    assert root.attrib["lang"] == "de"
    assert root.attrib["aria-labelledby"] == root[0].attrib["id"]
    assert root.attrib["aria-describedby"] == root[1].attrib["id"]


def test_the_cloth_is_the_planned_table_as_long_as_the_tiles_are_within_it() -> None:
    assert parsed(render_svg(EMPTY, 6, CAPTION)).attrib["viewBox"] == "-19 -13 38 26"
    layout = empty_layout(LayoutForm()).lead(parse_tile("1-2"), 0, NEVER)
    text = render_svg(geometry(layout, 28, "line", 16), 6, CAPTION)
    assert parsed(text).attrib["viewBox"] == "-19 -13 38 26"


@pytest.mark.parametrize("table", [*TABLES.values(), LARGE], ids=[*TABLES, "large"])
def test_everything_is_on_the_cloth(table: Shown) -> None:
    x, y, width, height = map(int, parsed(picture(table)).attrib["viewBox"].split())
    for placed in table.geometry.tiles:
        assert x + 2 < placed.x < x + width - 2
        assert y + 2 < placed.y < y + height - 2


def test_a_half_is_24_pixels_wide_in_the_own_size_of_the_picture() -> None:
    root = parsed(picture(LARGE))
    _, _, width, height = root.attrib["viewBox"].split()
    assert (int(root.attrib["width"]), int(root.attrib["height"])) == (12 * int(width), 12 * int(height))


@pytest.mark.parametrize(("highest", "pixels"), [(6, 12), (15, 12), (18, 20)])
def test_digits_replace_pips_where_these_would_be_too_small(highest: int, pixels: int) -> None:
    text = render_svg(EMPTY, highest, CAPTION)
    assert f"@media(max-width:{38 * pixels - 1}px){{.d{{display:inline}}.p{{display:none}}}}" in text


def test_digits_can_be_had_always_or_never() -> None:
    table = TABLES["domino"]
    with_digits, with_pips = picture(table, digits=True), picture(table, digits=False)
    assert ("<text" in with_digits, 'class="p"' in with_digits) == (True, False)
    assert ("<text" in with_pips, 'class="p"' in with_pips) == (False, True)
    assert "max-width" not in with_digits + with_pips


def test_digits_stand_upright_in_the_halves_of_a_turned_tile() -> None:
    drawn = groups(picture(LARGE, digits=True))
    for placed in LARGE.geometry.tiles:
        group = drawn[placed.tile.name]
        assert "rotate" not in ElementTree.tostring(group, "unicode")
        whole, low, high = group
        assert whole.attrib["href"] == ("#t" if placed.rotation in (0, 180) else "#u")
        x, y = {0: (1, 0), 90: (0, 1), 180: (-1, 0), 270: (0, -1)}[placed.rotation]
        for half, number, side in ((low, placed.tile.low, -1), (high, placed.tile.high, 1)):
            assert half.attrib["href"] == f"#n{number}"
            assert (int(half.get("x", 0)), int(half.get("y", 0))) == (side * x, side * y)


@pytest.mark.parametrize(("highest", "coloured"), [(6, False), (9, True), (12, True), (18, True)])
def test_numbers_have_colours_in_sets_from_double_nine_on(highest: int, coloured: bool) -> None:
    table = longest_table("fido", 6, highest)
    assert bool(re.search(r"\.n\d+{color:#", picture(table))) == coloured


@pytest.mark.parametrize(
    ("theme", "media"),
    [
        ("auto", ["prefers-color-scheme:dark", " print", "forced-colors:active"]),
        ("light", [" print", "forced-colors:active"]),
        ("dark", [" print", "forced-colors:active"]),
        ("print", ["forced-colors:active"]),
    ],
)
def test_a_theme_is_fixed_or_follows_the_viewer(theme: str, media: list[str]) -> None:
    text = picture(TABLES["domino"], theme, True)  # type: ignore[arg-type]  # a theme of the list
    assert [each.strip("()") for each in re.findall(r"@media([^{]*)", text)] == media


def test_an_empty_table_is_a_cloth() -> None:
    text = render_svg(EMPTY, 6, CAPTION)
    assert not groups(text)
    assert [each.tag for each in parsed(text).iter(f"{SVG}rect") if each.get("class") == "c"] == [f"{SVG}rect"]


def described(table: Shown) -> Caption:
    return CAPTION._replace(description=board_description(table.layout, "de"))


def with_tiles(found: Geometry, tiles: int) -> Geometry:
    """The table with so many tiles: those that it has not are others of it once more."""
    more = [each._replace(y=each.y + 200) for each in found.tiles[: tiles - len(found.tiles)]]
    return found._replace(tiles=(*found.tiles, *more))


@pytest.mark.parametrize("digits", [None, True], ids=["pips", "digits"])
def test_a_picture_is_small(digits: bool | None, figures: Figures) -> None:
    line, tree = longest_table("domino", 6, 12, seed=4), longest_table("fido", 4, 12, seed=2)
    longest = CAPTION._replace(description="x" * MAX_DESCRIPTION)
    for name, placed, highest, caption, limit in (
        ("line", line.geometry, 12, described(line), 20_000),
        ("tree", with_tiles(tree.geometry, 91), 12, described(tree), 20_000),
        ("large tree", with_tiles(LARGE.geometry, 190), 18, longest, 40_000),
    ):
        text = render_svg(placed, highest, caption, digits=digits).encode()
        figures(
            f"a picture with {'digits' if digits else 'pips'}, {name}",
            {"tiles": len(placed.tiles), "bytes": len(text), "bytes by gzip": len(gzip.compress(text))},
        )
        assert len(text) <= limit, name
