"""The published document as a judge: whether an answer of the service is one that it describes."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Any

import httpx
import yaml
from jsonschema_rs import Draft202012Validator

from tests.support.serving import ROOT
from tools.openapi.layout import resolve

PROBLEM = "application/problem+json"
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


def _is_time_in_utc(value: str) -> bool:
    try:
        return value.endswith("Z") and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


class Contract:
    """An OpenAPI document without references but to schemas. ``seen`` collects the answers that it has judged, by
    operation and status.
    """

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.seen: set[tuple[str, int]] = set()
        self._schemas = _closed(document["components"]["schemas"])
        self._paths = [
            (re.compile(re.sub(r"{\w+}", "[^/]+", path)), methods) for path, methods in document["paths"].items()
        ]
        self._validator = cache(self._make_validator)

    def operations(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Every operation with its address and method."""
        for path, methods in self.document["paths"].items():
            for method in METHODS:
                if method in methods:
                    yield path, method, methods[method]

    def operation(self, method: str, path: str) -> dict[str, Any]:
        for pattern, methods in self._paths:
            if pattern.fullmatch(path) and method.lower() in methods:
                found: dict[str, Any] = methods[method.lower()]
                return found
        raise AssertionError(f"{method} {path} is not described")

    def check(self, answer: httpx.Response) -> None:
        """Its status, media type, headers and every field are described, and none that is required is missing."""
        request = answer.request
        operation = self.operation(request.method, request.url.path)
        where = f"{request.method} {request.url.path} → {answer.status_code}"
        described = operation["responses"].get(str(answer.status_code))
        assert described is not None, f"{where} is not described: {answer.text[:300]}"
        self.seen.add((operation["operationId"], answer.status_code))
        for name, header in described.get("headers", {}).items():
            assert name in answer.headers or not header.get("required"), f"{where} lacks the header {name}"
        if "content" not in described:
            assert answer.content == b"", where
            return
        media_type = answer.headers["Content-Type"].partition(";")[0]
        assert media_type in described["content"], f"{where} is {media_type}"
        if media_type.endswith("json"):
            self.check_value(described["content"][media_type]["schema"], answer.json(), where)

    def check_value(self, schema: dict[str, Any], value: Any, where: str = "value") -> None:
        """A value fits a schema of the document, with no field that the schema does not name."""
        errors = [
            f"{error.instance_path}: {error.message}" for error in self._validator(_key(schema)).iter_errors(value)
        ]
        assert not errors, f"{where}: {errors[:5]}"

    def _make_validator(self, key: str) -> Draft202012Validator:
        schema = {"$ref": key, "components": {"schemas": self._schemas}}
        return Draft202012Validator(schema, validate_formats=True, formats={"date-time": _is_time_in_utc})


@cache
def committed() -> Contract:
    """The document in the file, of which another test says that the service has the same."""
    return Contract(read_document((ROOT / "openapi.yaml").read_bytes()))


def read_document(data: bytes) -> dict[str, Any]:
    """A document in YAML, resolved but for its schemas: whoever reads it need not know what its parts share."""
    document: dict[str, Any] = resolve(yaml.load(data, Loader=yaml.CSafeLoader))
    return document


def _key(schema: dict[str, Any]) -> str:
    reference: str = schema["$ref"]
    return reference


def _closed(schemas: dict[str, Any]) -> dict[str, Any]:
    """The schemas, refusing every field they do not name: what is sent must be described, though it may grow."""
    closed = copy.deepcopy(schemas)
    for schema in closed.values():
        if "properties" in schema:
            schema["additionalProperties"] = False
    return closed
