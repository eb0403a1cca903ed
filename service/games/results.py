"""What the use cases answer: who has come in, what was opened, taken and made.

Owns the shapes only. What a bearer may know of a game is in ``service.games.views``; how anything is shown is not known
here.
"""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from service.engine.moves import Move
from service.games.game import Game, GameStatus
from service.games.ports import PriorWrite
from service.games.views import GameView

T = TypeVar("T")


class Access(NamedTuple):
    """A game, and the seat of the bearer in it (``None``: a spectator); ``fresh`` if it was read just now."""

    game: Game
    seat: int | None
    from_store: bool = True

    @property
    def etag(self) -> str:
        """What names this version of the game for this bearer."""
        return self.game.etag(self.seat)


class TokenRotation(NamedTuple):
    """Who may change the token of a seat: its bearer, or who changed it under this key before (``kept``)."""

    game_id: str
    seat: int
    token: str
    game: Game | None
    prior: PriorWrite | None


class SeatToken(NamedTuple):
    """A seat with the token that plays it, shown only once."""

    seat: int
    name: str
    token: str


class CreatedGame(NamedTuple):
    """A game just opened: as a spectator sees it, and the secrets that its creator hands on."""

    view: GameView
    seats: tuple[SeatToken, ...]
    join_code: str | None


class JoinedSeat(NamedTuple):
    """An open seat just taken, with the game as its new owner sees it."""

    seat: SeatToken
    view: GameView


class LegalMoves(NamedTuple):
    """What a seat may do at this version."""

    version: int
    turn: int | None
    moves: tuple[Move, ...]


class CommandResult(NamedTuple, Generic[T]):
    """What a request has made, or, if ``replayed``, what it made when it was asked the first time.

    ``before`` is where the game stood before, if there was one and it was changed now.
    """

    answer: T
    status_before: GameStatus | None
    replayed: bool
