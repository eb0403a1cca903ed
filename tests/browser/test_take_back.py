"""A slip is taken back where nobody else waits and nothing was revealed; the move is sent all the same.

The clock of the page stands still while a move is held back, so that nothing but what a test does sends it.
"""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import PHONE, OpenPage
from tests.browser.playing import fitting, laying, log, take_seats
from tests.browser.test_heard import KEEP_HEARD, heard
from tests.support.lanes import in_lane
from tests.support.table import Json
from tests.whole.table import Table

pytestmark = pytest.mark.gate

HELD_MS = 2000
SAME_TAP_MS = 500
"""For so long the page takes a tap for the one that laid the tile."""

NEVER, HERE, ALWAYS = range(3)
"""The choices of the setting in their order."""


def choose_where(page: Page, choice: int) -> None:
    """Whether moves can be taken back, in the settings."""
    page.goto("/#/settings")
    page.locator("[name=takeBack]").nth(choice).check()


def free_turn(table: Table, seat: int | None = None) -> int:
    """Play on until a seat, or this one, is to act on a table with tiles and can choose; the seat."""
    for _ in range(40):
        view = table.view()
        on_turn = next(iter(view["to_act"]))
        if view["players"][on_turn]["kind"] == "bot":
            table.get(f"?after={view['version']}&wait=5", 0)
        elif len(plays(table, on_turn)) > 2 and view["board"]["tiles"] and seat in (None, on_turn):
            return int(on_turn)
        else:
            table.make_legal_move()
    raise AssertionError("no free turn")


def plays(table: Table, seat: int) -> list[Json]:
    return [each for each in table.moves(seat) if each["action"] == "play"]


def against_computers(http: httpx.Client) -> Table:
    table = Table.create(http, "draw", [{"name": "Ada"}, {"bot": "greedy"}], seed="a slip", pace=0)
    free_turn(table)
    return table


def stop_the_clock(page: Page) -> None:
    """From now on time passes only by ``page.clock.run_for``."""
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 1)


def open_seat(page: Page, table: Table, *, choice: int | None) -> None:
    page.clock.install()
    if choice is not None:
        choose_where(page, choice)
    page.goto(f"/#/seat/{table.id}/{table.tokens[0]}")
    page.locator(".state.turn").wait_for()
    fitting(page).first.wait_for()


def lay(page: Page) -> str:
    """Lay the first tile that fits at its first place; the tile."""
    tile = fitting(page).first.get_attribute("data-tile")
    assert tile
    fitting(page).first.click()
    laying(page).first.focus()
    stop_the_clock(page)
    laying(page).first.click()
    expect(on_table(page, tile)).to_be_attached()
    return tile


def on_table(page: Page, tile: str) -> Locator:
    return page.locator(f".cloth .tiles [data-tile='{tile}']")


def in_hand(page: Page, tile: str) -> Locator:
    return page.locator(f"[role=option][data-tile='{tile}']")


def take_back(page: Page) -> Locator:
    return page.get_by_role("button", name="Take back")


def is_laid(table: Table, tile: str) -> bool:
    return tile in [each["tile"] for each in table.view()["board"]["tiles"]]


def made(page: Page, table: Table, tile: str, before: Json) -> None:
    """Time goes on, and the move has come."""
    table.get(f"?after={before['version']}&wait=5", 0)
    page.clock.resume()
    assert is_laid(table, tile)
    expect(take_back(page)).to_have_count(0)
    expect(on_table(page, tile)).to_be_attached()
    expect(in_hand(page, tile)).to_have_count(0)


def test_on_one_device_the_hand_is_hidden_while_a_move_can_be_taken_back(
    http: httpx.Client, open_page: OpenPage
) -> None:
    table = Table.create(http, "draw", 2, seed="a slip")
    seat = free_turn(table)
    before = table.view()
    page = open_page(None, viewport=PHONE)
    page.clock.install()
    take_seats(page, table, *table.tokens, takes_back=True)
    page.clock.run_for(SAME_TAP_MS)
    page.locator(f"[data-show='{seat}']").click()
    fitting(page).first.wait_for()
    tile = lay(page)
    expect(page.get_by_role("option")).to_have_count(0)
    page.clock.run_for(SAME_TAP_MS)
    take_back(page).click()
    expect(in_hand(page, tile)).to_be_visible()
    expect(on_table(page, tile)).to_have_count(0)
    page.clock.run_for(2 * HELD_MS)
    assert table.view()["version"] == before["version"]
    page.clock.resume()
    tile = lay(page)
    page.clock.run_for(SAME_TAP_MS)
    page.get_by_role("button", name="Go on").click()
    made(page, table, tile, before)
    page.locator(".curtain [data-show]").wait_for()


