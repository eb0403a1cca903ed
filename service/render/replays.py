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
from service.engine.state import FINISHED
from service.engine.variant import Rules
from service.engine.view import RecordedEvent
from service.records.event_checks import deal_faults
from service.records.record import Record, VersionedEvent
from service.records.replay import Step, replay_record
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
    builder = _Builder(record, rules, aspect, language, yield_control=yield_control)
    fault = None
    for step in replay_record(record, rules):
        if isinstance(step, Fault):
            fault = step
            break
        builder.add(step)
    rounds = builder.rounds()
    fault = fault or _fault_of_next_deal(record, rules, rounds[-1].number if rounds else 0)
    return Replay(rounds, builder.winners, _finding(record, fault) if fault else None)


class _Builder:
    """Collects the steps of a record into rounds."""

    def __init__(
        self, record: Record, rules: Rules, aspect: int, language: str, *, yield_control: Callable[[], None]
    ) -> None:
        self.winners: tuple[int, ...] | None = None
        names = tuple([name or None for name in record.players])
        self._reader = Reader(None, names, language).of_game(rules)
        self._geometry = GrowingGeometry(len(rules.tiles), rules.layout_spread(), aspect, pause=yield_control)
        self._yield_control = yield_control
        self._rounds: list[ReplayedRound] = []
        self._last: Step | None = None
        self._events: list[ReplayedEvent] = []
        """The events of the current round."""

    def add(self, step: Step) -> None:
        state = step.state
        event = _numbered(step.line.event, state.round)
        if isinstance(event, Dealt):
            self._end_round()
        layout = state.layout
        text = event_sentence(event, layout, self._reader)
        self._events.append(ReplayedEvent(step.line._replace(event=event), len(layout.placements), text))
        self._last = step
        self.winners = state.winners if state.phase == FINISHED else None
        if not len(self._events) % _YIELD_EVERY:
            self._yield_control()

    def rounds(self) -> tuple[ReplayedRound, ...]:
        """Return all rounds; the last one ends here."""
        self._end_round()
        return tuple(self._rounds)

    def _end_round(self) -> None:
        """Add the current round with its last table, if it has events."""
        if self._last is None or not self._events:
            return
        index, _ = self._last.place
        geometry = self._geometry.extended(self._last.state.layout).geometry
        self._rounds.append(ReplayedRound(int(index) + 1, tuple(self._events), geometry))
        self._events = []


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
