"""The bot worker: takes the reminders of games in which the service plays a seat, and makes its moves.

Owns in which order that is done, and when. A move is chosen before it is due where there is time, and is made when it
is due, so that its time tells nothing about the choice; other games go on meanwhile. A move is committed at the version
it was chosen for, so nothing is made twice. Does not depend on how a move is chosen.

Overload makes moves later, never weaker.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Container
from contextlib import suppress
from heapq import heapify, heappop, heappush
from itertools import count
from time import monotonic
from typing import Final, NamedTuple

from service.engine.moves import Move
from service.games.automation.due import Automation
from service.games.model.errors import Gone, NotFound, StaleVersion
from service.games.model.schedule import BotTurn
from service.games.ports import Clock, OutcomeUnknown, ReminderQueue, StorageUnavailable, TakenReminder
from service.workers.decisions import Decisions, log_fields
from service.workers.failures import Failures
from service.workers.look_pause import LookPause
from service.workers.metrics import WorkerMetrics

LEASE_MS: Final = 30_000
BATCH: Final = 8
"""Reminders taken at a time."""
MOST_WAITING: Final = 1000
"""Games that are leased at a time."""
LOOK_SECONDS: Final = (0.05, 0.1)
"""Seconds between two looks for reminders while there are none: just after one was found, and a while after."""
LOOK_GROWTH: Final = 1.02
"""By this factor the pause grows with each look, so that the longest is reached in about three seconds."""
RETRY_MS: Final = 250
"""Milliseconds until something is tried again for which the storage was away."""

_SLOW: Final = frozenset({"expert"})
"""Levels whose decisions wait for those of others."""

_log = logging.getLogger(__name__)


class _Task(NamedTuple):
    """A leased game that is waiting: with a move, or to be looked at again. Compares by its time."""

    at: int
    number: int
    taken: TakenReminder
    turn: BotTurn | None = None
    move: Move | None = None


class BotWorker:
    """Makes the moves of computer players; ``clock`` is that of the store."""

    def __init__(
        self,
        automation: Automation,
        reminders: ReminderQueue,
        decisions: Decisions,
        metrics: WorkerMetrics,
        clock: Clock,
    ) -> None:
        self._automation = automation
        self._reminders = reminders
        self._decisions = decisions
        self._metrics = metrics
        self._clock = clock
        self._failures = Failures()
        self._numbers = count()
        self._waiting: list[_Task] = []
        self._undecided: deque[_Task] = deque()
        self._next_look = 0.0
        self._look_pause = LookPause(LOOK_SECONDS, LOOK_GROWTH)

    def step(self) -> float:
        """Do what is due, and decide at most one slow move; returns for how many seconds there is nothing to do.

        Raises ``StorageUnavailable`` if no reminder can be taken.
        """
        self._do_waiting()
        if monotonic() >= self._next_look:
            self._look_for_games()
        if self._undecided:
            self._decide(self._undecided.popleft())
            return 0.0
        pause = self._next_look - monotonic()
        if self._waiting:
            pause = min(pause, (self._waiting[0].at - self._clock()) / 1000)
        return max(pause, 0.0)

    def forget(self, games: Container[str]) -> None:
        """Drop what was to be done in these games, which were deleted."""
        self._waiting = [task for task in self._waiting if task.taken.game not in games]
        heapify(self._waiting)
        self._undecided = deque([task for task in self._undecided if task.taken.game not in games])
        self._decisions.forget(games)

    def close(self) -> None:
        """Give the leased games back, as far as the storage can be reached."""
        with suppress(StorageUnavailable):
            for task in (*self._undecided, *self._waiting):
                self._reminders.reschedule("bots", task.taken.game, task.taken.leased, self._clock())
        self._undecided.clear()
        self._waiting.clear()

    def _look_for_games(self) -> None:
        """Take games; those without a slow decision are done at once, unless they have to wait until they are due."""
        limit = min(BATCH, MOST_WAITING - len(self._waiting) - len(self._undecided))
        taken = self._reminders.take("bots", limit, LEASE_MS) if limit > 0 else []
        now = self._clock()
        for each in taken:
            self._metrics.taken("bots", now - each.due)
            self._look(each)
        pause = self._look_pause.found() if taken else self._look_pause.nothing()
        busy = len(taken) == limit or (taken and not self._undecided)
        self._next_look = monotonic() + (0.0 if busy else pause)

    def _do_waiting(self) -> None:
        """Make the moves that are due, and look again at games for which the storage was away."""
        while self._waiting and self._waiting[0].at <= self._clock():
            task = heappop(self._waiting)
            if task.turn is None:
                self._look(task.taken)
            elif task.move is None:
                self._decide(task)
            else:
                self._play(task)

    def _look(self, taken: TakenReminder) -> None:
        """Look at a game, and choose its move unless that is slow."""
        task = _Task(self._clock(), next(self._numbers), taken)
        try:
            turn = self._automation.next_turn(taken.game)
        except StorageUnavailable:
            self._retry(task)
        except Exception:
            self._put_off(task)
        else:
            if turn is None:
                self._finish(taken, None)
            elif turn.begin > self._clock():
                self._finish(taken, turn.begin)
            elif turn.level in _SLOW and turn.action == "move":
                self._undecided.append(task._replace(turn=turn))
            else:
                self._decide(task._replace(turn=turn))

    def _decide(self, task: _Task) -> None:
        """Choose the move of a task with a turn, and make it if it is due."""
        taken, turn = task.taken, task.turn
        assert turn is not None
        try:
            move = self._decisions.move(turn, self._failures.count(taken.game))
        except StorageUnavailable:
            self._retry(task)
        except (NotFound, Gone):
            self._finish(taken, None)
        except Exception:
            self._put_off(task)
        else:
            task = task._replace(at=turn.due, move=move)
            if turn.due > self._clock():
                heappush(self._waiting, task)
            else:
                self._play(task)

    def _play(self, task: _Task) -> None:
        """Make the chosen move. Whoever was first has also written the next reminder."""
        taken, turn, move = task.taken, task.turn, task.move
        assert turn is not None
        assert move is not None
        try:
            committed = self._automation.play(turn, move)
        except StaleVersion:
            self._failures.clear(taken.game)
        except (NotFound, Gone):
            self._finish(taken, None)
        except (StorageUnavailable, OutcomeUnknown):
            self._retry(task)
        except Exception:
            self._put_off(task)
        else:
            self._failures.clear(taken.game)
            self._decisions.made(turn, committed)
            self._metrics.played(turn.level)

    def _retry(self, task: _Task) -> None:
        """Try a task again soon, as long as the game is leased: nobody else gets it before."""
        at = self._clock() + RETRY_MS
        if at < task.taken.leased:
            heappush(self._waiting, task._replace(at=at))

    def _put_off(self, task: _Task) -> None:
        """Log the error that was just raised, and have the game looked at again after a while."""
        self._metrics.failed("bots")
        fields = None if task.turn is None else log_fields(task.turn)
        _log.exception("a move of a computer player failed", extra=fields)
        self._finish(task.taken, self._clock() + self._failures.add(task.taken.game))

    def _finish(self, taken: TakenReminder, at: int | None) -> None:
        """Have the game looked at again at that time, or never. If the storage is away, its lease ends by itself."""
        with suppress(StorageUnavailable):
            self._reminders.reschedule("bots", taken.game, taken.leased, at)
