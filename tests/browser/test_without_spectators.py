"""A game without spectators is joined, played, and looked at afterwards on the page, by its players alone."""

from __future__ import annotations

import json
import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.api.saved_games import shortest
from tests.browser.pages import ExpectConsole, OpenPage
from tests.browser.playing import Keyboard, html_of, log, take_seats, told
from tests.support.table import Json, match_finished, seat_to_move
from tests.whole.table import Table

pytestmark = pytest.mark.gate

MOVES = 6
"""So many are made on the page, the rest of the match over HTTP."""


def create(http: httpx.Client, players: list[Json], **more: object) -> Table:
    """A private game with fixed deals, which take no seed of whoever joins."""
    return Table.create(http, "draw", players, spectators=False, seed="private", options=shortest("draw"), **more)


def move(table: Table, view: Json) -> None:
    """Make a legal move over HTTP."""
    seat = seat_to_move(view)
    assert table.move(seat, table.moves(seat)[0]).status_code == 201


def play_out(table: Table) -> None:
    while not match_finished(view := table.view(0)):
        move(table, view)


def look_back(page: Page, table: Table) -> None:
    """The end of the match, its score card and its replay."""
    expect(page.locator(".play.finished")).to_be_attached()
    expect(page.locator(f"a.button[href='#/score/{table.id}']")).to_be_visible()
    page.goto(f"/#/score/{table.id}")
    expect(page.get_by_role("table").first).to_be_visible()
    page.goto(f"/#/replay/{table.id}")
    expect(page.locator(".cloth .tiles")).to_be_attached()


def test_an_invitation_shows_nothing_but_takes_a_seat(
    http: httpx.Client, open_page: OpenPage, expect_console: ExpectConsole
) -> None:
    table = create(http, [{"name": "Ada"}, {"open": True}])
    expect_console("status of 4")
    stranger = open_page(f"/#/join/{table.id}/WRONG")
    expect(stranger.locator("main").get_by_text("Only its players can see this game")).to_be_visible()
    stranger.get_by_label("Your name").fill("Eve")
    stranger.get_by_role("button", name="Sit down").click()
    expect(stranger.get_by_label("Join code")).to_have_accessible_description(re.compile("no game with this id and"))

    guest = open_page(f"/#/join/{table.id}/{table.join_code}")
    expect(guest.locator("main").get_by_text("Only its players can see this game")).to_be_visible()
    guest.get_by_label("Your name").fill("Bo")
    guest.get_by_role("button", name="Sit down").click()
    expect(guest.locator(".play.playing")).to_be_attached()
    [seat] = json.loads(guest.evaluate("Object.entries(localStorage).find(([name]) => name.endsWith(':seats'))[1]"))
    table.tokens[1] = seat["token"]
    for _ in range(MOVES):
        view = table.view(0)
        if 1 not in view["to_act"]:
            move(table, view)
            continue
        guest.locator(".state.turn, [data-action=deal]").first.wait_for()
        Keyboard(guest).move()
    play_out(table)
    look_back(guest, table)


def test_several_seats_of_one_device_play_it_behind_the_curtain(
    http: httpx.Client, open_page: OpenPage, expect_console: ExpectConsole
) -> None:
    table = create(http, [{"name": "Ada"}, {"name": "Bo"}])
    expect_console("status of 404")  # of who reads it without a token, as where several seats are played
    page = open_page(None)
    take_seats(page, table, 0, 1)
    page.reload()
    drawn = set()
    while not match_finished(view := table.view(0)):
        hidden = [tile for seat in table.tokens for tile in table.view(seat)["you"]["hand"]]
        if view["status"] == "playing":
            expect(page.locator(".play.playing")).to_be_attached()
            expect(page.get_by_role("option")).to_have_count(0)
            assert not told(html_of(page), hidden)
        move(table, view)
        events = table.get(f"/events?after={view['version']}", 0).json()["events"]
        drawn |= {event["seat"] for event in events if event["type"] == "drew"}
        if any(event["type"] == "played" for event in events):
            tile = next(event["data"]["tile"] for event in events if event["type"] == "played")
            expect(page.locator(f".cloth .tiles [data-tile='{tile}']")).to_be_attached()
    assert 0 in drawn, "the seat by which the page reads the game has drawn"
    assert log(page).count() > 0
    look_back(page, table)
