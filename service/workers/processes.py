"""The entry points of the background processes: ``python -m service bots``, ``scheduler`` and ``messenger``.

Owns the parts of each process, and how the loops of a messenger start and stop together. Does not depend on how these
parts work.
"""

from __future__ import annotations

import gc
import logging
import os
from collections.abc import Callable
from functools import partial
from random import SystemRandom
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry

from service.backends.erasures import Erasures
from service.backends.outbox import Outbox
from service.backends.webhooks.deliveries import Deliveries
from service.bootstrap.storage import MAX_CALLS, Storage, build_sender, build_worker_parts
from service.bots.choice import choose_move
from service.config import Settings
from service.games.automation.deletions import POLL_SECONDS, DeletedGames
from service.games.automation.due import Automation
from service.games.store.heartbeats import BEAT_SECONDS
from service.games.store.repository import GameRepository
from service.json_logging import configure_logging
from service.metrics import Metrics
from service.outgoing.sender import Sender
from service.redis.server_clock import system_clock
from service.workers.bot_worker import BotWorker, Decisions, RoundEvents
from service.workers.consumer import Control, Queue, Spawn, run
from service.workers.learning import Advisor, Hints, Reviews
from service.workers.messenger import MAX_ATTEMPTS, Deliverer, ErasureWorker, LeaseContext, OutboxWorker
from service.workers.metrics import WorkerMetrics, serve_metrics
from service.workers.scheduler import Scheduler

if TYPE_CHECKING:
    from gevent.pool import Pool

# The messenger, which runs several loops in one process.


END_SECONDS: Final = 5.0
"""Seconds in which all loops have to end after a stop was requested."""

_log = logging.getLogger(__name__)


