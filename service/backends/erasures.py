"""Erases people of applications from all their games.

Owns the order of the steps, and when a person counts as erased. The games of a person are found in the index, which
follows the games; one that was created just before the request may not be there yet. So when the index has none left,
all games that the outbox has not published at that time are published: whatever existed then is in the index
afterwards. If the index still has none, the person is erased; else all of this is done again. A game that cannot be
read may have the person, so while there is one nobody counts as erased, but all others are erased from. Every step may
be done twice, or by two processes at once, and nothing is kept but the request: a process that is killed has the
application looked at again. Does not depend on who asks, nor on what erasing does to a game
(``service.games.commands.erasure``).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

import orjson

from service.backends.index.outbox import Outbox
from service.backends.ports import Erasure, ErasureStore, GameIndex, IndexQuery
from service.games.commands.erasure import NothingToErase, decide_to_erase
from service.games.model.errors import Gone, NotFound
from service.games.ports import Unreadable
from service.games.reminders import ReminderQueue
from service.games.store.repository import GameRepository
from service.redis.errors import OutcomeUnknown, StorageUnavailable

MAX_GAMES: Final = 50
"""Games that are erased from, or published, before others have their turn."""

_log = logging.getLogger(__name__)


class UnreadableGames(Exception):
    """People are erased from all games that can be read, and do not count as erased because of the others."""


class _Round:
    """People of whom the index has no readable game, and the games that have to be published before that counts.

    ``unreadable`` are those that could not be read so far.
    """

    def __init__(self, pending: Sequence[Erasure], games: list[str], unreadable: set[str]) -> None:
        self.pending = pending
        self.games = games
        self.unreadable = unreadable


class Erasures:
    """The erasures in a store. ``on_erased`` has every process drop what it keeps of a game.

    Raises ``StorageUnavailable`` and ``OutcomeUnknown``; then it is to be called again.
    """

    def __init__(
        self,
        store: ErasureStore,
        repository: GameRepository,
        index: GameIndex,
        outbox: Outbox,
        *,
        reminders: ReminderQueue,
        on_erased: Callable[[str], None],
    ) -> None:
        self._store = store
        self._repository = repository
        self._index = index
        self._outbox = outbox
        self._reminders = reminders
        self._on_erased = on_erased
        self._rounds: dict[str, _Round] = {}

    def go_on(self, app: str) -> bool:
        """Do a part of what is to be done for an application; returns whether there is more.

        Raises ``UnreadableGames`` when nothing more can be done for now.
        """
        pending = self._store.pending(app)
        if not pending:
            self._rounds.pop(app, None)
            return False
        current = self._rounds.get(app)
        if current is None:
            erased, unreadable = self._erase_from_listed(app, pending)
            if erased:
                return True
            current = self._rounds[app] = _Round(pending, self._reminders.reminded("outbox", app), unreadable)
        for _ in range(min(MAX_GAMES, len(current.games))):
            game = current.games[-1]
            if not self._try(partial(self._publish_own, app, game)):
                current.unreadable.add(game)
            current.games.pop()
        if not current.games:
            del self._rounds[app]
            self._end(app, current)
        return True

    def _end(self, app: str, ended: _Round) -> None:
        """Note who is erased. Raises ``UnreadableGames`` if nobody is, and no other game of theirs was found."""
        unreadable = ended.unreadable
        remaining = [
            erasure
            for erasure in ended.pending
            if any(game not in unreadable for game in self._listed(app, erasure.ref))
        ]
        if unreadable and not remaining:
            raise UnreadableGames(len(unreadable))
        for erasure in ended.pending:
            if erasure not in remaining and not unreadable:
                self._store.done(app, erasure)

    def _erase_from_listed(self, app: str, pending: Sequence[Erasure]) -> tuple[int, set[str]]:
        """Erase these people from some games that the index knows; returns of how many, and those it could not read."""
        erased, unreadable = 0, set[str]()
        for erasure in pending:
            for game in self._listed(app, erasure.ref):
                if erased == MAX_GAMES:
                    return erased, unreadable
                if self._try(partial(self._erase, app, erasure.ref, game)):
                    erased += 1
                else:
                    unreadable.add(game)
        return erased, unreadable

    def _try(self, work: Callable[[], None]) -> bool:
        """Do something with one game; whether the game could be read.

        A fault of the store is one of all games, and is raised.
        """
        try:
            work()
        except Unreadable:
            return False
        except (StorageUnavailable, OutcomeUnknown):
            raise
        except Exception:
            _log.exception("a game from which somebody may be to be erased could not be read")
            return False
        return True

    def _publish_own(self, app: str, game_id: str) -> None:
        """Publish a game if it is one of this application; those of others are published in their time."""
        try:
            game = self._repository.reader.load(game_id)
            owner = None if game is None or game.ownership is None else game.ownership.app
        except Gone as deleted:
            owner = deleted.app
        if owner == app:
            self._outbox.publish(app, game_id)

    def _listed(self, app: str, ref: str) -> Iterator[str]:
        """Yield the games of a person, as the index knows them."""
        query = IndexQuery(player_ref=ref, limit=MAX_GAMES)
        while True:
            page = self._index.find(app, query)
            yield from [orjson.loads(summary)["id"] for summary, _ in page.entries]
            if page.next is None:
                return
            query = query._replace(cursor=page.next)

    def _erase(self, app: str, ref: str, game_id: str) -> None:
        """Erase a person from a game, and from what the index knows of it."""
        try:
            game = self._repository.reader.load(game_id)
            if game is None:  # it has expired, or was lost
                self._index.remove(app, game_id, position=self._index.position(app, game_id))
                return
            with suppress(NothingToErase):  # it is done already, but perhaps nothing of what follows
                self._repository.transactions.transact(game, partial(decide_to_erase, ref), weighed=False)
            self._on_erased(game_id)
        except (NotFound, Gone):
            pass
        self._outbox.publish(app, game_id)
