"""The client of the application in tests: checks every answer against its schema and the document.

Does not depend on the rules.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any
from urllib.parse import unquote, urljoin

import orjson
from flask.testing import FlaskClient
from werkzeug.exceptions import HTTPException
from werkzeug.test import TestResponse

from service.web.operation import Operation
from tests.support.contract import PROBLEM, committed
from tests.support.table import GameClient
from tests.support.table import Table as AnyTable
from tools.openapi.operations import headers_of, operation_of, problems_of

ANYWHERE = ("internal", "invalid", "malformed", "storage_unavailable", "gone")
"""Problems that every operation may answer, the last one if it is about a game."""

ON_ANY_ANSWER = re.compile(
    "Access-Control-|Content-(Encoding|Length|Security-Policy|Type)$|Cross-Origin-Resource-Policy|Referrer-Policy|"
    "X-(Accel-Buffering|Content-Type-Options|Frame-Options|Request-ID)$"
)
"""Headers that are told once for the whole service, or not at all, as they are about the transport or for browsers."""


Table = AnyTable[TestResponse]


class Api(GameClient[TestResponse]):
    """Asks the application; every answer must fit its schema, every error must be a problem."""

    def __init__(self, client: FlaskClient) -> None:
        self.client = client
        self._kept: list[TestResponse] | None = None

    def keep_answers(self) -> list[TestResponse]:
        """A list of all answers from now on: of a whole test they are thousands, and few tests need them."""
        self._kept = []
        return self._kept

    def ask(self, method: str, path: str, *, token: str | None = None, **arguments: Any) -> TestResponse:
        answer = self.ask_unchecked(method, path, token=token, **arguments)
        if self._kept is not None:
            self._kept.append(answer)
        described = None if path.startswith("//") or method == "OPTIONS" else self.operation(method, path)
        check_content(method, described, answer)
        if described is not None:
            check_documented(method, described, answer)
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
        """Send a body: a text as text, anything else as JSON."""
        if isinstance(body, str):
            return self.ask("POST", path, data=body.encode(), content_type="text/plain", **arguments)
        return self.ask("POST", path, json=body, **arguments)

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


def told(answer: TestResponse, status: int = 200) -> dict[str, Any]:
    """Check the status of an answer; its body."""
    assert answer.status_code == status, answer.text
    body: dict[str, Any] = answer.get_json()
    return body


def refusal(answer: TestResponse) -> tuple[int, str, str]:
    """The status of an error, and the code and the reason of its problem."""
    return (*status_and_code(answer), answer.get_json()["reason"])


def causes_of(answer: TestResponse) -> list[tuple[str, str]]:
    """Check that a request is invalid; the field and the reason of each cause."""
    assert status_and_code(answer) == (422, "invalid"), answer.text
    return [(each["field"], each["reason"]) for each in answer.get_json()["causes"]]


def invalid_fields(answer: TestResponse) -> list[str]:
    """Check that a request is invalid; the fields that are, each once."""
    return [*dict.fromkeys(field for field, _ in causes_of(answer))]


def errors_of(problem: Any) -> dict[str, list[str]]:
    """The sentences of an invalid request by the path of their field."""
    errors: dict[str, list[str]] = {}
    for cause in problem.get("causes", ()):
        errors.setdefault(cause["field"], []).append(cause["detail"])
    return errors


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


def check_content(method: str, described: Operation | None, answer: TestResponse) -> None:
    """Check that an answer has a documented media type and fits its schema, that an error is a problem, and that
    nothing is null.
    """
    if method == "HEAD" or answer.status_code in (204, 304, 308):
        assert answer.data == b""
        return
    if answer.status_code >= 400:
        assert answer.mimetype == PROBLEM, (answer.status_code, answer.data)
        assert _fitting("Problem", answer.data)["status"] == answer.status_code
    elif described is not None:
        response = described.responses[answer.status_code]
        if response.media_type is None:
            assert answer.data == b""
            return
        assert answer.mimetype in (response.media_type, *response.streams), (described.id, answer.mimetype)
        if response.schema is not None and answer.mimetype == response.media_type:
            _fitting(response.schema.__name__.removesuffix("Schema"), answer.data)


def check_item(item: Any) -> None:
    """Check that an item of either stream fits its schema, and has a view only if it is one."""
    committed().check_value({"$ref": "#/components/schemas/StreamItem"}, item)
    assert ("game" in item) is (item["type"] == "view")
    assert not list(_nulls(item)), "absent fields are absent, never null"


def _fitting(schema: str, data: bytes) -> Any:
    """The value of these bytes of JSON, which fits this schema of the document and holds no null."""
    value = orjson.loads(data)
    committed().check_value({"$ref": f"#/components/schemas/{schema}"}, value)
    assert b"null" not in data or not list(_nulls(value)), "absent fields are absent, never null"
    return value


def check_documented(method: str, described: Operation, answer: TestResponse) -> None:
    """Check that the operation documents this status and the headers of the answer, or this problem."""
    status = answer.status_code
    told = _told_headers()[described.id].get(str(status))
    if told is not None:  # the end of a stream is told in words
        untold = {name for name, _ in answer.headers if not ON_ANY_ANSWER.match(name)} - told
        assert not untold, f"{described.id} answered {status} with {untold}, which it does not name"
    if "Location" in answer.headers:
        path = answer.request.path
        led_to = urljoin(f"http://host/a/prefix{path}", answer.headers["Location"])
        assert led_to.startswith("http://host/a/prefix/"), path
    limited = status == 429 or described.shows_quota
    assert limited or not {"RateLimit", "RateLimit-Policy"} & set(answer.headers.keys()), described.id
    if status < 400:
        known = {*described.responses, *((304,) if "If-None-Match" in described.headers else ())}
        assert status in known, f"{described.id} answered {status}, which it does not name"
        required, _ = headers_of(described, next(iter(described.responses)) if status == 304 else status)
        missing = {name for name in required if name not in answer.headers} if status != 304 else set()
        assert not missing, f"{described.id} answered without {missing}"
    elif method != "HEAD":
        code = json.loads(answer.data)["code"]
        assert code in (*problems_of(described), *ANYWHERE), f"{described.id} does not name its problem {code}"


def location_of(answer: TestResponse) -> str:
    """The path that ``Location`` leads to from that of the request."""
    return urljoin(answer.request.path, answer.headers["Location"])


@cache
def _told_headers() -> dict[str, dict[str, set[str]]]:
    """The headers that the document names, by operation and status."""
    return {
        operation["operationId"]: {
            status: set(each.get("headers", ())) for status, each in operation["responses"].items()
        }
        for *_, operation in committed().operations()
    }


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
