"""Whole matches through the page: every game, each by one way of operating the page alone."""

from __future__ import annotations

import re
from itertools import cycle
from typing import NamedTuple

import httpx
import pytest
from playwright.sync_api import expect

from service.engine.variants import variants
from tests.api.saved_games import shortest
from tests.browser.pages import DESK, PHONE, OpenPage
from tests.browser.playing import Commands, Keyboard, Mouse, Touch, Way, fitting, log, play_to_the_end, smallest_set
from tests.support.lanes import in_lane
from tests.whole.table import Table

pytestmark = pytest.mark.quick_and_gate


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


MATCHES = list(zip(variants(), cycle(DEVICES), strict=False))


@pytest.mark.parametrize(("variant", "device"), in_lane(MATCHES, quick=MATCHES[:1], gate=MATCHES[1:3]))
def test_a_match_is_played_to_its_end(variant: str, device: Device, http: httpx.Client, open_page: OpenPage) -> None:
    rules = shortest(variant) | smallest_set(variant)
    if "target" in rules:
        rules["target"] = max(rules["target"], LOWEST_TARGET)
    table = Table.create(http, variant, seed="a match on the page", options=rules)
    page = open_page(None, locale=device.locale, viewport=device.viewport, touch=device.touch)
    page.goto(f"/#/seat/{table.id}/{table.tokens[0]}")
    expect(page.get_by_role("log")).to_be_attached()
    assert play_to_the_end(table, 0, device.way(page)) >= 3
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
