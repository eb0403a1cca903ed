"""The processor time of single requests: every route of the document with every input that may be large.

One request at a time, measured on the clocks of the worker processes. The routes and their inputs are taken from the
service's own OpenAPI document, so that a new route is measured because it exists.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count, pairwise
from random import Random
from typing import Any, Final, NamedTuple

import orjson
import yaml

from tools.attack import bodies
from tools.attack.http import Closed, Connection, request
from tools.attack.target import WORKERS, Game, Target
from tools.openapi.layout import resolve

ORDINARY: Final = "ordinary"
"""What an ordinary request is called, to which the others compare."""
REPEATS: Final = 3
"""Requests of which the minimum is taken, fewer of an expensive one."""
_REQUESTS_OF_AN_ADDRESS: Final = 5
"""So that no limit by address is reached."""
_ENOUGH_SECONDS: Final = 0.3
_PATIENCE: Final = 30.0
_SETTLE_SECONDS: Final = 0.002
_METHODS: Final = ("get", "post", "put", "patch", "delete")
_OPEN: Final = {"variant": "domino", "players": [{"name": "Ada"}, {"open": True}]}
_LONG_PATH: Final = "A" * 3_900
_HEADERS: Final = ("Accept", "Accept-Language", "If-None-Match", "If-Match", "Authorization", "unknown")
_RECORD_FIELDS: Final = ("record",)
_OF_ANY_FIELD: Final = ("[{}, …]", "27,000 keys", "an escaped string", "digits")
"""The large values for a field that is not an array."""


_Path = tuple[str | int, ...]


class Cost(NamedTuple):
    """The cost of one request."""

    route: str
    what: str
    """The input that is large."""
    seconds: float
    """Processor time of the workers."""
    outcome: str
    """The status, or that the connection was closed."""
    answer_bytes: int


class _Probe(NamedTuple):
    route: str
    what: str
    data: bytes


def costs(target: Target, seconds: float) -> tuple[list[Cost], int]:
    """Return the costs of as many requests as fit into that time, the highest first; and how many did not fit.

    The requests are in random order, so that no route is left out if there is not enough time.
    """
    probes = list(_probes(target))
    Random(0).shuffle(probes)  # noqa: S311 # reproducible on purpose
    addresses = (f"127.0.2.{number}" for number in count(1))
    for _ in range(2 * WORKERS):  # so that both workers have loaded what they load once
        warm_up = Connection(target.address, next(addresses))
        for probe in probes:
            if probe.what == ORDINARY:
                _ask(warm_up, probe)
        warm_up.close()
    found: list[Cost] = []
    deadline = time.monotonic() + seconds
    while probes and time.monotonic() < deadline:
        connection = Connection(target.address, next(addresses), _PATIENCE)
        found += [_measured(target, connection, probe) for probe in probes[:_REQUESTS_OF_AN_ADDRESS]]
        del probes[:_REQUESTS_OF_AN_ADDRESS]
        connection.close()
    return sorted(found, key=lambda cost: cost.seconds, reverse=True), len(probes)


def _measured(target: Target, connection: Connection, probe: _Probe) -> Cost:
    taken: list[float] = []
    first = ("", 0)
    while len(taken) < REPEATS and sum(taken) < _ENOUGH_SECONDS:
        before = target.worker_seconds()
        answer = _ask(connection, probe)
        time.sleep(_SETTLE_SECONDS)
        if taken and answer[0] != first[0]:
            break  # the first one has changed something, such as the token
        first = first if taken else answer
        taken.append(target.worker_seconds() - before)
    return Cost(probe.route, probe.what, min(taken), *first)


def _ask(connection: Connection, probe: _Probe) -> tuple[str, int]:
    """Return the status and the bytes of the answer."""
    try:
        answer = connection.send(probe.data)
    except Closed:
        return "closed", 0
    return str(answer.status), len(answer.body)


def _probes(target: Target) -> Iterator[_Probe]:
    """Yield the requests, with an ordinary one of each route."""
    document = resolve(yaml.safe_load(target.ask("GET", "/openapi.yaml").body))
    for template, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                parameters = [*item.get("parameters", ()), *item[method].get("parameters", ())]
                operation = {**item[method], "parameters": parameters}
                yield from _of_route(document, f"{method.upper()} {template}", operation, target)


def _of_route(document: dict[str, Any], route: str, operation: dict[str, Any], target: Target) -> Iterator[_Probe]:
    """Yield the requests of a route."""
    method, template = route.split()
    contents = operation.get("requestBody", {}).get("content", {})
    content = contents.get("application/json")
    example = {} if content is None else content.get("example", {})
    example_body = None if content is None else orjson.dumps(example)
    has_seat = any("seat" in way for way in operation.get("security", ()))
    large = target.long_game()
    small = target.create(_OPEN)

    def probe(
        what: str,
        *,
        body: bytes | None = example_body,
        headers: bodies.Headers = (),
        at: str = template,
        query: str = "",
        game: Game | None = None,
        has_token: bool = has_seat,
        content_type: str = "application/json",
    ) -> _Probe:
        if game is None:
            game = target.create(_OPEN) if "{seat}" in template else small  # as its token may be changed
        path = at.replace("{game}", game.id).replace("{seat}", "0").replace("{variant}", "domino") + query
        return _Probe(
            route,
            what,
            request(
                method,
                path,
                body,
                token=game.tokens[0] if has_token else None,
                headers=headers,
                content_type=content_type,
            ),
        )

    yield probe(ORDINARY)
    if "{game}" in template:
        yield probe("a long game", game=large)
        for media_type in ("application/json", "text/plain"):
            headers = (("Accept", media_type),)
            yield probe(f"a long game, as {media_type}", game=large, headers=headers, has_token=False)
    for name in (*_HEADERS, *[each["name"] for each in _parameters(operation, "header")]):
        yield probe(f"head: {name}", headers=bodies.large_headers(name))
    for each in _parameters(operation, "path"):
        yield probe(f"path: {each['name']}", at=template.replace("{" + each["name"] + "}", _LONG_PATH))
    for each in _parameters(operation, "query"):
        yield probe(f"query: {each['name']}, many digits", game=large, query=f"?{each['name']}={'9' * 3_000}")
        if each["name"] != "wait":  # it would wait
            yield probe(f"query: {each['name']}=1000", game=large, query=f"?{each['name']}=1000")
    yield probe("query: many names", query="?" + "&".join(f"{number:x}=" for number in range(600)))
    if "text/plain" in contents:
        for name, record in _records().items():
            yield probe(f"body: {name}", body=record.encode(), content_type="text/plain")
    elif content is None:
        yield probe("a body where there is none", body=bodies.unknown_keys())
    else:
        for what, body in _bodies(document, _schema(document, content["schema"]), example):
            yield probe(f"body: {what}", body=body)


def _records() -> dict[str, str]:
    return {
        "a long record": bodies.long_record(),
        "a shorter record": bodies.shorter_record(),
        "one line of options": bodies.many_options(),
    }


def _bodies(document: dict[str, Any], schema: dict[str, Any], example: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    values = bodies.large_values()
    for name, value in values.items():
        if value.startswith((b"[", b"{")):
            yield name, value
    for path, is_array in _fields(document, schema):
        shown = ".".join(map(str, path))
        for name in values if is_array else _OF_ANY_FIELD:
            yield f"{shown}: {name}", bodies.with_field(_grown(example, path), path, values[name])
        if path[-1] in _RECORD_FIELDS:
            for name, record in _records().items():
                grown = {"players": [{"name": "P"}] * record.count("\n[Player "), **_grown({}, path)}
                yield f"{shown}: {name}", bodies.with_field(grown, path, orjson.dumps(record))
    if "deals" in schema.get("properties", ()):
        yield "a hundred deals", bodies.hundred_deals(0)


def _fields(document: dict[str, Any], schema: dict[str, Any]) -> Iterator[tuple[_Path, bool]]:
    """Yield the paths of all fields in a body, and whether each is an array; an array has the field 0."""
    for name, each in schema.get("properties", {}).items():
        below = _schema(document, each)
        path: _Path = (name,)
        while below.get("type") == "array":
            yield path, True
            path, below = (*path, 0), _schema(document, below["items"])
        yield path, False
        yield from (((*path, *deeper), is_array) for deeper, is_array in _fields(document, below))


def _grown(example: Any, path: _Path) -> dict[str, Any]:
    """Return the example with everything that leads to ``path``."""
    grown: Any = orjson.loads(orjson.dumps(example))
    place = grown
    for step, following in pairwise(path):
        missing: Any = [None] if isinstance(following, int) else {}
        if isinstance(step, int):
            if place[step] is None or not isinstance(place[step], type(missing)):
                place[step] = missing
        elif not isinstance(place.get(step), type(missing)) or place[step] == []:
            place[step] = missing
        place = place[step]
    return grown  # type: ignore[no-any-return]  # the example of a body is an object


def _schema(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema itself instead of a reference to it."""
    for each in schema.get("allOf", ()):
        schema = {**each, **schema}
    name = schema.get("$ref", "").rpartition("/")[2]
    found: dict[str, Any] = document["components"]["schemas"][name] if name else schema
    return found


def _parameters(operation: dict[str, Any], place: str) -> list[dict[str, Any]]:
    return [each for each in operation["parameters"] if each["in"] == place]
