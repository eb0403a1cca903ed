"""The repository: all operations on the games of a store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from service.games.model.schedule import DAY_MS, Lifetimes
from service.games.ports import Runtime, Store
from service.games.reminders import NO_ALLOWANCE, OutageAllowance
from service.games.store.admission import StoragePolicy
from service.games.store.cache import GameCache, GameReader
from service.games.store.history import GameHistory
from service.games.store.open_tables import Attendance
from service.games.store.transactions import Committed, Transactions

DEFAULT_POLICY: Final = StoragePolicy(Lifetimes.at_most(30 * DAY_MS))


class GameRepository:
    """The games of a store, which is itself for operations that do not belong to one game.

    All parts raise ``StorageUnavailable``, and ``Gone`` for a deleted game.

    ``observe``: called with every committed write.
    ``admit_read``: as in ``GameHistory``.
    ``allowance``: the method of the ``ReminderQueue``; needed if the process shows deadlines.
    """

    def __init__(
        self,
        store: Store,
        runtime: Runtime,
        *,
        observe: Callable[[Committed], None],
        admit_read: Callable[[int], None],
        allowance: Callable[[str], OutageAllowance] = lambda _: NO_ALLOWANCE,
        policy: StoragePolicy = DEFAULT_POLICY,
    ) -> None:
        self.store = store
        self.lifetimes = policy.lifetimes
        self.cache = GameCache(allowance)
        self.reader = GameReader(store, self.cache)
        self.histories = GameHistory(store, self.cache, yield_control=runtime.yield_control, admit_read=admit_read)
        self.attendance = Attendance(store.tables, self.reader, runtime)
        self.transactions = Transactions(
            store,
            self.cache,
            self.reader,
            self.histories,
            runtime=runtime,
            policy=policy,
            observe=observe,
            follow=self.attendance.follow,
        )
