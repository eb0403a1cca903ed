"""The front door: the page at ``/``, the version, the document as JSON, and what wrong paths are answered."""

from __future__ import annotations

import gzip
import re
from html.parser import HTMLParser
from importlib.metadata import version
from typing import Any
from urllib.parse import urljoin

import orjson
import pytest
import yaml

from service.texts import LANGUAGES, page_texts
from tests.api.client import Api, Table
from tests.support.contract import committed
from tests.support.serving import ROOT

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"}


class Page(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def links(self) -> list[str]:
        return [attributes["href"] or "" for tag, attributes in self.elements if tag == "a"]


@pytest.fixture
def table(api: Api) -> Table:
    return api.create("domino", 2)


# The index


def test_a_program_gets_the_addresses_as_json(api: Api) -> None:
    index: Any = api.get("/").json
    assert index == {
        "name": "Domino",
        "version": version("domino-service"),
        "engine": "pure",
        "api_level": 1,
        "contract": "openapi.yaml",
        "docs": "docs",
        "variants": "v1/variants",
        "games": "v1/games",
        "problems": "problems",
        "addresses": [],
    }
    for name in ("contract", "docs", "variants"):
        assert api.get(f"/{index[name]}", follow_redirects=True).status_code == 200
    assert api.get("/version").json == {name: index[name] for name in ("name", "version", "engine", "api_level")}


def test_a_browser_gets_a_page(api: Api) -> None:
    answer = api.get("/", headers=BROWSER)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "Accept" in answer.headers["Vary"]
    page = Page(answer.text)
    assert [attributes["lang"] for tag, attributes in page.elements if tag == "html"] == ["en"]
    assert len([tag for tag, _ in page.elements if tag in ("title", "noscript", "main", "h1")]) == 4


def test_every_file_that_the_page_loads_is_below_it_and_there(api: Api) -> None:
    page = Page(api.get("/", headers=BROWSER).text)
    files = [attributes for tag, attributes in page.elements if tag in ("link", "script")]
    loaded = [attributes.get("href") or attributes["src"] for attributes in files]
    assert len(loaded) > 5
    for path in loaded:
        assert path is not None
        assert path.startswith("client/"), "relative, so that the page works below a prefix"
        answer = api.get(f"/{path}")
        is_manifest = path == "client/manifest.webmanifest"  # other addresses follow from its own
        kept = "public, no-cache" if is_manifest else "public, max-age=31536000, immutable"
        assert (answer.status_code, answer.headers["Cache-Control"]) == (200, kept), path
        assert api.get(f"/{path}", headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304


def test_a_file_is_kept_for_good_only_under_the_digest_of_these_files(api: Api) -> None:
    page = Page(api.get("/", headers=BROWSER).text)
    [main] = [attributes["src"] for tag, attributes in page.elements if tag == "script"]
    _, digest, _ = str(main).split("/")
    kept = api.get(f"/{main}")
    for path in ("/client/main.js", f"/client/{digest[::-1]}/main.js"):
        answer = api.get(path)
        assert answer.data == kept.data
        assert answer.headers["Cache-Control"] == "public, no-cache", path
    for path in (f"/client/{digest}/none.js", f"/client/{digest}/{digest}/main.js", f"/client/{digest}/"):
        assert api.ask_unchecked("GET", path).status_code == 404


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("main.js", "text/javascript; charset=utf-8"),
        ("styles/base.css", "text/css; charset=utf-8"),
        ("icon.svg", "image/svg+xml; charset=utf-8"),
        ("manifest.webmanifest", "application/manifest+json"),
        ("texts/en/table.json", "application/json"),
    ],
)
def test_a_file_of_the_page_has_its_media_type(path: str, media_type: str, api: Api) -> None:
    assert api.get(f"/client/{path}").headers["Content-Type"] == media_type


def test_the_page_knows_its_languages_and_gets_its_texts_in_each(api: Api) -> None:
    page = Page(api.get("/", headers=BROWSER).text)
    (languages,) = [attributes["data-languages"] for tag, attributes in page.elements if tag == "html"]
    assert languages == " ".join(LANGUAGES)
    for language in LANGUAGES:
        for part, texts in page_texts(language).items():
            assert api.get(f"/client/texts/{language}/{part}.json").json == texts
        assert page_texts(language)["table"]["common"]["needsJavaScript"] in page.text


@pytest.mark.parametrize(
    "path",
    ["", "index.html", "__init__.py", "none.js", "views/", "views", "../app.py", "vendor/%2e%2e/main.js", "//main.js"],
)
def test_nothing_else_is_served_as_a_file_of_the_page(path: str, api: Api) -> None:
    assert api.ask_unchecked("GET", f"/client/{path}").status_code == 404


