"""No leaks: every channel through which the service could reveal hidden tiles, tokens or the existence of a game."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import redis
from flask import Flask
from werkzeug.test import TestResponse

from service.engine.tiles import TILES, parse_tile, sort_tiles
from service.engine.variants import variants
from service.games.ports import Store
from service.games.store.checksums import with_sum
from service.games.store.notifications import RedisEventFeed
from service.games.store.redis_store import RedisStore
from tests.api.client import Api, content_of, without_tile
from tests.api.conftest import SECRET, TTL_SECONDS, api_with_fixed_clock
from tests.api.saved_games import SavedGames, Snapshot, decoded, place_of, restore, take_snapshot
from tests.api.test_whole_app import method_of, operations
from tests.support.application import create_app
from tests.support.games import build_games
from tests.support.lanes import GATE_VARIANTS, in_lane
from tests.support.table import seat_to_move

pytestmark = pytest.mark.gate

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
NOT_READABLE = ("players", "<int:seat>", "token", "presence", "claims", "rematch", "join-code", "start", "resignation")
"""The last parts of the paths that cannot be got."""
VARIANTS = in_lane(list(variants()), gate=GATE_VARIANTS)
TILE = re.compile(r"\b(?:1?\d)-(?:1?\d)\b")


def bodies_of(path: str) -> list[Any]:
    """Bodies for a path: none, a valid one, an invalid one."""
    good = {
        "moves": {"action": "pass"},
        "players": {"name": "Eve", "join_code": "ABCDEFGH"},
        "token": {},
        "presence": {"away": True},
        "claims": {"seat": 1},
    }
    return [None, good.get(path.rpartition("/")[2]), {"colour": 1}]


def game_addresses(app: Flask) -> list[str]:
    """Every path within a game."""
    return sorted({rule.rule for rule, _ in operations(app) if "<game>" in rule.rule})


# Unknown game, foreign token, wrong token


def without_access(api: Api) -> Iterator[tuple[str, str]]:
    """Pairs of a game id and a token that gives no access to it, one for every reason."""
    table, foreign = api.create("domino", 2), api.create("fido", 4)
    changed = table.tokens[1]
    api.post(f"{table.path}/players/1/token", {}, token=changed)
    wrong = f"seat_{'A' * 43}"
    yield table.id, wrong
    yield table.id, foreign.tokens[0]
    yield table.id, changed
    yield table.id[::-1], wrong
    yield table.id[::-1], table.tokens[0]


@pytest.mark.parametrize("key", [None, "a-key-of-somebody"])
def test_unknown_game_foreign_token_and_wrong_token_are_not_told_apart(app: Flask, api: Api, key: str | None) -> None:
    known = list(without_access(api))
    headers = {} if key is None else {"Idempotency-Key": key}
    for address in game_addresses(app):
        for method in METHODS:
            for body in bodies_of(address) if method in ("POST", "PUT", "PATCH") else [None]:
                answers = {
                    str(content_of(api.ask_unchecked(method, path, token=token, json=body, headers=headers)))
                    for path, token in ((path_of(address, game), token) for game, token in known)
                }
                assert len(answers) == 1, f"{method} {address} tells {answers}"


def path_of(address: str, game: str) -> str:
    return address.replace("<game>", game).replace("<int:seat>", "0")


def test_without_access_head_reveals_no_more_than_get(app: Flask, api: Api) -> None:
    readable = [each for each in game_addresses(app) if each.rpartition("/")[2] not in NOT_READABLE]
    assert readable
    for address in readable:
        for game, token in without_access(api):
            get, head = (api.ask(method, path_of(address, game), token=token) for method in ("GET", "HEAD"))
            assert head.status_code == get.status_code == 401
            assert sorted(head.headers) == sorted(get.headers)


def test_a_matching_etag_does_not_replace_a_token(api: Api) -> None:
    table, foreign = api.create("domino", 2), api.create("domino", 2)
    for path in ("", "/moves", "/score"):
        etag = api.get(table.path + path, token=table.tokens[0]).headers["ETag"]
        for known in (etag, "*", '"2-0"'):
            answer = api.get(table.path + path, token=foreign.tokens[0], headers={"If-None-Match": known})
            assert answer.status_code == 401
            assert "ETag" not in answer.headers


# Store calls of a refusal: they, not the time they take, are compared


class RecordingStore:
    """A store that records the names of its calls."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if not callable(method):
            return method

        def call(*arguments: Any, **named: Any) -> Any:
            self.calls.append(name)
            return method(*arguments, **named)

        return call


