"""Bad requests at every operation: each fault gets its problem, nothing breaks, and nothing is changed.

A fault that one operation alone can have is in the file of this operation, or in ``test_bad_input``.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count, cycle, islice
from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from service.backends.facade import BackendsFacade
from service.games.facade import GamesFacade
from service.web.http.body import MAX_BODY_BYTES
from tests.api.client import Api, errors_of, status_and_code
from tests.api.every_operation import JSON, REFUSED, WEBHOOK, Endpoint, Target, as_stream, make_target, path_of
from tests.api.saved_games import StoreContents
from tests.support.application import create_app, rate_limits
from tests.support.contract import committed
from tools.openapi.operations import problems_of

pytestmark = pytest.mark.gate

HOUSE_SECRETS = (b"Traceback", b".py", b"werkzeug", b"flask", b"Flask", b"redis", b"Redis", b"gunicorn", b"Python/")
MAY_BE_ABSENT = {name for name, body in REFUSED.items() if body == {"colour": 1}} | {"createKey"}
"""The operations that take no body for an empty one."""


@pytest.fixture(scope="module")
def app(games: GamesFacade, backends: BackendsFacade) -> Flask:
    """An application for whose rate limits every request comes a minute after the one before."""
    minutes = count()
    return create_app(games, backends=backends, limits=rate_limits(clock=lambda: 60.0 * next(minutes)))


@pytest.fixture(scope="module")
def target(app: Flask, backends: BackendsFacade, contents: StoreContents, publish: Callable[[], None]) -> Target:
    return make_target(app, backends, contents, publish)


@pytest.fixture
def free_api(app: Flask) -> Api:
    """A client that may change something."""
    return Api(app.test_client(use_cookies=False))


@pytest.fixture
def api(free_api: Api, target: Target) -> Iterator[Api]:
    """A client that checks that nothing changes meanwhile."""
    with target.unchanged():
        yield free_api


def check(answer: TestResponse) -> None:
    """Check that this is no internal error, a refusal tells nothing of the inside, and any page may read it."""
    assert answer.status_code < 500
    if answer.status_code >= 400 and answer.request.method != "HEAD":
        assert answer.mimetype == "application/problem+json"
        assert not [word for word in HOUSE_SECRETS if word in answer.data]
    assert not {"Server", "Set-Cookie", "Access-Control-Allow-Credentials"} & set(answer.headers.keys())
    assert answer.headers["Access-Control-Allow-Origin"] == "*"


def outcome(answer: TestResponse) -> tuple[int, str | None]:
    """Check an answer; its status, and the code of its problem."""
    check(answer)
    return status_and_code(answer) if answer.status_code >= 400 and answer.data else (answer.status_code, None)


@cache
def _described() -> dict[str, dict[str, Any]]:
    return {operation["operationId"]: operation for *_, operation in committed().operations()}


def described(endpoint: Endpoint) -> dict[str, Any]:
    """What the document says of an operation."""
    return _described()[endpoint.id]


# Bodies


def deep(levels: int) -> bytes:
    return b'{"a":' * levels + b"1" + b"}" * levels


MALFORMED: dict[str, bytes] = {
    "a space": b" ",
    "half an object": b'{"name": "Ada"',
    "a comma too many": b'{"name": "Ada",}',
    "a word": b"hello",
    "two values": b"{} {}",
    "single quotes": b"{'name': 'Ada'}",
    "a comment": b'{"name": "Ada"} // Ada',
    "no quotes": b'{name: "Ada"}',
    "a form": b"name=Ada&join_code=x",
    "NaN": b'{"version": NaN}',
    "minus Infinity": b'{"version": -Infinity}',
    "a number beyond all floats": b'{"version": 1e400}',
    "a number of 5,000 digits": b'{"version": 1' + b"0" * 5000 + b"}",
    "a float of 5,000 digits": b'{"version": 1.' + b"0" * 5000 + b"}}",
    "a leading zero": b'{"version": 01}',
    "a hexadecimal number": b'{"version": 0x1}',
    "a lone surrogate": b'{"name": "\\ud800"}',
    "a lone low surrogate": b'{"name": "\\udc00"}',
    "surrogates the wrong way round": b'{"name": "\\udc00\\ud800"}',
    "a lone surrogate in a key": b'{"\\ud800": 1}',
    "a surrogate in UTF-8": b'{"name": "\xed\xa0\x80"}',
    "latin-1": '{"name": "José"}'.encode("latin-1"),
    "an overlong encoding": b'{"name": "\xc0\xaf"}',
    "half a character": b'{"name": "\xe2\x82"}',
    "UTF-16": '{"name": "Ada"}'.encode("utf-16"),
    "UTF-16 without a mark": '{"name": "Ada"}'.encode("utf-16-le"),
    "UTF-32": '{"name": "Ada"}'.encode("utf-32"),
    "a byte order mark": b'\xef\xbb\xbf{"name": "Ada"}',
    "a bare NUL": b'{"name": "A\x00da"}',
    "NUL behind it": b'{"name": "Ada"}\x00',
    "a bare line break in a string": b'{"name": "A\nda"}',
    "a bad escape": b'{"name": "\\x41"}',
    "33 levels": deep(33),
    "deep lists": b"[" * 100_000,
    "deep lists, closed": b"[" * 100_000 + b"]" * 100_000,
    "deep objects, closed": deep(30_000),
    "lists as deep as a reader may go": b"[" * 900 + b"]" * 900,
    "ten thousand objects": b'{"a":[' + b"{}," * 10_000 + b"{}]}",
    "a key twice": b'{"name": "Ada", "name": "Ada"}',
    "a key twice, spelled in two ways": b'{"name": "Ada", "n\\u0061me": "Ada"}',
    "a key twice further in": b'{"players": [{"name": "Ada", "name": "Bo"}], "variant": "domino"}',
    "a key twice in a list of lists": b'{"a": [[{"b": {"c": 1, "c": 1}}]]}',
    "a key twice among very many": b"{" + b",".join([b'"%d":1' % each for each in range(20_000)]) + b',"7":1}',
    "gzip that nobody announced": gzip.compress(b'{"name": "Ada"}'),
}
INVALID: dict[str, bytes] = {
    "a list": b"[]",
    "null": b"null",
    "a text": b'"play"',
    "a number": b"-0.0",
    "true": b"true",
    "an object in a list": b"[{}]",
    "an empty name": b'{"": ""}',
    "huge numbers": b'{"action": "pass", "version": 1%s, "name": -1%s}' % (b"0" * 40, b"0" * 40),
    "a very long name": b'{"%s": "%s"}' % (b"x" * 100_000, b"y" * 100_000),
    "names of the machinery": b'{"__class__": 1, "__proto__": {}, "constructor": 1, "_schema": 1}',
    "ten thousand names": json.dumps({f"f{number}": number for number in range(10_000)}).encode(),
}
TYPES = (
    *(None, "", "text/html", "text/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"),
    *("application/problem+json", "application/jsonp", "application/json-patch+json", "application/json, text/plain"),
    *("application/json; charset=utf-16", "application/json; charset=latin-1"),
    *("text/plain", "text/plain; charset=latin-1", "*/*", "json", "\xff"),
)
ENCODINGS = ("gzip", "deflate", "br", "zstd", "x-gzip", "gzip, identity", "nonsense")
TOO_LARGE = b" " * (MAX_BODY_BYTES + 1)
COMPRESSED = gzip.compress(b"{}")
BODIES: dict[str, tuple[dict[str, Any], tuple[int, str]]] = {
    **{name: ({"data": data}, (400, "malformed")) for name, data in MALFORMED.items()},
    **{name: ({"data": data}, (422, "invalid")) for name, data in INVALID.items()},
    **{f"the type {name}": ({"data": b"{}", "content_type": name}, (415, "unsupported_media_type")) for name in TYPES},
    **{
        f"the encoding {name}": (
            {"data": COMPRESSED, "headers": {"Content-Encoding": name}},
            (415, "unsupported_media_type"),
        )
        for name in ENCODINGS
    },
    "an odd charset": ({"data": b"[]", "content_type": "application/json; charset=\xff\0"}, (422, "invalid")),
    "one byte too many": ({"data": TOO_LARGE}, (413, "too_large")),
    "four times the limit": ({"data": 4 * TOO_LARGE}, (413, "too_large")),
    "a length beyond the limit": (
        {"data": b"{}", "environ_overrides": {"CONTENT_LENGTH": str(2**40)}},
        (413, "too_large"),
    ),
    "more than its length": ({"data": b"{} ", "environ_overrides": {"CONTENT_LENGTH": "1"}}, (400, "malformed")),
    "less than its length": ({"data": b"{}", "environ_overrides": {"CONTENT_LENGTH": "3"}}, (400, "malformed")),
}
"""What is wrong with a body: the arguments of a request with it, and the status and code of the answer."""


def wanted(endpoint: Endpoint, name: str) -> tuple[int, str]:
    """The status and code of the answer to a bad body: for an operation that takes a text, bad JSON is another text."""
    if endpoint.kind == JSON:
        return BODIES[name][1]
    if name == "an odd charset":
        return 415, "unsupported_media_type"
    return (422, "invalid") if name in (*MALFORMED, *INVALID, "more than its length") else BODIES[name][1]


@pytest.mark.parametrize("name", BODIES)
def test_a_bad_body_is_refused_wherever_one_is_taken(api: Api, target: Target, name: str) -> None:
    request, _ = BODIES[name]
    for endpoint in target.with_body:
        if request.get("content_type") not in endpoint.described.text_body:
            answer = endpoint.ask(api, **{"content_type": endpoint.kind, **request})
            assert outcome(answer) == wanted(endpoint, name), endpoint.id


@pytest.mark.parametrize("name", ["half an object", "the type None", "the encoding gzip", "one byte too many"])
def test_a_bad_body_changes_nothing_where_none_is_taken(api: Api, target: Target, name: str) -> None:
    request, _ = BODIES[name]
    for endpoint in target.endpoints:
        for method in {"GET": ("GET", "HEAD"), "DELETE": ("DELETE",)}.get(endpoint.method, ()):
            answer = endpoint.ask(api, method=method, **{"content_type": JSON, **request})
            assert outcome(answer)[0] == endpoint.status, endpoint.id


def test_no_body_is_malformed_or_taken_for_an_empty_one(api: Api, target: Target) -> None:
    for endpoint in target.with_body:
        if endpoint.id not in MAY_BE_ABSENT:
            answer = endpoint.ask(api, data=b"", content_type=endpoint.kind)
            assert outcome(answer) == ((400, "malformed") if endpoint.kind == JSON else (422, "invalid")), endpoint.id


def test_a_body_has_the_same_answer_however_it_is_sent_up_to_256_kib(api: Api, target: Target) -> None:
    assert MAX_BODY_BYTES == 256 * 1024
    for endpoint in target.with_body:
        usual = outcome(endpoint.refused(api))
        for data in (endpoint.body, endpoint.body.ljust(MAX_BODY_BYTES)):
            for kind in (endpoint.kind, endpoint.kind.upper(), f'{endpoint.kind}; charset="UTF-8"'):
                assert outcome(endpoint.ask(api, data=data, content_type=kind)) == usual, endpoint.id
            assert outcome(endpoint.ask(api, content_type=endpoint.kind, **as_stream(data))) == usual, endpoint.id


def test_a_body_without_a_length_has_the_same_limit_and_must_be_whole(api: Api, target: Target) -> None:
    for endpoint in target.endpoints:
        answer = endpoint.ask(api, content_type=endpoint.kind, **as_stream(TOO_LARGE))
        assert outcome(answer)[0] == (413 if endpoint.takes_body else endpoint.status), endpoint.id
        if endpoint.takes_body and endpoint.kind == JSON:
            cut = as_stream(endpoint.body[:-1])
            assert outcome(endpoint.ask(api, content_type=JSON, **cut)) == (400, "malformed"), endpoint.id


@pytest.mark.parametrize("name", ["half an object", "the type None", "one byte too many"])
def test_a_deletion_with_a_bad_body_deletes_what_its_path_names_alone(free_api: Api, target: Target, name: str) -> None:
    suffix = free_api.post("/v1/app/keys", {}, token=target.key).get_json()["suffix"]
    application, *before = target.own()
    kept = tuple(each for each in application.keys if each.suffix != suffix)
    webhook = free_api.post("/v1/webhooks", WEBHOOK, token=target.key).get_json()["id"]
    game = free_api.create("domino", 2, key=target.key)
    for path in (game.path, f"/v1/webhooks/{webhook}", f"/v1/app/keys/{suffix}"):
        request = {"content_type": JSON, **BODIES[name][0]}
        assert free_api.ask("DELETE", path, token=target.key, **request).status_code == 204
    assert target.own() == (application._replace(keys=kept), *before)


# Fields

OTHER_TYPES: dict[str, tuple[Any, ...]] = {
    "integer": ("2", 2.0, 2.9, True, None, [], {}, [2], "", 1e308, -(2.0**70)),
    "number": ("2", True, None, [], {}, [2], ""),
    "string": (2, 2.0, True, None, [], {}, ["x"]),
    "boolean": (0, 1, "true", "false", None, [], {}, 1.0),
    "array": (2, "x", True, None, {}, {"0": []}),
    "object": (2, "x", True, None, [], [[]]),
}
"""What is no value of each type of the document: nothing is converted."""
REASONS_OF_TYPES = {
    *("null", "not_a_string", "not_an_integer", "not_a_number", "not_a_boolean", "not_a_list", "not_an_object"),
    *("not_players", "not_a_player", "not_one_of", "unknown_field", "unknown_option", "no_fields"),
}


def of_other_types(schema: dict[str, Any]) -> list[Any]:
    """Values of no type that the schema names."""
    named = schema.get("type", "")
    types = [named] if isinstance(named, str) else named
    return [value for value in OTHER_TYPES.get(types[0], ()) if value is not None or "null" not in types]


UNKNOWN = ("colour", "Version", "seat ", "", "_schema", "\0", "__proto__", "\u00e9")


def fields_of(schema: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Every field of a body with its schema, also those of the objects in it; ``0`` stands for an entry of a list."""
    schemas = committed().document["components"]["schemas"]
    while "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    if path:
        yield path, schema
    for name, field in schema.get("properties", {}).items():
        yield from fields_of(field, (*path, name))
    if "items" in schema:
        yield from fields_of(schema["items"], (*path, "0"))


