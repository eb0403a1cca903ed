"""``board``: the tiles, what each was attached to, and the ends."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from service.engine.layout import LEAD_COVERED
from service.engine.tiles import parse_tile
from service.engine.variants import variants
from tests.api.client import Api, Table
from tests.api.deals import deal
from tests.api.notation import make_moves
from tests.api.saved_games import SEED, SavedGame, SavedGames, variants_in_lane
from tests.laws.fits import ways
from tests.support.table import seat_to_move

pytestmark = pytest.mark.quick


def ends(view: dict[str, Any], **wanted: Any) -> list[tuple[int, str, str]]:
    """The ends that are like this: number, host and side, sorted."""
    return sorted(
        (end["number"], end["tile"], end["side"])
        for end in view["board"]["ends"]
        if all(end[name] == value for name, value in wanted.items())
    )


def fido(api: Api) -> Table:
    hands = ("12-12 0-12 1-11 …", "10-12 5-12 6-11 …", "10-11 11-11 6-12 …")
    return api.create("fido", 3, deals=[deal("fido", *hands)])


def lupus(api: Api) -> Table:
    hands = ("0-0 1-1 …", "0-1 2-2 …", "0-2 3-3 …", "0-3 0-4 …")
    return api.create("homo-homini-lupus", 4, deals=[deal("homo-homini-lupus", *hands)])


@pytest.mark.parametrize("variant", variants_in_lane())
def test_an_empty_table_has_no_tiles_and_no_ends(api: Api, saved_games: SavedGames, variant: str) -> None:
    for stage in ("waiting", "dealt"):
        board = api.view(saved_games.at(variant, stage).table)["board"]
        assert board["tiles"] == []
        assert board["ends"] == []
        assert board.get("ends_sum", 0) == 0


def test_every_tile_but_the_first_joins_an_earlier_tile_with_its_number(api: Api, saved_game: SavedGame) -> None:
    before: list[str] = []
    for laid in api.view(saved_game.table)["board"]["tiles"]:
        assert ("on" in laid) == bool(before)
        if before:
            host = laid["on"]["tile"]
            assert host in before
            assert set(host.split("-")) & set(laid["tile"].split("-")) or "outer" in laid
            double = len(set(host.split("-"))) == 1 and "outer" not in laid
            assert laid["on"]["side"] in (("long", "short") if double else ("end",))
        before.append(laid["tile"])


def test_every_end_names_a_tile_of_the_table_that_has_its_number(api: Api, saved_game: SavedGame) -> None:
    board = api.view(saved_game.table)["board"]
    tiles = {laid["tile"] for laid in board["tiles"]}
    assert all(end["tile"] in tiles and str(end["number"]) in end["tile"].split("-") for end in board["ends"])
    assert len({end["id"] for end in board["ends"]}) == len(board["ends"])


def test_a_tile_says_which_end_it_covered_and_what_touches_as_its_event_does(api: Api, saved_game: SavedGame) -> None:
    table = saved_game.table
    board = api.view(table)["board"]
    events = api.get(f"{table.path}/events?limit=1000").get_json()["events"]
    dealt = max([0, *[place for place, each in enumerate(events) if each["type"] == "dealt"]])
    played = [each["data"] for each in events[dealt:] if each["type"] == "played"]
    assert [(laid["tile"], laid.get("end"), laid.get("outer")) for laid in board["tiles"]] == [
        (each["tile"], each.get("end"), each.get("outer")) for each in played
    ]
    for laid in board["tiles"]:
        assert ("on" in laid) == ("end" in laid) == ("number" in laid)
        if "on" in laid:
            halves = [int(half) for half in laid["tile"].split("-")]
            assert laid["number"] in halves
            if "outer" in laid:
                assert sorted([laid["number"], laid["outer"]]) == halves
            else:
                assert str(laid["number"]) in laid["on"]["tile"].split("-")


def test_every_end_says_whether_it_is_open_gated_or_closed(api: Api, saved_game: SavedGame) -> None:
    view = api.view(saved_game.table)
    board, variant = view["board"], variants()[view["variant"]]
    cross_first = variant.rules({}, variant.players.low).form.gates == LEAD_COVERED
    face_down = {laid["tile"] for laid in board["tiles"] if laid["face_down"]}
    for end in board["ends"]:
        assert end["state"] in ("open", "gated", "closed")
        assert (end["state"] == "closed") == (end["tile"] in face_down)
        if end["state"] == "gated":
            assert end["tile"] != board["tiles"][0]["tile"] if cross_first else end["side"] == "short"


def test_of_two_alike_sides_a_tile_says_which_one_it_covered(api: Api) -> None:
    table = fido(api)
    view = make_moves(api, table, "12-12 10-12@e1 10-11@10-12 0-12@e2 5-12@e4 11-11 1-11 6-11 6-12@e3")
    by_tile = {laid["tile"]: laid for laid in view["board"]["tiles"]}
    assert [by_tile[tile]["end"] for tile in ("10-12", "0-12", "5-12", "6-12")] == ["e1", "e2", "e4", "e3"]
    assert {by_tile[tile]["number"] for tile in ("10-12", "0-12", "5-12", "6-12")} == {12}


@pytest.mark.parametrize("variant", variants_in_lane())
def test_every_listed_play_names_an_open_end_that_it_fits(api: Api, saved_games: SavedGames, variant: str) -> None:
    rules = variants()[variant].rules({}, variants()[variant].players.low)
    for stage in ("early", "late", "second_round"):
        saved_game = saved_games.at(variant, stage)
        view = api.view(saved_game.table, seat_to_move(api.view(saved_game.table)))
        numbers = {end["id"]: str(end["number"]) for end in view["board"]["ends"] if end["state"] == "open"}
        for move in view["legal_moves"]:
            if move["action"] == "play":
                number = int(numbers[move["end"]])
                assert move.get("outer") in ways(rules, parse_tile(move["tile"]), number)


@pytest.mark.parametrize("variant", variants_in_lane())
def test_an_end_keeps_its_id_and_its_fields_while_it_exists(api: Api, variant: str) -> None:
    players = variants()[variant].players
    table = api.create(variant, players.low, seed=SEED)
    seen: dict[str, dict[str, Any]] = {}

    def one_more_tile(view: dict[str, Any]) -> bool:
        nonlocal seen
        now = {end["id"]: end for end in view["board"]["ends"]}
        for name in seen.keys() & now.keys() - {"left", "right"}:
            was, still = seen[name], now[name]
            assert was | {"state": still["state"], "counts": still["counts"]} == still
            # The other long side of the lead counts more in some games once one is covered (rules 8.7).
            lead = ("long", view["board"]["tiles"][0]["tile"])
            assert was["counts"] == still["counts"] or (was["side"], was["tile"]) == lead
            assert still["state"] == "open" or was["state"] != "open" or view["status"] != "playing"
        seen = now
        return bool(view["status"] != "playing")

    api.play_until(table, one_more_tile, Random(SEED))
    assert seen


@pytest.mark.parametrize("variant", ["domino", "dominospiel"])
def test_the_two_ended_games_call_their_ends_left_and_right(api: Api, saved_games: SavedGames, variant: str) -> None:
    for stage in ("early", "late", "round_over", "second_round", "finished"):
        board = api.view(saved_games.at(variant, stage).table)["board"]
        assert sorted(end["id"] for end in board["ends"]) == ["left", "right"]
        assert all(end["state"] == "open" for end in board["ends"])


def test_5_4_a_tile_goes_left_or_right_as_its_player_says(api: Api) -> None:
    hands = ("1-1 2-5 4-6 …", "1-2 4-5 1-3 …")
    table = api.create("domino", 2, deals=[deal("domino", *hands, stock="0-0 2-2 3-3 4-4 5-5 6-6")])
    view = make_moves(api, table, "1-1 1-2@right 2-5 4-5@2-5")
    assert ends(view) == [(1, "1-1", "long"), (4, "4-5", "end")]
    assert {end["id"]: end["number"] for end in view["board"]["ends"]} == {"left": 1, "right": 4}
    view = make_moves(api, table, "4-6@right")
    assert {end["id"]: end["number"] for end in view["board"]["ends"]} == {"left": 1, "right": 6}
    view = make_moves(api, table, "1-3@left")
    assert {end["id"]: end["number"] for end in view["board"]["ends"]} == {"left": 3, "right": 6}
    assert [laid.get("on") for laid in view["board"]["tiles"]] == [
        *(None, {"tile": "1-1", "side": "long"}, {"tile": "1-2", "side": "end"}, {"tile": "2-5", "side": "end"}),
        *({"tile": "4-5", "side": "end"}, {"tile": "1-1", "side": "long"}),
    ]


def test_a_non_double_that_leads_has_two_ends(api: Api) -> None:
    view = make_moves(api, api.create("menschenwolf", 2, deals=[deal("menschenwolf", "1-2 …", "…")]), "1-2")
    assert ends(view, state="open") == [(1, "1-2", "end"), (2, "1-2", "end")]


def test_1_3_the_lupus_spinner_has_all_four_sides_open_at_once(api: Api) -> None:
    view = make_moves(api, lupus(api), "0-0")
    assert ends(view, state="open") == [*[(0, "0-0", "long")] * 2, *[(0, "0-0", "short")] * 2]


def test_1_5_a_face_down_double_names_itself_at_the_end_that_it_closes(api: Api) -> None:
    table = lupus(api)
    view = make_moves(api, table, "0-0 0-1 0-2 0-3")
    (one,) = [end for end in view["board"]["ends"] if end["tile"] == "0-1"]
    view = make_moves(api, table, f"1-1@{one['id']}!")
    assert ends(view, state="closed") == [(1, "1-1", "long")]
    assert view["board"]["tiles"][-1] == {
        "tile": "1-1",
        "face_down": True,
        "on": {"tile": "0-1", "side": "end"},
        "end": one["id"],
        "number": 1,
        "seat": 0,
    }
    assert one["id"] not in [end["id"] for end in view["board"]["ends"] if end["state"] == "open"]


def test_2_4_the_mothers_short_sides_are_shown_before_they_open(api: Api) -> None:
    table = api.create("menschenwolf", 2, deals=[deal("menschenwolf", "1-2 4-4 …", "2-4 4-6 …")])
    view = make_moves(api, table, "1-2 2-4 4-4@2-4")
    assert ends(view, state="open") == [(1, "1-2", "end"), (4, "4-4", "long")]
    assert ends(view, state="gated") == [(4, "4-4", "short"), (4, "4-4", "short")]
    before = {end["id"] for end in view["board"]["ends"] if end["side"] == "short"}
    if seat_to_move(view) == 0:
        view = make_moves(api, table, "done")
    view = make_moves(api, table, "4-6@4-4")
    assert ends(view, state="open") == [(1, "1-2", "end"), (4, "4-4", "short"), (4, "4-4", "short"), (6, "4-6", "end")]
    assert {end["id"] for end in view["board"]["ends"] if end["side"] == "short"} == before


def test_2_8_an_opening_tile_turned_over_closes_every_end(api: Api) -> None:
    hands = ("1-2 …", "0-0 3-3 4-4 5-5 6-6 3-4 5-6")
    view = make_moves(api, api.create("menschenwolf", 2, deals=[deal("menschenwolf", *hands)]), "1-2 flip")
    assert ends(view, state="open") == []
    assert [laid["face_down"] for laid in view["board"]["tiles"]] == [True]


def test_3_4_the_opening_doubles_short_sides_are_gated_but_count(api: Api) -> None:
    view = make_moves(api, fido(api), "12-12")
    assert ends(view, state="open", counts=0) == [(12, "12-12", "long"), (12, "12-12", "long")]
    assert ends(view, state="gated", counts=12) == [(12, "12-12", "short"), (12, "12-12", "short")]
    assert view["board"]["ends_sum"] == 24


def test_3_4_every_other_double_is_attached_by_a_long_side_and_has_three_open_sides(api: Api) -> None:
    view = make_moves(api, fido(api), "12-12 10-12 10-11@10-12 0-12@12-12.long 5-12@12-12.short 11-11@10-11")
    sides = [(11, "11-11", side) for side in ("long", "short", "short")]
    assert ends(view, tile="11-11", state="open") == sides
    assert {end["counts"] for end in view["board"]["ends"] if end["side"] == "long"} == {0}
    assert view["board"]["tiles"][-2]["on"] == {"tile": "12-12", "side": "short"}


def test_the_tiles_are_listed_in_the_order_of_play_with_their_seat(api: Api) -> None:
    view = make_moves(api, fido(api), "12-12 10-12 10-11@10-12 0-12@12-12.long")
    laid = [(each["tile"], each["seat"]) for each in view["board"]["tiles"]]
    assert laid == [("12-12", 0), ("10-12", 1), ("10-11", 2), ("0-12", 0)]
