"""The bare Flask application of the floor, over redis-py as it comes or over the service's own connection."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import redis
from flask import Flask, Response, abort, request

from bench.floor.sizes import sizes_of
from service.storage.redis.connection import connect

BYTES: Final = b"x" * (1 << 20)
TTL_SECONDS: Final = 30 * 86_400
_JSON: Final = "application/json"
_CLIENTS: Final[dict[str, Callable[[str], Any]]] = {"plain": redis.Redis.from_url, "tuned": connect}


def create() -> Flask:
    """The application; ``FLOOR_CLIENT`` is ``plain`` (redis-py as it comes) or ``tuned`` (as the service has it)."""
    server = _CLIENTS[os.environ["FLOOR_CLIENT"]](os.environ["REDIS_URL"])
    create_hash, move_hash = [server.script_load(script(name)) for name in ("create", "move")]
    app = Flask("bench.floor", static_folder=None)

    @app.get("/healthz")
    def healthz() -> Response:
        return Response(b"{}", 200, mimetype=_JSON)

    @app.post("/v1/games/<game>")
    def create_game(game: str) -> Response:
        request.get_data()
        sizes = sizes_of(game)
        key = f"floor:{{{game}}}"
        value = b"1 %b" % BYTES[: sizes.value]
        server.evalsha(create_hash, 2, key, f"{key}:events", value, TTL_SECONDS, BYTES[: sizes.event])
        return Response(BYTES[: sizes.reply], 201, mimetype=_JSON)

    @app.get("/v1/games/<game>")
    def get_game(game: str) -> Response:
        if server.get(f"floor:{{{game}}}") is None:
            abort(404)
        if "If-None-Match" in request.headers:
            return Response(status=304)
        return Response(BYTES[: sizes_of(game).reply], 200, mimetype=_JSON)

    @app.post("/v1/games/<game>/moves")
    def make_move(game: str) -> Response:
        request.get_data()
        sizes = sizes_of(game)
        key = f"floor:{{{game}}}"
        stored = server.get(key)
        if stored is None:
            abort(404)
        version = int(stored.partition(b" ")[0])
        value = b"%d %b" % (version + 1, BYTES[: sizes.value])
        names = (key, f"{key}:events")
        if server.evalsha(move_hash, 2, *names, b"%d " % version, value, TTL_SECONDS, BYTES[: sizes.event]) != 1:
            abort(409)
        return Response(BYTES[: sizes.reply], 201, mimetype=_JSON)

    return app


def script(name: str) -> str:
    """The source of a script of the floor."""
    return (Path(__file__).parent / f"{name}.lua").read_text()
