"""The state of a match from its events, and the table from what everybody may know of them."""

from __future__ import annotations

from collections.abc import Iterable

from service.engine.events import Dealt, Event, Flipped, Played
from service.engine.layout import Layout
from service.engine.referee import apply
from service.engine.state import State
from service.engine.variant import Rules
from service.engine.view import DealtView


def replay(rules: Rules, events: Iterable[Event]) -> State:
    """The state of a match after these events, the first ones of the match."""
    state = rules.start()
    for event in events:
        state = apply(rules, state, event)
    return state


def layout_after(rules: Rules, layout: Layout, event: object) -> Layout:
    """The table after an event, or after one as a viewer may know it; most events leave it as it was."""
    match event:
        case Dealt() | DealtView():
            return rules.empty_layout()
        case Played(seat, tile, end, face_down):
            return rules.lay_tile(layout, None if end is None else layout.end(end), tile, seat, face_down)
        case Flipped():
            return layout.flip_lead()
        case _:
            return layout
