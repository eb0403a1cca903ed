"""Hostile input at every route: refused with a problem, never an internal error, and nothing changes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from service.backends.facade import BackendsFacade
from service.web.http.body import MAX_BODY_BYTES
from tests.api.client import Api, Table
from tests.api.test_bad_input import JSON, MALFORMED, StoreContents, as_stream, contents
from tests.api.test_whole_app import method_of, operations
from tests.support.table import seat_to_move

pytestmark = pytest.mark.gate

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
    "registerApplication": {"name": "Backend", "colour": 1},
    "createKey": {"overlap": -1},
    "changePlayer": {"colour": 1},
    "changeJoinCode": {"colour": 1},
    "beginRematch": {"colour": 1},
    "beginReview": {"colour": 1},
    "createWebhook": {"url": "http://hooks.example.com/", "events": ["game.turn"]},
    "changeWebhook": {"status": "deleted"},
    "changeWebhookSecret": {"colour": 1},
    "pingWebhook": {"colour": 1},
    "redeliverMessage": {"colour": 1},
}
"""For each operation with a body, one that is well-formed and refused."""
ACCEPTED: dict[str, Any] = {
    "changeWebhook": {"status": "disabled"},
    "changeWebhookSecret": {},
    "pingWebhook": {},
    "redeliverMessage": {},
}
"""Bodies of the operations that look at their body before what their path names."""
GONE = {"deleteGame": 410, "deleteWebhook": 404, "erasePlayer": 202, "revokeKey": 404}
"""What each operation without a body answers that would change something: what it deletes is gone, or soon will be."""
NOT_THERE = {"getHint": 403, "getReview": 404}
"""What is answered by what reads something that this game does not have."""
TAKES_KEY_TOO = (
    "any_seat_or_app",
    "anyone_or_app",
    "join",
    "public_or_app",
    "seat_or_app",
    "spectator",
    "token_change",
)
"""The access of operations that take the key of an application, but also something else, or nothing."""
ENDPOINT = {"url": "https://hooks.example.com/", "events": ["game.turn"]}


class Endpoint(NamedTuple):
    """An operation at its path, with the token or key for it."""

    id: str
    method: str
    rule: str
    names: dict[str, str]
    token: str | None
    methods: frozenset[str]
    """Those of all operations at this path."""

    @property
    def path(self) -> str:
        return path_of(self.rule, self.names)

    @property
    def status(self) -> int:
        """What it answers, whatever the body, if it takes none."""
        return {**GONE, **NOT_THERE}.get(self.id, 200)


class Target(NamedTuple):
    """A game of an application that has an endpoint for messages, and all that can be asked about them."""

    table: Table
    endpoints: tuple[Endpoint, ...]
    key: str
    backends: BackendsFacade
    store: StoreContents

    def contents(self) -> Any:
        """All that the store holds of them, and how much of anything else."""
        return self.own(), self.store.now()

    def own(self) -> Any:
        """All that the store holds of them."""
        application = self.backends.keys.authenticate(self.key)
        return application, self.backends.webhooks.all(application.id), self.store.now(self.table)[1]


@pytest.fixture
def target(
    app: Flask, api: Api, backends: BackendsFacade, app_key: str, contents: StoreContents, publish: Callable[[], None]
) -> Target:
    table, gone = (create(api, app_key) for _ in range(2))
    seat = seat_to_move(api.view(table))
    webhook, gone_webhook = (api.post("/v1/webhooks", ENDPOINT, token=app_key).get_json()["id"] for _ in range(2))
    assert api.delete(gone.path, token=app_key).status_code == 204
    assert api.delete(f"/v1/webhooks/{gone_webhook}", token=app_key).status_code == 204
    assert api.delete("/v1/players/user-gone", token=app_key).status_code == 202
    publish()
    here = {"<game>": table.id, "<webhook>": webhook}
    there = {"<game>": gone.id, "<webhook>": gone_webhook, "<ref:ref>": "user-gone"}
    methods: dict[str, set[str]] = {}
    for rule, _ in operations(app):
        methods.setdefault(rule.rule, set()).update((rule.methods or set()) - {"OPTIONS"})
    endpoints = []
    for rule, described in operations(app):
        names = {"<int:seat>": str(seat), "<variant>": "domino", "<hint>": "Zr0q8T", "<ref:ref>": "user-ada"}
        names["<message>"] = "msg_1"
        names |= there if described.id in GONE else here
        tokens: list[str | None] = [table.tokens[seat]]
        if described.access == "public":
            tokens = [None]
        elif described.access in ("app", "app_game", "key_change"):
            tokens = [app_key]
        elif described.access in TAKES_KEY_TOO:
            tokens.append(app_key)
        here_too = frozenset(methods[rule.rule])
        endpoints += [Endpoint(described.id, method_of(rule), rule.rule, names, token, here_too) for token in tokens]
    assert {each.id for each in endpoints if each.method in ("POST", "PUT", "PATCH")} == set(REFUSED)
    assert {each.id for each in endpoints if each.method == "DELETE"} == set(GONE)
    return Target(table, tuple(endpoints), app_key, backends, contents)


def create(api: Api, key: str) -> Table:
    """A new game of the application with this key."""
    players = [{"name": "Ada", "ref": "user-ada"}, {"name": "Bo"}]
    return Table(api, api.post("/v1/games", {"variant": "domino", "players": players}, token=key).get_json())


def path_of(rule: str, names: dict[str, str]) -> str:
    """The path of a rule with these names in the places of its variables."""
    for place, name in names.items():
        rule = rule.replace(place, name)
    assert "<" not in rule
    return rule


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


def as_json(body: Any) -> dict[str, Any]:
    """The arguments of a request with this body, which is encoded once and not for every request."""
    return {"data": json.dumps(body), "content_type": JSON}


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
    "huge numbers": as_json({"action": "pass", "version": 10**4000, "players": 10**400, "name": -(10**400)}),
    "very long names": as_json({"x" * 100_000: "y" * 100_000}),
    "names of the machinery": {"json": {"__class__": 1, "__proto__": {}, "constructor": 1, "_schema": 1, "": 1}},
    "ten thousand names": as_json({f"f{number}": number for number in range(10_000)}),
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
def test_no_hostile_body_is_accepted_by_any_endpoint(api: Api, target: Target, name: str, key: str | None) -> None:
    before = target.contents()
    for endpoint in target.endpoints:
        body, headers = body_and_headers(name)
        headers |= {} if key is None else {"Idempotency-Key": key}
        own = {"GET", "HEAD"} if endpoint.method == "GET" else {endpoint.method}
        for method in own | ({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} - endpoint.methods):
            status = ask(api, endpoint, method, headers=headers, **body).status_code
            if method not in own:
                assert status == 405, (method, endpoint.path)
            elif endpoint.id in REFUSED:
                assert status in (400, 413, 415, 422), endpoint
            else:
                assert status == endpoint.status, endpoint
    assert target.contents() == before


@pytest.mark.parametrize("name", BODIES)
def test_a_deletion_with_a_hostile_body_deletes_what_its_path_names_and_nothing_else(
    api: Api, target: Target, name: str
) -> None:
    body, headers = body_and_headers(name)
    hint = api.post("/v1/app/keys", {}, token=target.key).get_json()["hint"]
    application, *before = target.own()
    kept = tuple(each for each in application.keys if each.hint != hint)
    webhook = api.post("/v1/webhooks", ENDPOINT, token=target.key).get_json()["id"]
    for path in (create(api, target.key).path, f"/v1/webhooks/{webhook}", f"/v1/app/keys/{hint}"):
        assert api.ask("DELETE", path, token=target.key, headers=headers, **body).status_code == 204
    assert target.own() == (application._replace(keys=kept), *before)


def body_and_headers(name: str) -> tuple[dict[str, Any], dict[str, str]]:
    """A hostile body, as arguments of a request, and its headers."""
    return {each: value for each, value in BODIES[name].items() if each != "headers"}, BODIES[name].get("headers", {})


def test_no_body_beyond_the_limit_is_taken_without_a_length_either(api: Api, target: Target) -> None:
    before = target.contents()
    for endpoint in target.endpoints:
        answer = ask(api, endpoint, content_type=JSON, **as_stream(b" " * (MAX_BODY_BYTES + 1)))
        assert answer.status_code == (413 if endpoint.id in REFUSED else endpoint.status)
    assert target.contents() == before


def test_a_body_that_is_cut_off_is_malformed(api: Api, target: Target) -> None:
    before = target.contents()
    for endpoint in target.endpoints:
        if endpoint.id in REFUSED:
            data = json.dumps(REFUSED[endpoint.id]).encode()
            cut = as_stream(data[:-1])
            assert ask(api, endpoint, content_type=JSON, **cut).status_code == 400
            lied = {"CONTENT_LENGTH": str(len(data) + 1)}
            lies = {**as_stream(data), "environ_overrides": lied}
            assert ask(api, endpoint, content_type=JSON, **lies).status_code == 400
    assert target.contents() == before


# Queries

LINKED = ("/", "/guide", "/backends", "/llms.txt", "/robots.txt")
"""Addresses of pages and files for everybody: links to them may add parameters."""
NUMBERS = (
    *("", " ", "x", "-1", "+1", "1.0", "2.9", "1e3", "NaN", "Infinity", "0x1", "01", "1_000", "%00", "1%00", "%ff"),
    *("%D9%A1", "%ed%a0%80", "null", "true", "[]", "9" * 30, "9" * 5000, "2147483648", "%22%31%22", "1%2C2", "1;2"),
)


@pytest.mark.parametrize("number", NUMBERS)
def test_no_hostile_number_is_accepted_in_a_query(api: Api, target: Target, number: str) -> None:
    before = target.contents()
    for endpoint in target.endpoints:
        for name in ("after", "limit", "wait"):
            for query in (f"{name}={number}", f"{name}=1&{name}={number}"):
                if endpoint.method == "GET":
                    answer = ask(api, endpoint, path=f"{endpoint.path}?{query}")
                    assert answer.status_code == (200 if endpoint.rule in LINKED else 422), query
                else:
                    refused = ask(api, endpoint, path=f"{endpoint.path}?{query}", json=REFUSED.get(endpoint.id))
                    assert refused.status_code in statuses(endpoint)
    assert target.contents() == before


ODD_QUERIES = ("&&&", "=", "=1", "%", "%zz", "a" * 100_000, "x=%00", "%00=1", "%ff=%ff", "x=1", "AFTER=1", "after[]=1")


@pytest.mark.parametrize("query", ODD_QUERIES)
def test_an_unusual_query_is_refused_or_ignored(api: Api, target: Target, query: str) -> None:
    before = target.contents()
    for endpoint in target.endpoints:
        if endpoint.method == "GET":
            assert ask(api, endpoint, path=f"{endpoint.path}?{query}").status_code in (endpoint.status, 422)
        else:
            answer = ask(api, endpoint, path=f"{endpoint.path}?{query}", json=REFUSED.get(endpoint.id))
            assert answer.status_code in statuses(endpoint)
    assert target.contents() == before


def statuses(endpoint: Endpoint) -> tuple[int, ...]:
    """What this operation, which would change something, may answer to its refused body or, without one, at all."""
    return (403, 409, 422) if endpoint.id in REFUSED else (endpoint.status, 422)


# Path segments

SEGMENTS = (
    *("%00", "a%00b", "%ff", "%ed%a0%80", "%7B%7D", "%7Dx", "x%7D", "*", "..", "%2e%2e", "a%2fb", "%0d%0aX:y", "%20"),
    *("%C3%A9", "%F0%9F%8E%B2", "x" * 5000, "-1", "null", "9" * 5000, "2.9", "%222%22", "%D9%A0x", "NaN", "'--", "%5c"),
    *("{{7*7}}", "%25%32%35", "%u0000", ";a=b", "a;b", "@", "%E2%80%AE"),
)


@pytest.mark.parametrize("segment", SEGMENTS)
def test_an_unusual_path_segment_is_not_found(api: Api, target: Target, segment: str) -> None:
    before = target.contents()
    for endpoint in target.endpoints:
        if endpoint.id == "erasePlayer":
            continue  # whoever is called so is erased: any visible text may be a ref
        for path in with_segment(endpoint, segment):
            for token in (None, endpoint.token, "wrong"):
                for key in ({}, {"Idempotency-Key": "a-key-of-somebody"}):
                    body = ACCEPTED.get(endpoint.id, REFUSED.get(endpoint.id))
                    answer = ask(api, endpoint, path=path, token=token, json=body, headers=key)
                    assert answer.status_code in (401, 404, 405), (path, answer.status_code)
    assert target.contents() == before


def with_segment(endpoint: Endpoint, segment: str) -> Iterator[str]:
    """The paths of this endpoint with the unusual segment at each of its places, the others being valid."""
    for place in endpoint.names:
        if place in endpoint.rule:
            yield path_of(endpoint.rule, {**endpoint.names, place: segment})


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
def test_an_unusual_header_breaks_nothing(api: Api, target: Target, name: str) -> None:
    before = target.contents()
    for endpoint in target.endpoints:
        for value in ODD_VALUES.values():
            send_headers(api, endpoint, {name: value})
    assert target.contents() == before


def test_unusual_values_of_ignored_headers_break_nothing(api: Api, target: Target) -> None:
    before = target.contents()
    for endpoint in target.endpoints:
        for value in ODD_VALUES.values():
            headers = dict.fromkeys(READ_BY_OTHERS, value)
            send_headers(api, endpoint, headers)
            check(api.ask_unchecked("OPTIONS", endpoint.path, headers=headers))
    assert target.contents() == before


def send_headers(api: Api, endpoint: Endpoint, headers: dict[str, str]) -> None:
    """Send a request with these headers: a read, or a write that is refused anyway."""
    token = None if "Authorization" in headers else endpoint.token
    if endpoint.method == "GET":
        check(api.ask_unchecked("GET", endpoint.path, token=token, headers=headers))
        return
    body = json.dumps(REFUSED.get(endpoint.id, {"colour": 1})).encode()
    how = {} if "Content-Type" in headers else {"content_type": JSON}
    answer = api.ask(endpoint.method, endpoint.path, token=token, headers=headers, data=body, **how)
    check(answer)
    assert answer.status_code >= 400 or answer.status_code == GONE.get(endpoint.id)


METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW", "get", "\xff", "{}")
NOWHERE = ("//", "/v1", "/v1/", "/v1//games", "/v1/games//", "/\0", "/" + "a/" * 1000, "/v2/games")


@pytest.mark.parametrize("method", METHODS)
def test_an_unusual_method_is_not_allowed(api: Api, target: Target, method: str) -> None:
    before = target.contents()
    for endpoint in target.endpoints:
        if method.upper() in endpoint.methods - {endpoint.method, "HEAD"}:
            continue  # another operation, at the same path
        body = REFUSED.get(endpoint.id, {"colour": 1})
        answer = api.ask_unchecked(method, endpoint.path, token=endpoint.token, json=body)
        check(answer)
        if method.upper() not in endpoint.methods:
            assert answer.status_code == 405
    assert target.contents() == before


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
