"""Computes hints, for which a person waits, and reviews, which take minutes, in bot workers.

Owns the order of this work: hints and moves of computer players take turns; a step of a review, which analyses a
decision or replays a deal, is done when nothing else is due, or once a second. A review is stored every few seconds, so
that another process can continue it. A hint is made only from what its seat has seen. Does not depend on how moves are
analysed (``service.learning.analysis``).
"""

from __future__ import annotations

import logging
from collections.abc import Container, Iterator
from functools import partial
from time import monotonic
from typing import Final, NamedTuple

from service.bots.knowledge import observe
from service.games.model.forks import export_record
from service.games.reminders import LeasedReminder
from service.games.store.repository import GameRepository
from service.learning.analysis import estimates
from service.learning.review import Decision, Hint, Review, RoundLuck, Unreviewable, review
from service.learning.store import RedisLearning, decode_review, encode_hint, encode_review, position_of
from service.limits.fair_queue import FairQueue
from service.workers.bot_worker import BotWorker, RoundEvents
from service.workers.consumer import Consumer, ConsumerSettings, Next, Queue

_log = logging.getLogger(__name__)

LEASE_MS: Final = 5000
SAFE_MS: Final = 4000
"""Milliseconds that must be left of a lease when a step of a review begins."""
KEEP_SECONDS: Final = 2.0
"""Seconds after which an incomplete review is stored again."""
REVIEW_SECONDS: Final = 1.0
"""Seconds after which a step of a review is done even if other work is due. A step takes a part of a second."""
MAX_DECISIONS: Final = 1000
"""The maximum of decisions in a review, about ten long matches. The luck of later rounds is missing."""
_HINT_SAMPLE: Final = 1
"""The sample of worlds for hints. Reviews use another one, else a player who follows hints would never be wrong."""

HINTS: Final = ConsumerSettings("hints", LEASE_MS, 1, (0.05, 0.2), "a hint failed", poll_growth=1.02)
REVIEWS: Final = ConsumerSettings(
    "reviews", LEASE_MS, 2, (0.2, 1.0), "a review failed", poll_growth=1.1, max_in_flight=4
)


class _PollingConsumer(Consumer):
    """A consumer that polls no more often than its settings allow, however often ``step`` is called."""

    def __init__(
        self, settings: ConsumerSettings, queue: Queue, repository: GameRepository, store: RedisLearning
    ) -> None:
        super().__init__(settings, queue, spawn=None)
        self._repository = repository
        self._store = store
        self._next_poll = 0.0

    def step(self) -> float:
        """Poll if it is time. Return the seconds until the next poll. Raises ``StorageUnavailable``."""
        if monotonic() >= self._next_poll:
            self._next_poll = monotonic() + super().step()
        return max(self._next_poll - monotonic(), 0.0)


class Hints(_PollingConsumer):
    """Computes hints, one in a step."""

    def __init__(self, queue: Queue, repository: GameRepository, store: RedisLearning, events: RoundEvents) -> None:
        super().__init__(HINTS, queue, repository, store)
        self._events = events

    def handle(self, reminder: LeasedReminder) -> Next:
        """Compute the requested hint, unless the game has advanced since."""
        game = self._repository.reader.load(reminder.game)
        if game is None or game.state.turn is None or not self._store.is_hint_requested(game.id, position_of(game)):
            return "never"
        observation = observe(game.rules, game.state, self._events.of(game), game.state.turn)
        hint = Hint(tuple(estimates(game.rules, observation, sample=_HINT_SAMPLE)))
        is_stored = self._store.store_hint(game.id, position_of(game), encode_hint(hint))
        return "never" if is_stored else self._clock()


class _Task(NamedTuple):
    """A leased review.

    ``decisions``, ``rounds``: its results so far.
    ``upcoming``: yields the results to come.
    ``stored_at``: when it was stored last, in seconds of ``monotonic``.
    """

    reminder: LeasedReminder
    decisions: list[Decision]
    rounds: list[RoundLuck]
    upcoming: Iterator[Decision | RoundLuck]
    stored_at: float


class Reviews(_PollingConsumer):
    """Computes reviews, one decision or one deal in a step. The tenants take turns."""

    def __init__(self, queue: Queue, repository: GameRepository, store: RedisLearning) -> None:
        super().__init__(REVIEWS, queue, repository, store)
        self._waiting = FairQueue[_Task]()

    def step(self) -> float:
        """Poll if it is time, and analyse a decision or replay a deal. Raises ``StorageUnavailable``."""
        pause = super().step()
        if not self._waiting:
            return pause
        task = self._waiting.take()
        reminder = self.renew(task.reminder, SAFE_MS)
        if reminder is not None:
            self.finish(reminder, partial(self._continue, task._replace(reminder=reminder)))
        return 0.0

    def handle(self, reminder: LeasedReminder) -> Next:
        """Begin a review, or continue one that another process has begun."""
        game = self._repository.reader.load(reminder.game)
        stored = None if game is None else self._store.review(game.id, game.tenant)
        if game is None or stored is None or stored.is_complete:
            return "never"
        stored_review = decode_review(stored.data)
        decisions, rounds = list(stored_review.decisions), list(stored_review.rounds)
        record = export_record(game, self._repository.histories.history(game)[: game.version], None)
        after = max(decisions[-1].version if decisions else 0, rounds[-1].version if rounds else 0)
        upcoming = review(record, game.rules, after=after)
        self._waiting.put(reminder.tenant, _Task(reminder, decisions, rounds, upcoming, monotonic()))
        return "leased"

    def forget(self, games: Container[str]) -> None:
        super().forget(games)
        self._waiting.keep(lambda task: task.reminder.game not in games)

    def _continue(self, task: _Task) -> Next:
        result = _next(task.upcoming) if len(task.decisions) < MAX_DECISIONS else None
        if isinstance(result, Decision):
            task.decisions.append(result)
        elif result is not None:
            task.rounds.append(result)
        is_due = monotonic() - task.stored_at >= KEEP_SECONDS
        if result is None or is_due:
            data = encode_review(Review(task.decisions, task.rounds))
            is_stored = self._store.store_review(task.reminder.game, data, is_complete=result is None)
            if result is None or not is_stored:
                return "never"
            task = task._replace(stored_at=monotonic())
        self._waiting.put(task.reminder.tenant, task)
        return "leased"


def _next(upcoming: Iterator[Decision | RoundLuck]) -> Decision | RoundLuck | None:
    """Return the next result; ``None`` at the end, and where the current rules do not allow the rest of the match."""
    try:
        return next(upcoming, None)
    except Unreviewable:
        _log.exception("a finished match could not be reviewed to its end")
        return None


class Advisor:
    """All work of a bot worker: moves of computer players, hints and reviews."""

    def __init__(self, moves: BotWorker, hints: Hints, reviews: Reviews) -> None:
        self._moves = moves
        self._hints = hints
        self._reviews = reviews
        self._review_due = 0.0

    def step(self) -> float:
        """Compute at most one hint, make moves, and do at most one step of a review.

        Returns the seconds until the next step. Raises ``StorageUnavailable`` if no reminder can be leased.
        """
        pause = self._hints.step()
        pause = min(pause, self._moves.step())
        if pause > 0 or monotonic() >= self._review_due:
            pause = min(pause, self._reviews.step())
            self._review_due = monotonic() + REVIEW_SECONDS
        return pause
