"""The lists of games: those of an application, and the lobby, which everybody may read.

Owns what is added to a stored summary, and for how long the lobby is kept in memory. Does not depend on how games are
found.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from time import monotonic
from typing import Final, NamedTuple

from service.apps.ports import GameIndex, IndexQuery, Lobby
from service.games.timestamps import format_rfc3339

LOBBY_SIZE: Final = 200
"""Games of the lobby that are listed."""
LOBBY_SECONDS: Final = 1.0
"""For so long a process gives the same answer about the lobby."""


class ListedGames(NamedTuple):
    """The JSON of games, and where the next page begins, if there is one."""

    games: list[bytes]
    next: str | None


class Listing:
    """The lists of games in these, or empty ones; ``ttl`` in milliseconds, ``elapsed`` is a clock in seconds."""

    def __init__(
        self,
        index: GameIndex | None = None,
        lobby: Lobby | None = None,
        *,
        ttl: int = 0,
        elapsed: Callable[[], float] = monotonic,
    ) -> None:
        self._index = index
        self._lobby = lobby
        self._ttl = ttl
        self._elapsed = elapsed
        self._kept: dict[str | None, tuple[float, list[bytes]]] = {}

    def games(self, app: str, query: IndexQuery) -> ListedGames:
        """The games of an application. Raises ``ValueError`` for a text that is no cursor, ``StorageUnavailable``."""
        if self._index is None:
            return ListedGames([], None)
        page = self._index.find(app, query)
        games = [
            b'%b,"expires_at":"%b"}' % (summary[:-1], format_rfc3339(updated + self._ttl).encode())
            for summary, updated in page.entries
        ]
        return ListedGames(games, page.next)

    def public_games(self, variant: str | None) -> list[bytes]:
        """The public games with open seats, the newest first; of one that exists, or of any variant.

        At most as old as ``LOBBY_SECONDS``. Raises ``StorageUnavailable``.
        """
        if self._lobby is None:
            return []
        now = self._elapsed()
        until, games = self._kept.get(variant, (now, []))
        if until <= now:
            games = self._lobby.games(variant, LOBBY_SIZE)
            self._kept[variant] = self._elapsed() + LOBBY_SECONDS, games
        return games

    def forget(self, _games: Container[str]) -> None:
        """Drop what is known of deleted games."""
        self._kept.clear()
