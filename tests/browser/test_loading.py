"""What the page costs: the files of its first load, and the elements that a large table needs."""

from __future__ import annotations

from collections.abc import Iterator
from gzip import compress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Page, Request, Route, expect

import service.client
from service.texts import LANGUAGES, text
from tests.browser.pages import LONG_MS, ExpectConsole, OpenPage
from tests.browser.playing import fitting
from tests.whole.table import Table, connect

pytestmark = pytest.mark.gate

CLIENT = Path(service.client.__file__).parent

MAX_REQUESTS = 25
MAX_BYTES = 61_000
MAX_AT_RELOAD = 5
MAX_OWN_BYTES = 170_000
"""Of all files of the page but libraries and texts, each compressed."""
LARGEST_SET = 190

LARGE_TABLE = """async (count) => {
  const { src } = document.querySelector("script[src]");
  const { createPicture } = await import(new URL("table/picture.js", src));
  const { render } = await import(new URL("vendor/lit-html.js", src));
  const settings = { colours: "auto", digits: false, animation: "none", language: "en" };
  const picture = createPicture({ device: { settings }, t: (text) => text, update() {} });
  const names = [];
  for (let low = 0; low < 19; low++) for (let high = low; high < 19; high++) names.push(`${low}-${high}`);
  const tiles = names.slice(0, count).map((tile, at) =>
    ({ tile, x: 5 * (at % 19), y: 3 * Math.floor(at / 19), rotation: 0, face_down: false, seat: 0 }));
  const area = { x: -2, y: -1, width: 95, height: 30 };
  const board = (shown) => ({ round: 1, table: area, bounds: area, tiles: tiles.slice(0, shown), ends: [] });
  const place = document.createElement("main");
  document.body.append(place);
  const table = (shown) => ({ board: board(shown), label: "", lastTile: names[shown - 1], highest: 18 });
  const show = (shown) => render(picture.render(table(shown)), place);
  const started = performance.now();
  show(count - 1);
  const elements = place.querySelectorAll("*").length;
  const ms = performance.now() - started;
  await new Promise(requestAnimationFrame);
  const before = new Set(place.querySelectorAll("[data-tile]"));
  let added = 0;
  const observer = new MutationObserver((records) => records.forEach((each) => each.addedNodes.forEach((node) => {
    if (node instanceof Element) added += 1 + node.querySelectorAll("*").length;
  })));
  observer.observe(place, { childList: true, subtree: true });
  show(count);
  await Promise.resolve();
  const after = [...place.querySelectorAll("[data-tile]")];
  return { elements, added, kept: after.filter((each) => before.has(each)).length, tiles: after.length, ms };
}"""
"""Renders a table of so many tiles but one, then the last one, too; what that takes."""


