"""A tiny web application that replaces the real one in tests of the processes around it."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import redis
from prometheus_client import Gauge

StartResponse = Callable[..., Any]


class Application:
    """Returns the worker's process id, counts in Redis, sleeps, reads a body, or streams until it is stopped."""

    def __init__(self) -> None:
        self._store = redis.Redis.from_url(os.environ["REDIS_URL"], socket_timeout=2)
        self._draining = threading.Event()
        self._going_on = Gauge("going_on", "what a worker has open", multiprocess_mode="livesum")
        _note("loaded")

    def drain(self) -> None:
        _note("drain")
        self._draining.set()

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        status = "200 OK"
        answer: dict[str, Any] = {}
        match environ["PATH_INFO"].split("/")[1:]:
            case ["healthz"]:
                answer = {"worker": os.getpid(), "master": os.getppid()}
            case ["count"]:
                try:
                    answer = {"count": self._store.incr("count"), "server": self._store.info("server")["process_id"]}
                except redis.RedisError:
                    status = "503 Service Unavailable"
            case ["slow", seconds]:
                _note("slow begins")
                time.sleep(float(seconds))
            case ["body"]:
                answer = {"bytes": len(environ["wsgi.input"].read())}
            case ["stream"]:
                start_response(status, [("Content-Type", "text/plain")])
                return self._stream()
            case ["flood"]:
                start_response(status, [("Content-Type", "text/plain")])
                return _flood()
            case ["metrics"]:
                self._going_on.inc()
                answer = {"folder": os.environ["PROMETHEUS_MULTIPROC_DIR"]}
            case _:
                status = "404 Not Found"
        body = json.dumps(answer).encode()
        start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]

    def _stream(self) -> Iterator[bytes]:
        yield b"begins\n"
        while not self._draining.wait(0.1):
            yield b"goes on\n"
        yield b"ends\n"


def create() -> Application:
    """The application that gunicorn serves."""
    return Application()


def _flood() -> Iterator[bytes]:
    """An endless body, for a client that does not read it."""
    _note("flood begins")
    try:
        while True:
            yield b"x" * 65536
    finally:
        _note("flood is closed")


def _note(what: str) -> None:
    print(what, file=sys.stderr, flush=True)
