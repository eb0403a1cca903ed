"""Every key of the table says or does what the list of keys promises."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random

import httpx
import pytest
from playwright.sync_api import APIResponse, Page, Route, expect

from service.engine.variants import variants
from service.texts import LANGUAGES, Language, template, text
from tests.api.deals import deal
from tests.browser.pages import OpenPage
from tests.browser.playing import MAX_MOVES, command_field, smallest_set
from tests.support.table import Json, match_finished
from tests.whole.table import Table

pytestmark = pytest.mark.gate

HAND = {
    "0-1": "blank one, does not fit",
    "1-2": "one two, does not fit",
    "1-6": "one six, fits on the left, on the right",
    "2-6": "two six, fits on the left, on the right",
    "3-4": "three four, does not fit",
    "3-6": "three six, fits on the left, on the right",
    "4-5": "four five, does not fit",
}
"""The hand of ``P0``, who has to answer a double six, and what each tile is called."""

TELLING = {
    "c": r"Ends: six on the left; six on the right\.",
    "v": r"From left to right: double six\.",
    "s": r"1\. P0: 0; 1\. P1: 0\.",
    "e": r"Dominó, round 1\. .* Limit: 100\. .*14 tiles in the stock\. P0: 7 tiles; P1: 6 tiles\.",
    "t": r"Your turn\. Three tiles fit\.",
    "h": r"Blank one, one two, .*, four five\. 7 tiles, 44 pips\. Fits: one six, two six, three six\.",
    "w": r"Blank one, .* Fits: one six, two six, three six\.",
    "m": r"One six on the left; one six on the right; two six on the left; .*three six on the right\.",
    "l": r"P1 opened with double six\.",
    "x": r"No round has been counted yet\.",
    "d": r"Choose a tile first\.",
    "g": r"Choose a tile first\.",
    " ": r"That is not possible now\.",
    "p": r"That is not possible now\.",
    "f": r"That is not possible now\.",
    "u": r"That is not possible now\.",
    "n": r"That is not possible now\.",
    "z": r"There is nothing to take back\.",
}
"""What a key says then, while no tile is chosen."""

CHOOSING = [
    ("Home", "0-1", ""),
    ("Enter", "0-1", r"blank one does not fit: the ends? .+\."),
    ("ArrowLeft", "0-1", ""),
    ("ArrowRight", "1-2", ""),
    ("End", "4-5", ""),
    ("ArrowLeft", "3-6", ""),
    ("Enter", "3-6", r"Where does three six go\? 1: on the left; 2: on the right\."),
    ("ArrowDown", "3-6", r"1: on the left"),
    ("2", "3-6", r"2: on the right"),
    ("ArrowUp", "3-6", r"1: on the left"),
    ("9", "3-6", r"There is no place 9 for it\."),
    ("Shift+Enter", "3-6", r"three six cannot be laid face down there\."),
    ("Escape", "3-6", ""),
    ("Escape", None, ""),
    ("End", "4-5", ""),
    ("ArrowLeft", "3-6", ""),
]
"""A key, the tile that is then chosen, and what is said."""

SAID = """() => [...document.querySelectorAll("#status, #alert")].map((each) => each.textContent)"""

MOVE_KEYS: dict[str, Callable[[Json], bool]] = {
    "Space": lambda move: move["action"] == "draw",
    "p": lambda move: move["action"] == "pass",
    "f": lambda move: move["action"] == "done",
    "u": lambda move: move["action"] == "flip",
    "n": lambda move: move["action"] == "deal",
    "Shift+Enter": lambda move: bool(move.get("face_down")),
}
"""Keys that make a move, and by what it is known."""

EVENTS = {"play": "played", "draw": "drew", "pass": "passed", "done": "done", "flip": "flipped", "deal": "dealt"}
"""The first event of a move, by its action."""


@pytest.fixture
def table(http: httpx.Client) -> Table:
    """``P1`` has opened with double six; three tiles of ``P0`` fit, on both sides."""
    dealt = deal("domino", " ".join(HAND), "6-6 5-6 3-3 0-0 0-2 1-1 2-2", seats=2)
    table = Table.create(http, "domino", 2, deals=[dealt])
    play(table, 1, "6-6")
    return table


def play(table: Table, seat: int, tile: str) -> None:
    """Lay a tile at its first place."""
    move = next(move for move in table.moves(seat) if move.get("tile") == tile)
    table.client.make_move(table, seat, move)


def at_the_table(open_page: OpenPage, table: Table, seat: int, locale: str = "en-GB") -> Page:
    page = open_page(f"/#/seat/{table.id}/{table.tokens[seat]}", locale=locale)
    expect(page.locator(".play.playing, .play.round_over")).to_be_attached()
    expect(page.locator("[data-table]").locator(":focus")).to_be_attached()
    return page


def expect_said(page: Page, pattern: str) -> None:
    """That this is said to a screen reader, and shown."""
    whole = re.compile(f"^{pattern}\u00a0?$", re.IGNORECASE)
    expect(page.locator("#status p, #alert").filter(has_text=whole).first).to_be_attached()
    expect(page.locator("[data-said]")).to_have_text(whole)


def test_every_key_says_or_does_what_it_should(table: Table, open_page: OpenPage) -> None:
    page = at_the_table(open_page, table, 0)
    for name, label in HAND.items():
        expect(page.locator(f"[role=option][data-tile='{name}']")).to_have_accessible_name(label)
    for key, pattern in TELLING.items():
        page.keyboard.press(key if key != " " else "Space")
        expect_said(page, pattern)
        page.keyboard.press("r")
        expect_said(page, pattern)

    chosen = page.get_by_role("option", selected=True)
    for key, tile, pattern in CHOOSING:
        page.keyboard.press(key)
        if tile:
            expect(chosen).to_have_attribute("data-tile", tile)
        else:
            expect(chosen).to_have_count(0)
        if pattern:
            expect_said(page, pattern)

    page.keyboard.press("d")
    expect(page.get_by_role("log").locator("li").last).to_have_text(re.compile("three six on the right"))
    assert ends(table) == {"left": 6, "right": 3}
    play(table, 1, "5-6")
    page.locator(".state.turn").wait_for()
    page.keyboard.press("End")
    expect(chosen).to_have_attribute("data-tile", "4-5")
    page.keyboard.press("d")
    expect_said(page, r"four five does not fit there\.")
    page.keyboard.press("g")
    expect(page.get_by_role("log").locator("li").last).to_have_text(re.compile("four five on the left"))
    assert ends(table) == {"left": 4, "right": 3}

    page.keyboard.press("?")
    expect(page.get_by_role("dialog").get_by_role("row")).to_have_count(28)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("`")
    expect(page.get_by_role("heading", name="Developer drawer")).to_be_focused()


def test_where_plays_score_without_a_sum_of_the_ends_each_place_tells_its_points(
    http: httpx.Client, open_page: OpenPage
) -> None:
    dealt = deal("bergen", "1-1 3-4 1-5 5-6 2-2 2-3", "1-4 1-3 1-6 6-6 2-4 2-5")
    table = Table.create(http, "bergen", 2, deals=[dealt])
    for seat, tile, end in ((0, "1-1", None), (1, "1-4", "right"), (0, "3-4", "right")):
        move = next(move for move in table.moves(seat) if move["tile"] == tile and move.get("end") == end)
        table.client.make_move(table, seat, move)
    page = at_the_table(open_page, table, 1)
    page.locator("[role=option][data-tile='1-3']").click()
    page.keyboard.press("Enter")
    expect_said(page, r"Where does one three go\? 1: on the left: 2 points; 2: on the right: 3 points\.")
    expect(page.locator(".places .tag")).to_have_text(["+2", "+3"])
    page.locator("[role=option][data-tile='1-6']").click()
    expect(page.locator("[data-action=lay]")).to_have_accessible_name(re.compile("on the left: 0 points"))


def ends(table: Table) -> dict[str, int]:
    return {end["id"]: end["number"] for end in table.view()["board"]["ends"]}


@pytest.mark.parametrize("language", LANGUAGES)
def test_commands_are_words_of_the_language_of_the_page_or_names_of_actions(
    language: Language, table: Table, open_page: OpenPage
) -> None:
    page = at_the_table(open_page, table, 0, language)
    field = command_field(page)
    for word in ["draw", *template("page.views.commandWords.draw", language).split()]:
        field.fill("")
        field.press("Enter")
        field.fill(word)
        field.press("Enter")
        expect_said(page, re.escape(text("page.table.table.notNow", language)))
    *_, right = template("page.views.commandWords.right", language).split()
    field.fill(f"6-3 {right}")
    field.press("Enter")
    expect(page.get_by_role("log")).to_contain_text(text("sentences.at.right", language))
    assert ends(table) == {"left": 6, "right": 3}


def test_letters_do_nothing_in_fields_and_where_they_are_switched_off(table: Table, open_page: OpenPage) -> None:
    page = at_the_table(open_page, table, 0)
    version = table.view()["version"]
    command = command_field(page)
    command.press_sequentially("c d 9")
    expect(command).to_have_value("c d 9")
    command.fill("")
    expect(page.locator("[data-said]")).to_have_count(0)

    turn = page.locator("[data-tell=turn]")
    turn.focus()
    page.keyboard.press("c")
    expect_said(page, TELLING["c"])
    page.keyboard.press("Space")
    expect_said(page, r"Your turn\. Three tiles fit\.")
    for action in page.locator("[data-tell]").all():
        before = page.evaluate(SAID)
        action.click()
        if action.get_attribute("data-tell") == "help":
            page.get_by_role("dialog").wait_for()
            page.keyboard.press("Escape")
        else:
            page.wait_for_function(f"(before) => JSON.stringify(({SAID})()) !== JSON.stringify(before)", arg=before)

    page.goto("/#/settings")
    page.get_by_role("switch", name=re.compile("letter", re.IGNORECASE)).uncheck()
    page.goto(f"/#/g/{table.id}")
    page.get_by_role("option").first.focus()
    page.keyboard.press("c")
    page.keyboard.press("Home")
    expect(page.get_by_role("option", selected=True)).to_have_attribute("data-tile", "0-1")
    expect(page.locator("[data-said]")).to_have_count(0)
    page.keyboard.press("Enter")
    expect_said(page, r"blank one does not fit: the ends? .+\.")
    command = command_field(page)
    command.fill("c")
    command.press("Enter")
    expect_said(page, TELLING["c"])
    assert table.view()["version"] == version


def test_after_going_out_by_key_the_keys_go_on(http: httpx.Client, open_page: OpenPage) -> None:
    """The answer to the last move comes after the stream has told of the count, when no button can be used yet."""
    table = Table.create(http, "block", 2, seed="going out")
    while len(table.view(table.to_move())["you"]["hand"]) > 1 or not table.moves(table.to_move())[0].get("tile"):
        table.make_legal_move()
    page = at_the_table(open_page, table, table.to_move())
    page.locator(".state.turn").wait_for()
    page.keyboard.press("End")
    expect(page.get_by_role("option", selected=True)).to_be_focused()
    held: list[tuple[Route, APIResponse]] = []

    def hold(route: Route) -> None:
        held.append((route, route.fetch()))

    page.route("**/moves", hold, times=1)
    page.keyboard.press("Enter")
    expect(page.locator("[data-action=deal]")).to_be_disabled()
    for route, answer in held:
        route.fulfill(response=answer)
    expect(page.locator("[data-action=deal]")).to_be_focused()
    page.keyboard.press("s")
    expect(page.locator("[data-said]")).to_contain_text("1. P")
    page.keyboard.press("n")
    page.locator(".play.playing").wait_for()


def test_every_kind_of_move_has_a_key(http: httpx.Client, open_page: OpenPage) -> None:
    page = open_page(None)
    wanted = dict(MOVE_KEYS)
    for table in one_round_of_each(http):
        seat = table.to_move()
        moves = table.moves(seat)
        for key, is_wanted in list(wanted.items()):
            if found := next((move for move in moves if is_wanted(move)), None):
                del wanted[key]
                press(page, table, seat, key, found)
                break
        else:
            table.client.make_move(table, seat, Random(len(moves)).choice(moves))
        if not wanted:
            return
    raise AssertionError(f"no game has moves for {list(wanted)}")


def one_round_of_each(http: httpx.Client) -> Iterator[Table]:
    """Every game, again and again until its first round is over and the next one dealt; somebody moves meanwhile."""
    for variant, recipe in reversed(variants().items()):
        table = Table.create(http, variant, recipe.players.low, seed="a", options=smallest_set(variant))
        for _ in range(MAX_MOVES):
            view = table.view()
            if view["round"] > 1 or match_finished(view):
                break
            yield table


def press(page: Page, table: Table, seat: int, key: str, move: Json) -> None:
    """Make a move on the page by its key, with only its tile and its place chosen before."""
    page.goto("/#/settings")
    page.evaluate("localStorage.clear()")  # of another seat of the same game
    page.goto("about:blank")
    page.goto(f"/#/seat/{table.id}/{table.tokens[seat]}")
    expect(page.locator(".state.turn, [data-action=deal]").first).to_be_attached()
    if "tile" in move:
        tile = page.locator(f"[role=option][data-tile='{move['tile']}']")
        tile.click()
        buttons = page.locator(".actions [data-place]")
        buttons.and_(page.locator("[data-face-down]")).first.wait_for()
        number = 1 + buttons.evaluate_all(f"(all) => all.findIndex((each) => each.dataset.place === '{move['end']}')")
        tile.focus()
        page.keyboard.press(str(number))
    else:
        page.locator("[data-table]").focus()
    version = table.view()["version"]
    page.keyboard.press(key)
    assert table.http.get(table.path, params={"after": version, "wait": 20}).json()["version"] > version, key
    event = table.http.get(f"{table.path}/events", params={"after": version}).json()["events"][0]
    assert event["type"] == EVENTS[move["action"]], key
    assert bool(move.get("face_down")) == bool(event["data"].get("face_down")), key


def test_a_tile_that_may_lie_either_way_at_an_end_is_asked_which_half_stays_outside(
    http: httpx.Client, open_page: OpenPage
) -> None:
    dealt = deal("matador", "1-6 2-3 2-5 0-0 3-5 0-2 0-1", "6-6 1-4 1-3 4-4 5-5 2-2 4-5", seats=2)
    table = Table.create(http, "matador", 2, deals=[dealt])
    play(table, 1, "6-6")
    page = at_the_table(open_page, table, 0)
    page.locator("[role=option][data-tile='1-6']").click()
    places = page.locator("[data-place]")
    expect(places).to_have_text(
        [
            re.compile(f"{number}.*{place}", re.IGNORECASE)
            for number, place in enumerate(
                [
                    "On the left, the one outside",
                    "On the left, the six outside",
                    "On the right, the one outside",
                    "On the right, the six outside",
                ],
                1,
            )
        ]
    )
    page.keyboard.press("d")
    expect_said(
        page, r"Where does one six go\? 1: on the left, the one outside; 2: .*; 4: on the right, the six outside\."
    )
    command = command_field(page)
    command.fill("1-6 r :6")
    command.press("Enter")
    expect(page.get_by_role("log").locator("li").last).to_have_text(re.compile("one six on the right"))
    assert ends(table) == {"left": 6, "right": 6}
