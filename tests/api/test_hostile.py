"""Hostile input at every route: refused with a problem, never an internal error, and nothing changes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from service.web.request_parsing import MAX_BODY_BYTES
from tests.api.client import Api, Table
from tests.api.test_bad_input import JSON, MALFORMED, StoreContents, as_stream, contents
from tests.api.test_whole_app import method_of, operations
from tests.support.table import seat_to_move

__all__ = ["contents"]

HOUSE_SECRETS = (b"Traceback", b".py", b"werkzeug", b"flask", b"Flask", b"redis", b"Redis", b"gunicorn", b"Python/")
REFUSED: dict[str, Any] = {
    "createGame": {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bo"}], "rules": {"hand": 4}},
    "joinGame": {"name": "Eve", "join_code": "ABCDEFGHIJKLMNOP"},
    "makeMove": {"action": "deal"},
    "changeToken": {"colour": 1},
    "setPresence": {"away": False},
    "claimSeat": {"seat": 0},
    "verifyRecord": {"record": "no record"},
    "replayRecord": {"record": "no record"},
}
"""For each operation with a body, one that is well-formed and refused."""


class Endpoint(NamedTuple):
    """An operation at its path, with the token for it."""

    id: str
    method: str
    rule: str
    path: str
    token: str | None


class Target(NamedTuple):
    """A game, and all endpoints within it."""

    table: Table
    endpoints: tuple[Endpoint, ...]


@pytest.fixture
def target(app: Flask, api: Api) -> Target:
    table = api.create("domino", 2)
    seat = seat_to_move(api.view(table))
    endpoints = []
    for rule, described in operations(app):
        path = rule.rule.replace("<game>", table.id).replace("<int:seat>", str(seat)).replace("<variant>", "domino")
        assert "<" not in path
        token = None if described.access == "public" else table.tokens[seat]
        endpoints.append(Endpoint(described.id, method_of(rule), rule.rule, path, token))
    assert {endpoint.id for endpoint in endpoints if endpoint.method in ("POST", "PUT")} == set(REFUSED)
    return Target(table, tuple(endpoints))


def check(answer: TestResponse) -> None:
    """Check that this is no internal error, and that a refusal is a problem without internal details."""
    assert answer.status_code < 500
    if answer.status_code >= 400 and answer.request.method != "HEAD":
        assert answer.mimetype == "application/problem+json"
        assert not [word for word in HOUSE_SECRETS if word in answer.data]
    assert "Server" not in answer.headers


def ask(api: Api, endpoint: Endpoint, method: str | None = None, path: str | None = None, **more: Any) -> TestResponse:
    answer = api.ask(method or endpoint.method, path or endpoint.path, token=more.pop("token", endpoint.token), **more)
    check(answer)
    return answer


# Bodies


def deep(levels: int) -> bytes:
    return b'{"a":' * levels + b"1" + b"}" * levels


BODIES: dict[str, dict[str, Any]] = {
    **{name: {"data": data, "content_type": JSON} for name, data in MALFORMED.items() if data},
    "33 levels": {"data": deep(33), "content_type": JSON},
    "a list": {"data": b"[]", "content_type": JSON},
    "null": {"data": b"null", "content_type": JSON},
    "a text": {"data": b'"x"', "content_type": JSON},
    "numbers in quotes and out of them": {
        "json": {"variant": 2, "name": 2, "action": 2, "players": "2", "version": 2.9, "tile": 2, "seat": True}
    },
    "numbers in quotes": {"json": {"action": "pass", "version": "2", "variant": "2", "name": "\0", "join_code": 2}},
    "huge numbers": {"json": {"action": "pass", "version": 10**4000, "players": 10**400, "name": -(10**400)}},
    "very long names": {"json": {"x" * 100_000: "y" * 100_000}},
    "names of the machinery": {"json": {"__class__": 1, "__proto__": {}, "constructor": 1, "_schema": 1, "": 1}},
    "ten thousand names": {"json": {f"f{number}": number for number in range(10_000)}},
    "too large": {"data": b" " * (MAX_BODY_BYTES + 1), "content_type": JSON},
    "no type": {"data": b"{}"},
    "another type": {"data": b"a=1", "content_type": "application/x-www-form-urlencoded"},
    "a form with files": {"data": b"--x\r\n\r\n--x--", "content_type": "multipart/form-data; boundary=x"},
    "another charset": {"data": b"{}", "content_type": "application/json; charset=utf-16"},
    "an odd charset": {"data": b"[]", "content_type": "application/json; charset=\xff\0"},
    "compressed": {"data": gzip.compress(b"{}"), "content_type": JSON, "headers": {"Content-Encoding": "gzip"}},
}


@pytest.mark.parametrize("key", [None, "a-key-of-somebody"])
@pytest.mark.parametrize("name", BODIES)
def test_no_hostile_body_is_accepted_by_any_endpoint(
    api: Api, target: Target, contents: StoreContents, name: str, key: str | None
) -> None:
    before = contents.now(target.table)
    for endpoint in target.endpoints:
        more = dict(BODIES[name])
        headers = {**more.pop("headers", {}), **({} if key is None else {"Idempotency-Key": key})}
        for method in ("GET", "HEAD", "POST", "PUT", "DELETE") if key is None else ("POST",):
            answer = ask(api, endpoint, method, headers=headers, **more)
            taken = method in ("GET", "HEAD") and answer.status_code == 200
            assert taken or answer.status_code in (400, 405, 413, 415, 422), (method, endpoint.path)
    assert contents.now(target.table) == before


def test_no_body_beyond_the_limit_is_taken_without_a_length_either(
    api: Api, target: Target, contents: StoreContents
) -> None:
    before = contents.now(target.table)
    for endpoint in target.endpoints:
        if endpoint.method != "GET":
            answer = ask(api, endpoint, content_type=JSON, **as_stream(b" " * (MAX_BODY_BYTES + 1)))
            assert answer.status_code == 413
    assert contents.now(target.table) == before


def test_a_body_that_is_cut_off_is_malformed(api: Api, target: Target, contents: StoreContents) -> None:
    before = contents.now(target.table)
    for endpoint in target.endpoints:
        if endpoint.method != "GET":
            data = json.dumps(REFUSED[endpoint.id]).encode()
            cut = as_stream(data[:-1])
            assert ask(api, endpoint, content_type=JSON, **cut).status_code == 400
            lied = {"CONTENT_LENGTH": str(len(data) + 1)}
            lies = {**as_stream(data), "environ_overrides": lied}
            assert ask(api, endpoint, content_type=JSON, **lies).status_code == 400
    assert contents.now(target.table) == before


# Queries

NUMBERS = (
    *("", " ", "x", "-1", "+1", "1.0", "2.9", "1e3", "NaN", "Infinity", "0x1", "01", "1_000", "%00", "1%00", "%ff"),
    *("%D9%A1", "%ed%a0%80", "null", "true", "[]", "9" * 30, "9" * 5000, "2147483648", "%22%31%22", "1%2C2", "1;2"),
)


@pytest.mark.parametrize("number", NUMBERS)
def test_no_hostile_number_is_accepted_in_a_query(
    api: Api, target: Target, contents: StoreContents, number: str
) -> None:
    before = contents.now(target.table)
    for endpoint in target.endpoints:
        for name in ("after", "limit", "wait"):
            for query in (f"{name}={number}", f"{name}=1&{name}={number}"):
                if endpoint.method == "GET":
                    answer = ask(api, endpoint, path=f"{endpoint.path}?{query}")
                    assert answer.status_code == (200 if endpoint.rule == "/" else 422), query  # links add parameters
                else:
                    refused = ask(api, endpoint, path=f"{endpoint.path}?{query}", json=REFUSED[endpoint.id])
                    assert refused.status_code in (403, 409, 422)
    assert contents.now(target.table) == before


ODD_QUERIES = ("&&&", "=", "=1", "%", "%zz", "a" * 100_000, "x=%00", "%00=1", "%ff=%ff", "x=1", "AFTER=1", "after[]=1")


@pytest.mark.parametrize("query", ODD_QUERIES)
def test_an_unusual_query_is_refused_or_ignored(api: Api, target: Target, contents: StoreContents, query: str) -> None:
    before = contents.now(target.table)
    for endpoint in target.endpoints:
        if endpoint.method == "GET":
            assert ask(api, endpoint, path=f"{endpoint.path}?{query}").status_code in (200, 422)
        else:
            answer = ask(api, endpoint, path=f"{endpoint.path}?{query}", json=REFUSED[endpoint.id])
            assert answer.status_code in (403, 409, 422)
    assert contents.now(target.table) == before


# Path segments

SEGMENTS = (
    *("%00", "a%00b", "%ff", "%ed%a0%80", "%7B%7D", "%7Dx", "x%7D", "*", "..", "%2e%2e", "a%2fb", "%0d%0aX:y", "%20"),
    *("%C3%A9", "%F0%9F%8E%B2", "x" * 5000, "-1", "null", "9" * 5000, "2.9", "%222%22", "%D9%A0x", "NaN", "'--", "%5c"),
    *("{{7*7}}", "%25%32%35", "%u0000", ";a=b", "a;b", "@", "%E2%80%AE"),
)


@pytest.mark.parametrize("segment", SEGMENTS)
def test_an_unusual_path_segment_is_not_found(api: Api, target: Target, contents: StoreContents, segment: str) -> None:
    before = contents.now(target.table)
    for endpoint in target.endpoints:
        for path in with_segment(endpoint.rule, target.table, segment):
            for token in (None, endpoint.token, "wrong"):
                for key in ({}, {"Idempotency-Key": "a-key-of-somebody"}):
                    body = REFUSED.get(endpoint.id)
                    answer = ask(api, endpoint, path=path, token=token, json=body, headers=key)
                    assert answer.status_code in (401, 404, 405), (path, answer.status_code)
    assert contents.now(target.table) == before


def with_segment(rule: str, table: Table, segment: str) -> Iterator[str]:
    """The paths of this rule with the unusual segment at each of its places, the others being valid."""
    good = {"<game>": table.id, "<int:seat>": "0", "<variant>": "domino"}
    places = [name for name in good if name in rule]
    for odd in places:
        path = rule
        for name in places:
            path = path.replace(name, segment if name == odd else good[name])
        yield path


# Headers

ODD_VALUES = {
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


@pytest.mark.parametrize("name", READ_BY_US)
def test_an_unusual_header_breaks_nothing(api: Api, target: Target, contents: StoreContents, name: str) -> None:
    before = contents.now(target.table)
    for endpoint in target.endpoints:
        for value in ODD_VALUES.values():
            send_headers(api, endpoint, {name: value})
    assert contents.now(target.table) == before


def test_unusual_values_of_ignored_headers_break_nothing(api: Api, target: Target, contents: StoreContents) -> None:
    before = contents.now(target.table)
    for endpoint in target.endpoints:
        for value in ODD_VALUES.values():
            headers = dict.fromkeys(READ_BY_OTHERS, value)
            send_headers(api, endpoint, headers)
            check(api.ask_unchecked("OPTIONS", endpoint.path, headers=headers))
    assert contents.now(target.table) == before


def send_headers(api: Api, endpoint: Endpoint, headers: dict[str, str]) -> None:
    """Send a request with these headers: a read, or a write that is refused anyway."""
    token = None if "Authorization" in headers else endpoint.token
    if endpoint.method == "GET":
        check(api.ask_unchecked("GET", endpoint.path, token=token, headers=headers))
        return
    body = json.dumps(REFUSED[endpoint.id]).encode()
    how = {} if "Content-Type" in headers else {"content_type": JSON}
    answer = api.ask(endpoint.method, endpoint.path, token=token, headers=headers, data=body, **how)
    check(answer)
    assert answer.status_code >= 400


METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW", "get", "\xff", "{}")
NOWHERE = ("//", "/v1", "/v1/", "/v1//games", "/v1/games//", "/\0", "/" + "a/" * 1000, "/v2/games")


@pytest.mark.parametrize("method", METHODS)
def test_an_unusual_method_is_not_allowed(api: Api, target: Target, contents: StoreContents, method: str) -> None:
    before = contents.now(target.table)
    for endpoint in target.endpoints:
        body = REFUSED.get(endpoint.id, {"colour": 1})
        answer = api.ask_unchecked(method, endpoint.path, token=endpoint.token, json=body)
        check(answer)
        if method.upper() not in ("GET", "HEAD", "POST", endpoint.method):
            assert answer.status_code == 405
    assert contents.now(target.table) == before


@pytest.mark.parametrize("path", NOWHERE)
def test_an_address_that_is_none_is_a_problem(api: Api, path: str) -> None:
    for method in ("GET", "POST", "PUT"):
        # The test client would take what follows two slashes for a host.
        answer = api.ask_unchecked(method, "/", environ_overrides={"PATH_INFO": path})
        check(answer)
        assert answer.status_code == 404


def test_names_of_people_may_hold_any_letters_and_come_back_as_they_went(api: Api) -> None:
    names = ["🎲", "<script>alert(1)</script>", "Ünï", "' OR 1=1 --", "{{7*7}}", "%00", quote("é"), "\U0010ffff"]
    for name in names:
        table = api.create("domino", [{"name": name}, {"name": "Bo"}])
        assert api.view(table)["players"][0]["name"] == name
