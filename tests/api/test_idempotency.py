"""Moves, joins and new games under an ``Idempotency-Key``: which keys there are, whose they are, and later repetitions.

That every POST is executed once under a key, and what else holds for all, is in ``test_every_post``.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any, NamedTuple, NoReturn
from uuid import uuid4

import pytest
import redis
from flask import Flask
from werkzeug.test import TestResponse

from service.engine.errors import Reason
from service.games.model.errors import KeyReused
from service.games.store.notifications import RedisEventFeed
from service.redis import keys
from service.redis.connection import connect
from service.redis.topology import SingleNodeTopology
from service.web.games import routes
from service.web.http.errors import InvalidBody
from tests.api.client import Api, Table, invalid_fields, location_of, status_and_code
from tests.api.conftest import SECRET, TTL_SECONDS
from tests.api.keyed_moves import play_with_keys
from tests.api.redis_contents import contents, flat
from tests.api.saved_games import (
    SEED,
    SavedGames,
    count_keys,
    one_open_seat,
    restore,
    shortest,
    take_snapshot,
    unchanged,
    variants_in_lane,
)
from tests.support.application import create_app
from tests.support.contract import committed
from tests.support.games import build_games
from tests.support.stores.redis_stores import redis_store
from tests.support.table import seat_to_move
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.gate

CROWD = 20
OPERATIONS = ("create", "join", "move", "token")


class Write(NamedTuple):
    """A writing request, the game it is about, and another body that is valid, too."""

    path: str
    body: dict[str, Any]
    token: str | None
    table: Table | None
    other: Any


def new_key() -> str:
    return str(uuid4())


def write_for(api: Api, operation: str) -> Write:
    people: list[dict[str, Any]] = [{"name": "Ada"}, {"name": "Bo"}, {"open": True}]
    if operation == "create":
        body = {"variant": "domino", "players": people, "seed": SEED}
        return Write("/v1/games", body, None, None, body | {"seed": "another"})
    if operation == "join":
        table = api.create("domino", [*people, {"open": True}], seed=SEED)
        body = {"name": "Cem", "join_code": str(table.join_code)}
        return Write(f"{table.path}/players", body, None, table, body | {"name": "Dua"})
    table = api.create("domino", 2, seed=SEED)
    seat = table.to_move()
    if operation == "token":
        return Write(f"{table.path}/players/{seat}/token", {}, table.tokens[seat], table, None)
    move = table.moves(seat)[0]
    return Write(f"{table.path}/moves", move, table.tokens[seat], table, unversioned(move))


def unversioned(move: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in move.items() if name != "version"}


@pytest.fixture(params=OPERATIONS)
def write(request: pytest.FixtureRequest, api: Api) -> Write:
    return write_for(api, request.param)


def send(api: Api, write: Write, key: str | None, **more: Any) -> TestResponse:
    headers = {**more.pop("headers", {}), **({} if key is None else {"Idempotency-Key": key})}
    return api.post(write.path, more.pop("body", write.body), token=write.token, headers=headers, **more)


def state_of(server: redis.Redis, write: Write) -> Any:
    """All that the store holds of the game, or the number of its keys."""
    return count_keys(server) if write.table is None else (take_snapshot(server, write.table.id), count_keys(server))


def replayed(answer: TestResponse) -> bool:
    assert answer.headers.get("Idempotent-Replayed") in (None, "true")
    return "Idempotent-Replayed" in answer.headers


def assert_same(again: TestResponse, first: TestResponse) -> None:
    """The first answer again: the same status, body and headers, and a header that marks it as repeated."""
    assert not replayed(first)
    assert replayed(again)
    assert again.status_code == first.status_code == 201
    assert again.data == first.data
    assert [(name, value) for name, value in again.headers if name != "Idempotent-Replayed"] == list(first.headers)


def test_a_number_beyond_all_machines_is_a_body_like_any_other(api: Api) -> None:
    write, key = write_for(api, "move"), new_key()
    first = send(api, write, key, body=write.body | {"points": 10**40})
    assert_same(send(api, write, key, body=write.body | {"points": 10**40}), first)
    assert status_and_code(send(api, write, key, body=write.body | {"points": 10**40 + 1})) == (422, "key_reused")


# Only successful requests are stored


def test_a_refused_move_can_be_retried_under_its_key(api: Api, server: redis.Redis) -> None:
    table = api.create("domino", 2, seed=SEED)
    seat, key = table.to_move(), {"Idempotency-Key": new_key()}
    wanted, stale = unversioned(table.moves(seat)[0]), key | {"If-Match": '"1"'}
    with unchanged(server, table):
        for by, move, headers, refused in (
            (1 - seat, wanted, key, (409, "not_your_turn")),
            (seat, wanted, stale, (412, "stale_version")),
            (seat, {"action": "pass"}, key, (409, "illegal_move")),
        ):
            assert status_and_code(api.move(table, by, move, headers=headers)) == refused
    first = api.move(table, seat, wanted, headers=key)
    assert_same(api.move(table, seat, wanted, headers=stale), first)


# The scope of a key


def test_a_key_belongs_to_its_seat(api: Api) -> None:
    table, key = api.create("domino", 2, seed=SEED), {"Idempotency-Key": new_key()}
    first = table.to_move()
    for seat in (first, 1 - first):
        made = api.move(table, seat, table.moves(seat)[0], headers=key)
        assert (replayed(made), made.get_json()["you"]["seat"]) == (False, seat)


def test_a_key_belongs_to_its_game(api: Api) -> None:
    key = new_key()
    for _ in range(2):
        write = write_for(api, "join")
        answer = send(api, write, key)
        assert (answer.status_code, replayed(answer)) == (201, False)


def test_the_same_key_of_different_players_makes_different_joins(api: Api) -> None:
    people: list[dict[str, Any]] = [{"name": "Ada"}, {"name": "Bo"}, *[{"open": True}] * 3]
    table, key = api.create("domino", people, options={"set": 9}), {"Idempotency-Key": new_key()}
    body, bearers = {"name": "Cem", "join_code": table.join_code}, (None, *table.tokens.values())
    answers = [api.post(f"{table.path}/players", body, token=token, headers=key) for token in bearers]
    assert [(replayed(answer), answer.get_json()["seat"]) for answer in answers] == [
        (False, seat) for seat in (2, 3, 4)
    ]
    assert len({answer.get_json()["token"] for answer in answers}) == 3


def test_a_replay_is_for_its_own_seat_only(api: Api) -> None:
    write, key = write_for(api, "move"), new_key()
    assert write.table is not None
    seat = send(api, write, key).get_json()["you"]["seat"]
    assert status_and_code(send(api, write._replace(token=write.table.tokens[1 - seat]), key)) == (412, "stale_version")
    for token in (None, "seat_nobody", api.create("domino", 2).tokens[0]):
        assert status_and_code(send(api, write._replace(token=token), key)) == (401, "unauthorized")


# After the game has moved on


@pytest.mark.parametrize("variant", variants_in_lane())
def test_every_move_of_a_match_is_answered_again_under_its_key(api: Api, server: redis.Redis, variant: str) -> None:
    keys = [{"Idempotency-Key": new_key()} for _ in range(2)]

    def create() -> TestResponse:
        people, options = one_open_seat(variant), shortest(variant)
        return api.try_create(variant, people, headers=keys[0], seed=SEED, options=options)

    def join() -> TestResponse:
        return api.post(f"{table.path}/players", {"name": "Late", "join_code": table.join_code}, headers=keys[1])

    created = create()
    table = Table(api, created.get_json())
    joined = join()
    table.tokens[joined.get_json()["seat"]] = joined.get_json()["token"]
    made = play_with_keys(api, table, Random(SEED), if_match=True)
    assert made
    with unchanged(server, table):
        for seat, move, headers, first in made:
            assert_same(api.move(table, seat, move, headers=headers), first)
        assert_same(create(), created)
        assert_same(join(), joined)


def test_a_move_without_a_version_that_is_legal_again_is_not_made_again(api: Api, saved_games: SavedGames) -> None:
    table = saved_games.at("domino", "dealt").table
    view = api.play_until_draw(table, Random(SEED))
    headers = {"Idempotency-Key": new_key()}
    first, again = (api.move(table, seat_to_move(view), {"action": "draw"}, headers=headers) for _ in range(2))
    assert_same(again, first)
    assert api.view(table)["version"] == view["version"] + 1


def test_a_repeated_join_gets_its_first_seat_when_all_seats_are_taken(api: Api) -> None:
    write, key = write_for(api, "join"), new_key()
    assert write.table is not None
    first = send(api, write, key)
    assert api.join(write.table).status_code == 201
    assert status_and_code(api.join(write.table)) == (409, "seats_taken")
    again = send(api, write, key)
    assert_same(again, first)
    joined = again.get_json()
    assert joined["game"]["status"] == "waiting"
    assert api.get(write.table.path, token=joined["token"]).get_json()["you"]["seat"] == 2


def test_the_tokens_of_a_replayed_game_are_those_that_play(api: Api) -> None:
    write, key = write_for(api, "create"), new_key()
    send(api, write, key)
    table = Table(api, send(api, write, key).get_json())
    assert api.join(table).status_code == 201
    for seat in table.tokens:
        assert api.view(table, seat)["you"]["seat"] == seat


def test_a_token_change_can_be_retried_with_the_old_token(api: Api) -> None:
    write, key = write_for(api, "token"), new_key()
    assert write.table is not None
    first = send(api, write, key)
    new = first.get_json()["token"]
    assert_same(send(api, write, key), first)
    assert status_and_code(send(api, write, new_key())) == (401, "unauthorized")
    assert status_and_code(send(api, write, None)) == (401, "unauthorized")
    for path in ("", "/moves", "/score", "/events"):
        assert api.get(write.table.path + path, token=write.token).status_code == 401
        assert api.get(write.table.path + path, token=new).status_code == 200
    # With the new token, the key has another scope.
    newer = send(api, write._replace(token=new), key)
    assert not replayed(newer)
    assert newer.get_json()["token"] != new
    assert_same(send(api, write, key), first)


# Other workers, and the time to live


def another_worker(redis_url: str, feed: RedisEventFeed, *secrets: bytes) -> Api:
    """The application of another process over the same store; without ``secrets``, with that of the first one."""
    store = redis_store(SingleNodeTopology(connect(redis_url)), TTL_SECONDS)
    return Api(create_app(build_games(store, feed, secrets or [SECRET], TTL_SECONDS)).test_client(use_cookies=False))


@pytest.mark.parametrize("kind", ["create", "join", "token"])
def test_a_request_is_repeated_with_the_same_tokens_while_the_secret_is_rotated(
    api: Api, redis_url: str, feed: RedisEventFeed, kind: str
) -> None:
    """The new secret in front, behind the old one, and among others; until the old one is removed."""
    secrets = ([b"new", SECRET], [SECRET, b"new"], [b"newer", b"new", SECRET])
    rotated = [another_worker(redis_url, feed, *each) for each in secrets]
    write, key = write_for(api, kind), new_key()
    first = send(api, write, key)
    for worker in rotated:
        assert_same(send(worker, write, key), first)
        if write.other is not None:
            assert status_and_code(send(worker, write, key, body=write.other)) == (422, "key_reused")
    write, key = write_for(api, kind), new_key()
    first = send(rotated[0], write, key)
    for worker in rotated[1:]:
        assert_same(send(worker, write, key), first)
    assert_same(send(another_worker(redis_url, feed, b"new"), write, key), first)
    assert status_and_code(send(api, write, key)) == (503, "secret_changed")
    (token, *_) = [each for each in secrets_in(first.get_json()) if each.startswith("seat_")]
    assert api.get(location_of(first), token=token).status_code == 200


def secrets_in(answer: dict[str, Any]) -> set[str]:
    """The tokens and join codes in an answer."""
    found = {answer[name] for name in ("token", "join_code") if name in answer}
    return found | {each["token"] for each in answer.get("seats", ())}


def test_the_store_never_holds_a_token_or_a_code(api: Api, server: redis.Redis, write: Write) -> None:
    key = new_key()
    secrets = secrets_in(send(api, write, key).get_json())
    send(api, write, key)
    if write.table is not None:
        secrets |= {*write.table.tokens.values(), *([write.table.join_code] if write.table.join_code else [])}
    assert secrets or write.path.endswith("/moves")
    for name, value in contents(server):
        text = name + flat(value)
        assert not [each for each in (*secrets, key) if each.removeprefix("seat_").encode() in text]


# Invalid keys, and the order of errors

NO_KEYS = (
    *("", "   ", '""', "x" * 256, f'"{"x" * 256}"', "x" * 100_000, "a\x01b", "a\0b", "a\x7fb", "a\tb", "a b", '"abc'),
    *('a"b', "a\\b", '"a\\"b"', "one, two", "one,two", '"one", "two"', '"one";a=1', "schl\xfcssel"),
)


@pytest.mark.parametrize("key", NO_KEYS, ids=lambda key: repr(key[:30]))
def test_a_key_that_is_none_is_invalid_and_named(api: Api, server: redis.Redis, key: str) -> None:
    write = write_for(api, "move")
    before = state_of(server, write)
    assert invalid_fields(send(api, write, key)) == ["Idempotency-Key"]
    assert state_of(server, write) == before


def test_two_idempotency_key_headers_are_refused(api: Api, server: redis.Redis) -> None:
    write = write_for(api, "move")
    before = state_of(server, write)
    headers = [("Authorization", f"Bearer {write.token}"), ("Idempotency-Key", "one"), ("Idempotency-Key", "two")]
    assert status_and_code(api.client.post(write.path, json=write.body, headers=headers)) == (422, "invalid")
    assert state_of(server, write) == before


LONG_KEYS = (
    *("x" * 16, "y" * 255, f'"{"z" * 16}"', f'"{"w" * 255}"', '"a,b,c,d,e,f,g,h,"', "!#$%&'()*+-./:;<=>?@[]^_`{|}~"),
)
SHORT_KEYS = ("x", '"z"', '"a,b"', "y" * 15, f'"{"w" * 15}"')


@pytest.mark.parametrize("key", [*LONG_KEYS, *SHORT_KEYS])
def test_any_visible_characters_make_a_key_of_a_move(api: Api, key: str) -> None:
    write = write_for(api, "move")
    first = send(api, write, key)
    assert_same(send(api, write, key), first)


@pytest.mark.parametrize("key", [*LONG_KEYS, *SHORT_KEYS, *NO_KEYS], ids=lambda key: repr(key[:30]))
def test_the_document_says_which_keys_are_accepted(key: str) -> None:
    for path, length in (("", 16), ("/{game}/players", 16), ("/{game}/players/{seat}/token", 16), ("/{game}/moves", 1)):
        parameters = committed().operation("POST", f"/v1/games{path}")["parameters"]
        (schema,) = [each["schema"] for each in parameters if each["name"] == "Idempotency-Key"]
        accepted = key not in NO_KEYS and len(key.strip('"')) >= length
        assert (len(key) >= schema["minLength"] and re.search(schema["pattern"], key) is not None) == accepted
        assert schema["minLength"] == length


def test_errors_of_a_move_under_a_key_are_checked_in_the_documented_order(api: Api, server: redis.Redis) -> None:
    write, key = write_for(api, "move"), new_key()
    assert write.table is not None
    send(api, write, key)
    stale, bad = {"If-Match": '"1"'}, {"Idempotency-Key": ""}
    with unchanged(server, write.table):
        huge = {"data": "{" * 300_000}
        under = {"Idempotency-Key": key} | stale
        json_type = {"content_type": "application/json"}
        cases: list[tuple[int, str, dict[str, Any]]] = [
            (401, "unauthorized", {"token": "wrong", "headers": under, **huge}),
            (401, "unauthorized", {"token": "wrong", "headers": bad, **huge}),
            (415, "unsupported_media_type", {"headers": under, **huge}),
            (413, "too_large", {"headers": under, **json_type, **huge}),
            (400, "malformed", {"headers": under, **json_type, "data": "{"}),
            (422, "invalid", {"headers": under, "json": {"action": "knock"}}),
            (422, "invalid", {"headers": bad | stale, "json": {"action": "pass"}}),
            (422, "key_reused", {"headers": under, "json": {"action": "pass"}}),
            (412, "stale_version", {"headers": stale, "json": {"action": "pass"}}),
        ]
        for status, code, request in cases:
            assert status_and_code(api.ask("POST", write.path, **{"token": write.token, **request})) == (status, code)


def test_errors_of_a_token_change_under_a_key_are_checked_in_order(api: Api, server: redis.Redis) -> None:
    write = write_for(api, "token")
    assert write.table is not None
    seat = int(write.path.split("/")[-2])
    foreign = write.table.tokens[1 - seat]
    with unchanged(server, write.table):
        for headers in ({"Idempotency-Key": new_key()}, {"Idempotency-Key": "a b"}, {}):
            bad = {"data": "{", "content_type": "application/json", "headers": headers}
            for path in (write.path, f"/v1/games/{'A' * 24}/players/0/token"):
                for token in (None, "wrong"):
                    assert status_and_code(api.ask("POST", path, token=token, **bad)) == (401, "unauthorized")
            nobody = f"{write.table.path}/players/2/token"
            assert status_and_code(api.ask("POST", nobody, token=write.token, **bad)) == (404, "not_found")
            assert status_and_code(api.ask("POST", write.path, token=foreign, **bad)) == (403, "forbidden")
            assert status_and_code(api.ask("POST", write.path, token=write.token, **bad)) == (400, "malformed")


# Concurrent requests


def at_once(app: Flask, ask: Callable[[Api, int], TestResponse]) -> list[TestResponse]:
    """The answers to requests that are sent at the same moment."""
    together = threading.Barrier(CROWD)

    def run(number: int) -> TestResponse:
        own = Api(app.test_client(use_cookies=False))
        together.wait(PATIENCE)
        return ask(own, number)

    with ThreadPoolExecutor(CROWD) as pool:
        return list(pool.map(run, range(CROWD), timeout=2 * PATIENCE))


def test_of_concurrent_token_changes_without_a_key_one_wins(app: Flask, api: Api) -> None:
    write = write_for(api, "token")
    assert write.table is not None
    answers = at_once(app, lambda own, _: send(own, write, None))
    (made,) = [answer for answer in answers if answer.status_code == 201]
    assert {status_and_code(answer) for answer in answers if answer is not made} == {(401, "unauthorized")}
    assert api.get(write.table.path, token=made.get_json()["token"]).status_code == 200


def test_a_game_that_has_expired_since_is_not_there_for_its_key_either(api: Api, server: redis.Redis) -> None:
    for operation in ("join", "move", "token"):
        write, key = write_for(api, operation), new_key()
        assert write.table is not None
        stored = take_snapshot(server, write.table.id)
        send(api, write, key)
        server.delete(*keys.of_game(write.table.id))
        assert status_and_code(send(api, write, key)) in ((404, "not_found"), (401, "unauthorized"))
        restore(server, write.table.id, stored)


def test_a_move_of_a_round_that_has_ended_is_answered_as_it_was(api: Api, saved_games: SavedGames) -> None:
    table = saved_games.at("fido", "late").table
    seat, headers = table.to_move(), {"Idempotency-Key": new_key()}
    move = table.moves(seat)[0]
    first = api.move(table, seat, move, headers=headers)
    api.play_until(table, lambda view: view["status"] == "round_over", Random(SEED))
    assert_same(api.move(table, seat, move, headers=headers), first)
    api.make_move(table, 0, {"action": "deal"})
    assert_same(api.move(table, seat, move, headers=headers), first)


# ── What a worker caches ────────────────────────────────────────────────────────────────────────────────────────────


def remembering(redis_url: str, feed: RedisEventFeed, table: Table) -> tuple[Api, Api, int, str]:
    """A worker that has the game with its old token, another one, the seat to move, and its new token."""
    seat = table.to_move()
    one, other = another_worker(redis_url, feed), another_worker(redis_url, feed)
    assert one.get(table.path, token=table.tokens[seat]).status_code == 200
    changed = other.post(f"{table.path}/players/{seat}/token", token=table.tokens[seat])
    assert changed.status_code == 201
    return one, other, seat, changed.get_json()["token"]


def test_a_worker_that_has_an_old_token_answers_no_key_for_it(api: Api, redis_url: str, feed: RedisEventFeed) -> None:
    """Another worker has changed the token of the seat, and its new holder has moved under this key."""
    table = api.create("domino", 2, seed=SEED)
    one, other, seat, new = remembering(redis_url, feed, table)
    path, key = f"{table.path}/moves", {"Idempotency-Key": new_key()}
    move = other.get(path, token=new).get_json()["legal_moves"][0]
    assert other.post(path, move, token=new, headers=key).status_code == 201
    for body in (move, {**move, "points": 1}):
        assert status_and_code(one.post(path, body, token=table.tokens[seat], headers=key)) == (401, "unauthorized")


@pytest.mark.parametrize(
    "error", [RuntimeError("broken"), KeyReused("key_reused"), InvalidBody({"tile": [Reason("blank")]})]
)
def test_whatever_a_handler_raises_a_revoked_token_is_unauthorized(
    api: Api, redis_url: str, feed: RedisEventFeed, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """The worker has the game with the old token in its cache when its handler fails before any command."""
    table = api.create("domino", 2, seed=SEED)
    one, _, seat, _ = remembering(redis_url, feed, table)

    def broken(_version: int | None) -> NoReturn:
        raise error

    monkeypatch.setattr(routes, "expected_game", broken)
    answer = one.post(f"{table.path}/moves", {"action": "pass"}, token=table.tokens[seat])
    assert status_and_code(answer) == (401, "unauthorized")


def test_a_worker_that_caches_a_deleted_game_gives_nobody_access_to_it(api: Api, server: redis.Redis) -> None:
    table = api.create("domino", 2, seed=SEED)
    seat = table.to_move()
    move = table.moves(seat)[0]
    server.delete(*keys.of_game(table.id))
    for body in (move, {"action": "leap"}):
        assert status_and_code(api.move(table, seat, body)) == (401, "unauthorized")
