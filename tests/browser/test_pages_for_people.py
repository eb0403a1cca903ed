"""What the service shows to people opens in a browser, and is accessible."""

from __future__ import annotations

from itertools import product

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import Axe
from tests.browser.pages import DESK, NARROW, SCHEMES, OpenPage

pytestmark = pytest.mark.gate


@pytest.mark.nightly
@pytest.mark.parametrize("path", ["/", "/problems", "/docs/"])
def test_a_page_opens_with_its_heading(path: str, open_page: OpenPage) -> None:
    expect(open_page(path).get_by_role("heading", level=1)).to_be_visible()


@pytest.mark.parametrize("path", ["/", "/problems"])  # /docs is the work of others, and has faults
def test_a_page_is_accessible(path: str, open_page: OpenPage, axe: Axe) -> None:
    for viewport, scheme in product((DESK, NARROW), SCHEMES):
        page = open_page(path, viewport=viewport, scheme=scheme)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert axe(page) == []
