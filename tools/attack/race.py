"""The race for the end of a turn: people move over HTTP at their deadline, and when the service ends their turn.

Each turn must have one outcome, whichever comes first: the move, or the end by the clock. Owns when people move, and
what is judged afterwards, by the checker of histories and the stored events.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from heapq import heappop, heappush
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import orjson

from service.engine.presence import TimedOut
from service.games.commands.validation import GameRequest, SeatRequest
from service.games.model.clock import GRACE_MS, ClockSettings
from service.games.store.redis_store import RedisStore
from service.redis.topology import open_topology
from tests.histories.checker import Verdict, check, read_game
from tests.histories.history import History, MoveRequest, Operation, OperationResult
from tests.histories.history import Outcome as Known
from tests.laws.clocks import ClockModel
from tests.storage.servers import RealServer
from tests.support.background import Background
from tests.support.serving import START_SECONDS, Service
from tests.support.stores.redis_stores import redis_store
from tests.workers.tables import TTL, on_redis
from tools.attack.http import Address, Closed, Connection, request

CLIENTS: Final = 6
TABLES: Final = 16
"""Games of each client at a time."""
AROUND_MS: Final = 20
"""A move is sent at most so long before or after the deadline."""
SWEEP_MS: Final = 300
"""Every other move is sent within so long after the time from which the service may end the turn: it looks so often."""
SCHEDULERS: Final = 2
_CLOCK: Final = ClockSettings(turn=500, absence="move")
_RETRY_SECONDS: Final = 0.05


class Raced(NamedTuple):
    """The moves by when they were sent and what was answered, and what must not have happened."""

    counted: Counter[str]
    verdict: Verdict
    early: list[str]
    untold: list[str]
    """Refusals that do not tell the new version."""


class Table(NamedTuple):
    """A game of two people, and the tokens of both."""

    game: str
    tokens: tuple[str, ...]


class _Client(threading.Thread):
    """Plays several games: whenever a turn's deadline comes, its player moves."""

    def __init__(
        self, address: Address, tables: Iterator[Table], history: History, number: int, *, seconds: float, games: int
    ) -> None:
        super().__init__(daemon=True)
        self.counted: Counter[str] = Counter()
        self.untold: list[str] = []
        self._connection = Connection(address, f"127.0.1.{number + 1}")
        self._random = Random(number)  # noqa: S311 # reproducible on purpose
        self._tables = tables
        self._history = history
        self._seconds = seconds
        self._games = games
        self._plans: list[tuple[float, int, Table, dict[str, Any] | None]] = []
        self._numbers = iter(range(10**9))

    def run(self) -> None:
        for _ in range(self._games):
            self._plan(time.time(), next(self._tables), None)
        until = time.time() + self._seconds
        while time.time() < until:
            at, _, table, view = heappop(self._plans)
            time.sleep(max(at - time.time(), 0))
            try:
                if view is None:
                    self._look(table)
                else:
                    self._move(table, view)
                    self._look(table)
            except Closed:
                self._plan(time.time() + _RETRY_SECONDS, table, None)
        self._connection.close()

    def _plan(self, at: float, table: Table, view: dict[str, Any] | None) -> None:
        heappush(self._plans, (at, next(self._numbers), table, view))

    def _look(self, table: Table) -> None:
        """Look who is to move, and plan the move of that player."""
        view = self._view(table, 0)
        if view["status"] == "finished":
            table = next(self._tables)
            view = self._view(table, 0)
        if view["status"] == "playing" and "deadline" in view["turn"]:
            seat = view["turn"]["seat"]
            view = view if seat == 0 else self._view(table, seat)
            if view.get("legal_moves") and view["turn"]["seat"] == seat and "deadline" in view["turn"]:
                after = self._random.choice((0, GRACE_MS)) + self._random.uniform(-AROUND_MS, AROUND_MS)
                if after > AROUND_MS:
                    after += self._random.uniform(0, SWEEP_MS)
                return self._plan(_deadline(view) + after / 1000, table, view)
        return self._plan(time.time() + _RETRY_SECONDS, table, None)

    def _view(self, table: Table, seat: int) -> dict[str, Any]:
        answer = self._connection.send(request("GET", f"/v1/games/{table.game}", token=table.tokens[seat]))
        view: dict[str, Any] = orjson.loads(answer.body)
        return view

    def _move(self, table: Table, view: dict[str, Any]) -> None:
        wanted, seat = dict(view["legal_moves"][0]), view["turn"]["seat"]
        version = view["version"] if self._random.random() < 0.5 else None
        what = MoveRequest(wanted["action"], wanted.get("tile"), wanted.get("end"), wanted.get("face_down", False))
        operation = self._history.add(Operation(kind="move", game=table.game, seat=seat, what=what, at=version))
        if version is None:
            wanted.pop("version", None)
        body = orjson.dumps(wanted)
        when = _when((time.time() - _deadline(view)) * 1000)
        result = self._history.attempt(operation, lambda: self._send(table, seat, body, view["version"]))
        answered = "made" if result.outcome is Known.MADE else f"refused ({result.code})"
        self.counted[f"{answered}, sent {when}"] += 1

    def _send(self, table: Table, seat: int, body: bytes, seen: int) -> OperationResult:
        try:
            data = request("POST", f"/v1/games/{table.game}/moves", body, token=table.tokens[seat])
            answer = self._connection.send(data)
        except Closed:
            return OperationResult(Known.UNKNOWN, "no answer")
        said = orjson.loads(answer.body)
        if answer.status == 201:
            return OperationResult(Known.MADE, "", table.game, answer.body, version=said["version"])
        if answer.status in (409, 412) and said.get("version", 0) <= seen:
            self.untold.append(f"{table.game}: {said}")
        code = said.get("code", str(answer.status))
        outcome = Known.UNKNOWN if answer.status == 500 or code == "outcome_unknown" else Known.NOT_MADE
        return OperationResult(outcome, code)


