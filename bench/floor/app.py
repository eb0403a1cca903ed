"""The bare Flask application of the floor: plain, or with the connection to Redis and the JSON of the service."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import orjson
import redis
from flask import Flask, Response, abort, request
from flask.json.provider import JSONProvider
from marshmallow import ValidationError

from bench.floor.opening import OpeningSchema, open_game
from bench.floor.sizes import sizes_of
from service.redis.connection import connect

BYTES: Final = b"x" * (1 << 20)
TTL_SECONDS: Final = 30 * 86_400
_JSON: Final = "application/json"


class _FastJSON(JSONProvider):
    """JSON by orjson."""

    def dumps(self, obj: Any, **_kwargs: Any) -> str:
        """Return the text of a value."""
        return orjson.dumps(obj).decode()

    def loads(self, s: str | bytes, **_kwargs: Any) -> Any:
        """Return the value of a text."""
        return orjson.loads(s)

    def response(self, *args: Any, **kwargs: Any) -> Response:
        """Return a response with this value."""
        return Response(orjson.dumps(self._prepare_response_obj(args, kwargs)), mimetype=_JSON)


def create() -> Flask:
    """Return the application; with the service's connection to Redis and its JSON if ``FLOOR`` is ``tuned``."""
    tuned = os.environ["FLOOR"] == "tuned"
    server: Any = (connect if tuned else redis.Redis.from_url)(os.environ["REDIS_URL"])
    create_hash, move_hash = [server.script_load(script(name)) for name in ("create", "move")]
    opening = OpeningSchema()
    app = Flask("bench.floor", static_folder=None)
    if tuned:
        app.json = _FastJSON(app)

    @app.get("/healthz")
    def healthz() -> Response:
        return Response(b"{}", 200, mimetype=_JSON)

    @app.post("/v1/games")
    def create_game() -> tuple[Any, int]:
        try:
            asked = opening.load(request.get_json())
        except ValidationError as error:
            return app.json.response({"errors": error.messages}), 422
        opened = open_game(asked)
        key = f"floor:{{{opened.id}}}"
        value = f"1 {app.json.dumps(opened.state)}"
        server.evalsha(create_hash, 2, key, f"{key}:events", value, TTL_SECONDS, app.json.dumps(opened.event))
        return app.json.response(opened.answer), 201

    @app.post("/v1/games/<game>")
    def create_stand_in(game: str) -> Response:
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
    """Return the source of a script of the floor."""
    return (Path(__file__).parent / f"{name}.lua").read_text()
