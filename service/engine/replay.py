"""From the events of a match to its state."""

from __future__ import annotations

from collections.abc import Iterable

from service.engine.events import Event
from service.engine.referee import apply
from service.engine.state import State
from service.engine.variant import Rules


def replay(rules: Rules, events: Iterable[Event]) -> State:
    """The state of a match after these events, from its first one on."""
    state = rules.start()
    for event in events:
        state = apply(rules, state, event)
    return state
