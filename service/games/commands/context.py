"""What all commands work with.

Owns nothing but their names. Does not depend on any command.
"""

from __future__ import annotations

from typing import NamedTuple

from service.games.ports import Runtime
from service.games.store.idempotency import Idempotency
from service.games.store.repository import GameRepository


class CommandContext(NamedTuple):
    """The games, what derives tokens from idempotency keys, and the process; ``ttl`` in milliseconds.

    All commands have the same shape: the idempotency record of the request, a decision that is a function of the game,
    one atomic transaction, committed once for the same record, and the result.
    """

    repository: GameRepository
    idempotency: Idempotency
    runtime: Runtime
    ttl: int
