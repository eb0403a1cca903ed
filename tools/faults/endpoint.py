"""The endpoint of an application: takes its messages, and compares them with the events of its games.

A message is expected for every event of ``EXPECTED``; of turns only the newest one is sent, so none is expected. They
come at least once, those of a game in order; one that comes again may come later. Does not depend on what fails.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from types import TracebackType
from typing import Final, NamedTuple, Self

import orjson

from service.engine.events import Finished, RoundEnded
from service.engine.presence import TimedOut
from service.games.model.game_events import EventEnvelope, Joined

EXPECTED: Final = {
    Joined: "game.joined",
    RoundEnded: "game.round_over",
    Finished: "game.finished",
    TimedOut: "game.timed_out",
}
TYPES: Final = tuple(EXPECTED.values())


class Told(NamedTuple):
    """A message about a game: the version of its event, and its type."""

    version: int
    type: str


class Endpoint:
    """Listens on a free port of 127.0.0.1 while the context lasts, and answers every message at once."""

    def __init__(self) -> None:
        self._told: dict[str, dict[Told, None]] = {}
        self._lock = threading.Lock()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = endpoint._answer(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Nothing."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, *_: object) -> None:
                """Nothing: the messenger is killed now and then."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    @property
    def messages(self) -> int:
        """How many messages about games have come, each counted once."""
        with self._lock:
            return sum(map(len, self._told.values()))

    def missing(self, game: str, events: Iterable[EventEnvelope]) -> list[Told]:
        """Return the messages about these events of a game that have not come."""
        with self._lock:
            told = set(self._told.get(game, ()))
        wanted = [Told(each.version, EXPECTED[type(each.event)]) for each in events if type(each.event) in EXPECTED]
        return [each for each in wanted if each not in told]

    def in_disorder(self) -> list[str]:
        """Return the games of which a message came, for the first time, after one about a later version."""
        with self._lock:
            return [game for game, told in self._told.items() if _falls([each.version for each in told])]

    def _answer(self, body: bytes) -> bytes:
        message = orjson.loads(body)
        data = message["data"]
        if "challenge" in data:
            return orjson.dumps({"challenge": data["challenge"]})
        if "game_id" in data:
            with self._lock:
                self._told.setdefault(data["game_id"], {}).setdefault(Told(data["version"], message["type"]))
        return b"{}"


def _falls(versions: Sequence[int]) -> bool:
    return any(after < before for before, after in pairwise(versions))
