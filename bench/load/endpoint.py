"""The endpoint of the applications of the load run: it takes every message at once.

A message may come more than once, marked by the same ``webhook-id``; the same of two ids would be doubled.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime
from types import TracebackType
from typing import Any, Final, Self

import orjson
from gevent.pywsgi import WSGIServer

TYPES: Final = ("game.round_over", "game.finished")

Message = tuple[str, int, str]
"""Its game, version and type."""


class Endpoint:
    """Listens on a free port of 127.0.0.1 while the context lasts; calls ``came`` with the delay of each message."""

    def __init__(self, came: Callable[[float], None]) -> None:
        self._came = came
        self._ids: dict[Message, list[str]] = defaultdict(list)
        self._server = WSGIServer(("127.0.0.1", 0), self._answer, log=None)

    def __enter__(self) -> Self:
        """Start to listen."""
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop at once."""
        self._server.stop(timeout=0)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}/"

    @property
    def messages(self) -> int:
        """How many came, each counted once."""
        return len(self._ids)

    @property
    def repeats(self) -> int:
        """How many came again, with the same id."""
        return sum([len(ids) - len(set(ids)) for ids in self._ids.values()])

    def doubled(self) -> list[Message]:
        """Return the messages that came with two ids."""
        return [message for message, ids in self._ids.items() if len(set(ids)) > 1]

    def missing(self, expected: Iterable[Message]) -> list[Message]:
        """Return which of these have not come."""
        return [message for message in expected if message not in self._ids]

    def _answer(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        message = orjson.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
        data = message["data"]
        if message["type"] in TYPES:
            told = (data["game_id"], data["version"], message["type"])
            if told not in self._ids:
                self._came(time.time() - datetime.fromisoformat(message["timestamp"]).timestamp())
            self._ids[told].append(environ["HTTP_WEBHOOK_ID"])
        start_response("200 OK", [("Content-Type", "application/json")])
        return [orjson.dumps({"challenge": data["challenge"]} if "challenge" in data else {})]
