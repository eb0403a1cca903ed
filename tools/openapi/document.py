"""The OpenAPI document, generated from the routes and their schemas.

Does not depend on where and how it is written (``tools.openapi.files``, ``tools.openapi.layout``), nor on how its
examples come about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import metadata
from inspect import cleandoc
from textwrap import indent
from typing import Any, Final

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from flask import Flask
from marshmallow import Schema

from service.texts import DEFAULT_LANGUAGE
from service.web.openapi.operations import Operation, ResponseSpec, operation_of
from service.web.problems import PROBLEM_JSON, PROBLEMS, problem_description
from service.web.request_parsing import KEY_PATTERN
from service.web.schemas import apps as app_schemas
from service.web.schemas import board as board_schemas
from service.web.schemas import events as event_schemas
from service.web.schemas import feed as feed_schemas
from service.web.schemas import game as game_schemas
from service.web.schemas import listing as listing_schemas
from service.web.schemas import players as player_schemas
from service.web.schemas import problems as problem_schemas
from service.web.schemas import records as record_schemas
from service.web.schemas import requests as request_schemas
from service.web.schemas import score as score_schemas
from service.web.schemas import seats as seat_schemas
from service.web.schemas import service as service_schemas
from service.web.schemas import variants as variant_schemas
from service.web.schemas import webhooks as webhook_schemas
from service.web.schemas.fields import QueryWords
from tools.openapi import message_schemas
from tools.openapi.examples import Examples
from tools.openapi.layout import Example
from tools.openapi.messages import DELIVERY, MESSAGES
from tools.openapi.messages import HEADERS as MESSAGE_HEADERS
from tools.openapi.move_requests import move_requests
from tools.openapi.texts import (
    CONTACT,
    DESCRIPTION,
    LICENSE,
    PATH_PARAMETERS,
    REQUEST_HEADERS,
    RESPONSE_HEADERS,
    TAGS,
)

_SCHEMA_MODULES: Final = (
    request_schemas,
    game_schemas,
    board_schemas,
    score_schemas,
    seat_schemas,
    event_schemas,
    variant_schemas,
    record_schemas,
    problem_schemas,
    service_schemas,
    app_schemas,
    listing_schemas,
    player_schemas,
    message_schemas,
    webhook_schemas,
    feed_schemas,
)
"""The modules of the schemas in the document."""

_TAGS_WITHOUT_STORE: Final = ("service", "variants")
"""Tags of operations that do not use the store, or that list its problem themselves."""

_RULES_WITHOUT_GAME: Final = ("public", "public_or_app", "anyone_or_app", "app", "key_change")
"""The access of operations that are not about one game."""

_OWN_EXAMPLES: Final = (403, 409, 412, 422)
"""The statuses of problems that differ from one operation to the next; others are described once, for all."""

_LINKED: Final = ("getGame", "joinGame", "getMoves", "makeMove", "getScore", "getFairness", "getRecord")
_DESCRIPTIONS: Final = {
    "RulesIn": "House rules, all optional.",
    "Rules": "The house rules in force.",
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
}
"""By the access of an operation."""

_QUOTA: Final = ("RateLimit", "RateLimit-Policy")
_OPTIONAL_HEADERS: Final = (*_QUOTA, "Accept-Patch", "Idempotent-Replayed")
"""Headers that are not in every response."""
_HEADERS_OF_EVERY_PROBLEM: Final = ("Content-Language", "Cache-Control", "Vary")
_HEADERS_OF_PROBLEMS: Final = {
    401: ("WWW-Authenticate",),
    405: ("Allow",),
    415: ("Accept-Patch",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}


def document(app: Flask, examples: Examples) -> dict[str, Any]:
    """The whole document, in which nothing is shared but schemas and the problems of several operations."""
    marshmallow = MarshmallowPlugin(schema_name_resolver=_schema_name)
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
        servers=[{"url": "/"}],
        tags=[{"name": name, "description": text} for name, text in TAGS.items()],
    )
    assert marshmallow.converter is not None
    marshmallow.converter.add_parameter_attribute_function(_style_of_words)
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
    for path, methods in sorted(_routes(app)):
        operations = {method: _operation(described, examples, spec) for method, described in methods}
        spec.path(path=path, operations=operations, parameters=_path_parameters(path))
    webhooks = _webhooks(spec)
    described = spec.to_dict()
    described["webhooks"] = webhooks
    _describe_schemas(described["components"]["schemas"])
    first = ("openapi", "info", "servers", "tags", "paths", "webhooks", "components")
    return {key: described[key] for key in first} | described


def _style_of_words(_converter: Any, field: Any, **_: Any) -> dict[str, Any]:
    """How a list of words is written in a query: with commas."""
    return {"explode": False} if isinstance(field, QueryWords) else {}


def _routes(app: Flask) -> Iterator[tuple[str, list[tuple[str, Operation]]]]:
    """Every path that has operations, with its methods."""
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


def _webhooks(spec: APISpec) -> dict[str, Any]:
    """The messages that the service sends, each as the operation of who gets it."""
    schemas: list[type[Schema]] = [*(message.schema for message in MESSAGES), message_schemas.MoveMessage]
    for schema in dict.fromkeys(schemas):
        spec.components.schema(_schema_name(schema), schema=schema)
    headers = [
        {"in": "header", "name": name, "required": True, "description": text, "schema": {"type": "string"}}
        for name, text in MESSAGE_HEADERS.items()
    ]
    messages = {
        message.name: {
            "post": {
                "operationId": _receive(message.name),
                "security": [],
                "tags": ["messages"],
                "summary": message.summary,
                "description": f"{message.description} {DELIVERY}",
                "parameters": headers,
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {"$ref": f"#/components/schemas/{_schema_name(message.schema)}"},
                            "example": Example(message.example),
                        }
                    },
                },
                "responses": {"2XX": {"description": "It has arrived."}},
            }
        }
        for message in MESSAGES
    }
    return messages | move_requests(headers)


def _receive(name: str) -> str:
    """The name of the operation that takes a message of this type: ``receiveGameTurn`` for ``game.turn``."""
    return "receive" + "".join([word.capitalize() for word in re.split(r"[._]", name)])


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
        if described.text_body:
            content["text/plain"] = {"schema": {"type": "string", "description": described.text_body}}
        result["requestBody"] = {"required": required, "content": content}
    responses = {str(status): _response(spec) for status, spec in described.responses.items() if not spec.for_streams}
    if "If-None-Match" in described.headers:
        responses["304"] = {
            "description": "The client has the current version.",
            "headers": _headers(_not_modified_headers(described)),
        }
    _add_examples(result, responses, described.id, examples)
    # Any query may have a parameter that is unknown.
    codes = dict.fromkeys(("malformed", *described.problems, "invalid", "internal"))
    if described.access not in _RULES_WITHOUT_GAME:
        codes["gone"] = None
    if described.tag not in _TAGS_WITHOUT_STORE:
        codes["storage_unavailable"] = None
    result["responses"] = dict(sorted({**responses, **_problems(list(codes), described.id, examples, spec)}.items()))
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


def _add_examples(result: dict[str, Any], responses: dict[str, Any], operation_id: str, examples: Examples) -> None:
    """Add recorded requests and responses beside the schemas."""
    for status, response in responses.items():
        for media_type, content in response.get("content", {}).items():
            example = examples.operations.get((operation_id, int(status), media_type))
            if example is None:
                continue
            content["example"] = Example(example.response)
            if example.request is not None:
                result["requestBody"]["content"]["application/json"]["example"] = Example(example.request)


def _not_modified_headers(described: Operation) -> tuple[str, ...]:
    """The headers of a 304: all but those that describe a body."""
    return tuple(name for name in next(iter(described.responses.values())).headers if not name.startswith("Content-"))


def _response(spec: ResponseSpec) -> dict[str, Any]:
    result: dict[str, Any] = {"description": spec.description}
    if spec.media_type is not None:
        schema: Any = spec.schema
        if schema is None:
            schema = {"type": "object" if spec.media_type.endswith("json") else "string"}
        result["content"] = {spec.media_type: {"schema": schema}}
        for media_type, text in spec.streams.items():
            result["content"][media_type] = {"schema": {"type": "string", "description": text}}
    names = (
        *spec.headers,
        *spec.optional_headers,
        *(("Idempotent-Replayed",) if spec.replayable else ()),
        *(_QUOTA if spec.limited else ()),
    )
    if names:
        result["headers"] = _headers(names, spec.optional_headers)
    if spec.schema is game_schemas.CreatedGame:
        result["links"] = {
            each: {
                "operationId": each,
                "parameters": {"game": "$response.body#/game/id"},
                "description": "The game just created.",
            }
            for each in _LINKED
        }
    return result


def _headers(names: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        name: {
            "description": RESPONSE_HEADERS[name],
            **({} if name in (*_OPTIONAL_HEADERS, *optional) else {"required": True}),
            "schema": {"type": "integer", "minimum": 0} if name == "Retry-After" else {"type": "string"},
        }
        for name in names
    }


def _problems(codes: list[str], operation_id: str, examples: Examples, spec: APISpec) -> dict[str, Any]:
    """The problems of an operation by status: its own, or the names of those that it shares with other operations."""
    by_status: dict[int, list[str]] = {}
    for code in codes:
        by_status.setdefault(PROBLEMS[code].status, []).append(code)
    result: dict[str, Any] = {}
    for status, each in by_status.items():
        example = examples.operations.get((operation_id, status, PROBLEM_JSON))
        if status in _OWN_EXAMPLES and example is not None:
            result[str(status)] = _problem(status, each, {"example": Example(example.response)})
        else:
            result[str(status)] = _shared_problem(status, each, examples, spec)
    return result


def _shared_problem(status: int, codes: list[str], examples: Examples, spec: APISpec) -> str:
    """The name of a component that describes these problems; it is added if it is new."""
    name = "Or".join(_component_name(code) for code in codes)
    components = spec.components
    if name not in components.responses:
        for code in codes:
            if _component_name(code) not in components.examples:
                components.example(_component_name(code), {"value": Example(examples.problems[code])})
        shown = {code: _component_name(code) for code in codes}
        components.response(name, _problem(status, codes, {"examples": shown}))
    return name


def _component_name(code: str) -> str:
    return code.title().replace("_", "")


def _problem(status: int, codes: list[str], example: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "description": " ".join(f"`{code}`: {problem_description(code, DEFAULT_LANGUAGE)}" for code in codes),
        "content": {PROBLEM_JSON: {"schema": game_schemas.Problem, **example}},
    }
    # Refusals of requests that are counted have the quota, and most are described once for all operations. A request
    # that cannot be read at all is refused in English, whatever it says.
    names = (*_HEADERS_OF_EVERY_PROBLEM, *_HEADERS_OF_PROBLEMS.get(status, ()), *_QUOTA)
    result["headers"] = _headers(names, optional=("Vary",))
    return result


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"in": "path", "name": name, "required": True, **PATH_PARAMETERS[name]} for name in re.findall(r"{(\w+)}", path)
    ]


def _schema_name(schema: Schema | type[Schema] | str) -> str:
    if isinstance(schema, str):
        return schema
    kind = schema if isinstance(schema, type) else type(schema)
    return kind.__name__


def _describe_schemas(result: dict[str, Any]) -> None:
    """Give every schema the docstring of its class, and close those of requests, which reject unknown fields."""
    classes = {
        name: each
        for module in _SCHEMA_MODULES
        for name, each in vars(module).items()
        if isinstance(each, type) and issubclass(each, Schema)
    }
    for name, schema in result.items():
        made = classes.get(name) or classes.get(f"{name}Out")
        text = _DESCRIPTIONS.get(name) or (made.__doc__ if made else None)
        if text:
            # Python 3.13 takes the indentation out of docstrings; the document has it, whichever version writes it.
            schema["description"] = indent(cleandoc(text), "    ").strip()
        if name.endswith("In"):
            schema["additionalProperties"] = False
        elif schema.get("additionalProperties") is False:
            del schema["additionalProperties"]
