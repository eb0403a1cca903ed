"""The client of the application in tests: checks every answer against its schema and the document.

Does not depend on the rules.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any
from urllib.parse import unquote

import orjson
from flask.testing import FlaskClient
from marshmallow import RAISE, Schema, fields
from werkzeug.exceptions import HTTPException
from werkzeug.test import TestResponse

from service.web.openapi.operations import Operation, operation_of
from service.web.schemas import apps as app_schemas
from service.web.schemas import board as board_schemas
from service.web.schemas import events as event_schemas
from service.web.schemas import feed as feed_schemas
from service.web.schemas import game as game_schemas
from service.web.schemas import listing as listing_schemas
from service.web.schemas import records as record_schemas
from service.web.schemas import score as score_schemas
from service.web.schemas import variants as variant_schemas
from service.web.schemas import webhooks as webhook_schemas
from tests.support.table import GameClient
from tests.support.table import Table as AnyTable

_SCHEMAS: dict[tuple[str, str], type[Schema]] = {
    ("GET", "game"): game_schemas.Game,
    ("GET", "moves"): game_schemas.LegalMoves,
    ("GET", "board"): board_schemas.PlacedBoard,
    ("GET", "board.json"): board_schemas.PlacedBoard,
    ("GET", "score"): score_schemas.Score,
    ("GET", "fairness"): record_schemas.Fairness,
    ("GET", "record"): record_schemas.MatchRecord,
    ("POST", "verifications"): record_schemas.Verification,
    ("POST", "replays"): record_schemas.Replay,
    ("GET", "variants"): variant_schemas.Variants,
    ("GET", "variant"): variant_schemas.Variant,
    ("GET", "events"): event_schemas.Events,
    ("POST", "games"): game_schemas.CreatedGame,
    ("POST", "players"): game_schemas.JoinedSeat,
    ("POST", "moves"): game_schemas.Game,
    ("POST", "token"): game_schemas.SeatToken,
    ("POST", "claims"): game_schemas.Game,
    ("POST", "rematch"): game_schemas.JoinedSeat,
    ("POST", "join-code"): game_schemas.JoinCode,
    ("PUT", "presence"): game_schemas.Game,
    ("POST", "apps"): app_schemas.RegisteredApplication,
    ("GET", "app"): app_schemas.ApplicationInfo,
    ("POST", "keys"): app_schemas.NewKey,
    ("GET", "games"): listing_schemas.GameList,
    ("GET", "lobby"): listing_schemas.LobbyOut,
    ("PATCH", "player"): game_schemas.Game,
    ("POST", "webhooks"): webhook_schemas.NewWebhook,
    ("GET", "webhooks"): webhook_schemas.WebhookList,
    ("GET", "webhook"): webhook_schemas.Webhook,
    ("PATCH", "webhook"): webhook_schemas.Webhook,
    ("POST", "secret"): webhook_schemas.NewWebhook,
    ("POST", "pings"): webhook_schemas.Ping,
    ("GET", "deliveries"): webhook_schemas.DeliveryList,
    ("GET", "feed"): feed_schemas.FeedPage,
}
_SINGLE = {"games": "game", "variants": "variant", "webhooks": "webhook"}
"""One of these is at ``/v1/<these>/<id>``."""
_WITHOUT_SCHEMA = {
    "record": ("text/plain",),
    "board": ("image/svg+xml", "text/plain"),
    "board.svg": ("image/svg+xml",),
    "board.txt": ("text/plain",),
}
"""The media types of answers other than JSON, by the last part of the path."""
ANYWHERE = ("internal", "invalid", "malformed", "storage_unavailable", "gone")
"""Problems that every operation may answer, the last one if it is about a game."""


Table = AnyTable[TestResponse]


class Api(GameClient[TestResponse]):
    """Asks the application; every answer must fit its schema, every error must be a problem.

    ``answers`` are those received so far.
    """

    def __init__(self, client: FlaskClient) -> None:
        self.client = client
        self.answers: list[TestResponse] = []

    def ask(self, method: str, path: str, *, token: str | None = None, **arguments: Any) -> TestResponse:
        answer = self.ask_unchecked(method, path, token=token, **arguments)
        self.answers.append(answer)
        check_answer(method, path, answer)
        self._check_documented(method, path, answer)
        return answer

    def ask_unchecked(self, method: str, path: str, *, token: str | None = None, **arguments: Any) -> TestResponse:
        """As ``ask``, for an answer whose bytes were checked before."""
        # With the same id in every answer, answers can be compared.
        headers = {"X-Request-ID": "of-a-test", **arguments.pop("headers", {})}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return self.client.open(path, method=method, headers=headers, **arguments)

    def read_response(self, response: TestResponse) -> tuple[int, str]:
        return response.status_code, response.text

    def get(self, path: str, **arguments: Any) -> TestResponse:
        return self.ask("GET", path, **arguments)

    def head(self, path: str, **arguments: Any) -> TestResponse:
        return self.ask("HEAD", path, **arguments)

    def put(self, path: str, body: Any = None, **arguments: Any) -> TestResponse:
        return self.ask("PUT", path, json=body, **arguments)

    def delete(self, path: str, **arguments: Any) -> TestResponse:
        return self.ask("DELETE", path, **arguments)

    def post(self, path: str, body: Any = None, **arguments: Any) -> TestResponse:
        return self.ask("POST", path, json=body, **arguments)

    def _check_documented(self, method: str, path: str, answer: TestResponse) -> None:
        """Check that the operation at this path documents this status and this language, or this problem."""
        described = None if path.startswith("//") else self.operation(method, path)
        if described is None or method == "OPTIONS":
            return
        status = answer.status_code
        limited = status == 429 or any(each.limited for each in described.responses.values())
        assert limited or not {"RateLimit", "RateLimit-Policy"} & set(answer.headers.keys()), described.id
        if status < 400:
            known = {*described.responses, *((304,) if "If-None-Match" in described.headers else ())}
            assert status in known, f"{method} {path} answered {status}, which its operation does not name"
            good = next(iter(described.responses.values()))
            missing = {name for name in good.headers if name not in answer.headers} if status != 304 else set()
            assert not missing, f"{method} {path} answered without {missing}"
            told = (*good.headers, *good.optional_headers)
            assert "Content-Language" not in answer.headers or "Content-Language" in told, described.id
        elif method != "HEAD":
            code = json.loads(answer.data)["code"]
            assert code in (*described.problems, *ANYWHERE), f"{described.id} does not name its problem {code}"

    def operation(self, method: str, path: str) -> Operation | None:
        """The documented operation of this method at this path, if there is one."""
        app = self.client.application
        try:
            endpoint, _ = app.url_map.bind("localhost").match(unquote(path.partition("?")[0]), method)
        except HTTPException:
            return None
        return operation_of(app.view_functions[endpoint])


def status_and_code(answer: TestResponse) -> tuple[int, str]:
    """The status of an error and the code of its problem."""
    assert answer.json is not None
    return answer.status_code, answer.json["code"]


def content_of(answer: TestResponse) -> tuple[int, list[tuple[str, str]], bytes]:
    """All that a client receives: status, headers and body."""
    return answer.status_code, sorted(answer.headers), answer.data


def without_tile(answer: TestResponse, tile: str) -> str:
    """All that a client receives, but for the name of this tile, which it sent."""
    status, headers, body = content_of(answer)
    problem = json.loads(body)
    assert problem["params"].pop("tile") == tile
    problem["detail"] = problem["detail"].replace(f" {tile} ", " … ")
    return str((status, [each for each in headers if each[0] != "Content-Length"], problem))


def viewers(table: Table) -> list[int | None]:
    """Everybody who may ask for a game: a spectator, and each seat."""
    return [None, *table.tokens]


def check_answer(method: str, path: str, answer: TestResponse) -> None:
    """Check that an answer fits its schema, that an error is a problem, and that nothing is null."""
    if method == "HEAD" or answer.status_code in (204, 304, 308):
        assert answer.data == b""
        return
    if answer.status_code >= 400:
        assert answer.mimetype == "application/problem+json", (answer.status_code, answer.data)
        _check(game_schemas.Problem, answer.data)
        problem = json.loads(answer.data)
        assert problem["status"] == answer.status_code
        return
    if answer.status_code == 308:
        return
    parts = path.partition("?")[0].strip("/").split("/")
    if parts[0] != "v1" or method == "OPTIONS" or answer.mimetype in _WITHOUT_SCHEMA.get(parts[-1], ()):
        return
    kind = _SINGLE.get(parts[1], parts[-1]) if len(parts) == 3 else parts[-1]
    if parts[-2:-1] == ["players"]:
        kind = "player"
    _check(_SCHEMAS[method, kind], answer.data)


def _check(schema: type[Schema], data: bytes) -> None:
    value = orjson.loads(data)
    errors = _errors(schema, value)
    assert not errors, errors
    assert b"null" not in data or not list(_nulls(value)), "absent fields are absent, never null"


_fitting: set[tuple[type[Schema], bytes]] = set()
"""Objects that were validated already; most parts of an answer were in the one before."""


def _errors(schema: type[Schema], value: Any) -> Any:
    """The validation errors of a value and of all objects in it; the same object is validated once."""
    if not isinstance(value, dict):
        return {"": ["Not an object."]}
    known = (schema, orjson.dumps(value))
    if known in _fitting:
        return {}
    flat, nested, lists = _parts(schema)
    errors = flat.validate(value)
    for name, part in nested.items():
        if name in value:
            errors |= _named(name, _errors(part, value[name]))
    for name, part in lists.items():
        if name in value and not isinstance(value[name], list):
            errors[name] = ["Not a list."]
            continue
        for place, each in enumerate(value.get(name, ())):
            errors |= _named(f"{name}.{place}", _errors(part, each))
    if not errors:
        _fitting.add(known)
    return errors


def _named(name: str, errors: Any) -> dict[str, Any]:
    return {name: errors} if errors else {}


@cache
def _parts(schema: type[Schema]) -> tuple[Schema, dict[str, type[Schema]], dict[str, type[Schema]]]:
    """A schema without what it nests, and the schemas it nests: as an object, and as a list of objects."""
    own: dict[str, fields.Field[Any]] = {}
    nested: dict[str, type[Schema]] = {}
    lists: dict[str, type[Schema]] = {}
    for name, field in schema().fields.items():
        inner = field.inner if isinstance(field, fields.List) else field
        if isinstance(inner, fields.Nested):
            (nested if inner is field else lists)[field.data_key or name] = type(inner.schema)
            own[field.data_key or name] = fields.Raw(required=field.required)
        else:
            own[name] = field
    return Schema.from_dict(own)(unknown=RAISE), nested, lists


def _nulls(value: Any, path: str = "") -> Any:
    """The paths of all nulls."""
    if value is None:
        yield path
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _nulls(each, f"{path}.{key}")
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from _nulls(each, f"{path}.{place}")
