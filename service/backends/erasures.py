"""Erases people of applications from all their games.

Owns the order of the steps, and the condition under which an erasure is done:

1. Erase the person from all games that the index lists for the person. The index follows the games with a delay, so it
   may lack a game that was created just before the request.
2. When the index lists none, publish all games that are in the outbox at that time. Now the index has every game that
   existed then.
3. If the index still lists none, the erasure is done. Otherwise begin again.

A game that cannot be read may contain the person. While there is such a game, no erasure is done, but people are erased
from all other games. Every step can be repeated, or run in two processes at once. Only the requests are stored: if a
process is killed, another one begins again at step 1. Does not depend on who requests an erasure, nor on how a person
is erased from a game (``service.games.commands.erasure``).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Final, NamedTuple

import orjson

from service.backends.index.store import RedisIndex
from service.backends.outbox import Outbox
from service.backends.store import RedisErasures
from service.backends.values import Erasure, IndexQuery
from service.games.commands.erasure import NothingToErase, decide_to_erase
from service.games.model.errors import Gone, NotFound
from service.games.ports import Unreadable
from service.games.reminders import ReminderQueue
from service.games.store.repository import GameRepository
from service.redis.errors import OutcomeUnknown, StorageUnavailable

MAX_GAMES: Final = 50
"""Games to change or to publish before another application has its turn."""

_log = logging.getLogger(__name__)


class UnreadableGames(Exception):
    """Some games cannot be read, so no erasure can be done. From all other games the people were erased."""


class _Round(NamedTuple):
    """The state of step 2.

    ``pending``: erasures of people for whom the index lists no readable game.
    ``games``: the games that still have to be published.
    ``unreadable``: the games that could not be read so far.
    """

    pending: Sequence[Erasure]
    games: list[str]
    unreadable: set[str]


@dataclass(eq=False, repr=False)
class Erasures:
    """The erasures in a store. ``on_erased`` makes every process drop a game from its caches.

    Raises ``StorageUnavailable`` and ``OutcomeUnknown``; the caller has to try again.
    """

    store: RedisErasures
    repository: GameRepository
    index: RedisIndex
    outbox: Outbox
    _: KW_ONLY
    reminders: ReminderQueue
    on_erased: Callable[[str], None]
    _rounds: dict[str, _Round] = field(default_factory=dict, init=False)

    def advance(self, app: str) -> bool:
        """Carry out a part of the pending erasures of an application. Return whether there is more to do.

        Raises ``UnreadableGames`` when only games are left that cannot be read.
        """
        pending = self.store.pending(app)
        if not pending:
            self._rounds.pop(app, None)
            return False
        current = self._rounds.get(app)
        if current is None:  # step 1
            erased, unreadable = self._erase_from_listed(app, pending)
            if erased:
                return True
            current = self._rounds[app] = _Round(pending, self.reminders.reminded("outbox", app), unreadable)
        for _ in range(min(MAX_GAMES, len(current.games))):  # step 2
            game = current.games[-1]
            if not self._try(partial(self.outbox.publish, app, game)):
                current.unreadable.add(game)
            current.games.pop()
        if not current.games:
            del self._rounds[app]
            self._complete(app, current)
        return True

    def _complete(self, app: str, published: _Round) -> None:
        """Do step 3. Raises ``UnreadableGames`` if only unreadable games prevent it."""
        pending, _, unreadable = published
        erased = [erasure for erasure in pending if all(game in unreadable for game in self._listed(app, erasure.ref))]
        if not unreadable:
            for erasure in erased:
                self.store.done(app, erasure)
        elif len(erased) == len(pending):
            raise UnreadableGames(len(unreadable))

    def _erase_from_listed(self, app: str, pending: Sequence[Erasure]) -> tuple[int, set[str]]:
        """Erase people from at most ``MAX_GAMES`` games; return the number of games, and the unreadable ones."""
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

    def _try(self, work: Callable[[], object]) -> bool:
        """Call ``work``, which reads a game; return whether the game could be read.

        Faults of the store are raised, as they concern all games.
        """
        try:
            work()
        except Unreadable:
            return False
        except (StorageUnavailable, OutcomeUnknown):
            raise
        except Exception:
            _log.exception("a game could not be read while people were erased")
            return False
        return True

    def _listed(self, app: str, ref: str) -> Iterator[str]:
        """Yield the ids of the games that the index lists for a person."""
        query = IndexQuery(player_ref=ref, limit=MAX_GAMES)
        while True:
            page = self.index.find(app, query)
            yield from [orjson.loads(summary)["id"] for summary, _ in page.games]
            if page.next is None:
                return
            query = query._replace(cursor=page.next)

    def _erase(self, app: str, ref: str, game_id: str) -> None:
        """Erase a person from a game and from its index entry."""
        try:
            game = self.repository.reader.load(game_id)
            if game is None:  # it has expired or was lost
                self.index.remove(app, game_id, position=self.index.position(app, game_id))
                return
            with suppress(NothingToErase):  # an earlier attempt may have stopped after this line
                self.repository.transactions.transact(game, partial(decide_to_erase, ref), limited=False)
            self.on_erased(game_id)
        except (NotFound, Gone):
            pass
        self.outbox.publish(app, game_id)