def with_field(body: Any, path: tuple[str, ...], value: Any) -> Any:
    """The body with this value at this path, and nothing else in the objects and lists of two on the way."""
    if not path:
        return value
    name, *rest = path
    inner = with_field({}, (*rest,), value)
    return [inner, inner] if name == "0" else {**body, name: inner}


def test_every_field_refuses_other_types_and_every_object_unknown_fields(api: Api, target: Target) -> None:
    wrong, fields = [], 0
    for endpoint in target.once:
        if endpoint.described.body is None or endpoint.id == "joinGame":  # which looks at the join code first
            continue
        asked: list[tuple[tuple[str, ...], Any]] = [((name,), 1) for name in UNKNOWN]
        for path, schema in fields_of(described(endpoint)["requestBody"]["content"][JSON]["schema"]):
            fields += 1
            asked += [(path, value) for value in of_other_types(schema)]
            asked += [((*path, name), 1) for name in UNKNOWN if "properties" in schema]
        for path, value in asked:
            answer = endpoint.ask(api, json=with_field(REFUSED[endpoint.id], path, value))
            place = ".".join(path[:-1] if path[-1] in ("", "_schema") else path)
            causes = answer.get_json().get("causes", ())
            reasons = {each["reason"] for each in causes if each["field"] == place}
            if outcome(answer) != (422, "invalid") or not reasons & REASONS_OF_TYPES:
                wrong.append(f"{endpoint.id}: {place} = {value!r:.80} gets {answer.status_code} {reasons}")
    assert not wrong, "\n".join(wrong)
    assert fields > 40


