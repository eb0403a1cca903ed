"""Several seats of one device: a hand is shown to its player only."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import Page, expect

from service.engine.variants import variants
from tests.api.saved_games import shortest
from tests.browser.pages import PHONE, OpenPage
from tests.browser.playing import Touch, html_of, take_seats, told
from tests.support.table import round_over
from tests.whole.table import Table

pytestmark = pytest.mark.gate


WATCH_HANDS = """() => {
  window.hands = [];
  const note = () => hands.push([...document.querySelectorAll("[role=option]")].map((each) => each.dataset.tile));
  new MutationObserver(note).observe(document.body, { childList: true, subtree: true, attributes: true });
}"""
"""Keeps the tiles of the hand after each change of the page, also of what is never painted."""

AFTER_THE_CURTAIN = "new Promise((resolve) => setTimeout(resolve, 450))"
"""For so long a new curtain takes no tap, which may be meant for the hand before."""


TURNS = 8


def test_several_seats_of_one_device_are_never_shown_two_hands(http: httpx.Client, open_page: OpenPage) -> None:
    variant = next(key for key, each in variants().items() if "rounds" in shortest(key) and each.players.high < 9)
    table = Table.create(http, variant, seed="one device", options={"rounds": 2})
    page = open_page(None, viewport=PHONE, touch=True)
    take_seats(page, table, *table.tokens)
    page.evaluate(WATCH_HANDS)
    for _ in range(TURNS):
        take_turn(page, table)
    table.client.play_until(table, round_over)
    expect(page.locator(".play.round_over")).to_be_attached()
    expect(page.get_by_role("option")).to_have_count(0)
    page.evaluate("hands.splice(0)")
    view = table.view()
    Touch(page).move()  # deals
    table.get(f"?after={view['version']}&wait=5")
    take_turn(page, table)


def test_what_a_player_was_told_is_not_left_behind_the_curtain(http: httpx.Client, open_page: OpenPage) -> None:
    table = Table.create(http, "domino", seed="one device")
    page = open_page(None)
    take_seats(page, table, *table.tokens)
    (seat,) = table.view()["to_act"]
    name = table.view()["players"][seat]["name"]
    hand = table.view(seat)["you"]["hand"]
    page.evaluate(AFTER_THE_CURTAIN)
    page.get_by_role("button", name=f"Show {name}’s hand").click()
    page.get_by_role("option").first.wait_for()
    page.keyboard.press("h")
    expect(page.get_by_role("status").filter(has_text=f"{len(hand)} tiles")).to_be_attached()
    page.get_by_role("button", name="Hide this hand").click()
    page.get_by_role("button", name=f"Show {name}’s hand").wait_for()
    assert told(html_of(page), hand) == []


def take_turn(page: Page, table: Table) -> None:
    """Raise the curtain, if it is down, and make a move; nothing of another hand is ever in the page."""
    view = table.view()
    (seat,) = view["to_act"]
    name = view["players"][seat]["name"]
    hands = {each: table.view(each)["you"]["hand"] for each in table.tokens}
    heading = page.get_by_role("heading", name=f"{name}’s hand")
    show = page.get_by_role("button", name=f"Show {name}’s hand")
    heading.or_(show).wait_for()
    if show.is_visible():
        expect(page.get_by_role("option")).to_have_count(0)
        if view["round"] == 1:  # later the log also tells of the same tiles in the round before
            hidden = [tile for hand in hands.values() for tile in hand]
            assert told(html_of(page), hidden) == [], "behind the curtain"
        page.evaluate(AFTER_THE_CURTAIN)
        show.tap()
    heading.wait_for()
    Touch(page).move()
    table.get(f"?after={view['version']}&wait=5", seat)  # the page has sent the move, but not yet its answer
    seen = {tile for hand in page.evaluate("hands.splice(0)") for tile in hand}
    assert seen <= {*hands[seat], *table.view(seat)["you"]["hand"]}, "the hand of somebody else"
