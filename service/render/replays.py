"""A recorded match to look at: the last table of every round, and the events that led to it.

As no tile moves while a round lasts, the last table shows every earlier one too: its first tiles, as many as lay there
after an event. Owns what a replay is and what it costs: each event is replayed and each tile laid once. Nothing in a
record is trusted: the replay ends where the play breaks the rules.
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
"""Events between two breaths."""


class ReplayedEvent(NamedTuple):
    """An event, the number of tiles on the table after it, and what to tell of it."""

    line: VersionedEvent
    tiles: int
    text: str


class ReplayedRound(NamedTuple):
    """A round: its events, of which the first one is its deal, and its last table."""

    number: int
    events: tuple[ReplayedEvent, ...]
    geometry: Geometry


class Replay(NamedTuple):
    """The match as far as it keeps to the rules; ``fault``: why the replay ends before the record.

    ``winners`` is ``None`` unless the match was finished.
    """

    rounds: tuple[ReplayedRound, ...]
    winners: tuple[int, ...] | None
    fault: Finding | None


def replay(record: Record, aspect: int, language: str, yield_control: Callable[[], None] = lambda: None) -> Replay:
    """Return the replay of a record on tables of this width over height in tenths, told in this language.

    ``yield_control`` is called every few events and after each tile and end, so that a server can let others run.
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
    """Puts the steps of a record together, round by round."""

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
        """Those of the round of the last step."""

    def add(self, step: Step) -> None:
        """Add the next step."""
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
        """Return the rounds of all steps."""
        self._end_round()
        return tuple(self._rounds)

    def _end_round(self) -> None:
        """Lay the tiles of the last table of a round."""
        if self._last is None or not self._events:
            return
        index, _ = self._last.place
        geometry = self._geometry.extended(self._last.state.layout).geometry
        self._rounds.append(ReplayedRound(int(index) + 1, tuple(self._events), geometry))
        self._events = []


def _numbered(event: RecordedEvent, number: int) -> RecordedEvent:
    """Return the event with the number that its round has in the match: a record may give it another one."""
    match event:
        case Dealt():
            return replace(event, round=number)
        case RoundEnded(result):
            return RoundEnded(result._replace(number=number))
    return event


def _fault_of_next_deal(record: Record, rules: Rules, played: int) -> Fault | None:
    """Why no round was replayed after so many; ``None`` if no other was dealt."""
    for index, recorded in enumerate(record.rounds[played:], played):
        dealt = recorded.lines[0].event if recorded.lines else None
        if isinstance(dealt, Dealt):
            return next(iter(deal_faults(rules, dealt, (index, 0))), None)
    return None


def _finding(record: Record, fault: Fault) -> Finding:
    return findings_of(record, [fault])[0]
