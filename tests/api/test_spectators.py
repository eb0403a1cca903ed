"""A game without spectators: only its seats and its owner read it, and to others it does not exist."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from service.games.facade import GamesFacade
from service.web.http.streams import NDJSON, SSE
from tests.api.client import Api, Table, content_of, refusal, status_and_code
from tests.api.saved_games import shortest
from tests.api.test_whole_app import method_of, operations
from tests.support.application import create_app, rate_limits
from tests.support.table import match_finished, seat_to_move

pytestmark = pytest.mark.gate

NOWHERE = "/v1/games/AAAAAAAAAAAAAAAAAAAAAAAA"
"""The path of a game that never was."""
PEOPLE: list[dict[str, Any]] = [{"name": "Ada", "ref": "user-ada"}, {"name": "Bo"}]
OPEN: list[dict[str, Any]] = [{"name": "Ada"}, {"open": True}]
QUERIES = ("?text=true", "?view=true&text=true", "?after=0&wait=1", "?after=1000000", "?colour=red")
HEADERS: tuple[dict[str, str], ...] = (
    *({"Accept": kind} for kind in ("*/*", "text/plain", "image/svg+xml", SSE, NDJSON, "image/png")),
    {"If-None-Match": "*", "Accept-Language": "de", "Last-Event-ID": "1"},
)


def reading(app: Flask) -> list[str]:
    """The ends of the paths of all operations that read a game, also without a token where it has spectators."""
    found = [rule.rule for rule, each in operations(app) if method_of(rule) == "GET" and each.access == "spectator"]
    assert len(found) >= 9
    return [rule.partition("<game>")[2] for rule in found]


def create(api: Api, key: str | None = None, players: list[dict[str, Any]] = PEOPLE, **more: Any) -> Table:
    body = {"variant": "domino", "players": players, "spectators": False, **more}
    if key is None:
        body["players"] = [{name: value for name, value in each.items() if name != "ref"} for each in players]
    answer = api.post("/v1/games", body, token=key)
    assert answer.status_code == 201, answer.text
    return Table(api, answer.get_json())


def play_out(api: Api, table: Table) -> None:
    """Play a match to its end, each move by what the seat to move reads."""
    view = api.view(table, 0)
    while not match_finished(view):
        seat = seat_to_move(view)
        view = api.move(table, seat, api.moves(table, seat)[0]).get_json()


def stages(api: Api, key: str) -> dict[str, Table]:
    """Games without spectators: of nobody and of an application, waiting, running and finished."""
    finished = create(api, key, options=shortest("domino"))
    play_out(api, finished)
    running = create(api)
    seat = seat_to_move(api.view(running, 0))
    assert api.move(running, seat, api.moves(running, seat)[0]).status_code == 201
    return {"finished": finished, "running": running, "owned": create(api, key), "waiting": create(api, players=OPEN)}


def answers(api: Api, path: str) -> list[tuple[int, list[tuple[str, str]], bytes]]:
    """All that is answered at this path without a token, however it is asked for."""
    return [
        content_of(api.ask_unchecked(method, path + query, headers=headers))
        for query, headers in (*((query, {}) for query in QUERIES), *(("", headers) for headers in HEADERS))
        for method in ("GET", "HEAD")
    ]


def test_every_reading_operation_answers_as_if_there_was_none(
    app: Flask, api: Api, app_key: str, other_key: str
) -> None:
    strangers = (create(api).tokens[0], "seat_of_nobody", other_key)
    for stage, table in stages(api, app_key).items():
        for end in reading(app):
            hidden = answers(api, table.path + end)
            assert hidden == answers(api, NOWHERE + end), (stage, end)
            assert {status for status, _, _ in hidden} == {404}
            for token in strangers:
                refused, nowhere = [api.get(path + end, token=token) for path in (table.path, NOWHERE)]
                assert content_of(refused) == content_of(nowhere)
                assert status_and_code(refused) == (401, "unauthorized")
        for end in ("/hint", "/review"):  # which need a token in any game
            hidden = answers(api, table.path + end)
            assert hidden == answers(api, NOWHERE + end)
            assert {status for status, _, _ in hidden} == {401}
        refused = api.get(table.path)
        assert refusal(refused) == (404, "not_found", "no_such_game")


def test_every_reading_operation_answers_its_seats_and_its_owner(app: Flask, api: Api, app_key: str) -> None:
    for stage, table in stages(api, app_key).items():
        owners = [app_key] if stage in ("finished", "owned") else []
        for end in reading(app):
            for token in (*table.tokens.values(), *owners):
                answer = api.get(table.path + end, token=token)
                assert answer.status_code == 200, (stage, end)
                again = {"If-None-Match": answer.headers.get("ETag", "none")}
                repeated = api.get(table.path + end, token=token, headers=again)
                assert repeated.status_code == (304 if "ETag" in answer.headers else 200)
                hidden, nowhere = (api.get(path + end, headers=again) for path in (table.path, NOWHERE))
                assert content_of(hidden) == content_of(nowhere)


@pytest.mark.parametrize("kind", [SSE, NDJSON])
def test_its_seats_and_its_owner_follow_it(api: Api, app_key: str, kind: str) -> None:
    table = create(api, app_key)
    for token in (app_key, *table.tokens.values()):
        path, headers = f"{table.path}/events?view=true", {"Accept": kind}
        answer = api.ask_unchecked("GET", path, token=token, headers=headers, buffered=False)
        assert answer.status_code == 200
        assert b"created" in b"".join([next(answer.iter_encoded()) for _ in range(2)])
        answer.close()


def test_the_view_tells_that_there_are_no_spectators(api: Api, app_key: str) -> None:
    for table in (create(api), create(api, app_key)):
        assert table.created["game"]["spectators"] is False
        assert [api.view(table, seat)["spectators"] for seat in table.tokens] == [False, False]
    for more in ({}, {"spectators": True}):
        table = api.create("domino", 2, **more)
        assert "spectators" not in api.view(table)


def test_whoever_has_the_join_code_takes_a_seat_and_reads_the_game(api: Api) -> None:
    table = create(api, players=OPEN)
    assert api.get(table.path).status_code == 404
    joined = api.join(table, "Bo")
    assert joined.status_code == 201
    assert joined.get_json()["game"]["spectators"] is False
    assert api.get(table.path, token=joined.get_json()["token"]).status_code == 200
    assert status_and_code(api.join(table, "Cem")) == (409, "seats_taken")


def test_without_the_join_code_there_is_no_game_to_join(api: Api) -> None:
    table = create(api, players=OPEN)
    other = create(api, players=OPEN)
    right = {"name": "Eve", "join_code": table.join_code}
    key = {"Idempotency-Key": "a-key-that-nobody-has-used"}
    sent: list[dict[str, Any]] = [
        {"json": {"name": "Eve", "join_code": other.join_code}},
        {"json": {"name": "", "join_code": "x", "colour": 1}},
        {"json": {"name": "Eve"}},
        {"json": {"name": "Eve", "join_code": ["x"]}},
        {"json": [table.join_code]},
        {"data": "{", "content_type": "application/json"},
        {"data": "{", "content_type": "text/plain"},
        {"data": "{" * 300_000, "content_type": "application/json"},
        {},
        {"json": {"name": "Eve", "join_code": "x"}, "headers": key},
        {"json": {"name": "Eve", "join_code": "x"}, "headers": {"Accept": "image/png"}},
    ]
    for request in sent:
        hidden, nowhere = [api.ask("POST", f"{path}/players", **request) for path in (table.path, NOWHERE)]
        assert content_of(hidden) == content_of(nowhere), request
        assert status_and_code(hidden) == (404, "not_found")
    assert api.post(f"{table.path}/players", right | {"name": ""}).status_code == 422
    assert api.post(f"{table.path}/players", right).status_code == 201


def test_a_repeated_join_is_answered_again_whatever_the_code_is_by_then(api: Api, app_key: str) -> None:
    table = create(api, app_key, [*OPEN, {"open": True}])
    path, body = f"{table.path}/players", {"name": "Bo", "join_code": table.join_code}
    headers = {"Idempotency-Key": "the-key-of-Bo-who-joins"}
    first = api.post(path, body, headers=headers)
    assert first.status_code == 201
    assert api.post(f"{table.path}/join-code", {}, token=app_key).status_code == 201
    again = api.post(path, body, headers=headers)
    assert (again.status_code, again.data) == (201, first.data)
    assert status_and_code(api.post(path, body)) == (404, "not_found")
    assert status_and_code(api.post(path, body | {"name": "Cem"}, headers=headers)) == (422, "key_reused")


def test_nobody_counts_in_a_limit_who_is_told_that_there_is_no_game(games: GamesFacade) -> None:
    """Else the headers of the limit would tell that there is one."""
    api = Api(create_app(games, limits=rate_limits(create=5)).test_client(use_cookies=False))
    table = create(api, players=OPEN)
    for _ in range(9):
        hidden = api.post(f"{table.path}/players", {"name": "Eve", "join_code": "x"})
        assert (hidden.status_code, "RateLimit" in hidden.headers) == (404, False)


def test_a_rematch_has_as_many_spectators_as_the_game_before(api: Api) -> None:
    for more in ({"spectators": False}, {}):
        old = api.create("domino", 2, options=shortest("domino"), **more)
        play_out(api, old)
        new = api.post(f"{old.path}/rematch", {}, token=old.tokens[0]).get_json()
        path = f"/v1/games/{new['game']['id']}"
        assert new["game"].get("spectators", True) is more.get("spectators", True)
        assert api.get(path).status_code == (404 if more else 200)
        assert api.get(path, token=new["token"]).status_code == 200


def test_what_the_lobby_shows_is_told_to_everybody(api: Api, app_key: str, publish: Callable[[], None]) -> None:
    table = create(api, app_key, OPEN, lobby="all")
    publish()
    (shown,) = [each for each in api.get("/v1/lobby").get_json()["games"] if each["id"] == table.id]
    assert api.get(table.path).status_code == 404
    assert api.post(f"{table.path}/players", {"name": "Bo", "join_code": shown["join_code"]}).status_code == 201


def test_a_deleted_game_is_gone_to_everybody(api: Api, app_key: str) -> None:
    table = create(api, app_key)
    assert api.delete(table.path, token=app_key).status_code == 204
    for token in (None, table.tokens[0], app_key):
        assert status_and_code(api.get(table.path, token=token)) == (410, "gone")


def test_a_seat_with_a_new_token_still_reads_it_and_the_old_token_is_refused(api: Api) -> None:
    table = create(api)
    old = table.tokens[0]
    new = api.post(f"{table.path}/players/0/token", {}, token=old).get_json()["token"]
    assert [api.get(table.path, token=token).status_code for token in (old, new)] == [401, 200]
