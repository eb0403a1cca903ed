"""The same pages in Firefox and in WebKit, where they are installed: ``make browsers``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.accessibility import RUN, sentences
from tests.browser.engines import ENGINES, Engine, MissingError
from tests.browser.installation import axe_source

pytestmark = pytest.mark.engines


@pytest.fixture(scope="module", params=list(ENGINES))
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder: Path = tmp_path_factory.mktemp(request.param)
    try:
        with ENGINES[request.param](folder) as running:
            yield running
    except MissingError as error:
        pytest.skip(f"{request.param}: {error}")


def test_the_front_page_is_accessible(engine: Engine, service_url: str) -> None:
    engine.open(service_url)
    assert sentences(engine.evaluate(axe_source() + RUN)) == []


def test_mouse_and_keyboard_reach_the_page(engine: Engine, service_url: str) -> None:
    engine.open(service_url)
    engine.press("Tab")
    assert engine.evaluate("return document.activeElement.matches('pre, a')")
    engine.evaluate("""document.addEventListener("click", (event) => {
        event.preventDefault();
        document.body.dataset.clicked = event.target.textContent;
    });""")
    engine.click("a[href='docs/']")
    assert engine.evaluate("return document.body.dataset.clicked") == "/docs"
