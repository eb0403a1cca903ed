"""What holds of the places of all tiles, on every table of every game."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise, product
from random import Random
from typing import Final, NamedTuple

import pytest

from service.engine.layout import CLOSED, LONG, SHORT, Layout, LayoutForm, Placement
from service.engine.variant import Spread
from service.engine.variants import variants
from service.render.geometry import Area, Geometry, GrowingGeometry, Place, PlacedEnd, PlacedTile, geometry
from tests.conftest import Figures
from tests.laws.matches import TIMES
from tests.laws.rounds import Round, kinds, rounds
from tests.support.lanes import in_lane

pytestmark = pytest.mark.gate

ASPECTS: Final = (6, 10, 16, 24)
SOAK_ROUNDS: Final = int(os.environ.get("SOAK_ROUNDS", "40"))
"""Of each kind of table and each aspect; more of the kinds of a game that has few."""
Cell = tuple[int, int]


class Half(NamedTuple):
    """A half of a tile: its number, and its centre."""

    number: int
    x: int
    y: int


def cells(area: Area) -> Iterator[Cell]:
    return product(range(area.x, area.x + area.width), range(area.y, area.y + area.height))


def area(place: Place | PlacedTile) -> Area:
    width, height = (4, 2) if place.rotation % 180 == 0 else (2, 4)
    return Area(place.x - width // 2, place.y - height // 2, width, height)


def halves(placed: PlacedTile) -> tuple[Half, Half]:
    x, y = ((1, 0), (0, 1), (-1, 0), (0, -1))[placed.rotation // 90]
    return Half(placed.tile.low, placed.x - x, placed.y - y), Half(placed.tile.high, placed.x + x, placed.y + y)


def tiles_by_cell(found: Geometry) -> dict[Cell, int]:
    """Which tile lies on a cell. Fails if two do."""
    owners: dict[Cell, int] = {}
    for index, placed in enumerate(found.tiles):
        for cell in cells(area(placed)):
            assert owners.setdefault(cell, index) == index, "two tiles overlap"
    return owners


def check_gaps(layout: Layout, found: Geometry, owners: dict[Cell, int]) -> None:
    """A tile touches no tile but its host and those it is the host of."""
    for index, placed in enumerate(found.tiles):
        x, y, width, height = area(placed)
        for cell in cells(Area(x - 1, y - 1, width + 2, height + 2)):
            other = owners.get(cell, index)
            if other != index:
                later, earlier = max(index, other), min(index, other)
                assert layout.placements[later].host == earlier, "a tile touches one that is not its host"
                assert found.tiles[later].link is None, "a tile with a link touches its host"


def check_joint(placement: Placement, placed: PlacedTile, host: PlacedTile, form: LayoutForm) -> None:
    """A tile without a link touches its host by equal halves; doubles lie across; a long side is left straight.

    Where the outer half is named, the other one touches; where doubles lie lengthwise, they lie like other tiles.
    """
    touching = [
        (one.number, other.number)
        for one, other in product(halves(placed), halves(host))
        if (abs(one.x - other.x) == 2 and abs(one.y - other.y) < 2)
        or (abs(one.y - other.y) == 2 and abs(one.x - other.x) < 2)
    ]
    assert touching, "a tile does not touch its host"
    if placement.outer is None:
        assert all([one == other for one, other in touching]), "halves touch that are not alike"
    else:
        inner = placement.tile.other_half(placement.outer)
        assert [one for one, _ in touching] == [inner], "a tile lies the other way round"
        assert placement.tile.pips in (0, 7) or inner + touching[0][1] == 7, "halves touch that do not add up to 7"
    x, y = placed.x - host.x, placed.y - host.y
    if placement.tile.double and form.doubles_across:
        box, on = area(placed), area(host)
        beside = box.x + box.width == on.x or on.x + on.width == box.x
        assert (box.height if beside else box.width) == 4, "a double does not lie across"
    if host.tile.double and placement.side == LONG:
        assert (y == 0 and abs(x) > 2) if host.rotation == 90 else (x == 0 and abs(y) > 2), "a long side has a corner"


def check_link(placed: PlacedTile, host: PlacedTile, owners: dict[Cell, int]) -> None:
    """The line of a link begins at the edge of the host, ends at that of the tile, and meets no tile on its way."""
    assert placed.link is not None
    for (x0, y0), (x1, y1) in pairwise(placed.link):
        assert (x0 == x1) != (y0 == y1), "a link is not drawn along rows and columns"
        for at in range(int(2 * (abs(x1 - x0) + abs(y1 - y0)))):
            along = (at + 0.5) / (2 * (abs(x1 - x0) + abs(y1 - y0)))
            cell = int((x0 + along * (x1 - x0)) // 1), int((y0 + along * (y1 - y0)) // 1)
            assert cell not in owners, "a link meets a tile"
    assert on_edge(placed.link[0], host), "a link does not begin at its host"
    assert on_edge(placed.link[-1], placed), "a link does not end at its tile"
    for before, here, after in zip(placed.link, placed.link[1:], placed.link[2:], strict=False):
        assert (before[0] == here[0]) != (here[0] == after[0]), "a link has a point that is no corner"


def on_edge(point: tuple[float, float], placed: PlacedTile) -> bool:
    x, y, width, height = area(placed)
    return (point[0] in (x, x + width) and y < point[1] < y + height) or (
        point[1] in (y, y + height) and x < point[0] < x + width
    )


def check_tiles(layout: Layout, found: Geometry) -> None:
    owners = tiles_by_cell(found)
    check_gaps(layout, found, owners)
    for placement, placed in zip(layout.placements[1:], found.tiles[1:], strict=True):
        host = found.tiles[placement.host]
        if placed.link is None:
            check_joint(placement, placed, host, layout.form)
        else:
            check_link(placed, host, owners)
    if layout.is_line:
        check_arms(layout, found)
    for x, y in owners:
        assert found.bounds.x <= x < found.bounds.x + found.bounds.width
        assert found.bounds.y <= y < found.bounds.y + found.bounds.height


def check_arms(layout: Layout, found: Geometry) -> None:
    """The right arm of a line lies east of the lead or above it, the left one is where that would be upside down.

    The only arm of a line does not lie more than the length of a tile outside the planned table.
    """
    if len(layout.form.line_ends) == 1:
        table, bounds = found.table, found.bounds
        assert table.x - 4 <= bounds.x <= bounds.x + bounds.width <= table.x + table.width + 4
        assert table.y + table.height >= bounds.y + bounds.height
    for name, placed in zip(layout.covered_ends()[1:], found.tiles[1:], strict=True):
        x, y, width, height = area(placed)
        east, north = (x, y + height) if name == "right" else (-x - width, -y)
        assert north <= 2
        assert east >= 0 or north <= -3


def check_ends(layout: Layout, found: Geometry) -> None:
    """Every end of the layout has its places; those of ends that are not closed are free, and joined at its edge."""
    assert [placed.end for placed in found.ends] == list(layout.ends)
    owners = tiles_by_cell(found)
    for placed in found.ends:
        host = found.tiles[placed.end.host]
        if placed.end.gate != CLOSED:
            assert not owners.keys() & {*cells(area(placed.place)), *cells(area(placed.place_double))}
        if placed.end.gate == CLOSED or touches(placed.place, host):
            check_edge(placed, host)
        else:
            assert on_edge((placed.x, placed.y), host), "the line to a tile that lies apart does not begin at its host"


def check_edge(placed: PlacedEnd, host: PlacedTile) -> None:
    """The edge of an end lies between the half that a tile would cover and that tile, and this is its middle."""
    dx, dy = ((1, 0), (0, 1), (-1, 0), (0, -1))[placed.direction // 90]
    covered = [half for half in halves(host) if half.number == placed.end.number]
    box = area(placed.place)
    for side in (-0.5, 0.5):  # on both halves of the edge
        x, y = placed.x + side * dy, placed.y + side * dx
        inside = x - dx / 2, y - dy / 2
        assert any([abs(inside[0] - half.x) < 1 and abs(inside[1] - half.y) < 1 for half in covered]), "no half there"
        outside = x + dx / 2, y + dy / 2
        assert box.x < outside[0] < box.x + box.width, "the tile does not lie beyond the edge"
        assert box.y < outside[1] < box.y + box.height, "the tile does not lie beyond the edge"


def touches(place: Place, host: PlacedTile) -> bool:
    """Whether a tile there and its host have a piece of an edge in common."""
    x, y, width, height = area(host)
    grown = {*cells(Area(x - 1, y, width + 2, height)), *cells(Area(x, y - 1, width, height + 2))}
    return not grown.isdisjoint(cells(area(place)))


def lands_where_it_was_shown(before: Geometry, layout: Layout, after: Geometry) -> None:
    """The tile laid last lies where the end that it covered showed its place."""
    name = layout.covered_ends()[-1]
    (shown,) = [placed for placed in before.ends if placed.end.name == name]
    laid = after.tiles[-1]
    if laid.link is not None and not laid.tile.double:
        assert laid.link[0] == (shown.x, shown.y), "the line begins elsewhere than was shown"
    place = shown.place_double if laid.tile.double else shown.place
    outer = layout.placements[-1].outer
    assert (laid.x, laid.y, laid.rotation % 180) == (place.x, place.y, place.rotation % 180)
    number = shown.end.number
    turned = laid.tile.high == number if outer is None else laid.tile.low == outer
    assert laid.tile.double or laid.rotation == (place.rotation + 180 * turned) % 360


def check_growth(played: Round, aspect: int, final: Geometry, many: int) -> None:
    """The geometry of a layout begins with that of the layout before, and is the same however it was computed."""
    spread, tiles = played.rules.layout_spread(), len(played.rules.tiles)
    rng = Random(f"{played.case} {aspect}")
    steps = list(pairwise(played.layouts))
    for before, after in rng.sample(steps, min(many, len(steps))):
        growing = GrowingGeometry(tiles, spread, aspect).extended(before)
        grown = growing.extended(after)
        shown = growing.geometry
        assert grown.geometry == geometry(after, tiles, spread, aspect)
        assert shown == geometry(before, tiles, spread, aspect), "extending has changed what was extended"
        assert growing.extended(played.layouts[-1]).geometry == final
        if len(after.placements) > len(before.placements):
            assert shown.tiles == final.tiles[: len(shown.tiles)]
            lands_where_it_was_shown(shown, after, grown.geometry)
        check_ends(before, shown)


def check(played: Round, aspect: int, *, prefixes: int) -> Geometry:
    """All laws on one round. Returns the geometry of its last layout."""
    layout = played.layouts[-1]
    final = geometry(layout, len(played.rules.tiles), played.rules.layout_spread(), aspect)
    try:
        check_tiles(layout, final)
        check_ends(layout, final)
        check_growth(played, aspect, final, prefixes)
    except AssertionError as broken:
        broken.add_note(f"aspect {aspect}, {played.case}, {len(layout.placements)} tiles")
        raise
    return final


class Counted:
    """What is counted over many rounds."""

    def __init__(self) -> None:
        self.rounds = self.tiles = self.links = self.rounds_with_links = self.large = 0
        self.wider = 0
        """The most units that a table was wider than planned."""

    def add(self, found: Geometry) -> None:
        links = sum([placed.link is not None for placed in found.tiles])
        self.rounds += 1
        self.tiles += len(found.tiles)
        self.links += links
        self.rounds_with_links += links > 0
        boxes = [area(placed) for placed in found.tiles]
        width = max([box.x + box.width for box in boxes]) - min([box.x for box in boxes])
        height = max([box.y + box.height for box in boxes]) - min([box.y for box in boxes])
        self.large += width > 1.6 * found.table.width or height > 1.6 * found.table.height
        self.wider = max(self.wider, width - found.table.width)

    def check(self, group: Group) -> None:
        """Fails if tables are larger than planned or too many tiles lie apart."""
        assert self.large <= max(3, self.rounds / 100)
        if group.spread in ("line", "arm"):
            assert not self.links
            assert self.wider <= 8
        elif group.spread == "cross":
            assert self.rounds_with_links <= max(3, self.rounds * (0.005 if group.four_arms else 0.05))
        else:
            assert self.links <= self.tiles * (0.03 if group.tiles <= 91 else 0.05)


class Group(NamedTuple):
    """Tables that have similar figures."""

    spread: Spread
    tiles: int
    four_arms: bool
    """Whether the lead has four sides."""

    def __str__(self) -> str:
        return f"{self.tiles} tiles, {self.spread}{', from a lead with four sides' if self.four_arms else ''}"


def group(played: Round) -> Group:
    layout, rules = played.layouts[-1], played.rules
    sides = [(end.host, end.side) for end in layout.ends]
    sides += [(placement.host, placement.side) for placement in layout.placements]
    return Group(rules.layout_spread(), len(rules.tiles), four_arms=(0, SHORT) in sides)


@pytest.mark.parametrize("key", variants())
@pytest.mark.parametrize("aspect", in_lane(ASPECTS, gate=ASPECTS[1:3]))
def test_tiles_touch_only_where_they_join_and_never_move(key: str, aspect: int) -> None:
    """Each kind of table at two of the aspects, a single one at all; the soak plays each at all."""
    of_game = [kind for kind in kinds() if kind.key == key]
    assert of_game
    for kind in of_game[ASPECTS.index(aspect) % 2 :: 2] or of_game:
        for played in rounds(kind, TIMES, f"geometry {aspect}"):
            found = check(played, aspect, prefixes=1)
            if played.rules.form.line_ends:
                assert not any([placed.link for placed in found.tiles])
                assert found.bounds.width <= found.table.width + 8


@pytest.mark.soak
@pytest.mark.parametrize("key", variants())
def test_tables_stay_about_as_large_as_planned_and_few_tiles_lie_apart(key: str, figures: Figures) -> None:
    """All the laws, over more than ten thousand rounds of all games together."""
    of_game = [kind for kind in kinds() if kind.key == key]
    many = max(SOAK_ROUNDS, 20 * SOAK_ROUNDS // len(of_game))
    found: dict[Group, Counted] = defaultdict(Counted)
    for kind, aspect in product(of_game, ASPECTS):
        for played in rounds(kind, many, f"soaked geometry {aspect}"):
            found[group(played)].add(check(played, aspect, prefixes=1))
    for each, counted in found.items():
        figures(f"{key}, {each}", {name.replace("_", " "): number for name, number in vars(counted).items()})
        counted.check(each)
