"""Strangers meet at one table, wait there, begin it, leave it and resign."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import PHONE, OpenPage
from tests.browser.playing import take_seats
from tests.browser.test_setting_up import at_a_table, kept
from tests.browser.test_told import HIDE
from tests.whole.table import Table

pytestmark = pytest.mark.gate

ACT = {"fill": "Begin with computer players in the free seats", "begin": "Begin with 2 players", "leave": "Leave the"}

CLICK_AND_PRESS_Q = """(button) => {
  button.click();
  document.querySelector("h1").dispatchEvent(new KeyboardEvent("keydown", { key: "q", bubbles: true }));
}"""
"""A key while the dialog is closed already and not gone yet."""


def seek(page: Page, name: str) -> str:
    """Ask for the game that is proposed by keys alone; the id of the table."""
    page.goto("/#/others")
    page.locator("#name").fill(name)
    page.keyboard.press("Enter")
    game = at_a_table(page)
    page.locator("[data-room]").first.wait_for()
    return game


def act(page: Page, what: str) -> None:
    page.get_by_role("button", name=ACT[what]).press("Enter")


def test_two_strangers_and_two_computer_players_meet_at_one_table(open_page: OpenPage) -> None:
    ada, bo = open_page(None), open_page(None, locale="de-DE", viewport=PHONE)
    table = seek(ada, "Ada")
    assert seek(bo, "Bo") == table
    act(ada, "leave")
    expect(ada).to_have_url(re.compile("#/$"))
    assert kept(ada, "seats") == []
    heard = bo.locator("#status p")
    expect(heard.filter(has_text="Ada")).to_have_text("Ada hat den Tisch verlassen.")
    expect(heard.last).to_have_text("Es fehlen noch drei Mitspieler.")
    assert seek(ada, "Ada") == table
    expect(ada.get_by_role("timer")).to_have_text(re.compile(r"^Computer players come in: 0:[1-4]\d$"))

    act(ada, "fill")
    for page in (ada, bo):
        page.locator(".hand [role=option]").first.wait_for()
        expect(page.locator(".players .who")).to_have_text(["Ada", "Bo", "Rosa", "Emil"])

    ada.locator("h1").press("q")
    ada.get_by_role("dialog").get_by_role("button", name="Cancel").evaluate(CLICK_AND_PRESS_Q)
    ada.get_by_role("dialog").get_by_role("button", name="Resign").press("Enter")
    expect(ada.get_by_role("dialog")).to_have_count(0)
    expect(heard.filter(has_text="Ada").filter(has_text="gibt auf")).to_have_count(1)
    expect(ada.locator("[data-resign], [data-back]")).to_have_count(0)
    expect(ada.locator(".presence")).to_contain_text("Ada has given up the match")


def test_seats_of_this_device_have_other_numbers_without_the_free_ones(http: httpx.Client, open_page: OpenPage) -> None:
    page = open_page(None)
    table = Table.create(http, "domino", [{"open": True}, {"name": "Ada"}, {"open": True}, {"name": "Bo"}])
    take_seats(page, table, 1, 3)
    act(page, "begin")
    page.locator(".curtain").wait_for()
    assert {each["seat"]: each["name"] for each in kept(page, "seats")} == {0: "Ada", 1: "Bo"}
    name = page.locator(".curtain h2").inner_text().removeprefix("Pass to ")
    page.locator(".curtain .main").click()
    expect(page.locator(".whose")).to_contain_text(f"{name}’s hand")
    expect(page.get_by_role("option").first).to_be_visible()


def test_who_waits_in_the_background_still_looks(open_page: OpenPage) -> None:
    page = open_page(None)
    page.clock.install()
    with page.expect_response(lambda answer: "/events" in answer.url):  # the stream has begun
        table = seek(page, "Ada")
    page.evaluate(HIDE)
    with page.expect_event("requestfailed"):  # the stream
        page.clock.run_for(60_000)
    with page.expect_response(f"**/games/{table}?*"):
        page.clock.run_for(20_000)
