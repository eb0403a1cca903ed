"""What seats have seen in the random matches of the laws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from service.bots.knowledge import Observation, observe
from service.engine.events import Dealt, Event
from service.engine.state import Hand, State
from tests.laws.matches import Match


class Moment(NamedTuple):
    """A state in which somebody may move, the one before its deal, and the events of its running round."""

    state: State
    before_deal: State
    events: tuple[Event, ...]

    def seen_by(self, match: Match, seat: int) -> Observation:
        return observe(match.rules, self.state, self.events, seat)


def moments(match: Match) -> Iterator[Moment]:
    """Every state of the match from its first deal on."""
    events: tuple[Event, ...] = ()
    before_deal = match.steps[0].before
    for step in match.steps:
        if isinstance(step.events[0], Dealt):
            events, before_deal = (), step.before
        events += step.events
        yield Moment(step.after, before_deal, events)


def is_possible(hand: Hand, candidates: Sequence[int]) -> bool:
    """Whether these tiles can be the hidden tiles with these candidates: a matching of both."""
    held: dict[int, int] = {}
    """By hidden tile the place of its tile in the hand."""

    def find(place: int, tried: set[int]) -> bool:
        for hidden, tiles in enumerate(candidates):
            if tiles >> hand[place].index & 1 and hidden not in tried:
                tried.add(hidden)
                if hidden not in held or find(held[hidden], tried):
                    held[hidden] = place
                    return True
        return False

    return len(hand) == len(candidates) and all(find(place, set()) for place in range(len(hand)))
