"""The guides, and the texts for assistants and search engines, as the service serves them."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.api.client import Api
from tests.support.contract import committed
from tools.openapi.guides import slug

ROOT = Path(__file__).parents[2]
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


class Page(HTMLParser):
    """The ids, the local links and the elements of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.elements: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        found = dict(attrs)
        if found.get("id"):
            self.ids.append(str(found["id"]))
        if tag == "a":
            self.links.append(str(found["href"]))


@pytest.mark.parametrize("name", ["guide", "backends"])
def test_a_guide_is_markdown_for_programs_and_a_page_for_browsers(name: str, api: Api) -> None:
    text = api.get(f"/{name}")
    assert text.content_type == "text/markdown; charset=utf-8"
    assert api.get(f"/{name}", headers={"Accept": "text/markdown"}).data == text.data
    page = api.get(f"/{name}", headers={"Accept": BROWSER})
    assert page.content_type == "text/html; charset=utf-8"
    assert text.headers["ETag"] != page.headers["ETag"]
    assert "Accept" in page.headers["Vary"]
    assert api.get(f"/{name}", headers={"If-None-Match": text.headers["ETag"]}).status_code == 304
    assert api.head(f"/{name}").data == b""
    title = text.get_data(as_text=True).partition("\n")[0].removeprefix("# ")
    assert f"<title>{title}</title>" in page.get_data(as_text=True)
    assert re.fullmatch(r"default-src 'none'; style-src 'sha256-\S+'; .*", page.headers["Content-Security-Policy"])


@pytest.mark.parametrize("name", ["guide", "backends"])
def test_a_guide_has_every_page_and_its_links_lead_somewhere(name: str, api: Api) -> None:
    text = api.get(f"/{name}").get_data(as_text=True)
    for source in (ROOT / "docs" / name).glob("*.md"):
        title = source.read_text("utf-8").partition("\n")[0].lstrip("# ")
        assert re.search(rf"^#+ {re.escape(title)}$", text, re.MULTILINE), source
    assert "](../" not in text
    assert ".md)" not in text
    page = Page(api.get(f"/{name}", headers={"Accept": BROWSER}).get_data(as_text=True))
    others = {
        other: Page(api.get(f"/{other}", headers={"Accept": BROWSER}).get_data(as_text=True)).ids
        for other in ("guide", "backends")
    }
    assert "script" not in page.elements
    for link in page.links:
        address, _, anchor = link.partition("#")
        if address.startswith("http"):
            continue
        if address in ("", "/guide", "/backends"):
            assert not anchor or anchor in others[address.strip("/") or name], link
        else:
            assert api.get(address).status_code == 200, link


def test_the_text_for_assistants_is_short_and_names_every_operation(api: Api) -> None:
    answer = api.get("/llms.txt")
    text = answer.get_data(as_text=True)
    assert answer.content_type == "text/plain; charset=utf-8"
    assert len(answer.data) < 6_000
    assert text.startswith("# Domino\n\n> ")
    for path, item in committed().document["paths"].items():
        for method in item.keys() & {"get", "post", "put", "patch", "delete"}:
            assert f"- `{method.upper()} {path}`: {item[method]['summary']}\n" in text
    for address, size in re.findall(r"\]\((/[a-z.]+)\): (\d+) KB", text):
        assert abs(len(api.get(address).data) / 1000 - int(size)) <= 1, address
    assert len(re.findall(r" KB", text)) == 4


def test_search_engines_fetch_no_games(api: Api) -> None:
    answer = api.get("/robots.txt")
    assert answer.content_type == "text/plain; charset=utf-8"
    assert answer.get_data(as_text=True).splitlines() == [
        "User-agent: *",
        "Disallow: /v1/games",
        "Disallow: /v1/lobby",
        "Allow: /",
    ]


@pytest.mark.parametrize("path", ["/guide", "/backends", "/llms.txt", "/robots.txt"])
def test_others_may_link_to_a_text_in_their_way(path: str, api: Api) -> None:
    assert api.get(f"{path}?utm_source=x").data == api.get(path).data
    answer = api.get(path, headers={"Accept": "application/json"})
    assert answer.status_code == (200 if path.endswith(".txt") else 406)


def test_a_heading_has_the_name_that_links_use() -> None:
    assert slug("Retrying: `GET` & co.") == "retrying-get--co"
