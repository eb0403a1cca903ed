"""What hosting says no to, beside the rules of the games.

::

    Refusal
    ├── Unauthorized   a token that opens nothing here                     unauthorized
    ├── NotFound       no such game, or no such variant                    not_found
    ├── Forbidden      another game's join code, or another seat's token   forbidden
    ├── NotStarted     seats are still open                                not_started
    ├── SeatsTaken     no seat is open any more                            seats_taken
    ├── StaleVersion   the game has moved on                               stale_version
    └── KeyReused      an idempotency key that stood for another request   key_reused

``MoveRefused`` carries any of them, or a refusal of the rules, together with how the game stands.

Must not know: HTTP.
"""

from __future__ import annotations

from service.engine.errors import Refusal
from service.engine.moves import Move


class Unauthorized(Refusal):
    """A wrong, foreign or revoked token, or none where one is needed."""

    code = "unauthorized"


def unauthorized() -> Unauthorized:
    """The same refusal for whoever comes in nowhere, so that nobody can tell one reason from another."""
    return Unauthorized("This needs the token of a seat in this game.")


class NotFound(Refusal):
    """There is no such thing here, or not any more."""

    code = "not_found"


class Forbidden(Refusal):
    """A join code that is not this game's, or a token that is another seat's."""

    code = "forbidden"


class NotStarted(Refusal):
    """Seats are still open, so nothing has been dealt."""

    code = "not_started"


class SeatsTaken(Refusal):
    """No seat is open any more."""

    code = "seats_taken"


class StaleVersion(Refusal):
    """The move was meant for another version of the game than the one there is."""

    code = "stale_version"


class KeyReused(Refusal):
    """An idempotency key under which something else was asked before."""

    code = "key_reused"


class MoveRefused(Exception):
    """A move was refused: why, and how the game stands for its mover."""

    def __init__(self, cause: Refusal, version: int, legal_moves: tuple[Move, ...]) -> None:
        super().__init__(cause.sentence)
        self.cause = cause
        self.version = version
        self.legal_moves = legal_moves