def test_the_page_loads_its_own_files_only_and_runs_nothing_inline(api: Api) -> None:
    answer = api.get("/", headers=BROWSER)
    page = Page(answer.text)
    assert not [tag for tag, _ in page.elements if tag in ("style", "iframe", "form", "base", "object")]
    assert all(attributes.get("src") for tag, attributes in page.elements if tag == "script")
    names = {name for _, attributes in page.elements for name in attributes}
    assert not [name for name in names if name.startswith("on") or name == "style"]
    assert answer.headers["Content-Security-Policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types lit-html"
    )


def test_the_page_contains_nothing_of_the_request(api: Api) -> None:
    plain = api.get("/", headers=BROWSER).data
    assert api.get("/?utm_source=<x>", headers={**BROWSER, "Host": "evil.example", "User-Agent": "<x>"}).data == plain


@pytest.mark.parametrize("headers", [{}, BROWSER])
def test_the_index_is_revalidated_by_its_etag(headers: dict[str, str], api: Api) -> None:
    etag = api.get("/", headers=headers).headers["ETag"]
    assert api.get("/", headers={**headers, "If-None-Match": etag}).status_code == 304
    other = {} if headers else BROWSER
    assert api.get("/", headers={**other, "If-None-Match": etag}).status_code == 200


def test_the_document_is_served_as_it_is_committed(api: Api) -> None:
    assert api.get("/openapi.yaml").data == (ROOT / "openapi.yaml").read_bytes()
    assert api.get("/openapi.json").data == (ROOT / "service" / "web" / "openapi" / "openapi.json").read_bytes()


def test_the_document_as_json_is_the_one_in_yaml(api: Api) -> None:
    assert orjson.loads(api.get("/openapi.json").data) == yaml.load(api.get("/openapi.yaml").data, yaml.CSafeLoader)


@pytest.mark.parametrize(
    "path", ["/", "/openapi.yaml", "/openapi.json", "/llms.txt", "/robots.txt", "/client/events.js"]
)
def test_others_may_link_to_a_page_or_file_in_their_way(path: str, api: Api) -> None:
    assert api.get(f"{path}?utm_source=x").data == api.get(path).data


@pytest.mark.parametrize("path", ["/openapi.yaml", "/openapi.json", "/llms.txt", "/robots.txt", "/client/events.js"])
def test_a_file_is_revalidated_by_its_etag(path: str, api: Api) -> None:
    first = api.get(path)
    assert first.headers["Cache-Control"] == "public, no-cache"
    again = api.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_the_text_for_assistants_is_short_and_names_every_operation(api: Api) -> None:
    answer = api.get("/llms.txt")
    assert answer.content_type == "text/plain; charset=utf-8"
    assert len(answer.data) < 6_000
    assert answer.text.startswith("# Domino\n\n> ")
    for path, method, operation in committed().operations():
        assert f"- `{method.upper()} {path}`: {operation['summary']}\n" in answer.text
    sizes = re.findall(r"\]\(([a-z.]+)\): (\d+) KB", answer.text)
    assert [address for address, _ in sizes] == ["openapi.yaml", "openapi.json"]
    for address, size in sizes:
        assert abs(len(api.get(f"/{address}").data) / 1000 - int(size)) <= 1, address


def test_search_engines_fetch_no_games(api: Api) -> None:
    answer = api.get("/robots.txt")
    assert answer.content_type == "text/plain; charset=utf-8"
    assert answer.text.splitlines() == ["User-agent: *", "Disallow: /v1/games", "Disallow: /v1/lobby", "Allow: /"]


# Wrong paths


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/games", "/api", "/v2/games", "/favicon.ico", "//v1/games", "/v1//"])
def test_a_path_without_a_route_tells_where_the_service_describes_itself(path: str, api: Api) -> None:
    answer: Any = api.get(path)
    assert (answer.status_code, answer.json["code"], answer.json["see"]) == (404, "not_found", "/")


def test_nothing_is_pointed_to_below_a_game(api: Api, table: Table) -> None:
    for path in ("/v1/games/none", f"{table.path}/none", "/v1/games/none/none"):
        answer: Any = api.get(path)
        assert answer.status_code == 404
        assert "see" not in answer.json


