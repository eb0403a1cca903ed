"""The refusals of this package; those of the rules are in ``service.engine.errors``. Owns which there are.

::

    Refusal
    ├── Unauthorized   no valid token of a seat, or key of an application unauthorized
    ├── NotFound       no such game, seat, variant or key                 not_found
    ├── Gone           the game was deleted                               gone
    ├── Forbidden      a wrong join code, or the token of another seat    forbidden
    ├── NotStarted     seats are still open                               not_started
    ├── SeatsTaken     no seat is open                                    seats_taken
    ├── StaleVersion   the game is not at the expected version            stale_version
    ├── NotDue         a claim before the deadline                        not_due
    ├── NotAway        coming back to a seat that is not away             not_away
    ├── LimitReached   as many of something as there may be               limit_reached
    │   ├── ShareUsedUp  as many bytes stored today as there may be       limit_reached
    │   └── TooManyGamesOfBots  of the games of one tenant                limit_reached
    ├── NotFinished    a rematch of a match that is not finished          not_finished
    └── KeyReused      an idempotency key used for another request        key_reused

``MoveRefused`` wraps any of them, or a refusal of the rules, together with the version and the legal moves.
``SecretChanged`` is no refusal: the service is configured in a way that it cannot answer. Does not depend on HTTP.
"""

from __future__ import annotations

from service.engine.errors import Refusal
from service.engine.moves import Move


class Unauthorized(Refusal):
    """The token or key is wrong, revoked or of another game, or is missing where one is needed."""

    code = "unauthorized"


def unauthorized() -> Unauthorized:
    """Return the one refusal of every token that is not accepted, so that the causes cannot be distinguished."""
    return Unauthorized("unknown_token")


def no_token() -> Unauthorized:
    """Return the refusal of a request without a token, where one is needed."""
    return Unauthorized("no_token")


class NotFound(Refusal):
    """The requested game, seat, variant, application or key does not exist, or has expired."""

    code = "not_found"


class Gone(Refusal):
    """The game was deleted: at which version, and the application that owned it, which nobody else is told."""

    code = "gone"

    def __init__(self, version: int, app: str) -> None:
        super().__init__("game_deleted")
        self.version = version
        self.app = app


class NewerFormat(Exception):
    """A newer service wrote this game or event: its format, variant, edition or type is unknown here."""


class Corrupted(Exception):
    """The stored data of this game are not what was written."""


class Forbidden(Refusal):
    """The join code is not the one of this game, the token is that of another seat, or the service does not do this."""

    code = "forbidden"


class NotStarted(Refusal):
    """Seats are still open, so nothing has been dealt."""

    code = "not_started"


class SeatsTaken(Refusal):
    """No seat is open."""

    code = "seats_taken"


class StaleVersion(Refusal):
    """The game is not at the version that the move was meant for."""

    code = "stale_version"


class NotDue(Refusal):
    """The time of the seat is not over, or nothing can be claimed when it is."""

    code = "not_due"


class NotAway(Refusal):
    """The seat is not away, so its player cannot come back."""

    code = "not_away"


class LimitReached(Refusal):
    """There are as many already as there may be."""

    code = "limit_reached"


class ShareUsedUp(LimitReached):
    """The tenant of a game, an address or an application has stored as much as it may; it may again after a while."""

    code = "limit_reached"

    def __init__(self, retry_after: int) -> None:
        super().__init__("share_used")
        self.retry_after = retry_after


class TooManyGamesOfBots(LimitReached):
    """The tenant has as many games as may be that computer players alone go on with; fewer in ``retry_after`` seconds.

    That is a guess: they end by themselves.
    """

    code = "limit_reached"

    def __init__(self, most: int, retry_after: int) -> None:
        super().__init__("too_many_games_of_bots", max=most)
        self.retry_after = retry_after


class NotFinished(Refusal):
    """The match is not finished, so there is no rematch."""

    code = "not_finished"


class KeyReused(Refusal):
    """The idempotency key was used for another request."""

    code = "key_reused"


class MoveRefused(Exception):
    """A move was refused: the cause, the version of the game, who may move, and the legal moves of who tried it."""

    def __init__(self, cause: Refusal, version: int, to_act: tuple[int, ...], legal_moves: tuple[Move, ...]) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.version = version
        self.to_act = to_act
        self.legal_moves = legal_moves


class SecretChanged(Exception):
    """The tokens of an earlier write cannot be derived again: its secret is not among those of this process."""
