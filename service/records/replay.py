"""Replays a recorded match move by move with the referee of the engine.

Owns the order of the replay. Only the deals and the moves are taken from the record; every other event is computed and
compared with the recorded one. The replay ends at the first fault of the play, because later events would need a state
to compare with. It also ends before a deal that has hidden tiles, or a fault that ``event_checks`` reports. Does not
depend on seeds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from service.engine.deal import NO_DECK
from service.engine.errors import IllegalMove
from service.engine.events import Dealt, Done, Drew, Eliminated, Event, Finished, Flipped, Passed, Played, RoundEnded
from service.engine.presence import (
    ALL_PRESENT,
    Forfeited,
    Presence,
    PresenceEvent,
    consequences,
    ends_turn,
    with_forfeits,
)
from service.engine.referee import advance, apply
from service.engine.state import FINISHED, PLAYING, State
from service.engine.variant import Rules
from service.engine.view import DrewView, RecordedDeal, RecordedEvent
from service.reasons import sentence
from service.records.event_checks import (
    automatic_event_fault,
    deal_faults,
    mark_fault,
    move_fault,
    move_of,
    naming_fault,
    presence_fault,
)
from service.records.record import Record, VersionedEvent
from service.records.report import Fault
from service.records.writer import HEAD, Location

AUTOMATIC_EVENTS: Final = (RoundEnded, Eliminated, Finished, Forfeited)
"""Events that follow automatically from a move, or from a time-out."""

MOVES: Final = (Played, Drew, DrewView, Passed, Done, Flipped)
"""Events of moves."""


class Step(NamedTuple):
    """An event, its place in the record, the state and presence before it, and the state after it."""

    line: VersionedEvent
    place: Location
    before: State
    presence: Presence
    state: State


def replay_record(record: Record, rules: Rules) -> Iterator[Step | Fault]:
    """Yield a step for every event of the record, up to the end or the first fault of the play."""
    match = _Match(record, rules)
    for index, recorded in enumerate(record.rounds):
        if not recorded.lines:
            continue
        dealt, place = recorded.lines[0].event, (index, 0)
        fault = _deal_fault(rules, match.state, dealt, place)
        if fault is not None:
            yield fault
        if not isinstance(dealt, Dealt) or fault or any(deal_faults(rules, dealt, place)):
            return
        before, presence = match.state, match.presence
        match.deal(dealt)
        yield Step(recorded.lines[0], place, before, presence, match.state)
        for line_index, line in enumerate(recorded.lines[1:], 1):
            before, presence, place = match.state, match.presence, (index, line_index)
            fault = match.add(line.event, place)
            if fault is not None:
                yield fault
                return
            yield Step(line, place, before, presence, match.state)
        if match.pending:
            fault = automatic_event_fault(match.pending[0], None, place)
            assert fault is not None
            yield fault
            return
    if record.viewer is not None:
        yield Fault("wrong_seen", (HEAD, "Seen"), "No round hides anything.")


def _deal_fault(rules: Rules, state: State, dealt: RecordedEvent, place: Location) -> Fault | None:
    """Return why a round cannot begin with this event; ``None`` if it can."""
    if state.phase == FINISHED:
        return Fault("after_the_end", place, "The match is over.")
    if state.phase == PLAYING:
        return Fault("unfinished_round", place, "The previous round is not over.")
    if isinstance(dealt, RecordedDeal):
        return Fault("hidden_tile", place, "The tiles of this round are hidden; it can be checked when it is over.")
    if not isinstance(dealt, Dealt):
        return Fault("not_dealt", place, "A round begins with its deal.")
    if len(dealt.hands) == rules.seats and [hand != () for hand in dealt.hands] != [
        not eliminated for eliminated in state.eliminated_round
    ]:
        return Fault("wrong_seats", place, "A seat gets a hand as long as it is in the match, and only then.")
    return None


class _Match:
    """A match after some of its events; ``pending`` are the automatic events that must come next."""

    def __init__(self, record: Record, rules: Rules) -> None:
        self._record = record
        self._rules = rules
        self.state = rules.start()
        self.presence = ALL_PRESENT
        self.pending: tuple[Event | Forfeited, ...] = ()

    def deal(self, dealt: Dealt) -> None:
        """Begin the next round with this deal, whatever its number: ``verification`` reports a wrong one."""
        self.state = apply(self._rules, self.state, replace(dealt, round=self.state.round + 1))

    def add(self, event: RecordedEvent, place: Location) -> Fault | None:
        """Replay the next event of the round; return its first fault."""
        if self.pending:
            return self._add_automatic_event(event, place)
        if isinstance(event, PresenceEvent):
            return self._add_presence_event(event, place)
        return _order_fault(self.state, event, place) or self._add_move(event, place)

    def _add_automatic_event(self, event: RecordedEvent, place: Location) -> Fault | None:
        """Replay an event that must be the first pending one."""
        expected, *others = self.pending
        fault = automatic_event_fault(expected, event, place)
        if isinstance(expected, Forfeited):
            self.presence = self.presence.after(expected)
        elif fault is None:
            self.state = apply(self._rules, self.state, expected)
        self.pending = tuple(others)
        return fault

    def _add_presence_event(self, event: PresenceEvent, place: Location) -> Fault | None:
        fault = presence_fault(self._record, self.state, self.presence, event, place=place)
        if fault is None:
            self.pending = consequences(self._rules, self.state, self.presence, event)
            self.presence = self.presence.after(event)
        return fault

    def _add_move(self, event: Event | RecordedDeal | DrewView, place: Location) -> Fault | None:
        """Make the move that caused this event, and compare the two events."""
        assert isinstance(event, MOVES)
        try:
            (expected, *following), after = advance(self._rules, NO_DECK, self.state, event.seat, move=move_of(event))
        except IllegalMove as refusal:
            return Fault(_CODE_IF_ILLEGAL[type(event)], place, sentence(refusal.reason))
        fault = move_fault(expected, event, place) or mark_fault(self._rules, self.state, event, place)
        # The events that follow from the move have steps of their own.
        self.state = apply(self._rules, self.state, expected) if following else after
        self.pending = with_forfeits(self._rules, after, self.presence.forfeited, tuple(following))
        if self.presence.substituted is not None and ends_turn(expected, self.state):
            self.presence = self.presence.turn_ended()
        return fault


def _order_fault(state: State, event: Event | RecordedDeal | DrewView, place: Location) -> Fault | None:
    """Return the fault if no move can have caused this event in this state."""
    if isinstance(event, Dealt | RecordedDeal):
        code, message = "not_dealt", "A round is dealt once, at its beginning."
    elif state.phase == FINISHED:
        code, message = "after_the_end", "The match is over."
    elif state.phase != PLAYING and isinstance(event, Eliminated):
        code, message = "wrong_elimination", f"Seat {event.seat} does not go out of the match."
    elif state.phase != PLAYING and isinstance(event, Finished):
        code, message = "wrong_winners", "The match is not over."
    elif state.phase != PLAYING:
        code, message = "after_the_count", "The round is over, and this does not follow from its result."
    elif isinstance(event, Finished) and event.ended_by is not None:
        code, message = "wrong_winners", "The match is not over: more than one side is in it."
    elif isinstance(event, AUTOMATIC_EVENTS):
        code, message = "early_count", "The round is not over."
    elif event.seat != state.turn:
        code, message = "wrong_turn", f"Seat {state.turn} is to move."
    elif isinstance(event, Played) and event.tile not in state.hands[event.seat]:
        code, message = "not_held", f"Seat {event.seat} does not hold {event.tile}."
    elif isinstance(event, Played) and (unnamed := naming_fault(state.layout, event)) is not None:
        code, message = unnamed
    else:
        return None
    return Fault(code, place, message)


_CODE_IF_ILLEGAL: Final[dict[type[RecordedEvent], str]] = {
    Played: "illegal_move",
    Drew: "wrong_draw",
    DrewView: "wrong_draw",
    Passed: "wrong_pass",
    Done: "wrong_done",
    Flipped: "wrong_flip",
}
