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
from tests.api.client import Api, invalid_fields, refusal, status_and_code, told
from tests.api.timed import SettableClock
from tests.support.application import build_backends, create_app

pytestmark = pytest.mark.gate


def api_of(games: GamesFacade, backends: BackendsFacade) -> Api:
    return Api(create_app(games, backends=backends).test_client(use_cookies=False))


def new_key(api: Api, key: str, overlap: int = 86_400) -> dict[str, Any]:
    """A new key beside this one."""
    return told(api.post("/v1/app/keys", {"overlap": overlap}, token=key), 201)


def suffixes(api: Api, key: str) -> list[str]:
    """Those of the keys that are valid."""
    return [each["suffix"] for each in api.get("/v1/app", token=key).get_json()["keys"]]


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
    assert app_key[29:] not in str(server.get(storage_keys.part(b"app", app_key[4:28])))
    for name in server.scan_iter("domino:*"):
        if server.type(name) == b"string":
            assert app_key not in str(server.get(name))


def test_a_new_key_counts_beside_the_old_one_for_the_overlap(api: Api, app_key: str) -> None:
    answer = api.post("/v1/app/keys", {"overlap": 60}, token=app_key)
    new = answer.get_json()
    assert (answer.status_code, answer.headers["Cache-Control"]) == (201, "no-store")
    assert (new["key"][-6:], "expires_at" in new) == (new["suffix"], False)
    for key in (app_key, new["key"]):
        first, second = api.get("/v1/app", token=key).get_json()["keys"]
        assert first["suffix"] == app_key[-6:]
        assert first["expires_at"] > first["created_at"]
        assert second == {"suffix": new["suffix"], "created_at": new["created_at"]}


def test_with_no_overlap_the_old_key_is_refused_at_once(api: Api, app_key: str) -> None:
    new = new_key(api, app_key, 0)["key"]
    assert status_and_code(api.get("/v1/app", token=app_key)) == (401, "unauthorized")
    assert suffixes(api, new) == [new[-6:]]


def test_without_a_body_the_overlap_is_a_day(api: Api, app_key: str) -> None:
    assert api.ask("POST", "/v1/app/keys", token=app_key).status_code == 201
    first = api.get("/v1/app", token=app_key).get_json()["keys"][0]
    assert first["expires_at"][:10] > first["created_at"][:10]


@pytest.mark.parametrize("overlap", [-1, 2_592_001])
def test_an_overlap_is_at_most_thirty_days(api: Api, app_key: str, overlap: int) -> None:
    assert invalid_fields(api.post("/v1/app/keys", {"overlap": overlap}, token=app_key)) == ["overlap"]
    assert suffixes(api, app_key) == [app_key[-6:]]


def test_an_application_has_a_limited_number_of_keys(api: Api, app_key: str) -> None:
    for _ in range(MAX_KEYS - 1):
        new_key(api, app_key)
    assert refusal(api.post("/v1/app/keys", {}, token=app_key)) == (409, "limit_reached", "too_many_keys")
    assert api.delete(f"/v1/app/keys/{suffixes(api, app_key)[-1]}", token=app_key).status_code == 204
    new_key(api, app_key)


def test_a_revoked_key_is_refused(api: Api, app_key: str) -> None:
    new, path = new_key(api, app_key)["key"], f"/v1/app/keys/{app_key[-6:]}"
    assert api.delete(path, token=new).status_code == 204
    assert status_and_code(api.get("/v1/app", token=app_key)) == (401, "unauthorized")
    assert status_and_code(api.delete(path, token=new)) == (404, "not_found")


def test_the_keys_of_a_suspended_application_are_refused_and_games_go_on(api: Api, backends: BackendsFacade) -> None:
    made = backends.keys.create("Club")
    table = api.create("domino", 2, key=made.key)
    backends.keys.change(made.backend.id, lambda before: before._replace(suspended=True))
    for refused in (
        api.try_create("domino", 2, key=made.key),
        api.get("/v1/app", token=made.key),
        api.post("/v1/app/keys", {}, token=made.key),
    ):
        assert refusal(refused) == (401, "unauthorized", "app_suspended")
    wrong = api.get("/v1/app", token=made.key[:-6] + "AAAAAA")
    assert wrong.get_json()["reason"] == "unknown_key", "only who has a valid key is told"
    table.make_legal_move()
    backends.keys.change(made.backend.id, lambda before: before._replace(suspended=False))
    assert api.get("/v1/app", token=made.key).status_code == 200


