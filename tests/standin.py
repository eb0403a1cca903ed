"""A tiny web application in the place of the real one, for the tests of the processes around it."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import redis

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def create() -> Application:
    """What gunicorn is given: it says who serves, counts in Redis, or takes its time."""
    store = redis.Redis.from_url(os.environ["REDIS_URL"], socket_timeout=2)

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        status, answer = "200 OK", {}
        match environ["PATH_INFO"].split("/")[1:]:
            case ["healthz"]:
                answer = {"worker": os.getpid(), "master": os.getppid()}
            case ["count"]:
                try:
                    answer = {"count": store.incr("count"), "server": store.info("server")["process_id"]}
                except redis.RedisError:
                    status = "503 Service Unavailable"
            case ["slow", seconds]:
                print("slow begins", file=sys.stderr, flush=True)
                time.sleep(float(seconds))
            case _:
                status = "404 Not Found"
        body = json.dumps(answer).encode()
        start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]

    return application
