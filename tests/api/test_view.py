"""``GET /v1/games/{game}``: the fields of the view, for each viewer and in each status."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import pytest

from service.engine.variants import variants
from tests.api.client import Api
from tests.api.deals import deal
from tests.api.playing import lay, mover, play_on, post_first
from tests.api.scenes import SEED, STAGES, Scene, Scenes

ALWAYS = {
    "id",
    "variant",
    "rules",
    "arranged",
    "status",
    "version",
    "round",
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


@pytest.fixture(params=[(variant, stage) for variant in variants() for stage in STAGES], ids="-".join)
def scene(request: pytest.FixtureRequest, scenes: Scenes) -> Scene:
    """Every stage of every game; where nobody ever goes out, the end once more."""
    return scenes.at(*request.param) or scenes.need(request.param[0], "finished")


def test_the_view_has_the_fields_of_the_contract_and_no_other(api: Api, scene: Scene) -> None:
    for seat in (None, *scene.table.tokens):
        view = api.view(scene.table, seat)
        wanted = ALWAYS | ({"turn"} if view["status"] == "playing" else set()) | (set() if seat is None else {"you"})
        assert view.keys() - {"dealer"} == wanted


def test_only_the_moves_and_the_hand_of_a_seat_set_its_view_apart(api: Api, scene: Scene) -> None:
    public = api.view(scene.table)
    assert public["legal_moves"] == []
    for seat in scene.table.tokens:
        view = api.view(scene.table, seat)
        assert view.pop("you")["seat"] == seat
        assert view | {"legal_moves": []} == public


def test_your_hand_has_as_many_tiles_as_everybody_sees_and_nobody_has_the_same(api: Api, scene: Scene) -> None:
    seen: list[str] = []
    for seat in scene.table.tokens:
        view = api.view(scene.table, seat)
        hand = view["you"]["hand"]
        assert len(hand) == view["players"][seat]["tiles"]
        seen += hand
    seen += [laid["tile"] for laid in api.view(scene.table)["board"]["tiles"]]
    assert len(seen) == len(set(seen))


def test_only_who_is_to_move_has_legal_moves_and_all_who_are_in_may_deal(api: Api, scene: Scene) -> None:
    public = api.view(scene.table)
    for seat in scene.table.tokens:
        moves = api.view(scene.table, seat)["legal_moves"]
        if public["status"] == "round_over":
            dealing = [{"action": "deal", "version": public["version"]}]
            assert moves == (dealing if public["players"][seat]["in"] else [])
        else:
            assert bool(moves) == (public.get("turn") == {"seat": seat})


def test_every_listed_move_carries_the_version_it_is_for(api: Api, scene: Scene) -> None:
    for seat in scene.table.tokens:
        view = api.view(scene.table, seat)
        assert all(move["version"] == view["version"] for move in view["legal_moves"])


def test_the_legal_moves_are_the_same_wherever_they_are_listed(api: Api, scene: Scene) -> None:
    for seat in (None, *scene.table.tokens):
        view, listed = api.view(scene.table, seat), api.moves(scene.table, seat)
        assert listed["moves"] == view["legal_moves"]
        assert listed["version"] == view["version"]
        assert listed.get("turn") == view.get("turn")


def test_the_version_is_the_number_of_the_last_event(api: Api, scene: Scene) -> None:
    assert api.view(scene.table)["version"] == len(scene.kept.spread) == scene.kept.version


def test_winners_are_named_when_the_match_is_over_and_not_before(api: Api, scene: Scene) -> None:
    view = api.view(scene.table)
    assert bool(view["winners"]) == (view["status"] == "finished")


def test_tiles_are_written_smaller_half_first(api: Api, scene: Scene) -> None:
    view = api.view(scene.table, 0)
    tiles = [*view["you"]["hand"], *(laid["tile"] for laid in view["board"]["tiles"])]
    tiles += [move["tile"] for move in view["legal_moves"] if "tile" in move]
    for tile in tiles:
        low, high = map(int, tile.split("-"))
        assert tile == f"{low}-{high}"
        assert low <= high


@pytest.mark.parametrize("variant", variants())
def test_a_hand_is_shown_sorted(api: Api, scenes: Scenes, variant: str) -> None:
    scene = scenes.need(variant, "dealt")
    for seat in scene.table.tokens:
        hand = [tuple(map(int, tile.split("-"))) for tile in api.view(scene.table, seat)["you"]["hand"]]
        assert hand == sorted(hand)


@pytest.mark.parametrize("variant", variants())
def test_only_in_fido_the_hand_has_rows_and_the_ends_a_sum(api: Api, scenes: Scenes, variant: str) -> None:
    for stage in PLAYED:
        scene = scenes.need(variant, stage)
        view = api.view(scene.table, 0)
        assert ("rows" in view["you"]) == (variant == "fido")
        assert ("ends_sum" in view["board"]) == (variant == "fido")
        assert all(("ends_sum" in move) == ("points" in move) for move in view["legal_moves"])
        assert all(
            ("points" in move) == (variant == "fido" and move["action"] == "play") for move in view["legal_moves"]
        )
        if variant == "fido":
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


@pytest.mark.parametrize("variant", variants())
def test_only_menschenwolf_has_a_dealer_and_only_once_a_round_has_been_counted(
    api: Api, scenes: Scenes, variant: str
) -> None:
    for stage in STAGES:
        scene = scenes.at(variant, stage)
        if scene is None:
            continue
        view = api.view(scene.table)
        if variant == "menschenwolf" and stage == "second_round":
            still_in = {player["seat"]: player["total"] for player in view["players"] if player["in"]}
            assert still_in[view["dealer"]] == max(still_in.values())
        elif variant != "menschenwolf" or view["round"] <= 1:
            assert "dealer" not in view or view["status"] == "round_over"
        if variant != "menschenwolf":
            assert "dealer" not in view


@pytest.mark.parametrize("variant", variants())
def test_a_player_has_a_team_only_in_a_team_game(api: Api, scenes: Scenes, variant: str) -> None:
    for stage in STAGES:
        scene = scenes.at(variant, stage)
        assert scene is None or not [player for player in api.view(scene.table)["players"] if "team" in player]


@pytest.mark.parametrize(("seats", "teams"), [(4, 2), (6, 2), (8, 2), (10, 2), (6, 3), (9, 3), (8, 4), (10, 5)])
def test_5_9_seats_alternate_between_the_teams(api: Api, seats: int, teams: int) -> None:
    view = api.create("domino", seats, rules={"set": 12, "teams": teams}).opened["game"]
    assert [player["team"] for player in view["players"]] == [seat % teams for seat in range(seats)]


def test_every_seat_of_a_team_carries_its_teams_total(api: Api) -> None:
    table = api.create("domino", 4, rules={"teams": 2}, seed=SEED)
    view = play_on(api, table, lambda view: view["status"] == "round_over", Random(SEED))
    totals = [player["total"] for player in view["players"]]
    assert totals[:2] == totals[2:]
    assert any(totals)


def test_a_move_that_ends_nothing_adds_one_to_the_version(api: Api) -> None:
    table = api.create("domino", 2, seed=SEED)
    before = api.view(table)
    after = post_first(api, table, mover(before), api.moves(table, mover(before))["moves"])
    assert after["version"] == before["version"] + 1
    assert len(after["board"]["tiles"]) == 1


def test_what_follows_by_itself_adds_an_event_each(api: Api) -> None:
    table = api.create("homo-homini-lupus", 4, seed=SEED, rules={"rounds": 1})
    versions = [api.view(table)["version"]]
    while (view := api.view(table))["status"] == "playing":
        versions.append(post_first(api, table, mover(view), api.moves(table, mover(view))["moves"])["version"])
    steps = [after - before for before, after in pairwise(versions)]
    assert set(steps[:-1]) == {1}
    assert steps[-1] == 3, "the move, the count, and the end of the match"


@pytest.mark.parametrize("variant", variants())
def test_a_move_leaves_the_time_of_creation_and_never_goes_back_in_time(api: Api, scenes: Scenes, variant: str) -> None:
    scene = scenes.need(variant, "dealt")
    before = api.view(scene.table)
    after = lay(api, scene.table, first_move(api, scene))
    assert after["created_at"] == before["created_at"]
    assert before["updated_at"] <= after["updated_at"] < after["expires_at"]


def first_move(api: Api, scene: Scene) -> str:
    move = api.moves(scene.table, mover(api.view(scene.table)))["moves"][0]
    return str(move["tile"])


@pytest.mark.parametrize("variant", variants())
def test_after_a_round_the_table_stays_as_it_lies_until_the_next_deal(api: Api, scenes: Scenes, variant: str) -> None:
    scene = scenes.need(variant, "round_over")
    over = api.view(scene.table)
    hands = {each["seat"]: each["tiles"] for each in api.score(scene.table)["rounds"][0]["hands"]}
    assert over["board"]["tiles"]
    assert over["stock"]["tiles"] + len(over["board"]["tiles"]) + sum(map(len, hands.values())) == set_size(over)
    for seat in scene.table.tokens:
        assert api.view(scene.table, seat)["you"]["hand"] == hands[seat]
    dealt = lay(api, scene.table, "deal")
    assert (dealt["status"], dealt["round"], dealt["version"]) == ("playing", 2, over["version"] + 1)
    assert dealt["board"]["tiles"] == []
    assert dealt["board"]["ends"] == []


def set_size(view: dict[str, Any]) -> int:
    highest = view["rules"].get("set", 6)
    return int((highest + 1) * (highest + 2) // 2)


def test_2_2_two_tiles_of_the_wolfs_stock_cannot_be_drawn(api: Api) -> None:
    assert api.create("menschenwolf", 2).opened["game"]["stock"] == {"tiles": 14, "drawable": 12}
    assert api.create("menschenwolf", 3).opened["game"]["stock"] == {"tiles": 1, "drawable": 0}


def test_in_fido_the_points_of_the_running_round_count_at_once(api: Api) -> None:
    hands = ("12-12 0-12 …", "10-12 5-12 …", "10-11 …")
    table = api.create("fido", 3, deals=[deal("fido", *hands)])
    view = lay(api, table, "12-12 10-12 10-11@10-12")
    assert [player["total"] for player in view["players"]] == [0, 0, 5]
    standings = api.score(table)["standings"]
    assert (standings[0]["seat"], standings[0]["total"]) == (2, 5)


def test_who_is_out_of_the_match_stays_out_and_holds_nothing(api: Api, scenes: Scenes) -> None:
    scene = scenes.at("menschenwolf", "somebody_gone")
    assert scene is not None
    gone = [player["seat"] for player in api.view(scene.table)["players"] if not player["in"]]
    dealt = lay(api, scene.table, "deal")
    assert [player["seat"] for player in dealt["players"] if not player["in"]] == gone
    for seat in gone:
        assert dealt["players"][seat]["tiles"] == 0
        view = api.view(scene.table, seat)
        assert view["you"]["hand"] == []
        assert view["legal_moves"] == []


def test_a_game_arranged_by_a_seed_or_a_deal_says_so_and_no_other(api: Api) -> None:
    assert api.create("domino", 2).opened["game"]["arranged"] is False
    assert api.create("domino", 2, seed="x").opened["game"]["arranged"] is True
    arranged = deal("domino", "6-6 …", "…")
    assert api.create("domino", 2, deals=[arranged]).opened["game"]["arranged"] is True
