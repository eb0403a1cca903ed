"""The times of a game: turns of computer players, deadlines, its expiry.

Owns what is due in a game, and when, and how long a game lives after its last write. Does not depend on who acts
(``service.games.automation.due``).
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
from service.games.tables import UNSEEN_MS

DAY_MS: Final = 86_400_000
NEVER_SEEN: Final[Mapping[int, int]] = MappingProxyType({})
MAX_ROUNDS_OF_BOTS: Final = 50
"""The maximum number of rounds in a match of computer players alone. The longest, of two in Block, have 20 to 40."""
LEAD_MS: Final = 800
"""How early, in milliseconds, the service can begin to choose a move before it is due."""
_PACE_WITH_PEOPLE_MS: Final = 1000
_MIN_WITH_PEOPLE_MS: Final = {"expert": 300}
"""The minimum of milliseconds before a move of a level that calculates, so that forced moves do not come faster.

With the compiled engine, 99 % of decisions take less; ``service.workers.bot_worker`` handles the rest.
"""


class Lifetimes(NamedTuple):
    """Milliseconds for which games live after their last write.

    ``longest``: for games in progress; the maximum of all three.
    ``finished``: for finished games.
    ``unmoved``: for games in which no person has moved, finished or not.
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
        """Return lifetimes of which none is more than ``longest``."""
        return cls(longest, longest if finished is None else min(finished, longest), min(DAY_MS, longest))


class BotTurn(NamedTuple):
    """A move or deal that the service must make at this version of the game. Times are in milliseconds since 1970.

    ``level``: that of the computer player that chooses the move.
    ``begin``: when the service can begin to choose.
    ``due``: when it makes the move.
    """

    game: Game
    seat: int
    level: str
    action: Literal["move", "deal"]
    begin: int
    due: int

    @property
    def is_slow(self) -> bool:
        """Return whether the level calculates its moves, which takes long unless the move is forced."""
        return self.level in SLOW_LEVELS and self.action == "move"


def bot_turn(game: Game) -> BotTurn | None:
    """Return the move or deal that the service must make now; ``None`` if a person must, or the game sleeps.

    Between two rounds a person deals, if one is present and not eliminated. The turn is due at a fixed time after the
    match last changed, so that the time does not reveal the choice. Leaving and coming back do not count as changes;
    otherwise a player could delay computer players with them.
    """
    state, presence, seats = game.state, game.presence, game.seats
    seat, level = state.turn, SUBSTITUTE
    if game.status not in (PLAYING, ROUND_OVER) or (presence.away and sleeps(state, presence, seats)):
        return None
    if seat is None:
        if present_people(state, presence, seats) or state.round >= MAX_ROUNDS_OF_BOTS:
            return None
        seat = state.active_seats()[0]
    elif seats[seat].kind == BOT:
        level = seats[seat].level or SUBSTITUTE
    elif presence.plays(seat):
        return None
    acted, wait = game.running_clock.acted, game.pace or 0
    if seats.people:
        wait = _PACE_WITH_PEOPLE_MS if game.pace is None else game.pace
        wait = max(wait, _MIN_WITH_PEOPLE_MS.get(level, 0))
    action: Literal["move", "deal"] = "move" if state.phase == PLAYING else "deal"
    return BotTurn(game, seat, level, action, acted + max(wait - LEAD_MS, 0), acted + wait)


def is_under_way(game: Game) -> bool:
    """Return whether the match is running and somebody, a present person or the service, will make the next move."""
    state, presence = game.state, game.presence
    if game.status not in (PLAYING, ROUND_OVER) or sleeps(state, presence, game.seats):
        return False
    if game.status == PLAYING or state.round < MAX_ROUNDS_OF_BOTS:
        return True
    return bool(present_people(state, presence, game.seats))


def gone_at(game: Game, last_seen: Mapping[int, int] = NEVER_SEEN) -> dict[int, int]:
    """Return by seat when each stranger at a waiting game counts as gone; ``last_seen``: when each was last seen."""
    sought = () if game.room is None else game.room.sought
    return {seat: max(at, last_seen.get(seat, 0)) + UNSEEN_MS for seat, at in sought}


def room_due(game: Game, last_seen: Mapping[int, int] = NEVER_SEEN) -> int | None:
    """Return when a waiting game must be filled, or a stranger at it counts as gone; ``None`` for never."""
    if game.room is None or not game.seats.are_open:
        return None
    times = gone_at(game, last_seen).values()
    return min(times if game.fills_at is None else [*times, game.fills_at], default=None)


def time_out_due(game: Game, allowance: OutageAllowance = NO_ALLOWANCE) -> int | None:
    """Return when the service must act on the deadline of a game, or in its waiting room; ``None`` for never.

    With the absence ``claim``, the deadline of a turn has no effect until a player claims.
    """
    if game.seats.are_open:
        return room_due(game)
    if game.clock is None or (game.clock.absence == "claim" and game.state.phase == PLAYING):
        return None
    deadline = game.deferred_deadline(allowance)
    return None if deadline is None else deadline + GRACE_MS


def remind_due(game: Game, allowance: OutageAllowance = NO_ALLOWANCE) -> int | None:
    """Return when the application gets the reminder of the running turn; ``None`` for none, or if it got it already."""
    clock, running = game.clock, game.running_clock
    if clock is None or clock.remind is None or running.reminded or game.state.phase != PLAYING:
        return None
    deadline = game.deferred_deadline(allowance)
    at = None if deadline is None else deadline - clock.remind
    return None if at is None or at <= running.started else at


def clock_due(game: Game, allowance: OutageAllowance = NO_ALLOWANCE) -> int | None:
    """Return when the clock of a game next requires an action; ``None`` for never."""
    return min(filter(None, (remind_due(game, allowance), time_out_due(game, allowance))), default=None)


def reminders(before: Game | None, after: Game) -> Reminders:
    """Return the reminders that a write changes, without the kinds that this game never has."""
    games = (after,) if before is None else (before, after)
    owned = after.ownership is not None
    automatic = any([game.is_automatic for game in games])
    has_room_due = any([game.room is not None and room_due(game) is not None for game in games])
    if not automatic and not owned and not has_room_due:
        return NO_REMINDERS
    due: dict[ReminderKind, int | None] = {}
    if has_room_due or (automatic and after.clock is not None):
        due["clock"] = clock_due(after)
    # A computer player can play a seat of its own, or the seat of a player who is away.
    if automatic and any([game.presence != ALL_PRESENT or len(game.seats.people) < len(game.seats) for game in games]):
        turn = bot_turn(after)
        kinds = after.seats.bot_kinds if after.is_awaited else ("bots_alone",)
        is_slow = len(kinds) > 1 and turn is not None and turn.is_slow
        kind = kinds[-1] if is_slow else kinds[0]
        if before is not None and before.presence != after.presence:
            kinds = (*after.seats.bot_kinds, "bots_alone")  # the earlier reminder may have another kind
        for due_kind in kinds:
            due[due_kind] = turn.begin if turn is not None and due_kind == kind else None
    if owned:
        due["outbox"] = after.updated_at
    return due
