"""The matching of plain routes gives the same results as Werkzeug, to which it leaves all others."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from flask import Flask
from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, MapAdapter
from werkzeug.routing.matcher import StateMachineMatcher

from service.web.http.dispatch import RefConverter

PARTS = ("", "v1", "games", "variants", "moves", "players", "events", "0", "token", "healthz", "docs", "a b", "ä")
METHODS = ("GET", "HEAD", "POST", "OPTIONS", "DELETE")
MAX_PARTS = 4


@pytest.fixture(scope="module")
def plain(app: Flask) -> Map:
    """The same routes in a map with Werkzeug's own matcher."""
    routes, merges = [rule.empty() for rule in app.url_map.iter_rules()], app.url_map.merge_slashes
    return Map(routes, merge_slashes=merges, converters={"ref": RefConverter})


def result_of(adapter: MapAdapter) -> Any:
    try:
        rule, variables = adapter.match(return_rule=True)
    except HTTPException as error:
        return type(error), error.get_response().headers.get("Location"), sorted(getattr(error, "valid_methods", ()))
    return rule.rule, rule.endpoint, rule.methods, variables


def match(routes: Map, method: str, path: str, scheme: str = "http") -> Any:
    environ = {"REQUEST_METHOD": method, "PATH_INFO": path.encode().decode("latin-1"), "SERVER_NAME": "localhost"}
    environ |= {"SERVER_PORT": "80", "wsgi.url_scheme": scheme}
    return result_of(routes.bind_to_environ(environ))


@pytest.mark.parametrize("method", METHODS)
def test_every_path_matches_as_with_werkzeug(method: str, app: Flask, plain: Map) -> None:
    rules = {rule.rule for rule in app.url_map.iter_rules()}
    paths = {rule.replace("<int:seat>", "3").replace("path:", "") for rule in rules}
    paths |= {path + end for path in paths for end in ("/", "/x", "\n", "%2F")} | {f"/{path}" for path in paths}
    paths |= {"/".join(("", *parts)) for size in range(1, MAX_PARTS) for parts in itertools.product(PARTS, repeat=size)}
    for path in paths:
        assert match(app.url_map, method, path) == match(plain, method, path), path


def test_a_web_socket_matches_as_with_werkzeug(app: Flask, plain: Map) -> None:
    assert match(app.url_map, "GET", "/healthz", "ws") == match(plain, "GET", "/healthz", "ws")


def test_a_move_is_matched_without_werkzeugs_matcher(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(StateMachineMatcher, "match")
    route, _, _, variables = match(app.url_map, "POST", "/v1/games/abc/moves")
    assert (route, variables) == ("/v1/games/<game>/moves", {"game": "abc"})
