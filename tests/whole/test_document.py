"""The published OpenAPI document: complete, and true of a running service.

That it is valid, with its examples, is found by ``make check``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from service.engine.variants import variants
from service.web.problems.answers import PROBLEMS
from tests.api.saved_games import some_rounds
from tests.support import lanes
from tests.support.contract import Contract
from tests.whole.table import Table

pytestmark = pytest.mark.gate

PAGES = {"text/html", "text/vnd.domino-record"}
"""Media types of answers that are too long for an example, or have it under another type."""
UNIONS = {"oneOf", "anyOf", "allOf", "not", "if", "nullable", "discriminator", "patternProperties", "prefixItems"}
WHAT_A_CLIENT_SENDS = re.compile(r"\w+In")


def nodes(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of the document with its path."""
    if isinstance(value, dict):
        yield path, value
        for key, each in value.items():
            yield from nodes(each, f"{path}/{key}")
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from nodes(each, f"{path}/{place}")


def schemas(contract: Contract) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema: named ones, their fields and entries, and those of parameters, headers and bodies."""
    for path, node in nodes(contract.document["components"]["schemas"]):
        if path.count("/") == 1 or re.search(r"/(properties/[^/]+|items|additionalProperties)$", path):
            yield path, node
    for path, node in nodes(contract.document["paths"]):
        if path.endswith("/schema"):
            yield path, node


def test_every_part_of_the_document_has_a_description(contract: Contract) -> None:
    bare = []
    for path, method, operation in contract.operations():
        here = f"{method} {path}"
        parameters = [*contract.document["paths"][path].get("parameters", []), *operation.get("parameters", [])]
        parts = [(here, operation), *((f"{here} {each['name']}", each) for each in parameters)]
        for status, answer in operation["responses"].items():
            parts.append((f"{here} {status}", answer))
            parts += [(f"{here} {status} {name}", header) for name, header in answer.get("headers", {}).items()]
        bare += [where for where, part in parts if not part.get("description", "").strip()]
        if not operation.get("summary"):
            bare.append(f"{here}: summary")
    for name, schema in contract.document["components"]["schemas"].items():
        parts = [(name, schema), *((f"{name}.{key}", each) for key, each in schema.get("properties", {}).items())]
        # What a field refers to is described there.
        bare += [where for where, part in parts if not part.get("description", "").strip() and "$ref" not in part]
    bare += [
        name
        for name, tag in nodes(contract.document["components"]["securitySchemes"])
        if tag.get("type") and not tag.get("description")
    ]
    assert not bare


def test_every_schema_uses_only_the_allowed_keywords(contract: Contract) -> None:
    odd = []
    for path, schema in schemas(contract):
        odd += [f"{path}: {word}" for word in UNIONS & schema.keys()]
        # A ref alone may be null, which removes it.
        is_ref = path.endswith("/ref") and schema.get("type") == ["string", "null"]
        if not is_ref and (not isinstance(schema.get("type", ""), str) or schema.get("type") == "null"):
            odd.append(f"{path}: a list of types")
        if schema.get("additionalProperties") is True or schema.get("additionalProperties") == {}:
            odd.append(f"{path}: anything goes")
        if schema.get("type") == "object" and re.search(r"/(properties/[^/]+|items)$", path):
            if "properties" in schema:
                odd.append(f"{path}: an object without a name")
            elif "additionalProperties" not in schema:
                odd.append(f"{path}: anything goes")
    assert not odd


def test_only_request_schemas_forbid_unknown_fields(contract: Contract) -> None:
    closed = []
    for name, schema in contract.document["components"]["schemas"].items():
        sent = bool(WHAT_A_CLIENT_SENDS.fullmatch(name))
        if schema.get("type") == "object" and (schema.get("additionalProperties") is False) is not sent:
            closed.append(name)
        if not sent:
            closed += [f"{name}{path}" for path, node in nodes(schema) if isinstance(node.get("enum"), list)]
    assert not closed, "answers may grow, in fields and in words; requests may not hold what is unknown"


def test_every_operation_shows_its_answers(contract: Contract) -> None:
    bare = [
        f"{method} {path} {status} {media_type}"
        for path, method, operation in contract.operations()
        for status, answer in operation["responses"].items()
        for media_type, content in answer.get("content", {}).items()
        if media_type not in PAGES and not content.keys() & {"example", "examples"}
    ]
    assert not bare


def test_every_problem_is_explained(contract: Contract) -> None:
    described = " ".join(
        answer["description"] for *_, operation in contract.operations() for answer in operation["responses"].values()
    )
    # These are the answers to a method that no operation has, and to a request that reaches none.
    elsewhere = ("method_not_allowed", "uri_too_long")
    assert [code for code in PROBLEMS if f"`{code}`" not in described and code not in elsewhere] == []


@pytest.mark.parametrize("variant", lanes.in_lane(list(variants()), quick=lanes.QUICK_VARIANTS))
def test_the_answers_of_a_whole_match_are_as_documented(variant: str, http: httpx.Client, contract: Contract) -> None:
    table = Table.create(http, variant, options=some_rounds(variant))
    for count, view in enumerate(table.play(1, contract.check)):
        if count % 10 and view["status"] == "playing":
            continue
        for seat in (None, *table.tokens):
            for what in ("", "/moves", "/score"):
                answer = table.get(what, seat)
                assert answer.status_code == 200
                contract.check(answer)
                contract.check(table.get(what, seat, If_None_Match=answer.headers["ETag"]))
    assert {("makeMove", 201), ("getGame", 200), ("getGame", 304), ("getMoves", 200), ("getMoves", 304)} < contract.seen
    assert {("getScore", 200), ("getScore", 304)} < contract.seen
