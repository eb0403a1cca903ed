"""An invitation leads others to the service, from whatever address the page was opened at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessibility import Axe
from tests.browser.pages import LAN_HOST, OpenPage
from tests.support.serving import ALONE, Service

pytestmark = pytest.mark.gate

ELSEWHERE = "http://domino.example:8000/table"


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that knows where others reach it."""
    folder: Path = tmp_path_factory.mktemp("known")
    with Service(folder, PUBLIC_URL=f"{ELSEWHERE}/, http://127.0.0.1:8000", WORKERS="1", **ALONE) as running:
        yield running


def invite(page: Page) -> None:
    """Begin a game that waits for others."""
    page.get_by_role("link", name="Invite friends").click()
    page.get_by_role("button", name="Start the game").click()
    expect(page.get_by_role("heading", name="Invite others")).to_be_visible()


def test_a_page_opened_at_loopback_says_so_and_shows_no_picture_of_it(page: Page) -> None:
    invite(page)
    expect(page.locator("[data-only-here]")).to_contain_text("leads every device to itself")
    expect(page.locator("[data-only-here]")).to_contain_text("HOST=0.0.0.0 make run")
    expect(page.locator(".qr")).to_have_count(0)
    expect(page.get_by_role("button", name="Share")).to_have_count(0)
    page.get_by_text("Continue on another device").click()
    expect(page.get_by_label("Secret link for Guest", exact=True)).to_be_visible()
    expect(page.locator(".qr")).to_have_count(0)


def test_a_page_opened_at_an_address_of_the_network_invites_there(open_page: OpenPage, service_url: str) -> None:
    url = service_url.replace("127.0.0.1", LAN_HOST)
    page = open_page("/", url=url)
    invite(page)
    assert page.locator("#join-link").input_value().startswith(f"{url}/#/join/")
    expect(page.locator(".qr path").first).to_be_attached()
    expect(page.locator("[data-only-here]")).to_have_count(0)


def test_an_address_that_the_service_knows_takes_the_place_of_loopback(
    known: Service, open_page: OpenPage, axe: Axe
) -> None:
    page = open_page("/", url=known.url)
    invite(page)
    for field in ("#join-link", "#watch-link"):
        assert page.locator(field).input_value().startswith(f"{ELSEWHERE}/#/")
    expect(page.locator(".qr path").first).to_be_attached()
    expect(page.locator("[data-only-here]")).to_have_count(0)
    page.get_by_text("Continue on another device").click()
    assert page.get_by_label("Secret link for Guest", exact=True).input_value().startswith(f"{ELSEWHERE}/#/seat/")
    expect(page.locator(".qr svg")).to_have_count(2)
    assert axe(page) == []
