"""``GET /v1/games/{game}``: the fields of the view, for each viewer and in each status."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import pytest

from service.engine.variants import variants
from tests.api.client import Api
from tests.api.deals import deal
from tests.api.notation import make_moves
from tests.api.saved_games import SEED, SavedGame, SavedGames
from tests.engine.table import COUNTING_ENDS, SCORING_PLAYS
from tests.support.table import seat_to_move

pytestmark = pytest.mark.quick_and_gate

ALWAYS = {
    "id",
    "variant",
    "rules",
    "arranged",
    "viewer",
    "status",
    "version",
    "round",
    "to_act",
    "legal_moves",
    "players",
    "stock",
    "board",
    "carry",
    "winners",
    "created_at",
    "updated_at",
    "expires_at",
}
PLAYED = ("dealt", "early", "late", "round_over", "second_round", "finished")


def test_the_view_has_exactly_the_fields_of_the_contract(api: Api, saved_game: SavedGame) -> None:
    for seat in (None, *saved_game.table.tokens):
        view = api.view(saved_game.table, seat)
        wanted = ALWAYS | ({"turn"} if view["status"] == "playing" else set()) | (set() if seat is None else {"you"})
        assert view.keys() - {"dealer"} == wanted


def test_only_the_moves_and_the_hand_of_a_seat_set_its_view_apart(api: Api, saved_game: SavedGame) -> None:
    public = api.view(saved_game.table)
    assert public["legal_moves"] == []
    for seat in saved_game.table.tokens:
        view = api.view(saved_game.table, seat)
        assert view.pop("you")["seat"] == seat
        assert view | {"viewer": "spectator", "legal_moves": []} == public


def test_a_hand_has_as_many_tiles_as_the_view_says_and_no_tile_is_in_two_hands(api: Api, saved_game: SavedGame) -> None:
    seen: list[str] = []
    for seat in saved_game.table.tokens:
        view = api.view(saved_game.table, seat)
        hand = view["you"]["hand"]
        assert len(hand) == view["players"][seat]["tiles"]
        seen += hand
    seen += [laid["tile"] for laid in api.view(saved_game.table)["board"]["tiles"]]
    assert len(seen) == len(set(seen))


def test_only_the_seat_to_move_has_legal_moves_and_every_player_who_is_in_may_deal(
    api: Api, saved_game: SavedGame
) -> None:
    public = api.view(saved_game.table)
    for seat in saved_game.table.tokens:
        moves = api.view(saved_game.table, seat)["legal_moves"]
        if public["status"] == "round_over":
            dealing = [{"action": "deal", "version": public["version"]}]
            assert moves == (dealing if public["players"][seat]["in"] else [])
        else:
            assert bool(moves) == (public.get("turn") == {"seat": seat})


def test_every_listed_move_carries_the_version_it_is_for(api: Api, saved_game: SavedGame) -> None:
    for seat in saved_game.table.tokens:
        view = api.view(saved_game.table, seat)
        assert all(move["version"] == view["version"] for move in view["legal_moves"])


def test_the_legal_moves_are_the_same_wherever_they_are_listed(api: Api, saved_game: SavedGame) -> None:
    for seat in (None, *saved_game.table.tokens):
        view, listed = api.view(saved_game.table, seat), api.listed_moves(saved_game.table, seat)
        assert listed["moves"] == view["legal_moves"]
        assert listed["version"] == view["version"]
        assert listed.get("turn") == view.get("turn")


def test_the_version_is_the_number_of_the_last_event(api: Api, saved_game: SavedGame) -> None:
    assert (
        api.view(saved_game.table)["version"] == len(saved_game.snapshot.unpacked_events) == saved_game.snapshot.version
    )


def test_winners_are_named_when_the_match_is_over_and_not_before(api: Api, saved_game: SavedGame) -> None:
    view = api.view(saved_game.table)
    assert bool(view["winners"]) == (view["status"] == "finished")


def test_tiles_are_written_smaller_half_first(api: Api, saved_game: SavedGame) -> None:
    view = api.view(saved_game.table, 0)
    tiles = [*view["you"]["hand"], *(laid["tile"] for laid in view["board"]["tiles"])]
    tiles += [move["tile"] for move in view["legal_moves"] if "tile" in move]
    for tile in tiles:
        low, high = map(int, tile.split("-"))
        assert tile == f"{low}-{high}"
        assert low <= high


@pytest.mark.parametrize("variant", variants())
def test_a_hand_is_shown_sorted(api: Api, saved_games: SavedGames, variant: str) -> None:
    saved_game = saved_games.at(variant, "dealt")
    for seat in saved_game.table.tokens:
        hand = [tuple(map(int, tile.split("-"))) for tile in api.view(saved_game.table, seat)["you"]["hand"]]
        assert hand == sorted(hand)


@pytest.mark.parametrize("variant", variants())
def test_the_hand_has_rows_only_in_fido_and_the_ends_a_sum_only_where_they_are_counted(
    api: Api, saved_games: SavedGames, variant: str
) -> None:
    for stage in PLAYED:
        saved_game = saved_games.at(variant, stage)
        view = api.view(saved_game.table, 0)
        assert ("rows" in view["you"]) == (variant == "fido")
        assert ("ends_sum" in view["board"]) == (variant in COUNTING_ENDS)
        for move in view["legal_moves"]:
            assert ("points" in move) == (variant in SCORING_PLAYS and move["action"] == "play")
            assert ("ends_sum" in move) == (variant in COUNTING_ENDS and move["action"] == "play")
        if variant in COUNTING_ENDS:
            assert view["board"]["ends_sum"] == sum(end["counts"] for end in view["board"]["ends"])
        else:
            assert {end["counts"] for end in view["board"]["ends"]} <= {0}


def test_3_10_the_rows_of_a_hand_stand_in_the_order_of_its_tiles(api: Api) -> None:
    table = api.create("fido", 3, deals=[deal("fido", "3-12 8-8 0-0 7-7 0-7 12-12 …", "10-12 …", "…")])
    you = api.view(table, 0)["you"]
    rows = dict(zip(you["hand"], you["rows"], strict=True))
    assert {tile: rows[tile] for tile in ("3-12", "8-8", "0-0", "7-7", "0-7", "12-12")} == {
        "3-12": 2,
        "8-8": 1,
        "0-0": 7,
        "7-7": 7,
        "0-7": 7,
        "12-12": 5,
    }


def test_only_menschenwolf_has_a_dealer_and_only_once_a_round_has_been_counted(api: Api, saved_game: SavedGame) -> None:
    view = api.view(saved_game.table)
    if saved_game.variant != "menschenwolf":
        assert "dealer" not in view
    elif saved_game.stage == "second_round":
        still_in = {player["seat"]: player["total"] for player in view["players"] if player["in"]}
        assert still_in[view["dealer"]] == max(still_in.values())
    elif view["round"] <= 1:
        assert "dealer" not in view or view["status"] == "round_over"


def test_a_player_has_a_team_only_in_a_team_game(api: Api, saved_game: SavedGame) -> None:
    teams = [player.get("team") for player in api.view(saved_game.table)["players"]]
    in_teams = bool(variants()[saved_game.variant].rules({}, len(teams)).teams)
    assert teams == [seat % 2 if in_teams else None for seat in range(len(teams))]


@pytest.mark.parametrize(("seats", "teams"), [(4, 2), (6, 2), (8, 2), (10, 2), (6, 3), (9, 3), (8, 4), (10, 5)])
def test_5_9_seats_alternate_between_the_teams(api: Api, seats: int, teams: int) -> None:
    view = api.create("domino", seats, rules={"set": 12, "teams": teams}).created["game"]
    assert [player["team"] for player in view["players"]] == [seat % teams for seat in range(seats)]


def test_every_seat_of_a_team_carries_its_teams_total(api: Api) -> None:
    table = api.create("domino", 4, rules={"teams": 2}, seed=SEED)
    view = api.play_until(table, lambda view: view["status"] == "round_over", Random(SEED))
    totals = [player["total"] for player in view["players"]]
    assert totals[:2] == totals[2:]
    assert any(totals)


def test_a_move_that_ends_nothing_adds_one_to_the_version(api: Api) -> None:
    table = api.create("domino", 2, seed=SEED)
    before = api.view(table)
    after = api.make_legal_move(table)
    assert after["version"] == before["version"] + 1
    assert len(after["board"]["tiles"]) == 1


def test_each_automatic_event_raises_the_version_by_one(api: Api) -> None:
    table = api.create("homo-homini-lupus", 4, seed=SEED, rules={"rounds": 1})
    versions = [api.view(table)["version"]]
    while api.view(table)["status"] == "playing":
        versions.append(api.make_legal_move(table)["version"])
    steps = [after - before for before, after in pairwise(versions)]
    assert set(steps[:-1]) == {1}
    assert steps[-1] == 3, "the move, the count, and the end of the match"


@pytest.mark.parametrize("variant", variants())
def test_a_move_leaves_the_time_of_creation_and_never_goes_back_in_time(
    api: Api, saved_games: SavedGames, variant: str
) -> None:
    saved_game = saved_games.at(variant, "dealt")
    before = api.view(saved_game.table)
    after = make_moves(api, saved_game.table, first_move(api, saved_game))
    assert after["created_at"] == before["created_at"]
    assert before["updated_at"] <= after["updated_at"] < after["expires_at"]


def first_move(api: Api, saved_game: SavedGame) -> str:
    move = api.moves(saved_game.table, seat_to_move(api.view(saved_game.table)))[0]
    return str(move["tile"])


@pytest.mark.parametrize("variant", variants())
def test_after_a_round_the_table_stays_as_it_lies_until_the_next_deal(
    api: Api, saved_games: SavedGames, variant: str
) -> None:
    saved_game = saved_games.at(variant, "round_over")
    over = api.view(saved_game.table)
    hands = {each["seat"]: each["tiles"] for each in api.score(saved_game.table)["rounds"][0]["hands"]}
    assert over["board"]["tiles"]
    assert over["stock"]["tiles"] + len(over["board"]["tiles"]) + sum(map(len, hands.values())) == set_size(over)
    for seat in saved_game.table.tokens:
        assert api.view(saved_game.table, seat)["you"]["hand"] == hands[seat]
    dealt = make_moves(api, saved_game.table, "deal")
    assert (dealt["status"], dealt["round"], dealt["version"]) == ("playing", 2, over["version"] + 1)
    assert dealt["board"]["tiles"] == []
    assert dealt["board"]["ends"] == []


def set_size(view: dict[str, Any]) -> int:
    highest = view["rules"].get("set", 6)
    return int((highest + 1) * (highest + 2) // 2)


def test_2_2_two_tiles_of_the_wolfs_stock_cannot_be_drawn(api: Api) -> None:
    assert api.create("menschenwolf", 2).created["game"]["stock"] == {"tiles": 14, "drawable": 12}
    assert api.create("menschenwolf", 3).created["game"]["stock"] == {"tiles": 1, "drawable": 0}


def test_in_fido_points_of_the_running_round_count_immediately(api: Api) -> None:
    hands = ("12-12 0-12 …", "10-12 5-12 …", "10-11 …")
    table = api.create("fido", 3, deals=[deal("fido", *hands)])
    view = make_moves(api, table, "12-12 10-12 10-11@10-12")
    assert [player["total"] for player in view["players"]] == [0, 0, 5]
    standings = api.score(table)["standings"]
    assert (standings[0]["seat"], standings[0]["total"]) == (2, 5)


def test_a_player_out_of_the_match_stays_out_and_holds_nothing(api: Api, saved_games: SavedGames) -> None:
    saved_game = saved_games.at("menschenwolf", "player_out")
    gone = [player["seat"] for player in api.view(saved_game.table)["players"] if not player["in"]]
    dealt = make_moves(api, saved_game.table, "deal")
    assert [player["seat"] for player in dealt["players"] if not player["in"]] == gone
    for seat in gone:
        assert dealt["players"][seat]["tiles"] == 0
        view = api.view(saved_game.table, seat)
        assert view["you"]["hand"] == []
        assert view["legal_moves"] == []


def test_only_a_game_with_a_seed_or_a_deal_is_shown_as_arranged(api: Api) -> None:
    assert api.create("domino", 2).created["game"]["arranged"] is False
    assert api.create("domino", 2, seed="x").created["game"]["arranged"] is True
    arranged = deal("domino", "6-6 …", "…")
    assert api.create("domino", 2, deals=[arranged]).created["game"]["arranged"] is True
