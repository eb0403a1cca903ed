"""The documentation page at /docs: everything that it loads comes from this service."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

import httpx
import pytest

from tests.support.serving import Service

pytestmark = pytest.mark.gate


class Page(HTMLParser):
    """Every URL that a page loads or links to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value for name, value in attrs if name in ("src", "href", "action", "data") and value]


@pytest.mark.parametrize("path", ["/docs", "/docs/"])
def test_the_page_and_every_file_it_needs_come_from_the_service(
    path: str, service: Service, http: httpx.Client
) -> None:
    answer = http.get(path, follow_redirects=True)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/html")
    for hop in answer.history:
        assert not re.match(r"\w+:|//", hop.headers["Location"]), "a redirect that knows no host survives any proxy"
    addresses = Page(answer.text).addresses
    assert [each for each in addresses if each.endswith(".js")]
    assert "/openapi.yaml" in answer.text
    foreign = [each for each in re.findall(r"https?://[^\s\"'<>]+", answer.text) if not each.startswith(service.url)]
    assert not foreign
    for address in addresses:
        url = urljoin(str(answer.url), address)
        assert url.startswith(service.url + "/"), address
        got = http.get(url)
        assert got.status_code == 200, address
        assert got.content
        kind = got.headers["Content-Type"]
        if address.endswith(".js"):
            assert "javascript" in kind
        if address.endswith(".css"):
            assert "css" in kind
            for inner in re.findall(r"url\(\s*['\"]?([^'\")]+)", got.text):
                assert inner.startswith("data:") or http.get(urljoin(url, inner)).status_code == 200, inner
            assert "@import" not in got.text


def test_the_page_keeps_no_token_and_is_ready_to_try(http: httpx.Client) -> None:
    page = http.get("/docs/").text
    (text,) = re.findall(r"user_config = ({.*?});", page)
    config = json.loads(text)
    assert (config["persistAuthorization"], config["tryItOutEnabled"], config["validatorUrl"]) == (False, True, None)
    program = http.get("/docs/swagger-ui-bundle.js").text
    assert [name for name in config if name not in program] == [], "each is an option of Swagger UI"


def test_the_page_has_the_width_of_a_phone(http: httpx.Client) -> None:
    head, _, _ = http.get("/docs/").text.partition("</head>")
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in head


def test_the_page_fills_in_nothing_that_fits_one_game_only(document: dict[str, Any]) -> None:
    """Check the parameters of all operations: the page sends their examples and defaults, if the user lets it."""
    filled: dict[str, list[Any]] = {}
    for methods in document["paths"].values():
        for operation in [methods, *(each for each in methods.values() if isinstance(each, dict))]:
            for parameter in operation.get("parameters", []):
                schema = parameter["schema"]
                shown = [part[key] for part in (parameter, schema) for key in ("example", "default") if key in part]
                assert "examples" not in {*parameter, *schema}
                known = filled.setdefault(parameter["name"], [])
                known += [each for each in shown if each not in known]
    of_events = {"after": [0], "limit": [100], "wait": [0], "view": [False], "text": [False]}
    of_tables = {"aspect": [1.6], "from": [0], "theme": ["auto"]}
    of_lists = {"to_act": [False], "limit": [100, 50]}
    # Of the precondition the example is the one that holds of every game.
    expected = {"variant": ["domino"], "If-Match": ["*"], **of_events, **of_tables, **of_lists}
    assert {name: values for name, values in filled.items() if values} == expected


def test_the_page_is_the_same_whatever_host_it_is_asked_by(http: httpx.Client) -> None:
    """Check that the page contains nothing from the request."""
    plain = http.get("/docs/").text
    assert http.get("/docs/", headers={"Host": "evil.example"}).text == plain


@pytest.mark.parametrize("path", ["/docs/none.js", "/docs/../service/config.py", "/docs/%2e%2e/%2e%2e/etc/passwd"])
def test_no_other_resources_exist(path: str, http: httpx.Client) -> None:
    answer = http.get(path)
    assert answer.status_code == 404
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_a_problem_names_a_place_that_is_there(http: httpx.Client) -> None:
    problem = http.get("/v1/games/none").json()
    assert http.get(problem["type"], follow_redirects=True).status_code == 200
