"""Sampled worlds: states of the match that a seat cannot tell from the true one.

The only randomness is the generator that is passed in, of which only ``random()`` is used. Does not depend on how a
move is chosen.
"""

from __future__ import annotations

from random import Random

from service.bots.knowledge import Knowledge
from service.bots.observation import Observation
from service.engine.state import State
from service.engine.variant import Rules


class Sampler:
    """Samples worlds for one decision; what is the same in all of them is computed once."""

    def __init__(self, rules: Rules, observation: Observation, knowledge: Knowledge) -> None:
        self._rules = rules
        self._observation = observation
        self._knowledge = knowledge

    def sample(self, random: Random) -> State:
        """A world: a complete state that the seat cannot tell from the true one."""
        raise NotImplementedError


def sample(rules: Rules, observation: Observation, knowledge: Knowledge, random: Random) -> State:
    """A single world; ``Sampler`` is faster for several of the same decision."""
    return Sampler(rules, observation, knowledge).sample(random)
