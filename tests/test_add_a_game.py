"""The game in ``docs/add-a-game.md`` is one: its file can be loaded, and its matches are played to their end."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from types import ModuleType

import pytest

from service.engine.deal import Deck, seed_from_text
from service.engine.referee import advance, legal_moves
from service.engine.state import FINISHED
from service.engine.variant import Variant

PAGE = Path(__file__).parents[1] / "docs" / "add-a-game.md"


def variant_of_the_page() -> Variant:
    (source,) = re.findall(r"<!-- example: block.py -->\n```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    module = ModuleType("block")
    exec(compile(source, str(PAGE), "exec"), module.__dict__)
    variant: Variant = module.__dict__["VARIANT"]
    return variant


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_the_game_of_the_page_is_played_to_its_end(seats: int) -> None:
    rules = variant_of_the_page().rules({"rounds": 2}, seats)
    deck, chance, state = Deck(seed_from_text("a page")), Random(seats), rules.start()
    while state.phase != FINISHED:
        seat = 0 if state.turn is None else state.turn  # between rounds any seat may deal
        _, state = advance(rules, deck, state, seat, chance.choice(legal_moves(rules, state, seat)))
    assert state.round == 2
    assert state.winners
