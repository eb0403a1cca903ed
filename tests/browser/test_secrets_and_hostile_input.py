"""What no page may show or send: hands and tokens of others; and what strangers write stays text."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Page, Request, expect

from service.engine.variants import variants
from tests.browser.accessibility import fits
from tests.browser.pages import ExpectConsole, OpenPage
from tests.browser.playing import command_field, html_of, told
from tests.support.lanes import GATE_VARIANTS, in_lane
from tests.whole.table import Table

pytestmark = pytest.mark.gate

HOSTILE_NAMES = ["<img src=x onerror=alert(1)>", "שלום עולם (evil)", "👩‍👩‍👧 \"'`${1}{{2}}&amp;", "W" * 60]

HOSTILE_RECORDS = [
    "<script>alert(1)</script>",
    '[Variant "<img src=x onerror=alert(1)>"]\n\n1. <svg/onload=alert(1)>',
    "\u202e\u0000\ufeff💥" * 50,
    "[" * 50_000,
    '{"variant": "domino", "rounds": [null]}',
]

HOSTILE_LINKS = [
    "#/seat/../..",
    "#/seat/%2e%2e/%2e%2e%2fdocs",
    "#/join/%00/%0d%0aHost: elsewhere.example",
    "#/join/<img src=x onerror=alert(1)>/x",
    "#/g/..",
    "#/g/..%2f..%2fdocs",
    "#/g/%2e%2e%5c%2e%2e",
    "#/g/https:%2f%2felsewhere.example",
    "#/watch/%2f%2felsewhere.example%2f",
    "#/score/.",
    "#/score/?%23",
    "#/rules/<svg onload=alert(1)>/9.9",
    "#/rules/../openapi.yaml",
    "#/replay/%E0%A4%A",
    "#/new/javascript:alert(1)",
    "#/g/" + "x" * 20_000,
    "#/constructor/__proto__",
    "#//elsewhere.example/",
]

A_PATH = re.compile(r"/v1/(variants|variants/[^/]+|replays|games/[^/]+(/(events|board|score|record|fairness|moves))?)")
"""What a view may ask for: ``..`` in a link must not lead out of it."""

KEEP_ADDRESSES = """(() => {
  const { fetch } = window;
  window.asked = [];
  window.fetch = (...all) => {
    if (!String(all[0]).includes("/client/")) asked.push(`${location.href} ${document.title} ${document.referrer}`);
    return fetch(...all);
  };
})()"""
"""Keeps what could tell a secret to others, at every request of a script but those for files of the page: its modules
and texts are loaded before a view can take a token out of the address."""


def storage_of(page: Page) -> str:
    return str(page.evaluate("JSON.stringify({ ...localStorage, ...sessionStorage })"))


def drawer_of(page: Page) -> str:
    """Everything that the developer drawer has of games, secrets included."""
    page.locator("#menu-button").click()
    page.locator("#drawer-button").click()
    shown = ""
    for part, words in (("Requests", "/v1/games"), ("Stream", "")):
        page.get_by_role("button", name=part, exact=True).click()
        page.get_by_label("Filter").fill(words)
        page.get_by_label("Show tokens and hands").check()
        page.evaluate("document.querySelectorAll('.developer details').forEach((each) => (each.open = true))")
        expect(page.locator(".developer pre").first).to_be_attached()
        shown += page.locator(".developer").inner_text()
        shown += page.evaluate("[...document.querySelectorAll('.developer textarea')].map((each) => each.value).join()")
    return shown


def test_a_spectator_gets_no_tile_of_a_hand(http: httpx.Client, open_page: OpenPage) -> None:
    for variant in in_lane(list(variants()), gate=GATE_VARIANTS):
        table = Table.create(http, variant, seed="a spectator")
        page = open_page(f"/#/watch/{table.id}")
        expect(page.locator(".play.playing")).to_be_attached()
        for _ in range(3):
            table.make_legal_move()
        view = table.view()
        expect(page.locator(".cloth .tiles [data-tile]")).to_have_count(len(view["board"]["tiles"]))
        hidden = [tile for seat in table.tokens for tile in table.view(seat)["you"]["hand"]]
        assert hidden
        page.get_by_text("Options and rules").click()
        texts = [html_of(page), storage_of(page), drawer_of(page)]
        for text in texts:
            assert told(text, hidden) == [], variant
            assert not [token for token in table.tokens.values() if token in text]
        assert f"/v1/games/{table.id}" in texts[-1]


def test_a_token_is_only_in_the_storage_and_the_header(http: httpx.Client, open_page: OpenPage) -> None:
    table = Table.create(http, "domino", 2, seed="a secret")
    token = table.tokens[table.to_move()]
    page = open_page(None)
    page.add_init_script(KEEP_ADDRESSES)
    requests: list[Request] = []

    def keep(request: Request) -> None:
        requests.append(request)

    page.context.on("request", keep)
    page.goto(f"/#/seat/{table.id}/{token}")
    expect(page).to_have_url(re.compile(f"#/g/{table.id}$"))
    page.get_by_role("option").first.focus()
    page.keyboard.press("m")
    command_field(page).fill(f"{table.moves(table.to_move())[0]['tile']} 1")
    page.locator("#command").press("Enter")
    expect(page.locator(".cloth .tiles [data-tile]")).to_have_count(1)
    page.goto(f"/#/score/{table.id}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()

    asked = page.evaluate("asked")
    assert len(asked) >= 5
    assert not [each for each in asked if token in each]
    for request in requests:
        headers = request.all_headers()
        assert token not in request.url.partition("#")[0] + (request.post_data or "")
        bearers = {name for name, value in headers.items() if token in value}
        assert bearers <= {"authorization"}, request.url
    posts = [each for each in requests if each.method == "POST"]
    assert [each.all_headers()["authorization"] for each in posts] == [f"Bearer {token}"]
    assert token in storage_of(page)
    assert token not in page.content() + page.title() + page.url
    page.go_back()
    assert token not in page.url


def test_what_strangers_write_is_never_markup(
    http: httpx.Client, open_page: OpenPage, expect_console: ExpectConsole
) -> None:
    expect_console("status of 4(00|13|22)")
    players = [{"name": name} for name in HOSTILE_NAMES]
    table = Table.create(http, "menschenwolf", players, seed="strangers")
    page = open_page(f"/#/seat/{table.id}/{table.tokens[table.to_move()]}", viewport=(320, 640))
    expect(page.locator(".play.playing")).to_be_attached()
    table.make_legal_move()
    expect(page.get_by_role("log").locator("li")).to_have_count(3)
    finished = Table.create(http, "menschenwolf", players, seed="strangers", options={"limit": 1})
    for _ in finished.play("strangers"):
        pass
    for view in (f"g/{table.id}", f"score/{table.id}", f"watch/{table.id}", f"replay/{finished.id}"):
        page.goto(f"/#/{view}")
        for name in HOSTILE_NAMES:
            expect(page.locator("main").get_by_text(name).first).to_be_attached()
        expect_no_markup(page)

    for record in HOSTILE_RECORDS:
        page.goto("/#/settings")
        page.goto("/#/replay")
        page.get_by_label("Record", exact=True).fill(record)
        page.locator("form", has=page.get_by_label("Record", exact=True)).get_by_role("button").click()
        failure = page.locator("[data-failure]")
        expect(failure).to_have_text(re.compile(r"\w+ \w+.*"))
        expect(page.get_by_role("alert")).not_to_be_empty()
        expect_no_markup(page)


def expect_no_markup(page: Page) -> None:
    """That nothing of what was written has become an element, or makes the page wider."""
    assert page.locator("main :is(img, script, iframe, object, [onload], [onerror])").count() == 0
    assert fits(page), page.url


def test_hostile_links_ask_for_nothing_else_and_say_so(open_page: OpenPage, expect_console: ExpectConsole) -> None:
    expect_console("status of 4")
    page = open_page("/#/settings")
    paths: list[str] = []

    def keep(request: Request) -> None:
        paths.append(urlsplit(request.url).path)

    page.on("request", keep)
    for link in HOSTILE_LINKS:
        page.evaluate("(link) => (location.hash = link)", "#/settings")
        expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
        page.evaluate("(link) => (location.hash = link)", link)
        heading = page.get_by_role("heading", level=1)
        expect(heading).not_to_have_text("Settings")
        sentence = page.locator("main").get_by_text(re.compile(r"^\s*\w+ \w+.*[.…]\s*$", re.DOTALL)).first
        expect(sentence).to_be_visible()
        expect(page.get_by_text("Loading")).to_have_count(0)
        expect_no_markup(page)
    assert [path for path in paths if not path.startswith("/client/") and not A_PATH.fullmatch(path)] == []