def required(endpoint: Endpoint) -> list[str]:
    """The fields that its body must have."""
    schema = endpoint.described.body
    if schema is None or endpoint.id == "joinGame":
        return []
    return [name for name, field in schema().load_fields.items() if field.required]


def test_every_required_field_that_is_missing_is_named(api: Api, target: Target) -> None:
    for endpoint in target.once:
        for name in required(endpoint):
            body = {key: value for key, value in REFUSED[endpoint.id].items() if key != name}
            answer = endpoint.ask(api, json=body)
            assert outcome(answer) == (422, "invalid"), endpoint.id
            assert name in errors_of(answer.get_json()), endpoint.id


# Methods and addresses

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "BREW", "get", "\xff", "{}")


def test_a_method_that_an_address_lacks_is_not_allowed_and_the_others_are_named(api: Api, target: Target) -> None:
    for endpoint in {each.path: each for each in target.endpoints}.values():
        named = endpoint.methods | {"OPTIONS"}
        for method in METHODS:
            if method.upper() not in named:
                answer = endpoint.refused(api, method=method)
                assert answer.status_code == 405, (method, endpoint.path)
                assert method == "HEAD" or outcome(answer) == (405, "method_not_allowed")
                assert set(answer.headers["Allow"].split(", ")) == named
        answer = endpoint.ask(api, method="OPTIONS")
        assert (answer.status_code, answer.data) == (204, b"")
        assert set(answer.headers["Allow"].split(", ")) == named


