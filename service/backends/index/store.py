"""Stores the index of games, the lobbies and the feed in Redis or Valkey, with a script for each write and read.

Owns the commands and the encoding of values. Does not depend on the content of summaries and items. All keys of an
application, with those of its lobby, are in one slot of a Cluster (``service.redis.keys``); all keys of the lobby for
everybody are in another one. Every method returns within three seconds or raises ``StorageUnavailable``. A method that
writes can also raise ``OutcomeUnknown``; it is safe to call it again.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from collections.abc import Collection, Sequence
from itertools import chain
from typing import Final

from service.backends.values import (
    FEED_ITEMS,
    LOBBY_MS,
    GamePage,
    IndexEntry,
    IndexPosition,
    IndexQuery,
    LobbyEntry,
    LobbyQuery,
    StoredItem,
    StoredItems,
    Usage,
)
from service.games.model.tokens import base64_text
from service.redis import keys
from service.redis.calls import RedisCalls

# The cursor of a list of games: the score and the id of the last game of a page, as text.


_CURSOR: Final = re.compile(r"([0-9]{1,15}) ([A-Za-z0-9_-]{1,64})", re.ASCII)


def encode_cursor(score: int, game: str) -> str:
    """Return the cursor after a game."""
    return base64_text(b"%d %b" % (score, game.encode()))


def decode_cursor(cursor: str) -> tuple[int, str]:
    """Return the score and the id of the game. Raises ``ValueError`` for a text that is no cursor."""
    try:
        text = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)).decode("ascii")
    except ValueError:
        text = ""
    match = _CURSOR.fullmatch(text)
    if match is None or encode_cursor(int(match[1]), match[2]) != cursor:
        raise ValueError("no cursor of a list")
    return int(match[1]), match[2]


MAX_TRIMMED: Final = 10
"""Expired games that one write removes."""
MAX_EXAMINED: Final = 500
"""Games that are read for one page."""
MAX_IN_LOBBY: Final = 1000
"""Games of an application that a lobby stores."""
MAX_FOR_ALL: Final = 10
"""Games of an application that a list of the lobby for everybody shows."""
_SCANNED: Final = 500
"""Games of an index that one step of a scan reads; Redis can return a few more."""


class RedisIndex:
    """The index of the games of each application, and the feed that is written with it.

    Lists have a game until it expires or is deleted. No game lives longer than ``ttl_seconds`` after its last write.
    """

    def __init__(self, calls: RedisCalls, ttl_seconds: int) -> None:
        self._calls = calls
        self._ttl = ttl_seconds

    def position(self, app: str, game: str) -> IndexPosition:
        """Return the version of a game in the index."""
        version, write_id = self._calls.read("index_position", (keys.part(b"index", app),), game.encode())
        return IndexPosition(int(version), "" if write_id == b"-" else write_id.decode())

    def put(
        self,
        app: str,
        entry: IndexEntry,
        items: Sequence[bytes],
        types: Collection[str],
        *,
        position: IndexPosition,
        notified: int | None = None,
    ) -> tuple[str, ...] | None:
        """Replace the entry of a game, append ``items`` to the feed, and make endpoints due, in one atomic write.

        Returns the endpoints to which the game was made due: those that were ever active and are sent messages of any
        of ``types``. Does nothing and returns ``None`` unless the index still has the game at ``position``. An endpoint
        to which the game was not due before is notified of the versions after that of ``position``. With ``notified``,
        it is notified of the versions after ``notified``, even if it was notified of some of them before; so is each
        endpoint to which the game was due.
        """
        digests = [keys.digest(ref) for ref in entry.players]
        urgencies = [b"" if urgency is None else b"%d" % urgency for urgency in entry.players.values()]
        versions = position.version if notified is None else notified, int(notified is not None)
        counts = len(digests), len(types)
        players = chain.from_iterable(zip(digests, urgencies, strict=True))
        messages = [kind.encode() for kind in types]
        stored = _head(entry, digests), entry.summary, entry.updated_at
        return self._write(app, entry.game, position, stored, *versions, *counts, *players, *messages, *items)

    def remove(self, app: str, game: str, *, position: IndexPosition) -> bool:
        """Remove the entry of a game without recording a deletion. Return ``False`` unless it was at ``position``."""
        return self._write(app, game, position, (b"", b"", 0), 0, 0, 0, 0) is not None

    def _write(
        self, app: str, game: str, position: IndexPosition, entry: tuple[bytes, bytes, int], *rest: bytes | int
    ) -> tuple[str, ...] | None:
        """Run the script ``index``.

        ``entry``: its head, its summary, and the time of the last write.
        ``rest``: the arguments of the script from the tenth.
        """
        names = keys.part(b"index", app), keys.reminders_of_application("webhooks", app)
        expected = app.encode(), game.encode(), _encode_position(position.version, position.write_id)
        answer = self._calls.write("index", names, *expected, *entry, self._ttl, MAX_TRIMMED, FEED_ITEMS, *rest)
        return None if answer == 0 else tuple([endpoint.decode() for endpoint in answer])

    def usage(self, app: str) -> Usage:
        """Return the usage of an application according to the index, which follows the games with a delay."""
        return Usage(*self._calls.read("index_usage", (keys.part(b"index", app),)))

    def find(self, app: str, query: IndexQuery) -> GamePage[tuple[bytes, int]]:
        """Return the summaries of games of an application, each with the time when the game expires (ms since 1970).

        Even an empty page can have a next one. Raises ``ValueError`` for a ``cursor`` that no page had.
        """
        score, game = _from_cursor(query.cursor)
        waiting = query.waiting and query.player_ref is not None
        if query.player_ref is not None:
            games = keys.listed(app, "waiting" if waiting else "player", query.player_ref)
        elif query.ref is not None:
            games = keys.listed(app, "ref", query.ref)
        else:
            games, _ = keys.totals(app)
        names = keys.part(b"index", app), games
        page = int(not waiting), score, game, query.limit, max(MAX_EXAMINED, query.limit)
        statuses, variant = ",".join(query.statuses).encode(), (query.variant or "").encode()
        selected = query.updated_after or 0, statuses, variant, b"" if query.ref is None else keys.digest(query.ref)
        last_score, last_game, *rows = self._calls.read("index_find", names, *page, self._ttl, *selected)
        found = list(zip(rows[::2], map(int, rows[1::2]), strict=True))
        return GamePage(found, _next_cursor(last_score, last_game))

    def games(self, app: str, cursor: str | None) -> tuple[list[str], str | None]:
        """Return the ids of some games in the index, and the next cursor, ``None`` at the end of the scan.

        Games come in no order, deleted ones among them. A scan returns each game that stays in the index at least once.
        """
        key = keys.part(b"index", app)
        command = (b"HSCAN", key, b"0" if cursor is None else cursor.encode(), b"COUNT", _SCANNED)
        ((following, pairs),) = self._calls.read_all("index_games", key, command)
        return [game.decode() for game in pairs[::2]], None if following == b"0" else following.decode()


class RedisLobby:
    """The public games with open seats: a lobby for each application, and one for everybody.

    A game stays for ``LOBBY_MS`` after it was last put there. A lobby keeps the ``MAX_IN_LOBBY`` newest games of an
    application.
    """

    def __init__(self, calls: RedisCalls) -> None:
        self._calls = calls

    def put(self, entry: LobbyEntry) -> bool:
        """Show or hide a game, unless a newer version of it is stored. Return whether a lobby stores it as shown."""
        stored = self._put(keys.lobby(entry.app), entry, MAX_IN_LOBBY)
        if entry.for_all:
            stored = self._put(keys.lobby(None), entry, MAX_FOR_ALL) or stored
        return stored

    def _put(self, lobby: tuple[bytes, ...], entry: LobbyEntry, room: int) -> bool:
        """Show or hide a game in one lobby, whose lists show at most ``room`` games of an application."""
        shown = entry.game.encode(), entry.version, entry.variant.encode(), entry.app.encode(), entry.created_at
        limits = LOBBY_MS, room, MAX_IN_LOBBY, MAX_TRIMMED
        return bool(self._calls.write("lobby", lobby, *shown, *limits, entry.json or b"") == 1)

    def games(self, query: LobbyQuery) -> GamePage[bytes]:
        """Return a page of games, the newest first. Even an empty page can have a next one.

        The lobby for everybody shows at most the ``MAX_FOR_ALL`` newest games of an application, or the newest ones of
        the variant in the query. Raises ``ValueError`` for a ``cursor`` that no page had.
        """
        created, game = _from_cursor(query.cursor)
        entries, _, games = keys.lobby(query.app)
        listed = games if query.variant is None else b"%b:%b" % (games, query.variant.encode())
        arguments = created, game, query.limit, max(MAX_EXAMINED, query.limit)
        last_created, last_game, *rows = self._calls.read("lobby_games", (entries, listed), *arguments)
        return GamePage(rows, _next_cursor(last_created, last_game))


def _head(entry: IndexEntry, players: Sequence[bytes]) -> bytes:
    """Return the head of an entry, with the fields that scripts read; ``players`` are the digests of their refs."""
    return b"%b %d %b %b %b %b %d %d" % (
        _encode_position(entry.version, entry.write_id),
        entry.updated_at,
        entry.status.encode(),
        entry.variant.encode(),
        b"-" if entry.ref is None else keys.digest(entry.ref),
        b",".join(players) or b"-",
        entry.bytes,
        entry.expires_at,
    )


def _encode_position(version: int, write_id: str) -> bytes:
    """Return the version with which a head begins; ``write_id`` is empty if the id is unknown."""
    return b"%d %b" % (version, write_id.encode() or b"-")


def _from_cursor(cursor: str | None) -> tuple[bytes, bytes]:
    """Return the score and the id of a game as scripts expect them: both empty for the first page."""
    if cursor is None:
        return b"", b""
    score, game = decode_cursor(cursor)
    return b"%d" % score, game.encode()


def _next_cursor(score: bytes, game: bytes) -> str | None:
    return encode_cursor(int(float(score)), game.decode()) if game else None


_FEED_CURSOR: Final = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")
"""Milliseconds since 1970, and a number within the millisecond. Redis refuses ids with too many digits."""
_HIGHEST: Final = 10**18 - 1

ItemId = tuple[int, int]


class RedisFeed:
    """The feeds of the applications: the last ``FEED_ITEMS`` items of each. A cursor is a text, opaque to clients."""

    def __init__(self, calls: RedisCalls) -> None:
        self._calls = calls

    def read(self, app: str, after: str | None, limit: int) -> StoredItems:
        """Return at most ``limit`` items after a cursor, or from the oldest stored item without one.

        Raises ``ValueError`` for a text that is no cursor.
        """
        start = None if after is None else item_id(after)
        names = keys.part(b"feed", app), keys.part(b"index", app)
        first = b"" if start is None else b"%d-%d" % start
        oldest, newest, length, added, rows, pairs = self._calls.read("feed_read", names, first, limit)
        last = item_id(newest.decode())
        if start is not None:
            # After the newest dropped item nothing is lost. Its id is not stored, so the last possible id before the
            # oldest stored item stands for it.
            before = _predecessor(item_id(oldest.decode())) if length else last
            if added > length and start < before:
                return StoredItems((), cursor_of(before), {}, lost=True)
            if start > last:  # Redis has lost its last writes, or was restored from a backup
                return StoredItems((), cursor_of(last), {}, lost=True)
        stored = zip(rows[::3], rows[1::3], rows[2::3], strict=True)
        items = tuple([StoredItem(at.decode(), game.decode(), item) for at, game, item in stored])
        summaries = {game.decode(): summary for game, summary in zip(pairs[::2], pairs[1::2], strict=True)}
        return StoredItems(items, items[-1].cursor if items else cursor_of(last if start is None else start), summaries)

    def newest(self, app: str) -> str:
        """Return the cursor after the newest item."""
        return self.read(app, None, 0).cursor


def item_id(cursor: str) -> ItemId:
    """Return the id of the item with this cursor. Raises ``ValueError`` for a text that is no cursor."""
    match = _FEED_CURSOR.fullmatch(cursor)
    if match is None:
        raise ValueError("no cursor")
    return int(match[1]), int(match[2])


def cursor_of(item: ItemId) -> str:
    """Return the cursor of the item with this id."""
    return f"{item[0]}-{item[1]}"


def _predecessor(item: ItemId) -> ItemId:
    """Return the highest id below this one that a cursor can have."""
    milliseconds, number = item
    return (milliseconds, number - 1) if number else (max(milliseconds - 1, 0), _HIGHEST if milliseconds else 0)
