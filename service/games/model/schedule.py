"""The times of a game: turns of computer players, deadlines, its expiry.

Owns what is due, and when, for which a reminder is stored with every version of the game; and how long a game is kept
after its last write. Does not depend on who acts (``service.games.automation.due``): the store lets games expire.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from service.engine.presence import ALL_PRESENT, SUBSTITUTE
from service.engine.state import FINISHED, PLAYING, ROUND_OVER
from service.games.model.clock import GRACE_MS, present_people, sleeps
from service.games.model.game import Game
from service.games.model.seats import BOT, SLOW_LEVELS
from service.games.reminders import NO_ALLOWANCE, NO_REMINDERS, OutageAllowance, ReminderKind, Reminders
from service.games.tables import LOOK_MS

DAY_MS: Final = 86_400_000
NO_LOOKS: Final[Mapping[int, int]] = MappingProxyType({})
MAX_ROUNDS_OF_BOTS: Final = 50
"""The most rounds of a match of computer players alone.

Nearly all matches have ended by then; a match of two in Block is the longest, with some 20 to 40 rounds.
"""
LEAD_MS: Final = 800
"""Milliseconds before a move of a computer player is due, from which it may be chosen."""
_PACE_WITH_PEOPLE_MS: Final = 1000
_LEAST_WITH_PEOPLE_MS: Final = {"expert": 300}
"""The shortest time until a move of a level that calculates, so that a forced move does not come sooner than others.

