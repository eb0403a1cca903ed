"""Publishes the events of games to their applications: in the index, the feed and the lobbies, and to endpoints.

A write to a game of an application also sets a reminder in the same slot. The events to publish are those after the
version in the index. Owns the order of the steps. After a crash at any point nothing is lost or published twice: every
step is repeated until it succeeds, and the index accepts a write only at the version from which it was made. Does not
depend on how messages are delivered (``service.backends.webhooks.deliveries``).
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import Final, NamedTuple

from service.backends.index.store import RedisIndex, RedisLobby
from service.backends.index.summaries import (
    deleted_entry,
    deleted_item,
    feed_item,
    index_entry,
    lobby_entry,
    not_in_lobby,
)
from service.backends.values import IndexEntry, IndexPosition
from service.backends.webhooks.messages import DELETED, reported_events
from service.bounded_cache import BoundedCache
from service.games.model.errors import Gone, NotFound
from service.games.model.game import Game
from service.games.model.game_events import EventEnvelope, HostingEvent
from service.games.ports import TimeSource
from service.games.store.cache import PublishedGame
from service.games.store.repository import GameRepository

PAGE: Final = 1000
"""Events in one write to the index."""
LOBBY_REFRESH_MS: Final = 120_000
"""Milliseconds after which a game in a lobby is put there again."""
MAX_STEPS: Final = 5
"""Writes to the index for one game before other games have their turn."""
_POSITIONS: Final = 10_000
"""Games whose positions in the index are kept in memory."""


class Publication(NamedTuple):
    """The result of publishing a game. Times in milliseconds since 1970.

    ``published_at``: the time of the write that was published; ``None`` if the index had it already.
    ``due``: whether an endpoint became due.
    ``again``: when the game has to be published again even without another write; ``None`` for never.
    """

    published_at: int | None = None
    due: bool = False
    again: int | None = None


class Outbox:
    """Publishes games to their applications."""

    def __init__(self, repository: GameRepository, index: RedisIndex, lobby: RedisLobby, clock: TimeSource) -> None:
        self._repository = repository
        self._index = index
        self._lobby = lobby
        self._clock = clock
        self._positions = BoundedCache[str, IndexPosition](_POSITIONS)
        """The position of each game in the index after this process has published it.

        Another process may have published it since; the write to the index compares. Then all positions are dropped, as
        most of them would be outdated while several processes publish.
        """

    def publish(self, app: str, game_id: str) -> Publication:
        """Publish a game of this application up to its current version, or its deletion.

        Does nothing for a game that has expired or belongs to no application. Raises ``StorageUnavailable`` and
        ``OutcomeUnknown``; the caller has to try again.
        """
        try:
            return self._publish(app, game_id)
        except NotFound:
            return Publication()
        except Gone as deleted:
            return self._publish_deletion(game_id, deleted) if deleted.app else Publication()

    def _publish(self, app: str, game_id: str) -> Publication:
        """Publish a game that exists. Raises ``NotFound`` and ``Gone``."""
        published_at, due = None, False
        known = self._positions.get(game_id)
        for _ in range(MAX_STEPS):
            position = known or self._index.position(app, game_id)
            # Read from one event earlier: messages about the new events need the seats that could move before them.
            stored = self._repository.histories.game_with_events(game_id, max(position.version - 1, 0), PAGE + 1)
            if stored is None:
                return Publication(published_at, due)
            game, events, size = stored
            if game.ownership is None or game.ownership.app != app:
                return Publication(published_at, due)
            if (position.version, position.write_id) == (game.version, game.write_id):
                if position is known:  # read the index: a failover may have lost what this process has written
                    known = None
                    continue
                return Publication(published_at, due, self._show(game))
            entry, items, types, notified = self._page(game, events, size, position)
            endpoints = self._index.put(app, entry, items, types, position=position, notified=notified)
            if endpoints is None:  # another process has published the game: read it again
                known = None
                self._positions.drop(lambda *_: True)
                continue
            known = IndexPosition(entry.version, entry.write_id)
            self._positions.put(game_id, known)
            published_at, due = game.updated_at, due or bool(endpoints)
            if entry.version == game.version:
                return Publication(published_at, due, self._show(game))
        return Publication(published_at, due, self._clock())

    def _page(
        self, game: Game, events: Sequence[EventEnvelope], size: int, position: IndexPosition
    ) -> tuple[IndexEntry, list[bytes], set[str], int | None]:
        """Return what ``RedisIndex.put`` writes about at most ``PAGE`` events after ``position``.

        ``size``: the bytes of the stored game. Also stores the game for the messages about it, and hides it in the
        lobbies if it has no open seats any more.
        """
        after, notified = position.version, None
        if after >= game.version:  # the store has lost writes: the last event is published again
            after = notified = game.version - 1
            events = self._repository.histories.events_after(game, max(after - 1, 0), PAGE)
        if events and events[-1].version == game.version:
            self._repository.cache.published.put(game.id, PublishedGame(game, tuple(events), monotonic()))
        new = [event for event in events if event.version > after][:PAGE]
        entry = index_entry(game, self._repository.lifetimes, size)
        items = [feed_item(game, event) for event in new]
        if new and new[-1].version < game.version:  # the rest follows in the next step
            entry = entry._replace(version=new[-1].version, write_id="")
        if notified is not None or any([isinstance(envelope.event, HostingEvent) for envelope in new]):
            self._hide(game)  # before the write to the index: after a crash in between, both are done again
        before = events[0].to_act if events and events[0].version <= after else ()
        return entry, items, {kind for kind, _ in reported_events(game, before, new)}, notified

    def _hide(self, game: Game) -> None:
        """Hide a game in the lobbies if it has no open seats any more."""
        hidden = lobby_entry(game)
        if hidden is not None and hidden.json is None:
            self._lobby.put(hidden)

    def _publish_deletion(self, game_id: str, deleted: Gone) -> Publication:
        """Publish that a game was deleted, and remove it from lobbies and lists."""
        version, app, now = deleted.version, deleted.app, self._clock()
        self._lobby.put(not_in_lobby(game_id, app, version))  # before the index, as ``_hide``
        for _ in range(MAX_STEPS):
            position = self._index.position(app, game_id)
            if (position.version, position.write_id) == (version, ""):
                return Publication()
            entry, items = deleted_entry(game_id, version, now), [deleted_item(game_id, version, now)]
            endpoints = self._index.put(app, entry, items, (DELETED,), position=position)
            if endpoints is not None:
                return Publication(now, bool(endpoints))
        return Publication(again=now)

    def _show(self, game: Game) -> int | None:
        """Put a public game with open seats into lobbies. Return when that has to be repeated."""
        entry = lobby_entry(game)
        if entry is None or entry.json is None or not self._lobby.put(entry):
            return None
        return self._clock() + LOBBY_REFRESH_MS
