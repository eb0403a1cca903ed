"""Requests that are asked again under their key: known again, and answered as the first time.

Owns the comparison with what was asked first, and the secret from which tokens are drawn again. Must not know what the
requests ask for, nor how a key comes in.
"""

from __future__ import annotations

from collections.abc import Sequence
from hmac import digest
from typing import NamedTuple

from service.games.errors import KeyReused
from service.games.game import Game, GameEvent
from service.games.ports import PriorWrite
from service.games.repository import GameRepository
from service.games.tokens import DerivedBytes


class IdempotencyKey(NamedTuple):
    """The wish that something be done once: the client's key, and a digest of what it asks."""

    key: str
    fingerprint: bytes


class Idempotency:
    """The requests to the games of a ledger that may be asked again; ``secret`` is as in ``GameService``."""

    def __init__(self, ledger: GameRepository, secret: bytes) -> None:
        self._ledger = ledger
        self._secret = secret
        self._mark = digest(secret, b"mark", "sha256").hex()[:8].encode()

    def derive_bytes(self, *purpose: str) -> DerivedBytes:
        """The bytes that are drawn for this purpose, the same whenever it is asked again."""
        return DerivedBytes(self._secret, *purpose)

    def bind_secret(self, once: IdempotencyKey | None) -> IdempotencyKey | None:
        """The same wish, marked with the secret that tokens are drawn from for it: another draws other tokens."""
        return None if once is None else once._replace(fingerprint=b"%b.%b" % (once.fingerprint, self._mark))

    def check(self, kept: PriorWrite, once: IdempotencyKey | None) -> None:
        """Raises ``KeyReused`` unless this is what was asked the first time."""
        if once is not None and kept.fingerprint == once.fingerprint:
            return
        if once is not None and kept.fingerprint.partition(b".")[0] == once.fingerprint.partition(b".")[0]:
            raise RuntimeError("SECRET_KEY is not the one that these tokens were made with")
        raise KeyReused("This idempotency key stood for another request before.")

    def replay(self, game_id: str, kept: PriorWrite, once: IdempotencyKey | None) -> tuple[Game, Sequence[GameEvent]]:
        """The game just after what was made the first time, and all that had happened by then. Raises ``KeyReused``."""
        self.check(kept, once)
        return self._ledger.as_of(game_id, kept)
