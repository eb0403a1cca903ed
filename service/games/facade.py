"""The games of a store: access to them, the commands that change them, and the queries that read them."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from service.games.access import AccessControl
from service.games.automation.lost_reminders import LostReminders
from service.games.commands.owner import OwnerCommands
from service.games.commands.player import GameCommands
from service.games.commands.rematch import Rematches
from service.games.model.game import Game
from service.games.ports import (
    NO_ALLOWANCE,
    Clock,
    Feed,
    OutageAllowance,
    RandomBytes,
    ReminderQueue,
    RunLater,
    Store,
    run_inline,
)
from service.games.queries.games import GameQueries
from service.games.store.idempotency import Idempotency
from service.games.store.readiness import Readiness
from service.games.store.repository import Committed, GameRepository


class GameService:
    """The games of a store. Its only state is the cache of its repository.

    Tokens of requests under an idempotency key are derived from the first of ``secrets``, those of repeated requests
    from any of them; they must be the same for every process that serves the same store. ``ttl_seconds`` is the time
    from the last write of a game to its expiry, as in the store. ``yield_control`` is called regularly during long
    computations, to let other requests run; ``run_later`` runs background work; ``observe`` is called with every write
    that was committed, and ``admit_read`` with a number of events before so many are read for a request; it may raise.
    ``reminders`` are those of the store: they tell until when nobody is late, and are restored where they were lost.
    """

    def __init__(
        self,
        store: Store,
        feed: Feed,
        *,
        clock: Clock,
        random_bytes: RandomBytes,
        secrets: Sequence[bytes],
        ttl_seconds: int,
        yield_control: Callable[[], None] = lambda: None,
        run_later: RunLater = run_inline,
        observe: Callable[[Committed], None] = lambda _: None,
        admit_read: Callable[[int], None] = lambda _: None,
        reminders: ReminderQueue | None = None,
    ) -> None:
        ttl = ttl_seconds * 1000
        repository = GameRepository(
            store,
            clock=clock,
            random_bytes=random_bytes,
            run_later=run_later,
            observe=observe,
            yield_control=yield_control,
            admit_read=admit_read,
        )
        idempotency = Idempotency(secrets)
        notice = _ignore if reminders is None else LostReminders(reminders, clock, run_later).notice
        self.access = AccessControl(repository, idempotency, notice)
        self.commands = GameCommands(
            repository,
            idempotency,
            clock=clock,
            random_bytes=random_bytes,
            ttl=ttl,
            yield_control=yield_control,
            allowance=_no_allowance if reminders is None else reminders.outage_allowance,
        )
        self.owner_commands = OwnerCommands(repository, idempotency, random_bytes=random_bytes, ttl=ttl)
        self.rematches = Rematches(repository, idempotency, clock=clock, random_bytes=random_bytes, ttl=ttl)
        self.queries = GameQueries(repository, feed, ttl)
        self.readiness = Readiness(store, clock)
        self._repository = repository

    def forget(self, games: Container[str]) -> None:
        """Drop these games from the memory of this process."""
        self._repository.forget(games)


def _no_allowance(_: str) -> OutageAllowance:
    return NO_ALLOWANCE


def _ignore(_: Game) -> None:
    """Notice nothing."""
