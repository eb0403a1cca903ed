"""``GET /v1/games/{game}``: the fields of the view, for each viewer and in each status.

What players hold, know and may do is tested in ``tests/laws`` and ``tests/engine``; here is how it is shown.
"""

from __future__ import annotations

import pytest

from service.engine.variants import variants
from tests.api.client import Api, viewers
from tests.api.deals import deal
from tests.api.saved_games import SEED, SavedGame
from tests.engine.table import COUNTING_ENDS

pytestmark = pytest.mark.quick

ALWAYS = {
    *("id", "variant", "options", "arranged", "status", "version", "round", "to_act", "legal_moves", "players"),
    *("stock", "board", "winners", "created_at", "updated_at", "expires_at"),
}
CARRIES = ("by-wins", "kozel", "menschenwolf")
"""The games in which an undecided round is carried over (rules 2.11, 11.11, 16.6)."""
IN_WINS = ("by-wins",)
IN_MANCHES = ("cochon",)


def test_the_view_has_exactly_the_fields_of_the_contract(api: Api, saved_game: SavedGame) -> None:
    for seat in viewers(saved_game.table):
        view = api.view(saved_game.table, seat)
        wanted = ALWAYS | ({"turn"} if view["status"] == "playing" else set()) | (set() if seat is None else {"you"})
        assert view.keys() - {"dealer"} == wanted | ({"carry"} if saved_game.variant in CARRIES else set()) | (
            {"unit"} if saved_game.variant in IN_WINS else {"manche"} if saved_game.variant in IN_MANCHES else set()
        )
        if seat is not None:
            assert ("rows" in view["you"]) == (saved_game.variant == "fido")


def test_only_the_moves_and_the_hand_of_a_seat_set_its_view_apart(api: Api, saved_game: SavedGame) -> None:
    public = api.view(saved_game.table)
    assert public["legal_moves"] == []
    seen = [laid["tile"] for laid in public["board"]["tiles"]]
    for seat in saved_game.table.tokens:
        view = api.view(saved_game.table, seat)
        own = view.pop("you")
        assert (own["seat"], len(own["hand"])) == (seat, public["players"][seat]["tiles"])
        halves = [tuple(map(int, tile.split("-"))) for tile in own["hand"]]
        assert halves == sorted(halves), "a hand is shown sorted"
        seen += own["hand"]
        assert view | {"legal_moves": []} == public
    assert len(seen) == len(set(seen))
    for low, high in (map(int, tile.split("-")) for tile in seen):
        assert low <= high, "a tile is written smaller half first"


def test_the_seat_to_move_has_legal_moves_and_every_player_who_is_in_may_deal(api: Api, saved_game: SavedGame) -> None:
    public = api.view(saved_game.table)
    for seat in viewers(saved_game.table):
        listed, moves = api.listed_moves(saved_game.table, seat), api.view(saved_game.table, seat)["legal_moves"]
        assert listed["legal_moves"] == moves, "they are the same wherever they are listed"
        assert (listed["version"], listed.get("turn")) == (public["version"], public.get("turn"))
        assert all(move["version"] == public["version"] for move in moves)
        if seat is not None and public["status"] == "round_over":
            dealing = [{"action": "deal", "version": public["version"]}]
            assert moves == (dealing if public["players"][seat]["active"] else [])
        else:
            assert bool(moves) == (seat is not None and public.get("turn") == {"seat": seat})


def test_the_view_tells_what_the_state_of_the_game_is(api: Api, saved_game: SavedGame) -> None:
    view = api.view(saved_game.table)
    assert view["version"] == len(saved_game.snapshot.unpacked_events) == saved_game.snapshot.version
    assert bool(view["winners"]) == (view["status"] == "finished")
    teams = [player.get("team") for player in view["players"]]
    in_teams = bool(variants()[saved_game.variant].rules({}, len(teams)).teams)
    assert teams == [seat % 2 if in_teams else None for seat in range(len(teams))]
    board = view["board"]
    if saved_game.variant in COUNTING_ENDS:
        assert board["ends_sum"] == sum(end["counts"] for end in board["ends"])
    else:
        assert "ends_sum" not in board
        assert {end["counts"] for end in board["ends"]} <= {0}


def test_only_menschenwolf_has_a_dealer_and_only_once_a_round_has_been_counted(api: Api, saved_game: SavedGame) -> None:
    view = api.view(saved_game.table)
    if saved_game.variant != "menschenwolf":
        assert "dealer" not in view
    elif saved_game.stage == "second_round":
        still_in = {player["seat"]: player["total"] for player in view["players"] if player["active"]}
        assert still_in[view["dealer"]] == max(still_in.values())
    elif view["round"] <= 1:
        assert "dealer" not in view or view["status"] == "round_over"


def test_3_10_the_rows_of_a_hand_stand_in_the_order_of_its_tiles(api: Api) -> None:
    table = api.create("fido", 3, deals=[deal("fido", "3-12 8-8 0-0 7-7 0-7 12-12 …", "10-12 …", "…")])
    you = api.view(table, 0)["you"]
    rows = dict(zip(you["hand"], you["rows"], strict=True))
    assert [rows[tile] for tile in ("3-12", "8-8", "0-0", "7-7", "0-7", "12-12")] == [2, 1, 7, 7, 7, 5]


def test_a_move_leaves_the_time_of_creation_and_never_goes_back_in_time(api: Api) -> None:
    table = api.create("domino", 2, seed=SEED)
    before, after = api.view(table), api.make_legal_move(table)
    assert after["created_at"] == before["created_at"]
    assert before["updated_at"] <= after["updated_at"] < after["expires_at"]
