"""The pictures of the page that the documents show are there, small, and all shown."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from tests.support.serving import ROOT
from tools.page.take_pictures import FOLDER, PICTURES

MOST_BYTES = 60_000
MOST_BYTES_TOGETHER = 250_000
PAGES = (ROOT / "README.md", ROOT / "docs" / "page.md")
IMAGE = re.compile(r'<img src="([^":]+)" [^>]*alt="[^"]{20,}"')
"""An image of the project, with words for those who do not see it."""


def test_there_is_a_file_for_every_picture_and_no_other() -> None:
    assert {file.name for file in FOLDER.iterdir()} == {f"{name}.png" for name in PICTURES}, "run make pictures"


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_has_the_size_of_its_device(name: str) -> None:
    content = (FOLDER / f"{name}.png").read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", content[16:24]) == PICTURES[name].size
    assert len(content) <= MOST_BYTES


def test_the_pictures_together_are_small() -> None:
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) <= MOST_BYTES_TOGETHER


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_image_of_a_page_is_described_and_there(page: Path) -> None:
    text = page.read_text("utf-8")
    images = IMAGE.findall(text)
    assert len(images) == len(re.findall(r'<img src="(?!http)', text))
    assert images
    assert [each for each in images if not (page.parent / each).is_file()] == []


def test_every_picture_is_shown() -> None:
    shown = {(page.parent / each).resolve() for page in PAGES for each in IMAGE.findall(page.read_text("utf-8"))}
    assert shown == {file.resolve() for file in FOLDER.iterdir()}
