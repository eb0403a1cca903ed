"""One event of a record that was made again."""

from __future__ import annotations

from typing import NamedTuple

from service.engine.state import State
from service.records.record import VersionedEvent
from service.records.writer import Location


class Step(NamedTuple):
    """An event, where it stands, and the match after it; ``hands`` and ``stock`` are how many tiles there are.

    In a round that is seen in part the hands and the stock of the ``state`` are made up, but for the viewer's hand.
    """

    line: VersionedEvent
    place: Location
    state: State
    hands: tuple[int, ...]
    stock: int


def make_step(line: VersionedEvent, place: Location, state: State) -> Step:
    """The step to a state in which everything is known."""
    return Step(line, place, state, tuple([len(hand) for hand in state.hands]), len(state.stock))
