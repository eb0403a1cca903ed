"""The state of a match from its events."""

from __future__ import annotations

from collections.abc import Iterable

from service.engine.events import Event
from service.engine.referee import apply
from service.engine.state import State
from service.engine.variant import Rules


def replay(rules: Rules, events: Iterable[Event]) -> State:
    """The state of a match after these events, the first ones of the match."""
    state = rules.start()
    for event in events:
        state = apply(rules, state, event)
    return state
