"""The twin of the Redis store: the same promises kept in the memory of one process, for tests.

The same contract tests run over both. Must not know: Redis, or what a state or an event means.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from time import monotonic
from typing import NamedTuple

from service.games.ports import GameExists, Stored


class _Kept(NamedTuple):
    """A game, its events from version 1, and the second at which it is forgotten."""

    game: Stored
    events: tuple[bytes, ...]
    expires: float


class MemoryStore:
    """Keeps games as ``RedisStore`` does, for as long as the process lives.

    ``now`` is a clock in seconds; a test turns it to let games expire.
    """

    def __init__(self, ttl_seconds: int, now: Callable[[], float] = monotonic) -> None:
        if ttl_seconds < 1:
            raise ValueError("a game must live for a second at least")
        self._ttl = ttl_seconds
        self._now = now
        self._kept: dict[str, _Kept] = {}
        self._lock = Lock()

    def create(self, game: str, state: bytes, events: Sequence[bytes]) -> None:
        """Keep a new game; raises ``GameExists``."""
        with self._lock:
            if self._find(game) is not None:
                raise GameExists(game)
            self._keep(game, state, tuple(events))

    def read(self, game: str) -> Stored | None:
        """The game as it is now, or ``None``."""
        with self._lock:
            kept = self._find(game)
            return None if kept is None else kept.game

    def commit(self, game: str, expected: int, state: bytes, events: Sequence[bytes]) -> Stored | None:
        """Move a game on from version ``expected``; ``None`` when done, else the game as it really is."""
        with self._lock:
            kept = self._find(game)
            if kept is None:
                raise KeyError(game)
            if kept.game.version != expected:
                return kept.game
            self._keep(game, state, (*kept.events, *events))
            return None

    def events(self, game: str, versions: Sequence[int]) -> list[bytes]:
        """The kept ones among the events of these versions."""
        with self._lock:
            kept = self._find(game)
            if kept is None:
                return []
            return [kept.events[version - 1] for version in versions if 1 <= version <= kept.game.version]

    def check(self) -> None:
        """Memory is always there."""

    def _find(self, game: str) -> _Kept | None:
        kept = self._kept.get(game)
        return None if kept is None or kept.expires <= self._now() else kept

    def _keep(self, game: str, state: bytes, events: tuple[bytes, ...]) -> None:
        self._kept[game] = _Kept(Stored(len(events), state), events, self._now() + self._ttl)
