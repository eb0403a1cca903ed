"""The levels ``beginner`` and ``casual``: greedy's formula, followed the more loosely the warmer they are.

A move is chosen the more often, the more it is worth: one that is worth as many pips less as the temperature, e times
more rarely. So these levels see what greedy sees, and make small mistakes often and great ones rarely, as people do.
Owns the temperatures.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import accumulate
from math import exp
from random import Random
from typing import Final

from service.bots.greedy import worths_of
from service.bots.inference import infer
from service.bots.observation import Observation
from service.engine.moves import Move
from service.engine.variant import Rules

_BEGINNER: Final = 20.0
_CASUAL: Final = 8.0
"""Temperatures, in pips."""


def _choose(temperature: float, rules: Rules, observation: Observation, random: Random) -> Move:
    """One of the legal moves by luck, the more likely the more it is worth."""
    worths = worths_of(rules, observation, infer(rules, observation))
    highest = max(worths)
    shares = list(accumulate([exp((worth - highest) / temperature) for worth in worths]))
    at = random.random() * shares[-1]
    return observation.view.legal_moves[next(place for place, share in enumerate(shares) if at < share)]


# With their types, as the compiler looks at this module without its functions.
choose_as_beginner: Final[Callable[[Rules, Observation, Random], Move]] = partial(_choose, _BEGINNER)
choose_casually: Final[Callable[[Rules, Observation, Random], Move]] = partial(_choose, _CASUAL)
