"""The parts that all commands share.

Owns how a request gets a secret that it can be given again, and how a decision says that nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from service.games.commands.validation import BotsAlone
from service.games.model.game import Game
from service.games.ports import PriorWrite, RandomBytes, Runtime
from service.games.store.idempotency import Idempotency, IdempotencyKey
from service.games.store.repository import GameRepository


class NewSecret(Protocol):
    """The token or join code that a request is given, each time the same one."""

    def __call__(self, *purpose: str, prior: PriorWrite | None = None) -> str:
        """Return the one for this purpose; with ``prior`` that of an earlier write under the same idempotency key.

        Raises ``SecretChanged``.
        """


class Unchanged(Exception):
    """A command would change nothing in this game, in which it was decided."""

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.game = game


class CommandContext(NamedTuple):
    """The games, what derives tokens from idempotency keys, and the process.

    ``bots_alone`` admits games of computer players alone.

    All commands have the same shape: the idempotency record of the request, a decision that is a function of the game,
    one atomic transaction, committed once for the same record, and the result.
    """

    repository: GameRepository
    idempotency: Idempotency
    runtime: Runtime
    bots_alone: BotsAlone

    def new_secret(self, make: Callable[[RandomBytes], str], key: IdempotencyKey | None) -> NewSecret:
        """Return what a request is given.

        Random bytes, or with an idempotency key those derived from purpose and key.
        """
        if key is None:
            secret = make(self.runtime.random_bytes)
            return lambda *_, prior=None: secret  # noqa: ARG005 # there is no earlier write without a key
        return lambda *purpose, prior=None: make(self.idempotency.derive_bytes(*purpose, key.key, prior=prior))
