"""What hosting needs of the world: a store, a feed of news, a clock, fresh secrets.

Owns the shapes only. Who keeps a promise lives elsewhere: Redis and its memory twin in
``service.storage``, the clock and the luck of the operating system in ``service.bootstrap``.
Must not know: Redis, Flask, or any rule of a game.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

IDEMPOTENCY_TTL: Final = 86_400
"""How long a client's key stands for what was made under it."""


class StoredGame(NamedTuple):
    """A game as the store has it: the number of its last event, and its state, opaque to the store."""

    version: int
    state: bytes


class IdempotencyRecord(NamedTuple):
    """What is kept of a write that a client wants made once: a name no other wish has, and a digest of what it asks."""

    name: str
    fingerprint: bytes


class WriteRequest(NamedTuple):
    """What makes a write the same write, however often it is sent: its id, 8 letters, digits, ``-`` or ``_``.

    With a ``wish``, the write is also the only one under that name for 24 hours, whoever sends it.
    """

    id: bytes
    idempotency: IdempotencyRecord | None = None


class PriorWrite(NamedTuple):
    """What was made for a wish before: the version that the write led to, and what was asked."""

    version: int
    fingerprint: bytes


class EventRange(NamedTuple):
    """Events of a game in their order: the version of the first, and the version of the game itself."""

    first: int
    events: tuple[bytes, ...]
    version: int


class StorageUnavailable(Exception):
    """The store cannot answer now (away, loading, full, read-only), and nothing has changed.

    ``reason`` is a word for the log, never for the client; ``retry_after`` is in whole seconds.
    """

    def __init__(self, reason: str, retry_after: int = 1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after


class OutcomeUnknown(Exception):
    """A write was sent and no answer came, or too few replicas have it: it may be made, now or soon, or never.

    ``reason`` is a word for the log, never for the client; ``retry_after`` is in whole seconds.
    """

    def __init__(self, reason: str, retry_after: int = 1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after


class GameExists(Exception):
    """A game is already kept under this id (ids have 128 bits, so this is a fault, not luck)."""


class Store(Protocol):
    """Keeps games. Every method answers within three seconds or raises ``StorageUnavailable``.

    A write may also raise ``OutcomeUnknown``; sent again with the same id, it is still made once at most.
    """

    def create(self, game: str, state: bytes, events: Sequence[bytes], write: WriteRequest) -> PriorWrite | None:
        """Keep a new game whose version is the number of its ``events``, of which there is one at least.

        Returns ``None`` when done, by this sending or an earlier one, else what was made for the same wish
        before. Raises ``GameExists``.
        """

    def read(self, game: str) -> StoredGame | None:
        """The game as it is now, or ``None`` if there is none (never was, or has expired)."""

    def commit(
        self,
        game: str,
        expected: int,
        state: bytes,
        events: Sequence[bytes],
        write: WriteRequest,
        *,
        after: bytes = b"",
        again: bool = False,
    ) -> StoredGame | PriorWrite | None:
        """Replace the state of a game that is still at version ``expected`` and append its new ``events``, one or more.

        And whose state begins with ``after``: where a failover has lost moves, two pasts may have the same version.
        The new version is ``expected + len(events)``; the expiry starts anew. All of it happens, or nothing.
        Returns ``None`` when done, by this sending or an earlier one; else what was made for the same wish
        before, which is looked up first; else the game as it really is: somebody else was first.
        Raises ``KeyError`` if the game is gone; ``OutcomeUnknown`` if the write was sent before (``again``) without a
        wish, and what came after version ``expected`` has been compacted.
        """

    def find_write(self, game: str, name: str) -> PriorWrite | None:
        """What was made for the wish of that name in the last 24 hours."""

    def reserve(self, name: str, value: str) -> str:
        """The value that the first caller gave under this name in the last 24 hours: this one, if it is the first."""

    def events(self, game: str, versions: Sequence[int]) -> list[bytes]:
        """The events of these versions (from 1), in the order asked; one that is not kept is left out."""

    def event_range(self, game: str, after: int, limit: int) -> EventRange | None:
        """At most ``limit`` events, the first of them the oldest kept one after version ``after``.

        ``None`` if there is no such game.
        """

    def compact(self, game: str) -> None:
        """Compress all events but those of the last write: allowed at any time, meant for a finished game.

        Events, versions and expiry stay the same, and nothing is published. The ids of the compressed writes are lost:
        of such a write the store can no longer say whether an earlier sending made it, and a creation sent again raises
        ``GameExists``. Does nothing to a game that is gone, has changed meanwhile, or is compacted already.
        """

    def check(self) -> None:
        """Do one cheap read, as a game would be read; raises ``StorageUnavailable``."""


class EventNotification(NamedTuple):
    """Events just appended to a game, the first of them being number ``after + 1``."""

    after: int
    events: tuple[bytes, ...]


Listener = Callable[[EventNotification | None], None]
"""Told of news, or by ``None`` that some may have been missed. Must return at once, and raises nothing."""


class Feed(Protocol):
    """Tells of what is appended to games, wherever it is done; only tells: the store alone has the truth."""

    def watch(self, game: str, listener: Listener) -> Callable[[], None]:
        """Tell ``listener`` what happens in a game from now on; returns how to stop that.

        What happens between this call and the moment the feed hears of it is made good by ``None``. News may come
        twice or late, and after a fault not at all; then, too, ``None`` follows as soon as the feed hears again.
        """


class Clock(Protocol):
    """Tells the time."""

    def __call__(self) -> int:
        """Milliseconds since 1970."""


class RandomBytes(Protocol):
    """Draws fresh random bytes from the operating system."""

    def __call__(self, size: int, /) -> bytes:
        """``size`` bytes nobody can guess."""


RunLater = Callable[[Callable[[], None]], None]
"""Sees to it that work is done that nobody waits for, which raises nothing: at once, or when there is time."""


def run_inline(work: Callable[[], None]) -> None:
    """Do it now."""
    work()
