"""The tables at which strangers can sit down, in Redis or Valkey: one script for each write.

Owns their form and their limits. In a Cluster, all tables of an application are in its slot, and the tables that are
open to everybody in the slot of the lobby.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from service.games.tables import HOLD_MS, LOOK_MS, ListedTable, Listing, OpenTables, Place, Seeker
from service.redis import keys
from service.redis.calls import RedisCalls, evalsha
from service.redis.errors import OutcomeUnknown

LIST_MS: Final = 600_000
"""Milliseconds for which a list of tables, or the looks at a game, live after their last write."""
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
        command = evalsha(
            "claim_table",
            names,
            seeker.claim.encode(),
            seeker.known_ms,
            new.game.encode(),
            len(new.taken),
            new.created_at,
            LOOK_MS,
            HOLD_MS,
            leaving.encode(),
            LIST_MS,
            MAX_EXAMINED,
        )
        try:
            answer = self._calls.write("claim_table", names[0], command)
        except OutcomeUnknown:
            answer = self._calls.write("claim_table", names[0], command)  # the same claim gets the same table
        game, seat, offered = answer
        return Place(game.decode(), int(seat), bool(offered))

    def put(self, listing: Listing, table: ListedTable, *, looked_at: int | None = None) -> None:
        names = keys.tables(*listing)
        command = evalsha(
            "put_table",
            names,
            table.game.encode(),
            table.version,
            "".join(["01"[taken] for taken in table.taken]).encode(),
            table.created_at,
            b"" if looked_at is None else looked_at,
            LIST_MS,
            MAX_TABLES,
        )
        self._calls.write("put_table", names[0], command)

    def look(self, game: str, seats: Sequence[int], at: int) -> None:
        key = keys.looks(game)
        self._calls.write("look", key, evalsha("look", (key,), at, LIST_MS, *seats))

    def looks(self, game: str) -> Mapping[int, int]:
        key = keys.looks(game)
        flat = self._calls.read("looks", key, (b"HGETALL", key))
        pairs = flat.items() if isinstance(flat, dict) else zip(flat[::2], flat[1::2], strict=True)
        return {int(seat): int(at) for seat, at in pairs}
