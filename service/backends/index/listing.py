"""The lists of games: those of an application, with what is kept for it, its lobby, and that for everybody.

Owns what is added to a stored summary, and how much of the lobby for everybody is kept in memory, and for how long.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from time import monotonic
from typing import Final, NamedTuple

from service.backends.index.ports import GameIndex, IndexQuery, Lobby, LobbyPage, LobbyQuery, Usage
from service.backends.index.summaries import held_summary
from service.games.model.timestamps import format_rfc3339
from service.games.reminders import NO_ALLOWANCE, OutageAllowance

LOBBY_SECONDS: Final = 1.0
"""For so long a process gives the same first page of the lobby for everybody."""


class ListedGames(NamedTuple):
    """The JSON of games, and where the next page begins, if there is one."""

    games: list[bytes]
    next: str | None


class Listing:
    """The lists of games in these; ``elapsed`` is a clock in seconds.

    ``allowance`` is that of the ``ReminderQueue``.
    """

    def __init__(
        self,
        index: GameIndex,
        lobby: Lobby,
        *,
        elapsed: Callable[[], float] = monotonic,
        allowance: Callable[[str], OutageAllowance] = lambda _: NO_ALLOWANCE,
    ) -> None:
        self._allowance = allowance
        self._index = index
        self._lobby = lobby
        self._elapsed = elapsed
        self._kept: dict[str | None, tuple[float, LobbyPage]] = {}

    def games(self, app: str, query: IndexQuery) -> ListedGames:
        """Return the games of an application.

        Raises ``ValueError`` for a text that is no cursor, ``StorageUnavailable``.
        """
        page = self._index.find(app, query)
        games = [
            b'%b,"expires_at":"%b"}'
            % (held_summary(summary, self._allowance)[:-1], format_rfc3339(expires_at).encode())
            for summary, expires_at in page.entries
        ]
        return ListedGames(games, page.next)

    def usage(self, app: str) -> Usage:
        """Return what is kept for an application. Raises ``StorageUnavailable``."""
        return self._index.usage(app)

    def lobby(self, query: LobbyQuery) -> ListedGames:
        """Return the games of a lobby, the newest first; of one variant that exists, or of any.

        What ``is_kept`` is at most as old as ``LOBBY_SECONDS``. Raises ``ValueError`` for a text that is no cursor,
        ``StorageUnavailable``.
        """
        if not is_kept(query):
            return _listed(self._lobby.games(query))
        now = self._elapsed()
        until, page = self._kept.get(query.variant, (now, LobbyPage((), None)))
        if until <= now:
            page = self._lobby.games(query)
            self._kept[query.variant] = self._elapsed() + LOBBY_SECONDS, page
        return _listed(page)

    def forget(self, _games: Container[str]) -> None:
        """Drop what is known of deleted games."""
        self._kept.clear()


def _listed(page: LobbyPage) -> ListedGames:
    return ListedGames(list(page.games), page.next)


def is_kept(query: LobbyQuery) -> bool:
    """Return whether to keep this in memory: a first page of usual size, for everybody, as nearly all ask for."""
    return query == LobbyQuery(variant=query.variant)
