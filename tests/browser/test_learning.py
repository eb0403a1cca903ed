"""A hint at the table, and the review of a match beside its replay, where the service offers them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from service.engine.tiles import parse_tile
from service.render.sentences.places import host_name
from tests.api.saved_games import shortest
from tests.browser.accessibility import Axe
from tests.browser.advising import WHY, Advising
from tests.browser.pages import LONG_MS, ExpectConsole, OpenPage
from tests.browser.playing import Keyboard, take_seats
from tests.whole.table import Table

pytestmark = pytest.mark.gate

SMALL_PHONE = (360, 740)


@pytest.fixture
def advising(service_url: str) -> Iterator[Advising]:
    with Advising(service_url) as proxy:
        yield proxy


def against_computers(http: httpx.Client) -> Table:
    """A game against a computer player, in which the person is to move and has several moves."""
    table = Table.create(http, "draw", [{"name": "Ada"}, {"bot": "greedy"}], seed="a hint", pace=0)
    for _ in range(20):
        view = table.view(0)
        if view["to_act"] == [0] and len(view["legal_moves"]) > 2 and view["board"]["tiles"]:
            return table
        if view["to_act"] == [0]:
            table.make_legal_move()
        else:
            table.get(f"?after={view['version']}&wait=5", 0)
    raise AssertionError("no turn with several moves")


def sit(page: Page, table: Table) -> None:
    page.goto(f"/#/seat/{table.id}/{table.tokens[0]}")
    page.locator(".state.turn").wait_for()
    page.get_by_role("option").first.wait_for()


def test_a_hint_shows_its_place_on_the_table_and_says_why(
    http: httpx.Client, advising: Advising, open_page: OpenPage, axe: Axe
) -> None:
    table = against_computers(http)
    best = table.moves(0)[-1]
    page = open_page(None, url=advising.url, viewport=SMALL_PHONE, touch=True)
    sit(page, table)
    assert page.get_by_role("option", selected=True).count() == 0
    page.get_by_role("button", name="Hint").tap()
    said = page.locator("[data-said]")
    expect(said).to_contain_text(WHY)
    name = host_name(parse_tile(best["tile"]), "en")
    assert said.inner_text().lower().startswith(name.lower())
    expect(page.get_by_role("option", selected=True)).to_have_attribute("data-tile", best["tile"])
    expect(page.locator(".place.chosen")).to_be_visible()
    expect(page.locator("#status p").last).to_contain_text(WHY)
    assert advising.asked == {"GET hint": 2}, "it waits for what is being worked out"
    assert axe(page) == []
    page.locator("[data-table]").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("log")).to_contain_text(f"You played {name}")
    assert best["tile"] in [each["tile"] for each in table.view()["board"]["tiles"]]


@pytest.mark.nightly
def test_a_hint_is_asked_for_by_its_key(http: httpx.Client, advising: Advising, open_page: OpenPage) -> None:
    table = against_computers(http)
    page = open_page(None, url=advising.url)
    sit(page, table)
    page.locator("[data-table] h1").focus()
    Keyboard(page).key("i")
    expect(page.locator("[data-said]")).to_contain_text(WHY)


def test_there_is_no_hint_among_people_and_no_review_of_a_running_match(
    http: httpx.Client, advising: Advising, open_page: OpenPage
) -> None:
    table = Table.create(http, "draw", [{"name": "Ada"}, {"name": "Bo"}], seed="a hint")
    while table.view()["to_act"] != [0] or len(table.moves(0)) < 2:
        table.make_legal_move()
    page = open_page(None, url=advising.url)
    sit(page, table)
    expect(page.locator("[data-hint]")).to_have_count(0)
    page.locator("[data-table] h1").focus()
    page.keyboard.press("i")
    expect(page.locator("[data-said]")).to_have_text("There are no hints here.")
    page.goto(f"/#/replay/{table.id}")
    page.wait_for_load_state("networkidle")
    expect(page.get_by_role("main")).not_to_be_empty()
    expect(page.locator(".review")).to_have_count(0)
    assert not advising.asked


@pytest.mark.nightly
def test_a_service_without_hints_says_so_once(
    http: httpx.Client, advising: Advising, open_page: OpenPage, expect_console: ExpectConsole
) -> None:
    expect_console("status of 404")
    table = against_computers(http)
    page = open_page(None, url=advising.url)
    page.route("**/hint", lambda route: route.fulfill(status=404, json={}))
    sit(page, table)
    page.get_by_role("button", name="Hint").click()
    expect(page.locator("[data-said]")).to_have_text("There are no hints here.")
    expect(page.locator("[data-hint]")).to_have_count(0)


def test_the_mistakes_of_a_match_lead_to_their_tables(
    http: httpx.Client, advising: Advising, open_page: OpenPage, axe: Axe
) -> None:
    table = Table.create(http, "draw", [{"name": "Ada"}, {"name": "Bo"}], seed="a review", options={"target": 30})
    for _ in table.play("a review"):
        pass
    record = table.get("/record").json()
    page = open_page(None, url=advising.url, viewport=SMALL_PHONE)
    take_seats(page, table, 0)
    page.goto(f"/#/replay/{table.id}")
    page.get_by_role("button", name="Find the mistakes").click()
    mistakes = page.locator(".mistakes button")
    expect(mistakes).to_have_count(5)  # the largest of many
    expect(page.get_by_role("row", name=re.compile("Ada .* 1.3 ± 0.1"))).to_be_visible()
    told = "Ada: +24 against the others. -6.5 ± 4.5 by luck of the deals, +30.5 ± 32 by play."
    expect(page.locator(".review li", has_text="Ada: +24")).to_have_text(told)
    assert advising.asked == {"POST review": 1, "GET review": 2}
    assert axe(page) == []
    shown_round = record["rounds"][0]
    mistake = [each for each in shown_round["events"] if each["type"] == "played" and each["seat"] == 0][2]
    before = [each["data"]["tile"] for each in shown_round["events"] if each["type"] == "played"]
    before = before[: before.index(mistake["data"]["tile"])]
    shown = page.locator(f".mistakes [data-version='{mistake['version']}']")
    expect(shown).to_contain_text(f"Round {shown_round['round']}, Ada: ")
    expect(shown).to_contain_text(WHY)
    shown.click()
    expect(page.locator(".stage")).to_be_in_viewport()
    expect(page.locator(".mistakes [aria-current]")).to_have_count(1)
    expect(page.locator(".replay select")).to_have_value("0")
    expect(page.locator(".cloth [data-tile]")).to_have_count(len(before))
    expect(page.locator(f".open-hands [data-seat='0'] [data-tile='{mistake['data']['tile']}']")).to_have_count(0)


@pytest.mark.nightly
def test_a_mistake_tells_two_moves_of_the_same_tile_apart(
    http: httpx.Client, advising: Advising, open_page: OpenPage
) -> None:
    table = Table.create(http, "menschenwolf", 2, seed="a review", options=shortest("menschenwolf"))
    for _ in table.play("a review"):
        pass
    (version, *_) = [each["version"] for each in table.get("/record").json()["rounds"][0]["events"][2:]]
    move = {"action": "play", "tile": "5-5", "end": "e3"}
    others = ({"end": "e4"}, {"face_down": True}, {"outer": 5}, {"end": "left"}, {"end": "e4", "tile": "3-5"})
    page = open_page(None, url=advising.url)
    take_seats(page, table, 0)
    shown = {"version": version, "seat": 0, "given_away": 9, "error": 1, "text": WHY, "move": move}
    decisions = [{**shown, "best": {**move, **other}} for other in others]
    page.route("**/review", lambda route: route.fulfill(json={"players": [], "decisions": decisions}))
    page.goto(f"/#/replay/{table.id}")
    page.get_by_role("button", name="Find the mistakes").click()
    mistakes = page.locator(".mistakes button")
    expect(mistakes).to_have_count(len(others))
    better = [re.sub(r".*double five\. Better by 9: (.*?)\..*", r"\1", text) for text in mistakes.all_inner_texts()]
    assert better == [
        *("double five, at another end", "double five, face down: closes the arm", "double five, the five outside"),
        *("double five on the left", "three five"),
    ]


def test_the_service_itself_gives_hints_and_reviews(http: httpx.Client, open_page: OpenPage) -> None:
    table = against_computers(http)
    page = open_page(None)
    sit(page, table)
    page.get_by_role("button", name="Hint").click()
    expect(page.locator("[data-said]")).to_have_text(re.compile(r".+\. .+"), timeout=LONG_MS)
    expect(page.locator(".place.chosen")).to_be_attached()

    match = Table.create(http, "draw", [{"name": "Ada"}, {"name": "Bo"}], seed="a review", options={"target": 1})
    for _ in match.play("a review"):
        pass
    take_seats(page, match, 0)
    page.goto(f"/#/replay/{match.id}")
    page.get_by_role("button", name="Find the mistakes").click()
    expect(page.get_by_role("row", name=re.compile("^Ada"))).to_be_visible(timeout=LONG_MS)