class Loop(Control):
    """A loop: ``step`` as for ``service.workers.consumer.run``, and ``close``, which is called after the last step."""

    def __init__(self, name: str, step: Callable[[], float], close: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self.name = name
        self.step = step
        self.close = close


def run_loops(loops: list[Loop], stop: Control) -> int:
    """Run loops until a stop is requested, or until one of them raises an error. Return the exit status."""
    failed: list[Loop] = []

    def run_one(loop: Loop) -> None:
        try:
            run(loop.step, loop)
            loop.close()
        except Exception:
            _log.exception("the loop %s has failed", loop.name)
            failed.append(loop)
            stop.request()

    threads = [Thread(target=run_one, args=(loop,), name=loop.name, daemon=True) for loop in loops]
    for thread in threads:
        thread.start()
    while not stop.requested:
        if all([loop.is_alive() for loop in loops]):
            stop.record_step()  # otherwise ``/healthz`` reports the process as stuck
        stop.wait(1.0)
    for loop in loops:
        loop.request()
    until = monotonic() + END_SECONDS
    for thread in threads:
        thread.join(max(until - monotonic(), 0.0))
    return 1 if failed else 0


MAX_PUBLISHED: Final = 16
"""Maximum number of games whose events a messenger publishes at a time."""


def run_bots(settings: Settings, stop: Control) -> int:
    """Run a bot worker until a stop is requested. Return the exit status."""
    storage, repository, queue = _start(settings, stop)
    events = RoundEvents(repository)
    worker = BotWorker(Automation(repository), Decisions(events, queue.metrics, choose_move), queue)
    hints = Hints(queue, repository, storage.learning, events)
    reviews = Reviews(queue, repository, storage.learning)
    for forget in (worker.forget, reviews.forget):
        storage.deleted.on_deletion(forget)
    run(partial(_drop_and_step, Advisor(worker, hints, reviews).step, storage.deleted), stop)
    worker.close()
    reviews.close()
    return 0


def run_scheduler(settings: Settings, stop: Control) -> int:
    """Run a scheduler until a stop is requested. Return the exit status."""
    storage, repository, queue = _start(settings, stop)
    run(partial(_drop_and_step, Scheduler(Automation(repository), queue).step, storage.deleted), stop)
    return 0


def _drop_and_step(step: Callable[[], float], deleted: DeletedGames) -> float:
    """Remove deleted games from memory, then call ``step`` in the same thread. Return the seconds until the next."""
    deleted.poll_if_due()
    return min(step(), POLL_SECONDS)


def run_messenger(settings: Settings, stop: Control) -> int:
    """Run a messenger until a stop is requested. Return the exit status.

    gevent must have patched the standard library before any module of the service was imported.
    """
    from gevent import spawn  # noqa: PLC0415 # only this process needs it
    from gevent.pool import Pool  # noqa: PLC0415 # as above

    storage, repository, queue = _start(settings, stop, MAX_CALLS)
    sender, ttl = build_sender(settings), settings.game_ttl_seconds * 1000
    begin = Pool(MAX_ATTEMPTS).spawn
    context = lease_context(storage, repository, sender, queue.metrics, begin_attempt=begin, game_ttl=ttl)
    deliverer = Deliverer(context, queue, spawn, lambda: webhooks.wake())  # noqa: PLW0108 # is created next
    webhooks = Loop("webhooks", deliverer.step, deliverer.close)
    outbox = Outbox(repository, storage.game_index, storage.lobby, storage.clock)
    publishers = Pool(MAX_PUBLISHED)
    publisher = OutboxWorker(outbox, queue, publishers.spawn, webhooks.wake)
    index, reminders, on_erased = storage.game_index, storage.reminders, storage.deleted.record_erasure
    erasures = Erasures(storage.erasures, repository, index, outbox, reminders=reminders, on_erased=on_erased)
    eraser = ErasureWorker(erasures, queue)
    loops = [
        Loop("outbox", publisher.step, partial(_end, publisher, publishers)),
        Loop("erasures", eraser.step, eraser.close),
        webhooks,
        Loop("deletions", partial(_every, POLL_SECONDS, storage.deleted.poll)),
        # Heartbeats tell of outages, which defer the deadlines in messages.
        Loop("heartbeats", partial(_every, BEAT_SECONDS, storage.reminders.heartbeats.refresh)),
    ]
    return run_loops(loops, stop)


def lease_context(
    storage: Storage,
    repository: GameRepository,
    sender: Sender,
    metrics: WorkerMetrics,
    *,
    begin_attempt: Spawn,
    game_ttl: int,
) -> LeaseContext:
    """Return what a messenger needs to deliver to the endpoints whose leases it has."""
    jitter = SystemRandom().random
    deliveries = Deliveries(
        storage.webhooks,
        repository,
        sender,
        clock=storage.clock,
        signing_clock=system_clock,
        random_bytes=os.urandom,
        jitter=jitter,
        observe=lambda attempt: metrics.deliveries.labels(attempt.error or "ok").inc(),
    )
    return LeaseContext(storage.webhooks, deliveries, metrics, storage.clock, jitter, game_ttl, begin_attempt)


def _every(seconds: float, work: Callable[[], None]) -> float:
    """Do this work. Return ``seconds``, after which it is done again."""
    work()
    return seconds


def _end(publisher: OutboxWorker, publishers: Pool) -> None:
    """Wait for publications to end, for at most half of ``END_SECONDS``, and release the leases of the others."""
    publishers.join(END_SECONDS / 2)
    publisher.close()


def _start(settings: Settings, stop: Control, max_calls: int | None = None) -> tuple[Storage, GameRepository, Queue]:
    """Build the parts of a process, and start its log and its metrics."""
    configure_logging(settings.log_level, settings.log_format)
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    storage, repository = build_worker_parts(settings, metrics, max_calls)
    storage.clock.measure()
    if settings.metrics_port:
        serve_metrics(settings.metrics_host, settings.metrics_port, metrics.text, stop.is_alive)
    gc.collect()
    gc.freeze()
    return storage, repository, Queue(storage.reminders, storage.clock, WorkerMetrics(registry))
