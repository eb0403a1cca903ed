"""A client for tests: knows addresses and headers, no rules; holds every answer against its schema."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from flask.testing import FlaskClient
from marshmallow import RAISE, Schema
from werkzeug.test import TestResponse

from service.web import schemas

_SCHEMAS: dict[tuple[str, str], type[Schema]] = {
    ("GET", "game"): schemas.Game,
    ("GET", "moves"): schemas.LegalMoves,
    ("GET", "score"): schemas.Score,
    ("GET", "variants"): schemas.Variants,
    ("GET", "variant"): schemas.Variant,
    ("POST", "games"): schemas.Opened,
    ("POST", "players"): schemas.Taken,
    ("POST", "moves"): schemas.Game,
}


class Table(NamedTuple):
    """A created game: its id, its tokens by seat, and its join code."""

    id: str
    tokens: dict[int, str]
    join_code: str | None
    opened: dict[str, Any]


class Api:
    """Asks the application; every answer must fit its schema, every error must be a problem."""

    def __init__(self, client: FlaskClient) -> None:
        self.client = client

    def ask(self, method: str, path: str, *, token: str | None = None, **arguments: Any) -> TestResponse:
        headers = dict(arguments.pop("headers", {}))
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        answer = self.client.open(path, method=method, headers=headers, **arguments)
        check_answer(method, path, answer)
        return answer

    def get(self, path: str, **arguments: Any) -> TestResponse:
        return self.ask("GET", path, **arguments)

    def post(self, path: str, body: Any = None, **arguments: Any) -> TestResponse:
        return self.ask("POST", path, json=body, **arguments)

    def create(self, variant: str, seats: int | list[dict[str, Any]], **more: Any) -> Table:
        players = [{"name": f"P{seat}"} for seat in range(seats)] if isinstance(seats, int) else seats
        answer = self.post("/v1/games", {"variant": variant, "players": players, **more})
        assert answer.status_code == 201, answer.json
        opened = answer.json
        assert opened is not None
        tokens = {each["seat"]: each["token"] for each in opened["seats"]}
        return Table(opened["game"]["id"], tokens, opened.get("join_code"), opened)

    def view(self, table: Table, seat: int | None = None) -> dict[str, Any]:
        answer = self.get(f"/v1/games/{table.id}", token=None if seat is None else table.tokens[seat])
        assert answer.status_code == 200, answer.json
        view: dict[str, Any] = answer.json  # type: ignore[assignment]
        return view

    def move(self, table: Table, seat: int, move: dict[str, Any], **arguments: Any) -> TestResponse:
        return self.post(f"/v1/games/{table.id}/moves", move, token=table.tokens[seat], **arguments)

    def score(self, table: Table, seat: int | None = None) -> dict[str, Any]:
        answer = self.get(f"/v1/games/{table.id}/score", token=None if seat is None else table.tokens[seat])
        assert answer.status_code == 200, answer.json
        score: dict[str, Any] = answer.json  # type: ignore[assignment]
        return score


def check_answer(method: str, path: str, answer: TestResponse) -> None:
    """The answer fits what the document says of its kind; an error is a problem."""
    if method == "HEAD" or answer.status_code == 304:
        assert answer.data == b""
        return
    if answer.status_code >= 400:
        assert answer.mimetype == "application/problem+json", (answer.status_code, answer.data)
        _check(schemas.Problem, answer.data)
        problem = json.loads(answer.data)
        assert problem["status"] == answer.status_code
        return
    parts = path.partition("?")[0].strip("/").split("/")
    if parts[0] != "v1":
        return
    kind = "games" if parts == ["v1", "games"] else "variants" if parts == ["v1", "variants"] else None
    kind = kind or ("variant" if parts[1] == "variants" else "game" if len(parts) == 3 else parts[3])
    schema = _SCHEMAS.get((method, kind))
    if schema is not None:
        _check(schema, answer.data)


def _check(schema: type[Schema], data: bytes) -> None:
    errors = schema(unknown=RAISE).validate(json.loads(data))
    assert not errors, errors
