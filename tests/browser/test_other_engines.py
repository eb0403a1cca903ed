"""The same pages in Firefox and in WebKit, where they are installed: ``make browsers``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.browser.accessibility import RUN, sentences
from tests.browser.engines import ENGINES, Engine, MissingError
from tests.browser.installation import axe_source

pytestmark = pytest.mark.engines

KEY_OF = {"draw": " ", "pass": "p", "deal": "n"}
ENOUGH_MOVES = 3
MAX_MOVES = 60


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


def test_moves_are_made_by_mouse_and_by_key(engine: Engine, service_url: str) -> None:
    players = [{"name": "Ada"}, {"name": "Bo"}]
    with httpx.Client(base_url=service_url) as http:
        created = http.post("/v1/games", json={"variant": "domino", "players": players}).raise_for_status().json()
        game, tokens = created["game"]["id"], [seat["token"] for seat in created["seats"]]
        engine.open(f"{service_url}/#/seat/{game}/{tokens[0]}")
        made = {"mouse": 0, "key": 0}
        for _ in range(MAX_MOVES):
            view = http.get(f"/v1/games/{game}").json()
            (seat,) = view["to_act"]
            bearer = {"Authorization": f"Bearer {tokens[seat]}"}
            move = http.get(f"/v1/games/{game}/moves", headers=bearer).json()["legal_moves"][0]
            if seat == 1:
                http.post(f"/v1/games/{game}/moves", json=move, headers=bearer).raise_for_status()
                continue
            device = min(made, key=lambda each: made[each])
            make(engine, move, device)
            made[device] += 1
            after = http.get(f"/v1/games/{game}", params={"after": view["version"], "wait": 20}).json()
            assert after["version"] > view["version"], f"{device} did not make {move}"
            if min(made.values()) == ENOUGH_MOVES:
                return
    raise AssertionError(f"the match is over too early: {made}")


def make(engine: Engine, move: dict[str, Any], device: str) -> None:
    """Make a move on the page: choose its tile, if it has one, then the first place."""
    if move["action"] == "play":
        tile, button = f"[role=option][data-tile='{move['tile']}']", ".actions :is([data-place], [data-action=lay])"
        engine.click(tile)
        engine.wait_for(button)
        keys = ["1", "Enter"] if engine.evaluate("return !!document.querySelector('[data-place]')") else ["Enter"]
    else:
        button, keys = f".actions [data-action={move['action']}]", [KEY_OF[move["action"]]]
        engine.wait_for(button)
        engine.evaluate("document.querySelector('[role=option][tabindex=\"0\"]').focus()")
    if device == "mouse":
        engine.evaluate(f"document.querySelector({json.dumps(button)}).focus()")  # only then a place's is to be seen
        engine.click(button)
    else:
        for key in keys:
            engine.press(key)
