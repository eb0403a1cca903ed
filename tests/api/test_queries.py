"""What holds for the parameters of every query in the document."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from tests.api.client import Api, status_and_code
from tests.support.contract import committed


class Query(NamedTuple):
    """A parameter of an operation."""

    method: str
    path: str
    name: str


def queries() -> list[Query]:
    """Every parameter of a query."""
    document = committed()
    return [
        Query(method, path, parameter["name"])
        for path, item in document.document["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
        for parameter in operation.get("parameters", ())
        if parameter.get("in") == "query"
    ]


def test_the_document_has_queries() -> None:
    assert len(queries()) > 20


@pytest.mark.parametrize("query", queries(), ids=lambda query: f"{query.path}?{query.name}")
def test_a_parameter_given_twice_is_refused(api: Api, app_key: str, query: Query) -> None:
    body: dict[str, Any] = {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bob"}]}
    game = api.post("/v1/games", body, token=app_key).get_json()["game"]["id"]
    more: dict[str, Any] = {"json": {}} if query.method == "post" else {}
    address = f"{query.path.format(game=game, ref='ada')}?{query.name}=1&{query.name}=1"
    answer = api.ask(query.method.upper(), address, token=app_key, **more)
    assert (*status_and_code(answer), answer.get_json()["reason"]) == (422, "invalid", "given_twice")
    assert list(answer.get_json()["errors"]) == [query.name]
