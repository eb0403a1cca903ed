"""Deletion: who may, what is left, and what everybody gets afterwards."""

from __future__ import annotations

import json
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from threading import Barrier
from typing import Any

import orjson
import pytest
import redis
from flask import Flask
from werkzeug.test import TestResponse

from service.backends.facade import BackendsFacade
from service.games.facade import GamesFacade
from service.games.model.errors import Gone
from service.games.ports import Store
from service.games.store.codec import encode_tombstone
from service.games.store.notifications import RedisEventFeed
from service.games.store.redis_store import RedisStore
from service.redis import keys
from service.web.http.streams import StreamLimits
from tests.api.client import Api, Table, status_and_code, told
from tests.api.conftest import SECRET, TTL_SECONDS
from tests.api.followers import LINES, SSE, events_in, lines_in, rest_of_stream, stream
from tests.api.phases import PHASES, in_phase
from tests.api.redis_contents import clear, contents, flat
from tests.api.test_leaks import METHODS, bodies_of, game_addresses
from tests.support.application import build_streams, create_app
from tests.support.games import build_games
from tests.support.table import Json
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.gate

ADA: Json = {"name": "Ada Lovelace", "ref": "user-4711"}
BOB: Json = {"name": "Bob Bernoulli", "ref": "user-4712"}
PLAYERS = (ADA, BOB)
KEY = {"Idempotency-Key": "a-key-that-nobody-guesses-4711"}
BASIC = {"Authorization": "Basic eDp4"}


@pytest.fixture
def table(api: Api, app_key: str) -> Table:
    return api.create("domino", PLAYERS, key=app_key, ref="match-1")


def delete(api: Api, table: Table, key: str) -> None:
    answer = api.delete(table.path, token=key)
    assert (answer.status_code, answer.data) == (204, b"")


@pytest.mark.parametrize("phase", PHASES)
def test_every_request_for_a_deleted_game_is_410(
    api: Api, app: Flask, app_key: str, other_key: str, phase: str
) -> None:
    table = in_phase(api, app_key, phase, ADA, BOB)
    delete(api, table, app_key)
    tokens = (app_key, other_key, table.tokens[0], api.create("domino", 2).tokens[0], "app_x", "seat_x", None)
    for address in game_addresses(app):
        path = address.replace("<game>", table.id).replace("<int:seat>", "0")
        for method in sorted(set(METHODS) - {"OPTIONS"}):
            if api.operation(method, path) is None:
                continue
            body = bodies_of(path)[1] if method in ("POST", "PUT", "PATCH") else None
            requests: list[dict[str, Any]] = [{"token": token, "json": body} for token in tokens]
            requests += [{"headers": headers, "json": body} for headers in (BASIC, {"X-Api-Key": app_key})]
            requests += [] if body is None else [{"token": app_key, "data": "{", "content_type": "text/html"}]
            requests.append({"query_string": "token=x&unknown=1", "json": body})
            for request in requests:
                answer = api.ask(method, path, **request)
                assert answer.status_code == 410, (method, path, request)
                assert method == "HEAD" or status_and_code(answer) == (410, "gone")


def test_410_is_told_in_english_and_in_german(api: Api, app_key: str, table: Table) -> None:
    delete(api, table, app_key)
    english, german = [told(table.get("", Accept_Language=each), 410) for each in ("en", "de")]
    assert (english["title"], english["detail"]) == ("Gone", "This game was deleted.")
    assert (german["title"], german["detail"]) == ("Gelöscht", "Dieses Spiel wurde gelöscht.")
    assert english["type"].endswith("/problems#gone")
    assert "params" not in english


def test_only_the_owner_deletes_a_game(api: Api, app_key: str, other_key: str, table: Table) -> None:
    nobodys = api.create("domino", 2)
    for game in (table.path, nobodys.path, f"/v1/games/{'A' * 24}"):
        for token in (other_key, *table.tokens.values(), *nobodys.tokens.values(), "seat_x", "app_x", None):
            assert status_and_code(api.delete(game, token=token)) == (401, "unauthorized")
    assert status_and_code(api.delete(nobodys.path, token=app_key)) == (401, "unauthorized")
    assert [each.view(0)["status"] for each in (table, nobodys)] == ["playing"] * 2


def test_a_deletion_that_is_sent_again_is_told_that_it_is_done(api: Api, app_key: str, table: Table) -> None:
    delete(api, table, app_key)
    assert status_and_code(api.delete(table.path, token=app_key)) == (410, "gone")


@pytest.mark.parametrize("rejected", [{"colour": 1}, {"action": "dance"}, None])
def test_a_refused_request_for_a_cached_game_is_answered_with_410_at_another_worker(
    store: Store, feed: RedisEventFeed, api: Api, app_key: str, table: Table, rejected: Any
) -> None:
    other = Api(create_app(build_games(store, feed, [SECRET], TTL_SECONDS)).test_client())
    told(other.get(f"{table.path}/moves", token=table.tokens[0]))
    delete(api, table, app_key)
    for path in ("/moves", "/claims"):
        assert status_and_code(other.post(table.path + path, rejected, token=table.tokens[0])) == (410, "gone")


