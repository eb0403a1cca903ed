"""Requests leave no reference cycles.

Their memory is freed at once by reference counting: a run of the cyclic collector would delay all clients.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.http_client import HttpResponse, KeepAliveClient
from tests.support.supervised import run
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.gate

SEATS = 4
TIMES = 5


class Requests:
    """Every kind of request, on a game of ``SEATS`` seats and one connection."""

    def __init__(self, client: KeepAliveClient) -> None:
        self._client = client
        self._table = client.create("fido", SEATS)

    def garbage(self) -> int:
        """Objects that only the cyclic collector could free, since this was asked before."""
        objects: int = json.loads(self._client.ask("GET", "/garbage").text)["objects"]
        return objects

    def create(self) -> HttpResponse:
        return self._client.try_create("fido", SEATS)

    def join(self) -> HttpResponse:
        return self._client.join(self._client.create("domino", [{"open": True}] * 2), "Bo")

    def view(self) -> HttpResponse:
        return self._table.get(seat=self._table.to_move())

    def view_again(self) -> HttpResponse:
        return self._table.get(If_None_Match=self._table.get().headers["ETag"])

    def moves(self) -> HttpResponse:
        return self._table.get("/moves", self._table.to_move())

    def move(self) -> HttpResponse:
        seat = self._table.to_move()
        return self._table.move(seat, self._table.view(seat)["legal_moves"][0])

    def stale(self) -> HttpResponse:
        return self._table.move(self._table.to_move(), {"action": "draw", "version": 1})

    def wrong(self) -> HttpResponse:
        return self._table.move(self._table.to_move(), {"action": "deal"})

    def invalid(self) -> HttpResponse:
        return self._table.move(self._table.to_move(), {"action": "play", "tile": "x"})

    def events(self) -> HttpResponse:
        return self._table.get("/events")

    def score(self) -> HttpResponse:
        return self._table.get("/score")

    def unauthorized(self) -> HttpResponse:
        return self._client.ask("GET", self._table.path, token="seat_of-another-game")


REQUESTS: dict[Callable[[Requests], HttpResponse], int] = {
    Requests.create: 201,
    Requests.join: 201,
    Requests.view: 200,
    Requests.view_again: 304,
    Requests.moves: 200,
    Requests.move: 201,
    Requests.stale: 412,
    Requests.wrong: 409,
    Requests.invalid: 422,
    Requests.events: 200,
    Requests.score: 200,
    Requests.unauthorized: 401,
}


@pytest.fixture(scope="module")
def requests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Requests]:
    folder: Path = tmp_path_factory.mktemp("garbage")
    limits = {"CREATES_PER_MINUTE": "0", "TOKEN_FAILURES_PER_MINUTE": "0", "SEAT_REQUESTS_PER_MINUTE": "0"}
    with (
        run(folder, app="tests.support.gc_probe:create()", **limits) as service,
        KeepAliveClient(f"127.0.0.1:{service.port()}", PATIENCE) as client,
    ):
        yield Requests(client)


@pytest.mark.parametrize("send", REQUESTS, ids=lambda each: each.__name__)
def test_a_request_leaves_no_reference_cycles(send: Callable[[Requests], HttpResponse], requests: Requests) -> None:
    send(requests)  # what is made only once, at the first request, does not count
    requests.garbage()
    for _ in range(TIMES):
        assert send(requests).status_code == REQUESTS[send]
    assert requests.garbage() == 0
