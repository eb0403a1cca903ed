"""The clock of a game: how long a turn can take, how the clock runs, and when the next deadline is.

The clock measures turns, not moves, so that drawing gives no extra time. It runs only for people who are present, and
between two rounds once for the deal. Times are in milliseconds since 1970.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from service.engine.presence import Absence, Presence
from service.engine.state import PLAYING, ROUND_OVER, State
from service.games.model.seats import Seats

GRACE_MS: Final = 1000
"""Milliseconds from a deadline to its effect: a move that is on its way still counts."""
DEAL_MS: Final = 60_000
"""Milliseconds for the deal between two rounds in a game with banks, unless the banks are smaller."""
RETURN_MS: Final = 10_000
"""The minimum of milliseconds that a returning player gets, once in a match; less if the time limit is less."""


class ClockSettings(NamedTuple):
    """The time limit of a game: either for each ``turn``, or a ``bank`` for the match. Times are in milliseconds.

    ``increment``: added to a bank after each turn.
    ``absence``: what happens at a deadline.
    ``remind``: how long before the deadline the application gets a reminder, once a turn.
    """

    turn: int | None = None
    bank: int = 0
    increment: int = 0
    absence: Absence = "bot"
    remind: int | None = None


class RunningClock(NamedTuple):
    """The times of a game at one version, in milliseconds since 1970, and the banks of its seats."""

    started: int = 0
    """When the time for the running turn, or for the deal, began."""
    banks: tuple[int, ...] = ()
    """The time that each seat had left at ``started``; empty without banks. A move within the grace period makes it
    negative, at least ``-GRACE_MS``: that time is taken from the next increment.
    """
    granted: frozenset[int] = frozenset()
    """The seats whose returning player got extra time, which happens once in a match."""
    acted: int = 0
    """When the match last changed; the pace of computer players counts from then."""
    reminded: int = 0
    """When the application got the reminder for the running turn; 0 before that."""

    def turn_begins(self, at: int) -> RunningClock:
        """Return the clock at the beginning of a turn, or of the time for a deal."""
        return self._replace(started=at, reminded=0)

    def turn_ends(
        self, settings: ClockSettings, seat: int, presence: Presence, at: int, *, counted: bool
    ) -> RunningClock:
        """Return the clock at the end of a turn: the bank of the seat loses the time used, and gains the increment.

        It loses nothing if the time was not ``counted`` (``is_counted``): then a computer player moved, after the time
        of the player had run out. A seat that is away gains nothing either.
        """
        if not self.banks or seat in presence.away:
            return self
        left = self._left(seat, at) if counted else self.banks[seat]
        return self._with_bank(seat, min(left + settings.increment, settings.bank))

    def interrupted(self, seat: int, at: int) -> RunningClock:
        """Return the clock when it stops during a turn: the bank of the seat loses the time used so far."""
        return self._with_bank(seat, self._left(seat, at))._replace(started=at) if self.banks else self

    def resumed(self, settings: ClockSettings, seat: int, at: int, *, to_move: bool, slept: bool) -> RunningClock:
        """Return the clock when the player of a seat comes back.

        ``to_move``: it is the turn of this seat. The player has the time that was left.
        ``slept``: the clock was stopped because nobody was present. The time of the turn or deal begins again.

        A player with less than ``RETURN_MS`` left gets that time, once in a match, so that nobody gains time without
        end by leaving and coming back.
        """
        started = at if slept or (to_move and settings.turn is None) else self.started
        bank = self.banks[seat] if self.banks else 0
        before = started, bank
        if seat not in self.granted:
            if settings.turn is None:
                bank = max(bank, min(RETURN_MS, settings.bank))
            elif to_move:
                started = max(started, at + min(RETURN_MS, settings.turn) - settings.turn)
        granted = self.granted if (started, bank) == before else self.granted | {seat}
        return self._with_bank(seat, bank)._replace(started=started, granted=granted)

    def _left(self, seat: int, at: int) -> int:
        """Return the bank of a seat if its turn ends at this time."""
        return max(self.banks[seat] - max(at - self.started, 0), -GRACE_MS)

    def _with_bank(self, seat: int, bank: int) -> RunningClock:
        if not self.banks:
            return self
        return self._replace(banks=(*self.banks[:seat], bank, *self.banks[seat + 1 :]))


STOPPED: Final = RunningClock()


def start_clock(settings: ClockSettings | None, seats: int) -> RunningClock:
    """Return the clock of a new game."""
    if settings is None or settings.turn is not None:
        return STOPPED
    return RunningClock(banks=(settings.bank,) * seats)


def deadline_of(
    clock: RunningClock, settings: ClockSettings, state: State, presence: Presence, *, seats: Seats
) -> int | None:
    """Return the deadline of the running turn, or between rounds of the deal; ``None`` while the clock is stopped."""
    if state.phase == PLAYING:
        seat = state.turn
        if seat is None or not is_counted(seat, presence, seats):
            return None
        return clock.started + (clock.banks[seat] if settings.turn is None else settings.turn)
    if state.phase == ROUND_OVER and present_people(state, presence, seats):
        return clock.started + (min(settings.bank, DEAL_MS) if settings.turn is None else settings.turn)
    return None


def is_counted(seat: int, presence: Presence, seats: Seats) -> bool:
    """Return whether the clock runs in a turn of this seat: a person plays it, without a substitute."""
    return seat in seats.people and presence.plays(seat)


def present_people(state: State, presence: Presence, seats: Seats) -> list[int]:
    """Return the seats of people who are present and not eliminated."""
    people = seats.people
    return [seat for seat in state.active_seats() if seat in people and seat not in presence.away]


def sleeps(state: State, presence: Presence, seats: Seats) -> bool:
    """Return whether a game waits until a player comes back: all people are away, and one has not forfeited.

    If all have forfeited, the computer players finish the match.
    """
    if present_people(state, presence, seats):
        return False
    return any([seat in seats.people and seat not in presence.forfeited for seat in state.active_seats()])
