"""The events of the running rounds of the games in which this process plays.

Owns a bounded cache, so that a decision reads only what is newer than the last one. Does not depend on who may know
what: the events are the true ones.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import partial, reduce
from typing import Final, NamedTuple

from service.bounded_cache import BoundedCache
from service.engine.events import Event
from service.engine.layout import Layout
from service.engine.replay import layout_after
from service.games.model.game import Game
from service.games.model.game_events import GameEvent, HostingEvent
from service.games.store.history import from_last_deal
from service.games.store.repository import GameRepository
from service.games.store.transactions import Committed

SIZE: Final = 2000
"""Games in the cache."""


class _Known(NamedTuple):
    """The events of a round up to a version, and the table after them; ``None`` if they cannot have happened."""

    version: int
    events: tuple[Event, ...]
    layout: Layout | None

    def followed_by(self, game: Game, newer: Sequence[GameEvent]) -> _Known:
        """With the events from here to the version of the game."""
        layout = reduce(partial(layout_after, game.rules), newer, self.layout)
        events = [each for each in from_last_deal([*self.events, *newer]) if not isinstance(each, HostingEvent)]
        return _Known(game.version, tuple(events), layout)


class RoundEvents:
    """The events of running rounds."""

    def __init__(self, repository: GameRepository) -> None:
        self._repository = repository
        self._known = BoundedCache[str, _Known](SIZE)

    def of(self, game: Game) -> tuple[Event, ...]:
        """Return the events of the running round from its deal on, up to the version of the game.

        Raises ``StorageUnavailable`` and ``NotFound``.
        """
        known = self._known.get(game.id)
        if known is not None and known.version < game.version:
            known = known.followed_by(game, self._repository.events_between(game, known.version, game.version))
        if known is None or known.version != game.version or known.layout != game.state.layout:
            # The first look, or a failover has lost moves: then another history has led to this version.
            events = self._repository.events_of_round(game, game.version)
            known = _Known(0, (), None).followed_by(game, events)
        self._keep(game, known)
        return known.events

    def add(self, before: Game, committed: Committed) -> None:
        """Add the events of a write of this process to those that were read up to the version before it."""
        known = self._known.get(before.id)
        if known is not None and known.version == before.version:
            self._keep(committed.after, known.followed_by(committed.after, committed.events))

    def forget(self, games: Container[str]) -> None:
        """Drop the events of these games."""
        self._known.drop(lambda game, _: game in games)

    def _keep(self, game: Game, known: _Known) -> None:
        if game.status == "finished":
            self._known.pop(game.id)
        else:
            self._known.put(game.id, known)
