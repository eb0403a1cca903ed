"""The OpenAPI document, generated from the routes and their schemas.

Does not depend on where and how it is written (``tools.openapi.files``, ``tools.openapi.layout``), nor on how its
examples come about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.metadata import metadata
from inspect import cleandoc
from textwrap import indent
from typing import Any, Final

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from flask import Flask
from marshmallow import Schema

from service.web.events.schemas import StreamItemSchema
from service.web.fields.strict import QueryWords
from service.web.games.schemas import CreatedGameSchema
from service.web.http.headers import KEY_PATTERN
from service.web.operation import Operation
from tools.openapi.headers import headers_section
from tools.openapi.layout import Example
from tools.openapi.operations import headers_of, operation_of, problems_of
from tools.openapi.problems import problem_responses
from tools.openapi.session import Examples
from tools.openapi.texts import (
    CONTACT,
    DESCRIPTION,
    LICENSE,
    PATH_PARAMETERS,
    REQUEST_HEADERS,
    TAGS,
)
from tools.openapi.webhooks import webhooks_section

_TAGS_WITHOUT_STORE: Final = ("service", "variants")
"""Tags of operations that do not use the store, or that list its problem themselves."""
_RULES_WITHOUT_GAME: Final = ("public", "public_or_app", "anyone_or_app", "app", "key_change")
"""The access of operations that are not about one game."""
_RECORD: Final = "Record"
"""The name of the example of a record as text."""
_LINKED: Final = ("getGame", "joinGame", "getMoves", "makeMove", "getScore", "getFairness", "getRecord")
_DESCRIPTIONS: Final = {
    "OptionsIn": "House rules, all optional.",
    "Options": "The house rules in force.",
    "ProblemParams": "The values that the sentence of a problem names; which ones depends on its reason.",
}
_SECURITY: Final[dict[str, list[dict[str, list[str]]]]] = {
    "public": [],
    "spectator": [{}, {"seat": []}, {"application": []}],
    "join": [{}, {"seat": []}, {"application": []}],
    "seat": [{"seat": []}],
    "token_change": [{"seat": []}, {"application": []}],
    "app": [{"application": []}],
    "key_change": [{"application": []}],
    "public_or_app": [{}, {"application": []}],
    "anyone_or_app": [{}, {"application": []}],
    "app_game": [{"application": []}],
    "seat_or_app": [{"seat": []}, {"application": []}],
    "any_seat_or_app": [{"seat": []}, {"application": []}],
}
"""By the access of an operation."""


def document(app: Flask, examples: Examples) -> dict[str, Any]:
    """Return the whole document, in which nothing is shared but schemas and the problems of several operations."""
    marshmallow = MarshmallowPlugin()
    spec = APISpec(
        title="Domino",
        version=metadata("domino-service")["Version"],
        openapi_version="3.1.0",
        plugins=[marshmallow],
        info={
            "description": DESCRIPTION,
            "contact": CONTACT,
            "license": LICENSE,
        },
        servers=[{"url": "."}],  # relative to the address of the document, as it may be below a prefix
        tags=[{"name": name, "description": text} for name, text in TAGS.items()],
    )
    assert marshmallow.converter is not None
    marshmallow.converter.add_parameter_attribute_function(_style_of_words)
    _add_security_schemes(spec)
    for path, methods in sorted(_routes(app)):
        operations = {method: _operation(described, examples, spec) for method, described in methods}
        spec.path(path=path, operations=operations, parameters=_path_parameters(path))
    spec.components.schema("StreamItem", schema=StreamItemSchema)  # no response as a whole is one
    webhooks = webhooks_section(spec)
    described = spec.to_dict()
    described["webhooks"] = webhooks
    classes = {name: key[0] for key, name in marshmallow.converter.refs.items()}
    _describe_schemas(described["components"]["schemas"], classes)
    first = ("openapi", "info", "servers", "tags", "paths", "webhooks", "components")
    return {key: described[key] for key in first} | described


def _add_security_schemes(spec: APISpec) -> None:
    spec.components.security_scheme(
        "seat",
        {
            "type": "http",
            "scheme": "bearer",
            "description": "The token of a seat, returned when it was created, taken or changed.",
        },
    )
    spec.components.security_scheme(
        "application",
        {
            "type": "http",
            "scheme": "bearer",
            "description": "A key of an application, returned when it was made. For a game, that of its owner.",
        },
    )


def _style_of_words(_converter: Any, field: Any, **_: Any) -> dict[str, Any]:
    """Return how a list of words is written in a query: with commas."""
    return {"explode": False} if isinstance(field, QueryWords) else {}


def _routes(app: Flask) -> Iterator[tuple[str, list[tuple[str, Operation]]]]:
    """Yield every path that has operations, with its methods."""
    paths: dict[str, list[tuple[str, Operation]]] = {}
    for rule in app.url_map.iter_rules():
        described = operation_of(app.view_functions[rule.endpoint])
        if described is None:
            continue
        path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
        (method,) = (rule.methods or set()) - {"HEAD", "OPTIONS"}
        paths.setdefault(path, []).append((method.lower(), described))
    for path, methods in paths.items():
        yield path, sorted(methods, key=lambda each: each[0])


def _operation(described: Operation, examples: Examples, spec: APISpec) -> dict[str, Any]:
    result: dict[str, Any] = {
        "operationId": described.id,
        "tags": [described.tag],
        "summary": described.summary,
        "description": described.description,
    }
    parameters: list[Any] = [_header_parameter(name, described) for name in described.headers]
    if described.query is not None:
        parameters.append({"in": "query", "schema": described.query})
    if parameters:
        result["parameters"] = parameters
    result["security"] = _SECURITY[described.access]
    if described.body is not None:
        required = described.needs_body or any(each.required for each in described.body().fields.values())
        content: dict[str, Any] = {"application/json": {"schema": described.body}}
        result["requestBody"] = {"required": required, "content": content}
    elif described.text_body:
        content = {
            media_type: {"schema": {"type": "string", "description": text, "minLength": 1}}
            for media_type, text in described.text_body.items()
        }
        result["requestBody"] = {"required": True, "content": content}
    responses = {
        str(status): _response(described, status)
        for status, response in described.responses.items()
        if not response.for_streams
    }
    if "If-None-Match" in described.headers:
        responses["304"] = {
            "description": "The client has the current version.",
            "headers": headers_section(*_not_modified_headers(described)),
        }
    _add_examples(result, responses, described.id, examples=examples, spec=spec)
    # Any query may have a parameter that is unknown.
    codes = dict.fromkeys(("malformed", *problems_of(described), "invalid", "internal"))
    if described.access not in _RULES_WITHOUT_GAME:
        codes["gone"] = None
    if described.tag not in _TAGS_WITHOUT_STORE:
        codes["storage_unavailable"] = None
    result["responses"] = dict(
        sorted({**responses, **problem_responses(list(codes), described, examples, spec)}.items())
    )
    return result


def _header_parameter(name: str, described: Operation) -> dict[str, Any]:
    parameter = {"in": "header", "name": name, "required": False, **REQUEST_HEADERS[name]}
    if name == "Idempotency-Key":
        shortest = described.min_key_length
        of_keys = KEY_PATTERN.replace("{1,", f"{{{shortest},")
        parameter["schema"] = {"type": "string", "minLength": shortest, "pattern": of_keys}
    if name == "Last-Event-ID" and described.query is not None:
        pattern = described.query().fields["after"].metadata.get("pattern")
        if pattern is not None:  # a cursor is a number, or a text of this form
            parameter["schema"] = {"type": "string", "pattern": pattern}
    return parameter


def _add_examples(
    result: dict[str, Any], responses: dict[str, Any], operation_id: str, *, examples: Examples, spec: APISpec
) -> None:
    """Add recorded requests and responses beside the schemas."""
    for status, response in responses.items():
        for media_type, content in response.get("content", {}).items():
            example = examples.operations.get((operation_id, int(status), media_type))
            if example is None:
                continue
            _show(content, example.response, spec)
            if example.request is not None:
                for body in result["requestBody"]["content"].values():
                    _show(body, example.request, spec)


def _show(content: dict[str, Any], example: Any, spec: APISpec) -> None:
    """Add an example to a body; the text of a record, which is long, is a component that all its bodies name."""
    examples = spec.components.examples
    if isinstance(example, str) and example.startswith("[Record "):
        if _RECORD not in examples:
            spec.components.example(_RECORD, {"value": Example(example)})
        if examples[_RECORD]["value"].value == example:
            content["examples"] = {_RECORD: _RECORD}
            return
    content["example"] = Example(example)


def _not_modified_headers(described: Operation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the headers of a 304, and those that only some have: all but those that describe a body."""
    found = headers_of(described, next(iter(described.responses)))
    required, optional = [tuple(name for name in names if not name.startswith("Content-")) for names in found]
    return (*required, *optional), optional


