"""Rebuilds a match from its events: the state from complete events, or only the table from a viewer's events.

``referee.apply`` defines the effect of a single event.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial, reduce

from service.engine.events import Dealt, Event, Flipped, Played
from service.engine.layout import Layout, empty_layout
from service.engine.referee import apply
from service.engine.state import State
from service.engine.variant import Rules
from service.engine.view import DealtView


def replay(rules: Rules, events: Iterable[Event]) -> State:
    """Return the state of a match after these events, which start with the first event of the match."""
    return reduce(partial(apply, rules), events, rules.start())


def layout_after(rules: Rules, layout: Layout | None, event: object) -> Layout | None:
    """Return the table after an event, complete or as a viewer sees it; most events do not change the table.

    ``None`` is an unknown table: an event that is not possible on the table makes it unknown, for example after a
    failover of the store lost an earlier event. After the next deal the table is known again.
    """
    if isinstance(event, Dealt | DealtView):
        return empty_layout(rules.form)
    if layout is None:
        return None
    if isinstance(event, Flipped):
        return layout.flip_lead() if len(layout.placements) == 1 else None
    if isinstance(event, Played):
        end = layout.end(event.end)
        leads = event.end is None and not layout.placements
        if not leads and (end is None or not layout.admits(end, event.tile, event.outer)):
            return None
        return rules.lay_tile(layout, end, event.tile, event.seat, face_down=event.face_down, outer=event.outer)
    return layout
