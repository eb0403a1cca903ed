"""The tables at which strangers can sit down: who was seen at a waiting game, and the lists of tables in Redis.

Each record of a player lists the table again, so that one that a list has lost comes back.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from service.bounded_cache import BoundedCache
from service.games.model.errors import Gone
from service.games.model.game import Game
from service.games.model.seeking import listings_of, table_of
from service.games.ports import Runtime
from service.games.store.cache import GameReader
from service.games.store.transactions import Committed
from service.games.tables import HOLD_MS, UNSEEN_MS, ListedTable, Listing, OpenTables, Place, Seeker
from service.redis import keys
from service.redis.calls import RedisCalls
from service.redis.errors import OutcomeUnknown, StorageUnavailable

EVERY_MS: Final = 20_000
"""Milliseconds between two records of a seat."""
_MAX_KNOWN: Final = 10_000
"""The maximum number of seats whose last record a process remembers."""

_log = logging.getLogger(__name__)


class Attendance:
    """Records in ``tables``, in the background, when players were seen."""

    def __init__(self, tables: OpenTables, reader: GameReader, runtime: Runtime) -> None:
        self._tables, self._reader = tables, reader
        self._clock, self._run_later = runtime.clock, runtime.run_later
        self._known = BoundedCache[tuple[str, int | None], int](_MAX_KNOWN)

    def record(self, game: Game, seat: int | None) -> None:
        """Record that the player of a seat was seen; ``None``: the application was, which counts for every seat."""
        if game.seats.are_open and self._is_due(game.id, seat) and listings_of(game):
            self._later(partial(self._record, game, seat))

    def record_waiting(self, game_id: str, seat: int | None) -> None:
        """Read the game, and record that a player waits for its next event."""
        if self._is_due(game_id, seat):
            self._later(partial(self._read, game_id, seat))

    def follow(self, committed: Committed) -> None:
        """Update the lists of tables after a write to a game that waits for players, or did before the write."""
        self._later(partial(self._list, committed))

    def _is_due(self, game_id: str, seat: int | None) -> bool:
        now, last = self._clock(), self._known.get((game_id, seat))
        if last is not None and now - last < EVERY_MS:
            return False
        self._known.put((game_id, seat), now)
        return True

    def _read(self, game_id: str, seat: int | None) -> None:
        game = self._reader.load(game_id)
        if game is not None and game.seats.are_open and listings_of(game):
            self._record(game, seat)

    def _record(self, game: Game, seat: int | None) -> None:
        now = self._clock()
        if game.room is not None and game.room.sought:
            self._tables.mark_seen(game.id, range(len(game.seats)) if seat is None else (seat,), now)
        for listing in listings_of(game):
            self._tables.put(listing, table_of(game), seen_at=now)

    def _list(self, committed: Committed) -> None:
        game = committed.after
        seen_at = self._clock() if committed.status_before is None else None
        for listing in listings_of(game):
            self._tables.put(listing, table_of(game), seen_at=seen_at)

    def _later(self, work: Callable[[], None]) -> None:
        self._run_later(partial(_quietly, work))


def _quietly(work: Callable[[], None]) -> None:
    try:
        work()
    except (StorageUnavailable, OutcomeUnknown, Gone):
        pass  # the next record tries again
    except Exception:
        _log.exception("the attendance at a table could not be recorded")


# The lists in Redis or Valkey: one script for each write. In a Cluster, all tables of an application are in its slot,
# and the tables that are open to everybody in the slot of the lobby.


LIST_MS: Final = 600_000
"""Milliseconds for which a list of tables, or the times when players of a game were seen, live after a write."""
MAX_TABLES: Final = 1000
"""The maximum number of tables in a list."""
MAX_EXAMINED: Final = 100
"""The maximum number of tables that are examined for one seeker."""


class RedisOpenTables(OpenTables):
    """The lists of tables of all owners and forms."""

    def __init__(self, calls: RedisCalls) -> None:
        self._calls = calls

    def claim(self, listing: Listing, seeker: Seeker, new: ListedTable, *, leaving: str = "") -> Place:
        names = (keys.claim(listing.owner, seeker.claim), *keys.tables(*listing))
        wanted = (seeker.claim.encode(), seeker.known_ms, new.game.encode(), len(new.taken), new.created_at)
        limits = (UNSEEN_MS, HOLD_MS, leaving.encode(), LIST_MS, MAX_EXAMINED)
        claim = partial(self._calls.write, "claim_table", names, *wanted, *limits)
        try:
            game, seat, offered = claim()
        except OutcomeUnknown:
            game, seat, offered = claim()  # the same claim gets the same table
        return Place(game.decode(), int(seat), bool(offered))

    def put(self, listing: Listing, table: ListedTable, *, seen_at: int | None = None) -> None:
        taken, seen = bytes([b"01"[taken] for taken in table.taken]), b"" if seen_at is None else seen_at
        entry = (table.game.encode(), table.version, taken, table.created_at, seen)
        self._calls.write("put_table", keys.tables(*listing), *entry, LIST_MS, MAX_TABLES)

    def mark_seen(self, game: str, seats: Sequence[int], at: int) -> None:
        self._calls.write("look", (keys.part(b"looks", game),), at, LIST_MS, *seats)

    def last_seen(self, game: str) -> Mapping[int, int]:
        key = keys.part(b"looks", game)
        (flat,) = self._calls.read_all("looks", key, (b"HGETALL", key))
        return {int(seat): int(at) for seat, at in zip(flat[::2], flat[1::2], strict=True)}