def _await_worker(address: Address) -> None:
    """Wait for an answer, which the first worker gives once it has started."""
    connection = Connection(address, "127.0.1.1", START_SECONDS)
    connection.send(request("GET", "/healthz"))
    connection.close()


def _deadline(view: dict[str, Any]) -> float:
    """Of the running turn, in seconds since 1970."""
    return datetime.fromisoformat(view["turn"]["deadline"]).timestamp()


def _when(after: float) -> str:
    """So many milliseconds after a deadline, in words."""
    if abs(after) <= AROUND_MS:
        return f"within {AROUND_MS} ms of the deadline"
    return "when the service may end the turn" if GRACE_MS - AROUND_MS <= after <= GRACE_MS + SWEEP_MS else "between"


def race(seconds: float, games: int = TABLES) -> Raced:
    """Let people race the clock for so long, each client in so many games at a time, and judge what came of it."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="domino-race-")))
        server = RealServer(folder / "redis")
        stack.callback(server.stop)
        history = History()
        tables = _Tables(server.url, history)
        with ExitStack() as processes:
            service = processes.enter_context(Service(folder / "data", REDIS_URL=server.url))
            for name in ["scheduler"] * SCHEDULERS + ["bots"]:
                processes.enter_context(Background(name, server.url, folder / "logs"))
            host, _, port = service.url.removeprefix("http://").partition(":")
            address = (host, int(port))
            _await_worker(address)
            clients = [
                _Client(address, tables, history, number, seconds=seconds, games=games) for number in range(CLIENTS)
            ]
            for client in clients:
                client.start()
            for client in clients:
                client.join()
            time.sleep(3)  # until what is due has been done
        # The games go on by themselves, and a game is judged by two reads: nobody may write between them.
        store = redis_store(open_topology(server.url), TTL)
        raced = Raced(Counter(), check(history, store, tables.made), [], [each for c in clients for each in c.untold])
        for client in clients:
            raced.counted.update(client.counted)
        for game_id in tables.made:
            _judge_turns(store, game_id, raced)
    return raced


class _Tables:
    """New games in the store. Their clock is faster than a client may ask for, for more turns in the time."""

    def __init__(self, url: str, history: History) -> None:
        self.made: list[str] = []
        self._history = history
        self._lock = threading.Lock()
        self._hosted = on_redis(url)

    def __iter__(self) -> Iterator[Table]:
        return self

    def __next__(self) -> Table:
        with self._lock:
            name = f"A{len(self.made)}"
            seats = (SeatRequest("human", name), SeatRequest("human", "B"))
            created = self._hosted.create(GameRequest("domino", seats, {}, clock=_CLOCK, pace=0))
            self.made.append(created.view.id)
            operation = self._history.add(Operation(kind="create", what=name))
            self._history.attempt(operation, lambda: OperationResult(Known.MADE, game=created.view.id))
        return Table(created.view.id, tuple([each.token for each in created.seats]))


def _judge_turns(store: RedisStore, game_id: str, raced: Raced) -> None:
    """Follow the events of a game with a clock of the judge's own."""
    read = read_game(store, game_id, Verdict())
    assert read is not None
    game, history = read
    model = ClockModel(game.rules, game.clock, set(game.seats.people))
    for version, at, event, _ in history:
        if isinstance(event, TimedOut):
            raced.counted["turns ended by the service"] += 1
            if model.deadline is None or at < model.deadline:
                raced.early.append(f"{game_id}: version {version}")
        try:
            model.take(at, event)
        except (AssertionError, ValueError) as error:
            raced.verdict.doubled.append(f"{game_id}: version {version}, {event}: {error}")
            return
    raced.counted["turns"] += model.turns
