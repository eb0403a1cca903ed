"""The remote worker: takes the reminders of games in which a remote player is on turn, and has it asked.

Owns which turns are made at a time, and what becomes of their reminders. Each is made beside the others. Does not
depend on what is asked (``service.workers.remote_turns``).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Lock
from time import monotonic
from typing import Final

from service.backends.remote_players import RemotePlayers
from service.bootstrap import WorkerParts
from service.config import Settings
from service.games.model.errors import Gone, NotFound
from service.games.ports import Clock, OutcomeUnknown, ReminderQueue, StorageUnavailable, TakenReminder
from service.outgoing.sender import Sender
from service.workers.failures import Failures
from service.workers.hosts import Hosts
from service.workers.look_pause import LookPause
from service.workers.metrics import WorkerMetrics
from service.workers.remote_requests import ask_through
from service.workers.remote_turns import RemoteTurns

LEASE_MS: Final = 30_000
"""Longer than all tries of a turn.

With a storage so slow that it is not, a move may be asked for by two, under the same id, and is made once.
"""
BATCH: Final = 64
"""Reminders taken at a time."""
MOST_TURNS: Final = 512
"""Turns that are made at a time."""
LOOK_SECONDS: Final = (0.02, 0.1)
"""Seconds between two looks for reminders while there are none: just after one was found, and a while after."""
LOOK_GROWTH: Final = 1.1
"""By this factor the pause grows with each look."""
RETRY_MS: Final = 500
"""Milliseconds until a game is looked at again for which the storage was away."""

Spawn = Callable[[Callable[[], None]], object]
"""Begins something beside all else: in a greenlet or a thread."""

_log = logging.getLogger(__name__)


def build_remote_worker(
    parts: WorkerParts, sender: Sender, metrics: WorkerMetrics, settings: Settings, *, spawn: Spawn, store_calls: int
) -> RemoteWorker:
    """The remote worker of a process, which asks through this sender, with so many calls to the store at a time."""
    ttl = settings.game_ttl_seconds * 1000
    players = RemotePlayers(parts.repository, store_calls)
    return RemoteWorker(
        players,
        RemoteTurns(players, ask_through(sender), metrics, ttl),
        reminders=parts.reminders,
        metrics=metrics,
        clock=parts.clock,
        ttl=ttl,
        spawn=spawn,
    )


class RemoteWorker:
    """Has remote players asked; ``clock`` is that of the store, ``ttl`` that of games, in milliseconds."""

    def __init__(
        self,
        players: RemotePlayers,
        turns: RemoteTurns,
        *,
        reminders: ReminderQueue,
        metrics: WorkerMetrics,
        clock: Clock,
        ttl: int,
        spawn: Spawn,
    ) -> None:
        self._players = players
        self._turns = turns
        self._reminders = reminders
        self._metrics = metrics
        self._clock = clock
        self._ttl = ttl
        self._spawn = spawn
        self._hosts = Hosts()
        self._failures = Failures()
        self._lock = Lock()
        self._under_way: dict[str, TakenReminder] = {}
        self._look_pause = LookPause(LOOK_SECONDS, LOOK_GROWTH)

    def step(self) -> float:
        """Look once for turns, and begin them; returns the seconds until the next look.

        Raises ``StorageUnavailable`` if no reminder can be taken.
        """
        limit = min(BATCH, MOST_TURNS - len(self._under_way))
        taken = self._reminders.take("remote", limit, LEASE_MS) if limit > 0 else []
        now = self._clock()
        for each in taken:
            self._metrics.taken("remote", now - each.due)
            with self._lock:
                self._under_way[each.game] = each
            self._spawn(partial(self._work, each))
        pause = self._look_pause.found() if taken else self._look_pause.nothing()
        return 0.0 if taken and len(taken) == limit else pause

    def close(self) -> None:
        """Give the leased games back, as far as the storage can be reached; another process asks once more."""
        with self._lock:
            under_way = list(self._under_way.values())
        with suppress(StorageUnavailable):
            for taken in under_way:
                self._reminders.reschedule("remote", taken.game, taken.leased, self._clock())

    def _work(self, taken: TakenReminder) -> None:
        try:
            self._make(taken)
        finally:
            with self._lock:
                if self._under_way.get(taken.game) is taken:
                    del self._under_way[taken.game]

    def _make(self, taken: TakenReminder) -> None:
        """Make the turn of a game. Whoever has made a move has also written the next reminder."""
        try:
            turn = self._players.next_turn(taken.game)
            if turn is None:
                self._finish(taken, None)
                return
            delay = self._hosts.enter(turn.remote.url)
            if delay is not None:
                self._finish(taken, self._clock() + round(delay * 1000))
                return
            began = monotonic()
            try:
                outcome = self._turns.make(turn)
            finally:
                self._hosts.leave(turn.remote.url, monotonic() - began)
            if outcome == "own":
                # Not removed, as then whoever reads the game would have it asked again (``LostReminders``).
                self._finish(taken, self._clock() + self._ttl)
            self._failures.clear(taken.game)
        except (NotFound, Gone):
            self._finish(taken, None)
        except (StorageUnavailable, OutcomeUnknown):
            self._finish(taken, self._clock() + RETRY_MS)
        except Exception:
            self._metrics.failed("remote")
            _log.exception("a turn of a remote player failed")
            self._finish(taken, self._clock() + self._failures.add(taken.game))

    def _finish(self, taken: TakenReminder, at: int | None) -> None:
        """Have the game looked at again at that time, or never. If the storage is away, its lease ends by itself."""
        with suppress(StorageUnavailable), self._players.slots:
            self._reminders.reschedule("remote", taken.game, taken.leased, at)