class StoreCalls(NamedTuple):
    api: Api
    store: RecordingStore

    def calls_of(self, method: str, path: str, **more: Any) -> tuple[str, ...]:
        """The store calls of one request."""
        self.store.calls.clear()
        self.api.ask_unchecked(method, path, **more)
        return tuple(self.store.calls)


@pytest.fixture
def store_calls(store: RedisStore, feed: RedisEventFeed) -> StoreCalls:
    counted: Any = RecordingStore(store)
    app = create_app(build_games(counted, feed, [SECRET], TTL_SECONDS))
    return StoreCalls(Api(app.test_client(use_cookies=False)), counted)


@pytest.mark.parametrize("key", [None, "a-key-of-somebody"])
def test_a_request_without_access_makes_the_same_store_calls_whatever_the_reason(
    app: Flask, api: Api, store_calls: StoreCalls, key: str | None
) -> None:
    headers = {} if key is None else {"Idempotency-Key": key}
    known = list(without_access(api))
    of_games = [(rule, described) for rule, described in operations(app) if "<game>" in rule.rule]
    assert of_games
    for rule, described in of_games:
        calls = {
            store_calls.calls_of(method_of(rule), path_of(rule.rule, game), token=token, headers=headers)
            for game, token in known
        }
        wanted: tuple[str, ...] = ("read", "find_write") if key and described.id == "changeToken" else ("read",)
        if described.access == "app_game":
            wanted = ()  # no token of a seat is a key
        wanted += ("read",)  # whether the game was deleted, which whoever asks is told
        assert calls == {wanted}, described.id


