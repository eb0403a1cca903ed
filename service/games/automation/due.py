"""Commits what is due in a game without a request: moves of computer players, and the effects of deadlines.

Owns these commits, and the repair of lost reminders. The game itself says what is due
(``service.games.model.schedule``), so that a stale, early or repeated reminder does nothing. Every commit requires the
version that was read; if several processes try the same, one succeeds. Does not depend on who calls, or when.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Final

from service.bounded_cache import BoundedCache
from service.engine.moves import DEAL, Move
from service.engine.presence import TimedOut
from service.games.model.errors import StaleVersion
from service.games.model.following import advance_match, with_consequences
from service.games.model.game import Game
from service.games.model.game_events import Reminded
from service.games.model.schedule import BotTurn, bot_turn, clock_due, gone_at, reminders, room_due, time_out_due
from service.games.model.waiting import fill_seats, free_seats
from service.games.ports import Runtime
from service.games.reminders import ClockReading, ReminderQueue
from service.games.store.repository import GameRepository
from service.games.store.transactions import Committed, Decision
from service.redis.errors import StorageUnavailable


class Automation:
    """Makes the moves of computer players, and handles expired deadlines.

    Every method raises ``StorageUnavailable``, and ``Gone`` for a game that was deleted; those that write
    ``OutcomeUnknown``.
    """

    def __init__(self, repository: GameRepository) -> None:
        self._repository = repository

    def next_turn(self, game_id: str) -> BotTurn | None:
        """Return the move or deal that the service must make in this game; ``None`` if there is none, or no game.

        Raises ``Deferred`` if no person waits for it, and the store has little memory left.
        """
        game = self._repository.reader.load(game_id)
        turn = None if game is None else bot_turn(game)
        if turn is not None:
            self._repository.transactions.admission.check_awaited(turn.game)
        return turn

    def play(self, turn: BotTurn, move: Move) -> Committed:
        """Make this move, at the version that it was chosen for.

        Raises ``StaleVersion``, ``NotFound`` if the game has expired, ``Refusal`` for an illegal move.
        """
        return self._commit(turn.game, advance_match(turn.game, turn.seat, move))

    def time_out(self, game_id: str, reading: ClockReading) -> Committed | int | None:
        """Commit what is due by the clock of a game, or in its waiting room; else return when something will be due.

        The deadline is compared to ``reading``. Returns ``None`` if the game has no deadline or does not exist. Raises
        ``StaleVersion`` if another write comes first, ``NotFound`` if the game expires.
        """
        game = self._repository.reader.load(game_id)
        due = None if game is None else clock_due(game, reading.allowance)
        if game is None or due is None or due > reading.now:
            return due
        if game.seats.are_open:
            return self._act_in_waiting_room(game, reading.now)
        over = time_out_due(game, reading.allowance)
        if over is not None and over <= reading.now:
            return self._commit(game, _time_out(game))
        assert game.state.turn is not None
        return self._commit(game, (game, [Reminded(game.state.turn)]))

    def _act_in_waiting_room(self, game: Game, now: int) -> Committed | int | None:
        """Remove the strangers who are gone from a waiting game; if there are none, fill the game if that is due."""
        room = game.room
        assert room is not None
        last_seen = self._repository.store.tables.last_seen(game.id) if room.sought else {}
        gone = [seat for seat, at in gone_at(game, last_seen).items() if at <= now]
        if gone:
            return self._commit(game, free_seats(game, gone))
        if room.fill is not None and game.fills_at is not None and game.fills_at <= now:
            return self._commit(game, fill_seats(game, game.seats.open(), room.fill.level))
        return room_due(game, last_seen)

    def _commit(self, seen: Game, decision: Decision) -> Committed:
        """Commit a decision on a game as it was read. Raises ``StaleVersion`` if another write came first."""

        def decide(game: Game) -> Decision:
            if (game.version, game.write_id) != (seen.version, seen.write_id):
                raise StaleVersion("stale_version", version=game.version)
            return decision

        return self._repository.transactions.transact(seen, decide)


def _time_out(game: Game) -> Decision:
    """Deal in the place of a player, or apply what happens to a player whose turn has taken too long."""
    clock, seat = game.clock, game.state.turn
    assert clock is not None
    if seat is None:
        return advance_match(game, game.state.active_seats()[0], DEAL)
    return with_consequences(game, TimedOut(seat, clock.absence))


# Lost reminders: if a request reads a game that is overdue, its reminders are written again.


OVERDUE_MS: Final = 5000
"""Milliseconds after which work that is due counts as overdue."""
PAUSE_MS: Final = 30_000
"""Milliseconds between two attempts for one game. Without running workers, every read finds it overdue."""
SIZE: Final = 1000
"""The number of games whose last attempt a process remembers."""

ReadObserver = Callable[[Game], None]
"""Called with a game that was read. Must not raise."""

_log = logging.getLogger(__name__)


class LostReminders:
    """Restores the reminders of overdue games, in the background. Reminders that still exist do not change."""

    def __init__(self, queue: ReminderQueue, runtime: Runtime) -> None:
        self._queue = queue
        self._clock, self._run_later = runtime.clock, runtime.run_later
        self._attempts = BoundedCache[str, int](SIZE)

    def check(self, game: Game) -> None:
        """Restore the reminders of this game, which was just read from the store, if it is overdue."""
        if not game.is_automatic and game.ownership is None and room_due(game) is None:
            return
        now, last = self._clock(), self._attempts.get(game.id)
        if now - game.updated_at <= OVERDUE_MS or (last is not None and now - last < PAUSE_MS):
            return
        if any([at is not None and now - at > OVERDUE_MS for at in reminders(None, game).values()]):
            self._attempts.put(game.id, now)
            self._run_later(partial(self._restore, game))

    def _restore(self, game: Game) -> None:
        try:
            for kind, at in reminders(None, game).items():
                if at is not None:
                    # The game does not show whether its events were published, so this reminder is due at once.
                    self._queue.restore(kind, game.id, game.tenant, self._clock() if kind == "outbox" else at)
        except StorageUnavailable:
            pass  # the next read of the game tries again
        except Exception:
            _log.exception("reminders could not be restored")
