"""What a listener hears of a match, line by line: each thing that happens, and whose turn it is only after it.

``pytest --rewrite`` writes the files in ``heard`` anew; read what has changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from playwright.sync_api import Page, expect

from service.engine.tiles import parse_tile
from service.engine.variants import variants
from service.render.sentences.numbers import pip_word
from service.render.sentences.places import host_name
from tests.api.saved_games import shortest
from tests.browser.pages import LONG_MS, OpenPage
from tests.browser.playing import fitting, hand_drawn_anew, laying, log, offered
from tests.support.lanes import in_lane
from tests.whole.table import Table

pytestmark = pytest.mark.gate

FOLDER: Final = Path(__file__).parent / "heard"
MAX_MOVES: Final = 120
"""No match of these has more moves of one seat."""

LENGTHS: Final = {
    "all-fives": 75,
    "bergen": 5,
    "block": 40,
    "by-wins": 2,
    "cochon": 1,
    "domino": 12,
    "dominospiel": 10,
    "draw": 50,
    "fido": 1,
    "latin": 50,
    "fives-and-threes": 16,
    "homo-homini-lupus": 2,
    "kozel": 60,
    "matador": 50,
    "menschenwolf": 20,
    "sebastopol": 12,
    "tiddly-wink": 2,
}
"""The points or rounds of a match: two rounds, as a rule, and one where a round is long."""

KEEP_HEARD: Final = """(() => {
  window.heard = [];
  const keep = (records) => records.forEach(({ target, addedNodes }) => addedNodes.forEach((node) => {
    const region = (target instanceof Element ? target : target.parentElement)?.closest("#status, #alert, [role=log]");
    if (!region || region.getAttribute("aria-live") === "off") return;
    heard.push(`${region.id === "alert" ? "ALERT: " : ""}${node.textContent}`);
  }));
  const observer = new MutationObserver(keep);
  const begin = () => observer.observe(document.body, { childList: true, subtree: true });
  document.addEventListener("DOMContentLoaded", begin);
})()"""
"""Keeps what is added to live regions, in the order in which it is."""

DREW: Final = re.compile(r"(?P<name>.+) drew (?:a tile|(?P<count>[0-9]+) tiles)\.")

MATCH_IS_OVER: Final = ".play.finished"
ON_TURN: Final = f".state.turn, .actions [data-action=deal], {MATCH_IS_OVER}"
"""A turn of the page's seat, of which a deal is one; or the end, when there is none any more."""


def players(variant: str) -> list[dict[str, Any]]:
    """One person and computer players: four where so many can play, as partners need."""
    low, high = variants()[variant].players
    return [{"name": "Ada"}, *({"bot": "greedy"} for _ in range(min(max(low, 4), high) - 1))]


def make_move(page: Page) -> None:
    """Make the first move that the page offers, and wait for the next turn or the end."""
    before = log(page).count()
    fitting(page).or_(offered(page)).first.wait_for()  # the hand comes after whose turn it is
    if fitting(page).count():
        with hand_drawn_anew(page):
            fitting(page).first.click()
            laying(page).first.focus()  # only then is it to be seen
            laying(page).first.click()
    else:
        move = offered(page).first
        changes_hand = move.get_attribute("data-action") in ("draw", "deal")
        with hand_drawn_anew(page) if changes_hand else nullcontext():
            move.click()
    expect(log(page).nth(before)).to_be_attached()
    page.wait_for_function("() => !document.querySelector('.actions button:disabled')")
    on_turn(page)


def on_turn(page: Page) -> None:
    """Wait until it is the turn of the page's seat, or until the match is over; before it, others may move often."""
    page.locator(ON_TURN).first.wait_for(timeout=LONG_MS)


def open_on_turn(page: Page, table: Table) -> None:
    """Open the seat of the page on its turn, and keep what is heard from then on.

    What computer players do before, while the page loads or earlier, is in the log alone.
    """
    page.goto(f"/#/seat/{table.id}/{table.tokens[0]}")
    on_turn(page)
    page.add_init_script(KEEP_HEARD)
    page.reload()
    on_turn(page)


def heard(page: Page) -> list[str]:
    """Return what was heard. Draws in a row are one line, as the page tells together what it hears of together."""
    lines: list[str] = []
    for line in page.evaluate("heard"):
        drew, before = DREW.fullmatch(line), DREW.fullmatch(lines[-1] if lines else "")
        if drew and before and drew["name"] == before["name"]:
            count = sum([int(each["count"] or 1) for each in (before, drew)])
            lines[-1] = f"{drew['name']} drew {count} tiles."
        else:
            lines.append(line)
    return lines


