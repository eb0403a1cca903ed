"""The levels that are measured: those of the service, public programs, and two that are only there to be compared with.

Owns what the last two are. Does not depend on which levels play.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Final

from service.bots import expert
from service.bots.choice import LEVELS, choose_move
from service.bots.inference import infer
from service.bots.knowledge import Observation
from service.bots.playout import play_out, tiles_possible
from service.engine.moves import Move
from service.engine.state import State
from service.engine.variant import Rules
from tools.strength.programs import PROGRAMS

EARLIER: Final = "expert of edition 1"
"""It learned from passes, draws and the opening, and not from what others chose."""
ALL_HANDS: Final = "one that sees all hands"
"""It sees the stock, too, and plays each of its moves on once: a lower bound of what knowing them is worth."""

Level = Callable[[Rules, State, Observation, bytes], Move]
"""Chooses by the rules, the true state, what the seat has seen, and its decision seed."""


def level(name: str) -> Level:
    """Return the level of this name."""
    return _LEVELS[name]


def _of_the_service(name: str, rules: Rules, _: State, observation: Observation, decision_seed: bytes) -> Move:
    return choose_move(rules, observation, name, decision_seed)


def _earlier(rules: Rules, _: State, observation: Observation, decision_seed: bytes) -> Move:
    moves = observation.view.legal_moves
    if len(moves) == 1:
        return moves[0]
    random = Random(int.from_bytes(decision_seed, "big"))  # noqa: S311 # not a secret
    return expert.search(rules, observation, random, expert.playouts_of(rules), informed=False)


def _with_all_hands(rules: Rules, state: State, observation: Observation, _: bytes) -> Move:
    possible = tiles_possible(observation, infer(rules, observation))
    return max(observation.view.legal_moves, key=lambda move: play_out(rules, state, move, possible))


_LEVELS: Final[dict[str, Level]] = {
    **{name: partial(_of_the_service, name) for name in LEVELS},
    EARLIER: _earlier,
    ALL_HANDS: _with_all_hands,
    **PROGRAMS,
}
