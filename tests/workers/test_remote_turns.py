"""One turn of a remote player: the messages, the tries, and what follows from the answers."""

from __future__ import annotations

import json
from base64 import b64encode
from functools import partial
from typing import Any

import orjson
import pytest
import yaml
from jsonschema import Draft202012Validator  # type: ignore[import-untyped] # its types are a package of their own

from service.backends.remote_players import message_id
from service.engine.presence import TimedOut
from service.games.commands.erasure import decide_to_erase
from service.games.model.clock import ClockSettings
from service.games.model.seats import Seats
from service.web.moves.remote_messages import MAX_ANSWER_BYTES
from service.workers.player_challenges import PlayerAnswer
from service.workers.remote_turns import RETRY_SECONDS, TRIES
from tests.support.background import ROOT
from tests.workers.remote_tables import Asked, Behaviour, RemoteTable, first_move, nothing, says

pytestmark = pytest.mark.gate

PASS = orjson.dumps({"action": "pass"})
REFUSED: dict[str, tuple[Behaviour, str]] = {
    "illegal": (says(200, PASS), "illegal_move"),
    "a deal": (says(200, b'{"action": "deal"}'), "illegal_move"),
    "an unknown action": (says(200, b'{"action": "fly"}'), "invalid"),
    "an unknown field": (says(200, b'{"action": "pass", "why": 1}'), "invalid"),
    "another version": (says(200, b'{"action": "pass", "version": 1}'), "stale_version"),
    "a version to come": (says(200, b'{"action": "pass", "version": 999}'), "stale_version"),
    "a list": (says(200, b"[]"), "invalid"),
    "a text": (says(200, b'"pass"'), "invalid"),
    "nothing": (says(200), "malformed"),
    "no JSON": (says(200, b"<html>"), "malformed"),
    "no UTF-8": (says(200, b'{"action": "\xff"}'), "malformed"),
    "a key twice": (says(200, b'{"action": "pass", "action": "pass"}'), "malformed"),
    "deep": (says(200, b"[" * 1000), "malformed"),
    "a seed": (says(200, b'{"action": "pass", "client_seed": "luck"}'), "invalid"),
}
FAILED: dict[str, Behaviour] = {
    "no answer": nothing,
    "500": says(500, PASS),
    "404": says(404),
    "410": says(410),
    "a redirect": says(307, PASS),
    "not modified": says(304),
}


def illegal(_: Asked) -> PlayerAnswer:
    return PlayerAnswer(200, PASS)


@pytest.mark.parametrize("status", [200, 201, 202])
def test_the_answer_is_made_as_a_move_of_the_seat(status: int) -> None:
    table = RemoteTable(lambda asked: first_move(asked)._replace(status=status))
    game_id = table.new()
    turn = table.turn(game_id)
    assert table.make(game_id) == "moved"
    (asked,) = table.bot.asked
    assert asked.remote == table.game(game_id).seats[turn.seat].remote
    assert asked.id == message_id(turn)
    played = table.events(game_id)[2]
    assert played.tile.name == asked.data["view"]["legal_moves"][0]["tile"]  # type: ignore[union-attr]
    assert played.seat == turn.seat  # type: ignore[union-attr]
    assert table.count("remote_answers_total", outcome="move") == 1


def test_a_message_has_the_view_of_the_seat_as_the_bearer_of_its_token_gets_it() -> None:
    table = RemoteTable()
    game_id = table.new(clock=ClockSettings(turn=60_000))
    turn = table.turn(game_id)
    table.make(game_id)
    body = table.bot.asked[0].body
    message = json.loads(body)
    assert set(message) == {"type", "timestamp", "data"}
    assert message["type"] == "game.move"
    assert message["timestamp"] == message["data"]["view"]["updated_at"]
    assert set(message["data"]) == {"game", "seat", "version", "deadline", "view"}
    assert message["data"]["game"] == game_id
    assert message["data"]["seat"] == turn.seat
    assert message["data"]["version"] == turn.game.version
    assert message["data"]["deadline"] == message["data"]["view"]["turn"]["deadline"]


def test_the_view_in_a_message_is_byte_for_byte_the_answer_to_a_get_with_the_token() -> None:
    table = RemoteTable()
    game_id = table.new("xxx", "fido")
    seen = 0
    while table.game(game_id).status == "playing":
        turn = table.turn(game_id)
        headers = {"Authorization": f"Bearer {table.tokens[turn.seat]}"}
        view = table.http.get(f"/v1/games/{game_id}", headers=headers).data
        table.make(game_id)
        assert b'"view":' + view + b"}}" in table.bot.asked[-1].body
        seen += 1
    assert seen > 10