def short_match(variant: str) -> dict[str, int]:
    """The house rules of a short match."""
    return dict.fromkeys(shortest(variant), LENGTHS[variant])


@pytest.mark.parametrize("variant", in_lane(list(variants()), gate=["draw"]))
def test_a_match_is_heard_in_its_order(
    variant: str, http: httpx.Client, open_page: OpenPage, same_as_file: Callable[[Path, str], None]
) -> None:
    rules = short_match(variant)
    table = Table.create(http, variant, players(variant), seed="what is heard", options=rules, pace=0)
    page = open_page(None)
    open_on_turn(page, table)
    for _ in range(MAX_MOVES):
        if page.locator(MATCH_IS_OVER).count():
            break
        make_move(page)
    expect(page.locator(MATCH_IS_OVER)).to_be_attached()
    told = log(page).last.inner_text()
    page.wait_for_function("(last) => heard.includes(last)", arg=told)
    lines = heard(page)
    same_as_file(FOLDER / f"{variant}.txt", "".join(f"{line}\n" for line in lines))

    assert not [line for line in lines if line.startswith("ALERT")]
    turns = [at for at, line in enumerate(lines) if line.startswith("Your turn")]
    assert turns
    # Nothing is told twice, so each turn has what led to it before it.
    assert not [at for at in turns[1:] if lines[at - 1].startswith("Your turn")]
    if variant == "latin":
        assert [line for line in lines if re.match(r"Emil \(partner\) played ", line)]
        assert [line for line in lines if re.match(r"(Rosa|Nora) played ", line)]


def test_what_happens_waits_for_the_key_of_who_listens(http: httpx.Client, open_page: OpenPage) -> None:
    page = open_page("/#/settings")
    page.get_by_role("radio", name="one by one, with the key T").check()
    table = Table.create(http, "latin", players("latin"), seed="what is heard", pace=0)
    page.goto("about:blank")
    open_on_turn(page, table)
    expect(log(page).first).to_be_attached()
    known, first = log(page).count(), page.locator("[data-state]").inner_text().strip()
    make_move(page)
    told, second = log(page).all_inner_texts()[known:], page.locator("[data-state]").inner_text().strip()
    assert len(told) > 1
    page.locator("[data-table] h1").focus()
    assert heard(page) == []
    for number in range(1, len(told) + 3):
        page.keyboard.press("t")
        page.wait_for_function("(number) => heard.length === number", arg=number)
    assert heard(page) == [first, *told, second]
    page.keyboard.press("t")
    page.wait_for_function("(number) => heard.length === number", arg=len(told) + 3)
    assert heard(page)[-1] == second, "when nothing waits, T tells whose turn it is"


def test_a_game_of_who_listens_is_slower(http: httpx.Client, open_page: OpenPage) -> None:
    page = open_page("/#/settings")
    page.get_by_role("radio", name="slowly").check()
    with page.expect_request(lambda request: request.method == "POST") as sent:
        page.goto("/#/")
        page.get_by_role("button", name=re.compile("Play now")).click()
    body: Any = sent.value.post_data_json
    assert body["pace"] == 3


def test_a_tile_that_does_not_fit_says_why_at_the_first_tap(http: httpx.Client, open_page: OpenPage) -> None:
    table = Table.create(http, "block", 2, seed="why not", options={"hand": 7})
    for _ in range(3):
        table.make_legal_move()
    seat = table.to_move()
    view = table.view(seat)
    numbers = {end["number"] for end in view["board"]["ends"]}
    fitting_tiles = {move.get("tile") for move in view["legal_moves"]}
    [tile, *_] = [each for each in view["you"]["hand"] if each not in fitting_tiles]
    page = open_page(f"/#/seat/{table.id}/{table.tokens[seat]}", viewport=(360, 740), touch=True)
    page.locator(".state.turn").wait_for()
    page.locator(f"[data-tile='{tile}'][role=option]").tap()
    said = page.locator("[data-said]")
    words = [pip_word(number, "en") for number in numbers]
    expect(said).to_have_text(
        re.compile(rf"does not fit: the ends? (is|are) ({'|'.join(words)})( and ({'|'.join(words)}))?\.")
    )
    told = said.inner_text()
    assert told.lower().startswith(host_name(parse_tile(tile), "en").lower())
    expect(page.locator("#status p").last).to_have_text(told)
    expect(page.get_by_role("alert")).to_be_empty()
