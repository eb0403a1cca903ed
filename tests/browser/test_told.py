"""The page tells what is going on: in one line, at the count, in the hand, and on the way to a table."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.api.deals import deal
from tests.browser.pages import DESK, OpenPage
from tests.browser.playing import fitting
from tests.support.table import round_over
from tests.whole.table import Table

pytestmark = pytest.mark.gate

SMALL_PHONE = (360, 740)

WATCH_PLACES = """() => {
  window.places = new Set();
  const look = () => {
    const parts = [".play.playing .picture", ".play.playing .hand"].map((each) => document.querySelector(each));
    if (parts.every(Boolean)) {
      const boxes = parts.map((each) => each.getBoundingClientRect());
      window.places.add(boxes.map(({ top, height }) => `${top} ${height}`).join(", "));
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
"""Keeps in every frame where the cloth and the hand are."""


def open_seat(page: Page, table: Table, seat: int = 0) -> Page:
    page.goto(f"/#/seat/{table.id}/{table.tokens[seat]}")
    page.locator(".play.room").wait_for()
    return page


def test_nothing_moves_under_the_finger_for_a_whole_round(http: httpx.Client, open_page: OpenPage) -> None:
    players = [{"name": "Ada"}, {"bot": "greedy"}]
    table = Table.create(http, "draw", players, seed="a place", options={"hand": 7}, pace=0)
    pages = [open_seat(open_page(None, viewport=each), table) for each in (SMALL_PHONE, DESK)]
    for page in pages:
        page.locator(".hand").wait_for()
        page.evaluate(WATCH_PLACES)
    most = 0
    while (view := table.view(0))["status"] == "playing":
        if view["to_act"] != [0]:
            table.get(f"?after={view['version']}&wait=5", 0)
            continue
        most = max(most, len(view["you"]["hand"]))
        for page in pages:
            page.locator(".state.turn").wait_for()
            expect(page.get_by_role("option")).to_have_count(len(view["you"]["hand"]))
            for tile in (".hand .fits-not", ".hand .fits"):
                if page.locator(tile).count():
                    page.locator(tile).first.click()
            if fitting(page).count():
                expect(page.locator("[data-state]")).to_have_text(re.compile("^Tap "))
                expect(page.locator("[data-said]")).to_have_count(0)
        table.make_legal_move()
    assert most > 7
    for page in pages:
        page.locator(".play.round_over").wait_for()
        assert len(page.evaluate("[...window.places]")) == 1


def test_every_tile_that_came_is_marked_and_told(http: httpx.Client, open_page: OpenPage) -> None:
    dealt = deal("draw", "0-0 0-1 0-2 0-3 0-4 1-1 1-2", "6-6 1-3 1-4 2-2 2-3 2-4 3-3", stock="3-4 4-4 5-6", hand=7)
    table = Table.create(http, "draw", 2, deals=[dealt], options={"hand": 7}, auto=True)
    page = open_seat(open_page(None), table)
    expect(page.get_by_role("option")).to_have_count(7)
    table.make_legal_move()
    expect(page.locator("[data-state]")).to_have_text(re.compile(r"^You drew 3 tiles\. Your turn\."))
    expect(page.locator(".hand .drawn")).to_have_count(3)
    heard = page.locator("#status p", has_text="You drew")
    expect(heard).to_have_text("You drew 3 tiles: three four, double four, five six.")


@pytest.mark.parametrize(("variant", "seed", "against"), [("block", "winner", 0), ("domino", "who won", 1)])
def test_the_count_tells_who_wins_and_whether_points_are_good(
    variant: str, seed: str, against: int, http: httpx.Client, open_page: OpenPage
) -> None:
    table = Table.create(http, variant, 2, seed=seed)
    while not round_over(table.view()):
        table.make_legal_move()
    winner = table.client.score(table)["rounds"][-1]["winner"]
    page = open_seat(open_page(None, viewport=SMALL_PHONE), table, 1 - winner)
    expect(page.locator("[data-state]")).to_have_text(re.compile(f"^P{winner} (goes out and )?wins round one"))
    expect(page.locator(".written")).to_have_count(1)
    expect(page.locator(".written.against")).to_have_count(against)
    expect(page.locator(".last-count .winner th")).to_have_text(f"P{winner}")
    page.get_by_role("group", name="Sound?").get_by_role("button", name="No").click()
    expect(page.get_by_role("group", name="Sound?")).to_have_count(0)


def test_one_tap_more_begins_no_second_game(open_page: OpenPage) -> None:
    page = open_page(None)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/views/table.js", hold)
    page.goto("/")
    begin = page.get_by_role("button", name=re.compile("Play now"))
    made: list[str] = []
    page.on("request", lambda each: made.append(each.url) if each.method == "POST" else None)
    with page.expect_response(lambda each: each.request.method == "POST"):
        begin.click()
    expect(begin).to_contain_text("Dealing")
    begin.click(force=True)
    for route in held:
        route.continue_()
    page.locator(".play.room").wait_for()
    assert len(made) == 1


HIDE = """() => {
  Object.defineProperty(document, "hidden", { value: true, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""

NOTIFICATIONS = """(() => {
  window.notified = [];
  window.Notification = class extends EventTarget {
    constructor(text) { super(); window.notified.push(text); }
    static async requestPermission() { return "granted"; }
  };
})()"""


def test_who_looks_elsewhere_is_called_to_the_turn(http: httpx.Client, open_page: OpenPage) -> None:
    table = Table.create(http, "block", 2, seed="called")
    page = open_page(None)
    page.add_init_script(NOTIFICATIONS)
    page.clock.install()
    page.goto("/#/settings")
    page.get_by_role("switch", name="Notify me when it is my turn").check()
    with page.expect_response(lambda answer: "/events" in answer.url):  # the stream has begun
        open_seat(page, table, 1 - table.to_move())
    page.evaluate(HIDE)
    with page.expect_event("requestfailed"), page.expect_response(f"**/games/{table.id}?*"):  # the stream, and a look
        page.clock.run_for(60_000)
    table.make_legal_move()
    assert not page.title().startswith("●")
    with page.expect_response(f"**/games/{table.id}?*"):
        page.clock.run_for(20_000)
    page.wait_for_function("document.title.startsWith('● Your turn')")
    page.wait_for_function("notified.length === 1")