def test_nobody_revokes_the_key_of_another_application(api: Api, app_key: str, other_key: str) -> None:
    assert status_and_code(api.delete(f"/v1/app/keys/{other_key[-6:]}", token=app_key)) == (404, "not_found")
    assert api.get("/v1/app", token=other_key).status_code == 200


@pytest.mark.parametrize("suffix", ["______", "%00", "%F0%9F%80%B1", "x" * 1000, "..", "%2e%2e"])
def test_a_suffix_that_is_none_is_not_found(api: Api, app_key: str, suffix: str) -> None:
    assert status_and_code(api.delete(f"/v1/app/keys/{suffix}", token=app_key)) == (404, "not_found")


@pytest.mark.parametrize(("method", "path"), [("GET", ""), ("POST", "/keys"), ("DELETE", "/keys/Ab3dEf")])
def test_only_a_key_opens_what_is_the_applications(api: Api, method: str, path: str) -> None:
    seat = api.create("domino", 2).tokens[0]
    arguments: dict[str, Any] = {"json": {}} if method == "POST" else {}
    for token in (None, seat, "app_", "app_" + "A" * 68, "x"):
        answer = api.ask(method, f"/v1/app{path}", token=token, **arguments)
        assert refusal(answer) == (401, "unauthorized", "no_key" if token is None else "unknown_key")
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    misplaced: tuple[dict[str, Any], ...] = ({"headers": {"X-API-Key": seat}}, {"query_string": {"token": seat}})
    for place in misplaced:
        answer = api.ask(method, f"/v1/app{path}", **arguments, **place)
        assert answer.get_json()["reason"] == "token_misplaced"


def test_a_key_ceases_to_be_valid_when_its_time_is_over(games: GamesFacade, redis_url: str) -> None:
    clock = SettableClock()
    backends = build_backends(SingleNodeTopology(connect(redis_url)), clock=clock)
    api, old = api_of(games, backends), backends.keys.create("Club").key
    new = new_key(api, old, 60)["key"]
    for seconds, status in ((59.9, 200), (0.1, 401)):
        clock.advance(seconds)
        assert api.get("/v1/app", token=old).status_code == status
    assert suffixes(api, new) == [new[-6:]]


def test_a_key_that_another_process_revoked_is_used_while_cached(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes, now = SingleNodeTopology(connect(redis_url)), 0.0
    here, there = build_backends(nodes).keys, build_backends(nodes).keys
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


def test_a_key_that_another_process_revoked_makes_no_key(api: Api, backends: BackendsFacade, redis_url: str) -> None:
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


def test_only_applications_create_games_where_it_is_set(games: GamesFacade, redis_url: str, app_key: str) -> None:
    api = api_of(games, build_backends(SingleNodeTopology(connect(redis_url)), needed_for_games=True))
    table = api.create("domino", 2, key=app_key)
    for token, reason in ((None, "no_key"), (table.tokens[0], "unknown_key"), ("app_x", "unknown_key")):
        assert refusal(api.try_create("domino", 2, key=token)) == (401, "unauthorized", reason)
    assert refusal(api.post("/v1/games?token=x", {"variant": "domino"})) == (401, "unauthorized", "token_misplaced")


def test_without_applications_no_key_is_known(games: GamesFacade, app_key: str, empty_server: redis.Redis) -> None:
    api = api_of(games, build_backends(SingleNodeTopology(empty_server)))
    assert status_and_code(api.get("/v1/app", token=app_key)) == (401, "unauthorized")


def test_a_key_is_never_taken_for_a_request_id(app: Flask, app_key: str) -> None:
    for given in (app_key[:64], f"x.{app_key}"[:64], "my-app_1"):
        told = app.test_client().get("/healthz", headers={"X-Request-ID": given}).headers["X-Request-ID"]
        assert (told == given) is (given == "my-app_1")