def test_a_head_has_the_headers_of_its_get(api: Api, target: Target) -> None:
    for endpoint in target.once:
        if endpoint.method == "GET":
            get, head = (endpoint.ask(api, method=method) for method in ("GET", "HEAD"))
            assert (head.status_code, head.data) == (get.status_code, b"")
            assert sorted(head.headers.keys()) == sorted(get.headers.keys()), endpoint.id


NOWHERE = (
    *("//", "/v1", "/v1/", "/v1//games", "/v1/games//", "//v1/games", "/v1/games/x/y", "/v2/games", "/V1/games"),
    *("/\0", "/" + "a/" * 1000, "/v1/game", "/v1//variants", "/healthz//", "/favicon.ico", "/static/x", "/.env"),
)


@pytest.mark.parametrize("path", NOWHERE)
def test_an_address_that_is_none_is_not_found(api: Api, path: str) -> None:
    for method in ("GET", "POST", "PUT"):
        # The test client would take what follows two slashes for a host.
        assert outcome(api.ask_unchecked(method, "/", environ_overrides={"PATH_INFO": path})) == (404, "not_found")


SEGMENTS = (
    *("%00", "a%00b", "%ff", "%ed%a0%80", "%7B%7D", "%7Dx", "x%7D", "*", "..", "%2e%2e", "a%2fb", "%0d%0aX:y", "%20"),
    *("%C3%A9", "%F0%9F%8E%B2", "x" * 5000, "-1", "null", "9" * 5000, "2.9", "%222%22", "%D9%A0x", "NaN", "'--", "%5c"),
    *("{{7*7}}", "%25%32%35", "%u0000", ";a=b", "a;b", "@", "%E2%80%AE", "{own}x", "{own}%00", "%7B{own}%7D"),
    *("%7Bx%7D:events", "{own}%7D:events", "{swapped}"),
)
"""``{own}`` stands for what is at this place otherwise, ``{swapped}`` for the same in other letters."""


