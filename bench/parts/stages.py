"""Where the time of one move goes, stage by stage, on real stored games.

The stages are the public functions that handle a request, called here in order and timed one by one. The game is
cached, as for most moves; the cost of reading it is measured separately. Each move is also
made in a copy of the game through the whole application without a server, and in another one over HTTP. What the
stages do not account for is Flask's in the first, gunicorn's and the sockets' in the second.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from statistics import median
from time import perf_counter, time
from typing import Any, Final
from wsgiref.types import WSGIEnvironment

import orjson
from flask import Flask
from werkzeug.test import EnvironBuilder

from bench.driver import Connection
from bench.hosted import Hosted, create_game
from bench.report import Section, Table
from bench.scale import Scale
from bench.setups import LONGEST, USUAL, Setup, Step, matches
from bench.stand import Stand, open_store
from service.bootstrap.web import build_app
from service.config import Settings
from service.engine.moves import Move
from service.engine.referee import advance
from service.games.access import seat_of
from service.games.model.following import with_events
from service.games.model.game import Game
from service.games.model.tokens import new_write_id
from service.games.model.views import view_game
from service.games.ports import Commit, Store, WriteRequest
from service.games.store.codec import decode_game, encode_game
from service.games.store.repository import DEFAULT_POLICY
from service.games.store.transactions import encode_events
from service.redis.topology import SingleNodeTopology
from service.web.fields.moves import MoveSchema
from service.web.http.body import read_json, validate
from service.web.http.errors import ENVIRON
from service.web.http.headers import bearer_token, expected_game, negotiate
from service.web.view.serializers import game_view_json

STAGES: Final = ("parse", "enter", "decide", "encode", "script", "present")
UNLESS_REMEMBERED: Final = ("read", "decode")
"""Stages of a move in a game that the worker has not cached, or not in its current version."""
MEANINGS: Final = {
    "parse": "the bearer, the body, its schema",
    "read": "one GET from Redis",
    "decode": "the stored game",
    "enter": "whose token it is",
    "decide": "the referee: events and the next state",
    "encode": "the next state and the events as bytes",
    "script": "one script in Redis",
    "present": "the view, its legal moves, as JSON",
    "Flask": "routing, headers, CORS",
    "server": "gunicorn, gevent, sockets, and the client",
}
TTL_SECONDS: Final = 30 * 86_400
_move_in: Final = MoveSchema()
_SETUPS: Final = (USUAL, LONGEST)


def run(stand: Stand, scale: Scale) -> Section:
    """Measure the stages of the usual and of the longest game."""
    tables = [_table(stand, scale, setup) for setup in _SETUPS[: 1 if scale.setups else None]]
    return Section(
        title="Where the time of a move goes",
        text="Medians over all moves of whole matches, one client at a time.",
        tables=tables,
    )


def _table(stand: Stand, scale: Scale, setup: Setup) -> Table:
    settings = Settings(redis_url=stand.redis_url, secret_key=("bench" * 8,), log_level="warning")
    app = build_app(settings)
    store = open_store(SingleNodeTopology(stand.redis), TTL_SECONDS)
    stages: dict[str, list[float]] = {stage: [] for stage in (*STAGES, *UNLESS_REMEMBERED)}
    applied: list[float] = []
    asked: list[float] = []
    for match in matches(setup, scale.matches, scale.longest):
        with Connection(stand["service"].address) as connection:
            staged, whole, served = [create_game(connection, match) for _ in range(3)]
            game = _read_in_stages(store, staged, stages)
            for step in match.steps:
                _read_in_stages(store, staged, stages)
                game = _move_in_stages(app, store, game, staged, step=step, stages=stages)
                applied.append(_move_in_application(app, whole, step))
                request = served.move(step)
                began = perf_counter()
                connection.send(request)
                asked.append(perf_counter() - began)
    times = {stage: median(taken) for stage, taken in stages.items()}
    inside, outside = median(applied), median(asked)
    times["Flask"] = inside - sum([times[stage] for stage in STAGES])
    times["server"] = outside - inside
    rows = [
        (f"{stage}: {MEANINGS[stage]}", f"{times[stage] * 1e6:.0f}", f"{times[stage] / outside:.0%}")
        for stage in (*STAGES, "Flask", "server")
    ]
    rows.append(("in all", f"{outside * 1e6:.0f}", "100%"))
    rows += [
        (f"unless remembered, {stage}: {MEANINGS[stage]}", f"{times[stage] * 1e6:.0f}", "")
        for stage in UNLESS_REMEMBERED
    ]
    return Table(f"One move, {setup.name}", ("stage", "µs", "share"), rows)


class Stopwatch:
    """Measures stages by laps."""

    def __init__(self, stages: dict[str, list[float]]) -> None:
        self._stages = stages
        self._last = perf_counter()

    def lap(self, stage: str) -> None:
        """Add the time since the last lap to this stage."""
        now = perf_counter()
        self._stages[stage].append(now - self._last)
        self._last = perf_counter()


def _read_in_stages(store: Store, hosted: Hosted, stages: dict[str, list[float]]) -> Game:
    watch = Stopwatch(stages)
    stored = store.read(hosted.id)
    assert stored is not None
    watch.lap("read")
    game = decode_game(hosted.id, stored.version, stored.state)
    watch.lap("decode")
    return game


def _move_in_stages(
    app: Flask, store: Store, game: Game, hosted: Hosted, *, step: Step, stages: dict[str, list[float]]
) -> Game:
    environ = _environ(hosted, step)
    with app.request_context(environ):
        current = ENVIRON.set(environ)  # as LeanFlask does
        watch = Stopwatch(stages)
        token = bearer_token()
        negotiate("application/json")
        asked = validate(_move_in, read_json())
        expected = expected_game(asked.get("version"))
        watch.lap("parse")
        assert token is not None
        seat = seat_of(token, game)
        assert seat is not None
        watch.lap("enter")
        assert expected is None or expected.matches(game, seat)
        move = Move(asked["action"], asked.get("tile"), asked.get("end"), asked.get("face_down", False))
        events, state = advance(game.rules, game.deck, game.state, seat, move=move)
        watch.lap("decide")
        write = WriteRequest(new_write_id(os.urandom))
        now = int(time() * 1000)
        after = with_events(game._replace(state=state), events, game.state, at=now, write_id=write.id.decode())
        data = encode_events(game.state, events, after, now - game.created_at, yielding=iter)
        value = encode_game(after)
        watch.lap("encode")
        assert store.commit(hosted.id, Commit(game.version, value, data, write)) is None
        watch.lap("script")
        orjson.dumps(game_view_json(view_game(after, seat, DEFAULT_POLICY.lifetimes)))
        watch.lap("present")
        ENVIRON.reset(current)
    return after


def _move_in_application(app: Flask, hosted: Hosted, step: Step) -> float:
    """Seconds from the call of the application to the end of its response."""
    said: list[str] = []

    def start_response(status: str, _headers: Any, _error: Any = None) -> Callable[[bytes], object]:
        said.append(status)
        return lambda _data: None

    environ = _environ(hosted, step)
    began = perf_counter()
    b"".join(app(environ, start_response))
    taken = perf_counter() - began
    assert said[0].startswith("201")
    return taken


def _environ(hosted: Hosted, step: Step) -> WSGIEnvironment:
    headers = [("Authorization", f"Bearer {hosted.tokens[step.seat]}"), ("Accept", "*/*")]
    path = f"{hosted.path}/moves"
    builder = EnvironBuilder(path, method="POST", headers=headers, data=step.body, content_type="application/json")
    return builder.get_environ()
