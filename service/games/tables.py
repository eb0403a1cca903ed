"""The tables at which strangers may sit down: the port of what assigns seekers to them.

Owns the interface only; the tables in Redis are in ``service.games.store.table_store``. Which seats are open is decided
by each game alone: what is kept here only says where to try, so that it may be old or lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

LOOK_MS: Final = 120_000
"""Milliseconds after which a player who has not looked at a waiting game counts as gone."""
HOLD_MS: Final = 10_000
"""Milliseconds for which a seat is held for a seeker who was sent to it: longer than any request takes."""


class Listing(NamedTuple):
    """A list of tables that are alike: whose they are, empty for those of everybody, and a digest of their form."""

    owner: str
    form: str


class Seeker(NamedTuple):
    """A seeker by its ``claim``, a word; ``known_ms``: how long the table of this claim is known."""

    claim: str
    known_ms: int


class Place(NamedTuple):
    """The place of a seeker: a seat of a game, which does not exist yet if nobody has sat down there.

    Unless it is ``offered``, as nobody has looked at it lately, a seeker stays there only who has the seat already.
    """

    game: str
    seat: int
    offered: bool


class ListedTable(NamedTuple):
    """A waiting game at one version: which of its seats are taken, and when it was created, in ms since 1970."""

    game: str
    version: int
    taken: tuple[bool, ...]
    created_at: int


class OpenTables(Protocol):
    """The tables of a store. Times are in milliseconds since 1970.

    Every method raises ``StorageUnavailable``, those that write also ``OutcomeUnknown``; all may be called again.
    """

    def claim(self, listing: Listing, seeker: Seeker, new: ListedTable, *, leaving: str = "") -> Place:
        """Return the place of a seeker, which is held for ``HOLD_MS``.

        That is the table of an earlier call with the same claim; else the one with a free seat that was opened first,
        of those that were looked at in the last ``LOOK_MS``; else the ``new`` one, which is listed from now on. A table
        that the seeker is ``leaving``, as it had no seat there, is none of them. ``new.created_at`` is now.
        """

    def put(self, listing: Listing, table: ListedTable, *, looked_at: int | None = None) -> None:
        """Note which seats of a table are taken, unless a newer version is known; and when somebody has looked at it.

        A table that nobody has looked at is not listed, unless it already is.
        """

    def look(self, game: str, seats: Sequence[int], at: int) -> None:
        """Note that the players of these seats have looked at their game."""

    def looks(self, game: str) -> Mapping[int, int]:
        """Return when the players of a game have last looked at it, by seat; for ten minutes."""
