"""Plays on the page as people do: by what is shown or said there, and by one way of operating it.

Does not depend on the rules: on its turn a player lays the first tile that the page says fits, or else does the first
other thing that it offers.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as NoAnswer

from service.engine.tiles import parse_tile
from service.engine.variants import variants
from service.render.sentences.places import host_name
from service.texts import LANGUAGES
from tests.support.table import seat_to_move
from tests.whole.table import Table

MAX_MOVES: Final = 300
"""No match of a test in a browser has more; playing on fails there."""

POINTS: Final = 3
"""How often somebody points at a place that moves away before they reach it."""
POINTED_MS: Final = 8_000
"""After this somebody looks whether the place has moved."""

FITS: Final = re.compile(r", (fits|passt) (?!nicht)")
"""In the name of a tile of the hand that can be laid."""

_HAND: Final = "() => [...document.querySelectorAll('[role=option]')].map((each) => each.dataset.tile).join()"
"""The tiles of the hand that is shown."""

CENTRES: Final = """async () => {
  const centres = () => {
    const cloth = document.querySelector(".cloth").getBoundingClientRect();
    const all = [...document.querySelectorAll(".places .place")].map((each) => each.getBoundingClientRect());
    return all.map(({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 })).filter(({ x, y }) =>
      x > cloth.left + 24 && x < cloth.right - 24 && y > Math.max(0, cloth.top) + 24
      && y < Math.min(innerHeight, cloth.bottom) - 24 && document.elementFromPoint(x, y)?.matches(".cloth, .cloth *"));
  };
  let found = centres();
  for (let before; JSON.stringify(found) !== before; found = centres()) {
    before = JSON.stringify(found);
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
  }
  return found;
}"""
"""The middles of the places that are to be seen, not at an edge, in CSS pixels, once they move no more."""


def fitting(page: Page) -> Locator:
    """The tiles of the hand that the page says fit."""
    return page.get_by_role("option", name=FITS)


def offered(page: Page) -> Locator:
    """The buttons of moves without a tile."""
    return page.locator(".actions [data-action]:not([data-action=lay])")


@contextmanager
def hand_drawn_anew(page: Page) -> Iterator[None]:
    """Wait at the end of a ``with`` block until another hand is shown: the log may tell of a move before."""
    hand = page.evaluate(_HAND)
    yield
    page.wait_for_function(f"hand => ({_HAND})() !== hand", arg=hand)


def laying(page: Page) -> Locator:
    """The buttons that lay the chosen tile, one for each place."""
    return page.locator(".actions [data-place], .actions [data-action=lay]")


def command_field(page: Page) -> Locator:
    """The field for commands, which is there to be seen once somebody listens."""
    page.locator("details.listen").evaluate("(each) => (each.open = true)")
    return page.locator("#command")


def log(page: Page) -> Locator:
    """The entries of the log."""
    return page.get_by_role("log").locator("li")


def smallest_set(variant: str) -> dict[str, int]:
    """House rules with as few tiles as there are, where that is an option of the variant."""
    return {"set": 6} if any(option.key == "set" for option in variants()[variant].options) else {}


def told(text: str, tiles: Iterable[str]) -> list[str]:
    """Those of the tiles that a text tells: as ``3-5``, or in words of any language."""
    found = []
    for name in tiles:
        words = [host_name(parse_tile(name), language) for language in LANGUAGES]
        if re.search(rf"(?<![\w-])({'|'.join([name, *words])})(?![\w-])", text, re.IGNORECASE):
            found.append(name)
    return found


def html_of(page: Page) -> str:
    """The page without the numbers of its drawings, which may look like tiles."""
    return re.sub(r'\b(d|viewBox|transform)="[^"]*"', "", page.content())


def take_seats(page: Page, table: Table, *seats: int, takes_back: bool = False) -> None:
    """Play these seats on this device; then its table is shown. Moves are made at once, unless it ``takes_back``."""
    for seat in seats:
        page.goto("/#/settings")
        expect(page.locator(".play")).to_have_count(0)  # else it is still the table of the seat before
        if len(seats) > 1 and not takes_back:
            page.locator("[name=takeBack]").first.check()
        page.goto(f"/#/seat/{table.id}/{table.tokens[seat]}")
        expect(page.locator(".play.playing, .play.waiting, .play.round_over, .play.finished")).to_be_attached()


class Way(ABC):
    """One way of operating the page."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def move(self) -> None:
        """Make one move, and wait until the log tells of it."""
        before = log(self.page).count()
        tiles = fitting(self.page)
        tiles.or_(offered(self.page)).first.wait_for()
        if tiles.count():
            with hand_drawn_anew(self.page):
                self.lay(tiles.first)
        else:
            self.do(offered(self.page).first)
        expect(log(self.page).nth(before)).to_be_attached()

    @abstractmethod
    def lay(self, tile: Locator) -> None:
        """Lay this tile of the hand at one of its places."""

    @abstractmethod
    def do(self, button: Locator) -> None:
        """Make the move of this button."""