Ninety-nine of a hundred decisions take less with the compiled engine; ``service.workers.bot_worker`` handles the rest.
"""


class Lifetimes(NamedTuple):
    """Milliseconds for which games are kept after their last write; none is more than ``longest``.

    ``finished``: for finished games. ``unmoved``: for games in which no person has moved, finished or not.
    """

    longest: int
    finished: int
    unmoved: int = DAY_MS

    def of(self, game: Game) -> int:
        """Return the lifetime of this game."""
        if game.first_move is None or game.version <= game.first_move:
            return self.unmoved
        return self.finished if game.state.phase == FINISHED else self.longest

    @classmethod
    def at_most(cls, longest: int, finished: int | None = None) -> Lifetimes:
        """Return lifetimes that ``longest`` bounds."""
        return cls(longest, longest if finished is None else min(finished, longest), min(DAY_MS, longest))


class BotTurn(NamedTuple):
    """A move that the service is to make: by the bot of this ``level`` for a seat, or a deal, at this version.

    ``seat`` is that of the move; for a deal one that may deal. The move is made when it is ``due``, and may be chosen
    from ``begin`` on; both in milliseconds since 1970.
    """

    game: Game
    seat: int
    level: str
    action: Literal["move", "deal"]
    begin: int
    due: int

    @property
    def is_slow(self) -> bool:
        """Whether the decision takes long, or would if the move were not forced."""
        return self.level in SLOW_LEVELS and self.action == "move"


def bot_turn(game: Game) -> BotTurn | None:
    """Return what the service has to play in this game now; ``None`` if it is another's turn, or the game sleeps.

    Between two rounds people deal, as long as one of them is present and in the match.
    """
    state, presence = game.state, game.presence
    if game.status not in (PLAYING, ROUND_OVER) or sleeps(state, presence, game.seats):
        return None
    if state.phase == ROUND_OVER:
        if present_people(state, presence, game.seats) or state.round >= MAX_ROUNDS_OF_BOTS:
            return None
        return _bot_turn(game, state.active_seats()[0], SUBSTITUTE, "deal")
    seat = state.turn
    assert seat is not None
    if game.seats[seat].kind == BOT:
        return _bot_turn(game, seat, game.seats[seat].level or SUBSTITUTE, "move")
    return None if presence.plays(seat) else _bot_turn(game, seat, SUBSTITUTE, "move")


def _bot_turn(game: Game, seat: int, level: str, action: Literal["move", "deal"]) -> BotTurn:
    """Return the turn, due at a fixed time after the last event, which tells nothing about the choice.

    Leaving and coming back are no such events: otherwise a player could delay all computer players by them.
    """
    acted, wait = game.running_clock.acted, game.pace or 0
    if game.seats.people:
        wait = _PACE_WITH_PEOPLE_MS if game.pace is None else game.pace
        wait = max(wait, _LEAST_WITH_PEOPLE_MS.get(level, 0))
    return BotTurn(game, seat, level, action, acted + max(wait - LEAD_MS, 0), acted + wait)


def is_under_way(game: Game) -> bool:
    """Return whether the game goes on, or a player who is present may go on with it."""
    state, presence = game.state, game.presence
    if game.status not in (PLAYING, ROUND_OVER) or sleeps(state, presence, game.seats):
        return False
    if game.status == PLAYING or state.round < MAX_ROUNDS_OF_BOTS:
        return True
    return bool(present_people(state, presence, game.seats))


def gone_at(game: Game, looks: Mapping[int, int] = NO_LOOKS) -> dict[int, int]:
    """Return when each stranger at a waiting game counts as gone, by seat; ``looks``: when each has last looked."""
    sought = () if game.room is None else game.room.sought
    return {seat: max(at, looks.get(seat, 0)) + LOOK_MS for seat, at in sought}


def attended_at(game: Game, looks: Mapping[int, int] = NO_LOOKS) -> int | None:
    """Return when a waiting game is to be filled, or a stranger at it counts as gone; ``None`` for never."""
    if game.room is None or not game.seats.are_open:
        return None
    times = gone_at(game, looks).values()
    return min(times if game.fills_at is None else [*times, game.fills_at], default=None)


def time_out_due(game: Game, allowance: OutageAllowance = NO_ALLOWANCE) -> int | None:
    """Return when something follows from the deadline of the game by itself; ``None`` if nothing does.

    It is ``GRACE_MS`` after the deadline as it is applied. With the absence ``claim`` nothing follows from the deadline
    of a turn by itself. For a game with open seats it is when they are filled.
    """
    if game.seats.are_open:
        return attended_at(game)
    if game.clock is None or (game.clock.absence == "claim" and game.state.phase == PLAYING):
        return None
    deadline = game.deferred_deadline(allowance)
    return None if deadline is None else deadline + GRACE_MS


def remind_due(game: Game, allowance: OutageAllowance = NO_ALLOWANCE) -> int | None:
    """Return when the application is to be told that the running turn ends soon; ``None`` if it is not, or was already.

    It is not told of a turn that is shorter than the time of the reminder.
    """
    clock, running = game.clock, game.running_clock
    if clock is None or clock.remind is None or running.reminded or game.state.phase != PLAYING:
        return None
    deadline = game.deferred_deadline(allowance)
    at = None if deadline is None else deadline - clock.remind
    return None if at is None or at <= running.started else at


def clock_due(game: Game, allowance: OutageAllowance = NO_ALLOWANCE) -> int | None:
    """Return when somebody must look at the clock of a game next; ``None`` for never."""
    return min(filter(None, (remind_due(game, allowance), time_out_due(game, allowance))), default=None)


def reminders(before: Game | None, after: Game) -> Reminders:
    """Return the reminders that a write changes; those of kinds that the game never has are left out.

    ``before`` is ``None`` for a new game.
    """
    owned = after.ownership is not None
    automatic = after.is_automatic or (before is not None and before.is_automatic)
    waits = after.seats.are_open or (before is not None and before.seats.are_open)
    attended = waits and any([game is not None and attended_at(game) is not None for game in (before, after)])
    if not automatic and not owned and not attended:
        return NO_REMINDERS
    due: dict[ReminderKind, int | None] = {}
    if attended or (automatic and after.clock is not None):
        due["clock"] = clock_due(after)
    if automatic and (_may_have_bot_turn(after) or (before is not None and _may_have_bot_turn(before))):
        turn = bot_turn(after)
        kinds = after.seats.bot_kinds if after.is_awaited else ("bots_alone",)
        is_slow = len(kinds) > 1 and turn is not None and turn.is_slow
        kind = kinds[-1] if is_slow else kinds[0]
        if before is not None and before.presence != after.presence:
            kinds = (*after.seats.bot_kinds, "bots_alone")  # as it may have been of another kind
        for due_kind in kinds:
            due[due_kind] = turn.begin if turn is not None and due_kind == kind else None
    if owned:
        due["outbox"] = after.updated_at
    return due


def _may_have_bot_turn(game: Game) -> bool:
    """Return whether a computer player plays any seat, for itself or for a person."""
    return game.presence != ALL_PRESENT or not game.seats.are_people