def _response(described: Operation, status: int) -> dict[str, Any]:
    spec = described.responses[status]
    result: dict[str, Any] = {"description": spec.description}
    if spec.media_type is not None:
        schema: Any = spec.schema
        if schema is None:
            schema = {"type": "object" if spec.media_type.endswith("json") else "string"}
        result["content"] = {spec.media_type: {"schema": schema}}
        for media_type, text in spec.streams.items():
            result["content"][media_type] = {"schema": {"type": "string", "description": text}}
            if spec.item is not None:  # ``itemSchema`` of OpenAPI 3.2 is not known to generators yet
                name = spec.item.__name__.removesuffix("Schema")
                item = {
                    "contentMediaType": "application/json",
                    "contentSchema": {"$ref": f"#/components/schemas/{name}"},
                }
                result["content"][media_type]["schema"] |= item
    required, optional = headers_of(described, status)
    if required or optional:
        result["headers"] = headers_section((*required, *optional), optional)
    if spec.schema is CreatedGameSchema:
        result["links"] = {
            each: {
                "operationId": each,
                "parameters": {"game": "$response.body#/game/id"},
                "description": "The game just created.",
            }
            for each in _LINKED
        }
    return result


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"in": "path", "name": name, "required": True, **PATH_PARAMETERS[name]} for name in re.findall(r"{(\w+)}", path)
    ]


def _describe_schemas(result: dict[str, Any], classes: Mapping[str, type[Schema]]) -> None:
    """Give every schema the docstring of its class, and close those of requests, which reject unknown fields."""
    for name, schema in result.items():
        text = _DESCRIPTIONS.get(name) or classes[name].__doc__
        if text:
            # Python 3.13 takes the indentation out of docstrings; the document has it, whichever version writes it.
            schema["description"] = indent(cleandoc(text), "    ").strip()
        if name.endswith("In"):
            schema["additionalProperties"] = False
        elif schema.get("additionalProperties") is False:
            del schema["additionalProperties"]
