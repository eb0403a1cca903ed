"""FastAPI on uvicorn, with redis.asyncio. As bare as the floor."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha1
from typing import Any

import redis.asyncio
from fastapi import FastAPI, Request, Response

from bench.floor.app import BYTES, TTL_SECONDS, script
from bench.floor.sizes import sizes_of

_JSON = "application/json"


def create() -> FastAPI:
    """Return the application over the Redis of ``REDIS_URL``."""
    server: Any = redis.asyncio.Redis.from_url(os.environ["REDIS_URL"])
    create_hash, move_hash = [sha1(script(name).encode()).hexdigest() for name in ("create", "move")]  # noqa: S324

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        for name in ("create", "move"):
            await server.script_load(script(name))
        yield
        await server.aclose()

    app = FastAPI(lifespan=lifespan, openapi_url=None)

    @app.get("/healthz")
    async def healthz() -> Response:
        return Response(b"{}", 200, media_type=_JSON)

    @app.post("/v1/games/{game}")
    async def create_game(game: str, request: Request) -> Response:
        await request.body()
        sizes = sizes_of(game)
        key = f"floor:{{{game}}}"
        value = b"1 %b" % BYTES[: sizes.value]
        await server.evalsha(create_hash, 2, key, f"{key}:events", value, TTL_SECONDS, BYTES[: sizes.event])
        return Response(BYTES[: sizes.reply], 201, media_type=_JSON)

    @app.get("/v1/games/{game}")
    async def get_game(game: str) -> Response:
        if await server.get(f"floor:{{{game}}}") is None:
            return Response(status_code=404)
        return Response(BYTES[: sizes_of(game).reply], 200, media_type=_JSON)

    @app.post("/v1/games/{game}/moves")
    async def make_move(game: str, request: Request) -> Response:
        await request.body()
        sizes = sizes_of(game)
        key = f"floor:{{{game}}}"
        stored = await server.get(key)
        if stored is None:
            return Response(status_code=404)
        version = int(stored.partition(b" ")[0])
        value = b"%d %b" % (version + 1, BYTES[: sizes.value])
        names = (key, f"{key}:events")
        event = BYTES[: sizes.event]
        if await server.evalsha(move_hash, 2, *names, b"%d " % version, value, TTL_SECONDS, event) != 1:
            return Response(status_code=409)
        return Response(BYTES[: sizes.reply], 201, media_type=_JSON)

    return app
