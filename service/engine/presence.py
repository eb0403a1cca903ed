"""The presence of people: a computer player takes over a seat, the person returns, or the seat forfeits.

Owns the events of presence and their effect on the seats. The record of a match contains them, but the state of the
match does not depend on them: a forfeit changes the winners, but no score. Does not depend on clocks: the server
decides when a seat has timed out.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from service.engine.events import Done, Drew, Eliminated, Event, EventType, Finished, Passed, Played, RoundEnded
from service.engine.state import State
from service.engine.variant import Rules, ScoreOrder

# The ranking of the seats in a match, the same for all games.


def ranking(best: ScoreOrder, state: State, forfeited: AbstractSet[int] = frozenset()) -> tuple[int, ...]:
    """Return the rank of each seat, from 1. Tied seats share a rank, and the ranks after it are skipped (1, 1, 3).

    Seats still in the match come first, then eliminated seats, the last eliminated first. Within a group, the totals
    decide. Seats that have ``forfeited`` come after all others.
    """
    totals = state.running_totals()
    sign = -1 if best == "highest" else 1

    def key(seat: int) -> tuple[bool, int, int]:
        eliminated = state.eliminated_round[seat]
        return (seat in forfeited, -eliminated if eliminated else -state.round - 1, sign * totals[seat])

    keys = [key(seat) for seat in range(len(totals))]
    return tuple([1 + sum(other < own for other in keys) for own in keys])


Absence = Literal["bot", "move", "claim", "forfeit"]
"""The consequence when a seat has timed out.

* ``bot``: a computer player takes over the seat;
* ``move``: a computer player plays this turn;
* ``claim``: another seat can claim the seat for a computer player;
* ``forfeit``: the seat forfeits the match, and a computer player takes over.
"""

ABSENCES: Final[tuple[Absence, ...]] = ("bot", "move", "claim", "forfeit")


@dataclass(frozen=True, slots=True)
class TimedOut:
    """A seat timed out."""

    seat: int
    then: Absence


@dataclass(frozen=True, slots=True)
class Left:
    """The player of a seat left, and a computer player took over."""

    seat: int


@dataclass(frozen=True, slots=True)
class Returned:
    """The player of a seat came back and plays it again."""

    seat: int


@dataclass(frozen=True, slots=True)
class Claimed:
    """A seat timed out, and the seat ``by`` claimed it for a computer player."""

    seat: int
    by: int


@dataclass(frozen=True, slots=True)
class Forfeited:
    """A seat forfeited the match: it ranks behind all seats that did not."""

    seat: int


@dataclass(frozen=True, slots=True)
class Resigned:
    """The player of a seat gave up: the seat forfeited, and a computer player took over."""

    seat: int


PresenceEvent = TimedOut | Left | Returned | Claimed | Forfeited | Resigned

PRESENCE_EVENT_TYPES: Final = (
    EventType(TimedOut, "timed_out", 12, (("seat", "seat"), ("then", "word")), "timed_out"),
    EventType(Left, "left", 13, (("seat", "seat"),), "left"),
    EventType(Returned, "returned", 14, (("seat", "seat"),), "returned"),
    EventType(Claimed, "claimed", 15, (("seat", "seat"), ("by", "seat")), "claimed"),
    EventType(Forfeited, "forfeited", 16, (("seat", "seat"),), "forfeited"),
    EventType(Resigned, "resigned", 23, (("seat", "seat"),), "resigned"),
)


class Presence(NamedTuple):
    """The seats that a computer player plays for a person, and the seats that have forfeited."""

    away: frozenset[int] = frozenset()
    """A computer player plays these seats until their players return."""
    forfeited: frozenset[int] = frozenset()
    substituted: int | None = None
    """The seat for which a computer player plays the current turn only."""

    def after(self, event: PresenceEvent) -> Presence:
        match event:
            case TimedOut(seat, then="move"):
                return self._replace(substituted=seat)
            case Returned(seat):
                substituted = None if self.substituted == seat else self.substituted
                return self._replace(away=self.away - {seat}, substituted=substituted)
            case Forfeited(seat):
                return self._replace(forfeited=self.forfeited | {seat})
            case _:
                return self._replace(away=self.away | {event.seat})

    def turn_ended(self) -> Presence:
        return self if self.substituted is None else self._replace(substituted=None)

    def plays(self, seat: int) -> bool:
        """Return whether the player of the seat plays it now, without a substitute."""
        return seat not in self.away and seat != self.substituted


ALL_PRESENT: Final = Presence()

SUBSTITUTE: Final = "greedy"
"""The level of the computer player that plays for a person."""


def ends_turn(event: Event, after: State) -> bool:
    """Return whether an event ended the turn of the seat to move; ``after`` is the state after the event.

    A flip does not end the turn; the end of the round, which follows every flip, does.
    """
    match event:
        case Played(seat=seat) | Drew(seat=seat) | Passed(seat=seat) | Done(seat=seat):
            return after.turn != seat or (not after.tiles_laid and not after.drew)
    return isinstance(event, RoundEnded)


def end_by_forfeit(rules: Rules, state: State, forfeited: AbstractSet[int]) -> Finished | None:
    """Return the end of the match if these forfeits leave only one side; all seats of that side win."""
    sides = {rules.side(seat) for seat in state.active_seats() if seat not in forfeited}
    return Finished(sides.pop(), ended_by="forfeit") if len(sides) == 1 else None


def consequences(
    rules: Rules, state: State, presence: Presence, event: PresenceEvent
) -> tuple[Forfeited | Finished, ...]:
    """Return the events that follow from this event; ``presence`` is the presence before it."""
    match event:
        case TimedOut(seat, then="forfeit") | Resigned(seat):
            end = end_by_forfeit(rules, state, presence.forfeited | {seat})
            return (Forfeited(seat),) if end is None else (Forfeited(seat), end)
        case _:
            return ()


def with_forfeits(
    rules: Rules, after: State, forfeited: frozenset[int], events: tuple[Event, ...]
) -> tuple[Event, ...]:
    """Return the events of a move, by the rules (``events``) and by earlier forfeits; ``after`` is the state after it.

    A side that has forfeited cannot win. If only one other side is left in the match, the match is over.
    """
    last = events[-1] if events and forfeited else None
    if isinstance(last, Finished):
        return (*events[:-1], Finished(_winners_after_forfeits(rules, after, last.winners, forfeited)))
    end = end_by_forfeit(rules, after, forfeited) if isinstance(last, Eliminated) else None
    return events if end is None else (*events, end)


def _winners_after_forfeits(
    rules: Rules, state: State, winners: tuple[int, ...], forfeited: AbstractSet[int]
) -> tuple[int, ...]:
    """Return the winners of a finished match; a side does not win if all of its seats have forfeited.

    ``winners``: the winners by the rules. If none of them remains, the best of the other sides win. If all sides have
    forfeited, the winners do not change. The seats of a side have the same rank.
    """
    remaining = [seat for seat in range(rules.seats) if not set(rules.side(seat)) <= forfeited]
    if not remaining:
        return winners
    winners_left = tuple([seat for seat in winners if seat in remaining])
    if winners_left:
        return winners_left
    ranks = ranking(rules.best, state)
    best_rank = min([ranks[seat] for seat in remaining])
    return tuple([seat for seat in remaining if ranks[seat] == best_rank])
