"""What is tapped at the table is large enough for fingers: tiles of the hand and moves 44 pixels, the rest 24."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import Locator, expect

from service.engine.variants import variants
from tests.browser.pages import NARROW, PHONE, OpenPage
from tests.browser.playing import CENTRES, laying, take_seats
from tests.whole.table import Table

pytestmark = pytest.mark.nightly

FINGER = 44.0
SMALLEST = 24.0


def smaller(found: Locator, least: float) -> list[str]:
    """The elements that are narrower or lower than so many CSS pixels, half a pixel of rounding apart."""
    assert found.count()
    boxes = [(each.bounding_box(), each) for each in found.all()]
    return [
        f"{each.text_content()!r}: {box}"
        for box, each in boxes
        if box and min(box["width"], box["height"]) < least - 0.5
    ]


@pytest.mark.parametrize("viewport", [PHONE, NARROW])
def test_what_is_tapped_is_large_enough(viewport: tuple[int, int], http: httpx.Client, open_page: OpenPage) -> None:
    page = open_page(None, viewport=viewport, touch=True)
    tapped = 0
    for variant in variants():
        table = Table.create(http, variant, seed="for fingers")
        for _ in range(9):
            table.make_legal_move()
        while not [move for move in table.view(table.to_move())["legal_moves"] if move["action"] == "play"]:
            table.make_legal_move()
        take_seats(page, table, table.to_move())
        tiles = page.locator("[role=option]")
        expect(tiles.first).to_be_visible()
        assert smaller(tiles, FINGER) == [], variant
        page.locator("[role=option].fits").first.tap()
        expect(page.locator(".places .place").first).to_be_attached()
        for button in laying(page).all():
            button.focus()  # only then it is to be seen
            assert smaller(button, FINGER) == [], variant
        page.locator("[role=option].fits").first.focus()
        others = "a:visible, button:visible:not([data-action=lay]), summary:visible"
        assert smaller(page.locator(others), SMALLEST) == [], variant
        # A place may be drawn smaller than it is.
        middles: list[dict[str, float]] = page.evaluate(CENTRES)
        laid = len(table.view()["board"]["tiles"])
        for middle in middles[:1]:
            page.touchscreen.tap(middle["x"] + SMALLEST / 2 - 1, middle["y"] + SMALLEST / 2 - 1)
            ways = page.locator(".asked li:not(.other) button")  # of a tile that may lie in several ways there
            page.locator("[data-said]").or_(page.locator(".cloth .tiles [data-tile]").nth(laid)).first.wait_for()
            if ways.count():
                ways.first.tap()
            expect(page.locator(".cloth .tiles [data-tile]")).to_have_count(laid + 1)
            tapped += 1
    assert tapped >= 3
