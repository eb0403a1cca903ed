"""The clock of a game: how long a turn may take, how it runs, and when the next deadline is.

Owns the arithmetic of times and banks, in milliseconds since 1970. The clock runs for turns and not for moves, so that
drawing buys no time; only for a person who is present; and between two rounds for the deal as a whole. Does not depend
on what happens at a deadline (``service.games.automation``).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from service.engine.events import Dealt, Done, Drew, Event, Passed, Played, RoundEnded
from service.engine.presence import Absence, Presence, Returned
from service.engine.state import PLAYING, ROUND_OVER, State

DEAL_MS: Final = 60_000
"""The time for the deal between two rounds in a game with banks, unless the banks are smaller."""
RETURN_MS: Final = 10_000
"""The least time that a player who comes back has for the running turn."""


class ClockSettings(NamedTuple):
    """Either the time for each ``turn``, or a ``bank`` for the match with an ``increment`` for each turn; and then.

    All in milliseconds. ``absence`` is what follows at a deadline.
    """

    turn: int | None = None
    bank: int = 0
    increment: int = 0
    absence: Absence = "bot"


class RunningClock(NamedTuple):
    """When the running turn, or the time for the deal, began; and the bank of each seat then (none without banks)."""

    started: int = 0
    banks: tuple[int, ...] = ()


STOPPED: Final = RunningClock()


def start_clock(settings: ClockSettings | None, seats: int) -> RunningClock:
    """The clock of a new game."""
    if settings is None or settings.turn is not None:
        return STOPPED
    return RunningClock(0, (settings.bank,) * seats)


def clock_after(
    clock: RunningClock, settings: ClockSettings, event: Event | Returned, *, presence: Presence, after: State, at: int
) -> RunningClock:
    """The clock after an event at this time. ``presence`` is that before the event, ``after`` the state after it."""
    match event:
        case Dealt() | RoundEnded():
            return clock._replace(started=at)
        case Returned(seat) if seat == after.turn:
            least = min(RETURN_MS, settings.bank)
            return RunningClock(at, _with_bank(clock.banks, seat, max(_bank(clock.banks, seat), least)))
        case Returned(seat):
            return clock
        case Played(seat=seat) | Drew(seat=seat) | Passed(seat=seat) | Done(seat=seat) if ends_turn(event, after):
            banks = clock.banks
            if banks and presence.plays(seat):
                left = max(banks[seat] - max(at - clock.started, 0), 0)
                banks = _with_bank(banks, seat, min(left + settings.increment, settings.bank))
            return RunningClock(at, banks)
    return clock


def ends_turn(event: Event, after: State) -> bool:
    """Whether a move ended the turn of its seat; ``after`` is the state after it. A flip never does."""
    match event:
        case Played(seat=seat) | Drew(seat=seat) | Passed(seat=seat) | Done(seat=seat):
            return after.turn != seat or (not after.tiles_laid and not after.drew)
    return False


def deadline_of(
    clock: RunningClock, settings: ClockSettings, state: State, presence: Presence, people: frozenset[int]
) -> int | None:
    """When the time is over for the turn of a person who is present, or between two rounds for the deal.

    ``people`` are the seats of people. ``None`` while the clock does not run.
    """
    if state.phase == PLAYING:
        seat = state.turn
        if seat is None or seat not in people or not presence.plays(seat):
            return None
        return clock.started + (clock.banks[seat] if settings.turn is None else settings.turn)
    if state.phase == ROUND_OVER and any(seat in people and presence.plays(seat) for seat in state.active_seats()):
        return clock.started + (min(settings.bank, DEAL_MS) if settings.turn is None else settings.turn)
    return None


def _bank(banks: tuple[int, ...], seat: int) -> int:
    return banks[seat] if banks else 0


def _with_bank(banks: tuple[int, ...], seat: int, bank: int) -> tuple[int, ...]:
    return (*banks[:seat], bank, *banks[seat + 1 :]) if banks else ()