def test_a_message_tells_nothing_that_the_seat_may_not_know() -> None:
    """Whatever the other hands, the stock, the seed and the tokens are, the messages are the same."""
    table = RemoteTable()
    hands = 0
    for key, seats in (("domino", "xxp"), ("fido", "xpp"), ("homo-homini-lupus", "xppp")):
        game_id = table.new(seats, key, seed=None)
        game = table.game(game_id)
        while game.state.turn != 0:
            seat = game.state.turn
            assert seat is not None
            headers = {"Authorization": f"Bearer {table.tokens[seat]}"}
            path = f"/v1/games/{game_id}/moves"
            table.http.post(path, json=table.http.get(path, headers=headers).json["moves"][0], headers=headers)  # type: ignore[index]
            game = table.game(game_id)
        table.make(game_id)
        body = table.bot.asked[-1].body.decode()
        assert all(secret not in body for secret in table.tokens.values())
        assert game.seats[0].remote is not None
        assert b64encode(game.seats[0].remote.secret).decode() not in body
        assert "bots.example" not in body
        assert game.deck.seed.hex() not in body
        view = json.loads(body)["data"]["view"]
        told = set(view["you"]["hand"]) | {each["tile"] for each in view["board"]["tiles"]}
        named = set(_tiles_in(view))
        hidden = {tile.name for seat, hand in enumerate(game.state.hands) if seat for tile in hand}
        hidden |= {tile.name for tile in game.state.stock}
        assert named <= told
        assert not named & hidden
        hands += len(hidden)
    assert hands > 60


def _tiles_in(value: Any) -> list[str]:
    """Every text that may be the name of a tile."""
    if isinstance(value, dict):
        return [tile for each in value.values() for tile in _tiles_in(each)]
    if isinstance(value, list):
        return [tile for each in value for tile in _tiles_in(each)]
    is_tile = isinstance(value, str) and value.count("-") == 1 and value.replace("-", "").isdecimal()
    return [value] if is_tile else []


def test_messages_are_as_the_document_describes_them() -> None:
    document = yaml.safe_load((ROOT / "openapi.yaml").read_text())
    schema = {"$ref": "#/components/schemas/MoveMessage", "components": document["components"]}
    validator = Draft202012Validator(schema)
    table = RemoteTable(illegal, says(200, b"[]"))
    table.make(table.new("xx", "domino", clock=ClockSettings(turn=60_000)))
    table.make(table.new("xxx", "fido"))
    messages = [json.loads(asked.body) for asked in table.bot.asked]
    assert ["problem" in each["data"] for each in messages] == [False, True, True, False]
    assert [error.message for each in messages for error in validator.iter_errors(each)] == []
    assert document["webhooks"]["game.move"]["post"]["requestBody"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/MoveMessage"
    }


def test_without_a_clock_there_is_no_deadline() -> None:
    table = RemoteTable()
    table.make(table.new())
    assert "deadline" not in table.bot.asked[0].data


@pytest.mark.parametrize("name", REFUSED)
def test_an_answer_that_is_no_legal_move_is_asked_for_again_with_the_problem_of_a_post(name: str) -> None:
    behaviour, code = REFUSED[name]
    table = RemoteTable(behaviour)
    game_id = table.new(seed=None)
    turn = table.turn(game_id)
    posted = table.http.post(
        f"/v1/games/{game_id}/moves",
        data=behaviour(None).body,  # type: ignore[arg-type] # what is said does not depend on what was asked
        headers={"Authorization": f"Bearer {table.tokens[turn.seat]}", "Content-Type": "application/json"},
    )
    assert posted.status_code >= 400
    assert table.make(game_id) == "moved"
    first, second = table.bot.asked
    assert first.id == second.id
    assert "problem" not in first.data
    assert second.data["problem"]["code"] == code
    assert b'"problem":' + posted.data + b"}}" in second.body
    assert table.slept == []
    assert not [event for event in table.events(game_id) if isinstance(event, TimedOut)]


@pytest.mark.parametrize("body", [says(200, b" " * (MAX_ANSWER_BYTES + 1)), says(200, PASS, complete=False)])
def test_an_answer_of_more_than_64_kib_is_refused(body: Behaviour) -> None:
    table = RemoteTable(body)
    assert table.make(table.new()) == "moved"
    problem = table.bot.asked[1].data["problem"]
    assert (problem["status"], problem["code"], problem["params"]) == (413, "too_large", {"max": MAX_ANSWER_BYTES})


