"""Deletion: who may, what is left, and what everybody gets afterwards."""

from __future__ import annotations

import json
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from random import Random
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
from tests.api.client import Api, Table, status_and_code
from tests.api.conftest import SECRET, TTL_SECONDS
from tests.api.followers import LINES, SSE, events_in, rest_of_stream, stream
from tests.api.redis_contents import clear, contents, flat
from tests.api.test_leaks import METHODS, bodies_of, game_addresses
from tests.support.application import build_streams, create_app
from tests.support.games import build_games
from tests.support.table import match_finished, round_over
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.gate

PLAYERS = [{"name": "Ada Lovelace", "ref": "user-4711"}, {"name": "Bob Bernoulli", "ref": "user-4712"}]
PHASES = ("waiting", "playing", "round over", "finished", "with bots", "with a clock", "away", "forked", "public")
KEY = {"Idempotency-Key": "a-key-that-nobody-guesses-4711"}


def owned(api: Api, key: str, players: Any = PLAYERS, **more: Any) -> Table:
    body = {"variant": "domino", "players": players, "ref": "match-0815", **more}
    body = {name: value for name, value in body.items() if value is not None}
    return Table(api, told(api.post("/v1/games", body, token=key), 201))


def told(answer: TestResponse, status: int = 200) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json


def in_phase(api: Api, key: str, phase: str) -> Table:
    """A game of the application in this phase."""
    match phase:
        case "waiting":
            return owned(api, key, [PLAYERS[0], {"open": True}])
        case "public":
            return owned(api, key, [PLAYERS[0], {"open": True}], lobby="all")
        case "with bots":
            return owned(api, key, [PLAYERS[0], {"bot": "greedy"}], pace=5)
        case "with a clock" | "away":
            table = owned(api, key, clock={"turn": 60})
            if phase == "away":
                told(api.put(f"{table.path}/players/0/presence", {"away": True}, token=table.tokens[0]))
            return table
        case "forked":
            source = owned(api, key)
            api.play_until(source, round_over, Random(1))
            record = api.get(f"{source.path}/record", headers={"Accept": "text/plain"}).text
            delete(api, source, key)
            return owned(api, key, variant=None, continues={"record": record})
    table = owned(api, key)
    if phase == "round over":
        api.play_until(table, round_over, Random(1))
    elif phase == "finished":
        api.play_until(table, match_finished, Random(1))
    return table


def delete(api: Api, table: Table, key: str) -> None:
    answer = api.delete(table.path, token=key)
    assert (answer.status_code, answer.data) == (204, b"")


@pytest.mark.parametrize("phase", PHASES)
def test_every_request_for_a_deleted_game_is_answered_with_410(
    api: Api, app: Flask, app_key: str, other_key: str, phase: str
) -> None:
    table = in_phase(api, app_key, phase)
    delete(api, table, app_key)
    stranger = api.create("domino", 2).tokens[0]
    for address in game_addresses(app):
        path = address.replace("<game>", table.id).replace("<int:seat>", "0")
        for method in sorted(set(METHODS) - {"OPTIONS"}):
            described = api.operation(method, path)
            if described is None:
                continue
            body = bodies_of(path)[1] if method in ("POST", "PUT", "PATCH") else None
            for token in (app_key, other_key, table.tokens[0], stranger, "app_x", "seat_x", None):
                assert_gone(api.ask(method, path, token=token, json=body), method, path)
            for headers in ({"Authorization": "Basic eDp4"}, {"X-Api-Key": app_key}):
                assert_gone(api.ask(method, path, headers=headers, json=body), method, path)
            if body is not None:
                assert_gone(api.ask(method, path, token=app_key, data="{", content_type="text/html"), method, path)
            assert_gone(api.ask(method, f"{path}?token=x&unknown=1", json=body), method, path)


def assert_gone(answer: TestResponse, method: str, path: str) -> None:
    assert answer.status_code == 410, (method, path, answer.text)
    if method != "HEAD":
        assert status_and_code(answer) == (410, "gone")


def test_410_is_told_in_english_and_in_german(api: Api, app_key: str) -> None:
    table = owned(api, app_key)
    delete(api, table, app_key)
    english, german = [told(api.get(table.path, headers={"Accept-Language": each}), 410) for each in ("en", "de")]
    assert (english["title"], english["detail"]) == ("Gone", "This game was deleted.")
    assert (german["title"], german["detail"]) == ("Gelöscht", "Dieses Spiel wurde gelöscht.")
    assert english["type"].endswith("/problems#gone")
    assert "params" not in english


