"""Lists of games: those of an application, those of a person, and the lobbies.

Owns the fields that are added to stored summaries, the form of a person's games, and the cache of the lobby for
everybody. Does not depend on where the index is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from time import monotonic
from typing import Any, Final

import orjson

from service.backends.index.store import RedisIndex, RedisLobby
from service.backends.index.summaries import deferred_summary
from service.backends.store import RedisErasures
from service.backends.values import MAX_ERASURES, GamePage, IndexQuery, LobbyQuery, Usage
from service.games.model.errors import LimitReached, NotFound
from service.games.model.views import format_rfc3339
from service.games.reminders import NO_ALLOWANCE, OutageAllowance

LOBBY_SECONDS: Final = 1.0
"""Seconds for which a process caches the first page of the lobby for everybody."""


class Listing:
    """The lists of games in an index and the lobbies.

    ``elapsed``: a monotonic clock, in seconds.
    ``allowance``: returns the outage allowance of a game, as ``ReminderQueue`` does.
    """

    def __init__(
        self,
        index: RedisIndex,
        lobby: RedisLobby,
        *,
        elapsed: Callable[[], float] = monotonic,
        allowance: Callable[[str], OutageAllowance] = lambda _: NO_ALLOWANCE,
    ) -> None:
        self._allowance = allowance
        self._index = index
        self._lobby = lobby
        self._elapsed = elapsed
        self._pages: dict[str | None, tuple[float, GamePage[bytes]]] = {}

    def games(self, app: str, query: IndexQuery) -> GamePage[bytes]:
        """Return a page of the games of an application.

        Raises ``ValueError`` for a text that is no cursor, ``StorageUnavailable``.
        """
        page = self._index.find(app, query)
        games = [
            b'%b,"expires_at":"%b"}'
            % (deferred_summary(summary, self._allowance)[:-1], format_rfc3339(expires_at).encode())
            for summary, expires_at in page.games
        ]
        return GamePage(games, page.next)

    def usage(self, app: str) -> Usage:
        """Return the usage of an application. Raises ``StorageUnavailable``."""
        return self._index.usage(app)

    def lobby(self, query: LobbyQuery) -> GamePage[bytes]:
        """Return a page of a lobby, the newest games first. A variant in the query must exist.

        A page that ``is_cached`` is up to ``LOBBY_SECONDS`` old. Raises ``ValueError`` for a text that is no cursor,
        ``StorageUnavailable``.
        """
        if not is_cached(query):
            return self._lobby.games(query)
        now = self._elapsed()
        until, page = self._pages.get(query.variant, (now, GamePage([], None)))
        if until <= now:
            page = self._lobby.games(query)
            self._pages[query.variant] = self._elapsed() + LOBBY_SECONDS, page
        return page

    def forget(self, _games: Container[str]) -> None:
        """Drop deleted games from the cache."""
        self._pages.clear()


def is_cached(query: LobbyQuery) -> bool:
    """Return whether to cache the page: the first one of the lobby for everybody, with the default limit."""
    return query == LobbyQuery(variant=query.variant)


# The people of an application, whom it identifies by a ref: their games, and their erasure.


_GAME_FIELDS: Final = ("id", "ref", "variant", "status", "version", "round")
_SEAT_FIELDS: Final = ("seat", "name", "kind", "total", "rank", "active")


class People:
    """The people of applications: lists their games, and requests their erasure."""

    def __init__(self, index: RedisIndex, erasures: RedisErasures) -> None:
        self._index = index
        self._erasures = erasures

    def games(self, app: str, ref: str, limit: int, cursor: str | None) -> GamePage[dict[str, Any]]:
        """Return a page of the games of a person, those with the newest writes first.

        Raises ``NotFound`` if the person has no games and no erasure is pending; ``ValueError`` for a text that is no
        cursor, ``StorageUnavailable``.
        """
        page = self._index.find(app, IndexQuery(player_ref=ref, limit=limit, cursor=cursor))
        # Checked after the list, because an erasure is pending until the last game has left the list.
        if not page.games and page.next is None and not self._erasures.is_pending(app, ref):
            raise NotFound("no_such_person")
        games = [_game(orjson.loads(summary), ref, expires_at) for summary, expires_at in page.games]
        return GamePage(games, page.next)

    def erase(self, app: str, ref: str) -> None:
        """Request the erasure of a person from all games of the application, even if no game of the person is known.

        Raises ``LimitReached``, ``StorageUnavailable``, ``OutcomeUnknown``. Can be called again.
        """
        if not self._erasures.request(app, ref):
            raise LimitReached("too_many_erasures", max=MAX_ERASURES)


def _game(listed: dict[str, Any], ref: str, expires_at: int) -> dict[str, Any]:
    """Return a game as the list of a person's games shows it; ``expires_at`` in milliseconds since 1970."""
    seats = [_select(player, _SEAT_FIELDS) for player in listed["players"] if player.get("ref") == ref]
    return {
        **_select(listed, _GAME_FIELDS),
        "seats": seats,
        "winners": listed["winners"],
        "updated_at": listed["updated_at"],
        "expires_at": format_rfc3339(expires_at),
    }


def _select(fields: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields with these names, if they exist."""
    return {name: fields[name] for name in names if name in fields}
