"""The block game as other libraries have it, as a variant of the engine, for comparison only.

Double-six, seven tiles each, the first seat leads any tile, without drawing; the round ends when a seat is out or
no seat can play, and the remaining tiles are counted. With two players it is OpenSpiel's ``python_block_dominoes``,
with four the game of the package ``dominoes`` — except that here a seat that cannot play passes by a move, which those
skip.
"""

from __future__ import annotations

from service.engine.events import EndReason, RemainingHand, RoundResult, ScoreLine
from service.engine.rules.drawing import ONE_AND_WAIT
from service.engine.rules.ending import after_rounds, out_or_blocked
from service.engine.rules.scoring import round_result
from service.engine.rules.turns import one_tile
from service.engine.state import State
from service.engine.tiles import double_set
from service.engine.variant import Opening, Rules

_HAND = 7


def block_rules(seats: int) -> Rules:
    """The rules for two to four players."""
    tiles = double_set(6)
    undrawn = len(tiles) - seats * _HAND
    return Rules(
        seats=seats,
        settings={},
        tiles=tiles,
        hand_size=lambda _players: _HAND,
        reserve=undrawn,
        opening=lambda state: Opening(0, state.hands[0]),
        may_follow=one_tile,
        drawing=ONE_AND_WAIT,
        round_end=out_or_blocked(undrawn),
        score_round=_count,
        match_end=after_rounds(1, "lowest"),
    )


def _count(state: State, ended_by: EndReason, hands: tuple[RemainingHand, ...]) -> RoundResult:
    return round_result(state, ended_by, hands, [ScoreLine(each.seat, each.value, "", "") for each in hands])