@pytest.mark.parametrize("segment", SEGMENTS)
def test_an_unusual_path_segment_is_not_found(api: Api, target: Target, segment: str) -> None:
    for endpoint in target.endpoints:
        for place, own in endpoint.names.items():
            if place not in endpoint.rule or endpoint.id == "erasePlayer":
                continue  # whoever is called so is erased: any visible text may be a ref
            if place == "<ref:ref>" and "{own}" in segment:
                continue
            found = segment.replace("{own}", own).replace("{swapped}", own.swapcase())
            if found == own:
                continue  # a number
            path = path_of(endpoint.rule, {**endpoint.names, place: found})
            for token in (None, endpoint.token, "wrong"):
                answer = endpoint.refused(api, path=path, token=token)
                check(answer)
                assert answer.status_code in (401, 404, 405, 422), (path, answer.status_code)


# Queries

ANYTHING = ("x=1", "x=1&x=2&%ff=%00", "&&&", "=", "=1", "%", "%zz", "a" * 100_000, "%00=1", "AFTER=1", "after[]=1")
NUMBERS = (
    *("", " ", "x", "-1", "+1", "1.0", "2.9", "1e3", "NaN", "Infinity", "0x1", "01", "1_000", "%00", "1%00", "%ff"),
    *("%D9%A1", "%ed%a0%80", "null", "true", "[]", "9" * 30, "9" * 5000, "2147483648", "%22%31%22", "1%2C2", "1;2"),
)


