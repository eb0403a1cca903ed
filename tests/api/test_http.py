"""HTTP around the operations: the service as a whole, CORS, errors as problems, and hosts."""

from __future__ import annotations

import logging
import re
from typing import Any, NoReturn
from urllib.parse import urljoin

import pytest

from service.redis.errors import OVERLOADED, StorageUnavailable
from service.web.problems import answers
from tests.api.client import Api, Table, status_and_code
from tests.api.conftest import SECRET, TTL_SECONDS
from tests.support.application import create_app
from tests.support.contract import committed
from tests.support.games import build_games
from tests.support.stores.memory_store import MemoryStore

CLIENT_METHODS = {method.upper() for _, method, _ in committed().operations()}
"""Those of all operations: a page of any origin may call each of them."""

SAFE = {"cache-control", "content-language", "content-length", "content-type"}
"""What a browser shows a page of another origin of any answer."""
SHOWN = {
    name.lower()
    for _, _, operation in committed().operations()
    for answer in operation["responses"].values()
    for name in answer.get("headers", ())
}
SHOWN = SHOWN - SAFE | {"allow", "x-request-id", "date"}  # the guide tells to count deadlines by the last one
SENT = {
    parameter["name"].lower()
    for _, _, operation in committed().operations()
    for parameter in operation.get("parameters", ())
    if parameter["in"] == "header"
}
SENT |= {"accept", "authorization", "content-type", "cache-control", "x-request-id"}
SENT |= {"traceparent", "tracestate", "baggage", "sentry-trace"}


@pytest.fixture
def table(api: Api) -> Table:
    return api.create("domino", 2)


def methods_in(header: str) -> set[str]:
    return {method.strip() for method in header.split(",")}


def words(header: str) -> set[str]:
    return {word.strip().lower() for word in header.split(",")}


# Methods


def test_options_of_the_service_as_a_whole_list_every_method(api: Api) -> None:
    """RFC 9110, 9.3.7; the request target is ``*``, which is no path."""
    answer = api.ask_unchecked("OPTIONS", "/", environ_overrides={"PATH_INFO": "*"})
    assert (answer.status_code, answer.data) == (204, b"")
    assert methods_in(answer.headers["Allow"]) == {"OPTIONS", "HEAD", *CLIENT_METHODS}
    assert api.ask_unchecked("GET", "/", environ_overrides={"PATH_INFO": "*"}).status_code == 404


# CORS


