"""The list of keys in docs/page.md is the one that the page shows."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.pages import OpenPage
from tests.support.serving import ROOT
from tests.whole.table import Table, connect

pytestmark = pytest.mark.nightly

ROW = re.compile(r"^\| (.+) \| (.+) \|$", re.MULTILINE)


def documented() -> list[tuple[str, str]]:
    """The keys with their help."""
    text = (ROOT / "docs" / "page.md").read_text("utf-8").partition("### Keys\n")[2].partition("\n### ")[0]
    _header, *rows = ROW.findall(text)
    return [(re.sub(r"\*\*|(?<=`) | (?=`)|``", "", keys), said) for keys, said in rows]


def test_the_documented_keys_are_those_of_the_page(open_page: OpenPage, service_url: str) -> None:
    with connect(service_url) as http:
        game = Table.create(http, "domino", 2).id
    page = open_page(f"/#/watch/{game}", locale="en")
    page.locator(".play.playing").focus()
    page.keyboard.press("?")
    rows = page.locator("dialog.keys tbody tr")
    expected = documented()
    expect(rows).to_have_count(len(expected))
    shown = [(" ".join(row.locator("kbd").all_text_contents()), row.locator("td").text_content()) for row in rows.all()]
    assert shown == expected