SENT = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .filter((each) => each.transferSize > 0).map((each) => new URL(each.name).pathname)"""
"""What the network was asked for: nothing is transferred of a file that the browser has kept."""


@pytest.fixture
def table(service_url: str) -> Iterator[Table]:
    """A game that has been going on for a while."""
    with connect(service_url) as http:
        table = Table.create(http, "domino", 2, seed="a cold cache")
        for _ in range(8):
            table.make_legal_move()
        yield table


def test_the_first_load_of_a_running_game_is_small(table: Table, service_url: str, open_page: OpenPage) -> None:
    page = open_page(None)
    requests: list[Request] = []

    def keep(request: Request) -> None:
        requests.append(request)

    page.on("request", keep)
    page.goto(f"/#/g/{table.id}")
    expect(page.locator(".cloth [data-tile]").first).to_be_visible()
    expect(page.get_by_role("log").locator("li").first).to_be_attached()
    files = [each for each in requests if not urlsplit(each.url).path.startswith("/v1/")]
    with httpx.Client(base_url=service_url, headers={"Accept-Encoding": "gzip"}) as http:
        answers = [http.get(each.url, headers={"Accept": each.all_headers().get("accept", "*/*")}) for each in files]
    sizes = {answer.url.path: answer.num_bytes_downloaded for answer in answers}
    assert len(requests) <= MAX_REQUESTS, [each.url for each in requests]
    assert sum(sizes.values()) <= MAX_BYTES, sizes


@pytest.mark.parametrize("seat", [None, 0])
def test_a_reload_asks_only_for_the_page_and_the_game(seat: int | None, table: Table, open_page: OpenPage) -> None:
    page = open_page(None)
    for is_reload in (False, True):
        if is_reload:
            page.reload()
        else:
            page.goto(f"/#/g/{table.id}" if seat is None else f"/#/seat/{table.id}/{table.tokens[seat]}")
        expect(page.locator(".cloth [data-tile]").first).to_be_visible()
        expect(page.get_by_role("log").locator("li").first).to_be_attached()
        expect(page.get_by_role("option")).to_have_count(0 if seat is None else table.view()["players"][seat]["tiles"])
    asked = page.evaluate(SENT)
    assert "/" in asked
    assert [each for each in asked if each.startswith("/client/")] == []
    assert len([*asked, "the stream, which has not ended"]) <= MAX_AT_RELOAD, asked


def test_the_sources_of_the_page_are_small() -> None:
    sources = [each for each in CLIENT.rglob("*.*") if each.parent.name not in ("vendor", "__pycache__")]
    own = {str(each.relative_to(CLIENT)): len(compress(each.read_bytes())) for each in sources}
    assert len(own) > 60
    assert sum(own.values()) <= MAX_OWN_BYTES, own


def test_a_large_table_is_rendered_with_few_elements(page: Page) -> None:
    found = page.evaluate(LARGE_TABLE, LARGEST_SET)
    assert found["tiles"] == LARGEST_SET
    assert found["elements"] <= 6 * LARGEST_SET
    assert found["kept"] == LARGEST_SET - 1, "a tile that lies keeps its elements"
    assert found["added"] <= 20


def test_the_texts_of_another_language_arrive_when_it_is_chosen(open_page: OpenPage) -> None:
    page = open_page("/#/settings")
    expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
    page.get_by_role("radio", name="Deutsch").check()
    expect(page.get_by_role("heading", level=1)).to_have_text("Einstellungen")
    page.get_by_role("radio", name="English").check()
    expect(page.get_by_role("heading", level=1)).to_have_text("Settings")


def test_a_page_without_texts_says_so_in_every_language(open_page: OpenPage, expect_console: ExpectConsole) -> None:
    expect_console("Failed to load resource")
    page = open_page(None)
    page.route("**/client/*/texts/*/*.json", lambda route: route.abort())
    page.goto("/")
    said = [text("page.table.common.unreachable", language) for language in LANGUAGES]
    expect(page.locator("#page")).to_have_text(" / ".join(said))


def fail_once(page: Page, file: str) -> list[str]:
    """Let the first request for this file fail; the requests for it, as they come."""
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) == 1:
            route.abort()
        else:
            route.continue_()

    page.route(f"**/client/*/{file}", answer)
    return asked


def test_a_hand_whose_part_did_not_arrive_comes_by_itself(
    http: httpx.Client, open_page: OpenPage, expect_console: ExpectConsole
) -> None:
    expect_console("ERR_FAILED")
    table = Table.create(http, "block", 2, seed="a part is lost")
    seat = table.to_move()
    page = open_page(None)
    asked = fail_once(page, "table/play.js")
    page.goto(f"/#/seat/{table.id}/{table.tokens[seat]}")
    fitting(page).first.wait_for(timeout=LONG_MS)
    assert len(asked) == 2


def test_a_view_that_did_not_arrive_comes_when_it_is_tried_again(
    open_page: OpenPage, expect_console: ExpectConsole
) -> None:
    expect_console("ERR_FAILED")
    page = open_page("/#/")
    asked = fail_once(page, "views/settings.js")
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
    assert len(asked) == 2
