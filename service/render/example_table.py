"""A table of a game in the middle of a round, to be shown as a picture of that game.

Owns which tiles lie there: those of a round with the usual rules and a fixed deal, in which each player lays one of the
tiles that fit.
"""

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
"""How many tiles lie there, unless a round is over before."""
ASPECT: Final = 13
"""The width of the table over its height, in tenths."""
_USUAL_PLAYERS: Final = 4
_STEP: Final = 7
"""How far the choice among the moves of a seat goes on with each tile, so that all ends and arms are used."""


@cache
def example_table(variant: Variant) -> tuple[PlacedTile, ...]:
    """Return the tiles in the order of play, with their places."""
    players = min(max(variant.players.low, _USUAL_PLAYERS), variant.players.high)
    rules = variant.rules({}, players)
    layout = _played(rules, Deck(seed_from_text(variant.key))).layout
    # A table for these tiles alone, so that they lie close together.
    return geometry(layout, TILES, rules.layout_spread(), ASPECT).tiles


def _played(rules: Rules, deck: Deck) -> State:
    """Return the first round until this number of tiles lies, or until it is over."""
    _, state = deal(rules, deck, rules.start())
    while state.phase == PLAYING and len(state.layout.placements) < TILES:
        assert state.turn is not None
        moves = legal_moves(rules, state, state.turn)
        plays = [move for move in moves if move.action == PLAY] or moves
        move = plays[len(state.layout.placements) * _STEP % len(plays)]
        _, state = advance(rules, deck, state, state.turn, move=move)
    return state
