"""Applications over HTTP: what they are told of themselves, and their keys."""

from __future__ import annotations

from typing import Any

import pytest
import redis
from flask import Flask

from service.backends.facade import BackendsFacade
from service.backends.keys import CACHE_SECONDS, MAX_KEYS, Backends
from service.games.facade import GamesFacade
from service.games.model.errors import Unauthorized
from service.games.model.views import format_rfc3339
from service.redis import keys as storage_keys
from service.redis.connection import connect
from service.redis.topology import SingleNodeTopology
from tests.api.client import Api, status_and_code
from tests.api.timed import SettableClock
from tests.support.application import build_backends, create_app

pytestmark = pytest.mark.gate


def api_of(games: GamesFacade, backends: BackendsFacade) -> Api:
    return Api(create_app(games, backends=backends).test_client(use_cookies=False))


def test_an_application_sees_its_key_at_once(api: Api, backends: BackendsFacade) -> None:
    made = backends.keys.create("Café Club")
    seen = api.get("/v1/app", token=made.key).get_json()
    created_at = format_rfc3339(made.backend.created_at)
    assert seen == {
        "id": made.backend.id,
        "name": "Café Club",
        "created_at": created_at,
        "keys": [{"suffix": made.key[-6:], "created_at": created_at}],
        "usage": {"games": 0, "bytes": 0, "messages": 0},
        "limits": seen["limits"],
    }


def test_no_key_is_stored(app_key: str, server: redis.Redis) -> None:
    secret = app_key[29:]
    assert secret not in str(server.get(storage_keys.application(app_key[4:28])))
    for name in server.scan_iter("domino:*"):
        if server.type(name) == b"string":
            assert app_key not in str(server.get(name))


def test_a_new_key_counts_beside_the_old_one_for_the_overlap(api: Api, app_key: str) -> None:
    answer = api.post("/v1/app/keys", {"overlap": 60}, token=app_key)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (201, "no-store")
    new = answer.get_json()
    assert new["key"][-6:] == new["suffix"]
    assert "expires_at" not in new
    for key in (app_key, new["key"]):
        first, second = api.get("/v1/app", token=key).get_json()["keys"]
        assert first["suffix"] == app_key[-6:]
        assert first["expires_at"] > first["created_at"]
        assert second == {"suffix": new["suffix"], "created_at": new["created_at"]}


def test_with_no_overlap_the_old_key_is_refused_at_once(api: Api, app_key: str) -> None:
    new = api.post("/v1/app/keys", {"overlap": 0}, token=app_key).get_json()["key"]
    assert status_and_code(api.get("/v1/app", token=app_key)) == (401, "unauthorized")
    assert [each["suffix"] for each in api.get("/v1/app", token=new).get_json()["keys"]] == [new[-6:]]


def test_without_a_body_the_overlap_is_a_day(api: Api, app_key: str) -> None:
    answer = api.ask("POST", "/v1/app/keys", token=app_key)
    assert answer.status_code == 201
    first = api.get("/v1/app", token=app_key).get_json()["keys"][0]
    assert first["expires_at"][:10] > first["created_at"][:10]


@pytest.mark.parametrize("overlap", [-1, 2_592_001, "60", 1.5, None, True, [60]], ids=repr)
def test_an_overlap_is_a_number_of_seconds(api: Api, app_key: str, overlap: Any) -> None:
    answer = api.post("/v1/app/keys", {"overlap": overlap}, token=app_key)
    assert status_and_code(answer) == (422, "invalid")
    assert len(api.get("/v1/app", token=app_key).get_json()["keys"]) == 1


def test_an_application_has_a_limited_number_of_keys(api: Api, app_key: str) -> None:
    for _ in range(MAX_KEYS - 1):
        assert api.post("/v1/app/keys", {}, token=app_key).status_code == 201
    answer = api.post("/v1/app/keys", {}, token=app_key)
    assert (*status_and_code(answer), answer.get_json()["reason"]) == (409, "limit_reached", "too_many_keys")
    suffix = api.get("/v1/app", token=app_key).get_json()["keys"][-1]["suffix"]
    assert api.ask("DELETE", f"/v1/app/keys/{suffix}", token=app_key).status_code == 204
    assert api.post("/v1/app/keys", {}, token=app_key).status_code == 201


