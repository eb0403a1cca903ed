"""The level ``random``: any legal move, each as likely as any other.

Owns this choice.
"""

from __future__ import annotations

from random import Random

from service.bots.observation import Observation
from service.engine.moves import Move
from service.engine.variant import Rules


def choose(_rules: Rules, observation: Observation, random: Random) -> Move:
    """One of the legal moves."""
    moves = observation.view.legal_moves
    return moves[int(random.random() * len(moves))]
