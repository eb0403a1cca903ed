"""The entrance to the computer players: from what a seat may know to its move.

Owns the table of the levels, and the three that only weigh the moves of a turn.

A move is determined by the rules, the observation, the level and the decision seed: the same four give the same move in
any process. Only ``random()`` and ``getrandbits()`` of the generator made from the seed are used, whose sequences
Python guarantees.
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
    at = random.random() * shares[-1]
    return observation.view.legal_moves[next(place for place, share in enumerate(shares) if at < share)]


# With their types, as the compiler looks at this module without its functions.
choose_as_beginner: Final[Callable[[Rules, Observation, Random], Move]] = partial(_choose, _BEGINNER)
choose_casually: Final[Callable[[Rules, Observation, Random], Move]] = partial(_choose, _CASUAL)


# The level ``random``: any legal move, each as likely as any other.


def choose_at_random(_rules: Rules, observation: Observation, random: Random) -> Move:
    """Return one of the legal moves."""
    moves = observation.view.legal_moves
    return moves[int(random.random() * len(moves))]


LEVELS: Final[Mapping[str, Callable[[Rules, Observation, Random], Move]]] = {
    "random": choose_at_random,
    "beginner": choose_as_beginner,
    "casual": choose_casually,
    "greedy": greedy.choose,
    "expert": expert.choose,
}
"""How each level chooses, from weak to strong. What is said about them is in ``service.games.queries.catalogue``."""

EDITIONS: Final[Mapping[str, int]] = {"random": 1, "beginner": 3, "casual": 3, "greedy": 1, "expert": 5}
"""By level: the edition, which grows with each change after which the level may choose another move.

Expert, from edition 2: weighs worlds by what others chose, and plays ends without hidden tiles exactly. Edition 4:
weighs by no choices in sets larger than double-six. Edition 5: weighs by the last choices there, and plays longer ends
exactly.
"""
NEWEST_EDITION: Final = max(EDITIONS.values())


def choose_move(rules: Rules, observation: Observation, level: str, decision_seed: bytes) -> Move:
    """Return the move of the seat to act, one of its legal moves.

    ``decision_seed`` are 32 bytes (``deal.seed_of_decision``).

    A move without an alternative costs no work, as all deals between rounds.
    """
    moves = observation.view.legal_moves
    if len(moves) == 1:
        return moves[0]
    return LEVELS[level](rules, observation, Random(int.from_bytes(decision_seed, "big")))  # noqa: S311 # not a secret