def test_requests_that_are_repeated_after_the_deletion_are_answered_with_410(api: Api, app_key: str) -> None:
    body = {"variant": "domino", "players": [ADA, {"open": True}]}
    table = Table(api, told(api.post("/v1/games", body, token=app_key, headers=KEY), 201))
    join = {"name": "Bob Bernoulli", "join_code": table.join_code}
    table.tokens[1] = told(api.post(f"{table.path}/players", join, headers=KEY), 201)["token"]
    seat = table.to_move()
    requests: list[tuple[str, Any, str | None]] = [
        ("/v1/games", body, app_key),
        (f"{table.path}/players", join, None),
        (f"{table.path}/moves", table.moves(seat)[0], table.tokens[seat]),
        (f"{table.path}/players/0/token", None, table.tokens[0]),
    ]
    for path, sent, token in requests:
        told(api.post(path, sent, token=token, headers=KEY), 201)
    delete(api, table, app_key)
    for path, sent, token in requests:
        assert status_and_code(api.post(path, sent, token=token, headers=KEY)) == (410, "gone")


# What is left in Redis


def secrets_of(table: Table, games: GamesFacade) -> dict[str, bytes]:
    """What must not be found once the game is deleted, as it is stored."""
    game = games.access._repository.reader.load(table.id)
    assert game is not None
    found: dict[str, Any] = {"the ref of the game": "match-1", "the seed": b64encode(game.deck.seed)}
    for seat, each in enumerate(game.seats):
        if each.kind != "bot":
            found |= {f"name {seat}": each.name, f"ref {seat}": each.ref}
        if each.token_hash is not None:
            found |= {f"token hash {seat}": b64encode(each.token_hash), f"raw token hash {seat}": each.token_hash}
    found |= {f"client seed {seat}": each for seat, each in enumerate(game.deck.client_seeds)}
    found |= {f"token {seat}": token for seat, token in table.tokens.items()}
    if table.join_code is not None:
        found |= {"join code": table.join_code, "hash": b64encode(sha256(table.join_code.encode()).digest())}
    for seat, hand in enumerate(game.state.hands):
        if len(hand) > 3:
            found[f"hand {seat}"] = orjson.dumps([tile.index for tile in hand])
    return {name: each.encode() if isinstance(each, str) else each for name, each in found.items() if each}


@pytest.mark.parametrize("phase", [*PHASES, "with everything"])
def test_no_key_has_anything_of_a_deleted_game(
    api: Api, server: redis.Redis, games: GamesFacade, app_key: str, phase: str
) -> None:
    clear(server)
    if phase == "with everything":
        players = [{**ADA, "client_seed": "three blind mice"}, BOB, {"open": True}]
        table = api.create("domino", players, key=app_key, ref="match-1", clock={"turn": 60}, lobby="all")
        api.take_seat(table, "Carl Gauss", client_seed="see how they run")
        table.make_legal_move()
    else:
        table = in_phase(api, app_key, phase, ADA, BOB)
    wanted = secrets_of(table, games)
    before = {name for name, each in wanted.items() for _, value in contents(server) if each in flat(value)}
    assert {"name 0", "ref 0", "token hash 0", "the ref of the game"} <= before
    delete(api, table, app_key)
    for key, value in contents(server):
        for name, each in wanted.items():
            assert each not in key + flat(value), f"{name} is still in {key!r}"


def test_beside_the_tombstone_only_digests_of_requests_are_left(api: Api, server: redis.Redis, app_key: str) -> None:
    clear(server)
    table = api.create("domino", PLAYERS, key=app_key)
    seat = table.to_move()
    told(api.move(table, seat, table.moves(seat)[0], headers=KEY), 201)
    delete(api, table, app_key)
    left = set(server.keys(f"*{table.id}*"))
    (record,) = left - {keys.state(table.id)}
    assert b":key:" in record
    assert server.get(keys.state(table.id)) == b"4 " + encode_tombstone(app_key[4:28])
    assert 0 < server.ttl(record) <= 86_400


# Those who follow the game


@pytest.fixture
def followed(store: RedisStore, feed: RedisEventFeed, backends: BackendsFacade) -> tuple[Api, Api]:
    """Two workers: clients follow at the first one."""

    def worker() -> Api:
        streams = build_streams(StreamLimits(100), keepalive_seconds=0.1)
        games = build_games(store, feed, [SECRET], TTL_SECONDS)
        return Api(create_app(games, streams, backends=backends).test_client(use_cookies=False))

    return worker(), worker()