@pytest.mark.parametrize("key", [None, "a-key-of-my-own"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_tile_not_in_hand_is_refused_alike_with_the_same_store_calls(
    server: redis.Redis, saved_games: SavedGames, store_calls: StoreCalls, variant: str, key: str | None
) -> None:
    headers = {} if key is None else {"Idempotency-Key": key}
    for stage in ("dealt", "late", "second_round"):
        saved_game = saved_games.at(variant, stage)
        game = decoded(saved_game.table.id, saved_game.snapshot)
        seat = game.state.turn
        assert seat is not None
        others = [tile for tile in TILES if tile not in game.state.hands[seat]]
        places = {place_of(game, tile): tile for tile in others}
        assert len(places) >= 3 - (stage == "dealt")
        ends: list[dict[str, Any]] = [{}, {"end": game.state.layout.ends[0].name} if game.state.layout.ends else {}]
        # A worker that has cached an older version may try the move on that first; a seat knows what it could
        # have played then.
        store_calls.api.get(saved_game.table.path)
        answers: dict[bool, set[str]] = {True: set(), False: set()}  # by whether the set has the tile, as all know
        calls = set()
        for tile in places.values():
            for more in ends:
                body = {"action": "play", "tile": tile.name, **more}
                asked: dict[str, Any] = {"token": saved_game.table.tokens[seat], "json": body, "headers": headers}
                calls.add(store_calls.calls_of("POST", f"{saved_game.table.path}/moves", **asked))
                answer = store_calls.api.ask("POST", f"{saved_game.table.path}/moves", **asked)
                assert answer.get_json()["code"] == "illegal_move"
                answers[tile in game.rules.tiles].add(without_tile(answer, tile.name))
        assert [len(each) for each in answers.values()] == [1, len(answers[False])]
        assert len(answers[False]) <= 1
        assert calls == {("read",) if key is None else ("read", "find_write")}
        assert take_snapshot(server, saved_game.table.id) == saved_game.snapshot


@pytest.mark.parametrize("variant", VARIANTS)
def test_out_of_turn_every_tile_is_refused_alike(api: Api, saved_games: SavedGames, variant: str) -> None:
    saved_game = saved_games.at(variant, "late")
    game = decoded(saved_game.table.id, saved_game.snapshot)
    assert game.state.turn is not None
    for seat in saved_game.table.tokens.keys() - {game.state.turn}:
        token, path = saved_game.table.tokens[seat], f"{saved_game.table.path}/moves"
        bodies = [{"action": "play", "tile": tile.name} for tile in TILES]
        assert api.post(path, bodies[0], token=token).get_json()["code"] == "not_your_turn"
        assert len({str(content_of(api.ask_unchecked("POST", path, token=token, json=body))) for body in bodies}) == 1


# ETags, and the order of hands and stock


def test_games_at_one_version_have_one_etag_whatever_was_dealt(store: RedisStore, feed: RedisEventFeed) -> None:
    """All but the id of the write, which is random, and the same here."""
    api = api_with_fixed_clock(store, feed, lambda size: b"write!" if size == len(b"write!") else os.urandom(size))
    etags = set()
    for seed in range(5):
        table = api.create("domino", 2, seed=f"{seed}")
        etags.add(tuple(api.get(table.path, token=token).headers["ETag"] for token in (None, *table.tokens.values())))
    assert etags == {('"2-d3JpdGUh-s"', '"2-d3JpdGUh-0"', '"2-d3JpdGUh-1"')}


def lists_of_tiles(value: Any) -> Iterator[list[str]]:
    """Every list of tiles in an answer, except the tiles on the table."""
    if isinstance(value, dict):
        for name, each in value.items():
            if name != "board":
                yield from lists_of_tiles(each)
    elif isinstance(value, list):
        if value and all(isinstance(each, str) and TILE.fullmatch(each) for each in value):
            yield value
        for each in value:
            yield from lists_of_tiles(each)


@pytest.mark.parametrize("stage", ["dealt", "late", "round_over", "second_round", "finished"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_hands_are_sorted_and_not_in_the_order_of_the_deal(
    api: Api, saved_games: SavedGames, variant: str, stage: str
) -> None:
    table = saved_games.at(variant, stage).table
    checked = 0
    for token in (None, *table.tokens.values()):
        for path in ("", "/score", "/events?limit=1000"):
            for tiles in lists_of_tiles(api.get(table.path + path, token=token).get_json()):
                assert tiles == [tile.name for tile in sort_tiles([parse_tile(name) for name in tiles])]
                checked += 1
    assert checked


# Words and fields of refusals


def refusals_of(api: Api, saved_games: SavedGames) -> list[TestResponse]:
    """Refusals of every kind, in a running game."""
    saved_game = saved_games.at("domino", "late")
    table = saved_game.table
    seat = seat_to_move(api.view(table))
    own, other = table.tokens[seat], table.tokens[(seat + 1) % len(table.tokens)]
    moves, waiting = f"{table.path}/moves", api.create("domino", [{"name": "Ada"}, {"open": True}])
    return [
        api.get(table.path, token="wrong"),
        api.get("/v1/games/nowhere"),
        api.get(table.path, headers={"Accept": "image/png"}),
        api.ask("DELETE", table.path),
        api.ask("POST", moves, token=own, data="{", content_type="application/json"),
        api.ask("POST", moves, token=own, data="{", content_type="text/plain"),
        api.ask("POST", moves, token=own, data="x" * 300_000, content_type="application/json"),
        api.post(moves, {"action": "fly"}, token=own),
        api.post(moves, {"action": "deal"}, token=own),
        api.post(moves, {"action": "pass", "version": 1}, token=own),
        api.post(moves, {"action": "pass"}, token=other),
        api.post(f"{waiting.path}/moves", {"action": "pass"}, token=waiting.tokens[0]),
        api.post(f"{waiting.path}/players", {"name": "Eve", "join_code": "wrong"}),
        api.post(f"{table.path}/players/0/token", {}, token=table.tokens[1]),
    ]


def test_a_problem_has_its_documented_fields_and_no_instance(api: Api, saved_games: SavedGames) -> None:
    known = {"type", "title", "status", "detail", "code", "reason", "params", "causes", "legal_moves"}
    known |= {"to_act", "version", "retry_after"}
    codes = set()
    for answer in refusals_of(api, saved_games):
        problem = json.loads(answer.data)
        codes.add(problem["code"])
        assert set(problem) <= known
        assert problem["type"] == f"/problems#{problem['code']}"
        assert ("legal_moves" in problem) == ("to_act" in problem) == ("version" in problem)
        assert "Location" not in answer.headers
        assert "ETag" not in answer.headers
        assert answer.headers["Cache-Control"] == "no-store"
    assert len(codes) >= 11


def test_the_legal_moves_of_a_refusal_are_those_of_the_requesting_seat(api: Api, saved_games: SavedGames) -> None:
    table = saved_games.at("domino", "late").table
    for seat in table.tokens:
        refused = api.move(table, seat, {"action": "play", "tile": "9-9"}).get_json()
        assert refused["legal_moves"] == api.moves(table, seat)


# Logs


def test_no_log_holds_a_token_a_code_a_key_or_a_tile(
    api: Api, saved_games: SavedGames, server: redis.Redis, caplog: pytest.LogCaptureFixture, app_key: str
) -> None:
    caplog.set_level(logging.DEBUG)
    key = "a-key-that-nobody-may-read"
    people: list[dict[str, Any]] = [{"name": "Secret Ada"}, {"open": True}]
    table = api.create("domino", people, seed="a seed that nobody may read")
    player = {"name": "Secret Bo", "join_code": table.join_code}
    for _ in range(2):
        joined = api.post(f"{table.path}/players", player, headers={"Idempotency-Key": key})
        table.tokens[1] = joined.get_json()["token"]
    api.play_until(table, lambda view: len(view["board"]["tiles"]) > 4)
    changed = [api.post(f"{table.path}/players/0/token", {}, token=table.tokens[0], headers={"Idempotency-Key": key})]
    for path in ("", "/moves", "/score", "/events"):
        api.get(table.path + path, token=table.tokens[0])
        api.get(table.path + path, token=table.tokens[1])
    refusals_of(api, saved_games)
    state = take_snapshot(server, table.id)
    restore(server, table.id, Snapshot(b"4 " + with_sum(b"[99]"), state.events))
    assert api.get(table.path, token=table.tokens[1]).status_code == 503
    restore(server, table.id, Snapshot(b"4 " + with_sum(b"spoilt"), state.events))
    assert api.get(table.path, token=table.tokens[1]).status_code == 500
    restore(server, table.id, state)

    owned = {
        "variant": "domino",
        "players": [{"name": "Ada"}, {"name": "Bo", "ref": "Secret-ref"}],
        "ref": "Secret-game",
    }
    assert api.post("/v1/games", owned, token=app_key).status_code == 201
    hook = {"url": "https://secret.example.com/Secret", "events": ["game.turn"]}
    signing = api.post("/v1/webhooks", hook, token=app_key).get_json()["secret"]
    for token in (app_key, app_key[:-1]):
        api.get(table.path, token=token)
        api.get("/v1/app", token=token)
        api.get(f"/v1/app?token={token}")

    text = caplog.text
    assert "storage unavailable" in text
    assert "internal error" in text
    secrets = [key, str(table.join_code), *table.tokens.values(), changed[0].get_json()["token"]]
    secrets += ["Secret", "a seed", "seat_", "Bearer", app_key[:40], app_key[29:], signing, "whsec_"]
    assert not [secret for secret in secrets if secret in text]
    assert not TILE.findall(re.sub(r"\d{4}-\d\d-\d\d", "", text))
