"""The table as a place to sit at: the cloth, the seats around it, and that no tile is ever cut off."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from service.engine.variants import variants
from tests.browser.pages import DESK, PHONE, TIMEOUT_MS, OpenPage
from tests.browser.playing import MAX_MOVES
from tests.support.lanes import in_lane
from tests.support.table import round_over
from tests.whole.table import Table

pytestmark = pytest.mark.gate

SMALL_PHONE = (360, 740)
LYING = (740, 360)
TABLET = (820, 1180)
UPRIGHT_TABLET = (768, 1024)
WIDE_DESK = (1440, 900)

CLOTH = 0.6
"""The least share of a phone's screen."""

NAMES = ("Ada", "Bo", "Clementine", "Dan")

SEEN = """() => {
  const box = (each) => each.getBoundingClientRect();
  const page = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  const face = (each) => box(each.querySelector(".face, .back"));
  const isClipped = (each) => each.scrollWidth > each.clientWidth + 1 || each.scrollHeight > each.clientHeight + 2;
  const cloth = box(document.querySelector(".picture"));
  const within = ({ x, y, width, height }, around) =>
    x >= around.left - 1 && x + width <= around.right + 1 && y >= around.top - 1 && y + height <= around.bottom + 1;
  const tiles = [...document.querySelectorAll(".cloth .tiles > [data-tile]")];
  const plates = [...document.querySelectorAll(".player")];
  return {
    share: (cloth.width * cloth.height) / (innerWidth * innerHeight),
    tiles: tiles.length,
    outside: tiles.filter((each) => !within(face(each), cloth)).map((each) => each.dataset.tile),
    digits: document.querySelectorAll(".cloth .digit").length,
    highest: Math.min(...tiles.map((each) => box(each).top)),
    plates: Object.fromEntries(plates.map((each) =>
      [each.dataset.seat, { bottom: box(each).bottom, inside: within(box(each), page) }])),
    clipped: [...document.querySelectorAll(".player .who")].filter(isClipped).map((each) => each.textContent),
    wide: document.documentElement.scrollWidth > innerWidth,
  };
}"""


def sit(page: Page, table: Table, seat: int = 0) -> None:
    page.goto("/#/")  # so that nothing of another table is there any more
    expect(page.locator(".room")).to_have_count(0)
    page.goto(f"/#/seat/{table.id}/{table.tokens[seat]}")
    expect(page.locator(".play.room")).to_be_attached()


def seen(page: Page, table: Table) -> dict[str, Any]:
    """What is to be seen once the page shows all tiles that lie."""
    expect(page.locator(".picture")).to_be_attached()
    expect(page.locator(".cloth .tiles > [data-tile]")).to_have_count(len(table.view()["board"]["tiles"]))
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    found: dict[str, Any] = page.evaluate(SEEN)
    return found


def latin(http: httpx.Client, tiles: int) -> Table:
    """A game for four in two teams in which so many tiles lie."""
    table = Table.create(http, "latin", [{"name": name} for name in NAMES], seed="places")
    while len(table.view()["board"]["tiles"]) < tiles:
        table.make_legal_move()
    return table


def test_on_a_phone_the_cloth_fills_the_screen_and_the_partner_sits_opposite(
    http: httpx.Client, open_page: OpenPage
) -> None:
    table = latin(http, 20)
    page = open_page(None, viewport=SMALL_PHONE, touch=True)
    sit(page, table)
    found = seen(page, table)
    assert found["share"] >= CLOTH
    assert found["digits"] == 0, "pips can be seen"
    assert found["plates"]["2"]["bottom"] <= found["highest"], "the partner is above all tiles"
    assert found["clipped"] == []
    assert all(plate["inside"] for plate in found["plates"].values())
    assert not found["wide"]
    expect(page.locator(".player.partner")).to_contain_text("Clementine partner")


def test_face_up_or_face_down_is_asked_in_words(http: httpx.Client, open_page: OpenPage) -> None:
    table = Table.create(http, "homo-homini-lupus", 4, seed="places")
    while not (down := [each for each in table.moves(table.to_move()) if each.get("face_down")]):
        table.make_legal_move()
    page = open_page(None, viewport=SMALL_PHONE, touch=True)
    sit(page, table, table.to_move())
    page.locator(f"[role=option][data-tile='{down[0]['tile']}']").tap()
    ways = page.locator(".places li:not(.other) button")
    expect(ways).to_have_text([re.compile("Face up$"), re.compile("Face down: closes the arm$")])
    assert all(box["height"] >= 44 and box["width"] >= 44 for each in ways.all() if (box := each.bounding_box()))
    before = table.view()["version"]
    page.locator(".places .outline").first.tap(force=True)
    expect(page.locator("[data-said]")).to_have_text(re.compile(r"1: .*face up; 2: .*face down: closes the arm\.$"))
    assert table.view()["version"] == before
    ways.last.tap()
    expect(page.locator(".cloth .tiles .back")).to_be_attached()


