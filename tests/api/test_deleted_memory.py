"""After a deletion, and a poll for deletions, no object of a process has anything of the game.

All objects are looked through that the garbage collector knows or that they refer to. What is looked for is kept
reversed, so that the test itself does not have it.
"""

from __future__ import annotations

import gc
import json
import secrets
import time
import urllib.parse
from base64 import b64encode
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

import pytest
from flask.testing import FlaskClient
from prometheus_client import CollectorRegistry

from service.backends.facade import BackendsFacade
from service.bots.choice import choose_move
from service.bots.knowledge import tile_set
from service.bots.opening import opening_hands
from service.bots.playout import _held
from service.engine.presence import Left
from service.engine.tiles import Tile
from service.games.automation.deletions import DeletedGames
from service.games.automation.due import Automation
from service.games.model.game import Game
from service.games.ports import EventNotification
from service.games.store.notifications import RedisEventFeed
from service.games.store.redis_store import RedisStore
from service.games.store.repository import GameRepository
from service.redis.server_clock import system_clock
from service.web.app import Application
from service.workers.bot_worker import BotWorker, Decisions, RoundEvents
from service.workers.consumer import Queue
from service.workers.metrics import WorkerMetrics
from tests.api.conftest import SECRET, TTL_SECONDS
from tests.api.erasing import Eraser
from tests.support.application import build_streams, create_app
from tests.support.games import build_games, build_repository
from tests.support.stores.redis_stores import redis_deletions, redis_reminders

pytestmark = pytest.mark.gate

READ = ("", "?text=true", "/moves", "/score", "/events", "/events?text=true&view=true", "/fairness", "/record")
READ_TOO = ("/board.json", "/board.svg", "/board.txt", "/board.json?version=4", "/board.svg?version=5")


class Traces:
    """What must not be found, reversed; and the hands, as the numbers of their tiles."""

    def __init__(self) -> None:
        self._texts: dict[str, bytes] = {}
        self._hands: set[str] = set()

    def add(self, name: str, text: str | bytes) -> None:
        self._texts[name] = (text if isinstance(text, bytes) else text.encode())[::-1]

    def add_hand(self, tiles: Any) -> None:
        if len(tiles) > 3:
            self._hands.add(_hand_key([tile.index for tile in tiles]))

    def found(self) -> set[str]:
        """What is found in the memory of this process."""
        gc.collect()
        found: set[str] = set()
        wanted = {name: text[::-1] for name, text in self._texts.items()}
        as_text = {name: text.decode("latin-1") for name, text in wanted.items()}
        own = {id(each) for each in (*wanted.values(), *as_text.values())}
        for each in _everything():
            if isinstance(each, str):
                if id(each) not in own:
                    for name, text in as_text.items():
                        if text in each:
                            found.add(name)
            elif isinstance(each, bytes | bytearray):
                if id(each) not in own:
                    found |= {name for name, content in wanted.items() if content in each}
            elif isinstance(each, tuple | list) and self._is_hand(each):
                found.add("a hand")
        return found

    def _is_hand(self, each: tuple[Any, ...] | list[Any]) -> bool:
        if len(each) <= 3 or type(each[0]) is not Tile:
            return False
        return _hand_key([tile.index for tile in each if type(tile) is Tile]) in self._hands


def _hand_key(indexes: list[int]) -> str:
    return sha256(repr(sorted(indexes)).encode()).hexdigest()


def _everything() -> Iterator[object]:
    """Every object that the garbage collector knows, and what those refer to, but for the other tests."""
    known: set[int] = set()
    leaves: dict[type, bool] = {}  # asked once of a type, not of millions of objects
    stack: list[object] = gc.get_objects()
    own = {id(stack), id(known)}
    while stack:
        each = stack.pop()
        if id(each) in known or id(each) in own:
            continue
        known.add(id(each))
        yield each
        kind = type(each)
        if kind not in leaves:
            leaves[kind] = issubclass(kind, str | bytes | int | float | pytest.Item)
        if not leaves[kind]:
            stack.extend(gc.get_referents(each))


@pytest.fixture
def traces() -> Traces:
    return Traces()


def ask(client: FlaskClient, method: str, path: str, token: str | None, body: Any = None) -> Any:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    answer = client.open(path, method=method, headers=headers, json=body)
    with answer:
        assert answer.status_code in (200, 201, 204), (method, path, answer.text)
        return json.loads(answer.data) if answer.is_json else None


