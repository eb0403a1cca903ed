"""Tables of random matches with their geometry, for the tests of pictures and drawings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random
from typing import NamedTuple

from service.engine.deal import Deck, seed_from_text
from service.engine.layout import Layout
from service.engine.referee import advance, legal_moves
from service.engine.state import FINISHED
from service.engine.variant import Rules
from service.engine.variants import variants
from service.render.geometry import Geometry, geometry


class Shown(NamedTuple):
    """A table, where its tiles lie, and the highest number of its set."""

    layout: Layout
    geometry: Geometry
    highest: int


def shown(rules: Rules, layout: Layout, aspect: int = 16) -> Shown:
    """The table with its geometry."""
    placed = geometry(layout, len(rules.tiles), rules.layout_spread(), aspect)
    return Shown(layout, placed, rules.tiles[-1].high)


@cache
def longest_table(key: str, seats: int, highest: int | None = None, seed: int = 1, most: int = 190) -> Shown:
    """The table with the most tiles, but not more than ``most``, in the rounds of a random match."""
    rules = variants()[key].rules({} if highest is None else {"set": highest}, seats)
    return shown(rules, max(_layouts(rules, seed, most), key=lambda layout: len(layout.placements)))


def _layouts(rules: Rules, seed: int, most: int) -> Iterator[Layout]:
    """The tables of a match of which nobody draws or passes if a tile fits, and doubles often lie face down."""
    random, deck = Random(seed), Deck(seed_from_text(f"table {seed}"))
    state = rules.start()
    for _ in range(1500):
        if state.phase == FINISHED:
            return
        seat = state.turn if state.turn is not None else random.choice(state.active_seats())
        moves = legal_moves(rules, state, seat)
        preferred = [move for move in moves if move.face_down and random.random() < 0.4]
        plays = [move for move in moves if move.tile is not None]
        _, state = advance(rules, deck, state, seat, move=random.choice(preferred or plays or moves))
        if len(state.layout.placements) <= most:
            yield state.layout
