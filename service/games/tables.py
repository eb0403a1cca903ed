"""The interface of the lists of open tables, which assign players who seek a table (seekers) to waiting games.

A list only proposes where to try: it may be stale or lost, as each game alone decides which of its seats are open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

UNSEEN_MS: Final = 120_000
"""Milliseconds after which a player who has not read a waiting game or followed its events counts as gone."""
HOLD_MS: Final = 10_000
"""Milliseconds for which a seat is reserved for the seeker who was sent to it: longer than any request takes."""


class Listing(NamedTuple):
    """The key of a list of equal tables: their owner, empty for everybody, and a digest (``form_of``)."""

    owner: str
    form: str


class Seeker(NamedTuple):
    """A player who seeks a table.

    ``claim``: identifies the request, also when it is sent again.
    ``known_ms``: milliseconds for which the list remembers the table of this claim.
    """

    claim: str
    known_ms: int


class Place(NamedTuple):
    """The seat to which a seeker is sent. Its game does not exist yet if the seeker is the first.

    ``offered``: false if nobody was seen at the table lately. Then only a seeker who already has the seat stays.
    """

    game: str
    seat: int
    offered: bool


class ListedTable(NamedTuple):
    """A waiting game at one version: for each seat whether it is taken, and the creation in ms since 1970."""

    game: str
    version: int
    taken: tuple[bool, ...]
    created_at: int


class OpenTables(Protocol):
    """The tables of a store. Times are in milliseconds since 1970.

    Every method raises ``StorageUnavailable``, those that write also ``OutcomeUnknown``. All can be called again.
    """

    def claim(self, listing: Listing, seeker: Seeker, new: ListedTable, *, leaving: str = "") -> Place:
        """Return a place for a seeker, and reserve it for ``HOLD_MS``.

        Chooses the table of an earlier call with the same claim; else the oldest table with a free seat at which
        somebody was seen in the last ``UNSEEN_MS``; else the ``new`` one, which is listed from now on. Never chooses
        the table that the seeker is ``leaving`` because it had no free seat. ``new.created_at`` is now.
        """

    def put(self, listing: Listing, table: ListedTable, *, seen_at: int | None = None) -> None:
        """Store which seats of a table are taken, unless a newer version is stored; and when somebody was seen there.

        Without ``seen_at``, updates a table that is listed, but does not list a new one.
        """

    def mark_seen(self, game: str, seats: Sequence[int], at: int) -> None:
        """Record that the players of these seats were seen at the game."""

    def last_seen(self, game: str) -> Mapping[int, int]:
        """Return when the player of each seat was last seen at the game, if that was in the last ten minutes."""
