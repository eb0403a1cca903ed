"""What requests leave behind is freed at once; nothing is left to the collector, which stops all clients meanwhile."""

from __future__ import annotations

import contextlib
import http.client
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.supervised import PATIENCE, run

SEATS = 4
TIMES = 5


class Answer(NamedTuple):
    status: int
    etag: str
    body: bytes


class Table:
    """A game of a whole service, asked for on one line that is kept alive."""

    def __init__(self, port: int) -> None:
        self._line = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        opened = json.loads(self.create().body)
        self.path = f"/v1/games/{opened['game']['id']}"
        self._tokens = [seat["token"] for seat in opened["seats"]]

    def close(self) -> None:
        self._line.close()

    def ask(self, method: str, path: str, body: Any = None, token: str | None = None, known: str = "") -> Answer:
        headers = {"Content-Type": "application/json", "If-None-Match": known}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        self._line.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self._line.getresponse()
        return Answer(answer.status, answer.headers.get("ETag", ""), answer.read())

    def rubbish(self) -> int:
        """Objects that only the collector could free, since this was asked before."""
        objects: int = json.loads(self.ask("GET", "/rubbish").body)["objects"]
        return objects

    def create(self) -> Answer:
        return self.ask("POST", "/v1/games", {"variant": "fido", "players": [{"name": "Ada"}] * SEATS})

    def join(self) -> Answer:
        opened = json.loads(self.ask("POST", "/v1/games", {"variant": "domino", "players": [{"open": True}] * 2}).body)
        seat = {"name": "Bo", "join_code": opened["join_code"]}
        return self.ask("POST", f"/v1/games/{opened['game']['id']}/players", seat)

    def view(self) -> Answer:
        return self.ask("GET", self.path, token=self._mover()[0])

    def view_again(self) -> Answer:
        return self.ask("GET", self.path, known=self.ask("GET", self.path).etag)

    def moves(self) -> Answer:
        return self.ask("GET", f"{self.path}/moves", token=self._mover()[0])

    def move(self) -> Answer:
        token, view = self._mover()
        return self.ask("POST", f"{self.path}/moves", view["legal_moves"][0], token)

    def stale(self) -> Answer:
        return self.ask("POST", f"{self.path}/moves", {"action": "draw", "version": 1}, self._mover()[0])

    def wrong(self) -> Answer:
        return self.ask("POST", f"{self.path}/moves", {"action": "deal"}, self._mover()[0])

    def invalid(self) -> Answer:
        return self.ask("POST", f"{self.path}/moves", {"action": "play", "tile": "x"}, self._mover()[0])

    def events(self) -> Answer:
        return self.ask("GET", f"{self.path}/events")

    def score(self) -> Answer:
        return self.ask("GET", f"{self.path}/score")

    def strange(self) -> Answer:
        return self.ask("GET", self.path, token="seat_of-another-game")

    def _mover(self) -> tuple[str, dict[str, Any]]:
        """The token of who is to move, and what that one sees."""
        token = self._tokens[json.loads(self.ask("GET", self.path).body)["turn"]["seat"]]
        return token, json.loads(self.ask("GET", self.path, token=token).body)


REQUESTS: dict[Callable[[Table], Answer], int] = {
    Table.create: 201,
    Table.join: 201,
    Table.view: 200,
    Table.view_again: 304,
    Table.moves: 200,
    Table.move: 201,
    Table.stale: 412,
    Table.wrong: 409,
    Table.invalid: 422,
    Table.events: 200,
    Table.score: 200,
    Table.strange: 401,
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    folder: Path = tmp_path_factory.mktemp("rubbish")
    limits = {"CREATES_PER_MINUTE": "0", "TOKEN_FAILURES_PER_MINUTE": "0", "SEAT_REQUESTS_PER_MINUTE": "0"}
    with (
        run(folder, app="tests.support.gc_probe:create()", **limits) as it,
        contextlib.closing(Table(it.port())) as table,
    ):
        yield table


@pytest.mark.parametrize("request_of", REQUESTS, ids=lambda each: each.__name__)
def test_a_request_leaves_nothing_to_the_collector(request_of: Callable[[Table], Answer], table: Table) -> None:
    request_of(table)  # what is made once, such as what is told to a server, is not meant
    table.rubbish()
    for _ in range(TIMES):
        assert request_of(table).status == REQUESTS[request_of]
    assert table.rubbish() == 0
