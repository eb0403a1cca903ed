"""The ports of the index: the games of each application, the lobbies, and the feed that is written with the index.

Owns the interfaces only. What belongs to a game lies elsewhere than the index, so the index follows the game, and is
right in the end: every update names the version of the game, and one that is older than what is there does nothing.
Errors are those of ``service.backends.ports``. Does not depend on Redis or Flask.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

LOBBY_MS: Final = 360_000
"""Milliseconds that a game is shown in the lobby unless it is shown again."""


FEED_ITEMS: Final = 100_000
"""Items that the feed of an application keeps, or a few more."""


class PlayerEntry(NamedTuple):
    """A player of a game as the index finds it, once for each ``ref``.

    The game with the smallest ``urgency`` is the most urgent one; ``None`` if the game does not wait for this player.
    """

    ref: str
    urgency: int | None


class IndexEntry(NamedTuple):
    """What the index of an application knows of one of its games, at one version.

    ``summary`` is the JSON object of the listing, without ``expires_at``. ``deleted``: the game was deleted, and is
    listed no more. ``bytes``: what the store uses for its state and its events. Times in milliseconds since 1970.
    """

    game: str
    version: int
    write_id: str
    updated_at: int
    expires_at: int
    ref: str | None
    players: tuple[PlayerEntry, ...]
    variant: str
    status: str
    summary: bytes
    deleted: bool = False
    bytes: int = 0


class Usage(NamedTuple):
    """What is kept for an application: ``games`` that have not expired, the ``bytes`` of all games in its index.

    ``messages`` that wait: the games of which an endpoint is still to be notified, summed over all endpoints. A game
    that has expired counts in the bytes until the index forgets it, which any write to the index does for some of them.
    """

    games: int = 0
    bytes: int = 0
    messages: int = 0


class LobbyEntry(NamedTuple):
    """A public game of an application at one version; ``json`` is what a lobby shows, ``None`` without open seats.

    It is in the lobby of its application and, if it is ``for_all``, in the one that everybody may read. ``created_at``
    in milliseconds since 1970.
    """

    game: str
    app: str
    version: int
    variant: str
    created_at: int
    json: bytes | None
    for_all: bool = True


class LobbyQuery(NamedTuple):
    """What is read of the lobby of this application; without one, of that which everybody may read."""

    app: str | None = None
    variant: str | None = None
    limit: int = 50
    cursor: str | None = None


class LobbyPage(NamedTuple):
    """The JSON of games, and where the next page begins, if there is one."""

    games: tuple[bytes, ...]
    next: str | None


class IndexPosition(NamedTuple):
    """The version of a game that the index knows (version 0: it does not know it), and the active endpoints."""

    version: int
    write_id: str
    endpoints: tuple[str, ...]


class IndexPage(NamedTuple):
    """Summaries, each with the time at which its game expires, and where the next page begins, if there is one."""

    entries: tuple[tuple[bytes, int], ...]
    next: str | None


class IndexQuery(NamedTuple):
    """What is listed; without ``statuses`` games of any status.

    ``waiting`` only with a ``player_ref``: the games that wait for that player, most urgent first.
    Any other list is ordered by the time of the last write, newest first. Times in milliseconds since 1970.
    """

    ref: str | None = None
    player_ref: str | None = None
    waiting: bool = False
    statuses: tuple[str, ...] = ()
    variant: str | None = None
    updated_after: int | None = None
    limit: int = 50
    cursor: str | None = None


class GameIndex(Protocol):
    """The index of the games of each application, and the feed that is written with it.

    A game that is not written any more is listed until it expires.
    """

    def position(self, app: str, game: str) -> IndexPosition:
        """Return the version of a game that the index knows, and the endpoints that are to be notified."""

    def put(
        self,
        app: str,
        entry: IndexEntry,
        items: Sequence[bytes],
        endpoints: Sequence[str],
        *,
        position: IndexPosition,
        notified: int | None = None,
    ) -> bool:
        """Replace what the index knows of a game, append ``items`` of it to the feed, and make ``endpoints`` due.

        Does nothing, and returns ``False``, unless the index is still at ``position``. One atomic write. An endpoint
        that has not been notified of this game before knows it up to the version of ``position``; with ``notified``,
        every endpoint knows it up to that version only: it is notified again of what follows.
        """

    def remove(self, app: str, game: str, *, position: IndexPosition) -> bool:
        """Forget a game, as if it had never been there, if the index is still at ``position``."""

    def usage(self, app: str) -> Usage:
        """Return what is kept for an application, as far as the index has followed its games."""

    def find(self, app: str, query: IndexQuery) -> IndexPage:
        """Return the games of an application. A page may have fewer than ``limit`` games, or none, and yet a next one.

        Raises ``ValueError`` for a ``cursor`` that no page had.
        """

    def games(self, app: str, cursor: str | None) -> tuple[list[str], str | None]:
        """Return some of the games that the index knows, in no order, and where to go on; ``None`` at the end.

        A game that is there from the beginning to the end is given at least once.
        """


class Lobby(Protocol):
    """The public games with open seats: a lobby for each application, and one that everybody may read.

    A game stays for ``LOBBY_MS`` after it was last put there. A lobby keeps the 1000 newest games of an application.
    """

    def put(self, entry: LobbyEntry) -> bool:
        """Show a game, or hide it, unless a newer version of it is known; returns whether it is kept now."""

    def games(self, query: LobbyQuery) -> LobbyPage:
        """Return the games, the newest first; in the lobby for everybody at most the ten newest of one application.

        With a variant, the ten newest of that. A page may have fewer than ``limit`` games, or none, and yet a next one.
        Raises ``ValueError`` for a ``cursor`` that no page had.
        """


class StoredItem(NamedTuple):
    """An item of the feed as it is stored: its cursor, its game, and its JSON object, which has no refs."""

    cursor: str
    game: str
    json: bytes


class StoredItems(NamedTuple):
    """Items of the feed, and the cursor of the last one.

    ``summaries`` are those that the index has of their games, where it knows the game. ``lost``: items after the given
    cursor are no longer kept, or never existed; then there are no items here, and what is kept comes after ``cursor``.
    """

    items: tuple[StoredItem, ...]
    cursor: str
    summaries: Mapping[str, bytes]
    lost: bool = False


class FeedStore(Protocol):
    """The feeds of the applications: the last ``FEED_ITEMS`` of each. A cursor is a text, opaque to its reader."""

    def read(self, app: str, after: str | None, limit: int) -> StoredItems:
        """At most ``limit`` items after a cursor; without one, from the oldest that is kept.

        Raises ``ValueError`` for a text that is no cursor.
        """

    def newest(self, app: str) -> str:
        """Return the cursor after which there is nothing yet."""