@pytest.mark.parametrize("query", ANYTHING)
def test_a_parameter_that_an_operation_does_not_know_is_refused(api: Api, target: Target, query: str) -> None:
    for endpoint in target.once:
        usual, answer = endpoint.refused(api), endpoint.refused(api, path=f"{endpoint.path}?{query}")
        if query == "&&&" or endpoint.status == 410:
            assert outcome(answer) == outcome(usual), endpoint.id
        else:
            assert outcome(answer) == (422, "invalid"), endpoint.id
            assert not endpoint.takes_body or errors_of(answer.get_json()) != errors_of(usual.get_json()), endpoint.id


def parameters(endpoint: Endpoint) -> Iterator[tuple[str, Any]]:
    """Every parameter of the query, with its schema."""
    for parameter in described(endpoint).get("parameters", ()):
        if parameter["in"] == "query":
            yield parameter["name"], parameter["schema"]


def test_a_parameter_that_is_given_twice_or_is_no_number_is_refused_by_name(api: Api, target: Target) -> None:
    queries = 0
    for endpoint in target.once:
        for name, schema in parameters(endpoint):
            numbers = NUMBERS if schema.get("type") == "integer" else ()
            for query in (f"{name}=1&{name}=1", *(f"{name}={number}" for number in numbers)):
                queries += 1
                answer = endpoint.refused(api, path=f"{endpoint.path}?{query}")
                assert outcome(answer) == (422, "invalid"), (endpoint.id, query)
                assert list(errors_of(answer.get_json())) == [name]
                assert "&" not in query or answer.get_json()["reason"] == "given_twice"
    assert queries > 10 * len(NUMBERS)


# Headers

NO_BEARERS = {
    "another scheme": "Basic QWRhOkJv",
    "no scheme": "{token}",
    "no token": "Bearer",
    "an empty token": "Bearer ",
    "two tokens": "Bearer {token} {token}",
    "a list": "Bearer {token}, Bearer {token}",
    "a token in quotes": 'Bearer "{token}"',
    "a token cut short": "Bearer {short}",
    "a token too long": "Bearer {token}A",
    "a token in other letters": "Bearer {swapped}",
    "the token of another game": "Bearer {foreign}",
    "bytes beyond ASCII": "Bearer \xff\xfe{token}",
    "letters beyond ASCII": "Bearer {token}\xe9",
    "a tab": "Bearer\t{token}",
    "a very long one": "Bearer " + "x" * 100_000,
    "nothing": "",
    "a comma": ",",
    "null": "null",
}


