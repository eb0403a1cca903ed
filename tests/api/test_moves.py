"""``/v1/games/{game}/moves``: every listed move is legal, and no other."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import redis

from service.engine.variants import variants
from tests.api.client import Api, Table, status_and_code
from tests.api.deals import deal
from tests.api.notation import find_move, make_moves
from tests.api.saved_games import SEED, SavedGame, SavedGames, restore, stages_of, take_snapshot
from tests.support.table import seat_to_move

pytestmark = pytest.mark.quick_and_gate

DOUBLES = "0-0 2-2 3-3 4-4 5-5 6-6"
"""In the stock, so that 1-1 leads."""
PLAYING = ("dealt", "early", "late", "second_round")


def two_places(api: Api) -> tuple[Table, int]:
    """A domino game in which seat 0 can lay 1-2 on either end, and is to move."""
    hands = ("1-1 1-2 …", "1-3 2-3 …")
    table = api.create("domino", 2, deals=[deal("domino", *hands, stock=DOUBLES)])
    make_moves(api, table, "1-1 1-3@right")
    return table, 0


def test_every_listed_move_can_be_posted_back_as_it_stands(
    api: Api, server: redis.Redis, saved_game: SavedGame
) -> None:
    listed = [(seat, move) for seat in saved_game.table.tokens for move in api.moves(saved_game.table, seat)]
    for seat, move in listed:
        restore(server, saved_game.table.id, saved_game.snapshot)
        made = api.move(saved_game.table, seat, move)
        assert made.status_code == 201, made.json
        assert made.json is not None
        assert made.json["version"] > saved_game.snapshot.version
        if move["action"] == "play":
            laid = made.json["board"]["tiles"][-1]
            assert (laid["tile"], laid["seat"], laid["face_down"]) == (move["tile"], seat, move["face_down"])
        if "ends_sum" in move:
            assert made.json["board"]["ends_sum"] == move["ends_sum"]


@pytest.mark.parametrize("variant", variants())
def test_a_match_is_played_to_its_end_by_posting_back_what_is_listed(
    api: Api, saved_games: SavedGames, variant: str
) -> None:
    view = api.view(saved_games.at(variant, "finished").table)
    assert view["status"] == "finished"
    assert view["winners"]


@pytest.mark.parametrize("variant", variants())
def test_a_made_move_answers_the_game_as_its_mover_now_sees_it(api: Api, saved_games: SavedGames, variant: str) -> None:
    for stage in PLAYING:
        table = saved_games.at(variant, stage).table
        seat = seat_to_move(api.view(table))
        made = api.move(table, seat, api.moves(table, seat)[-1])
        look = api.get(table.path, token=table.tokens[seat])
        assert made.json == look.json
        assert made.headers["ETag"] == look.headers["ETag"]
        assert made.headers["Location"] == table.path
        assert made.headers["Cache-Control"] == "private, no-cache"
        assert made.headers["Vary"] == "Authorization, Accept, Accept-Language"


def test_a_listed_move_is_made_once_and_then_refused_as_stale(api: Api, server: redis.Redis) -> None:
    table = api.create("domino", 2, seed=SEED)
    seat = seat_to_move(api.view(table))
    move = api.moves(table, seat)[0]
    assert api.move(table, seat, move).status_code == 201
    after = take_snapshot(server, table.id)
    for _ in range(2):
        assert status_and_code(api.move(table, seat, move)) == (412, "stale_version")
    assert take_snapshot(server, table.id) == after


def test_two_draws_in_a_row_are_two_moves_and_neither_is_made_twice(api: Api) -> None:
    hands = ("0-0 …", "1-2 1-3 1-4 1-5 1-6 2-3", "0-1 …", "0-2 0-3 …")
    stock = "2-4 2-5 2-6 3-4"
    table = api.create("homo-homini-lupus", 4, deals=[deal("homo-homini-lupus", *hands, stock=stock)])
    make_moves(api, table, "0-0")
    first = api.moves(table, 1)
    assert [move["action"] for move in first] == ["draw"]
    assert api.move(table, 1, first[0]).status_code == 201
    second = api.moves(table, 1)
    assert [move["action"] for move in second] == ["draw"]
    assert status_and_code(api.move(table, 1, first[0])) == (412, "stale_version")
    assert api.move(table, 1, second[0]).status_code == 201
    view = api.view(table, 1)
    assert view["players"][1]["tiles"] == 8
    assert view["stock"] == {"tiles": 2, "drawable": 2}
    assert {"2-4", "2-5"} <= set(view["you"]["hand"])


def test_drawing_all_drawable_tiles_without_a_fit_ends_in_a_pass(api: Api) -> None:
    hands = ("0-0 …", "1-2 1-3 1-4 1-5 1-6 2-3", "0-1 …", "0-2 0-3 …")
    table = api.create("homo-homini-lupus", 4, deals=[deal("homo-homini-lupus", *hands, stock="2-4 2-5 2-6 3-4")])
    view = make_moves(api, table, "0-0 draw draw draw draw")
    assert view["turn"] == {"seat": 1}
    assert [move["action"] for move in view["legal_moves"]] == ["pass"]
    assert make_moves(api, table, "pass")["turn"] == {"seat": 2}


def test_a_move_by_hand_may_leave_out_version_end_and_face_down(api: Api) -> None:
    table = api.create("domino", 2, deals=[deal("domino", "1-1 …", "1-2 …", stock=DOUBLES)])
    assert api.move(table, 0, {"action": "play", "tile": "1-1"}).status_code == 201
    listed = {(move["tile"], move["end"]) for move in api.moves(table, 1)}
    assert {("1-2", "left"), ("1-2", "right")} <= listed
    assert api.move(table, 1, {"action": "play", "tile": "1-2", "end": "left"}).status_code == 201


def test_the_end_may_be_left_out_when_the_tile_has_one_legal_place(api: Api) -> None:
    table, seat = two_places(api)
    make_moves(api, table, "1-2@left")
    moves = [move for move in api.moves(table, 1) if move["tile"] == "2-3"]
    assert [move["end"] for move in moves] == ["left", "right"]
    answer = api.move(table, 1, {"action": "play", "tile": "2-3"})
    assert status_and_code(answer) == (409, "illegal_move")
    table, seat = two_places(api)
    made: Any = api.move(table, seat, {"action": "play", "tile": "1-2"}).json
    assert made["board"]["tiles"][-1]["on"] == {"tile": "1-1", "side": "long"}


def test_face_down_left_out_means_face_up(api: Api) -> None:
    hands = ("0-0 1-1 …", "0-1 …", "0-2 …", "0-3 …")
    table = api.create("homo-homini-lupus", 4, deals=[deal("homo-homini-lupus", *hands)])
    make_moves(api, table, "0-0 0-1 0-2 0-3")
    end = find_move(api, table, "1-1")["end"]
    made: Any = api.move(table, 0, {"action": "play", "tile": "1-1", "end": end}).json
    assert made["board"]["tiles"][-1]["face_down"] is False


def test_a_double_that_may_lie_either_way_is_two_moves(api: Api) -> None:
    hands = ("0-0 1-1 …", "0-1 …", "0-2 …", "0-3 …")
    table = api.create("homo-homini-lupus", 4, deals=[deal("homo-homini-lupus", *hands)])
    make_moves(api, table, "0-0 0-1 0-2 0-3")
    ways = [move["face_down"] for move in api.moves(table, 0) if move["tile"] == "1-1"]
    assert ways == [False, True]


def test_two_equal_ends_are_two_moves(api: Api) -> None:
    hands = ("0-0 …", "0-1 …", "0-2 …", "0-3 …")
    table = api.create("homo-homini-lupus", 4, deals=[deal("homo-homini-lupus", *hands)])
    make_moves(api, table, "0-0")
    places = [move["end"] for move in api.moves(table, 1) if move["tile"] == "0-1"]
    assert len(places) == len(set(places)) == 4


@pytest.mark.parametrize("spelling", ["1-1", "1/1", "1:1", "1|1"])
def test_a_tile_may_be_written_with_any_separator(api: Api, spelling: str) -> None:
    table = api.create("domino", 2, deals=[deal("domino", "1-1 …", "…", stock=DOUBLES)])
    assert api.move(table, 0, {"action": "play", "tile": spelling}).status_code == 201


@pytest.mark.parametrize("spelling", ["10-12", "12-10", "12/10", "10/12", "12:10", "12|10"])
def test_a_tile_may_be_written_either_half_first(api: Api, spelling: str) -> None:
    table = api.create("fido", 3, deals=[deal("fido", "12-12 …", "10-12 …", "…")])
    make_moves(api, table, "12-12")
    end = find_move(api, table, "10-12")["end"]
    made: Any = api.move(table, 1, {"action": "play", "tile": spelling, "end": end}).json
    assert made["board"]["tiles"][-1]["tile"] == "10-12"


def test_3_6_each_play_says_the_sum_and_the_points_after_it(api: Api) -> None:
    hands = ("12-12 …", "10-12 …", "10-11 6-12 …")
    table = api.create("fido", 3, deals=[deal("fido", *hands)])
    make_moves(api, table, "12-12 10-12")
    said = {
        (move["tile"], move["ends_sum"], move["points"])
        for move in api.moves(table, 2)
        if move["tile"] in ("10-11", "6-12")
    }
    assert said == {("10-11", 35, 5), ("6-12", 28, 4), ("6-12", 40, 0)}


def test_a_spectator_may_read_the_moves_and_sees_none(api: Api, saved_games: SavedGames) -> None:
    for stage in stages_of("menschenwolf"):
        saved_game = saved_games.at("menschenwolf", stage)
        listed = api.listed_moves(saved_game.table)
        assert listed["moves"] == []
        assert listed["version"] == saved_game.snapshot.version


# Refused


def assert_refused(api: Api, server: redis.Redis, who: tuple[Table, int], move: Any, wanted: tuple[int, str]) -> None:
    """Check that the move is refused like this, with the current legal moves, and that nothing has changed."""
    table, seat = who
    before = take_snapshot(server, table.id)
    answer = api.move(table, seat, move)
    assert status_and_code(answer) == wanted
    assert take_snapshot(server, table.id) == before
    if wanted[0] in (409, 412):
        assert answer.json is not None
        view = api.view(table, seat)
        assert answer.json["legal_moves"] == view["legal_moves"]
        assert answer.json["version"] == view["version"]


def test_a_move_that_is_not_listed_is_refused_with_the_reason_and_changes_nothing(
    api: Api, server: redis.Redis, saved_game: SavedGame
) -> None:
    view = api.view(saved_game.table)
    for seat in saved_game.table.tokens:
        listed = {move["action"] for move in api.moves(saved_game.table, seat)}
        for action in {"draw", "pass", "done", "flip", "deal"} - listed:
            wanted = refusal(view, seat, action)
            assert_refused(api, server, (saved_game.table, seat), {"action": action}, (409, wanted))


def refusal(view: dict[str, Any], seat: int, action: str) -> str:
    """The code of the refusal of this move, which is not listed."""
    if view["status"] in ("playing", "round_over") and not view["players"][seat]["in"]:
        return "not_in_match"
    if view["status"] == "playing":
        return "illegal_move" if view["turn"] == {"seat": seat} else "not_your_turn"
    if view["status"] == "round_over":
        assert action != "deal"
        return "round_over"
    return {"waiting": "not_started", "finished": "game_over"}[view["status"]]


@pytest.mark.parametrize(
    ("move", "wanted"),
    [
        ({"action": "play", "tile": "1-2"}, (409, "illegal_move")),
        ({"action": "play", "tile": "1-2", "end": "e7"}, (409, "illegal_move")),
        ({"action": "play", "tile": "1-2", "end": "LEFT"}, (409, "illegal_move")),
        ({"action": "play", "tile": "1-2", "end": "left", "face_down": True}, (409, "illegal_move")),
        ({"action": "play", "tile": "1-3", "end": "left"}, (409, "illegal_move")),
        ({"action": "play", "tile": "4-5"}, (409, "illegal_move")),
        ({"action": "play", "tile": "4-5", "end": "left"}, (409, "illegal_move")),
        ({"action": "play", "tile": "1-1", "end": "left"}, (409, "illegal_move")),
        ({"action": "play", "tile": "12-12", "end": "left"}, (409, "illegal_move")),
        ({"action": "play", "tile": "1-7"}, (409, "illegal_move")),
        ({"action": "draw"}, (409, "illegal_move")),
        ({"action": "play"}, (422, "invalid")),
        ({"action": "play", "tile": "1-19"}, (422, "invalid")),
        ({"action": "play", "tile": "12"}, (422, "invalid")),
        ({"action": "play", "tile": "1-2", "side": "left"}, (422, "invalid")),
        ({"action": "draw", "tile": "1-2"}, (422, "invalid")),
        ({"action": "knock"}, (422, "invalid")),
    ],
)
def test_a_refused_play_has_the_code_of_its_reason(
    api: Api, server: redis.Redis, move: dict[str, Any], wanted: tuple[int, str]
) -> None:
    table = api.create("domino", 2, deals=[deal("domino", "1-1 …", "1-2 4-5 …", stock=f"{DOUBLES} 1-3")])
    make_moves(api, table, "1-1")
    assert_refused(api, server, (table, 1), move, wanted)


def test_a_tile_that_must_be_led_is_the_only_one_that_may_be(api: Api, server: redis.Redis) -> None:
    table = api.create("fido", 3, deals=[deal("fido", "12-12 11-11 …", "…", "…")])
    assert_refused(api, server, (table, 0), {"action": "play", "tile": "11-11"}, (409, "illegal_move"))
    assert_refused(api, server, (table, 0), {"action": "play", "tile": "12-12", "end": "e1"}, (409, "illegal_move"))


def test_drawing_and_passing_are_refused_while_a_tile_fits(api: Api, server: redis.Redis) -> None:
    table = api.create("domino", 2, deals=[deal("domino", "1-1 …", "1-2 …", stock=DOUBLES)])
    make_moves(api, table, "1-1")
    for action in ("draw", "pass"):
        assert_refused(api, server, (table, 1), {"action": action}, (409, "illegal_move"))


# Rounds


@pytest.mark.parametrize("variant", variants())
def test_every_player_who_is_in_may_deal_the_next_round(
    api: Api, server: redis.Redis, saved_games: SavedGames, variant: str
) -> None:
    saved_game = saved_games.at(variant, "round_over")
    for seat in saved_game.table.tokens:
        restore(server, saved_game.table.id, saved_game.snapshot)
        made = api.move(saved_game.table, seat, {"action": "deal"})
        assert made.status_code == 201
        assert made.json is not None
        assert (made.json["status"], made.json["round"]) == ("playing", 2)
        assert made.json["version"] == saved_game.snapshot.version + 1


def test_the_second_deal_of_the_same_round_is_refused(api: Api, saved_games: SavedGames) -> None:
    table = saved_games.at("domino", "round_over").table
    moves = {seat: api.moves(table, seat)[0] for seat in table.tokens}
    assert api.move(table, 0, moves[0]).status_code == 201
    assert status_and_code(api.move(table, 1, moves[1])) == (412, "stale_version")
    assert api.move(table, 1, {"action": "deal"}).status_code == 409


def test_a_player_out_of_the_match_cannot_deal(api: Api, server: redis.Redis, saved_games: SavedGames) -> None:
    saved_game = saved_games.at("menschenwolf", "player_out")
    players = api.view(saved_game.table)["players"]
    gone = next(player["seat"] for player in players if not player["in"])
    assert_refused(api, server, (saved_game.table, gone), {"action": "deal"}, (409, "not_in_match"))


def test_a_seat_out_of_the_round_in_dominospiel_waits_for_the_others(api: Api, server: redis.Redis) -> None:
    table = api.create("dominospiel", 3, seed=SEED)
    view = api.play_until(
        table,
        lambda view: any(not player["tiles"] for player in view["players"]) and view["status"] == "playing",
        Random(SEED),
    )
    out = next(player["seat"] for player in view["players"] if not player["tiles"])
    assert view["players"][out]["in"] is True
    assert_refused(api, server, (table, out), {"action": "pass"}, (409, "not_your_turn"))
