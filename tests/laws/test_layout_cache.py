"""What is written of a table as it grows is what is written of it at once."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from service.engine.layout import Layout, LayoutForm, Placement, empty_layout
from service.engine.tiles import TILES
from service.games.model.game import Game
from service.games.model.views import view_game
from service.games.store.codec import MAX_ENTRIES, LayoutCache, encode_game
from service.games.store.repository import DEFAULT_POLICY
from service.web.view.serializers import game_view_json
from tests.laws.hosting import hosted
from tests.laws.matches import Match, law

pytestmark = pytest.mark.gate


def anew(layout: Layout) -> Layout:
    """The same table, of tiles and ends that nobody has seen yet."""
    return layout._replace(
        placements=tuple([Placement(*each) for each in layout.placements]),
        ends=tuple([end._replace() for end in layout.ends]),
    )


def shown(game: Game) -> Any:
    return orjson.loads(orjson.dumps(game_view_json(view_game(game, None, DEFAULT_POLICY.lifetimes))))["board"]


def plain(layout: Layout) -> dict[str, Any]:
    """The table as the contract has it."""
    tiles: list[dict[str, Any]] = []
    for index, (tile, host, side, seat, face_down, outer) in enumerate(layout.placements):
        joined: dict[str, Any] = {}
        if index:
            on = layout.placements[host].tile
            joined = {"on": {"tile": on.name, "side": side}, "end": layout.covered_ends()[index]}
            if outer is None:
                (joined["number"],) = {tile.low, tile.high} & {on.low, on.high}
            else:
                joined |= {"number": tile.other_half(outer), "outer": outer}
        tiles.append({"tile": tile.name, "face_down": face_down, **joined, "seat": seat})
    ends = [
        {
            "id": name,
            "number": number,
            "tile": layout.placements[host].tile.name,
            "side": side,
            "state": gate,
            "counts": counts,
        }
        for name, number, host, side, gate, counts, _ in layout.ends
    ]
    return {"tiles": tiles, "ends": ends, **({"ends_sum": layout.ends_sum} if layout.counts_ends else {})}


@law(matches=10)
def test_the_bytes_of_a_game_do_not_depend_on_what_was_written_before(match: Match) -> None:
    for state in match.states:
        fresh = state._replace(layout=anew(state.layout))
        assert encode_game(hosted(match, state)) == encode_game(hosted(match, fresh))


@law(matches=10)
def test_a_table_is_shown_as_it_lies_whatever_was_shown_before(match: Match) -> None:
    for state in match.states:
        assert shown(hosted(match, state)) == plain(state.layout)


class Names:
    """The names of the tiles, and how often they were all gone through."""

    def __init__(self) -> None:
        self.made = 0
        self._of = LayoutCache[str](self._make, lambda names, layout: f"{names} {layout.placements[-1].tile}")

    def of(self, *tiles: Placement) -> str:
        return self._of(empty_layout(LayoutForm())._replace(placements=tiles))

    def _make(self, layout: Layout) -> str:
        self.made += 1
        return " ".join([each.tile.name for each in layout.placements])


def laid(number: int) -> Placement:
    return Placement(TILES[number], number - 1, "end", 0, face_down=False)


def test_a_table_that_grows_is_gone_through_once() -> None:
    names = Names()
    tiles = [laid(number) for number in range(4)]
    for many in (1, 2, 3, 4):
        for _ in range(2):
            assert names.of(*tiles[:many]) == " ".join([each.tile.name for each in tiles[:many]])
    assert names.made == 1


def test_of_a_table_that_went_on_in_two_ways_each_is_what_it_is() -> None:
    names = Names()
    table = (laid(0), laid(1))
    assert names.of(*table) == "0-0 0-1"
    assert names.of(*table, laid(2)) == "0-0 0-1 1-1"
    assert names.of(*table, laid(3)) == "0-0 0-1 0-2"
    assert names.of(*table) == "0-0 0-1"
    assert names.of() == ""


def test_other_tiles_under_the_same_last_ones_are_not_taken_for_those_that_were_there() -> None:
    names = Names()
    last, new = laid(1), laid(2)
    assert names.of(laid(0), last) == "0-0 0-1"
    assert names.of(laid(4), last) == "1-2 0-1"
    assert names.of(laid(5), last, new) == "2-2 0-1 1-1"


def test_only_so_many_tables_are_kept_and_of_those_the_last_ones() -> None:
    names = Names()
    tables = [laid(0) for _ in range(MAX_ENTRIES + 1)]
    for table in [*tables, tables[-1], tables[1]]:
        names.of(table)
    assert names.made == MAX_ENTRIES + 1
    names.of(tables[0])
    assert names.made == MAX_ENTRIES + 2
