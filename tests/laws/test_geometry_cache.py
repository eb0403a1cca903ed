"""A geometry that was kept and extended is what it would be from scratch, and each of its tiles is computed once."""

from __future__ import annotations

import pytest

from service.engine.layout import IMMEDIATELY, NEVER, LayoutForm, empty_layout
from service.engine.tiles import double, parse_tile
from service.engine.variants import variants
from service.games.model.views import TableView
from service.render.geometry import geometry
from service.web.board.serializers import MAX_ENTRIES, GeometryCache
from tests.laws.matches import Case, Match, law

pytestmark = pytest.mark.gate

ASPECT = 16


class Asked:
    """A cache, and the numbers of tiles whose places were computed for each table that was not in it; ends left out."""

    def __init__(self) -> None:
        self.computed: list[int] = []
        self._cache = GeometryCache(lambda: None)

    def get(self, table: TableView, aspect: int = ASPECT) -> object:
        return self._cache.get(table, aspect, lambda places: self.computed.append(places - len(table.layout.ends)))


def table_at(match: Match, step: int, game: str = "a game") -> TableView:
    """The table after so many steps, of objects that nobody has seen yet, as if another process had laid its tiles."""
    state, rules = match.states[step], match.rules
    layout = state.layout._replace(placements=tuple([each._replace() for each in state.layout.placements]))
    return TableView(game, step, state.round, layout, rules.layout_spread(), len(rules.tiles), rules.tiles[-1].high)


def tiles_on(table: TableView) -> int:
    return len(table.layout.placements)


@law(matches=3, drawn=1)
def test_a_geometry_does_not_depend_on_what_was_asked_for_before(match: Match) -> None:
    asked = Asked()
    for step in match.rng.choices(range(len(match.states)), k=10):
        table = table_at(match, step)
        for aspect in (ASPECT, 6):
            whole = geometry(table.layout, table.tiles_in_set, table.spread, aspect)
            assert asked.get(table, aspect) == whole


@pytest.mark.parametrize("key", variants())
def test_a_table_that_grows_costs_one_tile_at_a_time(key: str) -> None:
    match, asked = some_match(key), Asked()
    laid = set()
    for step in range(len(match.states)):
        table = table_at(match, step)
        for _ in range(2):
            asked.get(table)
        laid.add((table.round, tiles_on(table)))
    assert sum(asked.computed) == len({each for each in laid if each[1]})
    assert set(asked.computed) <= {0, 1}


def test_a_table_that_grew_elsewhere_costs_the_tiles_laid_since() -> None:
    match, asked = some_match("fido"), Asked()
    steps = [2, 9, 20, 20]
    tables = [table_at(match, step) for step in steps]
    assert {table.round for table in tables} == {1}
    for table in tables:
        asked.get(table)
    first, second, third, _ = [tiles_on(table) for table in tables]
    assert asked.computed == [first, second - first, third - second]
    asked.get(table_at(match, 8))
    assert asked.computed[3:] == [tiles_on(table_at(match, 8)) - first], "the table as it was begins with older ones"


def test_another_game_and_another_aspect_have_places_of_their_own() -> None:
    match, asked = some_match("fido"), Asked()
    table = table_at(match, 20)
    for _ in range(2):
        asked.get(table)
        asked.get(table, 4)
        asked.get(table_at(match, 20, "another game"))
    assert asked.computed == [tiles_on(table)] * 3


def test_the_same_tiles_on_other_sides_in_a_later_round_have_places_of_their_own() -> None:
    """A leading double has two long sides that no placement tells apart."""
    asked, table = Asked(), table_at(some_match("homo-homini-lupus"), 2)
    lead = empty_layout(LayoutForm(())).lead(double(6), 0, IMMEDIATELY)
    layouts = [lead.join(end, parse_tile("3-6"), 1, face_down=False, branching=NEVER) for end in lead.ends[:2]]
    assert layouts[0].placements == layouts[1].placements
    for number, layout in enumerate(layouts, 1):
        whole = geometry(layout, table.tiles_in_set, table.spread, ASPECT)
        assert asked.get(table._replace(round=number, layout=layout)) == whole


def test_tables_are_told_apart_whose_keys_happen_to_be_equal() -> None:
    asked = Asked()
    table = table_at(some_match("domino"), 2)
    (lead,) = table.layout.placements
    other = lead._replace(host=-2)
    assert lead != other
    assert hash(lead) == hash(other)
    for placement in (lead, other):
        asked.get(table._replace(layout=table.layout._replace(placements=(placement,))))
    assert asked.computed == [1, 1]


def test_only_so_many_geometries_are_kept_and_of_those_the_last_ones() -> None:
    match, asked = some_match("domino"), Asked()
    tables = [table_at(match, 4, f"game {number}") for number in range(MAX_ENTRIES + 1)]
    for table in [*tables, tables[-1], tables[1]]:
        asked.get(table)
    assert len(asked.computed) == MAX_ENTRIES + 1
    asked.get(tables[0])
    assert len(asked.computed) == MAX_ENTRIES + 2


def test_nothing_is_computed_that_was_not_admitted() -> None:
    class Refused(Exception):
        pass

    def refuse(_tiles: int) -> None:
        raise Refused

    yields: list[None] = []
    cache = GeometryCache(lambda: yields.append(None))
    table = table_at(some_match("domino"), 10)
    with pytest.raises(Refused):
        cache.get(table, ASPECT, refuse)
    assert yields == []


def some_match(key: str) -> Match:
    return Match(Case(key, max(3, variants()[key].players.low), (), "geometry", 1, 60))
