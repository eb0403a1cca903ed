"""A service that advises: a proxy before the service, which itself answers for hints and reviews.

It speaks their form on the wire: 202 with ``Retry-After`` first, and then the answer, made of the game itself. All else
is forwarded, streams as they come.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from socket import SHUT_RDWR
from typing import Any, Final, Self
from urllib.parse import urlsplit

from tests.support.waiting import PATIENCE

OWN_HEADERS: Final = {"connection", "transfer-encoding", "content-length", "date", "server", "keep-alive"}
"""Headers of one connection, not of what is forwarded."""

WHY: Final = "Because a test says so."
"""The text of each hint and of each mistake."""


class Advising:
    """The proxy before the service at ``service_url``, at ``url``; what it was asked for itself is in ``asked``."""

    def __init__(self, service_url: str) -> None:
        self.service = urlsplit(service_url)
        self.asked: Counter[str] = Counter()
        advising = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # named by http.server
                answer(advising, self)

            do_POST = do_PUT = do_OPTIONS = do_HEAD = do_GET  # noqa: N815 # as above

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 # as above
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._connections: set[HTTPConnection] = set()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        for each in list(self._connections):
            with suppress(OSError):
                if each.sock:
                    each.sock.shutdown(SHUT_RDWR)  # a stream is read until then
        self._server.server_close()
        self._thread.join(PATIENCE)

    @contextmanager
    def forward(
        self, method: str, path: str, headers: dict[str, str], body: bytes | None = None
    ) -> Iterator[HTTPResponse]:
        """The answer of the service."""
        assert self.service.hostname
        connection = HTTPConnection(self.service.hostname, self.service.port, timeout=PATIENCE)
        self._connections.add(connection)
        try:
            connection.request(method, path, body, headers)
            with connection.getresponse() as response:
                yield response
        finally:
            self._connections.discard(connection)
            connection.close()


def answer(advising: Advising, request: BaseHTTPRequestHandler) -> None:
    """Answer a request, or forward it."""
    length = int(request.headers.get("Content-Length", 0))
    body = request.rfile.read(length) if length else None
    headers = {name: value for name, value in request.headers.items() if name.lower() != "connection"}
    game, _, operation = urlsplit(request.path).path.rpartition("/")
    if operation not in ("hint", "review"):
        with advising.forward(request.command, request.path, headers, body) as response:
            copy(response, request)
        return
    key = f"{request.command} {operation}"
    advising.asked[key] += 1
    if request.command == "POST" or advising.asked[key] == 1:
        send(request, 202, {}, {"Retry-After": "1"})
        return
    token = {name: value for name, value in headers.items() if name.lower() == "authorization"}

    def ask(path: str) -> Any:
        with advising.forward("GET", f"{game}{path}", token) as response:
            return json.loads(response.read())

    send(request, 200, hint(ask("")) if operation == "hint" else review(ask("/record")))


def hint(view: dict[str, Any]) -> dict[str, Any]:
    """The moves of the seat on turn, the last of its list as the best one."""
    moves = [{"move": each, "estimate": -at, "error": 0.2} for at, each in enumerate(reversed(view["legal_moves"]))]
    return {"version": view["version"], "moves": moves, "text": WHY}


def review(record: dict[str, Any]) -> dict[str, Any]:
    """Each tile laid as a decision; at those of seat 0, the tile that was laid next was clearly better."""
    laid = [each for part in record["rounds"] for each in part["events"] if each["type"] == "played"]
    decisions = []
    for each, following in pairwise(laid):
        move, best = ({"action": "play", "tile": event["data"]["tile"]} for event in (each, following))
        amounts = {"given_away": 2.5, "error": 0.4}
        if each["seat"]:
            best, amounts = move, {"given_away": 0.3, "error": 0.4}
        decisions.append({"version": each["version"], "seat": each["seat"], "move": move, "best": best, **amounts})
        decisions[-1]["text"] = WHY
    many = Counter(each["seat"] for each in decisions)
    luck = {"result": 24, "luck": -6.5, "luck_error": 4.5, "skill": 30.5, "skill_error": 32}
    players = [
        {"seat": seat, "decisions": many[seat], "given_away": 1.25, "error": 0.1, **luck} for seat in sorted(many)
    ]
    return {"players": players, "decisions": decisions}


def copy(response: HTTPResponse, request: BaseHTTPRequestHandler) -> None:
    """Send what the service answers, as it comes, until it or the browser ends it."""
    request.send_response_only(response.status)
    for name, value in response.getheaders():
        if name.lower() not in OWN_HEADERS:
            request.send_header(name, value)
    request.send_header("Connection", "close")
    request.end_headers()
    with suppress(OSError, HTTPException):  # the browser has what it wants, or the test is over
        while part := response.read1(65_536):
            request.wfile.write(part)
            request.wfile.flush()


def send(request: BaseHTTPRequestHandler, status: int, body: object, headers: dict[str, str] | None = None) -> None:
    """Send JSON."""
    request.send_response_only(status)
    for name, value in {"Content-Type": "application/json", "Connection": "close", **(headers or {})}.items():
        request.send_header(name, value)
    request.end_headers()
    request.wfile.write(json.dumps(body).encode())
