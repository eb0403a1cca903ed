"""Admission: charge the bytes of writes to the tenant of the game, and refuse or defer writes beyond its share."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

from service.games.model.game import Game
from service.games.model.schedule import Lifetimes
from service.games.ports import Deferred, IdempotencyRecord, RunLater
from service.limits.stored_bytes import UNLIMITED, Shares, ShareUsedUp, Tenant
from service.redis.errors import StorageUnavailable

RESERVED_BYTES: Final = 168
"""Bytes of an idempotency record, or of a reserved id: name, value and expiry."""
DEFER_SECONDS: Final = 60
"""Seconds by which a write is deferred if no person waits for it."""
GROWTH: Final = 16
"""The number of events after which the growth of a game is counted."""

_GAME_BYTES: Final = 350
"""Bytes of a game without its state and events: two keys with their expiry, its reminders, and its entry in the index
of all games."""
_OWNED_BYTES: Final = 500
"""Bytes of the game of an application in the index of the application."""
_PLAYER_BYTES: Final = 120
"""Bytes of each player in that index, without the name."""
_REF_BYTES: Final = 330
"""Bytes of each ref of a game or a player in that index."""
_EVENT_BYTES: Final = 24
"""Bytes that the store adds to an event: the id of the write, a checksum, and the overhead of the list."""
_ITEM_BYTES: Final = 250
"""Bytes of an event in the feed of an application."""


class StoragePolicy(NamedTuple):
    """How long games live, and the shares in which their bytes count.

    ``automatic``: whether the process serves no requests, so that no request waits for a write.
    """

    lifetimes: Lifetimes
    shares: Shares = UNLIMITED
    automatic: bool = False


class Admission:
    """Counts the writes of games in ``shares``; ``automatic`` as in ``StoragePolicy``."""

    def __init__(self, shares: Shares, run_later: RunLater, *, automatic: bool) -> None:
        self._shares = shares
        self._run_later = run_later
        self._automatic = automatic

    def reserve(self, tenant: Tenant) -> None:
        """Count the reservation of an id for a new game. Raises ``ShareUsedUp``."""
        self._shares.charge(tenant, RESERVED_BYTES)

    def create(self, game: Game, state: bytes, events: Sequence[bytes], record: IdempotencyRecord | None) -> int:
        """Count a new game; return its bytes. Raises ``ShareUsedUp``."""
        size = _size_of_game(game, state, events, record)
        self._shares.charge(tenant_of(game), size)
        return size

    def give_back(self, game: Game, size: int) -> None:
        """Refund the bytes of a new game that was not stored."""
        self._shares.count(tenant_of(game), -size)

    def write(self, game: Game, events: Sequence[bytes], record: IdempotencyRecord | None) -> None:
        """Admit a write with this new state of a game; called only while the store has little memory left.

        Raises ``ShareUsedUp``, or ``Deferred`` in a process that serves no requests.
        """
        if self._automatic:
            self.check_awaited(game)
        try:
            self._shares.admit(tenant_of(game), _size_of_write(game, events, record))
        except ShareUsedUp as error:
            if self._automatic:
                raise Deferred("share", min(error.retry_after, DEFER_SECONDS)) from None
            raise

    def check_awaited(self, game: Game) -> None:
        """Raise ``Deferred`` for a game for which no person waits, while the store has only its memory reserve left."""
        if self._shares.is_reserved and not game.is_awaited:
            raise Deferred("memory reserve", DEFER_SECONDS)

    def count_growth(self, game: Game, events: Sequence[bytes], record: IdempotencyRecord | None) -> None:
        """Count ``GROWTH`` events of a game in the background, each with the average size of ``events``."""
        self.count(game, _size_of_write(game, events, record) * GROWTH // len(events))

    def take(self, game: Game, size: int) -> None:
        """Count ``size`` bytes of new data of a game, such as a review. Raises ``ShareUsedUp``."""
        self._shares.charge(tenant_of(game), size)

    def count(self, game: Game, size: int) -> None:
        """Count ``size`` bytes in the background, even beyond the share of the tenant."""
        self._run_later(partial(self._count, tenant_of(game), size))

    def _count(self, tenant: Tenant, size: int) -> None:
        with suppress(StorageUnavailable):
            self._shares.count(tenant, size)


def tenant_of(game: Game) -> Tenant:
    """Return the tenant whose share the game counts in."""
    return Tenant(game.tenant, is_app=game.ownership is not None)


def _size_of_game(game: Game, state: bytes, events: Sequence[bytes], record: IdempotencyRecord | None) -> int:
    """Return an upper estimate of the bytes that Redis needs for a new game."""
    allocated = len(state) * 9 // 8  # Redis allocates up to a fifth more than it needs; an eighth is added
    size = _GAME_BYTES + allocated + _size_of_write(game, events, record)
    if game.ownership is None:
        return size
    names = sum([len((seat.name or "").encode()) for seat in game.seats])
    refs = sum([seat.ref is not None for seat in game.seats]) + (game.ownership.ref is not None)
    return size + _OWNED_BYTES + _PLAYER_BYTES * len(game.seats) + names + _REF_BYTES * refs


def _size_of_write(game: Game, events: Sequence[bytes], record: IdempotencyRecord | None) -> int:
    each = _EVENT_BYTES if game.ownership is None else _EVENT_BYTES + _ITEM_BYTES
    return sum(map(len, events)) + each * len(events) + (0 if record is None else RESERVED_BYTES)
