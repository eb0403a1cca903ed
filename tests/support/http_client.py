"""A client of a running service on one connection that is kept alive."""

from __future__ import annotations

import http.client
import json
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from tests.support.table import GameClient


class HttpResponse(NamedTuple):
    """A whole response."""

    status_code: int
    headers: http.client.HTTPMessage
    text: str


class KeepAliveClient(GameClient[HttpResponse], AbstractContextManager["KeepAliveClient"]):
    """Sends one request after the other to ``address`` (``host:port``); used by one thread at a time."""

    def __init__(self, address: str, timeout: float) -> None:
        self._connection = http.client.HTTPConnection(address, timeout=timeout)

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def ask(self, method: str, path: str, *, token: str | None = None, **arguments: Any) -> HttpResponse:
        headers = {"Content-Type": "application/json", **arguments.get("headers", {})}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        body = json.dumps(arguments["json"]) if "json" in arguments else None
        self._connection.request(method, path, body, headers)
        response = self._connection.getresponse()
        return HttpResponse(response.status, response.headers, response.read().decode())

    def read_response(self, response: HttpResponse) -> tuple[int, str]:
        return response.status_code, response.text
