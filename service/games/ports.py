"""What hosting needs of the world: a store, a clock, fresh secrets.

Owns the shapes only. Who keeps a promise lives elsewhere: Redis and its memory twin in
``service.storage``, the clock and the luck of the operating system in ``service.bootstrap``.
Must not know: Redis, Flask, or any rule of a game.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol


class Stored(NamedTuple):
    """A game as the store has it: the number of its last event, and its state, opaque to the store."""

    version: int
    state: bytes


class StorageUnavailable(Exception):
    """The store cannot answer now (away, loading, full, read-only); nothing is known to have changed.

    ``reason`` is a word for the log, never for the client; ``retry_after`` is in whole seconds.
    """

    def __init__(self, reason: str, retry_after: int = 1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after


class GameExists(Exception):
    """A game is already kept under this id (ids have 128 bits, so this is a fault, not luck)."""


class Store(Protocol):
    """Keeps games. Every method answers within three seconds or raises ``StorageUnavailable``."""

    def create(self, game: str, state: bytes, events: Sequence[bytes]) -> None:
        """Keep a new game whose version is the number of its ``events``. Raises ``GameExists``."""

    def read(self, game: str) -> Stored | None:
        """The game as it is now, or ``None`` if there is none (never was, or has expired)."""

    def commit(self, game: str, expected: int, state: bytes, events: Sequence[bytes]) -> Stored | None:
        """Replace the state of a game that is still at version ``expected`` and append its new ``events``.

        The new version is ``expected + len(events)``; the expiry starts anew. All of it happens, or nothing.
        Returns ``None`` when done, else the game as it really is: somebody else was first.
        Raises ``KeyError`` if the game is gone.
        """

    def events(self, game: str, versions: Sequence[int]) -> list[bytes]:
        """The events of these versions (from 1), in the order asked; one that is not kept is left out."""

    def check(self) -> None:
        """Do one cheap read, as a game would be read; raises ``StorageUnavailable``."""


class Clock(Protocol):
    """Tells the time."""

    def __call__(self) -> datetime:
        """Now, in UTC, aware."""


class Secrets(Protocol):
    """Draws fresh random bytes from the operating system."""

    def __call__(self, size: int, /) -> bytes:
        """``size`` bytes nobody can guess."""