def test_a_get_of_a_path_that_is_only_posted_to_names_what_can_be_read(api: Api, table: Table) -> None:
    for path, see in (
        ("/v1/replays", "/"),
        ("/v1/verifications", "/"),
        (f"{table.path}/players", "/v1/games/{game}"),
        (f"{table.path}/players/0/token", "/v1/games/{game}"),
    ):
        answer: Any = api.get(path)
        assert (answer.status_code, answer.json["see"]) == (405, see)
        assert api.head(path).headers["Content-Length"] == answer.headers["Content-Length"]
        assert "see" not in api.ask("DELETE", path).get_json()


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
@pytest.mark.parametrize(
    "path", ["/v1/variants", "/v1/variants/domino", "/healthz", "/v1/games", "{game}", "{game}/moves"]
)
def test_a_last_slash_is_redirected_away(method: str, path: str, api: Api, table: Table) -> None:
    path = path.format(game=table.path)
    answer = api.ask_unchecked(method, f'{path}/?x=%41&y=é"<')
    assert answer.status_code == 308
    location = answer.headers["Location"]
    assert location.isascii()
    assert location.startswith("../"), "it names no host"
    target, _, query = urljoin(f"{path}/", location).partition("?")
    assert (target, query) == (path, "x=%41&y=%C3%A9%22%3C")


@pytest.mark.parametrize(
    "path",
    ["//evil.example/", "/%2F/evil.example/", "/v1/", "/none/", "/v1/variants//", "/v1//variants/", "//v1/variants/"]
    + ["/docs/none/", "/v1/games/x/y/", "/v1/games//", "/v1/games/x/players/y/token/"],
)
def test_no_other_path_is_redirected(path: str, api: Api) -> None:
    # The test client would take what follows two slashes for a host.
    answer = api.ask_unchecked("GET", "/", environ_overrides={"PATH_INFO": path})
    assert answer.status_code == 404
    assert "Location" not in answer.headers


def test_a_name_with_special_characters_is_redirected_to_itself(api: Api) -> None:
    answer = api.ask_unchecked("GET", "/v1/games/a%0d%0ab:c%2f%3fd%23%20é/")
    told = (answer.status_code, answer.headers.getlist("Location"))
    assert told in ((308, ["../a%0D%0Ab%3Ac%2F%3Fd%23%20%C3%A9"]), (404, []))


# Compression


def test_a_large_public_answer_is_compressed_for_a_client_that_accepts_it(api: Api) -> None:
    for path in ("/openapi.yaml", "/openapi.json", "/v1/variants/domino", "/docs/swagger-ui-bundle.js", "/docs/"):
        plain = api.get(path, buffered=True)
        zipped = api.ask_unchecked("GET", path, headers={"Accept-Encoding": "gzip, deflate, br"}, buffered=True)
        assert zipped.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(zipped.data) == plain.data
        assert len(zipped.data) * 2 < len(plain.data)
        assert int(zipped.headers["Content-Length"]) == len(zipped.data)
        assert zipped.mimetype == plain.mimetype
        for answer in (plain, zipped):
            assert "Accept-Encoding" in answer.headers["Vary"]
        assert "Content-Encoding" not in plain.headers
        assert api.ask_unchecked("GET", path, headers={"Accept-Encoding": "gzip"}, buffered=True).data == zipped.data
        head = api.head(path, headers={"Accept-Encoding": "gzip"}, buffered=True)
        assert head.headers["Content-Length"] == zipped.headers["Content-Length"]


def test_a_compressed_answer_is_revalidated(api: Api) -> None:
    for path in ("/openapi.yaml", "/docs/swagger-ui.css"):
        plain = api.get(path, buffered=True).headers["ETag"]
        zipped = api.get(path, headers={"Accept-Encoding": "gzip"}, buffered=True).headers["ETag"]
        assert zipped == f"W/{plain}"
        for etag in (plain, zipped):
            for encoding in ("gzip", "identity"):
                headers = {"Accept-Encoding": encoding, "If-None-Match": etag}
                answer = api.get(path, headers=headers, buffered=True)
                assert (answer.status_code, answer.data) == (304, b"")
                assert "Content-Encoding" not in answer.headers


@pytest.mark.parametrize("accepted", ["identity", "gzip;q=0", "br, zstd", "*;q=0"])
def test_nothing_is_compressed_for_a_client_that_does_not_accept_it(accepted: str, api: Api) -> None:
    assert "Content-Encoding" not in api.get("/openapi.yaml", headers={"Accept-Encoding": accepted}).headers


def test_nothing_private_is_compressed(api: Api, table: Table) -> None:
    """Check it on answers that are as long as any public one."""
    for _ in table.play(1):
        pass
    for path in ("", "/moves", "/score", "/events", "/record", "/fairness"):
        answer = api.get(table.path + path, token=table.tokens[0], headers={"Accept-Encoding": "gzip"})
        assert "Content-Encoding" not in answer.headers
        assert "Accept-Encoding" not in answer.headers["Vary"]
    created = api.post(
        "/v1/games",
        {"variant": "domino", "players": [{"name": "x" * 60}] * 10, "options": {"set": 12}},
        headers={"Accept-Encoding": "gzip"},
    )
    assert created.status_code == 201
    assert len(created.data) > 1024
    assert "Content-Encoding" not in created.headers
