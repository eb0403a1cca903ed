"""The refusals of this package, and its other errors; the refusals of the rules are in ``service.engine.errors``."""

from __future__ import annotations

from service.engine.errors import Refusal
from service.engine.moves import Move


class Unauthorized(Refusal):
    """The token or key is wrong, revoked, of another game, or missing."""


def unauthorized() -> Unauthorized:
    """Return the refusal of an invalid token, the same for every cause, so that clients cannot distinguish causes."""
    return Unauthorized("unknown_token")


def no_token() -> Unauthorized:
    """Return the refusal of a request that needs a token and has none."""
    return Unauthorized("no_token")


class NotFound(Refusal):
    """The requested game, seat, variant, application or key does not exist, or has expired."""


class Gone(Refusal):
    """The game was deleted.

    ``version``: the version of the deletion.
    ``app``: the application that owned the game; no other client may learn it.
    """

    def __init__(self, version: int, app: str) -> None:
        super().__init__("game_deleted")
        self.version = version
        self.app = app


class Forbidden(Refusal):
    """The join code is wrong, the token belongs to another seat, or the service does not allow the request."""


class NotStarted(Refusal):
    """Seats are still open, so nothing has been dealt."""


class SeatsTaken(Refusal):
    """No seat is open."""


class StaleVersion(Refusal):
    """The game is not at the version that the client expected."""


class NotDue(Refusal):
    """The deadline of the seat has not passed, or this game has no claims."""


class NotAway(Refusal):
    """The seat is not away, so that its player cannot come back."""


class LimitReached(Refusal):
    """A limit on the number of something is reached."""


class TooManyGamesOfBots(LimitReached):
    """The tenant has the maximum number of games that can go on with computer players alone.

    ``retry_after``: an estimate, in seconds, of when one of them has ended.
    """

    def __init__(self, limit: int, retry_after: int) -> None:
        super().__init__("too_many_games_of_bots", max=limit)
        self.retry_after = retry_after


class NotFinished(Refusal):
    """The match is not finished, so there is no rematch."""


class KeyReused(Refusal):
    """The idempotency key was used for another request."""


class MoveRefused(Exception):
    """A move was refused: the cause, the version of the game, the seats that can move, and the mover's legal moves."""

    def __init__(self, cause: Refusal, version: int, to_act: tuple[int, ...], legal_moves: tuple[Move, ...]) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.version = version
        self.to_act = to_act
        self.legal_moves = legal_moves


class SecretChanged(Exception):
    """The tokens of an earlier write cannot be derived again, because this process does not have its secret."""
