"""The parts that all commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from service.games.commands.validation import BotsAlone
from service.games.model.game import Game
from service.games.ports import IdempotencyRecord, PriorWrite, RandomBytes, Runtime
from service.games.reminders import ReminderQueue
from service.games.store.idempotency import Idempotency, IdempotencyKey
from service.games.store.repository import GameRepository
from service.games.store.transactions import Decide


class NewSecret(Protocol):
    """Makes the tokens and join codes of one request; for the same purpose always the same one."""

    def __call__(self, *purpose: str, prior: PriorWrite | None = None) -> str:
        """Return the secret for this purpose, or of a ``prior`` write with the same key. Raises ``SecretChanged``."""


class Unchanged(Exception):
    """A command would change nothing in this ``game``."""

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.game = game


class CommandContext(NamedTuple):
    """The parts that commands use; ``bots_alone`` limits the games that can go on with computer players alone.

    All commands make the idempotency record of the request, decide, which is a function of the game, and commit the
    decision in one atomic transaction, at most once for a record.
    """

    repository: GameRepository
    idempotency: Idempotency
    runtime: Runtime
    bots_alone: BotsAlone
    reminders: ReminderQueue

    def change(self, game: Game, decide: Decide) -> Game:
        """Commit a decision; return the game after it, or the game that is ``Unchanged``."""
        try:
            return self.repository.transactions.transact(game, decide).after
        except Unchanged as unchanged:
            return unchanged.game

    def record(self, key: IdempotencyKey | None, *scope: str, derives_tokens: bool = False) -> IdempotencyRecord | None:
        """Return the record of a request with this key (``Idempotency.record``); ``None`` without a key."""
        return None if key is None else self.idempotency.record(key, *scope, derives_tokens=derives_tokens)

    def new_secret(self, make: Callable[[RandomBytes], str], key: IdempotencyKey | None) -> NewSecret:
        """Return the function that makes the secrets of a request; ``make`` turns bytes into a secret.

        The bytes are random; with an idempotency key they are derived from the purpose and the key.
        """
        if key is None:
            secret = make(self.runtime.random_bytes)
            return lambda *_, prior=None: secret  # noqa: ARG005 # there is no earlier write without a key
        derive = self.idempotency.derive_bytes
        return lambda *purpose, prior=None: make(derive(*purpose, key.key, prior=prior.fingerprint if prior else None))
