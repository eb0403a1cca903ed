"""``/v1/games/{game}/moves``: every listed move is legal, and no other.

Which moves are listed is tested in ``tests/engine``, why others are refused in ``test_mistakes``.
"""

from __future__ import annotations

from typing import Any

import pytest
import redis
from werkzeug.test import TestResponse

from tests.api.client import Api, Table, location_of, status_and_code
from tests.api.deals import deal
from tests.api.notation import make_moves
from tests.api.saved_games import SEED, SavedGame, SavedGames, restore, unchanged, variants_in_lane
from tests.support.table import seat_to_move

pytestmark = pytest.mark.quick

DOUBLES = "0-0 2-2 3-3 4-4 5-5 6-6"
"""In the stock, so that 1-1 leads."""
PLAYING = ("dealt", "early", "late", "second_round")


def test_every_listed_move_can_be_posted_back_as_it_is(api: Api, server: redis.Redis, saved_game: SavedGame) -> None:
    listed = [(seat, move) for seat in saved_game.table.tokens for move in api.moves(saved_game.table, seat)]
    for seat, move in listed:
        restore(server, saved_game.table.id, saved_game.snapshot)
        made = api.move(saved_game.table, seat, move)
        assert made.status_code == 201, made.get_json()
        assert made.get_json()["version"] > saved_game.snapshot.version
        if move["action"] == "play":
            laid = made.get_json()["board"]["tiles"][-1]
            assert (laid["tile"], laid["seat"], laid["face_down"]) == (move["tile"], seat, move["face_down"])
        if "ends_sum" in move:
            assert made.get_json()["board"]["ends_sum"] == move["ends_sum"]


@pytest.mark.parametrize("variant", variants_in_lane())
def test_a_made_move_answers_the_game_as_its_mover_now_sees_it(api: Api, saved_games: SavedGames, variant: str) -> None:
    for stage in PLAYING:
        table = saved_games.at(variant, stage).table
        seat = seat_to_move(api.view(table))
        made = api.move(table, seat, api.moves(table, seat)[-1])
        look = api.get(table.path, token=table.tokens[seat])
        assert (made.get_json(), made.headers["ETag"]) == (look.json, look.headers["ETag"])
        assert location_of(made) == table.path
        assert made.headers["Cache-Control"] == "private, no-cache"
        assert made.headers["Vary"] == "Authorization, Accept, Accept-Language"


def test_a_listed_move_is_made_once_and_then_refused_as_stale(api: Api, server: redis.Redis) -> None:
    table = api.create("domino", 2, seed=SEED)
    seat = seat_to_move(api.view(table))
    move = api.moves(table, seat)[0]
    assert api.move(table, seat, move).status_code == 201
    with unchanged(server, table):
        for _ in range(2):
            assert status_and_code(api.move(table, seat, move)) == (412, "stale_version")


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


def test_a_move_by_hand_may_leave_out_what_is_clear(api: Api) -> None:
    """The version, the end where there is one place, and that a tile lies face up."""
    table = api.create("domino", 2, deals=[deal("domino", "1-1 1-2 …", "1-3 2-3 …", stock=DOUBLES)])
    assert api.move(table, 0, {"action": "play", "tile": "1-1"}).status_code == 201
    assert [move["end"] for move in api.moves(table, 1) if move["tile"] == "1-3"] == ["left", "right"]
    assert_reason(api.move(table, 1, {"action": "play", "tile": "1-3"}), "several_ends")
    assert api.move(table, 1, {"action": "play", "tile": "1-3", "end": "right"}).status_code == 201
    made: Any = api.move(table, 0, {"action": "play", "tile": "2-1"}).json
    laid = made["board"]["tiles"][-1]
    assert (laid["tile"], laid["face_down"]) == ("1-2", False)
    assert laid["on"] == {"tile": "1-1", "side": "long"}