def prepare(store: RedisStore, client: FlaskClient, key: str, traces: Traces, **more: Any) -> str:
    """Play in a game of this worker until all its caches have something of it; returns its id."""
    mark = secrets.token_hex(6)
    players = [{"name": f"Zoë {mark} {seat}", "ref": f"ref-{mark}-{seat}"} for seat in range(2)]
    players[0]["client_seed"] = f"seed-{mark}"
    if "clock" not in more:
        players[1] = {"open": True}  # type: ignore[dict-item]
    # Of the largest set: a hand of few tiles of the usual one may be in a match that another test has cached.
    body = {"variant": "domino", "ref": f"game-{mark}", "players": players, "options": {"set": 12}, **more}
    created = ask(client, "POST", "/v1/games", key, body)
    path, tokens = f"/v1/games/{created['game']['id']}", {each["seat"]: each["token"] for each in created["seats"]}
    if "join_code" in created:
        join = {"name": f"Late {mark}", "join_code": created["join_code"]}
        tokens[1] = ask(client, "POST", f"{path}/players", None, join)["token"]
        traces.add("the join code", created["join_code"])
        traces.add("the hash of the join code", b64encode(sha256(created["join_code"].encode()).digest()))
    for _ in range(3):
        seat = ask(client, "GET", path, None)["turn"]["seat"]
        move = ask(client, "GET", f"{path}/moves", tokens[seat])["legal_moves"][0]
        ask(client, "POST", f"{path}/moves", tokens[seat], move)
        game = store.read(created["game"]["id"])
        assert game is not None
        traces.add(f"the state at {game.version}", game.state[:40])
    for part in (*READ, *READ_TOO):
        for token in (*tokens.values(), key, None):
            ask(client, "GET", path + part, token)
    traces.add("the mark of all names and refs", mark)
    for seat, token in tokens.items():
        traces.add(f"token {seat}", token)
        traces.add(f"hash {seat}", sha256(token.encode()).digest())
        traces.add(f"hash {seat} as stored", b64encode(sha256(token.encode()).digest()))
    return str(created["game"]["id"])


def add_hands(traces: Traces, repository: GameRepository, game_id: str) -> None:
    game = repository.reader.load(game_id)
    assert game is not None
    for hand in game.state.hands:
        traces.add_hand(hand)


class Worker:
    """A web worker that asks which games were deleted when it is told to."""

    def __init__(self, store: RedisStore, feed: RedisEventFeed, backends: BackendsFacade) -> None:
        self._made_of = store, feed, backends
        self.games = build_games(store, feed, [SECRET], TTL_SECONDS)
        self.app: Application = create_app(self.games, build_streams(keepalive_seconds=0.1), backends=backends)
        self.deleted = DeletedGames(redis_deletions(store._calls.topology))
        self.deleted.on_deletion(self.app.services.forget)
        self.deleted.on_erasure(self.app.services.drop_cached)

    def another(self) -> Worker:
        return Worker(*self._made_of)

    def client(self) -> FlaskClient:
        return self.app.test_client(use_cookies=False)


@pytest.fixture
def worker(store: RedisStore, feed: RedisEventFeed, backends: BackendsFacade) -> Worker:
    return Worker(store, feed, backends)


def test_nothing_of_a_deleted_game_is_left_in_a_worker(
    store: RedisStore, worker: Worker, app_key: str, traces: Traces
) -> None:
    game = prepare(store, worker.client(), app_key, traces)
    add_hands(traces, worker.games.access._repository, game)
    worker.games.access._repository.histories.at_version(worker.games.access._repository.reader.reload(game), 4)
    worker.games.access._repository.reader.after_write(game, 5, "another")
    worker.deleted.poll()
    before = traces.found()
    assert {"the mark of all names and refs", "hash 0", "hash 1", "a hand"} <= before
    assert any(each.startswith("the state") for each in before)
    ask(worker.another().client(), "DELETE", f"/v1/games/{game}", app_key)
    assert traces.found(), "the worker was not told"
    worker.deleted.poll()

    assert traces.found() == set()


def test_nothing_of_who_was_erased_is_left_in_a_worker(
    store: RedisStore, redis_url: str, worker: Worker, app_key: str, traces: Traces
) -> None:
    mark = secrets.token_hex(6)
    game = prepare(store, worker.client(), app_key, Traces())
    repository = worker.games.access._repository
    stored = repository.reader.reload(game).seats[0]
    traces.add("the ref", stored.ref or mark)
    traces.add("the hash", stored.token_hash or mark)
    traces.add("the name", stored.name or mark)
    ref = stored.ref
    del stored
    repository.histories.at_version(repository.reader.reload(game), 4)
    worker.deleted.poll()
    assert traces.found() == {"the ref", "the hash", "the name"}
    answer = worker.another().client().delete(f"/v1/players/{ref}", headers={"Authorization": f"Bearer {app_key}"})
    assert answer.status_code == 202
    del ref, answer
    urllib.parse.clear_cache()  # type: ignore[attr-defined] # the client of the test has split the URL
    eraser = Eraser(redis_url, TTL_SECONDS)
    eraser.run()
    del eraser
    assert traces.found(), "the worker was not told"
    worker.deleted.poll()

    assert traces.found() == set()


