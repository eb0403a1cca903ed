"""Checks who plays the seats of a recorded match: who has left, ran out of time or has come back, and forfeits.

Owns the faults of these events, what must follow from one, and who has won a match with forfeits. They change no state
of the match.
"""

from __future__ import annotations

from service.engine.events import Eliminated, Event, Finished
from service.engine.presence import (
    Claimed,
    Forfeited,
    Left,
    Presence,
    PresenceEvent,
    Returned,
    TimedOut,
    end_by_forfeit,
    winners_after_forfeits,
)
from service.engine.state import FINISHED, PLAYING, State
from service.engine.variant import Rules
from service.records.record import Record
from service.records.report import Fault
from service.records.writer import Location


def presence_fault(
    record: Record, state: State, presence: Presence, event: PresenceEvent, *, place: Location
) -> Fault | None:
    """Why this cannot have happened in this state; ``None`` if it can.

    A forfeit cannot: it only follows from the end of a time (``consequences``).
    """
    if state.phase == FINISHED:
        return Fault("after_the_end", place, "The match is over.")
    message = _reason(record, state, presence, event)
    return None if message is None else Fault("wrong_presence", place, message)


def _reason(record: Record, state: State, presence: Presence, event: PresenceEvent) -> str | None:
    seat = event.seat
    if seat >= len(record.players):
        return f"There is no seat {seat}."
    if record.bot_at(seat) is not None:
        return f"Seat {seat} is played by a computer player."
    if state.eliminated_round[seat]:
        return f"Seat {seat} is out of the match."
    match event:
        case Left():
            return f"Seat {seat} is away already." if seat in presence.away else None
        case Returned():
            return f"Seat {seat} is not away." if presence.plays(seat) else None
        case Forfeited():
            return f"Seat {seat} can only forfeit when its time is over, and where that follows."
        case TimedOut(then=then):
            expected = None if record.clock is None or record.clock.absence == "claim" else record.clock.absence
            if then != expected:
                return (
                    "Nothing follows here from the end of a time." if expected is None else f"Here {expected} follows."
                )
        case Claimed(by=by):
            if record.clock is None or record.clock.absence != "claim":
                return "Nothing can be claimed in this match."
            if by == seat or by >= len(record.players) or record.bot_at(by) is not None or state.eliminated_round[by]:
                return f"Seat {by} cannot claim this."
    if state.phase != PLAYING or state.turn != seat:
        return f"Seat {seat} is not to move."
    return None if presence.plays(seat) else f"A computer player plays seat {seat}."


def consequences(
    rules: Rules, state: State, presence: Presence, event: PresenceEvent
) -> tuple[Forfeited | Finished, ...]:
    """Return what follows from this event at once; ``presence`` is that before it."""
    if not isinstance(event, TimedOut) or event.then != "forfeit":
        return ()
    finished = end_by_forfeit(rules, state, presence.forfeited | {event.seat})
    return (Forfeited(event.seat), *((finished,) if finished is not None else ()))


def with_forfeits(rules: Rules, after: State, presence: Presence, following: tuple[Event, ...]) -> tuple[Event, ...]:
    """Return the events that follow from a move, by the rules (``following``) and by forfeits.

    ``after`` is the state then.

    No winner is of a side that has forfeited; and if only one other side is left, the match is over.
    """
    last = following[-1] if following and presence.forfeited else None
    if isinstance(last, Finished):
        winners = winners_after_forfeits(rules, rules.best, after, last.winners, forfeited=presence.forfeited)
        return (*following[:-1], Finished(winners))
    end = end_by_forfeit(rules, after, presence.forfeited) if isinstance(last, Eliminated) else None
    return following if end is None else (*following, end)
