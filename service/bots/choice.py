"""The entry point of the computer players: ``choose_move``.

Owns the table of the levels, and the three levels that only compare the moves of one turn.

The rules, the observation, the level and the decision seed determine a move: the same four give the same move in any
process. The seed initialises a random generator, of which only ``random()`` and ``getrandbits()`` are used: Python
guarantees that their sequences stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import accumulate
from math import exp
from random import Random
from typing import Final

from service.bots import expert, greedy
from service.bots.greedy import worths_of
from service.bots.inference import infer
from service.bots.knowledge import Observation
from service.engine.moves import Move
from service.engine.variant import Rules

# The levels ``beginner`` and ``casual``: greedy's formula, with randomness that grows with a temperature.


_BEGINNER: Final = 20.0
_CASUAL: Final = 8.0
"""Temperatures, in pips."""


def _choose(temperature: float, rules: Rules, observation: Observation, random: Random) -> Move:
    """Return a random legal move; moves that are worth more are more likely."""
    worths = worths_of(rules, observation, infer(rules, observation))
    highest = max(worths)
    shares = list(accumulate([exp((worth - highest) / temperature) for worth in worths]))
    threshold = random.random() * shares[-1]
    return observation.view.legal_moves[next(index for index, share in enumerate(shares) if threshold < share)]


# Annotated, because the compiler reads this module without the bodies of its functions.
choose_as_beginner: Final[Callable[[Rules, Observation, Random], Move]] = partial(_choose, _BEGINNER)
choose_casually: Final[Callable[[Rules, Observation, Random], Move]] = partial(_choose, _CASUAL)


# The level ``random``: every legal move is equally likely.


def choose_at_random(_rules: Rules, observation: Observation, random: Random) -> Move:
    """Return a random legal move; all are equally likely."""
    moves = observation.view.legal_moves
    return moves[int(random.random() * len(moves))]


LEVELS: Final[Mapping[str, Callable[[Rules, Observation, Random], Move]]] = {
    "random": choose_at_random,
    "beginner": choose_as_beginner,
    "casual": choose_casually,
    "greedy": greedy.choose,
    "expert": expert.choose,
}
"""The function of each level, from weak to strong. Their descriptions are in ``service.games.queries.catalogue``."""

EDITIONS: Final[Mapping[str, int]] = {"random": 1, "beginner": 3, "casual": 3, "greedy": 1, "expert": 5}
"""The edition of each level. It grows with every change after which the level may choose another move.

The editions of expert:

* 2: it weights worlds by the choices of the other players, and solves the end of a round without hidden tiles exactly.
* 4: in sets larger than double-six, it ignores the choices of the other players.
* 5: in those sets, it considers their last choices; and it solves longer ends exactly.
"""
NEWEST_EDITION: Final = max(EDITIONS.values())


def choose_move(rules: Rules, observation: Observation, level: str, decision_seed: bytes) -> Move:
    """Return the move that this level chooses for the seat to act, one of its legal moves.

    ``decision_seed`` has 32 bytes (``deal.seed_of_decision``). A single legal move is returned without any computation.
    """
    moves = observation.view.legal_moves
    if len(moves) == 1:
        return moves[0]
    return LEVELS[level](rules, observation, Random(int.from_bytes(decision_seed, "big")))  # noqa: S311 # not a secret
