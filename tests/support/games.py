"""The games of a store, with what a test does not care for left out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from service.games.commands.validation import BotsAlone
from service.games.facade import GamesFacade
from service.games.model.schedule import Lifetimes
from service.games.ports import (
    EventFeed,
    GamesOfBots,
    RandomBytes,
    RunLater,
    Runtime,
    Store,
    TimeSource,
    sequential_runtime,
)
from service.games.reminders import (
    NO_ALLOWANCE,
    ClockReading,
    LeasedReminder,
    OutageAllowance,
    ReminderKind,
    ReminderQueue,
    Rescheduled,
    TenantLimit,
)
from service.games.store.admission import StoragePolicy
from service.games.store.idempotency import Idempotency
from service.games.store.repository import DEFAULT_POLICY, GameRepository
from service.games.store.transactions import Committed
from service.limits.stored_bytes import UNLIMITED, Shares
from service.redis.server_clock import system_clock


class NoReminders(ReminderQueue):
    """A queue in which there is never any reminder; deadlines are never held."""

    def take(
        self, kind: ReminderKind, limit: int, lease: int, limit_of: TenantLimit | None = None
    ) -> list[LeasedReminder]:
        return []

    def reschedule(self, kind: ReminderKind, reminders: Sequence[Rescheduled]) -> int:
        return 0

    def renew(self, kind: ReminderKind, reminder: LeasedReminder, lease: int) -> LeasedReminder | None:
        return None

    def restore(self, kind: ReminderKind, game: str, tenant: str, at: int) -> None:
        return None

    def is_set(self, kind: ReminderKind, game: str, tenant: str) -> bool:
        return False

    def reminded(self, kind: ReminderKind, tenant: str) -> list[str]:
        return []

    def server_time(self) -> int:
        return system_clock()

    def read_clock(self, game: str) -> ClockReading:
        return ClockReading(system_clock())

    def allowance(self, game: str) -> OutageAllowance:
        return NO_ALLOWANCE


class NoGamesOfBots(GamesOfBots):
    """Notes nothing."""

    def add(self, tenant: str, game: str, at: int) -> bool:
        return True

    def all(self, tenant: str) -> dict[str, int]:
        return {}

    def remove(self, tenant: str, games: list[str]) -> None:
        return None


def any_number_of_bots(repository: GameRepository) -> BotsAlone:
    """Admits every game of computer players alone."""
    return BotsAlone(NoGamesOfBots(), repository, system_clock, 0)


def build_repository(
    store: Store,
    clock: TimeSource = system_clock,
    random_bytes: RandomBytes = os.urandom,
    policy: StoragePolicy = DEFAULT_POLICY,
) -> GameRepository:
    """The games of a store, in which nothing is done later and every read is admitted."""
    runtime = sequential_runtime(clock, random_bytes)
    return GameRepository(store, runtime, observe=lambda _: None, admit_read=lambda _: None, policy=policy)


def build_games(
    store: Store,
    feed: EventFeed,
    secrets: Sequence[bytes],
    ttl_seconds: int,
    *,
    clock: TimeSource = system_clock,
    random_bytes: RandomBytes = os.urandom,
    reminders: ReminderQueue | None = None,
    yield_control: Callable[[], None] = lambda: None,
    run_later: RunLater = lambda work: work(),
    observe: Callable[[Committed], None] = lambda _: None,
    admit_read: Callable[[int], None] = lambda _: None,
    shares: Shares = UNLIMITED,
    finished: int | None = None,
    games_of_bots: tuple[GamesOfBots, int] | None = None,
) -> GamesFacade:
    """The use cases on a store; finished games live for ``finished`` seconds."""
    runtime = Runtime(clock, random_bytes, yield_control, run_later)
    policy = StoragePolicy(Lifetimes.at_most(ttl_seconds * 1000, None if finished is None else finished * 1000), shares)
    queue = NoReminders() if reminders is None else reminders
    repository = GameRepository(
        store, runtime, observe=observe, admit_read=admit_read, allowance=queue.allowance, policy=policy
    )
    bots_alone = any_number_of_bots(repository)
    if games_of_bots is not None:
        bots_alone = BotsAlone(games_of_bots[0], repository, clock, games_of_bots[1])
    return GamesFacade(repository, feed, queue, runtime, idempotency=Idempotency(secrets), bots_alone=bots_alone)
