"""A recorded match for display: the events of each round, and the table at the end of the round.

Tiles never move during a round, so the first n tiles of the last table are the table after n tiles. Each event is
replayed once, and each tile is laid once. Records are untrusted: the replay ends at the first event that breaks the
rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

from service.engine.events import Dealt, RoundEnded
from service.engine.layout import Layout
from service.engine.state import FINISHED
from service.engine.variant import Rules
from service.engine.view import RecordedEvent
from service.records.event_checks import deal_faults
from service.records.record import Record, VersionedEvent
from service.records.replay import replay_record
from service.records.report import Fault, Finding
from service.records.verification import findings_of, rules_of
from service.render.geometry import Geometry, GrowingGeometry
from service.render.sentences.events import event_sentence
from service.render.sentences.places import Reader

_YIELD_EVERY: Final = 16
"""The number of events between two calls of ``yield_control``."""


class ReplayedEvent(NamedTuple):
    """An event, with the table after it."""

    line: VersionedEvent
    tiles: int
    """The number of tiles on the table."""
    text: str
    """The sentence about the event."""


class ReplayedRound(NamedTuple):
    """A round: its events from the deal on, and its last table."""

    number: int
    events: tuple[ReplayedEvent, ...]
    geometry: Geometry


class Replay(NamedTuple):
    """A recorded match up to the first event that breaks the rules."""

    rounds: tuple[ReplayedRound, ...]
    winners: tuple[int, ...] | None
    """``None`` unless the match is finished."""
    fault: Finding | None
    """The broken rule, if the replay ends before the record."""


def replay(record: Record, aspect: int, language: str, yield_control: Callable[[], None] = lambda: None) -> Replay:
    """Return the replay of a record.

    ``aspect``: the width of a table divided by its height, in tenths; ``language``: that of the sentences;
    ``yield_control``: called every few events and after each tile and end, so that a server can run other requests.
    """
    rules, faults = rules_of(record)
    if rules is None:
        return Replay((), None, _finding(record, faults[0]))
    names = tuple([name or None for name in record.players])
    reader = Reader(None, names, language).of_game(rules)
    rounds: dict[int, list[ReplayedEvent]] = {}
    layouts: dict[int, Layout] = {}
    state, fault = rules.start(), None
    for step in replay_record(record, rules):
        if isinstance(step, Fault):
            fault = step
            break
        state, (index, _) = step.state, step.place
        event, layout = _numbered(step.line.event, state.round), state.layout
        events = rounds.setdefault(index, [])
        line, text = step.line._replace(event=event), event_sentence(event, layout, reader)
        events.append(ReplayedEvent(line, len(layout.placements), text))
        layouts[index] = layout
        if not len(events) % _YIELD_EVERY:
            yield_control()
    growing = GrowingGeometry(len(rules.tiles), rules.layout_spread(), aspect, pause=yield_control)
    replayed = tuple(
        [
            ReplayedRound(index + 1, tuple(events), growing.extended(layouts[index]).geometry)
            for index, events in rounds.items()
        ]
    )
    fault = fault or _fault_of_next_deal(record, rules, replayed[-1].number if replayed else 0)
    winners = state.winners if state.phase == FINISHED else None
    return Replay(replayed, winners, _finding(record, fault) if fault else None)


def _numbered(event: RecordedEvent, number: int) -> RecordedEvent:
    """Return the event with the true number of its round; the number in a record can be wrong."""
    match event:
        case Dealt():
            return replace(event, round=number)
        case RoundEnded(result):
            return RoundEnded(result._replace(number=number))
    return event


def _fault_of_next_deal(record: Record, rules: Rules, played: int) -> Fault | None:
    """Return the fault of the next recorded deal after ``played`` rounds; ``None`` if it has none or is missing."""
    for index, recorded in enumerate(record.rounds[played:], played):
        dealt = recorded.lines[0].event if recorded.lines else None
        if isinstance(dealt, Dealt):
            return next(iter(deal_faults(rules, dealt, (index, 0))), None)
    return None


def _finding(record: Record, fault: Fault) -> Finding:
    return findings_of(record, [fault])[0]
