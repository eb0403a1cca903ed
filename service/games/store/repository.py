"""The repository: all that can be done with the games of a store.

Owns how its parts are put together, which are reading games, their histories, transactions, the cache of a process;
and whether games can be written now.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Final

from service.games.model.schedule import DAY_MS, Lifetimes
from service.games.ports import Runtime, Store, TimeSource
from service.games.reminders import NO_ALLOWANCE, OutageAllowance
from service.games.store.admission import Keeping
from service.games.store.cache import GameCache, GameReader
from service.games.store.history import GameHistory
from service.games.store.looks import Looks
from service.games.store.transactions import Committed, Transactions
from service.redis.errors import StorageUnavailable

EVERYTHING: Final = Keeping(Lifetimes.at_most(30 * DAY_MS))
"""Every write, for as long as the defaults say."""


class GameRepository:
    """The games of a store.

    * ``reader`` reads a game, ``cache`` has those of this process, and ``histories`` their events and earlier versions;
    * ``transactions`` creates, changes and deletes games; its ``admission`` counts what is stored;
    * ``looks`` notes who looks at a waiting game, and which tables strangers are offered;
    * ``lifetimes`` is how long games are kept; ``store`` itself is for what is not about one game.

    Whatever reads or writes raises ``StorageUnavailable``, and ``Gone`` for a game that was deleted. Finished games are
    compacted in the background. ``observe`` is called with every write that was committed, and ``admit_read`` with the
    number of events before many may be read; what it raises, the caller gets. ``allowance`` is that of the
    ``ReminderQueue``, for those who show deadlines. ``keeping`` says how long games are kept, and how much of them.
    """

    def __init__(
        self,
        store: Store,
        runtime: Runtime,
        *,
        observe: Callable[[Committed], None],
        admit_read: Callable[[int], None],
        allowance: Callable[[str], OutageAllowance] = lambda _: NO_ALLOWANCE,
        keeping: Keeping = EVERYTHING,
    ) -> None:
        self.store = store
        self.lifetimes = keeping.lifetimes
        self.cache = GameCache(allowance)
        self.reader = GameReader(store, self.cache)
        self.histories = GameHistory(store, self.cache, yield_control=runtime.yield_control, admit_read=admit_read)
        self.looks = Looks(store.tables, runtime)
        self.transactions = Transactions(
            store,
            self.cache,
            self.reader,
            self.histories,
            runtime=runtime,
            keeping=keeping,
            observe=observe,
            follow=self.looks.follow,
        )


# Whether games can be written now, found out at most once a second however often it is asked.


VALID_MS: Final = 1000


class Readiness:
    """The readiness of a store, which ``check`` finds out as ``Store.check`` does.

    Of several callers at the same time one asks it, and the others wait for the answer.
    """

    def __init__(self, check: Callable[[], None], clock: TimeSource) -> None:
        self._check_store = check
        self._clock = clock
        self._lock = Lock()
        self._checked_at: int | None = None
        self._failure: tuple[str, int] | None = None

    def require(self) -> None:
        """Raise ``StorageUnavailable`` if games cannot be written, or could not within the last second."""
        with self._lock:
            if self._checked_at is None or not 0 <= self._clock() - self._checked_at < VALID_MS:
                self._failure = self._check()
                self._checked_at = self._clock()
            failure = self._failure
        if failure is not None:
            raise StorageUnavailable(*failure)

    def _check(self) -> tuple[str, int] | None:
        """Ask the store; the reason of a failure, and the seconds after which to try again."""
        try:
            self._check_store()
        except StorageUnavailable as error:
            return error.reason, error.retry_after
        return None
