"""``POST /v1/games/{game}/players`` and ``/v1/seats``: an open seat is taken with the join code."""

from __future__ import annotations

from typing import Any

import pytest
import redis
from werkzeug.test import TestResponse

from service.engine.variants import variants
from service.games.model.tokens import hash_secret
from service.redis import keys
from service.redis.shards import shard_of
from tests.api.client import Api, Table, location_of
from tests.api.saved_games import unchanged

OPEN: list[dict[str, Any]] = [{"open": True}, {"name": "Ada"}, {"open": True}]


def said(answer: TestResponse) -> Any:
    return answer.json


@pytest.fixture
def table(api: Api) -> Table:
    return api.create("domino", OPEN)


def test_joining_takes_the_first_open_seat_and_returns_its_token(api: Api, table: Table) -> None:
    answer = api.join(table, "Bo")
    joined = answer.get_json()
    table.tokens[0] = joined["token"]
    assert joined == {"seat": 0, "name": "Bo", "token": joined["token"], "game": api.view(table, 0)}
    assert joined["game"]["you"]["seat"] == 0
    assert (answer.status_code, location_of(answer), answer.headers["Cache-Control"]) == (201, table.path, "no-store")


def test_a_seat_taken_is_one_event_and_the_game_still_waits_for_the_next(api: Api, table: Table) -> None:
    game = said(api.join(table, "Bo"))["game"]
    assert (game["status"], game["version"], game["round"]) == ("waiting", 2, 0)
    names = [(player["kind"], player.get("name")) for player in game["players"]]
    assert names == [("human", "Bo"), ("human", "Ada"), ("open", None)]


@pytest.mark.parametrize("variant", variants())
def test_the_first_round_is_dealt_when_the_last_seat_is_taken(api: Api, variant: str) -> None:
    seats = variants()[variant].players.low
    table = api.create(variant, [{"open": True}] * seats)
    for _ in range(seats):
        before = api.view(table)
        assert before["status"] == "waiting"
        game = api.take_seat(table)["game"]
    assert (game["status"], game["version"]) == ("playing", before["version"] + 2), "joined, and dealt"
    assert len(game["you"]["hand"]) == game["players"][0]["tiles"] > 0


def test_every_seat_has_a_token_of_its_own(api: Api, table: Table) -> None:
    for _ in range(2):
        api.take_seat(table)
    assert len(set(table.tokens.values())) == 3
    assert [api.view(table, seat)["you"]["seat"] for seat in range(3)] == [0, 1, 2]


def test_the_right_join_code_gets_seats_taken_when_no_seat_is_open(api: Api, server: redis.Redis, table: Table) -> None:
    api.join(table)
    api.join(table)
    with unchanged(server, table):
        answer = api.join(table)
        assert (answer.status_code, said(answer)["code"]) == (409, "seats_taken")


def test_a_wrong_code_is_forbidden_whether_a_seat_is_open_or_not(api: Api, server: redis.Redis, table: Table) -> None:
    other = api.create("domino", OPEN)
    closed = api.create("domino", 2)
    for place in (table, closed):
        with unchanged(server, place):
            for wrong in (other.join_code, "x", f"{table.join_code}2", " - ", "\u00e9", "a\0b"):
                answer = api.post(f"{place.path}/players", {"name": "Eve", "join_code": wrong})
                assert (answer.status_code, said(answer)["code"]) == (403, "forbidden")


@pytest.mark.parametrize("key", [None, "the-key-of-a-request"])
@pytest.mark.parametrize("spectators", [True, False])
def test_the_code_alone_takes_all_open_seats(
    api: Api, server: redis.Redis, key: str | None, *, spectators: bool
) -> None:
    table = api.create("domino", OPEN, spectators=spectators)
    code = str(table.join_code)
    written = [f" {code[:4]}-{code[4:]}".lower(), code]
    for seat, each in zip((0, 2), written, strict=True):
        headers = {"Idempotency-Key": f"{key}-{seat}"} if key else {}
        answer = api.post("/v1/seats", {"name": "Bo", "join_code": each}, headers=headers)
        assert (answer.status_code, said(answer)["seat"]) == (201, seat)
        assert location_of(answer) == table.path
    with unchanged(server, table):
        again = api.post("/v1/seats", {"name": "Bo", "join_code": code}, headers=headers)
        assert (again.status_code, said(again).get("token")) == ((201, said(answer)["token"]) if key else (403, None))
        shard = shard_of(table.id)
        assert shard is not None
        assert not server.exists(keys.join_code(shard, hash_secret(code)))


def test_a_code_that_leads_to_no_open_seat_is_forbidden_whatever_the_reason(api: Api, app_key: str) -> None:
    old, deleted = (api.create("domino", OPEN, key=app_key) for _ in range(2))
    api.post(f"{old.path}/join-code", {}, token=app_key)
    api.ask("DELETE", deleted.path, token=app_key)
    for code in (old.join_code, deleted.join_code, "ACDEFGHJ", "x", "", "\u00e9", "a\0b"):
        answer = api.post("/v1/seats", {"name": "Eve", "join_code": code or "-"}, headers={"Idempotency-Key": "k" * 16})
        assert (answer.status_code, said(answer)["reason"]) == (403, "unknown_join_code"), code


def test_a_seat_cannot_move_before_all_seats_are_taken(api: Api, server: redis.Redis, table: Table) -> None:
    with unchanged(server, table):
        for action in ("draw", "deal", "pass"):
            answer = api.move(table, 1, {"action": action})
            assert (answer.status_code, said(answer)["code"]) == (409, "not_started")
            assert said(answer)["legal_moves"] == []


def test_the_holder_of_a_seat_may_take_another_one_with_the_join_code(api: Api, table: Table) -> None:
    body = {"name": "Ada again", "join_code": table.join_code}
    answer = api.post(f"{table.path}/players", body, token=table.tokens[1])
    assert answer.status_code == 201
    assert said(answer)["seat"] == 0


def test_errors_of_a_join_are_checked_in_the_documented_order(api: Api) -> None:
    full = api.create("domino", [{"name": "Ada"}, {"open": True}])
    api.join(full)
    right = {"name": "Bo", "join_code": full.join_code}
    path = f"{full.path}/players"
    cases: list[tuple[int, str, dict[str, Any]]] = [
        (401, path, {"token": "wrong", "data": "{", "content_type": "text/plain"}),
        (401, f"/v1/games/{'A' * 24}/players", {"token": "wrong", "json": right}),
        (404, "/v1/games/nowhere/players", {"data": "{", "content_type": "text/plain"}),
        (403, path, {"json": {"name": "", "join_code": "WRONG", "colour": 1}}),
        (415, path, {"data": "{" * 300_000, "content_type": "text/plain"}),
        (413, path, {"data": "{" * 300_000, "content_type": "application/json"}),
        (400, path, {"data": "{", "content_type": "application/json"}),
        (422, path, {"json": right | {"name": ""}}),
        (422, path, {"json": right | {"colour": 1}}),
        (422, path, {"json": {"name": "Bo"}}),
        (422, path, {"json": {"name": "Bo", "join_code": 1}}),
        (409, path, {"json": right}),
    ]
    statuses = [api.ask("POST", where, **request).status_code for _, where, request in cases]
    assert statuses == [status for status, _, _ in cases]