def test_the_worker_that_deletes_a_game_drops_what_it_reads_of_it_afterwards(
    store: RedisStore, worker: Worker, app_key: str, traces: Traces
) -> None:
    """A request may have read the game before, and keeps it after."""
    game_id = prepare(store, worker.client(), app_key, traces)
    stored = store.read(game_id)
    assert stored is not None
    ask(worker.client(), "DELETE", f"/v1/games/{game_id}", app_key)
    worker.deleted.poll()
    with pytest.MonkeyPatch.context() as before:
        before.setattr(store, "read", {game_id: stored}.get)
        worker.games.access._repository.reader.load(game_id)
    del stored, before
    assert "hash 0" in traces.found()
    worker.deleted.poll()

    assert traces.found() == set()


def test_the_streams_of_a_deleted_game_let_go_of_it_though_nobody_reads_them(
    store: RedisStore, worker: Worker, app_key: str, traces: Traces
) -> None:
    client = worker.client()
    game = prepare(store, client, app_key, traces, clock={"turn": 600})
    answer = client.get(f"/v1/games/{game}/events", headers={"Accept": "text/event-stream"}, buffered=False)
    chunks = answer.iter_encoded()
    next(chunks)
    (subscription,) = list(worker.app.extensions["domino"].streams._open)
    stored = store.event_range(game, 0, 100)
    assert stored is not None
    subscription._on_notification(EventNotification(0, stored.events, b"an id"))  # not read by its client
    traces.add("an event", stored.events[1])
    del stored
    ask(client, "DELETE", f"/v1/games/{game}", app_key)
    worker.deleted.poll()
    assert "an event" not in traces.found()
    rest = b"".join([chunk for _, chunk in zip(range(100), chunks, strict=False)])
    assert b'"deleted"' in rest.split(b"data: ")[-1]
    answer.close()
    del rest, chunks, answer, subscription

    assert traces.found() == set()


def test_nothing_of_a_deleted_game_is_left_in_a_bot_worker(
    store: RedisStore, worker: Worker, app_key: str, traces: Traces
) -> None:
    client = worker.client()
    game_id = prepare(store, client, app_key, traces, clock={"turn": 600})
    topology = store._calls.topology
    repository = build_repository(store, system_clock, secrets.token_bytes)
    reminders = redis_reminders(topology)
    automation = Automation(repository)
    metrics = WorkerMetrics(CollectorRegistry())
    decisions = Decisions(RoundEvents(repository), metrics, choose_move)
    game = repository.reader.load(game_id)
    assert game is not None
    decisions.events.of(game)  # as for a decision
    seat = game.state.turn
    assert seat is not None
    repository.transactions.transact(game, _away(seat))
    turn = automation.next_turn(game_id)
    assert turn is not None
    before_it_is_due = turn.due - 1
    bots = BotWorker(automation, decisions, Queue(reminders, lambda: before_it_is_due, metrics))
    deleted = DeletedGames(redis_deletions(topology))
    deleted.on_deletion(repository.cache.forget)
    deleted.on_deletion(bots.forget)
    del turn
    for _ in range(1200):
        bots.step()
        if waits(bots, game_id):
            break
        time.sleep(0.05)
    assert waits(bots, game_id), "a move is chosen, and waits until it is due"
    add_hands(traces, repository, game_id)
    del game
    assert {"a hand", "hash 0"} <= traces.found()
    ask(client, "DELETE", f"/v1/games/{game_id}", app_key)
    worker.deleted.poll()
    deleted.poll()
    assert not waits(bots, game_id)
    assert traces.found() - {"a hand"} == set()
    _no_hand_but_as_a_key_of_a_function(traces)


def waits(bots: BotWorker, game: str) -> bool:
    """Whether a move is chosen in this game; other tests have games on the same server."""
    return any(task.reminder.game == game for task in bots._waiting)


def _away(seat: int) -> Callable[[Game], Any]:
    return lambda game: (game, [Left(seat)])


def _no_hand_but_as_a_key_of_a_function(traces: Traces) -> None:
    """Bots remember sums of tiles by the tiles alone: which game had them, or which seat, cannot be told."""
    tile_set.cache_clear()
    opening_hands.cache_clear()
    _held.cache_clear()

    assert traces.found() == set()
