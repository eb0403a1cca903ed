"""Admission: what a write weighs in the share of who holds the game, and what is said of one that finds no room.

Owns the estimate of the bytes that the store needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

from service.games.model.errors import ShareUsedUp
from service.games.model.game import Game, Ownership
from service.games.model.schedule import Lifetimes
from service.games.ports import Deferred, IdempotencyRecord, RunLater
from service.limits.stored_bytes import UNLIMITED, Shares, ShareUsed, Tenant
from service.redis.errors import StorageUnavailable

RESERVED_BYTES: Final = 168
"""Bytes of an idempotency record, or of an id that is reserved under a key: name, value and expiry."""
DEFER_SECONDS: Final = 60
"""Seconds for which a write that nobody waits for is deferred."""
GROWTH: Final = 16
"""The number of events after which writes to a game are counted together."""

_GAME_BYTES: Final = 350
"""Bytes of a game beside its state and events: two keys with their expiry, its reminders, and its place in the index
of all games."""
_OWNED_BYTES: Final = 500
"""Bytes of a game of an application in its index."""
_PLAYER_BYTES: Final = 120
"""Bytes of each of its players there, beside the name."""
_REF_BYTES: Final = 330
"""Bytes of the list of a ref of a game or a player there, or of the place in it."""
_EVENT_BYTES: Final = 24
"""Bytes of an event beside its own: the id of the write, its checksum, and its place in the list."""
_ITEM_BYTES: Final = 250
"""Bytes of an event of a game of an application in the feed."""


class Keeping(NamedTuple):
    """The lifetimes of games, and the shares in which their bytes count.

    ``automatic``: no request waits for what is written.
    """

    lifetimes: Lifetimes
    shares: Shares = UNLIMITED
    automatic: bool = False


class Admission:
    """Counts the writes of games in ``shares``; ``automatic`` in a process whose writes no request waits for."""

    def __init__(self, shares: Shares, run_later: RunLater, *, automatic: bool) -> None:
        self._shares = shares
        self._run_later = run_later
        self._automatic = automatic

    def reserve(self, tenant: Tenant) -> None:
        """Count an id that is reserved for a new game. Raises ``ShareUsedUp``."""
        self._taken(tenant, RESERVED_BYTES)

    def create(self, game: Game, state: bytes, events: Sequence[bytes], record: IdempotencyRecord | None) -> int:
        """Count a new game; returns its bytes. Raises ``ShareUsedUp``."""
        size = size_of_game(game, state, events) + (0 if record is None else RESERVED_BYTES)
        self._taken(tenant_of(game), size)
        return size

    def give_back(self, game: Game, size: int) -> None:
        """Give back the share of a new game that was not stored."""
        self._shares.give_back(tenant_of(game), size)

    def write(self, game: Game, events: Sequence[bytes], record: IdempotencyRecord | None) -> None:
        """Admit a write that leads to this game, as there is little memory left.

        Raises ``ShareUsedUp``, or ``Deferred`` in a process whose writes no request waits for.
        """
        if self._automatic:
            self.check_awaited(game)
        try:
            self._shares.admit(tenant_of(game), _size_of_write(game, events, record))
        except ShareUsed as error:
            if self._automatic:
                raise Deferred("share", min(error.retry_after, DEFER_SECONDS)) from None
            raise ShareUsedUp(error.retry_after) from None

    def check_awaited(self, game: Game) -> None:
        """Raise ``Deferred`` for a game that nobody waits for, while only the reserve of the store is left."""
        if self._shares.is_reserved and not game.is_awaited:
            raise Deferred("memory reserve", DEFER_SECONDS)

    def grown(self, game: Game, events: Sequence[bytes], record: IdempotencyRecord | None) -> None:
        """Count, in the background, that a game has grown by ``GROWTH`` events like these."""
        size = _size_of_write(game, events, record) * GROWTH // len(events)
        self.count(game, size)

    def take(self, game: Game, size: int) -> None:
        """Count so many bytes of something new that is kept beside a game. Raises ``ShareUsedUp``."""
        self._taken(tenant_of(game), size)

    def count(self, game: Game, size: int) -> None:
        """As ``take``, but in the background, and whether there is room or not."""
        self._run_later(partial(self._count, tenant_of(game), size))

    def _taken(self, tenant: Tenant, size: int) -> None:
        try:
            self._shares.take(tenant, size)
        except ShareUsed as error:
            raise ShareUsedUp(error.retry_after) from None

    def _count(self, tenant: Tenant, size: int) -> None:
        with suppress(StorageUnavailable):
            self._shares.count(tenant, size)


def tenant_of(game: Game) -> Tenant:
    """Whose share the game counts in."""
    return Tenant(game.tenant, is_app=game.ownership is not None)


def size_of_game(game: Game, state: bytes, events: Sequence[bytes]) -> int:
    """Return the bytes that a store needs for a new game: about those that Redis uses, or some more."""
    allocated = len(state) * 9 // 8  # up to a fifth more than the state itself, as sizes come in steps
    size = _GAME_BYTES + allocated + _size_of_events(game, events)
    return size if game.ownership is None else size + _size_in_index(game, game.ownership)


def _size_in_index(game: Game, ownership: Ownership) -> int:
    names = sum([len((seat.name or "").encode()) for seat in game.seats])
    refs = sum([seat.ref is not None for seat in game.seats]) + (ownership.ref is not None)
    return _OWNED_BYTES + _PLAYER_BYTES * len(game.seats) + names + _REF_BYTES * refs


def _size_of_write(game: Game, events: Sequence[bytes], record: IdempotencyRecord | None) -> int:
    return _size_of_events(game, events) + (0 if record is None else RESERVED_BYTES)


def _size_of_events(game: Game, events: Sequence[bytes]) -> int:
    each = _EVENT_BYTES if game.ownership is None else _EVENT_BYTES + _ITEM_BYTES
    return sum([len(event) for event in events]) + each * len(events)
