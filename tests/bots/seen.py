"""What seats have seen in the random matches of the laws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from service.bots.observation import Observation, observe
from service.engine.events import Dealt, Event
from service.engine.state import State
from tests.laws.matches import Match


class Moment(NamedTuple):
    """A state in which somebody may move, and the events of its running round."""

    state: State
    events: tuple[Event, ...]

    def seen_by(self, match: Match, seat: int) -> Observation:
        return observe(match.rules, self.state, self.events, seat)


def moments(match: Match) -> Iterator[Moment]:
    """Every state of the match from its first deal on."""
    events: tuple[Event, ...] = ()
    for step in match.steps:
        events = step.events if isinstance(step.events[0], Dealt) else events + step.events
        yield Moment(step.after, events)
