"""The page names tiles and places with the same words as the sentences of the service."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, Final

import orjson
import pytest

import service.client
from service.engine.layout import Layout
from service.engine.tiles import TILES
from service.render.sentences.places import Places, host_name, place_name
from service.texts import LANGUAGES, Language, page_texts
from service.web.view.serializers import _board
from tests.laws.rounds import kinds, rounds
from tests.support.waiting import PATIENCE
from tests.vectors.verifiers import node_or_skip

CLIENT: Final = Path(service.client.__file__).parent
MODULES: Final = [next(CLIENT.rglob(name)) for name in ("names.js", "text.js")]
DRIVER: Final = Path(__file__).with_name("names.mjs")
SEPARABLE: Final = " an"
"""In German sentences a direction goes with a verb, *legt links an*; the page names the direction alone."""


@cache
def layouts() -> tuple[Layout, ...]:
    """Tables of every game, early and late in a round."""
    found: list[Layout] = []
    for kind in kinds():
        for each in rounds(kind, 1, "names"):
            found += each.layouts[:: max(1, len(each.layouts) // 4)]
    return tuple(found)


@cache
def names_of_the_page() -> dict[str, Any]:
    boards = [orjson.loads(orjson.dumps(_board(layout).complete)) for layout in layouts()]
    texts = {language: page_texts(language)["table"] for language in LANGUAGES}
    asked = {"texts": texts, "tiles": [tile.name for tile in TILES], "boards": boards}
    run = subprocess.run(
        [node_or_skip(), DRIVER, *MODULES],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    named: dict[str, Any] = json.loads(run.stdout)
    return named


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_tile_has_the_name_that_it_has_in_sentences(language: Language) -> None:
    assert names_of_the_page()[language]["tiles"] == [host_name(tile, language) for tile in TILES]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_place_has_the_name_that_it_has_in_sentences(language: Language) -> None:
    for layout, named in zip(layouts(), names_of_the_page()[language]["places"], strict=True):
        places = Places(layout)
        assert named == [
            place_name(places.of_end(each.name), language, at=True).removesuffix(SEPARABLE) for each in layout.ends
        ]
