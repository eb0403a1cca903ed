"""A session with the application, of which every exchange may become an example."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from flask import Flask
from werkzeug.exceptions import HTTPException
from werkzeug.test import TestResponse

from service.web.problems.answers import PROBLEM_JSON
from tools.openapi.operations import operation_of


class Example(NamedTuple):
    """The body of a request, if it had one, and the body of its response; JSON, or text of another type."""

    request: Any
    response: Any


class Examples(NamedTuple):
    """What was recorded: of the operations, by id, status and media type; and one problem of each code."""

    operations: Mapping[tuple[str, int, str], Example]
    problems: Mapping[str, Any]


class Session:
    """Sends requests to the application; keeps the first exchange of each operation, status and media type."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._client = app.test_client()
        self.examples: dict[tuple[str, int, str], Example] = {}
        self.problems: dict[str, Any] = {}

    def send(self, method: str, path: str, body: Any = None, token: str | None = None, **headers: str) -> Any:
        """Return the answer to a request: JSON, or a text of another type."""
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        response = self._client.open(
            path,
            method=method,
            headers={name.replace("_", "-"): value for name, value in headers.items()},
            **{"data" if isinstance(body, str) else "json": body},
        )
        answer: Any = response.get_json() if response.is_json else response.get_data(as_text=True)
        if response.mimetype == PROBLEM_JSON:
            self.problems.setdefault(answer["code"], answer)
        self._keep(method, path, Example(body, answer), response)
        return answer

    def stream(self, path: str, token: str, media_type: str) -> str:
        """Return the first chunk of a stream, which does not end by itself."""
        headers = {"Authorization": f"Bearer {token}", "Accept": media_type}
        response = self._client.get(path, headers=headers)
        chunk = next(response.iter_encoded()).decode()
        self._keep("GET", path, Example(None, chunk), response)
        response.close()
        return chunk

    def _keep(self, method: str, path: str, example: Example, response: TestResponse) -> None:
        try:
            endpoint, _ = self._app.url_map.bind("localhost").match(path.partition("?")[0], method)
        except HTTPException:
            return
        described = operation_of(self._app.view_functions[endpoint])
        if described is not None:
            self.examples.setdefault((described.id, response.status_code, str(response.mimetype)), example)
