"""A minimal web application that replaces the real one in tests of the processes around it."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # most tests ask for neither, and the two would take half of the time to start
    from prometheus_client import Gauge
    from redis import Redis

StartResponse = Callable[..., Any]


class Application:
    """Reports its process ids, counts in Redis, responds slowly, reads a body, or streams until ``drain``."""

    def __init__(self) -> None:
        self._draining = threading.Event()
        _log("loaded")

    def seconds(self) -> float:
        return 86_400.0

    def drain(self) -> None:
        _log("drain")
        self._draining.set()

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        status = "200 OK"
        result: dict[str, Any] = {}
        match environ["PATH_INFO"].split("/")[1:]:
            case ["healthz"]:
                result = {"worker": os.getpid(), "master": os.getppid()}
            case ["count"]:
                from redis import RedisError  # as above

                try:
                    result = {"count": _store().incr("count"), "server": _store().info("server")["process_id"]}
                except RedisError:
                    status = "503 Service Unavailable"
            case ["slow", seconds]:
                _log("slow begins")
                time.sleep(float(seconds))
            case ["until-drained"]:
                _log("slow begins")
                self._draining.wait(60)
            case ["body"]:
                result = {"bytes": len(environ["wsgi.input"].read())}
            case ["stream"]:
                start_response(status, [("Content-Type", "text/plain")])
                return self._stream()
            case ["flood"]:
                start_response(status, [("Content-Type", "text/plain")])
                return _flood()
            case ["metrics"]:
                _gauge().inc()
                result = {"folder": os.environ["PROMETHEUS_MULTIPROC_DIR"]}
            case _:
                status = "404 Not Found"
        body = json.dumps(result).encode()
        start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]

    def _stream(self) -> Iterator[bytes]:
        yield b"begins\n"
        while not self._draining.wait(0.1):
            yield b"goes on\n"
        yield b"ends\n"


def create() -> Application:
    """The entry point for gunicorn."""
    return Application()


@cache
def _store() -> Redis:
    from redis import Redis  # as above

    return Redis.from_url(os.environ["REDIS_URL"], socket_timeout=2)


@cache
def _gauge() -> Gauge:
    from prometheus_client import Gauge  # as above

    return Gauge("in_progress", "open requests of a worker", multiprocess_mode="livesum")


def _flood() -> Iterator[bytes]:
    """Chunks without end, which exceed the buffers of a client that does not read."""
    _log("flood begins")
    try:
        while True:
            yield b"x" * 65536
    finally:
        _log("flood is closed")


def _log(what: str) -> None:
    print(what, file=sys.stderr, flush=True)
