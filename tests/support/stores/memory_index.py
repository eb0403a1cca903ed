"""The in-memory counterpart of the index of games and of the lobby in Redis.

The same contract tests run over both. Does not depend on Redis.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from threading import Lock, RLock
from time import time
from typing import NamedTuple

from service.backends.index.store import MAX_FOR_ALL, MAX_IN_LOBBY, decode_cursor, encode_cursor
from service.backends.ports import (
    FEED_ITEMS,
    LOBBY_MS,
    GameIndex,
    IndexEntry,
    IndexPage,
    IndexPosition,
    IndexQuery,
    Lobby,
    LobbyEntry,
    LobbyPage,
    LobbyQuery,
    Usage,
)

START = IndexPosition(0, "", ())


class MemoryIndex(GameIndex):
    """Keeps the index as ``RedisIndex`` does; ``now`` is a clock in seconds since 1970.

    ``items`` are those of the feed of each application, before which ``trimmed`` ones are no longer kept, ``endpoints``
    its active ones, ``due`` and ``told`` what is due to each of them: those who keep feeds and endpoints in memory use
    them, with the ``lock``. ``hint`` is called when a feed goes on, ``on_due`` with an application and its endpoint
    when that was made due at a time.
    """

    def __init__(
        self, ttl_seconds: int, now: Callable[[], float] = time, hint: Callable[[str], None] = lambda _: None
    ) -> None:
        self._ttl = ttl_seconds * 1000
        self._now = now
        self._hint = hint
        self._entries: dict[str, dict[str, IndexEntry]] = {}
        self.lock = RLock()
        self.on_due: Callable[[str, str, int], None] = lambda _app, _endpoint, _at: None
        self.items: dict[str, list[bytes]] = {}
        self.trimmed: dict[str, int] = {}
        self.endpoints: dict[str, set[str]] = {}
        self.due: dict[tuple[str, str], dict[str, int]] = {}
        self.notified: dict[tuple[str, str], dict[str, int]] = {}

    def position(self, app: str, game: str) -> IndexPosition:
        """The version of a game that the index knows."""
        with self.lock:
            endpoints = tuple(sorted(self.endpoints.get(app, ())))
            return self._position(app, game)._replace(endpoints=endpoints)

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
        """Replace what the index knows of a game."""
        with self.lock:
            if self._position(app, entry.game)[:2] != position[:2]:
                return False
            self._entries.setdefault(app, {})[entry.game] = entry
            self.items.setdefault(app, []).extend(items)
            self.trim(app, FEED_ITEMS)
            now = int(self._now() * 1000)
            for endpoint in self.endpoints.get(app, set()).intersection(endpoints):
                known = self.notified.setdefault((app, endpoint), {})
                known[entry.game] = known.get(entry.game, position.version) if notified is None else notified
                due = self.due.setdefault((app, endpoint), {})
                due[entry.game] = max(now, due.get(entry.game, 0) + 1)
                self.on_due(app, endpoint, due[entry.game])
        if items:
            self._hint(app)
        return True

    def remove(self, app: str, game: str, *, position: IndexPosition) -> bool:
        """Forget a game."""
        with self.lock:
            if self._position(app, game)[:2] != position[:2]:
                return False
            self._entries.get(app, {}).pop(game, None)
            return True

    def usage(self, app: str) -> Usage:
        """What is kept for an application."""
        with self.lock:
            entries, now = self._entries.get(app, {}).values(), int(self._now() * 1000)
            return Usage(
                sum(not each.deleted and each.expires_at > now for each in entries),
                sum(each.bytes for each in entries),
                sum(len(self.due.get((app, each), ())) for each in self.endpoints.get(app, ())),
            )

    def find(self, app: str, query: IndexQuery) -> IndexPage:
        """A page of the games of an application."""
        last = None if query.cursor is None else decode_cursor(query.cursor)
        with self.lock:
            now = int(self._now() * 1000)
            after = max(query.updated_after or 0, now - self._ttl)
            listed: list[tuple[int, str, IndexEntry]] = []
            for entry in self._entries.get(app, {}).values():
                score = _score(entry, query)
                if score is None or entry.deleted or entry.updated_at <= after or entry.expires_at <= now:
                    continue
                if _fits(entry, query):
                    listed.append((score, entry.game, entry))
        listed.sort(reverse=not query.waiting)
        if last is not None:
            listed = [each for each in listed if (each[:2] > last if query.waiting else each[:2] < last)]
        page, rest = listed[: query.limit], listed[query.limit :]
        entries = tuple([(entry.summary, entry.expires_at) for _, _, entry in page])
        return IndexPage(entries, encode_cursor(*page[-1][:2]) if rest else None)

    def summary(self, app: str, game: str) -> bytes | None:
        """What the index knows of a game."""
        entry = self._entries.get(app, {}).get(game)
        return None if entry is None else entry.summary

    def trim(self, app: str, most: int) -> None:
        """Keep only so many items of a feed."""
        items = self.items.get(app, [])
        over = max(len(items) - most, 0)
        del items[:over]
        self.trimmed[app] = self.trimmed.get(app, 0) + over

    def games(self, app: str, cursor: str | None) -> tuple[list[str], str | None]:  # all at once
        """All games that the index knows."""
        with self.lock:
            return list(self._entries.get(app, ())), None

    def _position(self, app: str, game: str) -> IndexPosition:
        entry = self._entries.get(app, {}).get(game)
        return START if entry is None else IndexPosition(entry.version, entry.write_id, ())


class _Shown(NamedTuple):
    entry: LobbyEntry
    until: float


class MemoryLobby(Lobby):
    """Keeps the lobbies as ``RedisLobby`` does; ``now`` is a clock in seconds since 1970."""

    def __init__(self, now: Callable[[], float] = time) -> None:
        self._now = now
        self._known: dict[str | None, dict[str, _Shown]] = {}
        self._lock = Lock()

    def put(self, entry: LobbyEntry) -> bool:
        """Show or hide a game."""
        with self._lock:
            return any([self._put(app, entry) for app in ([entry.app, None] if entry.for_all else [entry.app])])

    def _put(self, app: str | None, entry: LobbyEntry) -> bool:
        now = self._now()
        lobby = {game: each for game, each in self._known.get(app, {}).items() if each.until > now}
        self._known[app] = lobby
        known = lobby.get(entry.game)
        if known is not None and known.entry.version > entry.version:
            return False
        lobby[entry.game] = _Shown(entry, now + LOBBY_MS / 1000)
        own = [each for each in self._shown(app, None) if each.app == entry.app]
        for each in own[MAX_IN_LOBBY:]:
            del lobby[each.game]
        return entry in own[:MAX_IN_LOBBY]

    def games(self, query: LobbyQuery) -> LobbyPage:
        """A page of a lobby."""
        last = None if query.cursor is None else decode_cursor(query.cursor)
        with self._lock:
            shown = self._shown(query.app, query.variant)
        if query.app is None:
            count: Counter[str] = Counter()
            for each in list(shown):
                count[each.app] += 1
                if count[each.app] > MAX_FOR_ALL:
                    shown.remove(each)
        shown = [each for each in shown if last is None or (each.created_at, each.game) < last]
        page, rest = shown[: query.limit], shown[query.limit :]
        games = tuple([each.json for each in page if each.json is not None])
        return LobbyPage(games, encode_cursor(page[-1].created_at, page[-1].game) if rest else None)

    def _shown(self, app: str | None, variant: str | None) -> list[LobbyEntry]:
        """The games with open seats, the newest first."""
        now = self._now()
        known = self._known.get(app, {}).values()
        entries = [entry for entry, until in known if until > now and entry.json is not None]
        of_variant = [entry for entry in entries if variant in (None, entry.variant)]
        return sorted(of_variant, key=lambda each: (each.created_at, each.game), reverse=True)


def _score(entry: IndexEntry, query: IndexQuery) -> int | None:
    """By what the entry is ordered in this list; ``None`` if it is not in it."""
    if query.player_ref is None:
        return entry.updated_at
    for ref, urgency in entry.players:
        if ref == query.player_ref:
            return urgency if query.waiting else entry.updated_at
    return None


def _fits(entry: IndexEntry, query: IndexQuery) -> bool:
    return (
        query.ref in (None, entry.ref)
        and (not query.statuses or entry.status in query.statuses)
        and query.variant in (None, entry.variant)
    )
