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
from service.engine.events import (
    Dealt,
    Done,
    Drew,
    Eliminated,
    Event,
    Finished,
    Flipped,
    Passed,
    Played,
    RoundEnded,
)
from service.engine.moves import Move
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
    automatic_event_faults,
    deal_faults,
    mark_fault,
    move_faults,
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
    """An event, its place in the record, and the state and presence after it."""

    line: VersionedEvent
    place: Location
    state: State
    presence: Presence


def replay_record(record: Record, rules: Rules) -> Iterator[Step | Fault]:
    """Yield a step for every event of the record, up to the end or the first faults of the play."""
    state, presence = rules.start(), ALL_PRESENT
    for index, recorded in enumerate(record.rounds):
        if not recorded.lines:
            continue
        fault = _deal_fault(rules, state, index, recorded.lines[0])
        if fault is not None:
            yield fault
        dealt = recorded.lines[0].event
        if not isinstance(dealt, Dealt) or fault or any(deal_faults(rules, dealt, (index, 0))):
            return
        state = apply(rules, state, replace(dealt, round=state.round + 1))  # ``verification`` reports a wrong number
        yield Step(recorded.lines[0], (index, 0), state, presence)
        for step in _replay_round(record, rules, state, presence, index=index):
            yield step
            if isinstance(step, Fault):
                return
            state, presence = step.state, step.presence
    if record.viewer is not None:
        yield Fault("wrong_seen", (HEAD, "Seen"), "No round hides anything.")


def _deal_fault(rules: Rules, state: State, index: int, first: VersionedEvent) -> Fault | None:
    """Return why a round cannot begin with this event; ``None`` if it can."""
    place, dealt = (index, 0), first.event
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


def _replay_round(
    record: Record, rules: Rules, state: State, presence: Presence, *, index: int
) -> Iterator[Step | Fault]:
    """Yield a step for every event of a round after its deal, up to the first faults."""
    lines = record.rounds[index].lines
    played = _Round(record, rules, state, presence)
    for line_index, line in enumerate(lines[1:], 1):
        place = (index, line_index)
        faults = played.add(line.event, place)
        if faults:
            yield from faults
            return
        yield Step(line, place, played.state, played.presence)
    if played.pending:
        yield from automatic_event_faults(played.pending[0], None, (index, len(lines) - 1))


class _Round:
    """A round after some of its events; ``pending`` are the automatic events that must come next."""

    def __init__(self, record: Record, rules: Rules, state: State, presence: Presence) -> None:
        self._record = record
        self._rules = rules
        self.state = state
        self.presence = presence
        self.pending: tuple[Event | Forfeited, ...] = ()

    def add(self, event: RecordedEvent, place: Location) -> list[Fault]:
        """Replay the next event; return its faults."""
        if self.pending:
            return self._add_automatic_event(event, place)
        if isinstance(event, PresenceEvent):
            return self._add_presence_event(event, place)
        move, faults = _requested_move(self.state, event, place)
        return faults if move is None else self._add_move(*move, event, place)

    def _add_automatic_event(self, event: RecordedEvent, place: Location) -> list[Fault]:
        """Replay an event that must be the first pending one; return its faults."""
        expected, *others = self.pending
        faults = automatic_event_faults(expected, event, place)
        if isinstance(expected, Forfeited):
            self.presence = self.presence.after(expected)
        elif not faults:
            self.state = apply(self._rules, self.state, expected)
        self.pending = tuple(others)
        return faults

    def _add_presence_event(self, event: PresenceEvent, place: Location) -> list[Fault]:
        fault = presence_fault(self._record, self.state, self.presence, event, place=place)
        if fault is not None:
            return [fault]
        self.pending = consequences(self._rules, self.state, self.presence, event)
        self.presence = self.presence.after(event)
        return []

    def _add_move(self, seat: int, move: Move, event: Event | RecordedDeal | DrewView, place: Location) -> list[Fault]:
        """Make the move, and compare its event with the recorded one; return the faults."""
        try:
            (expected, *following), after = advance(self._rules, NO_DECK, self.state, seat, move=move)
        except IllegalMove as refusal:
            return [Fault(_CODE_IF_ILLEGAL[type(event)], place, sentence(refusal.reason))]
        unforced = mark_fault(self._rules, self.state, event, place)
        # The events that follow from the move have steps of their own.
        self.state = apply(self._rules, self.state, expected) if following else after
        self.pending = with_forfeits(self._rules, after, self.presence.forfeited, tuple(following))
        if self.presence.substituted is not None and ends_turn(expected, self.state):
            self.presence = self.presence.turn_ended()
        return [*move_faults(expected, event, place), *([unforced] if unforced else [])]


def _requested_move(
    state: State, event: Event | RecordedDeal | DrewView, place: Location
) -> tuple[tuple[int, Move] | None, list[Fault]]:
    """Return the seat and the move that caused this event; ``None`` and the fault if no move can have caused it."""
    code = sentence = None
    if isinstance(event, Dealt | RecordedDeal):
        code, sentence = "not_dealt", "A round is dealt once, at its beginning."
    elif state.phase == FINISHED:
        code, sentence = "after_the_end", "The match is over."
    elif state.phase != PLAYING and isinstance(event, Eliminated):
        code, sentence = "wrong_elimination", f"Seat {event.seat} does not go out of the match."
    elif state.phase != PLAYING and isinstance(event, Finished):
        code, sentence = "wrong_winners", "The match is not over."
    elif state.phase != PLAYING:
        code, sentence = "after_the_count", "The round is over, and this does not follow from its result."
    elif isinstance(event, Finished) and event.ended_by is not None:
        code, sentence = "wrong_winners", "The match is not over: more than one side is in it."
    elif isinstance(event, AUTOMATIC_EVENTS):
        code, sentence = "early_count", "The round is not over."
    elif event.seat != state.turn:
        code, sentence = "wrong_turn", f"Seat {state.turn} is to move."
    elif isinstance(event, Played) and event.tile not in state.hands[event.seat]:
        code, sentence = "not_held", f"Seat {event.seat} does not hold {event.tile}."
    elif isinstance(event, Played) and (unnamed := naming_fault(state.layout, event)) is not None:
        code, sentence = unnamed
    else:
        return (event.seat, move_of(event)), []
    return None, [Fault(code, place, sentence)]


_CODE_IF_ILLEGAL: Final[dict[type[RecordedEvent], str]] = {
    Played: "illegal_move",
    Drew: "wrong_draw",
    DrewView: "wrong_draw",
    Passed: "wrong_pass",
    Done: "wrong_done",
    Flipped: "wrong_flip",
}
