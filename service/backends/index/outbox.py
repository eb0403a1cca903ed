"""The outbox of a game: publishes to its application what has happened in it, in the index, the feed and the lobby.

A write to a game of an application leaves a reminder in the same slot; what there is to publish are the events of the
game since the version that the index knows. Owns the order of these steps, by which nothing is lost or published twice
wherever this stops: each is done at least once, and the index accepts each step only from where it is.
"""

from __future__ import annotations

from time import monotonic
from typing import Final, NamedTuple

from service.backends.index.summaries import (
    deleted_entry,
    deleted_item,
    feed_items,
    index_entry,
    lobby_entry,
    not_in_lobby,
    owner_view,
)
from service.backends.ports import GameIndex, Lobby
from service.games.model.errors import Gone, NotFound
from service.games.model.game import Game
from service.games.model.game_events import GameEvent, HostingEvent
from service.games.ports import TimeSource
from service.games.store.cache import PublishedGame
from service.games.store.repository import GameRepository

PAGE: Final = 1000
"""Events that are published in one write to the index."""
LOBBY_REFRESH_MS: Final = 120_000
"""Milliseconds after which a game in the lobby is put there again."""
MAX_STEPS: Final = 5
"""Writes to the index for one game; after that others have their turn."""


class Publication(NamedTuple):
    """The result of publishing a game. Times in milliseconds since 1970.

    ``published_at``: the time of the write that was published to the index, ``None`` if it knew it. ``due``: whether an
    endpoint was made due. ``again``: when the game is to be looked at again, whatever happens in it.
    """

    published_at: int | None = None
    due: bool = False
    again: int | None = None


class Outbox:
    """Publishes games to their applications."""

    def __init__(self, repository: GameRepository, index: GameIndex, lobby: Lobby, clock: TimeSource) -> None:
        self._repository = repository
        self._index = index
        self._lobby = lobby
        self._clock = clock

    def publish(self, app: str, game_id: str) -> Publication:
        """Publish a game of this application up to its current version, or to its deletion.

        Nothing is to be done for a game that has expired, or that has no application. Raises
        ``StorageUnavailable`` and ``OutcomeUnknown``; then it is to be done again.
        """
        try:
            return self._publish(app, game_id)
        except NotFound:
            return Publication()
        except Gone as deleted:
            if not deleted.app:
                return Publication()
            return self._publish_deletion(game_id, deleted)

    def _publish(self, app: str, game_id: str) -> Publication:
        """As ``publish``, for a game that exists. Raises ``NotFound`` and ``Gone``."""
        published_at, due = None, False
        for _ in range(MAX_STEPS):
            position = self._index.position(app, game_id)
            # The event before those that are new says for a message who could move before them.
            stored = self._repository.histories.game_with_events(game_id, max(position.version - 1, 0), PAGE + 1)
            if stored is None:
                break
            game, events, size = stored
            if game.ownership is None or game.ownership.app != app:
                break
            if (position.version, position.write_id) == (game.version, game.write_id):
                return Publication(published_at, due, self._show(game))
            after, notified = position.version, None
            if after >= game.version:  # the version that the index knows is lost: the last event is published again
                after = notified = game.version - 1
                events = self._repository.histories.events_after(game, max(after - 1, 0), PAGE)
            if events and events[-1].version == game.version:
                self._repository.cache.published.put(game.id, PublishedGame(game, tuple(events), monotonic()))
            new = [event for event in events if event.version > after][:PAGE]
            view = owner_view(game)
            entry, items = index_entry(game, view, self._repository.lifetimes, size), feed_items(game, view, new)
            if new and new[-1].version < game.version:
                entry = entry._replace(version=new[-1].version, write_id="")
            if notified is not None or any([_changes_seats(envelope.event) for envelope in new]):
                self._hide(game)  # before the index knows it, so that it is done again if this stops here
            if self._index.put(app, entry, items, position.endpoints, position=position, notified=notified):
                published_at, due = game.updated_at, due or bool(position.endpoints)
                if entry.version == game.version:
                    return Publication(published_at, due, self._show(game))
        else:
            return Publication(published_at, due, self._clock())
        return Publication(published_at, due)

    def _hide(self, game: Game) -> None:
        """Hide a game in the lobbies if it has no open seats any more."""
        hidden = lobby_entry(game)
        if hidden is not None and hidden.json is None:
            self._lobby.put(hidden)

    def _publish_deletion(self, game_id: str, deleted: Gone) -> Publication:
        """Publish that a game was deleted, and remove what is known of it."""
        version, app, now = deleted.version, deleted.app, self._clock()
        self._lobby.put(not_in_lobby(game_id, app, version))  # first, as above
        for _ in range(MAX_STEPS):
            position = self._index.position(app, game_id)
            if (position.version, position.write_id) == (version, ""):
                return Publication()
            entry, items = deleted_entry(game_id, version, now), [deleted_item(game_id, version, now)]
            if self._index.put(app, entry, items, position.endpoints, position=position):
                return Publication(now, bool(position.endpoints))
        return Publication(again=now)

    def _show(self, game: Game) -> int | None:
        """Show a public game with open seats in lobbies; returns when that is to be done again."""
        entry = lobby_entry(game)
        if entry is None or entry.json is None or not self._lobby.put(entry):
            return None
        return self._clock() + LOBBY_REFRESH_MS


def _changes_seats(event: GameEvent) -> bool:
    """Return whether the game may have left the lobby with this event."""
    return isinstance(event, HostingEvent)