def test_only_the_owner_deletes_a_game(api: Api, app_key: str, other_key: str) -> None:
    table, nobodys = owned(api, app_key), api.create("domino", 2)
    for game in (table.path, nobodys.path, f"/v1/games/{'A' * 24}"):
        for token in (other_key, *table.tokens.values(), *nobodys.tokens.values(), "seat_x", "app_x", None):
            assert status_and_code(api.delete(game, token=token)) == (401, "unauthorized")
    assert status_and_code(api.delete(nobodys.path, token=app_key)) == (401, "unauthorized")
    for each in (table, nobodys):
        assert each.view(0)["status"] == "playing"


def test_a_deletion_that_is_sent_again_is_told_that_it_is_done(api: Api, app_key: str) -> None:
    table = owned(api, app_key)
    delete(api, table, app_key)
    assert status_and_code(api.delete(table.path, token=app_key)) == (410, "gone")


@pytest.mark.parametrize("rejected", [{"colour": 1}, {"action": "dance"}, None])
def test_a_request_that_is_refused_on_a_cached_game_is_answered_with_410_at_another_worker(
    store: Store, feed: RedisEventFeed, api: Api, app_key: str, rejected: Any
) -> None:
    table = owned(api, app_key)
    other = Api(create_app(build_games(store, feed, [SECRET], TTL_SECONDS)).test_client())
    told(other.get(f"{table.path}/moves", token=table.tokens[0]))
    delete(api, table, app_key)
    assert status_and_code(other.post(f"{table.path}/moves", rejected, token=table.tokens[0])) == (410, "gone")
    assert status_and_code(other.post(f"{table.path}/claims", rejected, token=table.tokens[0])) == (410, "gone")


def test_requests_that_are_repeated_after_the_deletion_are_answered_with_410(api: Api, app_key: str) -> None:
    body = {"variant": "domino", "players": [PLAYERS[0], {"open": True}]}
    table = Table(api, told(api.post("/v1/games", body, token=app_key, headers=KEY), 201))
    join = {"name": "Bob Bernoulli", "join_code": table.join_code}
    table.tokens[1] = told(api.post(f"{table.path}/players", join, headers=KEY), 201)["token"]
    seat = table.to_move()
    move = table.moves(seat)[0]
    told(api.post(f"{table.path}/moves", move, token=table.tokens[seat], headers=KEY), 201)
    told(api.post(f"{table.path}/players/0/token", token=table.tokens[0], headers=KEY), 201)
    delete(api, table, app_key)
    for answer in (
        api.post("/v1/games", body, token=app_key, headers=KEY),
        api.post(f"{table.path}/players", join, headers=KEY),
        api.post(f"{table.path}/moves", move, token=table.tokens[seat], headers=KEY),
        api.post(f"{table.path}/players/0/token", token=table.tokens[0], headers=KEY),
    ):
        assert status_and_code(answer) == (410, "gone")


# What is left in Redis


def secrets_of(table: Table, games: GamesFacade) -> dict[str, bytes]:
    """What must not be found once the game is deleted, as it is stored."""
    game = games.access._repository.reader.load(table.id)
    assert game is not None
    found: dict[str, bytes] = {"the ref of the game": b"match-0815", "the seed": b64encode(game.deck.seed)}
    for seat, each in enumerate(game.seats):
        for name, value in (("name", each.name), ("ref", each.ref)):
            if value is not None and each.kind != "bot":
                found[f"{name} {seat}"] = value.encode()
        if each.token_hash is not None:
            found[f"token hash {seat}"] = b64encode(each.token_hash)
            found[f"raw token hash {seat}"] = each.token_hash
    for seat, client_seed in enumerate(game.deck.client_seeds):
        if client_seed:
            found[f"client seed {seat}"] = client_seed.encode()
    if table.join_code is not None:
        found["join code"] = table.join_code.encode()
        found["join code's hash"] = b64encode(sha256(table.join_code.encode()).digest())
    for seat, token in table.tokens.items():
        found[f"token {seat}"] = token.encode()
    for seat, hand in enumerate(game.state.hands):
        if len(hand) > 3:
            found[f"hand {seat}"] = orjson.dumps([tile.index for tile in hand])
    return found


@pytest.mark.parametrize("phase", [*PHASES, "with everything"])
def test_no_key_of_redis_has_anything_of_a_deleted_game(
    api: Api, server: redis.Redis, games: GamesFacade, app_key: str, phase: str
) -> None:
    clear(server)
    if phase == "with everything":
        players = [{**PLAYERS[0], "client_seed": "three blind mice"}, PLAYERS[1], {"open": True}]
        table = owned(api, app_key, players, clock={"turn": 60}, lobby="all")
        api.take_seat(table, "Carl Gauss", client_seed="see how they run")
        table.make_legal_move()
    else:
        table = in_phase(api, app_key, phase)
    wanted = secrets_of(table, games)
    before = {name for name, each in wanted.items() for _, value in contents(server) if each in flat(value)}
    assert {"name 0", "ref 0", "token hash 0", "the ref of the game"} <= before
    delete(api, table, app_key)
    for key, value in contents(server):
        for name, each in wanted.items():
            assert each not in key + flat(value), f"{name} is still in {key!r}"


