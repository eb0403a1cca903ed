"""The presence of people: the events by which a seat passes to a computer player and back, and forfeits.

Owns these events and what they mean for the seats. They belong to a match as it was played and are in its record, but
to none of its rules: no state depends on them, and a forfeit changes who has won and no count. Does not depend on
clocks: when a seat is timed out is decided by the host.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from service.engine.events import Done, Drew, Event, EventType, Finished, Passed, Played, RoundEnded
from service.engine.standings import ranking
from service.engine.state import State
from service.engine.variant import Rules, ScoreOrder

Absence = Literal["bot", "move", "claim", "forfeit"]
"""What follows when the time of a seat is over: a computer player takes over, or plays this one turn; the others may
claim that one takes over; or the seat forfeits, and one takes over."""

ABSENCES: Final[tuple[Absence, ...]] = ("bot", "move", "claim", "forfeit")


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The time of a seat was over: from now on (``bot``, ``forfeit``) or for this turn (``move``) a bot plays it."""

    seat: int
    then: Absence


@dataclass(frozen=True, slots=True)
class Left:
    """The player of a seat left: a bot plays it."""

    seat: int


@dataclass(frozen=True, slots=True)
class Returned:
    """The player of a seat is back, and plays it again."""

    seat: int


@dataclass(frozen=True, slots=True)
class Claimed:
    """The time of a seat was over, and the seat ``by`` claimed that a bot plays it."""

    seat: int
    by: int


@dataclass(frozen=True, slots=True)
class Forfeited:
    """A seat has forfeited the match: it is ranked behind all seats that have not."""

    seat: int


@dataclass(frozen=True, slots=True)
class Resigned:
    """The player of a seat gave the match up: a bot plays it, and it forfeits."""

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
    """The seats whose player is away or has forfeited, and the one whose running turn a bot plays."""

    away: frozenset[int] = frozenset()
    forfeited: frozenset[int] = frozenset()
    substituted: int | None = None

    def after(self, event: PresenceEvent) -> Presence:
        """Return the presence after this event."""
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
        """Return the presence after the end of a turn."""
        return self if self.substituted is None else self._replace(substituted=None)

    def plays(self, seat: int) -> bool:
        """Return whether the player of the seat plays it now, and not a bot for them."""
        return seat not in self.away and seat != self.substituted


ALL_PRESENT: Final = Presence()

SUBSTITUTE: Final = "greedy"
"""The level of the computer player that plays for a person."""


def ends_turn(event: Event, after: State) -> bool:
    """Return whether an event ended the turn of the seat to move; ``after`` is the state after it.

    A flip does not by itself, but the end of the round that follows it does.
    """
    match event:
        case Played(seat=seat) | Drew(seat=seat) | Passed(seat=seat) | Done(seat=seat):
            return after.turn != seat or (not after.tiles_laid and not after.drew)
    return isinstance(event, RoundEnded)


def sides_in(rules: Rules, state: State, forfeited: Iterable[int]) -> set[int]:
    """Return the sides, each a team or a seat alone, that are in the match with a seat that has not forfeited."""
    return {_side(rules, seat) for seat in set(state.active_seats()) - set(forfeited)}


def end_by_forfeit(rules: Rules, state: State, forfeited: Iterable[int]) -> Finished | None:
    """Return the end of the match if these forfeits have left one side in it, all of whose team have won."""
    sides = sides_in(rules, state, forfeited)
    if len(sides) != 1:
        return None
    return Finished(tuple([seat for seat in range(rules.seats) if _side(rules, seat) in sides]), ended_by="forfeit")


def consequences(
    rules: Rules, state: State, presence: Presence, event: PresenceEvent
) -> tuple[Forfeited | Finished, ...]:
    """Return what follows from this event at once; ``presence`` is that before it."""
    match event:
        case TimedOut(seat, then="forfeit") | Resigned(seat):
            end = end_by_forfeit(rules, state, presence.forfeited | {seat})
            return (Forfeited(seat),) if end is None else (Forfeited(seat), end)
        case _:
            return ()


def winners_after_forfeits(
    rules: Rules, best: ScoreOrder, state: State, winners: tuple[int, ...], *, forfeited: frozenset[int]
) -> tuple[int, ...]:
    """Return the winners of a finished match, none of which is of a side all of whose seats have forfeited.

    If all ``winners`` by the rules are, the best of the others have won. If every side has forfeited, nothing changes.
    """
    if not forfeited:
        return winners
    left = {_side(rules, seat) for seat in range(rules.seats) if seat not in forfeited}
    if not left:
        return winners
    of_rules = tuple([seat for seat in winners if _side(rules, seat) in left])
    if of_rules:
        return of_rules
    ranks = ranking(best, state)
    others = [seat for seat in range(rules.seats) if _side(rules, seat) in left]
    first = min([ranks[seat] for seat in others])
    winning = {_side(rules, seat) for seat in others if ranks[seat] == first}
    return tuple([seat for seat in others if _side(rules, seat) in winning])


def _side(rules: Rules, seat: int) -> int:
    team = rules.team(seat)
    return seat if team is None else team
