"""The bot worker: leases the reminders of games in which a computer player has to move, and makes the move.

Owns the order and the time of the moves, and what a computer player sees. A move is chosen before it is due if there is
time, and made when it is due. Every move of a slow level is made as late as the longest recent decision at such a
table, so that its time reveals nothing about the decision. A move is committed at the version that it was chosen for,
so it is never made twice. Does not depend on how a move is chosen.

Fast decisions are made at once. Slow decisions are made one at a time: tenants take turns, and games of computer
players alone come last. Under overload moves are made later, but they are as strong as always.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Container, Iterable
from contextlib import suppress
from functools import partial
from heapq import heapify, heappop, heappush
from itertools import count
from time import monotonic, perf_counter
from typing import Final, NamedTuple

from service.bots.knowledge import Observation, observe
from service.bounded_cache import BoundedCache
from service.engine.deal import round_seed, seed_of_decision
from service.engine.events import Event, Played
from service.engine.moves import DEAL, Move
from service.engine.presence import SUBSTITUTE
from service.engine.variant import Rules
from service.games.automation.due import Automation
from service.games.model.errors import StaleVersion
from service.games.model.game import Game
from service.games.model.game_events import GameEvent, HostingEvent
from service.games.model.schedule import BotTurn
from service.games.ports import TRACE, Deferred, Unreadable
from service.games.reminders import LeasedReminder
from service.games.store.history import from_last_deal
from service.games.store.repository import GameRepository
from service.games.store.transactions import Committed
from service.limits.fair_queue import FairQueue
from service.redis.errors import OutcomeUnknown, StorageUnavailable
from service.workers.consumer import Consumer, ConsumerSettings, Next, Queue
from service.workers.metrics import WorkerMetrics

# A cache of the events of the current rounds of games in which this process plays.


SIZE: Final = 2000
"""Games in the cache."""


class _CachedRound(NamedTuple):
    """The events of a round up to a version."""

    version: int
    events: tuple[Event, ...]

    def leads_to(self, game: Game) -> bool:
        """Return whether these events have led to this game: not if a failover lost some, and others followed."""
        layout = game.state.layout
        laid = [
            (placed.tile, placed.seat, end, placed.face_down, placed.outer)
            for placed, end in zip(layout.placements, layout.covered_ends(), strict=True)
        ]
        played = [
            (event.tile, event.seat, event.end, event.face_down, event.outer)
            for event in self.events
            if isinstance(event, Played)
        ]
        return self.version == game.version and played == laid


class RoundEvents:
    """Reads and caches the events of current rounds."""

    def __init__(self, repository: GameRepository) -> None:
        self._repository = repository
        self._cache = BoundedCache[str, _CachedRound](SIZE)

    def of(self, game: Game) -> tuple[Event, ...]:
        """Return the events of the current round, from its deal up to the version of the game.

        Raises ``StorageUnavailable`` and ``NotFound``.
        """
        cached = self._cache.get(game.id)
        if cached is not None and cached.version < game.version:
            newer = self._repository.histories.events_between(game, cached.version, game.version)
            cached = self._keep(game, [*cached.events, *newer])
        if cached is None or not cached.leads_to(game):
            cached = self._keep(game, self._repository.histories.events_of_round(game, game.version))
        return cached.events

    def add(self, before: Game, committed: Committed) -> None:
        """Add the events of a write of this process, if the cache has the version before it."""
        cached = self._cache.get(before.id)
        if cached is not None and cached.version == before.version:
            self._keep(committed.after, [*cached.events, *committed.events])

    def forget(self, games: Container[str]) -> None:
        """Drop the events of these games."""
        self._cache.drop(lambda game, _: game in games)

    def _keep(self, game: Game, events: list[GameEvent]) -> _CachedRound:
        """Cache those of these events that belong to the current round; they reach the version of the game."""
        of_round = [event for event in from_last_deal(events) if not isinstance(event, HostingEvent)]
        cached = _CachedRound(game.version, tuple(of_round))
        if game.status == "finished":
            self._cache.pop(game.id)
        else:
            self._cache.put(game.id, cached)
        return cached


# The decisions of computer players in hosted games.


MAX_FAILURES: Final = 2
"""Consecutive failed decisions in a game after which another level chooses."""

Choose = Callable[[Rules, Observation, str, bytes], Move]


class Decisions:
    """Chooses moves; ``choose`` returns the move of a level."""

    def __init__(self, events: RoundEvents, metrics: WorkerMetrics, choose: Choose) -> None:
        self.events = events
        self._metrics = metrics
        self._choose = choose

    def move(self, turn: BotTurn, failures: int) -> Move:
        """Return the move for a turn whose decision has failed ``failures`` times before.

        After ``MAX_FAILURES``, the substitute chooses; if it fails too, the first legal move is taken. Raises what the
        level raises, ``StorageUnavailable`` and ``NotFound``.
        """
        if turn.action == "deal":
            return DEAL
        game = turn.game
        observation = observe(game.rules, game.state, self.events.of(game), turn.seat)
        decision_seed = decision_seed_of(game, turn.seat)
        if failures < MAX_FAILURES:
            began = perf_counter()
            move = self._choose(game.rules, observation, turn.level, decision_seed)
            self._metrics.decisions.labels(turn.level).observe(perf_counter() - began)
            return move
        try:
            move = self._choose(game.rules, observation, SUBSTITUTE, decision_seed)
        except Exception:
            _log.exception("the substitute of a computer player failed", extra=log_fields(turn))
        else:
            if move in observation.view.legal_moves:
                self._metrics.fallbacks.labels(SUBSTITUTE).inc()
                return move
        self._metrics.fallbacks.labels("first").inc()
        return observation.view.legal_moves[0]


def decision_seed_of(game: Game, seat: int) -> bytes:
    """Return the decision seed of a seat at the version of the game. It is as secret as the seed of the round."""
    deck = game.deck
    seed = deck.seed if deck.game is None else round_seed(deck.seed, game.state.round)
    return seed_of_decision(seed, seat, game.version)


def log_fields(turn: BotTurn) -> dict[str, object]:
    """Return the log fields of a turn, without its game and anything that is hidden."""
    game = turn.game
    fields = {"variant": game.variant.key, "version": game.version, "seat": turn.seat, "bot": turn.level}
    return {"fields": fields}


_log = logging.getLogger(__name__)

LEASE_MS: Final = 5000
"""Also the longest pause of a game whose bot worker was killed."""
SAFE_MS: Final = 4000
"""The minimum of a lease when a slow decision begins: enough to choose the move and to wait until it is due."""
RETRY_MS: Final = 250
"""Milliseconds until a task is tried again after a fault of the store."""

MAX_TIMES: Final = 32
"""Durations of decisions that are stored for each kind of table."""
ASSUMED_MS: Final = 200
"""The assumed duration of a decision at a new kind of table."""
MAX_MS: Final = 1000
"""The longest delay that hides the duration of a decision."""
MAX_TABLE_KINDS: Final = 256
"""Kinds of tables whose durations are stored."""

_FAILURE: Final = "a move of a computer player failed"

BOTS: Final = ConsumerSettings("bots", LEASE_MS, 32, (0.05, 0.25), _FAILURE, poll_growth=1.02, max_in_flight=256)
EXPERTS: Final = ConsumerSettings("experts", LEASE_MS, 16, (0.05, 0.25), _FAILURE, poll_growth=1.02, max_in_flight=32)
ALONE: Final = ConsumerSettings("bots_alone", LEASE_MS, 8, (0.05, 0.25), _FAILURE, poll_growth=1.02, max_in_flight=16)
"""In all three, ``max_in_flight`` limits the leased games without a chosen move, so that each is handled in seconds.
The pause between polls grows to its maximum in about ten seconds, so that an idle worker costs little. A person who
moves earlier meets shorter pauses."""


class _Task(NamedTuple):
    """A leased game that waits. Tasks are ordered by time.

    ``at``: the time to continue, in milliseconds since 1970.
    ``number``: orders tasks with the same time.
    ``turn``: the turn of the computer player, once it was read.
    ``move``: the move, once it was chosen.
    """

    at: int
    number: int
    source: _Source
    reminder: LeasedReminder
    turn: BotTurn | None = None
    move: Move | None = None


class BotWorker:
    """Makes the moves of computer players."""

    def __init__(self, automation: Automation, decisions: Decisions, queue: Queue) -> None:
        self._automation = automation
        self._decisions = decisions
        self._clock, self._metrics = queue.clock, queue.metrics
        self._times = BoundedCache[object, deque[int]](MAX_TABLE_KINDS)
        """The durations of recent decisions, by kind of table."""
        self.numbers = count()
        self._waiting: list[_Task] = []
        self._experts, self._alone = _Source(EXPERTS, queue, self), _Source(ALONE, queue, self)
        self._sources = _Source(BOTS, queue, self), self._experts, self._alone
        self._current: _Task | None = None

    def step(self) -> float:
        """Do what is due, and choose at most one slow move. Return the seconds until there is more to do.

        Raises ``StorageUnavailable`` if no reminder can be leased.
        """
        TRACE.set("")
        while self._waiting and self._waiting[0].at <= self._clock():
            self._resume(heappop(self._waiting))
        for source in self._sources:
            if monotonic() >= source.next_poll and not (source is self._alone and self._experts.undecided):
                source.poll()
        for source in self._sources:
            if source.undecided:
                task = source.undecided.take()
                reminder = source.renew(task.reminder, SAFE_MS)
                if reminder is not None:
                    self._resume(task._replace(reminder=reminder))
                return 0.0
        pause = min([source.next_poll for source in self._sources]) - monotonic()
        if self._waiting:
            pause = min(pause, (self._waiting[0].at - self._clock()) / 1000)
        return max(pause, 0.0)

    def close(self) -> None:
        """Release all leases, so that other processes handle their games."""
        for source in self._sources:
            source.close()

    def forget(self, games: Container[str]) -> None:
        """Drop the tasks of these games, which were deleted."""
        self._waiting = [task for task in self._waiting if task.reminder.game not in games]
        heapify(self._waiting)
        for source in self._sources:
            source.forget(games)
        self._current = None
        self._decisions.events.forget(games)

    def games_with_move(self) -> set[str]:
        """Return the games whose move was chosen and is not due yet."""
        return {task.reminder.game for task in self._waiting if task.move is not None}

    def log_fields(self) -> dict[str, object] | None:
        """Return the log fields of the turn that has just failed."""
        turn = self._current and self._current.turn
        return log_fields(turn) if turn else None

    def _resume(self, task: _Task) -> None:
        """Continue a task that has waited."""
        task.source.finish(task.reminder, partial(self.advance, task))

    def advance(self, task: _Task) -> Next:
        """Read the game, choose the move and make it, as far as possible now; after a fault of the store, try again."""
        self._current = task
        try:
            return self._do(task)
        except (Unreadable, Deferred):
            raise
        except (StorageUnavailable, OutcomeUnknown):
            at = self._clock() + RETRY_MS
            if at >= task.reminder.leased:
                return "written"  # the lease ends before that, and then the reminder is due again
            heappush(self._waiting, self._current._replace(at=at))
            return "leased"

    def _do(self, task: _Task) -> Next:
        turn, move, game = task.turn, task.move, task.reminder.game
        TRACE.set("" if turn is None else turn.game.trace)
        if turn is None:
            turn = self._automation.next_turn(game)
            if turn is None:
                return "never"
            TRACE.set(turn.game.trace)
            if turn.begin > (began := self._clock()):
                return turn.begin  # too early to choose the move
            task = self._current = task._replace(turn=turn)
            if turn.is_slow:
                task.source.undecided.put(task.reminder.tenant, task)  # ``step`` takes one at a time
                return "leased"
        else:
            began = self._clock()
        if move is None:
            move = self._decisions.move(turn, task.source.failures.get(game) or 0)
            at = max(turn.due, self._ready_at(turn, began))
            task = self._current = task._replace(at=at, move=move)
            if at > self._clock():
                heappush(self._waiting, task)  # ``step`` resumes it when its move is due
                return "leased"
        return self._play(turn, move)

    def _ready_at(self, turn: BotTurn, began: int) -> int:
        """Return the time from which a move can be made whose decision began at ``began`` and has just ended.

        It is as late as after the longest recent decision at such a table, also for a forced move.
        """
        game = turn.game
        if not turn.is_slow or game.seats.are_bots:
            return began
        kind = turn.level, game.variant.key, len(game.seats), *game.options.items()
        times = self._times.get(kind) or deque([ASSUMED_MS], MAX_TIMES)
        times.append(self._clock() - began)
        self._times.put(kind, times)
        return began + min(max(times), MAX_MS)

    def _play(self, turn: BotTurn, move: Move) -> Next:
        """Make the chosen move. If another write came first, it has also set the next reminder."""
        with suppress(StaleVersion):
            committed = self._automation.play(turn, move)
            self._decisions.events.add(turn.game, committed)
            self._metrics.moves.labels(turn.level).inc()
            if turn.game.trace:
                _log.info("move of a computer player", extra=log_fields(turn))
        return "written"


class _Source(Consumer):
    """The reminders of one kind, and the tasks among them that wait for a slow decision."""

    def __init__(self, settings: ConsumerSettings, queue: Queue, worker: BotWorker) -> None:
        super().__init__(settings, queue, spawn=None)
        self._worker = worker
        self.undecided = FairQueue[_Task]()
        self.next_poll = 0.0
        """When to poll next, in seconds of ``monotonic``."""

    def poll(self) -> None:
        """Poll for reminders, and set ``next_poll``. Raises ``StorageUnavailable``."""
        pause = self.step()
        # Without a pause if the last poll found something and no slow decision waits.
        is_busy = pause <= self._settings.poll_seconds[0]
        self.next_poll = monotonic() + (0.0 if is_busy and not self.undecided else pause)

    def handle(self, reminder: LeasedReminder) -> Next:
        """Read a game and make its move. Slow decisions, and moves that are not due yet, are queued instead."""
        return self._worker.advance(_Task(0, next(self._worker.numbers), self, reminder))

    def forget(self, games: Container[str]) -> None:
        super().forget(games)
        self.undecided.keep(lambda task: task.reminder.game not in games)

    def _in_flight(self) -> Iterable[LeasedReminder]:
        """Return the reminders in flight without a chosen move.

        Games whose move only waits cost nothing. Counted, they would keep an idle worker from leasing more games.
        """
        chosen = self._worker.games_with_move()
        return [reminder for game, reminder in self._leased.items() if game not in chosen]

    def _log_fields(self) -> dict[str, object] | None:
        return self._worker.log_fields()