def test_the_first_tile_that_fits_is_in_sight_though_the_hand_is_loaded_last(
    http: httpx.Client, open_page: OpenPage
) -> None:
    table = Table.create(http, "fido", 3, seed="places", options={"set": 12})
    page = open_page(None, viewport=PHONE, touch=True)
    held: list[Route] = []
    page.route("**/table/play.js", lambda route: held.append(route))  # noqa: PLW0108 # Playwright asks for its parameters
    sit(page, table, table.to_move())
    expect(page.locator(".log li")).to_have_count(2)
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    held.pop().continue_()
    expect(page.locator(".hand .fits").first).to_be_in_viewport(ratio=1)


def test_a_phone_that_is_turned_gets_the_table_laid_out_anew(http: httpx.Client, open_page: OpenPage) -> None:
    table = latin(http, 20)
    page = open_page(None, viewport=SMALL_PHONE)
    sit(page, table)
    assert seen(page, table)["digits"] == 0
    with page.expect_response(lambda answer: "/board.json?" in answer.url and "from=" not in answer.url):
        page.set_viewport_size({"width": LYING[0], "height": LYING[1]})
    found = seen(page, table)
    assert found["outside"] == []
    assert found["digits"] == 0


@pytest.mark.parametrize("viewport", in_lane([SMALL_PHONE, LYING, TABLET, WIDE_DESK], gate=[SMALL_PHONE]))
def test_every_game_has_its_places_on_every_screen(
    viewport: tuple[int, int], http: httpx.Client, open_page: OpenPage
) -> None:
    page = open_page(None, viewport=viewport)
    for variant, recipe in variants().items():
        players = [{"name": f"{name} {at}"} for at, name in zip(range(recipe.players.high), NAMES * 4, strict=False)]
        rules = {"set": 12} if variant == "domino" else {}  # the only game whose usual set is too small for so many
        table = Table.create(http, variant, players, seed="places", options=rules)
        sit(page, table)
        found = seen(page, table)
        assert len(found["plates"]) == len(players), variant
        assert found["clipped"] == [], variant
        assert not found["wide"], variant
        assert all(plate["inside"] for plate in found["plates"].values()), variant
        if viewport == SMALL_PHONE:
            assert found["share"] >= CLOTH, variant


SIZES = (SMALL_PHONE, UPRIGHT_TABLET, DESK)
TURNED = {SMALL_PHONE: LYING, UPRIGHT_TABLET: UPRIGHT_TABLET[::-1], DESK: SMALL_PHONE}
"""What a window is turned or made to at the count."""

LOOK = f"""([round, tiles]) => void (window.look = (async () => {{
  const frame = () => new Promise(requestAnimationFrame);
  const isShown = () => document.querySelectorAll(".cloth .tiles > [data-tile]").length === tiles
    && document.querySelector(".play .facts")?.textContent.includes(`Round ${{round}}`);
  for (const end = Date.now() + {TIMEOUT_MS}; !isShown() && Date.now() < end;) await frame();
  await frame();
  await frame();
  return ({SEEN})();
}})())"""
"""Begins to wait until all tiles of the round are shown; ``look`` becomes what is to be seen then."""


@pytest.mark.parametrize("variant", in_lane(list(variants()), gate=["menschenwolf"]))
def test_no_tile_is_cut_off_after_any_move_at_the_count_or_when_the_window_changes(
    variant: str, http: httpx.Client, open_page: OpenPage
) -> None:
    table = Table.create(http, variant, seed="never cut off")
    pages = {size: open_page(None, viewport=size) for size in SIZES}
    for page in pages.values():
        sit(page, table)
    for _ in range(MAX_MOVES):
        view = table.view()
        tiles = len(view["board"]["tiles"])
        for page in pages.values():
            page.evaluate(LOOK, [view["round"], tiles])
        for size, page in pages.items():
            found = page.evaluate("look")
            assert (found["tiles"], found["outside"]) == (tiles, []), (size, view["version"])
        if view["status"] != "playing":
            break
        if view["to_act"] == [0] and tiles % 2:
            choose_a_place(pages[SMALL_PHONE])
        table.make_legal_move()
    assert tiles >= 2
    for size, page in pages.items():
        expect(page.locator(".play.round_over, .play.finished")).to_be_attached()
        expect(page.locator(".kept").first).to_be_attached()
        for width, height in (size, TURNED[size], size):
            page.set_viewport_size({"width": width, "height": height})
            assert seen(page, table)["outside"] == [], (size, width, height)


def choose_a_place(page: Page) -> None:
    """Choose the first tile that fits, with the keys one of its places, and then none again."""
    page.locator(".state.turn").wait_for()
    fitting = page.locator("[role=option].fits")
    if fitting.count():
        fitting.first.click()
        page.keyboard.press("ArrowUp")
        expect(page.locator(".place.chosen")).to_be_attached()
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
        expect(page.get_by_role("option", selected=True)).to_have_count(0)