@pytest.mark.parametrize("name", FAILED)
def test_without_an_answer_the_next_try_comes_a_little_later_and_has_no_problem(name: str) -> None:
    table = RemoteTable(FAILED[name])
    game_id = table.new()
    assert table.make(game_id) == "moved"
    assert "problem" not in table.bot.asked[1].data
    (pause,) = table.slept
    assert RETRY_SECONDS - 1 < pause <= RETRY_SECONDS


@pytest.mark.parametrize("behaviour", [nothing, illegal, says(500)])
def test_after_three_tries_a_computer_player_makes_this_turn(behaviour: Behaviour) -> None:
    table = RemoteTable(*[behaviour] * TRIES)
    game_id = table.new()
    seat = table.turn(game_id).seat
    assert table.make(game_id) == "given_up"
    assert len(table.bot.asked) == TRIES
    assert len({each.id for each in table.bot.asked}) == 1
    assert table.events(game_id)[-1] == TimedOut(seat, "move")
    assert table.count("remote_turns_given_up_total") == 1
    while table.players.next_turn(game_id) is None:
        table.now += 1
        table.step()
    assert table.make(game_id) == "moved"
    assert table.bot.asked[-1].id != table.bot.asked[0].id


def test_a_remote_player_that_moves_by_itself_is_left_alone() -> None:
    table = RemoteTable(says(204))
    game_id = table.new()
    turn = table.turn(game_id)
    assert table.make(game_id) == "own"
    assert table.game(game_id).version == turn.game.version
    assert table.count("remote_answers_total", outcome="own") == 1


def test_where_the_move_was_posted_meanwhile_the_turn_is_over() -> None:
    table = RemoteTable()
    game_id = table.new()

    def posts(asked: Asked) -> PlayerAnswer:
        headers = {"Authorization": f"Bearer {table.tokens[asked.data['seat']]}"}
        move = asked.data["view"]["legal_moves"][0]
        assert table.http.post(f"/v1/games/{game_id}/moves", json=move, headers=headers).status_code == 201
        return first_move(asked)

    table.bot.behaviours = [posts]
    assert table.make(game_id) == "over"
    assert len(table.bot.asked) == 1
    table = RemoteTable(illegal, illegal)
    game_id = table.new()
    table.bot.behaviours.append(posts)
    assert table.make(game_id) == "over"


def test_the_answer_of_a_player_who_was_erased_meanwhile_is_not_made() -> None:
    """A seat that the erasure has left to a computer player stays with it."""
    game_ids: list[str] = []

    def erased(asked: Asked) -> PlayerAnswer:
        game = table.game(game_ids[0])
        seat = table.turn(game.id).seat
        seats = [each._replace(ref="bot-1") if at == seat else each for at, each in enumerate(game.seats)]
        table.repository.transact(game._replace(seats=Seats(seats)), partial(decide_to_erase, "bot-1"))
        return first_move(asked)

    table = RemoteTable(erased)
    game_ids.append(table.new())
    seat = table.turn(game_ids[0]).seat
    assert table.make(game_ids[0]) == "over"
    game = table.game(game_ids[0])
    assert seat in game.presence.away
    assert not game.state.layout.placements


def test_a_move_without_a_version_is_meant_for_the_one_that_was_asked_for() -> None:
    def without_version(asked: Asked) -> PlayerAnswer:
        move = dict(asked.data["view"]["legal_moves"][0])
        del move["version"]
        return PlayerAnswer(200, orjson.dumps(move))

    table = RemoteTable(without_version)
    assert table.make(table.new()) == "moved"


@pytest.mark.parametrize("key", ["homo-homini-lupus", "menschenwolf", "fido", "dominospiel", "domino"])
def test_remote_players_play_a_match_of_every_game_to_its_end(key: str) -> None:
    table = RemoteTable()
    game_id = table.new("xgx" if key == "fido" else "xxxx" if key == "homo-homini-lupus" else "xg", key)
    for _ in range(20_000):
        if table.game(game_id).status == "finished":
            break
        table.now += 1
        table.remote_worker.step()
        table.step()
    assert table.game(game_id).status == "finished"
    assert table.count("remote_answers_total", outcome="move") == len(table.bot.asked) > 10
    assert table.count("remote_turns_given_up_total") == 0