@pytest.mark.parametrize("name", NO_BEARERS)
def test_a_token_that_is_none_is_unauthorized_wherever_one_counts(
    free_api: Api, target: Target, name: str, seat_elsewhere: str
) -> None:
    for endpoint in target.endpoints:
        token = endpoint.token
        if token is None or (endpoint.described.access in ("anyone_or_app", "public_or_app") and token != target.key):
            continue  # the token of a seat counts as none
        short, swapped = token[:-1], token.swapcase()
        header = NO_BEARERS[name].format(token=token, short=short, swapped=swapped, foreign=seat_elsewhere)
        elsewhere = path_of(endpoint.rule, {**endpoint.names, "<game>": "A" * 24})
        for path in {endpoint.path, elsewhere} if endpoint.id != "deleteGame" else {elsewhere}:
            answer = endpoint.refused(free_api, path=path, token=None, headers={"Authorization": header})
            if endpoint.described.access in ("anyone_or_app", "public_or_app") and name == "the token of another game":
                continue
            assert outcome(answer) == (401, "unauthorized"), endpoint.id
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.fixture(scope="module")
def seat_elsewhere(app: Flask) -> str:
    """The token of a seat in another game."""
    return Api(app.test_client(use_cookies=False)).create("domino", 2).tokens[0]


NOT_GIVEN = ("video/mp4", "application/xml, video/*", "application/problem+json", "application/json;q=0, audio/ogg")


@pytest.mark.parametrize("accept", NOT_GIVEN)
def test_a_type_that_cannot_be_given_is_not_acceptable_given_a_choice(api: Api, target: Target, accept: str) -> None:
    for endpoint in target.once:
        found = outcome(endpoint.refused(api, headers={"Accept": accept}))
        if "not_acceptable" in problems_of(endpoint.described):
            assert found == (406, "not_acceptable"), endpoint.id
        else:
            assert found == outcome(endpoint.refused(api)), endpoint.id


ACCEPTS = {
    "curl": "*/*",
    "axios": "application/json, text/plain, */*",
    "Kotlin": "application/json, text/plain, application/problem+json",
    "text first": "text/plain, text/event-stream, text/html, application/json",
    "equal weights": "text/*;q=0.5, application/*;q=0.5",
    "with a charset": "application/json; charset=utf-8",
    "capitals": "APPLICATION/JSON",
}
"""What clients send that parse JSON only."""


NO_JSON = {
    "getContract": "application/yaml",
    "getEventReader": "text/javascript",
    "getBoardAsSvg": "image/svg+xml",
    "getBoardAsText": "text/plain",
    "erasePlayer": None,
}
"""The media types of what the others answer; none where there is nothing to tell."""
NOT_FOR_PROGRAMS = {"getGuide", "getBackendsGuide", "getTextForAssistants", "getRobots"}
"""Texts to be read, which no generated client asks for."""


@pytest.mark.parametrize("client", ACCEPTS)
def test_every_operation_answers_in_json_to_clients_that_parse_json(api: Api, target: Target, client: str) -> None:
    for endpoint in target.once:
        if endpoint.id not in NOT_FOR_PROGRAMS:
            answer, usual = (endpoint.refused(api, headers=headers) for headers in ({"Accept": ACCEPTS[client]}, {}))
            assert (answer.status_code, answer.mimetype) == (usual.status_code, usual.mimetype), endpoint.id
            kind = NO_JSON.get(endpoint.id, JSON) if usual.status_code < 400 else "application/problem+json"
            assert usual.mimetype == kind, endpoint.id


