"""Whole matches through the page: every game, each by one way of operating the page alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import cycle
from typing import NamedTuple

import httpx
import pytest
from playwright.sync_api import Page, expect

from service.engine.variants import variants
from tests.api.saved_games import shortest
from tests.browser.pages import DESK, PHONE, OpenPage
from tests.browser.playing import (
    Commands,
    Keyboard,
    Mouse,
    Touch,
    Way,
    fitting,
    html_of,
    log,
    play_to_the_end,
    smallest_set,
    take_seats,
    told,
)
from tests.support.table import round_over
from tests.whole.table import Table, connect


class Device(NamedTuple):
    """How somebody plays."""

    way: type[Way]
    locale: str
    viewport: tuple[int, int] = DESK
    touch: bool = False


DEVICES = (
    Device(Mouse, "en-GB"),
    Device(Touch, "en-GB", PHONE, touch=True),
    Device(Keyboard, "en-GB"),
    Device(Commands, "de-DE"),
)


LOWEST_TARGET = 10
"""Below that a match may be over after its first tile."""


@pytest.fixture
def http(service_url: str) -> Iterator[httpx.Client]:
    with connect(service_url) as client:
        yield client


@pytest.mark.parametrize(("variant", "device"), list(zip(variants(), cycle(DEVICES), strict=False)))
def test_a_match_is_played_to_its_end(variant: str, device: Device, http: httpx.Client, open_page: OpenPage) -> None:
    rules = shortest(variant) | smallest_set(variant)
    if "target" in rules:
        rules["target"] = max(rules["target"], LOWEST_TARGET)
    table = Table.create(http, variant, seed="a match on the page", rules=rules)
    page = open_page(None, locale=device.locale, viewport=device.viewport, touch=device.touch)
    page.goto(f"/#/seat/{table.id}/{table.tokens[0]}")
    expect(page.get_by_role("log")).to_be_attached()
    made = play_to_the_end(table, 0, device.way(page))
    assert made >= 3
    won = re.compile("gewinn" if device.locale == "de-DE" else "wins? the match")
    expect(page.locator("[data-state]")).to_have_text(won)
    expect(log(page).last).to_contain_text(won)
    assert not page.title().startswith("●")
    assert fitting(page).count() == 0
    page.locator(".actions a[href^='#/score/']").click()
    expect(page).to_have_url(re.compile("#/score/"))
    view = table.view()
    for seat in view["winners"]:
        expect(page.locator("main .winner").first).to_contain_text(view["players"][seat]["name"])


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
    table = Table.create(http, variant, seed="one device", rules={"rounds": 2})
    page = open_page(None, viewport=PHONE, touch=True)
    take_seats(page, table, *table.tokens)
    page.evaluate(WATCH_HANDS)
    for _ in range(TURNS):
        take_turn(page, table)
    table.client.play_until(table, round_over)
    expect(page.locator(".play.round_over")).to_be_attached()
    expect(page.get_by_role("option")).to_have_count(0)
    page.evaluate("hands.splice(0)")
    Touch(page).move()  # deals
    take_turn(page, table)


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
    seen = {tile for hand in page.evaluate("hands.splice(0)") for tile in hand}
    assert seen <= {*hands[seat], *table.view(seat)["you"]["hand"]}, "the hand of somebody else"


def test_a_rematch_brings_all_players_to_the_same_new_table(http: httpx.Client, open_page: OpenPage) -> None:
    rules = shortest("domino") | smallest_set("domino")
    table = Table.create(http, "domino", 2, seed="a match on the page", rules=rules)
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
