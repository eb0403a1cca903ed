"""A game that is added to the service can be set up and played on the page, which knows nothing of it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

import service
from tests.browser.pages import OpenPage
from tests.browser.playing import Mouse, log
from tests.support.serving import ALONE, Service

pytestmark = pytest.mark.gate

RULES = "# Kitchen block\n\n**6.1** Two ends, and nothing to draw.\n\n**6.2** The highest total wins.\n"


@pytest.fixture
def service_with_another_game(tmp_path: Path) -> Iterator[Service]:
    """The service with the game of docs/add-a-game.md under another name: in a copy, its folder is part of it."""
    original = Path(service.__file__).parent
    copy = tmp_path / "service"
    shutil.copytree(original, copy, ignore=shutil.ignore_patterns("__pycache__"))
    games = copy / "engine" / "variants"
    source = games.joinpath("block.py").read_text("utf-8")
    assert 'key="block"' in source
    games.joinpath("kitchen_block.py").write_text(source.replace('key="block"', 'key="kitchen-block"'), "utf-8")
    for language, name in (("en", "Kitchen block"), ("de", "Küchenblock")):
        texts = copy / "texts" / language / "games"
        said = json.loads(texts.joinpath("block.json").read_text("utf-8")) | {"name": name}
        texts.joinpath("kitchen-block.json").write_text(json.dumps(said), "utf-8")
        texts.joinpath("kitchen-block.md").write_text(RULES, "utf-8")
    with Service(tmp_path / "data", cwd=tmp_path, WORKERS="1", **ALONE) as running:
        yield running


def test_a_new_game_shows_up_without_a_change_of_the_page(
    service_with_another_game: Service, open_page: OpenPage
) -> None:
    page = open_page("/", url=service_with_another_game.url)
    page.get_by_role("link", name="Kitchen block", exact=True).click()
    page.get_by_text("House rules").click()
    target = page.get_by_role("spinbutton", name="Target")
    expect(target).to_have_value("100")
    target.fill("50")
    page.get_by_role("button", name="All on this device").click()
    for seat, name in enumerate(page.get_by_label(re.compile("^Name on seat")).all()):
        name.fill(f"P{seat}")
    page.get_by_role("button", name="Start the game").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Kitchen block")
    page.locator(".curtain .main").wait_for()
    page.evaluate("new Promise((resolve) => setTimeout(resolve, 450))")  # a new curtain takes no tap
    page.locator(".curtain .main").click()
    page.get_by_role("option").first.wait_for()
    Mouse(page).move()
    expect(page.locator(".cloth .tiles [data-tile]")).to_have_count(1)
    expect(log(page).filter(has_text="opened with")).to_have_count(1)  # who cannot follow passes at once
    page.get_by_text("Options and rules").click()
    expect(page.get_by_text("Target: 50")).to_be_visible()
    page.get_by_role("link", name="Rules", exact=True).click()
    expect(page.get_by_text("Two ends, and nothing to draw.")).to_be_visible()
