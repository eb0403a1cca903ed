"""The pictures of the page that the documents show are those that ``make pictures`` takes, described and all shown."""

from __future__ import annotations

import re

from tests.support.serving import ROOT
from tools.page.take_pictures import FOLDER, PICTURES

PAGES = (ROOT / "README.md", ROOT / "docs" / "page.md")
IMAGE = re.compile(r'<img src="([^":]+)" [^>]*alt="[^"]{20,}"')
"""An image of the project, with words for those who do not see it."""


def test_the_pages_show_every_picture_with_a_description_and_no_other() -> None:
    assert {file.name for file in FOLDER.iterdir()} == {f"{name}.png" for name in PICTURES}, "run make pictures"
    shown = set()
    for page in PAGES:
        images = IMAGE.findall(page.read_text("utf-8"))
        assert len(images) == len(re.findall(r'<img src="(?!http)', page.read_text("utf-8"))), page
        shown |= {(page.parent / each).resolve() for each in images}
    assert shown == {file.resolve() for file in FOLDER.iterdir()}
