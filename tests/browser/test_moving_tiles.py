"""Tiles move and sound where somebody wants that: from the seat that laid them, and not at all with reduced motion."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import OpenPage
from tests.whole.table import Table, connect

pytestmark = pytest.mark.gate

STARTS = """() => {
  window.starts = [];
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (...how) {
    const motion = animate.apply(this, how);
    if (this.matches(".flying")) {
      motion.currentTime = 0;
      const { x, y, width, height } = this.getBoundingClientRect();
      window.starts.push([x + width / 2, y + height / 2]);
      motion.finish();
    }
    return motion;
  };
}"""
"""Keeps where each flight begins, and ends it at once."""

DEALT = """async () => {
  while (window.starts.length < 28) await new Promise(requestAnimationFrame);
}"""
"""Waits for so many flights; the policy of the page forbids that Playwright polls."""

PLATES = """(plates) => Object.fromEntries(plates.map((each) => {
  const { x, y, width, height } = each.getBoundingClientRect();
  return [each.dataset.seat, [x + width / 2, y + height / 2]];
}))"""


@pytest.fixture
def table(service_url: str) -> Iterator[Table]:
    with connect(service_url) as http:
        yield Table.create(http, "latin", 4, seed="flights")


def sit(page: Page, table: Table) -> None:
    """Sit on seat 0, from the deal on."""
    page.add_init_script(f"({STARTS})()")
    page.goto(f"/#/seat/{table.id}/{table.tokens[0]}")
    expect(page.locator(".hand [role=option]")).to_have_count(7)


def dealt(page: Page) -> None:
    """Wait until all tiles have been dealt, as flights."""
    page.evaluate(DEALT)
    page.evaluate("window.starts.splice(0)")
    expect(page.locator(".flying")).to_have_count(0)


def starts_of_moves(page: Page, table: Table) -> Iterator[tuple[int, list[Any]]]:
    """Let all seats move, and tell after each tile which seat laid it and where flights began."""
    laid = 0
    for _ in range(9):
        seat = table.to_move()
        move = table.moves(seat)[0]
        table.client.make_move(table, seat, move)
        if move["action"] != "play":
            continue
        laid += 1
        expect(page.locator(".cloth .tiles [data-tile]")).to_have_count(laid)
        expect(page.locator(".flying")).to_have_count(0)
        yield seat, page.evaluate("window.starts.splice(0)")


def test_a_tile_comes_from_the_seat_that_laid_it(table: Table, open_page: OpenPage) -> None:
    page = open_page(None, viewport=(1440, 900), motion="no-preference")
    seats = set()
    sit(page, table)
    dealt(page)
    for seat, starts in starts_of_moves(page, table):
        plates = page.locator(".player").evaluate_all(PLATES)
        assert len(starts) == 1
        nearest = min(plates, key=lambda each: math.dist(plates[each], starts[0]))
        below = page.locator(".hand").bounding_box()
        assert below is not None
        if seat == 0:
            assert starts[0][1] > below["y"], "from the hand"
        else:
            assert nearest == str(seat)
        seats.add(seat)
    assert seats == {0, 1, 2, 3}


def test_the_deal_is_dealt_and_with_reduced_motion_nothing_moves(table: Table, open_page: OpenPage) -> None:
    moving, still = open_page(None, motion="no-preference"), open_page(None, motion="reduce")
    sit(still, table)
    sit(moving, table)
    dealt(moving)
    assert [starts for _, starts in starts_of_moves(still, table) if starts] == []
    assert still.evaluate("document.getAnimations().length") == 0
