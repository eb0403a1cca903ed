"""A page that does what no page may do fails its test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Error

from tests.browser.accessibility import Axe
from tests.browser.pages import LAN_HOST, OpenPage, Pages

pytestmark = pytest.mark.gate


@pytest.fixture
def faulty(browser: Browser, service_url: str) -> Iterator[Pages]:
    """Pages that no fixture judges."""
    pages = Pages(browser, service_url)
    yield pages
    pages.close()


FAULTS = {
    "console.warn('careful')": "console warning: careful",
    "console.error('broken')": "console error: broken",
    "setTimeout(() => { throw Error('unforeseen') })": "uncaught: Error: unforeseen",
    "setTimeout(() => Promise.reject(Error('unkept')))": "uncaught: Error: unkept",
    "document.body.append(Object.assign(document.createElement('audio'), { src: '/x.mp3' }))": "media-src",
    "document.body.setAttribute('style', 'color: red')": "style-src",
    "try { document.body.innerHTML = 'markup' } catch {}": "'TrustedHTML'",
}
"""What a page does, and what is then found."""


def test_every_fault_is_found(faulty: Pages) -> None:
    page = faulty.open()
    for script in FAULTS:
        page.evaluate(script)
        page.evaluate("new Promise((resolve) => setTimeout(resolve))")
    found = faulty.close()
    assert len(found) == len(FAULTS)
    for fault in FAULTS.values():
        assert any(fault in each for each in found), fault


@pytest.mark.nightly
@pytest.mark.parametrize("host", ["192.0.2.1", "example.org"])
def test_another_machine_is_not_reached(host: str, faulty: Pages) -> None:
    with pytest.raises(Error, match="ERR_NAME_NOT_RESOLVED"):
        faulty.open().goto(f"http://{host}/")
    assert faulty.close() == [f"a request to another machine: http://{host}/"]


@pytest.mark.nightly
def test_an_expected_message_is_no_fault(faulty: Pages) -> None:
    faulty.expect_console("care")
    faulty.open().evaluate("console.warn('careful')")
    assert faulty.close() == []


@pytest.mark.nightly
def test_an_expected_message_that_does_not_come_is_a_fault(faulty: Pages) -> None:
    faulty.expect_console("care")
    faulty.open()
    assert faulty.close() == ["expected in the console, but did not come: care"]


@pytest.mark.nightly
def test_two_pages_share_nothing(open_page: OpenPage) -> None:
    open_page().evaluate("localStorage.setItem('key', 'value')")
    assert open_page().evaluate("localStorage.getItem('key')") is None


@pytest.mark.nightly
def test_a_device_has_its_language_size_colours_and_fingers(open_page: OpenPage) -> None:
    page = open_page(
        locale="de", viewport=(390, 844), scheme="dark", motion="no-preference", contrast="active", touch=True
    )
    media = """(queries) => queries.filter((query) => matchMedia(query).matches)"""
    fulfilled = ["(width: 390px)", "(prefers-color-scheme: dark)", "(forced-colors: active)", "(pointer: coarse)"]
    assert page.evaluate(media, [*fulfilled, "(prefers-reduced-motion: reduce)"]) == fulfilled
    assert page.evaluate("navigator.language") == "de"


@pytest.mark.nightly
def test_a_page_in_a_home_is_no_secure_context(open_page: OpenPage, service_url: str) -> None:
    assert open_page().evaluate("isSecureContext")
    assert not open_page(url=service_url.replace("127.0.0.1", LAN_HOST)).evaluate("isSecureContext")


@pytest.mark.nightly
def test_a_page_that_is_not_accessible_is_described(open_page: OpenPage, axe: Axe) -> None:
    page = open_page("/problems")
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    (found,) = axe(page)
    assert found.startswith("button-name (critical) at ")