@pytest.mark.parametrize("query", ["?after=2", "?after=2&view=true", "?after=2&text=true"])
@pytest.mark.parametrize("headers", [SSE, LINES])
@pytest.mark.parametrize("phase", ["waiting", "playing", "with bots"])
def test_streams_end_with_deleted(
    followed: tuple[Api, Api], app_key: str, headers: dict[str, str], query: str, phase: str
) -> None:
    here, there = followed
    table = in_phase(there, app_key, phase, ADA, BOB)
    version = table.view()["version"]
    query = query.replace("2", str(version))
    answers = [stream(here, table, seat, query, headers=headers) for seat in (None, 0)]
    bodies = [answer.iter_encoded() for answer in answers]
    for body in bodies:
        next(body)
    delete(there, table, app_key)
    for body, answer in zip(bodies, answers, strict=True):
        sent = b"".join([chunk for _, chunk in zip(range(100), body, strict=False)])
        answer.close()
        last = (events_in(sent) if headers is SSE else lines_in(sent))[-1]
        assert (last["type"], last["version"], last["data"]) == ("deleted", version + 1, {})
        assert last.get("text") == ("The game was deleted." if "text" in query else None)


def test_a_stream_ends_with_an_item_deleted_where_a_view_is_due_before_the_deletion_is_notified(
    followed: tuple[Api, Api], app_key: str, server: redis.Redis, table: Table
) -> None:
    here, there = followed
    version = table.view()["version"]
    answer = stream(here, table, 0, f"?after={version}&view=true", headers=LINES)
    body = answer.iter_encoded()
    next(body)
    told(there.ask("PATCH", f"{table.path}/players/0", json={"name": "Zoe"}, token=app_key))
    while b"renamed" not in next(body):
        pass
    server.set(keys.state(table.id), b"%d %b" % (version + 2, encode_tombstone(app_key[4:28])))
    server.delete(keys.part(b"events", table.id))
    sent = b"".join([chunk for _, chunk in zip(range(100), body, strict=False)])
    answer.close()
    assert [each["type"] for each in lines_in(sent)] == ["deleted"]


def test_a_stream_that_connects_again_is_told_410(followed: tuple[Api, Api], app_key: str, table: Table) -> None:
    here, there = followed
    delete(there, table, app_key)
    answer = stream(here, table, 0, "", last="3")
    assert answer.status_code == 410
    rest_of_stream(answer)


def deleted_during_a_poll(followed: tuple[Api, Api], table: Table, key: str, path: str) -> TestResponse:
    """The answer to a long poll during which the game is deleted."""
    here, there = followed
    with ThreadPoolExecutor(1) as threads:
        poll = threads.submit(here.get, f"{table.path}{path}", token=table.tokens[0])
        until(lambda: here.client.application.extensions["domino"].streams._open)
        delete(there, table, key)
        return poll.result(20)


@pytest.mark.parametrize("view", ["", "&view=true"])
def test_a_long_poll_of_events_ends_with_an_item_deleted(
    followed: tuple[Api, Api], app_key: str, table: Table, view: str
) -> None:
    page = told(deleted_during_a_poll(followed, table, app_key, f"/events?after=2&wait=20{view}"))
    assert [each["type"] for each in page["events"]] == ["deleted"]
    assert (page["version"], page["more"], "game" in page) == (3, False, False)


def test_a_long_poll_of_the_game_is_answered_with_410(followed: tuple[Api, Api], app_key: str, table: Table) -> None:
    assert status_and_code(deleted_during_a_poll(followed, table, app_key, "?after=2&wait=20")) == (410, "gone")


# Races


@pytest.mark.parametrize("attempt", range(10))
def test_moves_joins_and_deletion_at_once_delete_a_game(followed: tuple[Api, Api], app_key: str, attempt: int) -> None:
    here, there = followed
    table = there.create("domino", [*PLAYERS, *[{"open": True}] * (attempt % 2)], key=app_key)
    started = Barrier(4)

    def play(api: Api, seat: int) -> list[int]:
        statuses = []
        started.wait(PATIENCE)
        for _ in range(20):
            answer = api.ask_unchecked("GET", f"{table.path}/moves", token=table.tokens[seat])
            moves = json.loads(answer.data).get("legal_moves")
            if moves:
                move = moves[0]
                answer = api.ask_unchecked("POST", f"{table.path}/moves", token=table.tokens[seat], json=move)
            statuses.append(answer.status_code)
        return statuses

    def join() -> list[int]:
        started.wait(PATIENCE)
        body = {"name": "Late", "join_code": table.join_code or "AAAAAAAAAAAAAAAA"}
        return [here.ask_unchecked("POST", f"{table.path}/players", json=body).status_code for _ in range(20)]

    with ThreadPoolExecutor(3) as threads:
        others = [threads.submit(play, here, 0), threads.submit(play, there, 1), threads.submit(join)]
        started.wait(PATIENCE)
        delete(there, table, app_key)
        for each in others:
            statuses = each.result(PATIENCE)
            assert set(statuses) <= {200, 201, 403, 409, 410, 412}
            assert statuses[-1] == 410
            assert sorted(statuses, key=lambda status: status == 410) == statuses, "nothing comes after 410"
    assert status_and_code(here.get(table.path)) == (410, "gone")


def test_the_owner_of_a_deleted_game_is_known_to_who_has_to_tell(
    api: Api, games: GamesFacade, app_key: str, table: Table
) -> None:
    delete(api, table, app_key)
    with pytest.raises(Gone) as gone:
        games.access._repository.reader.load(table.id)
    assert (gone.value.version, gone.value.app) == (3, app_key[4:28])
