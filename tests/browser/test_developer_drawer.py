"""The developer drawer shows every request without secrets, unless asked for them, and provokes harmless faults."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessibility import Axe, fits
from tests.browser.pages import NARROW, ExpectConsole, OpenPage
from tests.browser.playing import command_field
from tests.whole.table import Table, connect

pytestmark = pytest.mark.gate


@pytest.fixture
def table(service_url: str) -> Iterator[Table]:
    with connect(service_url) as http:
        yield Table.create(http, "homo-homini-lupus", 4)


def open_drawer(page: Page) -> None:
    """Open the drawer, and in it every request, once there is one."""
    page.keyboard.press("Backquote")
    expect(page.get_by_role("heading", name=re.compile("^(Developer drawer|Entwicklerfenster)$"))).to_be_focused()
    expect(page.locator(".developer details").first).to_be_attached()
    page.evaluate("document.querySelectorAll('.developer details').forEach((each) => (each.open = true))")
    expect(page.locator(".developer .curl").first).to_be_visible()


def take_seat(page: Page, table: Table, seat: int) -> None:
    """Play a seat on this device, and come back to the start."""
    page.goto(f"/#/seat/{table.id}/{table.tokens[seat]}")
    expect(page).to_have_url(re.compile(f"#/g/{table.id}$"))
    expect(page.locator(".play.playing")).to_be_attached()
    page.goto("/#/settings")
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("^(Settings|Einstellungen)$"))


def everything(page: Page) -> str:
    """The page with what its fields contain."""
    fields: str = page.evaluate("[...document.querySelectorAll('input, textarea')].map((each) => each.value).join()")
    return page.content() + fields


def test_a_token_is_nowhere_in_the_page_until_it_is_asked_for(table: Table, open_page: OpenPage) -> None:
    page = open_page()
    take_seat(page, table, 0)
    open_drawer(page)
    shown = everything(page)
    assert f"/v1/games/{table.id}" in shown
    assert "Authorization: Bearer $TOKEN" in shown
    assert table.tokens[0] not in shown
    page.get_by_label("Show tokens and hands").check()
    assert table.tokens[0] in everything(page)


def test_what_a_creation_answers_is_shown_without_its_secrets(table: Table, page: Page) -> None:
    created = {"game": table.view(), "seats": [{"seat": 0, "name": "Ada", "token": table.tokens[0]}], "join_code": "Q7"}
    exchange: dict[str, Any] = {
        "method": "POST",
        "headers": {"Idempotency-Key": "known-to-one"},
        "body": {"join_code": "Q7"},
        "answer": created,
    }
    shown = page.evaluate(
        "async (exchange) => (await import('/client/shell/exposure.js')).withoutSecrets(exchange)", exchange
    )
    assert shown["answer"]["game"] == created["game"]
    assert shown["answer"]["seats"] == [{"seat": 0, "name": "Ada", "token": "$TOKEN"}]
    assert shown["headers"] == {"Idempotency-Key": "$KEY"}
    assert (shown["answer"]["join_code"], shown["body"]) == ("$JOIN_CODE", {"join_code": "$JOIN_CODE"})


def test_where_several_play_on_one_device_no_hand_is_in_the_drawer(table: Table, open_page: OpenPage) -> None:
    page = open_page()
    for seat in (0, 1):
        take_seat(page, table, seat)
    open_drawer(page)
    hands = [table.view(seat)["you"]["hand"] for seat in (0, 1)]
    shown = page.locator(".developer")
    # The examples of tables in the lists of variants have tiles, too.
    in_a_list = re.compile(r'(?<!"tile": )"(\d+-\d+)"')
    assert not {tile for hand in hands for tile in hand} & set(in_a_list.findall(shown.inner_text()))
    page.get_by_label("Show tokens and hands").check()
    assert hands[1][0] in in_a_list.findall(shown.inner_text())


@pytest.mark.nightly
def test_a_move_as_another_seat_is_refused(table: Table, open_page: OpenPage, expect_console: ExpectConsole) -> None:
    expect_console("status of 409")
    before = table.view()
    page = open_page()
    take_seat(page, table, next(seat for seat in table.tokens if seat not in before["to_act"]))
    open_drawer(page)
    page.get_by_role("button", name="Faults").click()
    page.get_by_role("button", name="Send it as another seat").click()
    expect(page.locator(".developer .note")).to_contain_text("409 ")
    assert table.view()["version"] == before["version"]


@pytest.mark.nightly
def test_a_move_that_is_sent_again_changes_nothing(
    table: Table, open_page: OpenPage, expect_console: ExpectConsole
) -> None:
    expect_console("status of 412")
    seat = table.to_move()
    tile = table.moves(seat)[0]["tile"]
    page = open_page(f"/#/seat/{table.id}/{table.tokens[seat]}")
    page.get_by_role("option").first.wait_for()
    command_field(page).fill(f"{tile} 1")
    page.locator("#command").press("Enter")
    expect(page.locator(f".cloth [data-tile='{tile}']")).to_be_visible()
    version = table.view()["version"]
    page.locator("#menu-button").click()
    page.locator("#drawer-button").click()
    page.get_by_role("button", name="Faults").click()
    outcome = page.locator(".developer .note")
    page.get_by_role("button", name="Send the last move twice").click()
    expect(outcome).to_have_text("201 the first answer, replayed")
    page.get_by_role("button", name="Send it with an old version").click()
    expect(outcome).to_contain_text("412 ")
    assert table.view()["version"] == version


@pytest.mark.nightly
def test_a_dropped_stream_is_resumed(table: Table, open_page: OpenPage) -> None:
    page = open_page(f"/#/watch/{table.id}")
    page.locator("#menu-button").click()
    page.locator("#drawer-button").click()
    page.get_by_role("button", name="Stream", exact=True).click()
    items = page.locator(".developer .entries > li")
    expect(items.first).to_contain_text("view")
    before = items.count()
    page.get_by_role("button", name="Faults").click()
    page.get_by_role("button", name="Drop the stream").click()
    expect(page.locator(".developer .note")).to_have_text("The stream was dropped.")
    table.make_legal_move()
    page.get_by_role("button", name="Stream", exact=True).click()
    expect(items.first).to_contain_text("view")
    expect(items).to_have_count(before + 2)


@pytest.mark.nightly
def test_the_page_is_offline_for_ten_seconds(table: Table, open_page: OpenPage) -> None:
    page = open_page(None)
    page.clock.install()
    page.goto("/")
    open_drawer(page)
    page.get_by_role("button", name="Faults").click()
    page.get_by_role("button", name="Be offline for 10 s").click()
    page.evaluate(f"location.hash = '#/score/{table.id}'")
    expect(page.locator("main")).to_contain_text("The service cannot be reached.")
    page.clock.run_for(10_000)
    expect(page.locator(".developer .note")).to_have_text("Online again.")
    page.evaluate("location.hash = '#/'")
    expect(page.get_by_role("heading", name="All games")).to_be_visible()
    page.evaluate(f"location.hash = '#/score/{table.id}'")
    expect(page.locator("main")).to_contain_text("No round is over yet.")


def test_the_drawer_is_accessible_on_a_narrow_screen_and_closes_by_key(
    table: Table, open_page: OpenPage, axe: Axe
) -> None:
    page = open_page(locale="de", viewport=NARROW, scheme="dark")
    take_seat(page, table, 0)
    open_drawer(page)
    assert axe(page) == []
    for part in ("Stream", "Störungen"):
        page.get_by_role("button", name=part, exact=True).click()
        assert axe(page) == []
    assert fits(page)
    page.keyboard.press("Escape")
    expect(page.locator(".developer")).to_have_count(0)
    expect(page.locator("#drawer-button")).to_be_focused()
