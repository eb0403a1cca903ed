"""Games are set up, joined and found again on the page, by what the service says of them alone."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from service.engine.variants import variants
from service.texts import text
from tests.browser.accessibility import Axe, fits
from tests.browser.pages import NARROW, ExpectConsole, OpenPage

pytestmark = pytest.mark.gate

HOSTILE_NAMES = ["<img src=x onerror=alert(1)>", "שלום עולם", "W" * 60, "👩‍👩‍👧 Zoë ${1}"]

OPTIONS: dict[str, Any] = {
    "set": {"title": "Set", "description": "The highest double.", "type": "integer", "enum": [4, 7], "default": 4},
    "sweets": {"title": "Sweets", "description": "Won.", "type": "integer", "minimum": 1, "maximum": 9, "default": 3},
    "mood": {
        "title": "Mood",
        "description": "Who may shout.",
        "type": "string",
        "enum": ["calm", "loud"],
        "oneOf": [{"const": "calm", "title": "Nobody"}, {"const": "loud", "title": "Everybody"}],
        "default": "calm",
    },
    "cocoa": {"title": "Cocoa", "description": "Before the first deal.", "type": "boolean", "default": False},
}
UNHEARD_OF: dict[str, Any] = {
    "id": "kitchen-table",
    "name": "Kitchen table",
    "summary": "A game that the page has never heard of.",
    "players": {"min": 3, "max": 5},
    "difficulty": 2,
    "minutes": 12,
    "also_known_as": [{"name": "Кухонный стол", "language": "ru", "region": "Siberia"}],
    "example": [{"tile": "4-4", "x": 0, "y": 0, "rotation": 90, "face_down": False}],
    "edition": 1,
    "language": "en",
    "options": {"type": "object", "properties": OPTIONS, "unevaluatedProperties": False},
    "deals": [
        {"set": 4, "players": 3, "hand": 4, "stock": 3, "drawable": 3},
        *({"set": 7, "players": players, "hand": 6, "stock": 36 - 6 * players, "drawable": 0} for players in (3, 4, 5)),
    ],
    "scoring": {"best": "lowest", "text": "Who has the fewest sweets washes up."},
    "bots": [{"id": "gentle", "name": "Friendly", "summary": "Kind.", "strength": "Weak at noon."}],
    "rules": "# Kitchen table\n\n**9.1** Everybody sits down.\n\nSee 9.1, not 9.2. <b>Text</b>",
}
"""A game as the service would offer it, with options of every kind."""


def choose_number(page: Page, players: int) -> None:
    """Set the number of players."""
    page.get_by_role("group", name="Number of players").get_by_role("radio", name=str(players), exact=True).check()


def fill_names(page: Page, names: list[str]) -> None:
    """Make all seats those of people on this device."""
    page.get_by_role("button", name="All on this device").click()
    for seat, name in enumerate(names, start=1):
        page.get_by_label(f"Name on seat {seat}", exact=True).fill(name)


def at_a_table(page: Page) -> str:
    """The id of the game, once its table is shown."""
    page.wait_for_url(re.compile(r"#/g/"))
    return page.url.rpartition("/")[2]


def kept(page: Page, name: str) -> Any:
    """What the page keeps on this device under that name."""
    return json.loads(page.evaluate(f"localStorage.getItem('domino:/:{name}')") or "null")


def test_every_game_of_the_service_can_be_set_up_as_it_is_proposed(open_page: OpenPage) -> None:
    page = open_page("/#/new")
    links = page.locator("main .variant :is(h2, h3) a")
    expect(links.first).to_be_visible()
    variants = [link.get_attribute("href") or "" for link in links.all()]
    assert len(variants) > 1
    for variant in variants:
        page.goto(f"/{variant}")
        players = page.get_by_label(re.compile(r"^Who sits on seat"))
        expect(players.first).to_be_visible()
        fill_names(page, [f"Player {seat}" for seat in range(players.count())])
        page.get_by_role("button", name="Start the game").click()
        game = at_a_table(page)
        names = {seat["seat"]: seat["name"] for seat in kept(page, "seats") if seat["game"] == game}
        assert names == {seat: f"Player {seat}" for seat in range(len(kept(page, "last-seats")))}


def test_a_game_that_the_page_has_never_heard_of_can_be_set_up(open_page: OpenPage) -> None:
    page = open_page(None)
    sent: list[Any] = []

    def create(route: Route) -> None:
        sent.append(route.request.post_data_json)
        route.fulfill(status=200, json={"game": {"id": "made", "variant": UNHEARD_OF["id"]}, "seats": []})

    summary = {key: UNHEARD_OF[key] for key in ("id", "name", "summary", "players", "difficulty", "minutes", "example")}
    page.route(
        "**/v1/variants",
        lambda route: route.fulfill(
            json={"variants": [summary], "bots": [{"id": "gentle", "name": "Friendly", "summary": "Kind."}]}
        ),
    )
    page.route("**/v1/variants/kitchen-table", lambda route: route.fulfill(json=UNHEARD_OF))
    page.route("**/v1/games", create)
    page.goto("/")
    page.get_by_role("link", name="Kitchen table", exact=True).click()

    choose_number(page, 5)
    page.get_by_text("House rules").click()
    expect(page.get_by_role("radio", name="Double 4")).to_be_disabled()
    expect(page.get_by_text("for 3 players")).to_be_visible()
    expect(page.get_by_role("radio", name="Double 7")).to_be_checked()
    expect(page.get_by_role("spinbutton", name="Sweets")).to_have_value("3")
    page.get_by_role("spinbutton", name="Sweets").fill("8")
    page.get_by_role("radio", name="Everybody").check()
    page.get_by_role("switch", name="Cocoa").check()
    fill_names(page, ["Ada", "Bo", "Cleo"])
    page.get_by_label("Who sits on seat 4").select_option("Somebody joins")
    page.get_by_label("Who sits on seat 5").select_option("Computer: Friendly")
    page.route("**/v1/games/made**", lambda _: None)  # what follows is no part of this test
    page.get_by_role("button", name="Start the game").click()
    page.wait_for_url("**/#/g/made")

    [body] = sent
    assert body["options"] == {"set": 7, "sweets": 8, "mood": "loud", "cocoa": True}
    assert [{key: seat[key] for key in seat if key != "client_seed"} for seat in body["players"]] == [
        {"name": "Ada"},
        {"name": "Bo"},
        {"name": "Cleo"},
        {"open": True},
        {"bot": "gentle"},
    ]


def test_home_shows_for_whom_a_game_is_and_the_games_for_a_number_of_players(open_page: OpenPage) -> None:
    page = open_page("/")
    games = page.locator(".card.variant")
    expect(games).to_have_count(len(variants()))
    kozel = games.filter(has=page.get_by_role("link", name="Kozel (Goat)", exact=True))
    expect(kozel).to_contain_text("2 to 4 players · about 25 minutes")
    for label, least, most in (("2", 2, 2), ("4", 4, 4), ("5 or more", 5, 99), ("any number", 0, 99)):
        page.get_by_role("group", name="For how many?").get_by_role("radio", name=label, exact=True).check()
        wanted = [
            text(f"games.{each.key}.name", "en")
            for each in sorted(variants().values(), key=lambda each: (each.difficulty, each.minutes))
            if each.players.low <= most and each.players.high >= least
        ]
        expect(games.get_by_role("heading")).to_have_text(wanted)
    kozel.get_by_role("link", name="Rules").click()
    expect(page.locator(".rules .note")).to_contain_text("Also known as Козёл (Russia)")
    expect(page.get_by_text("Козёл", exact=True)).to_have_attribute("lang", "ru")


def test_what_is_refused_is_said_at_its_field(open_page: OpenPage, expect_console: ExpectConsole) -> None:
    expect_console("status of 422")
    page = open_page("/#/new/domino")
    choose_number(page, 3)
    fill_names(page, ["Ada", "", "Ada"])
    page.get_by_text("More settings").click()
    page.get_by_role("switch", name="Every name only once").check()
    house_rules = page.get_by_text("House rules")
    house_rules.click()
    hand = page.get_by_label("Hand")
    hand.fill("40")
    expect(page.get_by_role("group", name="Teams").get_by_role("radio")).to_have_count(1)  # 3 make no teams
    house_rules.click()
    page.get_by_role("button", name="Start the game").click()
    twice = page.get_by_label("Name on seat 3")
    expect(twice).to_be_focused()
    expect(twice).to_have_accessible_description(re.compile("has this name"))
    expect(page.get_by_role("alert")).to_contain_text("has this name")

    twice.fill("Cy")
    page.get_by_role("button", name="Start the game").click()
    expect(hand).to_be_focused()
    expect(hand).to_have_accessible_description(re.compile("whole number"))


def test_hostile_names_stay_text(open_page: OpenPage, axe: Axe) -> None:
    page = open_page("/#/new/menschenwolf", viewport=NARROW)
    choose_number(page, 5)
    fill_names(page, HOSTILE_NAMES)
    page.get_by_label("Who sits on seat 5").select_option("Somebody joins")
    page.get_by_role("button", name="Start the game").click()
    game = at_a_table(page)
    [invitation] = kept(page, "invitations")
    for address in ("/#/", f"/#/join/{game}/{invitation['joinCode']}"):
        page.goto("about:blank")
        page.goto(address)
        for name in HOSTILE_NAMES:
            expect(page.locator("main bdi", has_text=name)).to_have_count(1)
        assert page.locator("main img").count() == 0
        assert fits(page)
        assert axe(page) == []


def test_a_game_is_joined_by_its_link_or_its_code_alone_and_the_code_leaves_the_address(
    open_page: OpenPage, expect_console: ExpectConsole
) -> None:
    host = open_page("/#/new/domino")
    choose_number(host, 3)
    host.get_by_role("button", name="Each on their own").click()
    host.get_by_label("Name on seat 1").fill("Ada")
    host.get_by_role("button", name="Start the game").click()
    game = at_a_table(host)
    [invitation] = kept(host, "invitations")
    code = invitation["joinCode"]

    expect_console("status of 403")
    stranger = open_page(f"/#/join/{game}/WRONG")
    stranger.get_by_label("Your name").fill("Eve")
    stranger.get_by_role("button", name="Sit down").click()
    expect(stranger.get_by_label("Join code")).to_be_focused()
    expect(stranger.get_by_label("Join code")).to_have_accessible_description(re.compile("not the join code"))

    guest = open_page(f"/#/join/{game}/{code}")
    expect(guest.get_by_text("2 seats are free.")).to_be_visible()
    assert code not in guest.url
    guest.get_by_label("Your name").fill("Bo")
    guest.get_by_role("button", name="Sit down").click()
    assert at_a_table(guest) == game
    assert [(seat["seat"], seat["name"]) for seat in kept(guest, "seats")] == [(1, "Bo")]

    cousin = open_page("/")
    cousin.get_by_role("link", name="I have a code").click()
    cousin.get_by_label("Code or link").fill("AAAA BBBB")
    cousin.get_by_role("button", name="Go on").click()
    expect(cousin.get_by_label("Code or link")).to_be_focused()
    cousin.get_by_label("Code or link").fill(f"{code[:4]} {code[4:]}".lower())
    cousin.get_by_label("Your name").fill("Cy")
    cousin.get_by_role("button", name="Go on").click()
    assert at_a_table(cousin) == game

    late = open_page("/#/join")
    late.get_by_label("Code or link").fill(f"http://elsewhere.example/#/join/{game}/{code}")
    late.get_by_role("button", name="Go on").click()
    expect(late.get_by_text("All seats are taken")).to_be_visible()


def test_settings_apply_at_once_and_everything_can_be_forgotten(open_page: OpenPage) -> None:
    page = open_page("/#/settings")
    page.get_by_role("radio", name="Deutsch").check()
    expect(page.get_by_role("heading", level=1)).to_have_text("Einstellungen")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    page.get_by_role("radio", name="dunkel").check()
    page.get_by_role("radio", name="150").check()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_role("radio", name="150")).to_be_checked()

    page.get_by_role("button", name="Alles auf diesem Gerät vergessen").click()
    page.get_by_role("dialog").get_by_role("button", name="Abbrechen").click()
    assert kept(page, "settings")["theme"] == "dark"
    page.get_by_role("button", name="Alles auf diesem Gerät vergessen").click()
    page.get_by_role("dialog").get_by_role("button", name="Alles vergessen").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
    assert page.evaluate("localStorage.length") == 0


def test_a_link_to_a_rule_shows_that_rule(open_page: OpenPage) -> None:
    page = open_page("/#/rules/domino/5.7")
    expect(page.locator("[id='rule-5.7']")).to_be_focused()
    page.get_by_role("listitem").get_by_role("link", name="5.8", exact=True).click()
    expect(page.locator("[id='rule-5.8']")).to_be_focused()
    assert page.url.endswith("#/rules/domino/5.8")


def test_rules_are_text_and_never_markup(open_page: OpenPage) -> None:
    page = open_page(None)
    page.route("**/v1/variants/kitchen-table", lambda route: route.fulfill(json=UNHEARD_OF))
    page.goto("/#/rules/kitchen-table")
    expect(page.get_by_text("See 9.1, not 9.2. <b>Text</b>")).to_be_visible()
    assert page.locator("main p a").all_inner_texts() == ["9.1", "9.1"]


def test_a_table_goes_on_with_the_new_link_of_its_seat(open_page: OpenPage, expect_console: ExpectConsole) -> None:
    page = open_page("/#/new/domino")
    choose_number(page, 2)
    page.get_by_role("button", name="Each on their own").click()
    page.get_by_label("Name on seat 1").fill("Ada")
    page.get_by_role("button", name="Start the game").click()
    game = at_a_table(page)
    before = kept(page, "seats")[0]["token"]
    expect_console("status of 401")  # of the stream that was read with the old token
    page.get_by_text("Continue on another device").click()
    page.get_by_role("button", name="New link for Ada").click()
    expect(page.get_by_label("Secret link for Ada", exact=True)).not_to_have_value(re.compile(re.escape(before)))
    expect(page.get_by_text("The old one no longer works.").first).to_be_visible()

    other = open_page(f"/#/join/{game}/{kept(page, 'invitations')[0]['joinCode']}")
    other.get_by_label("Your name").fill("Bo")
    other.get_by_role("button", name="Sit down").click()
    expect(page.get_by_role("option")).to_have_count(7)
