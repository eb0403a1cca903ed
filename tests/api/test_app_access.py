"""The keys of applications: where they count, and what a wrong one gets."""

from __future__ import annotations

import pytest

from service.backends.facade import BackendsFacade
from tests.api.client import Api, Table, status_and_code

pytestmark = pytest.mark.gate

SPECTATORS_PATHS = ("", "/moves", "/score", "/events", "/fairness", "/record", "/board.json")


def owned(api: Api, key: str, **more: object) -> Table:
    """A game of two people that belongs to the application of this key."""
    players = [{"name": "Ada", "ref": "user-ada"}, {"name": "Bob", "ref": "user-bob"}]
    answer = api.post("/v1/games", {"variant": "domino", "players": players, "ref": "match-1", **more}, token=key)
    assert answer.status_code == 201, answer.text
    return Table(api, answer.get_json())


@pytest.mark.parametrize("path", SPECTATORS_PATHS)
def test_an_application_reads_its_own_game_as_a_spectator(api: Api, app_key: str, path: str) -> None:
    table = owned(api, app_key)
    assert api.get(table.path + path, token=app_key).status_code == 200


@pytest.mark.parametrize("path", SPECTATORS_PATHS)
def test_the_key_of_another_application_is_a_wrong_token(api: Api, app_key: str, other_key: str, path: str) -> None:
    table, nobodys = owned(api, app_key), api.create("domino", 2)
    for game in (table.path, nobodys.path, f"/v1/games/{'A' * 24}"):
        answer = api.get(game + path, token=other_key)
        assert (*status_and_code(answer), answer.get_json()["reason"]) == (401, "unauthorized", "unknown_key")


def test_every_refused_key_gets_the_same_answer(api: Api, app_key: str, other_key: str) -> None:
    table = owned(api, app_key)
    wrong = [
        "app_",
        "app_x",
        app_key[:-1],
        app_key + "A",
        app_key[:-43] + other_key[-43:],
        other_key[:-43] + app_key[-43:],
        "app_" + "A" * 24 + app_key[28:],
        other_key,
    ]
    answers = {api.get(table.path, token=key).data for key in wrong}
    assert len(answers) == 1


def test_a_key_makes_no_moves(api: Api, app_key: str) -> None:
    table = owned(api, app_key)
    body = {"action": "pass"}
    assert status_and_code(api.post(f"{table.path}/moves", body, token=app_key)) == (401, "unauthorized")
    assert status_and_code(api.post(f"{table.path}/claims", {"seat": 1}, token=app_key)) == (401, "unauthorized")


def test_a_wrong_key_creates_no_game(api: Api, app_key: str) -> None:
    body = {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bob"}]}
    for key in ("app_", app_key[:-1], "something", "seat"):
        assert status_and_code(api.post("/v1/games", body, token=key)) == (401, "unauthorized")
    assert api.post("/v1/games", body, token=api.create("domino", 2).tokens[0]).status_code == 201


def test_a_key_in_another_header_is_refused_and_not_taken_for_none(api: Api, app_key: str) -> None:
    body = {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bob"}]}
    answer = api.post("/v1/games", body, headers={"X-API-Key": app_key})
    assert (*status_and_code(answer), answer.get_json()["reason"]) == (401, "unauthorized", "token_misplaced")
    table = owned(api, app_key)
    assert api.get(table.path, headers={"X-API-Key": app_key}).get_json()["reason"] == "token_misplaced"


def test_a_key_in_the_query_is_refused(api: Api, app_key: str) -> None:
    table = owned(api, app_key)
    answer = api.get(f"{table.path}?token={app_key}")
    assert (*status_and_code(answer), answer.get_json()["reason"]) == (422, "invalid", "token_in_query")
    assert app_key not in answer.text


def test_a_revoked_key_is_refused_at_once_where_it_was_revoked(
    api: Api, backends: BackendsFacade, app_key: str
) -> None:
    table, app = owned(api, app_key), app_key[4:28]
    assert api.get(table.path, token=app_key).status_code == 200
    backends.keys.revoke(app, app_key[-6:])
    assert api.get(table.path, token=app_key).status_code == 401


def test_a_new_key_is_accepted_at_once_everywhere(api: Api, backends: BackendsFacade, app_key: str) -> None:
    table, app = owned(api, app_key), app_key[4:28]
    assert api.get(table.path, token=app_key).status_code == 200  # the application is cached now
    new, _ = backends.keys.rotate(app)
    assert api.get(table.path, token=new.key).status_code == 200
    assert api.get(table.path, token=app_key).status_code == 200
