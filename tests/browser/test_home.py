"""Home asks how, then what; and a game is begun from the first screen of a phone, without a name."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from service.engine.variants import variants
from service.texts import LANGUAGES, text
from tests.browser.accessibility import Axe, fits
from tests.browser.pages import SCHEMES, OpenPage
from tests.browser.test_setting_up import at_a_table, kept
from tests.support.lanes import in_lane

pytestmark = pytest.mark.gate

PHONE = (360, 740)
MAX_SHIFT = 0.1

KEEP_SHIFTS = """new PerformanceObserver((list) => {
  for (const { value } of list.getEntries()) window.shift = (window.shift ?? 0) + value;
}).observe({ type: "layout-shift", buffered: true })"""


def is_on_first_screen(part: Locator) -> bool:
    """Whether all of it is in the window, without scrolling."""
    box = part.bounding_box()
    assert box is not None
    assert part.page.viewport_size is not None
    return part.page.evaluate("scrollY") == 0 and 0 <= box["y"] <= part.page.viewport_size["height"] - box["height"]


def names(locale: str) -> dict[str, str]:
    return {key: text(f"page.views.home.{key}", locale) for key in ("playNow", "others", "together", "friends")}


@pytest.mark.parametrize("locale", in_lane(list(LANGUAGES), gate=["de"]))
def test_the_first_screen_of_a_phone_asks_how_to_play(locale: str, open_page: OpenPage, axe: Axe) -> None:
    for scheme in SCHEMES:
        page = open_page("/", locale=locale, viewport=PHONE, scheme=scheme, touch=True)
        page.locator(".small-table").first.wait_for()
        for name in names(locale).values():
            assert is_on_first_screen(page.locator(".way", has_text=name)), name
        assert fits(page)
        assert axe(page) == []


def test_the_view_does_not_move_while_it_arrives(open_page: OpenPage) -> None:
    page = open_page(None, viewport=PHONE, touch=True)
    page.add_init_script(KEEP_SHIFTS)

    def late(route: Route) -> None:
        page.locator(".way").first.wait_for()  # the games arrive when the rest is shown
        route.continue_()

    page.route("**/v1/variants", late)
    page.goto("/")
    page.locator(".small-table").first.wait_for()
    page.evaluate("new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame))")
    assert page.evaluate("window.shift ?? 0") < MAX_SHIFT


def test_the_easiest_games_come_first_each_with_a_picture(open_page: OpenPage) -> None:
    page = open_page("/")
    games = page.locator(".card.variant")
    expect(games).to_have_count(len(variants()))
    order = sorted(variants().values(), key=lambda each: (each.difficulty, each.minutes))
    assert order[0].key == "draw"
    shown = games.get_by_role("heading").all_inner_texts()
    assert shown == [text(f"games.{each.key}.name", "en") for each in order]
    assert games.locator(".small-table").count() == len(order)
    assert min(page.evaluate("[...document.querySelectorAll('.small-table')].map((each) => each.children.length)")) > 4


def test_nothing_on_home_is_for_developers_but_one_link(page: Page) -> None:
    page.locator(".card.variant").first.wait_for()
    expect(page.get_by_role("contentinfo").get_by_role("link")).to_have_text(["For developers"])
    expect(page.locator("#drawer-button")).to_have_count(0)
    page.goto("/#/settings")
    page.get_by_role("button", name="Show the requests of this page").click()
    expect(page.get_by_role("heading", name="Developer drawer")).to_be_focused()


def test_one_tap_begins_the_easiest_game_against_two_computer_players_with_names(
    open_page: OpenPage, service_url: str
) -> None:
    page = open_page("/", viewport=PHONE, touch=True)
    page.get_by_role("button", name=re.compile("Play now")).tap()
    game = at_a_table(page)
    view: Any = httpx.get(f"{service_url}/v1/games/{game}").json()
    assert view["variant"] == "draw"
    assert [(each["kind"], each["name"]) for each in view["players"]] == [
        ("human", "Guest"),
        ("bot", "Rosa"),
        ("bot", "Emil"),
    ]
    page.goto("/#/")
    on = page.locator(".way", has_text="Go on with Draw")
    expect(on).to_contain_text("Rosa, Emil")
    assert is_on_first_screen(on)
    on.tap()
    assert at_a_table(page) == game


@pytest.mark.parametrize(
    ("way", "seats"),
    [("together", ["Player 1", "Player 2", "Player 3", "Player 4"]), ("friends", ["Guest", None, None, None])],
)
def test_a_game_begins_on_the_first_screen_without_a_name(
    way: str, seats: list[str | None], open_page: OpenPage, service_url: str
) -> None:
    page = open_page("/", viewport=PHONE, touch=True)
    page.get_by_role("link", name=re.compile(names("en")[way])).tap()
    start = page.get_by_role("button", name="Start the game")
    start.wait_for()
    assert is_on_first_screen(start)
    start.tap()
    view: Any = httpx.get(f"{service_url}/v1/games/{at_a_table(page)}").json()
    assert [each.get("name") for each in view["players"]] == seats
    assert [each["name"] for each in kept(page, "last-seats")] == ["", "", "", ""]


@pytest.mark.parametrize("locale", in_lane(list(LANGUAGES), gate=["de"]))
def test_the_form_has_words_for_people_and_its_start_on_the_first_screen(locale: str, open_page: OpenPage) -> None:
    page = open_page(None, locale=locale, viewport=PHONE, touch=True)
    for variant in variants():
        page.goto("about:blank")
        page.goto(f"/#/new/{variant}")
        start = page.locator(".start button")
        start.wait_for()
        assert is_on_first_screen(start), variant
        expect(page.locator("details[open]")).to_have_count(0)
        page.locator("details").evaluate_all("(all) => all.forEach((each) => each.setAttribute('open', ''))")
        labels = page.locator("form :is(label, legend, option, .hint)").all_inner_texts()
        assert [each for each in labels if re.search(r"[a-z]_[a-z]", each)] == []
        for option in variants()[variant].options:
            words = [value for value in option.values if isinstance(value, str)]
            texts = page.locator(f"[name='options.{option.key}'] + span").all_inner_texts()
            assert len(texts) == len(option.values) if words else True
            assert not set(words) & set(texts), (variant, option.key)


def test_a_browser_that_keeps_nothing_says_so_before_a_game_begins(open_page: OpenPage) -> None:
    page = open_page(None)
    page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new DOMException(); } })")
    page.goto("/")
    expect(page.locator("[data-forgets]")).to_contain_text("your seat is lost")
