"""What one device plays, another one sees and hears; and what the network or the service does meanwhile, is mended."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.api.saved_games import shortest
from tests.browser.pages import LONG_MS, ExpectConsole, OpenPage
from tests.browser.playing import Keyboard, fitting, log, offered, smallest_set
from tests.support.processes import free_ports
from tests.support.serving import ALONE, Service
from tests.whole.table import Table, connect

pytestmark = pytest.mark.gate

SECONDS = 10
"""By when the other device has to know of a move, on a busy machine; it takes some hundredths of a second."""

WHEN = """() => {
  window.untouched = true;
  window.heard = {};
  window.seen = {};
  const note = () => {
    const now = Date.now();
    for (const each of document.querySelectorAll(".cloth .tiles [data-tile]")) seen[each.dataset.tile] ??= now;
    for (const each of document.querySelectorAll("#status p, #alert")) heard[each.textContent] ??= now;
  };
  note();
  new MutationObserver(note).observe(document.body, { childList: true, subtree: true, characterData: true });
  addEventListener("keydown", () => (window.pressed = Date.now()), true);
}"""
"""Keeps when the page first showed a tile and first said a text, and when a key was pressed, in milliseconds."""

MOVES = 6


@pytest.fixture
def own_service(tmp_path: Path) -> Iterator[Service]:
    """A service of this test, which comes back at the same port after a restart."""
    with Service(tmp_path, PORT=str(free_ports(1)[0]), **ALONE) as running:
        yield running


def sit_down(open_page: OpenPage, table: Table, seat: int, **more: Any) -> Page:
    """The table on a new device, with what it shows and says being kept."""
    page = open_page(f"/#/seat/{table.id}/{table.tokens[seat]}", **more)
    expect(page.locator(".play.playing")).to_be_attached()
    page.evaluate(WHEN)
    return page


def untouched(page: Page) -> bool:
    """Whether the page was not loaded again since somebody sat down."""
    return bool(page.evaluate("window.untouched === true"))


def count_of_plays(table: Table, tile: str) -> int:
    """How often the tile was laid, by the events of the game."""
    events = table.http.get(f"{table.path}/events").raise_for_status().json()["events"]
    return sum(1 for event in events if event["type"] == "played" and event["data"]["tile"] == tile)


def lay_any(page: Page) -> str:
    """Lay a tile that fits by keyboard, and do not wait for what comes of it; the tile."""
    tile = fitting(page).first.get_attribute("data-tile")
    assert tile
    Keyboard(page).lay(fitting(page).first)
    return tile


def to_move_with_a_tile(table: Table) -> int:
    """Play on, if need be, until the seat to move has a tile that fits; the seat."""
    for _ in range(30):
        seat = table.to_move()
        if table.moves(seat)[0]["action"] == "play":
            return seat
        table.make_legal_move()
    raise AssertionError("nobody can lay a tile")


def test_what_one_plays_the_other_sees_and_hears(http: httpx.Client, open_page: OpenPage, record_property: Any) -> None:
    table = Table.create(http, "domino", 2, seed="two devices")
    pages = [sit_down(open_page, table, seat) for seat in (0, 1)]
    waits = []
    for _ in range(MOVES):
        seat = table.to_move()
        mover, other = pages[seat], pages[1 - seat]
        mover.locator(".state.turn").wait_for()
        tiles = mover.get_by_role("option", name=re.compile(", fits "))
        if not tiles.count():
            Keyboard(mover).do(offered(mover).first)
            expect(mover.locator(".actions")).to_be_attached()
            table.http.get(table.path, params={"after": table.view()["version"], "wait": 1})
            continue
        tile = lay_any(mover)
        expect(other.locator(f".cloth .tiles [data-tile='{tile}']")).to_be_attached()
        expect(log(other).last).to_contain_text(re.compile(r"^P\d (played|opened)"))
        pressed = mover.evaluate("pressed")
        said = log(other).filter(has_text=re.compile(r"^P\d (played|opened)")).last.inner_text()
        waits += [other.evaluate(f"seen['{tile}']") - pressed, other.evaluate("(text) => heard[text]", said) - pressed]
        expect(other.locator("#status p").last).to_contain_text("Your turn.")
    assert len(waits) >= MOVES
    record_property("milliseconds until the other device sees or hears a move, longest", max(waits))
    assert max(waits) < 1000 * SECONDS
    assert all(untouched(page) for page in pages)


def test_a_move_that_is_made_offline_or_whose_answer_is_lost_is_made_once(
    http: httpx.Client, open_page: OpenPage, expect_console: ExpectConsole
) -> None:
    expect_console("ERR_INTERNET_DISCONNECTED")
    expect_console("ERR_FAILED")
    table = Table.create(http, "domino", 2, seed="an outage")
    seat = to_move_with_a_tile(table)
    page = sit_down(open_page, table, seat)
    fitting(page).first.wait_for()  # the hand is loaded after whose turn it is
    page.context.set_offline(True)
    tile = lay_any(page)
    banner = page.get_by_text("No connection. Trying again")
    expect(banner).to_be_visible()
    assert count_of_plays(table, tile) == 0
    page.context.set_offline(False)
    expect(page.locator(f".cloth .tiles [data-tile='{tile}']")).to_be_attached()
    expect(banner).to_have_count(0)
    assert count_of_plays(table, tile) == 1

    for _ in range(30):
        if to_move_with_a_tile(table) == seat:
            break
        table.make_legal_move()
    page.locator(".state.turn").wait_for()
    expect(fitting(page).first).to_be_visible()
    keys = []

    def lose_the_first_answer(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) == 1:
            route.fetch()
            route.abort()
        else:
            route.continue_()

    page.route("**/moves", lose_the_first_answer)
    tile = lay_any(page)
    expect(page.locator(f".cloth .tiles [data-tile='{tile}']")).to_be_attached()
    expect(banner).to_have_count(0)
    expect(page.locator(".actions button:disabled")).to_have_count(0)
    assert len(keys) >= 2, "the answer was not lost"
    assert len(set(keys)) == 1
    assert count_of_plays(table, tile) == 1
    assert untouched(page)


def test_the_page_survives_its_worker_and_a_restart_of_the_service(
    own_service: Service, open_page: OpenPage, expect_console: ExpectConsole
) -> None:
    expect_console("ERR_|status of 503")
    with connect(own_service.url) as http:
        table = Table.create(http, "domino", 2, seed="a restart")
        seat = to_move_with_a_tile(table)
        player = sit_down(open_page, table, seat, url=own_service.url)
        watcher = open_page(f"/#/watch/{table.id}", url=own_service.url)
        expect(watcher.locator(".play.playing")).to_be_attached()
        watcher.evaluate(WHEN)

        for worker in own_service.workers():
            os.kill(worker, signal.SIGKILL)
        tile = lay_any(player)
        for page in (player, watcher):
            expect(page.locator(f".cloth .tiles [data-tile='{tile}']")).to_be_attached(timeout=LONG_MS)
            expect(page.get_by_text("No connection. Trying again")).to_have_count(0, timeout=LONG_MS)

    own_service.stop()
    expect(watcher.get_by_text("No connection. Trying again")).to_be_visible(timeout=LONG_MS)
    own_service.start()
    with connect(own_service.url) as http:
        table.http = http
        assert count_of_plays(table, tile) == 1
        assert table.make_legal_move()["version"] > 0
        for page in (player, watcher):
            expect(page.get_by_text("No connection. Trying again")).to_have_count(0, timeout=LONG_MS)
            expect(page.locator(".cloth .tiles [data-tile]")).to_have_count(len(table.view()["board"]["tiles"]))
            expect(log(page)).to_have_count(log_length(table))
            assert untouched(page)


def log_length(table: Table) -> int:
    """How many events of the game have a sentence."""
    events = table.http.get(f"{table.path}/events", params={"text": "true"}).raise_for_status().json()["events"]
    return sum(1 for event in events if event.get("text"))


def test_a_rematch_brings_all_players_to_the_same_new_table(http: httpx.Client, open_page: OpenPage) -> None:
    rules = shortest("domino") | smallest_set("domino")
    table = Table.create(http, "domino", 2, seed="a match on the page", options=rules)
    for _ in table.play(1):
        pass
    addresses = []
    for seat, token in table.tokens.items():
        page = open_page(None)
        page.goto(f"/#/seat/{table.id}/{token}")
        page.locator("[data-rematch]").click()
        expect(page.locator(".hand [role=option]").first).to_be_visible()
        expect(page.locator("[data-rematch]")).to_have_count(0)
        expect(page).not_to_have_url(re.compile(table.id))
        addresses.append(page.url)
        assert table.view()["players"][seat]["name"] in page.locator(".players").inner_text()
    assert len(set(addresses)) == 1
    watching = open_page(None)
    watching.goto(f"/#/g/{table.id}")
    expect(watching.locator(".actions a[href^='#/replay/']")).to_be_visible()
    expect(watching.locator("[data-rematch]")).to_have_count(0)
