"""The clock of a game: how long a turn may take, how it runs, and when the next deadline is.

Owns the arithmetic of times and banks, in milliseconds since 1970. The clock runs for turns and not for moves, so that
drawing buys no time; only for a person who is present; and between two rounds for the deal as a whole. Does not depend
on the events of a game (``service.games.model.following``), nor on what happens at a deadline
(``service.games.automation.due``).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from service.engine.presence import Absence, Presence
from service.engine.state import PLAYING, ROUND_OVER, State
from service.games.model.seats import Seats
from service.games.reminders import OutageAllowance

GRACE_MS: Final = 1000
"""Milliseconds after a deadline before anything follows: an answer that is under way still counts."""
DEAL_MS: Final = 60_000
"""The time for the deal between two rounds in a game with banks, unless the banks are smaller."""
RETURN_MS: Final = 10_000
"""The least time that a player who comes back has, once in a match; less where the limit itself is less."""


class ClockSettings(NamedTuple):
    """Either the time for each ``turn``, or a ``bank`` for the match with an ``increment`` for each turn; and then.

    All in milliseconds. ``absence`` is what follows at a deadline; so long before it (``remind``) the application is
    told, once a turn.
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
    """What each seat had left then; none without banks. Less than 0 where it took longer than it had: ``GRACE_MS`` at
    most, which is taken from what the seat gets next. Otherwise every turn would have so much time for nothing.
    """
    granted: frozenset[int] = frozenset()
    """The seats that were granted time when their player came back: that happens once in a match."""
    acted: int = 0
    """When the match last went on; computer players wait for some time after it."""
    reminded: int = 0
    """When the application was told that the time of the running turn ends soon; 0 as long as it was not."""

    def turn_begins(self, at: int) -> RunningClock:
        """Return the clock when a turn, or the time for a deal, begins."""
        return self._replace(started=at, reminded=0)

    def turn_ends(
        self, settings: ClockSettings, seat: int, presence: Presence, at: int, *, counted: bool
    ) -> RunningClock:
        """Return the clock when the turn of this seat ends: its bank loses what the turn took, and gains the increment.

        It loses nothing unless the time was ``counted`` (``is_counted``): where a computer player has played this one
        turn, the player's own time for it was over already. A seat that is away gains nothing either.
        """
        if not self.banks or seat in presence.away:
            return self
        left = self._left(seat, at) if counted else self.banks[seat]
        return self._with_bank(seat, min(left + settings.increment, settings.bank))

    def interrupted(self, seat: int, at: int) -> RunningClock:
        """Return the clock when time is counted no longer, with what the turn has taken from the bank used up."""
        return self._with_bank(seat, self._left(seat, at))._replace(started=at) if self.banks else self

    def resumed(self, settings: ClockSettings, seat: int, at: int, *, to_move: bool, slept: bool) -> RunningClock:
        """Return the clock when the player of a seat comes back.

        ``slept`` if no time was counted, as nobody was present.

        In the running turn (``to_move``) the player has what was left of its time. Who has less than ``RETURN_MS`` in
        its bank, or of the time for the running turn, is granted so much, once in a match: otherwise time could be had
        for ever by leaving and coming back. The time of a turn or deal for which nobody could wait begins anew.
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
        """Return what a seat has left of its bank if its turn ends now."""
        return max(self.banks[seat] - max(at - self.started, 0), -GRACE_MS) if self.banks else 0

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
    """Return when the time is over for the turn of a player who is present, or between two rounds for the deal.

    ``None`` while the clock does not run.
    """
    if state.phase == PLAYING:
        seat = state.turn
        if seat is None or not is_counted(seat, presence, seats):
            return None
        return clock.started + (clock.banks[seat] if settings.turn is None else settings.turn)
    if state.phase == ROUND_OVER and present_people(state, presence, seats):
        return clock.started + (min(settings.bank, DEAL_MS) if settings.turn is None else settings.turn)
    return None


def deferred(deadline: int, began: int, allowance: OutageAllowance) -> int:
    """Return the deadline of a time that ``began`` then, as it is applied: later than ``deadline`` after an outage.

    While nobody could move, nobody is late: nothing follows before the end of the allowance.
    """
    return max(deadline, allowance.until - GRACE_MS) if began <= allowance.since else deadline


def is_counted(seat: int, presence: Presence, seats: Seats) -> bool:
    """Whether the clock runs in a turn of this seat: of a person who is present, unless a computer player makes it."""
    return seat in seats.people and presence.plays(seat)


def present_people(state: State, presence: Presence, seats: Seats) -> list[int]:
    """Return the seats of people who are in the match and present."""
    people = seats.people
    return [seat for seat in state.active_seats() if seat in people and seat not in presence.away]


def sleeps(state: State, presence: Presence, seats: Seats) -> bool:
    """Return whether a game goes on only when somebody is back: all are away, and one of them has not forfeited.

    When all of them have forfeited, the others decide the match without them.
    """
    if not presence.away:
        return False
    people = [seat for seat in state.active_seats() if seat in seats.people]
    if any([seat not in presence.away for seat in people]):
        return False
    return any([seat not in presence.forfeited for seat in people])