VALUES = {
    "nothing": "",
    "a space": " ",
    "NUL": "a\0b",
    "a control character": "a\x01b",
    "bytes beyond ASCII": "\xff\xfe",
    "UTF-8": "é🎲".encode().decode("latin-1"),
    "a very long one": "x" * 100_000,
    "very many": "a," * 10_000,
    "commas": ",,,,",
    "semicolons": ";;;;",
    "half a quote": '"',
    "a thousand quotes": '"' * 1001,
    "a weak nothing": "W/",
    "a weak tag": 'W/"1"',
    "a bare weakness": "W",
    "a number": "17",
    "a huge number": "9" * 5000,
    "a negative number": "-1",
    "a fraction": "2.9",
    "NaN": "NaN",
    "digits of another script": "\u0661".encode().decode("latin-1"),
    "no quality": "a/b;q=",
    "an odd quality": "a/b;q=NaN, c/d;q=1e400, e/f;q=-1, g/h;q=0x1",
    "a long quality": "a/b;q=0." + "9" * 5000,
    "a type of many parts": "a/b/c/d",
    "half a type": "application/",
    "parameters": "a/b;" + "c=d;" * 1000,
    "a language of many parts": "-".join(["de"] * 1000),
    "an odd language": "_-_-_",
    "a template": "{{7*7}}${7*7}",
    "JSON": '{"a": 1}',
    "Bearer": "Bearer",
    "two bearers": "Bearer a, Bearer b",
    "Basic": "Basic Og==",
    "an odd Basic": "Basic \xff",
    "Digest": 'Digest username="a", realm=',
}
READ_BY_US = (
    *("Accept", "Accept-Language", "Authorization", "Content-Encoding", "Content-Type", "Idempotency-Key", "If-Match"),
    *("If-None-Match", "Last-Event-ID"),
)
READ_BY_OTHERS = (
    *("Cookie", "Origin", "Range", "If-Range", "If-Modified-Since", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host"),
    *("X-HTTP-Method-Override", "X-Request-ID", "Access-Control-Request-Method", "Access-Control-Request-Headers"),
)
VALUES_EACH = 3
"""As many unusual values of a header each operation gets that does not name it: each the next ones."""


def unusual(target: Target, header: str | None = None) -> Iterator[tuple[Endpoint, str]]:
    """Every operation with unusual values of a header: with all of them if it names this header."""
    values = cycle(VALUES.values())
    for endpoint in target.once:
        names_it = header in endpoint.described.headers
        for value in VALUES.values() if names_it else islice(values, VALUES_EACH):
            yield endpoint, value


def send_headers(api: Api, endpoint: Endpoint, headers: dict[str, str]) -> None:
    token = None if "Authorization" in headers else endpoint.token
    how = {} if "Content-Type" in headers else {"content_type": endpoint.kind}
    read = {} if endpoint.method == "GET" else {"data": endpoint.body, **how}
    answer = api.ask_unchecked(endpoint.method, endpoint.path, token=token, headers=headers, **read)
    check(answer)
    assert endpoint.method == "GET" or answer.status_code >= 400 or answer.status_code == endpoint.status


@pytest.mark.parametrize("name", READ_BY_US)
def test_an_unusual_header_breaks_nothing(api: Api, target: Target, name: str) -> None:
    for endpoint, value in unusual(target, name):
        send_headers(api, endpoint, {name: value})


def test_unusual_values_of_ignored_headers_break_nothing(api: Api, target: Target) -> None:
    for endpoint, value in unusual(target):
        headers = dict.fromkeys(READ_BY_OTHERS, value)
        send_headers(api, endpoint, headers)
        check(api.ask_unchecked("OPTIONS", endpoint.path, headers=headers))


def test_names_of_people_may_hold_any_letters_and_come_back_as_they_went(free_api: Api) -> None:
    for name in ("🎲", "<script>alert(1)</script>", "' OR 1=1 --", "{{7*7}}", "%00", quote("é"), "\U0010ffff"):
        assert free_api.view(free_api.create("domino", [{"name": name}, {"name": "Bo"}]))["players"][0]["name"] == name