def test_a_slip_against_computers_is_taken_back_by_its_key_and_told_in_order(
    http: httpx.Client, open_page: OpenPage
) -> None:
    table = against_computers(http)
    before = table.view()
    page = open_page(None)
    page.add_init_script(KEEP_HEARD)
    open_seat(page, table, choice=ALWAYS)
    tiles = page.get_by_role("option").count()
    tile = lay(page)
    expect(page.get_by_role("option")).to_have_count(tiles - 1)
    expect(take_back(page)).to_be_visible()
    expect(page.locator(".state")).not_to_contain_text("Your turn")
    page.clock.run_for(SAME_TAP_MS)
    page.keyboard.press("z")
    expect(in_hand(page, tile)).to_be_visible()
    page.clock.run_for(2 * HELD_MS)
    assert table.view()["version"] == before["version"]
    page.clock.resume()
    tile = lay(page)
    page.clock.run_for(HELD_MS)
    made(page, table, tile, before)
    expect(log(page).filter(has_text="You played").last).to_be_attached()
    page.wait_for_function("() => heard.some((each) => each.startsWith('You played'))")
    lines = heard(page)
    slip, undone, held, played = (
        next(at for at, line in enumerate(lines) if at >= start and text in line)
        for start, text in (
            (0, "Z takes it back"),
            (0, "Taken back. Your turn."),
            (2, "Z takes it back"),
            (0, "You pl"),
        )
    )
    assert slip < undone < held < played
    assert not [line for line in lines[held:played] if "Your turn" in line]


@pytest.mark.parametrize(
    "by",
    in_lane(
        ["the key again", "a tap elsewhere", "leaving", "hiding the page"], gate=["a tap elsewhere", "hiding the page"]
    ),
)
def test_whatever_else_is_done_sends_the_move(by: str, http: httpx.Client, open_page: OpenPage) -> None:
    table = against_computers(http)
    before = table.view()
    page = open_page(None)
    open_seat(page, table, choice=ALWAYS)
    tile = lay(page)
    page.clock.run_for(SAME_TAP_MS)
    if by == "the key again":
        page.locator("[data-table] h1").focus()
        page.keyboard.press("Enter")
    elif by == "a tap elsewhere":
        page.locator(".cloth").click(position={"x": 5, "y": 5})
    elif by == "leaving":
        page.goto("/#/settings")
    else:
        page.evaluate("""() => {
          Object.defineProperty(document, "hidden", { value: true, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
          delete document.hidden;
        }""")
    table.get(f"?after={before['version']}&wait=5", 0)
    assert is_laid(table, tile)


def test_after_a_reload_the_move_was_not_made(http: httpx.Client, open_page: OpenPage) -> None:
    table = against_computers(http)
    before = table.view()
    page = open_page(None)
    open_seat(page, table, choice=ALWAYS)
    tile = lay(page)
    page.clock.resume()
    page.reload()
    expect(in_hand(page, tile)).to_be_visible()
    expect(page.locator(".state.turn")).to_be_visible()
    assert table.view()["version"] == before["version"]


def with_a_person_elsewhere(http: httpx.Client) -> Table:
    table = Table.create(http, "draw", [{"name": "Ada"}, {"name": "Bo"}], seed="a slip")
    free_turn(table, 0)
    return table


def with_little_time(http: httpx.Client) -> Table:
    seats = [{"name": "Ada"}, {"bot": "greedy"}]
    table = Table.create(http, "draw", seats, seed="a slip", pace=0, clock={"turn": 6})
    free_turn(table)
    return table


def with_one_move(http: httpx.Client) -> Table:
    table = Table.create(http, "block", [{"name": "Ada"}, {"bot": "greedy"}], seed="a forced move", pace=0)
    for _ in range(40):
        view = table.view()
        if view["to_act"] == [0] and len(plays(table, 0)) == 1:
            return table
        if view["to_act"] == [0]:
            table.make_legal_move()
        else:
            table.get(f"?after={view['version']}&wait=5", 0)
    raise AssertionError("no forced move")


@pytest.mark.parametrize(
    ("game", "choice"),
    [(against_computers, None), (against_computers, NEVER), (with_a_person_elsewhere, ALWAYS)]
    + [(with_little_time, ALWAYS), (with_one_move, ALWAYS)],
    ids=["by default", "never", "a person elsewhere", "little time", "a forced move"],
)
def test_a_move_is_sent_at_once(game: object, choice: int | None, http: httpx.Client, open_page: OpenPage) -> None:
    assert callable(game)
    table: Table = game(http)
    before = table.view()
    page = open_page(None)
    open_seat(page, table, choice=choice)
    tile = lay(page)
    table.get(f"?after={before['version']}&wait=5", 0)
    assert is_laid(table, tile)
    expect(take_back(page)).to_have_count(0)