def assert_open_to_all(headers: Any) -> None:
    assert headers["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in headers
    assert "Set-Cookie" not in headers


def test_a_304_may_be_read_by_a_browser(api: Api, table: Table) -> None:
    answer = api.get(table.path, headers={"Origin": "https://example.org", "If-None-Match": "*"})
    assert answer.status_code == 304
    assert_open_to_all(answer.headers)
    assert words(answer.headers["Access-Control-Expose-Headers"]) >= SHOWN


@pytest.mark.parametrize("path", ["/v1/games", "/v1/games/of-somebody/moves", "/openapi.yaml"])
def test_a_preflight_allows_all_that_a_client_sends(api: Api, path: str) -> None:
    answer = api.ask(
        "OPTIONS",
        path,
        headers={
            "Origin": "https://example.org",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": ", ".join(sorted(SENT)),
        },
    )
    assert answer.status_code in (200, 204)
    assert_open_to_all(answer.headers)
    assert methods_in(answer.headers["Access-Control-Allow-Methods"]) == {"OPTIONS", "HEAD", *CLIENT_METHODS}
    assert words(answer.headers["Access-Control-Allow-Headers"]) >= SENT
    assert int(answer.headers["Access-Control-Max-Age"]) > 0


@pytest.mark.parametrize(
    "path", ["/none", "/v1/", "/v1/games/x/y", "/v1/games//", "//v1/games", "/*", "/v1/games/a%0d%0ab/x", "/healthz/"]
)
def test_a_preflight_is_answered_where_nothing_is(api: Api, path: str) -> None:
    """A browser takes anything but 2xx for a refusal, and tells the page nothing of the answer."""
    asked = {"Origin": "https://example.org", "Access-Control-Request-Method": "POST"}
    answer = api.ask_unchecked("OPTIONS", "/", headers=asked, environ_overrides={"PATH_INFO": path})
    assert (answer.status_code, answer.data) == (204, b"")
    assert_open_to_all(answer.headers)
    assert methods_in(answer.headers["Access-Control-Allow-Methods"]) >= CLIENT_METHODS
    there = {"GET", "HEAD"} if path == "/healthz/" else set()
    assert methods_in(answer.headers["Allow"]) == there | {"OPTIONS"}


@pytest.mark.parametrize(
    ("path", "methods"), [("/v1/games", "GET, HEAD, POST, OPTIONS"), ("/openapi.yaml", "GET, HEAD, OPTIONS")]
)
def test_a_preflight_with_a_trailing_slash_is_not_redirected(api: Api, path: str, methods: str) -> None:
    answer = api.ask_unchecked("OPTIONS", f"{path}/", headers={"Origin": "https://example.org"})
    assert (answer.status_code, "Location" in answer.headers) == (204, False)
    assert_open_to_all(answer.headers)
    assert methods_in(answer.headers["Allow"]) == methods_in(methods)


# Errors


def test_a_problem_has_the_form_of_rfc_9457(api: Api, table: Table) -> None:
    problem: Any = api.get("/v1/games/nowhere").json
    assert problem == {
        "type": "/problems#not_found",
        "title": "Not found",
        "status": 404,
        "detail": problem["detail"],
        "code": "not_found",
        "reason": "no_such_game",
    }
    assert problem["detail"]
    assert api.get(table.path, token="wrong").headers["Cache-Control"] == "no-store"


class BrokenStore(MemoryStore):
    """A store whose every method raises this."""

    def __init__(self, error: Exception) -> None:
        super().__init__(TTL_SECONDS)
        self._error = error

    def _find(self, game: str) -> NoReturn:
        raise self._error

    def reserve(self, name: str, value: str) -> NoReturn:
        raise self._error

    def check(self) -> None:
        raise self._error


def broken(error: Exception) -> Api:
    store = BrokenStore(error)
    return Api(create_app(build_games(store, store, [SECRET], TTL_SECONDS)).test_client())


GAME = f"/v1/games/{'A' * 24}"
ASKS: list[tuple[str, str, Any, str | None]] = [
    ("POST", "/v1/games", {"variant": "domino", "players": [{"name": "Ada"}, {"name": "Bo"}]}, None),
    ("GET", GAME, None, None),
    ("HEAD", GAME, None, None),
    ("GET", GAME, None, "t"),
    ("GET", f"{GAME}/moves", None, None),
    ("GET", f"{GAME}/score", None, "t"),
    ("POST", f"{GAME}/moves", {"action": "pass"}, "t"),
    ("POST", f"{GAME}/players", {"name": "Ada", "join_code": "A"}, None),
    ("GET", "/readyz", None, None),
]


@pytest.mark.parametrize(("method", "path", "body", "token"), ASKS)
def test_an_internal_error_is_500_and_reveals_nothing_about_itself(
    caplog: pytest.LogCaptureFixture, method: str, path: str, body: Any, token: str | None
) -> None:
    with caplog.at_level(logging.CRITICAL, "service.web.problems.answers"):
        answer = broken(ZeroDivisionError("a secret of the house")).ask(method, path, json=body, token=token)
    assert answer.status_code == 500
    assert_open_to_all(answer.headers)
    text = answer.get_data(as_text=True) + str(answer.headers)
    assert not [word for word in ("secret", "Zero", "Traceback", ".py", "line ") if word in text]
    if method != "HEAD":
        assert answer.get_json()["code"] == "internal"


@pytest.mark.parametrize(("method", "path", "body", "token"), ASKS)
def test_an_unavailable_store_is_503_with_retry_after(method: str, path: str, body: Any, token: str | None) -> None:
    answer = broken(StorageUnavailable("MISCONF on the disk of the house", 7)).ask(method, path, json=body, token=token)
    assert answer.status_code == 503
    seconds = int(answer.headers["Retry-After"])
    assert 7 <= seconds <= 15
    assert_open_to_all(answer.headers)
    assert "MISCONF" not in answer.get_data(as_text=True)
    if method != "HEAD":
        assert (answer.get_json()["code"], answer.get_json()["retry_after"]) == ("storage_unavailable", seconds)


def test_who_is_told_to_come_back_is_not_told_the_same_time() -> None:
    api = broken(StorageUnavailable(OVERLOADED, 1))
    assert {api.get(GAME).headers["Retry-After"] for _ in range(60)} == {"1", "2", "3"}


def test_overload_is_a_reason_of_its_own_and_logged_once_a_second(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = broken(StorageUnavailable(OVERLOADED, 1))
    for second in (0.0, 0.1, 0.9, 1.0):
        monkeypatch.setattr(answers, "monotonic", lambda at=second: at)
        answer: Any = api.get(GAME)
        assert (answer.status_code, answer.get_json()["reason"]) == (503, "overloaded")
        assert answer.get_json()["code"] == "storage_unavailable"
    assert [record.fields["more"] for record in caplog.records if "storage unavailable" in record.message] == [0, 2]  # type: ignore[attr-defined]


@pytest.mark.parametrize("error", [ZeroDivisionError(), StorageUnavailable("away")])
def test_requests_that_need_no_store_are_answered_without_it(error: Exception) -> None:
    api = broken(error)
    for path in ("/healthz", "/v1/variants", "/v1/variants/domino", "/openapi.yaml"):
        assert api.get(path).status_code == 200


def test_a_body_that_is_refused_needs_no_store() -> None:
    api = broken(StorageUnavailable("away"))
    assert api.ask("POST", "/v1/games", data="{", content_type="application/json").status_code == 400


# The service itself


def test_health_and_readiness(api: Api) -> None:
    for path in ("/healthz", "/readyz"):
        answer = api.get(path)
        assert (answer.status_code, answer.get_json()) == (200, {"status": "ok"})
        assert "no-" in answer.headers["Cache-Control"]


def test_the_contract_and_its_reader_are_served(api: Api) -> None:
    contract = api.get("/openapi.yaml")
    assert (contract.status_code, contract.mimetype) == (200, "application/yaml")
    assert "openapi: 3.1" in contract.get_data(as_text=True)
    reader = api.get("/docs", follow_redirects=True, buffered=True)
    assert '"persistAuthorization": false' in reader.text  # a key that is typed there is not kept in the browser
    assert (reader.status_code, reader.mimetype) == (200, "text/html")
    assert reader.headers["Cache-Control"] == "public, no-cache"
    assert "/openapi.yaml" in reader.get_data(as_text=True)
    asked_for = re.findall(r"""(?:src|href)=["']([^"']+)""", reader.get_data(as_text=True))
    assert asked_for
    for resource in asked_for:
        assert "//" not in resource, "the reader works without internet"
        file = api.get(urljoin("/docs/", resource), buffered=True)
        assert file.status_code == 200
        assert file.headers["Cache-Control"]


# Hosts


@pytest.mark.parametrize("host", ["a..b", "x" * 70])
def test_a_host_that_can_be_none_is_malformed_though_a_good_one_was_served(host: str, api: Api) -> None:
    for _ in range(2):
        assert api.get("/v1/variants", headers={"Host": "good.example"}).status_code == 200
        assert status_and_code(api.ask_unchecked("GET", "/v1/variants", headers={"Host": host})) == (400, "malformed")


def test_the_same_host_header_gets_the_same_answer_again(api: Api, table: Table) -> None:
    for host in ("again.example", "again.example:80", "AGAIN.example", "[::1]:8000"):
        first, second = [api.get(table.path, headers={"Host": host}) for _ in range(2)]
        assert (second.status_code, second.data) == (first.status_code, first.data) == (200, first.data)


def test_many_different_host_headers_do_not_fill_the_memory(api: Api) -> None:
    app: Any = api.client.application
    for number in range(200):
        assert api.get("/healthz", headers={"Host": f"host-{number}.example"}).status_code == 200
    assert len(app._hosts) <= 100
