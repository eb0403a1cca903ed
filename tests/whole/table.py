"""A game on a running service, played over an ``httpx`` client."""

from __future__ import annotations

from typing import Any

import httpx

from tests.support.table import GameClient, Json
from tests.support.table import Table as AnyTable
from tests.support.waiting import PATIENCE

TLS = httpx.create_ssl_context()
"""For every client: to read the certificates of authorities takes it longer than many requests."""


def connect(url: str) -> httpx.Client:
    """A client with connections of its own, whose every wait ends."""
    return httpx.Client(base_url=url, timeout=PATIENCE, verify=TLS)


def variants(http: httpx.Client) -> list[Json]:
    """The variants the service offers."""
    offered: list[Json] = http.get("/v1/variants").raise_for_status().json()["variants"]
    return offered


class HttpxGameClient(GameClient[httpx.Response]):
    """Sends its requests over an ``httpx`` client."""

    def __init__(self, http: httpx.Client) -> None:
        self.http = http

    def ask(self, method: str, path: str, *, token: str | None = None, **arguments: Any) -> httpx.Response:
        headers = {**arguments.pop("headers", {})}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return self.http.request(method, path, headers=headers, **arguments)

    def read_response(self, response: httpx.Response) -> tuple[int, str]:
        return response.status_code, response.text


class Table(AnyTable[httpx.Response]):
    """A game that ``http`` asks for."""

    def __init__(self, http: httpx.Client, created: Json) -> None:
        super().__init__(HttpxGameClient(http), created)
        self._http = http

    @property
    def http(self) -> httpx.Client:
        """The client that the game is asked for with; another one after a restart of the service."""
        return self._http

    @http.setter
    def http(self, http: httpx.Client) -> None:
        self._http = http
        self.client = HttpxGameClient(http)

    @classmethod
    def create(cls, http: httpx.Client, variant: str, seats: int | list[Json] | None = None, **more: Any) -> Table:
        """A new game; without ``seats`` one more than the fewest, where the variant takes so many."""
        if seats is None:
            bounds = next(each for each in variants(http) if each["id"] == variant)["players"]
            seats = min(bounds["min"] + 1, bounds["max"])
        return cls(http, HttpxGameClient(http).create(variant, seats, **more).created)
