"""The keys of applications: where they count, and what a wrong one gets."""

from __future__ import annotations

import pytest

from service.backends.facade import BackendsFacade
from tests.api.client import Api, Table, refusal, status_and_code

pytestmark = pytest.mark.gate

SPECTATORS_PATHS = ("", "/moves", "/score", "/events", "/fairness", "/record", "/board.json")
ADA_BOB = [{"name": "Ada", "ref": "user-ada"}, {"name": "Bob", "ref": "user-bob"}]


@pytest.fixture
def table(api: Api, app_key: str) -> Table:
    """A game of two people that belongs to the application of this key."""
    return api.create("domino", ADA_BOB, key=app_key, ref="match-1")


@pytest.mark.parametrize("path", SPECTATORS_PATHS)
def test_a_key_reads_the_games_of_its_application_as_a_spectator_and_no_other_one(
    api: Api, app_key: str, other_key: str, table: Table, path: str
) -> None:
    assert api.get(table.path + path, token=app_key).status_code == 200
    for game in (table.path, api.create("domino", 2).path, f"/v1/games/{'A' * 24}"):
        assert refusal(api.get(game + path, token=other_key)) == (401, "unauthorized", "unknown_key")


def test_every_refused_key_gets_the_same_answer(api: Api, app_key: str, other_key: str, table: Table) -> None:
    mixed = [app_key[:-43] + other_key[-43:], other_key[:-43] + app_key[-43:], "app_" + "A" * 24 + app_key[28:]]
    wrong = ["app_", "app_x", app_key[:-1], app_key + "A", *mixed, other_key]
    assert len({api.get(table.path, token=key).data for key in wrong}) == 1


def test_a_key_makes_no_moves(api: Api, app_key: str, table: Table) -> None:
    for path, body in (("/moves", {"action": "pass"}), ("/claims", {"seat": 1})):
        assert status_and_code(api.post(table.path + path, body, token=app_key)) == (401, "unauthorized")


def test_a_wrong_key_creates_no_game(api: Api, app_key: str) -> None:
    for key in ("app_", app_key[:-1], "something", "seat"):
        assert status_and_code(api.try_create("domino", 2, key=key)) == (401, "unauthorized")
    assert api.try_create("domino", 2, key=api.create("domino", 2).tokens[0]).status_code == 201


def test_a_key_in_another_header_or_in_the_query_is_not_taken_for_none(api: Api, app_key: str, table: Table) -> None:
    misplaced = {"headers": {"X-API-Key": app_key}}
    for answer in (api.post("/v1/games", {"variant": "domino"}, **misplaced), api.get(table.path, **misplaced)):
        assert refusal(answer) == (401, "unauthorized", "token_misplaced")
    answer = api.get(f"{table.path}?token={app_key}")
    assert refusal(answer) == (422, "invalid", "token_in_query")
    assert app_key not in answer.text


def test_a_revoked_key_is_refused_at_once(api: Api, backends: BackendsFacade, app_key: str, table: Table) -> None:
    assert api.get(table.path, token=app_key).status_code == 200
    backends.keys.revoke(app_key[4:28], app_key[-6:])
    assert api.get(table.path, token=app_key).status_code == 401


def test_a_new_key_is_accepted_at_once(api: Api, backends: BackendsFacade, app_key: str, table: Table) -> None:
    assert api.get(table.path, token=app_key).status_code == 200  # the application is cached now
    for key in (backends.keys.rotate(app_key[4:28]).answer.key, app_key):
        assert api.get(table.path, token=key).status_code == 200
