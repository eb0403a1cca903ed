"""Erases people of applications from all their games.

Owns the order of the steps, and when a person counts as erased. The games of a person are found in the index, which
follows the games; one that was created just before the request may not be there yet. So when the index has none left,
all games that the outbox has not told of at that time are followed: whatever existed then is in the index afterwards.
If the index still has none, the person is erased; else all of this is done again. Every step may be done twice, or by
two processes at once, and nothing is kept but the request: whoever is killed has the application looked at again. Does
not depend on who asks, nor on what erasing does to a game (``service.games.commands.erasure``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

import orjson

from service.backends.index.outbox import Outbox
from service.backends.ports import Erasure, ErasureStore, GameIndex, IndexQuery
from service.games.commands.erasure import NothingToErase, decide_to_erase
from service.games.model.errors import Gone, NotFound
from service.games.ports import ReminderQueue
from service.games.store.repository import GameRepository

MOST_GAMES: Final = 50
"""Games that are erased from, or followed, before others have their turn."""


class _Round(NamedTuple):
    """People of whom the index has no game any more, and the games that have to be followed before that counts."""

    pending: Sequence[Erasure]
    games: list[str]


class Erasures:
    """The erasures in a store. ``note`` has every process drop what it keeps of a game.

    Every method raises ``StorageUnavailable`` and ``OutcomeUnknown``; then it is to be called again.
    """

    def __init__(
        self,
        store: ErasureStore,
        repository: GameRepository,
        index: GameIndex,
        outbox: Outbox,
        *,
        reminders: ReminderQueue,
        note: Callable[[str], None],
    ) -> None:
        self._store = store
        self._repository = repository
        self._index = index
        self._outbox = outbox
        self._reminders = reminders
        self._note = note
        self._rounds: dict[str, _Round] = {}

    def go_on(self, app: str) -> bool:
        """Do a part of what is to be done for an application; returns whether there is more."""
        pending = self._store.pending(app)
        if not pending:
            self._rounds.pop(app, None)
            return False
        current = self._rounds.get(app)
        if current is None:
            if self._erase_from_listed(app, pending):
                return True
            current = self._rounds[app] = _Round(pending, self._reminders.reminded("outbox"))
        for _ in range(min(MOST_GAMES, len(current.games))):
            self._outbox.follow(current.games[-1])
            current.games.pop()
        if not current.games:
            del self._rounds[app]
            for each in current.pending:
                if not self._listed(app, each.ref, 1):
                    self._store.done(app, each)
        return True

    def _erase_from_listed(self, app: str, pending: Sequence[Erasure]) -> bool:
        """Erase these people from some games that the index knows; returns whether there were any."""
        left = MOST_GAMES
        for each in pending:
            games = self._listed(app, each.ref, left)
            for game in games:
                self._erase(app, each.ref, game)
            left -= len(games)
            if not left:
                break
        return left < MOST_GAMES

    def _listed(self, app: str, ref: str, limit: int) -> list[str]:
        """Some of the games of a person, as the index knows them."""
        page = self._index.find(app, IndexQuery(player_ref=ref, limit=limit))
        return [orjson.loads(summary)["id"] for summary, _ in page.entries]

    def _erase(self, app: str, ref: str, game_id: str) -> None:
        """Erase a person from a game, and from what the index knows of it."""
        try:
            game = self._repository.load(game_id)
            if game is None:  # it has expired, or was lost
                self._index.remove(app, game_id, position=self._index.position(app, game_id))
                return
            with suppress(NothingToErase):  # it is done already, but perhaps nothing of what follows
                self._repository.transact(game, partial(decide_to_erase, ref))
            self._note(game_id)
        except (NotFound, Gone):
            pass
        self._outbox.follow(game_id)