def test_the_digests_of_requests_are_all_that_is_left_beside_the_tombstone(
    api: Api, server: redis.Redis, app_key: str
) -> None:
    clear(server)
    table = owned(api, app_key)
    seat = table.to_move()
    move = table.moves(seat)[0]
    told(api.post(f"{table.path}/moves", move, token=table.tokens[seat], headers=KEY), 201)
    delete(api, table, app_key)
    left = server.keys(f"*{table.id}*")
    (record,) = [key for key in left if b":key:" in key]
    assert sorted(left) == sorted([keys.state(table.id), record])
    app = app_key[4:28]
    assert server.get(keys.state(table.id)) == b"4 " + encode_tombstone(app)
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
def test_streams_end_with_an_item_deleted(
    followed: tuple[Api, Api], app_key: str, headers: dict[str, str], query: str, phase: str
) -> None:
    here, there = followed
    table = in_phase(there, app_key, phase)
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
        items = events_in(sent) if headers is SSE else [json.loads(line) for line in sent.splitlines() if line]
        last = items[-1]
        assert (last["type"], last["version"], last["data"]) == ("deleted", version + 1, {})
        assert last.get("text") == ("The game was deleted." if "text" in query else None)


def test_a_stream_ends_with_an_item_deleted_where_a_view_is_due_before_the_deletion_is_notified(
    followed: tuple[Api, Api], app_key: str, server: redis.Redis
) -> None:
    here, there = followed
    table = owned(there, app_key)
    version = table.view()["version"]
    answer = stream(here, table, 0, f"?after={version}&view=true", headers=LINES)
    body = answer.iter_encoded()
    next(body)
    told(there.ask("PATCH", f"{table.path}/players/0", json={"name": "Zoe"}, token=app_key))
    while b"renamed" not in next(body):
        pass
    server.set(keys.state(table.id), b"%d %b" % (version + 2, encode_tombstone(app_key[4:28])))
    server.delete(keys.events(table.id))
    sent = b"".join([chunk for _, chunk in zip(range(100), body, strict=False)])
    answer.close()
    assert [json.loads(line)["type"] for line in sent.splitlines() if line] == ["deleted"]


def test_a_stream_that_connects_again_is_told_410(followed: tuple[Api, Api], app_key: str) -> None:
    here, there = followed
    table = owned(there, app_key)
    delete(there, table, app_key)
    answer = stream(here, table, 0, "", last="3")
    assert answer.status_code == 410
    rest_of_stream(answer)


@pytest.mark.parametrize("view", ["", "&view=true"])
def test_a_long_poll_of_events_ends_with_an_item_deleted(followed: tuple[Api, Api], app_key: str, view: str) -> None:
    here, there = followed
    table = owned(there, app_key)
    version = table.view()["version"]
    with ThreadPoolExecutor(1) as threads:
        poll = threads.submit(here.get, f"{table.path}/events?after={version}&wait=20{view}", token=table.tokens[0])
        _until_open(here)
        delete(there, table, app_key)
        page = told(poll.result(20))
    assert [each["type"] for each in page["events"]] == ["deleted"]
    assert (page["version"], page["more"]) == (version + 1, False)
    assert "game" not in page


def test_a_long_poll_of_the_game_is_answered_with_410(followed: tuple[Api, Api], app_key: str) -> None:
    here, there = followed
    table = owned(there, app_key)
    version = table.view()["version"]
    with ThreadPoolExecutor(1) as threads:
        poll = threads.submit(here.get, f"{table.path}?after={version}&wait=20", token=table.tokens[0])
        _until_open(here)
        delete(there, table, app_key)
        assert status_and_code(poll.result(20)) == (410, "gone")


def _until_open(api: Api) -> None:
    """Wait until a stream or a long poll is open at this worker."""
    streams = api.client.application.extensions["domino"].streams
    until(lambda: streams._open)


# Races


@pytest.mark.parametrize("attempt", range(10))
def test_moves_joins_and_deletion_at_the_same_time_leave_a_deleted_game(
    followed: tuple[Api, Api], app_key: str, attempt: int
) -> None:
    here, there = followed
    table = owned(there, app_key, [*PLAYERS, {"open": True}] if attempt % 2 else PLAYERS)
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


def test_the_owner_of_a_deleted_game_is_known_to_those_who_have_to_tell(
    api: Api, games: GamesFacade, app_key: str
) -> None:
    table = owned(api, app_key)
    version = table.view()["version"]
    delete(api, table, app_key)
    with pytest.raises(Gone) as gone:
        games.access._repository.reader.load(table.id)
    assert (gone.value.version, gone.value.app) == (version + 1, app_key[4:28])