def test_a_table_has_a_cloth_before_its_tiles_arrive(http: httpx.Client, open_page: OpenPage) -> None:
    table = latin(http, 3)
    page = open_page(None)
    held: list[Route] = []
    page.route("**/board.json?*", lambda route: held.append(route))  # noqa: PLW0108 # Playwright asks for its parameters
    sit(page, table)
    expect(page.locator(".cloth")).to_be_visible()
    assert page.locator(".cloth [data-tile]").count() == 0
    for route in held:
        route.continue_()
    page.unroute("**/board.json?*")
    expect(page.locator(".cloth .tiles [data-tile]")).to_have_count(3)


VISITS = 12
MAX_NODES_OF_A_VISIT = 20
"""Some are kept by the browser itself; a table that is not let go has several hundred."""


def test_a_table_that_was_left_is_forgotten(http: httpx.Client, open_page: OpenPage) -> None:
    table = latin(http, 6)
    page = open_page(None)
    sit(page, table)
    session = page.context.new_cdp_session(page)

    def nodes() -> int:
        for _ in range(2):
            session.send("HeapProfiler.collectGarbage")
        return int(session.send("Memory.getDOMCounters")["nodes"])

    def visit() -> None:
        page.evaluate("location.hash = '#/settings'")
        expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
        page.evaluate(f"location.hash = '#/g/{table.id}'")
        expect(page.locator(".cloth .tiles [data-tile]")).to_have_count(6)

    for _ in range(2):
        visit()
    before = nodes()
    for _ in range(VISITS):
        visit()
    assert (nodes() - before) / VISITS <= MAX_NODES_OF_A_VISIT


@pytest.mark.parametrize("viewport", in_lane([SMALL_PHONE, LYING, WIDE_DESK], gate=[SMALL_PHONE]))
def test_the_stock_lies_beside_the_own_plate(
    http: httpx.Client, open_page: OpenPage, viewport: tuple[int, int]
) -> None:
    table = Table.create(http, "draw", [{"name": "Clementine"}, {"name": "Bo"}], seed="stock")
    page = open_page(None, viewport=viewport)
    sit(page, table)
    expect(page.locator(".hand [role=option]").first).to_be_visible()
    own, stock = page.locator("[data-slot=own]").bounding_box(), page.locator(".stock").bounding_box()
    tools = page.locator(".picture-tools").bounding_box()
    assert own
    assert stock
    assert tools
    assert own["x"] + own["width"] <= stock["x"], (own, stock)
    assert stock["x"] + stock["width"] <= tools["x"], (stock, tools)


def test_seats_that_wait_for_players_lie_in_rows(http: httpx.Client, open_page: OpenPage) -> None:
    table = Table.create(http, "draw", [{"name": "Ada"}, {"open": True}, {"open": True}, {"open": True}])
    page = open_page(None, viewport=WIDE_DESK)
    page.goto(f"/#/seat/{table.id}/{table.tokens[0]}")
    expect(page.locator(".play.waiting .player")).to_have_count(4)
    tops = page.locator(".player").evaluate_all("(all) => all.map((each) => each.getBoundingClientRect().top)")
    assert len(set(tops)) == 1, tops


def test_the_pips_of_the_small_tables_are_dark_on_a_dark_page(open_page: OpenPage) -> None:
    page = open_page("/", scheme="dark")
    pips = page.locator(".small-table .pips, .decoration .pips")
    expect(pips.first).to_be_attached()
    colours = pips.evaluate_all("(all) => [...new Set(all.map((each) => getComputedStyle(each).stroke))]")
    assert colours == ["rgb(36, 29, 22)"]


OVERLAPPING = """() => [...document.querySelectorAll(".player")].flatMap((plate) => {
  const parts = [...plate.querySelectorAll(".avatar, .who, .total, .kept-tiles, .kept-sum, .written")];
  const boxes = parts.map((each) => each.getBoundingClientRect()).filter(({ width }) => width);
  const overlap = (from, to, start, end) => from < end - 2 && start < to - 2;
  const meet = (one, other) => overlap(one.left, one.right, other.left, other.right)
    && overlap(one.top, one.bottom, other.top, other.bottom);
  return boxes.some((one, at) => boxes.slice(at + 1).some((other) => meet(one, other))) ? [plate.innerText] : [];
})"""
"""The plates of which one part lies on another."""


@pytest.mark.parametrize("viewport", in_lane([SMALL_PHONE, LYING, TABLET, DESK], gate=[SMALL_PHONE, LYING]))
@pytest.mark.parametrize("others", in_lane([2, 3], gate=[3]))
def test_at_the_count_no_part_of_a_plate_covers_another(
    others: int, viewport: tuple[int, int], http: httpx.Client, open_page: OpenPage
) -> None:
    variant = "homo-homini-lupus" if others == 3 else "draw"
    table = Table.create(http, variant, [{"name": name} for name in NAMES[: others + 1]], seed="the count")
    table.client.play_until(table, round_over)
    page = open_page(None, viewport=viewport)
    sit(page, table)
    page.locator(".kept-sum").first.wait_for()
    assert page.evaluate(OVERLAPPING) == []
