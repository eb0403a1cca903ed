"""A table in the middle of a round, as an example picture of a game: a fixed deal, with the default options."""

from __future__ import annotations

from functools import cache
from typing import Final

from service.engine.deal import Deck, seed_from_text
from service.engine.moves import PLAY
from service.engine.referee import advance, deal, legal_moves
from service.engine.state import PLAYING, State
from service.engine.variant import Rules, Variant
from service.render.geometry import PlacedTile, geometry

TILES: Final = 11
"""The number of tiles on the table, unless the round ends before."""
ASPECT: Final = 13
"""The width of the table divided by its height, in tenths."""
_USUAL_PLAYERS: Final = 4
_STEP: Final = 7
"""The index of the chosen move grows by this with each tile, so that tiles join all ends and arms."""


@cache
def example_table(variant: Variant) -> tuple[PlacedTile, ...]:
    """Return the tiles in the order of play, with their coordinates."""
    players = min(max(variant.players.low, _USUAL_PLAYERS), variant.players.high)
    rules = variant.rules({}, players)
    layout = _first_round(rules, Deck(seed_from_text(variant.key))).layout
    # The table is planned for these tiles only, not for the whole set, so that they lie close together.
    return geometry(layout, TILES, rules.layout_spread(), ASPECT).tiles


def _first_round(rules: Rules, deck: Deck) -> State:
    """Return the state of the first round when ``TILES`` tiles are on the table, or when the round is over."""
    _, state = deal(rules, deck, rules.start())
    while state.phase == PLAYING and len(state.layout.placements) < TILES:
        assert state.turn is not None
        moves = legal_moves(rules, state, state.turn)
        plays = [move for move in moves if move.action == PLAY] or moves
        move = plays[len(state.layout.placements) * _STEP % len(plays)]
        _, state = advance(rules, deck, state, state.turn, move=move)
    return state
