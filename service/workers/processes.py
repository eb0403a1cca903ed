"""The entry points of the processes: ``python -m service bots``, ``scheduler`` and ``messenger``."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from functools import partial
from random import SystemRandom
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry

from service.backends.erasures import Erasures
from service.backends.index.outbox import Outbox
from service.backends.webhooks.deliveries import Deliveries
from service.bootstrap import WorkerParts, build_sender, build_worker_parts
from service.config import Settings
from service.games.automation.deletions import POLL_SECONDS, DeletedGames
from service.json_logging import configure_logging
from service.outgoing.sender import Sender
from service.storage.redis.connection import MAX_CONNECTIONS
from service.web.metrics import Metrics
from service.workers.bot_worker import BotWorker
from service.workers.decisions import Decisions
from service.workers.deliverer import MOST_IN_FLIGHT, Deliverer, Spawn
from service.workers.erasure_worker import ErasureWorker
from service.workers.loop import Stop, run
from service.workers.messenger import END_SECONDS, Loop, Messenger
from service.workers.metrics import WorkerMetrics
from service.workers.metrics_server import serve_metrics
from service.workers.outbox_worker import OutboxWorker
from service.workers.remote_worker import build_remote_worker
from service.workers.round_events import RoundEvents
from service.workers.scheduler import Scheduler

if TYPE_CHECKING:
    from gevent.pool import Pool

MOST_STORE_CALLS: Final = MAX_CONNECTIONS // 4
"""Calls to the store that each of three loops of a messenger may have under way: to follow games, to deliver messages,
and to make the turns of remote players. A quarter of the connections is left for what all loops look for."""


def run_bots(settings: Settings, stop: Stop) -> int:
    """Make the moves of computer players until a stop is requested; returns the exit status."""
    parts, metrics = _start(settings, stop)
    decisions = Decisions(RoundEvents(parts.repository), metrics)
    worker = BotWorker(parts.automation, parts.reminders, decisions, metrics, parts.clock)
    parts.deleted.on_deletion(worker.forget)
    run(_with_deletions(worker.step, parts.deleted), stop)
    worker.close()
    return 0


def run_scheduler(settings: Settings, stop: Stop) -> int:
    """Let the consequences of deadlines follow until a stop is requested; returns the exit status."""
    parts, metrics = _start(settings, stop)
    scheduler = Scheduler(parts.automation, parts.reminders, metrics, parts.clock)
    run(_with_deletions(scheduler.step, parts.deleted), stop)
    return 0


def _with_deletions(step: Callable[[], float], deleted: DeletedGames) -> Callable[[], float]:
    """The step of a process, which drops deleted games before it, in the same thread."""

    def both() -> float:
        deleted.poll_if_due()
        return min(step(), POLL_SECONDS)

    return both


def run_messenger(settings: Settings, stop: Stop) -> int:
    """Tell applications what happens in their games, and ask remote players for moves, until a stop is requested.

    Returns the exit status.

    gevent must have patched the standard library before anything of the service was imported.
    """
    from gevent import spawn  # noqa: PLC0415 # only this process needs it
    from gevent.pool import Pool  # noqa: PLC0415 # as above

    parts, metrics = _start(settings, stop)
    sender = build_sender(settings)
    deliverer = _deliverer(settings, parts, sender, metrics, spawn=Pool().spawn, attempt=Pool(MOST_IN_FLIGHT).spawn)
    webhooks = Loop("webhooks", deliverer.step, deliverer.close)
    outbox = Outbox(parts.repository, parts.game_index, parts.lobby, parts.clock)
    crew = Pool(MOST_STORE_CALLS)
    worker = OutboxWorker(outbox, parts.reminders, metrics, parts.clock, crew=crew, due=webhooks.wake)
    remote = build_remote_worker(parts, sender, metrics, settings, spawn=spawn, store_calls=MOST_STORE_CALLS)
    erasures = Erasures(
        parts.erasures,
        parts.repository,
        parts.game_index,
        outbox,
        reminders=parts.reminders,
        note=parts.deleted.note_erasure,
    )
    loops = [
        Loop("outbox", worker.step, lambda: _end(crew)),
        Loop("erasures", ErasureWorker(erasures, parts.reminders, metrics, parts.clock).step),
        webhooks,
        Loop("remote", remote.step, remote.close),
        Loop("deletions", partial(_poll, parts.deleted)),
    ]
    return Messenger(loops, stop).run()


def _deliverer(
    settings: Settings, parts: WorkerParts, sender: Sender, metrics: WorkerMetrics, *, spawn: Spawn, attempt: Spawn
) -> Deliverer:
    """Put the deliverer together."""
    luck = SystemRandom().random
    deliveries = Deliveries(
        parts.webhooks,
        parts.repository,
        sender,
        clock=parts.clock,
        random_bytes=os.urandom,
        luck=luck,
        store_calls=MOST_STORE_CALLS,
        observe=lambda attempt: metrics.delivered(attempt.error or "ok"),
    )
    return Deliverer(
        parts.webhooks,
        deliveries,
        parts.reminders,
        metrics,
        clock=parts.clock,
        luck=luck,
        game_ttl=settings.game_ttl_seconds * 1000,
        spawn=spawn,
        attempt=attempt,
    )


def _poll(deleted: DeletedGames) -> float:
    """Drop deleted games; returns when to do so again."""
    deleted.poll()
    return POLL_SECONDS


def _end(crew: Pool) -> None:
    """Let what is under way end."""
    crew.join(END_SECONDS)


def _start(settings: Settings, stop: Stop) -> tuple[WorkerParts, WorkerMetrics]:
    """Put the process together."""
    configure_logging(settings.log_level, settings.log_format)
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    parts = build_worker_parts(settings, metrics)
    parts.clock.measure()
    if settings.metrics_port:
        serve_metrics(settings.metrics_host, settings.metrics_port, metrics.text, stop.is_alive)
    gc.collect()
    gc.freeze()
    return parts, WorkerMetrics(registry)
