"""The list of keys in docs/page.md is the one that the page shows."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.pages import OpenPage
from tests.support.serving import ROOT
from tests.whole.table import Table, connect

pytestmark = pytest.mark.nightly

ROW = re.compile(r"^\| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)


def documented() -> list[tuple[str, str, str]]:
    """The keys with their help in English and in German."""
    text = (ROOT / "docs" / "page.md").read_text("utf-8").partition("### Keys\n")[2].partition("\n### ")[0]
    _header, *rows = ROW.findall(text)
    return [(re.sub(r"\*\*|(?<=`) | (?=`)|``", "", keys), english, german) for keys, english, german in rows]


@pytest.mark.parametrize("locale", ["en", "de"])
def test_the_documented_keys_are_those_of_the_page(locale: str, open_page: OpenPage, service_url: str) -> None:
    with connect(service_url) as http:
        game = Table.create(http, "domino", 2).id
    page = open_page(f"/#/watch/{game}", locale=locale)
    page.locator(".play.playing").focus()
    page.keyboard.press("?")
    rows = page.locator("dialog.keys tbody tr")
    expected = documented()
    expect(rows).to_have_count(len(expected))
    shown = [(" ".join(row.locator("kbd").all_text_contents()), row.locator("td").text_content()) for row in rows.all()]
    assert [help_text for _, help_text in shown] == [row[1 if locale == "en" else 2] for row in expected]
    if locale == "en":
        assert [keys for keys, _ in shown] == [keys for keys, _, _ in expected]
