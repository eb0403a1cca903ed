"""What a seat has seen: all that a computer player is given.

Owns its form. What a seat may see is decided in ``service.engine.view`` alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from service.engine.events import Event
from service.engine.state import State
from service.engine.variant import Rules
from service.engine.view import DealtView, DrewView, View, event_view, view


class Observation(NamedTuple):
    """What a seat has seen of a match when it is asked for a move."""

    seat: int
    view: View
    """The match as this seat may know it now."""
    events: tuple[Event | DealtView | DrewView, ...]
    """The events of the running round from its deal on, as this seat may know them; none before the first deal."""


def observe(rules: Rules, state: State, events: Iterable[Event], seat: int) -> Observation:
    """Return what ``seat`` has seen, from the match's state and the events of its running round, the deal first."""
    return Observation(seat, view(rules, state, seat), tuple([event_view(event, seat) for event in events]))