def test_a_revoked_key_is_refused(api: Api, app_key: str) -> None:
    new = api.post("/v1/app/keys", {}, token=app_key).get_json()["key"]
    assert api.ask("DELETE", f"/v1/app/keys/{app_key[-6:]}", token=new).status_code == 204
    assert status_and_code(api.get("/v1/app", token=app_key)) == (401, "unauthorized")
    assert status_and_code(api.ask("DELETE", f"/v1/app/keys/{app_key[-6:]}", token=new)) == (404, "not_found")


def test_the_keys_of_a_suspended_application_are_refused_and_its_game_goes_on(
    api: Api, backends: BackendsFacade
) -> None:
    made = backends.keys.create("Club")
    wanted = {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bo"}]}
    game = api.post("/v1/games", wanted, token=made.key).get_json()
    backends.keys.change(made.backend.id, lambda before: before._replace(suspended=True))
    for refused in (
        api.post("/v1/games", wanted, token=made.key),
        api.get("/v1/app", token=made.key),
        api.post("/v1/app/keys", {}, token=made.key),
    ):
        assert status_and_code(refused) == (401, "unauthorized")
        assert refused.get_json()["reason"] == "app_suspended"
    wrong = api.get("/v1/app", token=made.key[:-6] + "AAAAAA")
    assert wrong.get_json()["reason"] == "unknown_key", "only who has a valid key is told"
    token = game["seats"][game["game"]["turn"]["seat"]]["token"]
    path = f"/v1/games/{game['game']['id']}"
    move = api.get(f"{path}/moves", token=token).get_json()["legal_moves"][0]
    assert api.post(f"{path}/moves", move, token=token).status_code == 201
    backends.keys.change(made.backend.id, lambda before: before._replace(suspended=False))
    assert api.get("/v1/app", token=made.key).status_code == 200


def test_nobody_revokes_the_key_of_another_application(api: Api, app_key: str, other_key: str) -> None:
    assert status_and_code(api.ask("DELETE", f"/v1/app/keys/{other_key[-6:]}", token=app_key)) == (404, "not_found")
    assert api.get("/v1/app", token=other_key).status_code == 200


@pytest.mark.parametrize("suffix", ["______", "%00", "%F0%9F%80%B1", "x" * 1000, "..", "%2e%2e"])
def test_a_suffix_that_is_none_is_not_found(api: Api, app_key: str, suffix: str) -> None:
    assert status_and_code(api.ask("DELETE", f"/v1/app/keys/{suffix}", token=app_key)) == (404, "not_found")


@pytest.mark.parametrize(("method", "path"), [("GET", ""), ("POST", "/keys"), ("DELETE", "/keys/Ab3dEf")])
def test_only_a_key_opens_what_is_the_applications(api: Api, method: str, path: str) -> None:
    seat = api.create("domino", 2).tokens[0]
    arguments: dict[str, Any] = {"json": {}} if method == "POST" else {}
    for token in (None, seat, "app_", "app_" + "A" * 68, "x"):
        answer = api.ask(method, f"/v1/app{path}", token=token, **arguments)
        reason = "no_key" if token is None else "unknown_key"
        assert (*status_and_code(answer), answer.get_json()["reason"]) == (401, "unauthorized", reason)
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    misplaced: tuple[dict[str, Any], ...] = ({"headers": {"X-API-Key": seat}}, {"query_string": {"token": seat}})
    for place in misplaced:
        answer = api.ask(method, f"/v1/app{path}", **arguments, **place)
        assert answer.get_json()["reason"] == "token_misplaced"


def test_a_key_ceases_to_be_valid_when_its_time_is_over(games: GamesFacade, redis_url: str) -> None:
    clock = SettableClock()
    nodes = SingleNodeTopology(connect(redis_url))
    backends = build_backends(nodes, clock=clock)
    api = api_of(games, backends)
    old = backends.keys.create("Club").key
    new = api.post("/v1/app/keys", {"overlap": 60}, token=old).get_json()["key"]
    clock.advance(59.9)
    assert api.get("/v1/app", token=old).status_code == 200
    clock.advance(0.1)
    assert api.get("/v1/app", token=old).status_code == 401
    assert [each["suffix"] for each in api.get("/v1/app", token=new).get_json()["keys"]] == [new[-6:]]


def test_a_key_that_another_process_revoked_is_used_while_it_is_cached_and_no_longer(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = SingleNodeTopology(connect(redis_url))
    here, there = build_backends(nodes).keys, build_backends(nodes).keys
    now = 0.0
    monkeypatch.setattr("service.backends.keys.monotonic", lambda: now)
    made = here.create("Club")
    assert here.authenticate(made.key) == made.backend
    there.revoke(made.backend.id, made.record.suffix)
    now = CACHE_SECONDS - 0.1
    assert accepts(here, made.key)
    now = CACHE_SECONDS
    assert not accepts(here, made.key)


def test_a_key_that_another_process_revoked_changes_no_keys_any_more(redis_url: str) -> None:
    nodes = SingleNodeTopology(connect(redis_url))
    here, there = build_backends(nodes).keys, build_backends(nodes).keys
    old = here.create("Club")
    app = old.backend.id
    assert accepts(here, old.key)
    new, _ = there.rotate(app, 0)
    assert accepts(here, old.key)  # for some seconds more
    with pytest.raises(Unauthorized):
        here.rotate(app, presented=old.key)
    with pytest.raises(Unauthorized):
        here.revoke(app, new.record.suffix, presented=old.key)
    assert here.rotate(app, presented=new.key).answer.backend.keys[0].suffix == new.record.suffix


def test_a_key_that_another_process_revoked_makes_no_key_over_http(
    api: Api, backends: BackendsFacade, redis_url: str
) -> None:
    made = backends.keys.create("Club")
    assert api.get("/v1/app", token=made.key).status_code == 200
    there = build_backends(SingleNodeTopology(connect(redis_url))).keys
    new, _ = there.rotate(made.backend.id, 0)
    assert accepts(backends.keys, made.key)
    assert api.delete(f"/v1/app/keys/{new.record.suffix}", token=made.key).status_code == 401
    assert accepts(backends.keys, new.key)
    there.revoke(made.backend.id)
    assert api.post("/v1/app/keys", {"overlap": 60}, token=new.key).status_code == 401


def accepts(backends: Backends, key: str) -> bool:
    try:
        backends.authenticate(key)
    except Unauthorized:
        return False
    return True


def test_only_applications_create_games_where_the_operator_says_so(
    games: GamesFacade, redis_url: str, app_key: str
) -> None:
    backends = build_backends(SingleNodeTopology(connect(redis_url)), needed_for_games=True)
    api = api_of(games, backends)
    body = {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bob"}]}
    created = api.post("/v1/games", body, token=app_key)
    assert created.status_code == 201
    for token in (None, created.get_json()["seats"][0]["token"], "app_x"):
        answer = api.post("/v1/games", body, token=token)
        reason = "no_key" if token is None else "unknown_key"
        assert (*status_and_code(answer), answer.get_json()["reason"]) == (401, "unauthorized", reason)
    answer = api.post("/v1/games?token=x", body)
    assert (*status_and_code(answer), answer.get_json()["reason"]) == (401, "unauthorized", "token_misplaced")


def test_a_service_without_applications_knows_no_key(
    games: GamesFacade, app_key: str, empty_server: redis.Redis
) -> None:
    api = api_of(games, build_backends(SingleNodeTopology(empty_server)))
    assert status_and_code(api.get("/v1/app", token=app_key)) == (401, "unauthorized")


def test_a_key_is_never_taken_for_a_request_id(app: Flask, app_key: str) -> None:
    for given in (app_key[:64], f"x.{app_key}"[:64]):
        answer = app.test_client().get("/healthz", headers={"X-Request-ID": given})
        assert answer.headers["X-Request-ID"] != given
    kept = app.test_client().get("/healthz", headers={"X-Request-ID": "my-app_1"})
    assert kept.headers["X-Request-ID"] == "my-app_1"