class Mouse(Way):
    """Clicks."""

    def lay(self, tile: Locator) -> None:
        self.press(tile)
        laying(self.page).first.wait_for(state="attached")
        seen = self.page.evaluate(CENTRES)
        if not seen:
            self.press_first_place()
            return
        before = log(self.page).count()
        question = self.page.locator("[data-said]")  # of a double that can be laid in two ways there
        self.point_until(seen[0], log(self.page).nth(before).or_(question))
        if question.count():
            self.press_first_place()

    def press_first_place(self) -> None:
        """By its button, which is to be seen once it has the focus."""
        button = laying(self.page).first
        button.focus()
        self.press(button)

    def point_until(self, place: dict[str, float], answer: Locator) -> None:
        """Point at a place until the page answers; again only where the table has moved from under the pointer."""
        for _ in range(POINTS):
            self.point(place["x"], place["y"])
            try:
                answer.wait_for(state="attached", timeout=POINTED_MS)
            except NoAnswer:
                seen = self.page.evaluate(CENTRES)
                if not seen or seen[0] == place:  # the point was met: the answer is late
                    break
                place = seen[0]
            else:
                return
        answer.wait_for(state="attached")

    def do(self, button: Locator) -> None:
        self.press(button)

    def press(self, target: Locator) -> None:
        target.click()

    def point(self, x: float, y: float) -> None:
        self.page.mouse.click(x, y)


class Touch(Mouse):
    """Taps."""

    def press(self, target: Locator) -> None:
        target.tap()

    def point(self, x: float, y: float) -> None:
        self.page.touchscreen.tap(x, y)


class Keyboard(Way):
    """Keys alone: arrows choose, Enter lays, the key on a button does what it says."""

    def lay(self, tile: Locator) -> None:
        name = tile.get_attribute("data-tile")
        chosen = self.page.get_by_role("option", selected=True)
        self.key("Home")
        for _ in range(self.page.get_by_role("option").count()):
            expect(chosen).to_be_focused()
            if chosen.get_attribute("data-tile") == name:
                break
            self.key("ArrowRight")
        expect(chosen).to_have_attribute("data-tile", name or "")
        if laying(self.page).count() > 1:
            self.key("1")
        self.key("Enter")

    def do(self, button: Locator) -> None:
        if self.page.evaluate("Boolean(document.activeElement?.matches('.actions button'))"):
            self.key("Enter")
        else:
            self.key(button.locator("kbd").inner_text())

    def key(self, key: str) -> None:
        assert self.page.evaluate("Boolean(document.activeElement?.closest('[data-table]'))"), "the focus is lost"
        self.page.keyboard.press(key.lower() if len(key) == 1 else key)


class Commands(Way):
    """The command field alone."""

    def lay(self, tile: Locator) -> None:
        self.command(f"{tile.get_attribute('data-tile')} 1")

    def do(self, button: Locator) -> None:
        self.command(button.get_attribute("data-action") or "")

    def command(self, line: str) -> None:
        field = command_field(self.page)
        field.fill(line)
        field.press("Enter")


def play_to_the_end(table: Table, seat: int, way: Way) -> int:
    """Play this seat on the page and all others over HTTP until the match is finished; the moves made on the page."""
    made = 0
    for _ in range(MAX_MOVES):
        view = table.view()
        if view["status"] == "finished":
            return made
        if seat in view["to_act"]:
            way.page.locator(".state.turn, [data-action=deal]").first.wait_for()
            way.move()
            table.get(f"?after={view['version']}&wait=5", seat)  # the page has sent the move, but not yet its answer
            made += 1
        else:
            mover = seat_to_move(view)
            table.client.make_move(table, mover, table.moves(mover)[0])
    raise AssertionError(f"no end after {MAX_MOVES} moves")
