"""Every view of the page is accessible: in every language, light and dark, on a desk and on the narrowest screen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.api.saved_games import shortest
from tests.browser.accessibility import Axe, fits
from tests.browser.pages import DESK, NARROW, OpenPage, Scheme
from tests.browser.playing import take_seats
from tests.support.lanes import in_lane
from tests.support.table import match_finished, round_over
from tests.whole.table import Table, connect

pytestmark = pytest.mark.gate


class Device(NamedTuple):
    """How somebody looks at the page."""

    locale: str
    viewport: tuple[int, int]
    scheme: Scheme


DEVICES = (Device("en-GB", NARROW, "dark"), Device("de-DE", DESK, "light"), Device("es-MX", NARROW, "light"))

OPEN = "(all) => all.forEach((each) => (each.open = true))"
LARGE_TEXT = "document.documentElement.style.setProperty('font-size', '200%', 'important')"


class Games(NamedTuple):
    """A game in each of its states."""

    waiting: Table
    playing: Table
    round_over: Table
    finished: Table


@pytest.fixture(scope="module")
def games(service_url: str) -> Iterator[Games]:
    with connect(service_url) as http:
        waiting = Table.create(http, "domino", [{"name": "Ada"}, {"open": True}, {"open": True}])
        playing = Table.create(http, "fido", 3, seed="every view", options={"set": 9})
        for _ in range(9):
            playing.make_legal_move()
        counted = Table.create(http, "homo-homini-lupus", 4, seed="every view")
        counted.client.play_until(counted, round_over)
        finished = Table.create(http, "domino", 2, seed="every view", options=shortest("domino"))
        finished.client.play_until(finished, match_finished)
        yield Games(waiting, playing, counted, finished)


def views(page: Page, games: Games) -> Iterator[str]:
    """Goes through the views, and names each when it is shown."""
    main = page.locator("main")
    page.goto("/")
    main.locator(".variant").first.wait_for()
    yield "home"
    page.goto("/#/replay")
    main.locator("textarea").wait_for()
    yield "replay, its form"
    page.goto("/#/others")
    main.locator("#name").wait_for()
    yield "play with others"
    page.goto("/#/nowhere")
    main.get_by_role("heading", level=1).wait_for()
    yield "unknown"
    page.goto(f"/#/join/{games.waiting.id}/{games.waiting.join_code}")
    main.locator(".at-table").wait_for()
    yield "join"
    take_seats(page, games.waiting, 0)
    main.locator(".invite").wait_for()
    main.locator(".own-links > summary").click()
    main.locator("[data-only-here]").first.wait_for()
    yield "waiting room"

    page.goto(f"/#/watch/{games.playing.id}")
    main.locator(".cloth [data-tile]").first.wait_for()
    yield "watch"
    seat = games.playing.to_move()
    take_seats(page, games.playing, seat)
    main.locator(".state.turn").wait_for()
    main.locator(".cloth [data-tile]").first.wait_for()
    for tile in main.locator("[role=option].fits").all()[:1]:
        tile.click()
        main.locator(".places .place").first.wait_for()
    main.locator("details").evaluate_all(OPEN)
    yield "table, on turn, with a chosen tile"
    page.locator("[data-tell=help]").click()
    page.get_by_role("dialog").wait_for()
    yield "keys"
    page.keyboard.press("Escape")
    take_seats(page, games.playing, (seat + 1) % 3)
    main.locator(".curtain").wait_for()
    yield "curtain"

    page.goto(f"/#/g/{games.round_over.id}")
    main.locator(".last-count table").wait_for()
    yield "round over"
    page.goto(f"/#/g/{games.finished.id}")
    main.locator(".last-count table").wait_for()
    yield "finished"
    page.goto(f"/#/replay/{games.finished.id}")
    main.locator(".replay .steps button").first.wait_for()
    main.locator("[data-step=last]").click()
    yield "replay"
    page.goto("/")
    main.locator("details > summary").click()
    main.locator(".card.game").nth(1).wait_for()
    yield "home, with games"


def around_a_game(page: Page) -> Iterator[str]:
    for address in ("/#/new", "/#/new/domino", "/#/join", "/#/settings", "/#/rules/domino"):
        page.goto(address)
        page.locator("main :is(h2, form)").first.wait_for()
        page.locator("main details").evaluate_all(OPEN)
        page.evaluate("scrollTo(0, document.body.scrollHeight)")  # no field is half below the bar with the start
        yield address


@pytest.mark.parametrize("device", in_lane(DEVICES, gate=DEVICES[:1]))
def test_every_view_is_accessible(device: Device, games: Games, open_page: OpenPage, axe: Axe) -> None:
    page = open_page(None, **device._asdict())
    for view in chain(around_a_game(page), views(page, games)):
        assert axe(page) == [], view
        assert fits(page), view
        assert page.get_by_role("heading", level=1).count() == 1, view
        assert page.evaluate("document.documentElement.lang") == device.locale[:2]


def test_text_of_twice_the_size_fits(games: Games, open_page: OpenPage, http: httpx.Client) -> None:
    page = open_page(None, locale="de-DE", viewport=(640, 800))
    for view in views(page, games):
        page.evaluate(LARGE_TEXT)
        assert page.evaluate("getComputedStyle(document.body).fontSize") == "32px"
        assert fits(page), view


def test_a_screen_reader_finds_the_parts_of_the_main_views(http: httpx.Client, open_page: OpenPage) -> None:
    page = open_page("/")
    expect(page.locator("body")).to_match_aria_snapshot("""
      - link "Skip to the content"
      - banner:
        - link "Domino"
        - navigation "Main menu"
      - main:
        - heading [level=1]
        - list:
          - listitem:
            - button /Play now/
        - heading "All games" [level=2]
        - group "For how many?"
        - region "Easy to begin with":
          - heading [level=3]
          - list:
            - listitem:
              - heading "Draw" [level=4]
      - contentinfo
    """)
    table = Table.create(http, "domino", 2, seed="a screen reader")
    table.make_legal_move()
    seat = table.to_move()
    take_seats(page, table, seat)
    expect(page.get_by_role("option").first).to_be_attached()
    expect(page.locator("body")).to_match_aria_snapshot("""
      - banner
      - main:
        - heading "Dominó" [level=1]
        - list "Players":
          - listitem
          - listitem
        - region "The tiles on the table":
          - img "The tiles on the table"
        - paragraph: /Your turn/
        - listbox "Your hand":
          - option
        - log "What has happened":
          - list
        - group: Listen
      - status:
        - paragraph: /Your turn/
      - alert
    """)
    page.goto(f"/#/score/{table.id}")
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("."))
    page.goto("/#/new/domino")
    expect(page.locator("main")).to_match_aria_snapshot("""
      - main:
        - heading [level=1]
        - region "Who plays?":
          - group "Number of players"
        - button "Start the game"
    """)


TRANSLATES = """() => {
  const wrap = (node) => {
    if (!node.textContent.trim() || !node.parentElement?.translate || node.parentElement.localName === "font") return;
    const [outer, inner] = [document.createElement("font"), document.createElement("font")];
    node.replaceWith(outer);
    outer.append(inner);
    inner.append(node.textContent);
  };
  const all = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) found.push(walker.currentNode);
    found.forEach(wrap);
  };
  all(document.body);
  new MutationObserver((changes) => changes.forEach((each) => each.addedNodes.forEach(all)))
    .observe(document.body, { childList: true, subtree: true });
}"""
"""Does what the translator of a browser does: puts each text into elements of its own, also those that come later."""


def test_a_translated_page_tells_the_truth_and_rules_may_be_translated(open_page: OpenPage, service_url: str) -> None:
    translated, plain = open_page(), open_page()
    with connect(service_url) as http:
        table = Table.create(http, "domino", 2, seed="translated")
        for page in (translated, plain):
            page.goto(f"/#/watch/{table.id}")
            page.locator("[data-state]").wait_for()
        translated.evaluate(TRANSLATES)
        told = set()
        for _ in range(3):
            state = plain.locator("[data-state]").inner_text()
            expect(translated.locator("[data-state]")).to_have_text(state)
            told.add(state)
            table.make_legal_move()
            expect(plain.locator("[data-state]")).not_to_have_text(state)
        assert len(told) > 1
    translated.goto("/#/rules/domino")
    expect(translated.locator("article.rules p font font").first).to_be_visible()
