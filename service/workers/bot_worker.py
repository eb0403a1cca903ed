"""The bot worker: takes the reminders of games in which the service plays a seat, and makes its moves.

Owns in which order that is done, and when. A move is chosen before it is due where there is time, and is made when it
is due, so that its time tells nothing about the choice; other games go on meanwhile. A move is committed at the version
it was chosen for, so nothing is made twice. Does not depend on how a move is chosen.

Overload makes moves later, never weaker.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container
from contextlib import suppress
from heapq import heapify, heappop, heappush
from itertools import count
from time import monotonic
from typing import Final, NamedTuple

from service.engine.moves import Move
from service.games.automation.due import Automation
from service.games.model.errors import StaleVersion
from service.games.model.schedule import BotTurn
from service.games.ports import OutcomeUnknown, PutOff, StorageUnavailable, WrittenByNewer
from service.games.reminders import TakenReminder
from service.workers.consumer import Consumer, ConsumerSettings, Next, Queue
from service.workers.decisions import Decisions, log_fields

SETTINGS: Final = ConsumerSettings(
    kind="bots",
    lease_ms=30_000,
    batch=8,
    most=1000,  # games that are leased at a time
    look_seconds=(0.05, 0.1),
    look_growth=1.02,  # the longest pause is reached in about three seconds
    failure="a move of a computer player failed",
)
RETRY_MS: Final = 250
"""Milliseconds until something is tried again for which the storage was away."""

_SLOW: Final = frozenset({"expert"})
"""Levels whose decisions wait for those of others."""


class _Task(NamedTuple):
    """A leased game that is waiting: with a move, or to be looked at again. Compares by its time."""

    at: int
    number: int
    taken: TakenReminder
    turn: BotTurn | None = None
    move: Move | None = None


class BotWorker(Consumer):
    """Makes the moves of computer players."""

    def __init__(self, automation: Automation, decisions: Decisions, queue: Queue) -> None:
        super().__init__(SETTINGS, queue, spawn=None)
        self._automation = automation
        self._decisions = decisions
        self._numbers = count()
        self._waiting: list[_Task] = []
        self._undecided: deque[_Task] = deque()
        self._current: _Task | None = None
        self._next_look = 0.0

    def step(self) -> float:
        """Do what is due, and decide at most one slow move; returns for how many seconds there is nothing to do.

        Raises ``StorageUnavailable`` if no reminder can be taken.
        """
        while self._waiting and self._waiting[0].at <= self._clock():
            self._resume(heappop(self._waiting))
        if monotonic() >= self._next_look:
            pause = super().step()
            # Where the last look found something and nothing slow waits, there is no pause.
            found = pause <= SETTINGS.look_seconds[0]
            self._next_look = monotonic() + (0.0 if found and not self._undecided else pause)
        if self._undecided:
            self._resume(self._undecided.popleft())
            return 0.0
        pause = self._next_look - monotonic()
        if self._waiting:
            pause = min(pause, (self._waiting[0].at - self._clock()) / 1000)
        return max(pause, 0.0)

    def handle(self, taken: TakenReminder) -> Next:
        """Look at a game, and make its move, unless the move is slow to choose, or has to wait until it is due."""
        return self._advance(_Task(self._clock(), next(self._numbers), taken))

    def forget(self, games: Container[str]) -> None:
        """Drop what was to be done in these games, which were deleted."""
        self._waiting = [task for task in self._waiting if task.taken.game not in games]
        heapify(self._waiting)
        self._undecided = deque([task for task in self._undecided if task.taken.game not in games])
        self._under_way = {game: taken for game, taken in self._under_way.items() if game not in games}
        self._current = None
        self._decisions.forget(games)

    def _resume(self, task: _Task) -> None:
        """Go on with a task that has waited."""
        self._finish(task.taken, lambda _: self._advance(task))

    def _advance(self, task: _Task) -> Next:
        """Look, choose and make the move, as far as that can be done now; where the storage is away, soon again."""
        self._current = task
        try:
            return self._do(task)
        except (WrittenByNewer, PutOff):
            raise
        except (StorageUnavailable, OutcomeUnknown):
            at = self._clock() + RETRY_MS
            if at >= task.taken.leased:
                return "written"  # or will be taken again
            heappush(self._waiting, self._current._replace(at=at))
            return "held"

    def _do(self, task: _Task) -> Next:
        turn, move, game = task.turn, task.move, task.taken.game
        if turn is None:
            turn = self._automation.next_turn(game)
            if turn is None:
                return "never"
            if turn.begin > self._clock():
                return turn.begin
            task = self._current = task._replace(turn=turn)
            if turn.level in _SLOW and turn.action == "move":
                self._undecided.append(task)
                return "held"
        if move is None:
            move = self._decisions.move(turn, self._failures.get(game) or 0)
            task = self._current = task._replace(at=turn.due, move=move)
            if turn.due > self._clock():
                heappush(self._waiting, task)
                return "held"
        return self._play(turn, move)

    def _play(self, turn: BotTurn, move: Move) -> Next:
        """Make the chosen move. A write that came first has also written the next reminder."""
        with suppress(StaleVersion):
            committed = self._automation.play(turn, move)
            self._decisions.made(turn, committed)
            self._metrics.count_move(turn.level)
        return "written"

    def _log_fields(self) -> dict[str, object] | None:
        turn = self._current and self._current.turn
        return log_fields(turn) if turn else None
