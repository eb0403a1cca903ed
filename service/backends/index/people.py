"""The people of an application: what is kept of a person, whom the application knows by a ``ref``, and its erasure.

Owns what is shown of a person: of each game what the listing has of it, and the seats of that person, but nothing of
those who sit beside it; and as long as an erasure is under way, that there is somebody.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import orjson

from service.backends.index.ports import GameIndex, IndexQuery
from service.backends.ports import MOST_ERASURES, ErasureStore
from service.games.model.errors import LimitReached, NotFound
from service.games.model.timestamps import format_rfc3339

_OF_GAME: Final = ("id", "ref", "variant", "status", "version", "round")
_OF_SEAT: Final = ("seat", "name", "kind", "total", "rank", "active")


class GamesOfPerson(NamedTuple):
    """The JSON objects of games, and where the next page begins, if there is one."""

    games: list[dict[str, Any]]
    next: str | None


class People:
    """The people of the applications whose games are in this index, who can be erased."""

    def __init__(self, index: GameIndex, erasures: ErasureStore) -> None:
        self._index = index
        self._erasures = erasures

    def games(self, app: str, ref: str, limit: int, cursor: str | None) -> GamesOfPerson:
        """Return a page of the games of a person, those that were written last first.

        Raises ``NotFound`` if there is none, and nobody to be erased; ``ValueError`` for a text that is no cursor,
        ``StorageUnavailable``.
        """
        page = self._index.find(app, IndexQuery(player_ref=ref, limit=limit, cursor=cursor))
        # In this order: while the list is read, the last game may be erased from it, and after that the erasure ends.
        if not page.entries and page.next is None and not self._erasures.is_pending(app, ref):
            raise NotFound("no_such_person")
        games = [_game(orjson.loads(summary), ref, expires_at) for summary, expires_at in page.entries]
        return GamesOfPerson(games, page.next)

    def erase(self, app: str, ref: str) -> None:
        """Have a person erased from all games of the application, also one of whom no game is known.

        Raises ``LimitReached``, ``StorageUnavailable``, ``OutcomeUnknown``; it may be called again.
        """
        if not self._erasures.request(app, ref):
            raise LimitReached("too_many_erasures", max=MOST_ERASURES)


def _game(listed: dict[str, Any], ref: str, expires_at: int) -> dict[str, Any]:
    """Return a game as it is shown for one of its players; ``expires_at`` in milliseconds since 1970."""
    seats = [_chosen(each, _OF_SEAT) for each in listed["players"] if each.get("ref") == ref]
    return {
        **_chosen(listed, _OF_GAME),
        "seats": seats,
        "winners": listed["winners"],
        "updated_at": listed["updated_at"],
        "expires_at": format_rfc3339(expires_at),
    }


def _chosen(fields: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Those of the fields that are there."""
    return {name: fields[name] for name in names if name in fields}