def test_14_6_the_half_outside_may_be_left_out_where_there_is_one_way(api: Api) -> None:
    hands = deal("matador", "6-6 1-3 0-4", "1-6 1-4 2-2", hand=3)
    table = api.create("matador", 2, deals=[hands], options={"hand": 3})
    make_moves(api, table, "6-6")
    move = {"action": "play", "tile": "1-6", "end": "left"}
    problem = assert_reason(api.move(table, 1, move), "either_way")
    assert problem["params"] == {"tile": "1-6", "end": "left", "halves": ["1", "6"]}
    assert_reason(api.move(table, 1, {**move, "outer": 2}), "wrong_half_outside")
    assert api.move(table, 1, {**move, "outer": 19}).status_code == 422
    assert api.move(table, 1, {"action": "draw", "outer": 1}).status_code == 422
    made: Any = api.move(table, 1, {"action": "play", "tile": "1-4", "end": "left"}).json
    assert made["board"]["tiles"][-1]["outer"] == 4
    assert [end["number"] for end in made["board"]["ends"]] == [4, 6]


def assert_reason(answer: TestResponse, reason: str) -> dict[str, Any]:
    """Check that the move is illegal for this reason, and return the problem."""
    assert status_and_code(answer) == (409, "illegal_move")
    problem: dict[str, Any] = answer.get_json()
    assert problem["reason"] == reason
    return problem


# Refused


def assert_refused(api: Api, server: redis.Redis, who: tuple[Table, int], move: Any, wanted: tuple[int, str]) -> None:
    """Check that the move is refused like this, with the current legal moves, and that nothing has changed."""
    table, seat = who
    with unchanged(server, table):
        answer = api.move(table, seat, move)
        assert status_and_code(answer) == wanted
    if wanted[0] in (409, 412):
        view = api.view(table, seat)
        assert answer.get_json()["legal_moves"] == view["legal_moves"]
        assert answer.get_json()["version"] == view["version"]


def test_a_move_that_is_not_listed_is_refused_with_the_reason_and_changes_nothing(
    api: Api, server: redis.Redis, saved_game: SavedGame
) -> None:
    view = api.view(saved_game.table)
    for seat in saved_game.table.tokens:
        listed = {move["action"] for move in api.moves(saved_game.table, seat)}
        for action in {"draw", "pass", "done", "flip", "deal"} - listed:
            wanted = code_of_refusal(view, seat, action)
            assert_refused(api, server, (saved_game.table, seat), {"action": action}, (409, wanted))


def code_of_refusal(view: dict[str, Any], seat: int, action: str) -> str:
    """The code of the refusal of this move, which is not listed."""
    if view["status"] in ("playing", "round_over") and not view["players"][seat]["active"]:
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
        ({"action": "play", "tile": "4-5", "end": "left"}, (409, "illegal_move")),
        ({"action": "play", "tile": "1-2", "side": "left"}, (422, "invalid")),
    ],
)
def test_a_refused_play_changes_nothing(
    api: Api, server: redis.Redis, move: dict[str, Any], wanted: tuple[int, str]
) -> None:
    table = api.create("domino", 2, deals=[deal("domino", "1-1 …", "1-2 4-5 …", stock=DOUBLES)])
    make_moves(api, table, "1-1")
    assert_refused(api, server, (table, 1), move, wanted)


# Rounds


@pytest.mark.parametrize("variant", variants_in_lane())
def test_who_is_in_may_deal_the_next_round(
    api: Api, server: redis.Redis, saved_games: SavedGames, variant: str
) -> None:
    saved_game = saved_games.at(variant, "round_over")
    for seat in saved_game.table.tokens:
        restore(server, saved_game.table.id, saved_game.snapshot)
        made = api.move(saved_game.table, seat, {"action": "deal"})
        assert (made.status_code, made.get_json()["status"], made.get_json()["round"]) == (201, "playing", 2)
        assert made.get_json()["version"] == saved_game.snapshot.version + 1


def test_the_second_deal_of_the_same_round_is_refused(api: Api, saved_games: SavedGames) -> None:
    table = saved_games.at("domino", "round_over").table
    moves = {seat: api.moves(table, seat)[0] for seat in table.tokens}
    assert api.move(table, 0, moves[0]).status_code == 201
    assert status_and_code(api.move(table, 1, moves[1])) == (412, "stale_version")
    assert api.move(table, 1, {"action": "deal"}).status_code == 409
